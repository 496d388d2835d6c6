//! The affinity graph of neighbor lists: a weighted, undirected k-nearest-neighbor graph in CSR storage.
//!
//! `$W_{ij} = \exp(-\|x_i - x_j\| / 2)$` where $i$ is among the nearest neighbors of $j$ **or** the other way
//! round, and 0 elsewhere (Wang & Chen 2017, eq. 1); $D$ is diagonal with the row sums of $W$, and
//! $L = D - W$ is the Laplacian. The supervised graph drops every edge between different labels.
//!
//! # References
//! X. He and P. Niyogi, *Locality preserving projections*, 2004.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::csr::{Csr, CsrRow, index_u32, split_by_lengths};
pub use crate::graphs::Graphs;
use crate::neighbors::Neighbors;

/// How the length of an edge becomes its weight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weights {
    /// $\exp(-d / 2)$, as the paper prints it.
    #[default]
    Exp,
    /// $\exp(-d^2 / 2t^2)$ with $t$ the mean distance of the neighbors that are kept: independent of the features' scale.
    Heat,
    /// 1 for every edge.
    Binary,
}

/// The symmetric sparse matrix of edge weights, $W$, with its row sums.
#[derive(Debug, Clone, PartialEq)]
pub struct Affinity {
    edges: Csr,
    degree: Vec<f64>,
}

/// The other end of an edge, with its length or weight.
type End = (u32, f64);

impl Affinity {
    /// The graph of `neighbors`; with `labels`, only edges between points of the same label are kept.
    pub fn new(neighbors: &Neighbors, labels: Option<&[usize]>, weights: Weights) -> Self {
        Self::of_nearest(neighbors, usize::MAX, labels, weights)
    }

    /// The graph of the `k` nearest of `neighbors`, as if lists had no further entries.
    pub fn of_nearest(neighbors: &Neighbors, k: usize, labels: Option<&[usize]>, weights: Weights) -> Self {
        let kept = |i: usize| {
            let nearest = neighbors.of(i).iter().take(k);
            nearest.filter(move |&(j, _)| labels.is_none_or(|labels| labels[i] == labels[j]))
        };
        let mut sizes = vec![0; neighbors.count()];
        let (mut pairs, mut total) = (0_usize, 0.0);
        for i in 0..neighbors.count() {
            for (j, distance) in kept(i) {
                sizes[i] += 1;
                sizes[j] += 1;
                pairs += 1;
                total += distance;
            }
        }
        // Without an edge, or with edges of length 0 only, every weight is 1 at any scale.
        let scale = if total > 0.0 { total / pairs as f64 } else { 1.0 };
        let mut ends: Vec<End> = vec![(0, 0.0); 2 * pairs];
        let mut rows = split_by_lengths(&mut ends, &sizes);
        let mut used = vec![0; rows.len()];
        let mut put = |at: usize, other: usize, distance: f64| {
            rows[at][used[at]] = (index_u32(other), distance);
            used[at] += 1;
        };
        for i in 0..neighbors.count() {
            for (j, distance) in kept(i) {
                put(i, j, distance);
                put(j, i, distance);
            }
        }
        let weight = |length: f64| match weights {
            Weights::Exp => (-length / 2.0).exp(),
            Weights::Heat => (-length * length / (2.0 * scale * scale)).exp(),
            Weights::Binary => 1.0,
        };
        let rows: Vec<&[End]> = rows.into_par_iter().map(|row| deduplicate(row, weight)).collect();
        Self::from_rows(&rows)
    }

    /// The mean of several graphs over the same points: eq. (A.8).
    pub fn mean(graphs: &[Self]) -> Self {
        Self::weighted_mean(graphs, &vec![1.0 / graphs.len() as f64; graphs.len()])
    }

