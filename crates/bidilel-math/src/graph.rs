//! The weighted neighbourhood graph, stored sparsely.
//!
//! $W_{ij} = \exp(-\|x_i - x_j\| / 2)$ where $i$ is among the nearest neighbours of $j$ **or** the other way
//! round, and 0 elsewhere (Wang & Chen 2017, eq. 1); $D$ is diagonal with the row sums of $W$, and
//! $L = D - W$ is the Laplacian. The supervised graph drops every edge between different labels.
//!
//! # References
//! X. He and P. Niyogi, *Locality preserving projections*, 2004.

use serde::{Deserialize, Serialize};

use crate::neighbors::Neighbors;

/// How the length of an edge becomes its weight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weights {
    /// $\exp(-d / 2)$, as the paper prints it.
    #[default]
    Exp,
    /// $\exp(-d^2 / 2t^2)$ with $t$ the mean distance of the neighbours that are kept: independent of the features' scale.
    Heat,
    /// 1 for every edge.
    Binary,
}

/// A symmetric sparse matrix of edge weights: $W$.
#[derive(Debug, Clone, PartialEq)]
pub struct Affinity {
    rows: Vec<Vec<(usize, f64)>>,
    degree: Vec<f64>,
}

impl Affinity {
    /// The graph of `neighbors`; with `labels`, only edges inside a label stay.
    pub fn new(neighbors: &Neighbors, labels: Option<&[usize]>, weights: Weights) -> Self {
        Self::of_nearest(neighbors, usize::MAX, labels, weights)
    }

    /// The graph of the `k` nearest of `neighbors` alone, as if there were no others in the lists.
    pub fn of_nearest(neighbors: &Neighbors, k: usize, labels: Option<&[usize]>, weights: Weights) -> Self {
        let count = neighbors.count();
        let mut lengths = vec![Vec::new(); count];
        let (mut pairs, mut total) = (0_usize, 0.0);
        for i in 0..count {
            for &(j, distance) in neighbors.of(i).iter().take(k) {
                if labels.is_none_or(|labels| labels[i] == labels[j]) {
                    lengths[i].push((j, distance));
                    lengths[j].push((i, distance));
                    pairs += 1;
                    total += distance;
                }
            }
        }
        // Without an edge, or with edges of length 0 only, every weight is 1 whatever the scale.
        let scale = if total > 0.0 { total / pairs as f64 } else { 1.0 };
        for row in &mut lengths {
            row.sort_unstable_by_key(|&(j, _)| j);
            row.dedup_by_key(|&mut (j, _)| j);
        }
        for (_, value) in lengths.iter_mut().flatten() {
            *value = match weights {
                Weights::Exp => (-*value / 2.0).exp(),
                Weights::Heat => (-*value * *value / (2.0 * scale * scale)).exp(),
                Weights::Binary => 1.0,
            };
        }
        Self::from_rows(lengths)
    }

    /// The mean of several graphs over the same points: eq. (A.8).
    pub fn mean(graphs: &[Self]) -> Self {
        Self::weighted_mean(graphs, &vec![1.0 / graphs.len() as f64; graphs.len()])
    }

    /// The sum of several graphs over the same points, each times its weight.
    pub fn weighted_mean(graphs: &[Self], weights: &[f64]) -> Self {
        let count = graphs.first().map_or(0, Self::count);
        let mut rows = vec![Vec::new(); count];
        for (i, row) in rows.iter_mut().enumerate() {
            let edges = |(graph, &share): (&Self, &f64)| {
                graph.rows[i].iter().map(|&(j, weight)| (j, weight * share)).collect::<Vec<_>>()
            };
            let mut all: Vec<(usize, f64)> = graphs.iter().zip(weights).flat_map(edges).collect();
            all.sort_by_key(|&(j, _)| j);
            for (j, weight) in all {
                match row.last_mut() {
                    Some((last, sum)) if *last == j => *sum += weight,
                    _ => row.push((j, weight)),
                }
            }
        }
        Self::from_rows(rows)
    }

    fn from_rows(rows: Vec<Vec<(usize, f64)>>) -> Self {
        let degree = rows.iter().map(|row| row.iter().map(|&(_, weight)| weight).sum()).collect();
        Self { rows, degree }
    }

    /// The same edges among `count` points, of which `members` (ascending) are the present ones; the others have none.
    #[must_use]
    pub fn among(&self, members: &[usize], count: usize) -> Self {
        let (mut rows, mut degree) = (vec![Vec::new(); count], vec![0.0; count]);
        for (i, &member) in members.iter().enumerate() {
            rows[member] = self.rows[i].iter().map(|&(j, weight)| (members[j], weight)).collect();
            degree[member] = self.degree[i];
        }
        Self { rows, degree }
    }

    /// How many points the graph has.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// `(index, weight)` of the points that `i` is joined to, by index.
    pub fn row(&self, i: usize) -> &[(usize, f64)] {
        &self.rows[i]
    }

    /// $D_{ii}$, the sum of the weights at `i`.
    pub fn degree(&self, i: usize) -> f64 {
        self.degree[i]
    }

    /// How many points have no edge at all.
    pub fn isolated(&self) -> usize {
        self.rows.iter().filter(|row| row.is_empty()).count()
    }

    /// The median weight of the edges; `None` without an edge.
    pub fn median_weight(&self) -> Option<f64> {
        let mut all: Vec<f64> = self.rows.iter().flatten().map(|&(_, weight)| weight).collect();
        let middle = all.len().checked_sub(1)? / 2;
        Some(*all.select_nth_unstable_by(middle, f64::total_cmp).1)
    }
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
                    let laplacian_row = graph.degree(i) - graph.row(i).iter().map(|e| e.1).sum::<f64>();
                    assert!(laplacian_row.abs() < 1e-12);
                    for &(j, weight) in graph.row(i) {
                        assert!(graph.row(j).contains(&(i, weight)) && i != j);
                        assert!(labels.is_none_or(|labels| labels[i] == labels[j]));
                    }
                }
            }
        }
    }

    #[test]
    fn edges_stay_with_their_points_among_others() {
        let graph = graph(None, Weights::Exp);
        let members: Vec<usize> = (0..30).map(|i| 2 * i + 1).collect();
        let wider = graph.among(&members, 61);
        assert_eq!(wider.count(), 61);
        for i in 0..30 {
            let moved: Vec<(usize, f64)> = graph.row(i).iter().map(|&(j, w)| (members[j], w)).collect();
            assert_eq!((wider.row(members[i]), wider.degree(members[i])), (&moved[..], graph.degree(i)));
            assert!(wider.row(2 * i).is_empty());
        }
    }

    #[test]
    fn the_mean_of_a_graph_with_itself_is_the_graph() {
        let graph = graph(None, Weights::Exp);
        assert_eq!(Affinity::mean(&[graph.clone(), graph.clone()]), graph);
    }
}