    /// The weighted sum of several graphs over the same points.
    pub fn weighted_mean(graphs: &[Self], weights: &[f64]) -> Self {
        let sum = |i: usize| {
            let edges = |(graph, &share): (&Self, &f64)| {
                let row = graph.row(i);
                let weights = row.values().iter().map(|weight| weight * share);
                row.indices().iter().copied().zip(weights).collect::<Vec<End>>()
            };
            let mut row: Vec<End> = graphs.iter().zip(weights).flat_map(edges).collect();
            row.sort_by_key(|&(j, _)| j);
            row.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                kept.1 += if same { next.1 } else { 0.0 };
                same
            });
            row
        };
        let count = graphs.first().map_or(0, Self::count);
        let rows: Vec<Vec<End>> = (0..count).into_par_iter().map(sum).collect();
        Self::from_rows(&rows)
    }

    fn from_rows<R: AsRef<[End]> + Sync>(rows: &[R]) -> Self {
        let lengths: Vec<usize> = rows.iter().map(|row| row.as_ref().len()).collect();
        let ends = |i: usize| rows[i].as_ref().iter().map(|&(j, weight)| (j as usize, weight));
        let degree =
            rows.par_iter().map(|row| row.as_ref().iter().map(|&(_, weight)| weight).sum()).collect();
        Self { edges: Csr::new(&lengths, ends), degree }
    }

    /// The same graph over `count` points, where point `i` becomes `members[i]` (ascending); the others are isolated.
    #[must_use]
    pub fn expanded(self, members: &[usize], count: usize) -> Self {
        let mut degree = vec![0.0; count];
        members.iter().zip(self.degree).for_each(|(&member, own)| degree[member] = own);
        Self { edges: self.edges.expanded(members, count), degree }
    }

    /// The number of points.
    pub fn count(&self) -> usize {
        self.edges.nrows()
    }

    /// Row `i` of $W$: the edges at `i`, in the order of their other ends.
    pub fn row(&self, i: usize) -> CsrRow<'_> {
        self.edges.row(i)
    }

    /// $D_{ii}$, the sum of row `i`.
    pub fn degree(&self, i: usize) -> f64 {
        self.degree[i]
    }

    /// The number of points without an edge.
    pub fn isolated(&self) -> usize {
        (0..self.count()).filter(|&i| self.row(i).is_empty()).count()
    }

    /// The median weight of the edges; `None` without an edge.
    pub fn median_weight(&self) -> Option<f64> {
        let mut all = self.edges.values().to_vec();
        let middle = all.len().checked_sub(1)? / 2;
        Some(*all.select_nth_unstable_by(middle, f64::total_cmp).1)
    }
}

/// Sorts the edges of a row, drops duplicates and replaces lengths by weights.
///
/// Points that are in each other's lists have two edges of the same length.
fn deduplicate(row: &mut [End], weight: impl Fn(f64) -> f64) -> &[End] {
    row.sort_unstable_by_key(|&(j, _)| j);
    let mut count = 0;
    for at in 0..row.len() {
        if count == 0 || row[count - 1].0 != row[at].0 {
            row[count] = row[at];
            count += 1;
        }
    }
    row[..count].iter_mut().for_each(|(_, value)| *value = weight(*value));
    &row[..count]
}

#[cfg(test)]
mod tests {
    use faer::Mat;

    use super::*;
    use crate::{Silent, neighbors};

    fn graph(labels: Option<&[usize]>, weights: Weights) -> Affinity {
        let points = Mat::from_fn(3, 30, |i, j| ((j * (i + 3) * 7) % 23) as f64 / 4.0);
        Affinity::new(&neighbors::exact(points.as_ref(), 4, &Silent), labels, weights)
    }

    #[test]
    fn weights_are_symmetric_and_laplacian_rows_sum_to_zero() {
        let labels: Vec<usize> = (0..30).map(|i| i % 2).collect();
        for weights in [Weights::Exp, Weights::Heat, Weights::Binary] {
            for labels in [None, Some(labels.as_slice())] {
                let graph = graph(labels, weights);
                for i in 0..30 {
                    let laplacian_row = graph.degree(i) - graph.row(i).values().iter().sum::<f64>();
                    assert!(laplacian_row.abs() < 1e-12);
                    for (j, weight) in graph.row(i).iter() {
                        assert!(graph.row(j).iter().any(|edge| edge == (i, weight)) && i != j);
                        assert!(labels.is_none_or(|labels| labels[i] == labels[j]));
                    }
                }
            }
        }
    }

    #[test]
    fn an_expanded_graph_has_the_same_edges() {
        let graph = graph(None, Weights::Exp);
        let members: Vec<usize> = (0..30).map(|i| 2 * i + 1).collect();
        let wider = graph.clone().expanded(&members, 61);
        assert_eq!(wider.count(), 61);
        for i in 0..30 {
            let moved = graph.row(i).iter().map(|(j, weight)| (members[j], weight));
            assert!(wider.row(members[i]).iter().eq(moved));
            assert!((wider.degree(members[i]) - graph.degree(i)).abs() < f64::EPSILON);
            assert_eq!((wider.row(2 * i).indices(), wider.degree(2 * i)), (&[][..], 0.0));
        }
        assert_eq!((wider.row(60).indices(), wider.isolated()), (&[][..], 31 + graph.isolated()));
    }

    #[test]
    fn the_mean_of_a_graph_with_itself_is_the_graph() {
        let graph = graph(None, Weights::Exp);
        assert_eq!(Affinity::mean(&[graph.clone(), graph.clone()]), graph);
    }
}
