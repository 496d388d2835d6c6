//! Graphs over the same points, such as those of folds, each without some of them: what they have in common.
//!
//! Most edges are in all graphs that have both of their ends. An edge is held once, with the set of graphs that it is in, and
//! sums over the edges of a graph are sums over those sets that have the graph in them ([`crate::scatter::of_graphs`]).

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::graph::Affinity;
use crate::rows::{Row, Rows, number, parted};

/// Graphs whose sets fit a number; those beyond have nothing in common with these.
const TOGETHER: usize = u64::BITS as usize;

/// The number of a point that has none.
const NONE: u32 = u32::MAX;

/// An edge, its first end the one with the smaller index, and its weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    pub(crate) ends: (u32, u32),
    pub(crate) weight: f64,
}

/// The graphs, by what they have in common.
#[derive(Debug, Default)]
pub struct Graphs {
    count: usize,
    points: usize,
    /// For so many graphs at a time their edges by their ends, each with its graphs: bit `g` for graph `g` of these.
    edges: Vec<Vec<(Edge, u64)>>,
}

/// Edges that are in all of some graphs and in no other.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The graphs, ascending.
    pub(crate) graphs: Vec<usize>,
    /// Points with as many edges as points around them, or more.
    pub(crate) hubs: Hubs,
    /// Edges of trees: fewer than points.
    pub(crate) trees: Vec<Edge>,
}

/// Some points with all of their edges.
#[derive(Debug)]
pub(crate) struct Hubs {
    points: Vec<usize>,
    edges: Rows,
}

impl Shared {
    /// How many sums it takes to add up its edges.
    pub(crate) fn len(&self) -> usize {
        self.hubs.points.len() + self.trees.len()
    }
}

impl Graphs {
    /// Adds a graph.
    ///
    /// # Panics
    /// If it is not over as many points as the others.
    pub fn push(&mut self, graph: &Affinity) {
        assert!(self.count == 0 || self.points == graph.count(), "as many points");
        self.points = graph.count();
        if self.count.is_multiple_of(TOGETHER) {
            self.edges.push(Vec::new());
        }
        let bit = 1 << (self.count % TOGETHER);
        self.count += 1;
        let Some(held) = self.edges.last_mut() else { return };
        let own = (0..graph.count()).flat_map(|i| {
            let later = graph.row(i).iter().filter(move |&(j, _)| j > i);
            later.map(move |(j, weight)| Edge { ends: (number(i), number(j)), weight })
        });
        *held = merged(std::mem::take(held), own, bit);
    }

    /// How many graphs there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The edges by the graphs that they are in.
    pub(crate) fn shared(&self) -> Vec<Shared> {
        let mut numbers = vec![NONE; self.points];
        let mut shared = Vec::new();
        for (part, edges) in self.edges.iter().enumerate() {
            let mut sizes: BTreeMap<u64, usize> = BTreeMap::new();
            edges.iter().for_each(|(_, set)| *sizes.entry(*set).or_default() += 1);
            let mut sets: BTreeMap<u64, Vec<Edge>> =
                sizes.into_iter().map(|(set, size)| (set, Vec::with_capacity(size))).collect();
            for &(edge, set) in edges {
                sets.entry(set).or_default().push(edge);
            }
            shared.extend(sets.into_iter().map(|(set, edges)| {
                let graphs = (0..TOGETHER).filter(|at| set >> at & 1 == 1).map(|at| part * TOGETHER + at);
                Shared::new(graphs.collect(), edges, &mut numbers)
            }));
        }
        shared
    }
}

impl Shared {
    /// Parts trees from what holds together by more edges.
    ///
    /// There may be thousands of sets with a few edges each: `numbers`, one a point, is room that is left as it was found, and no
    /// work is done for points that are not met.
    fn new(graphs: Vec<usize>, edges: Vec<Edge>, numbers: &mut [u32]) -> Self {
        let ends = edges.iter().flat_map(|edge| [edge.ends.0, edge.ends.1]);
        let mut points: Vec<u32> =
            ends.filter(|&end| std::mem::replace(&mut numbers[end as usize], 0) == NONE).collect();
        points.sort_unstable();
        points.iter().zip(0..).for_each(|(&point, number)| numbers[point as usize] = number);
        let inner = |edge: &Edge| (numbers[edge.ends.0 as usize], numbers[edge.ends.1 as usize]);
        let mut pieces = Pieces::new(points.len());
        edges.iter().for_each(|edge| pieces.join(inner(edge)));
        // Points and edges of every piece.
        let mut sizes = vec![(0_usize, 0_usize); points.len()];
        (0..number(points.len())).for_each(|point| sizes[pieces.of(point)].0 += 1);
        edges.iter().for_each(|edge| sizes[pieces.of(inner(edge).0)].1 += 1);
        let is_tree = |edge: &Edge| {
            let (points, edges) = sizes[pieces.of(inner(edge).0)];
            edges < points
        };
        let (trees, others): (Vec<Edge>, Vec<Edge>) = edges.into_iter().partition(is_tree);
        let hubs = Hubs::new(&points, &others, numbers);
        points.iter().for_each(|&point| numbers[point as usize] = NONE);
        Self { graphs, hubs, trees }
    }
}

impl Hubs {
    /// The ends of some edges, among points with these numbers.
    fn new(points: &[u32], edges: &[Edge], numbers: &[u32]) -> Self {
        let mut degrees = vec![0; points.len()];
        let both = |edge: &Edge| {
            let (one, other) = edge.ends;
            [(numbers[one as usize] as usize, other), (numbers[other as usize] as usize, one)]
        };
        edges.iter().flat_map(both).for_each(|(end, _)| degrees[end] += 1);
        let mut ends = vec![(0, 0.0); 2 * edges.len()];
        let mut rows = parted(&mut ends, &degrees);
        let mut used = vec![0; points.len()];
        for edge in edges {
            for (end, other) in both(edge) {
                rows[end][used[end]] = (other as usize, edge.weight);
                used[end] += 1;
            }
        }
        let linked: Vec<usize> = (0..points.len()).filter(|&number| degrees[number] > 0).collect();
        let lengths: Vec<usize> = linked.iter().map(|&number| degrees[number]).collect();
        let edges = Rows::new(&lengths, |place| rows[linked[place]].iter().copied());
        Self { points: linked.iter().map(|&number| points[number] as usize).collect(), edges }
    }

    /// Every point, with its edges by the index of their other ends.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, Row<'_>)> {
        self.points.iter().enumerate().map(|(place, &point)| (point, self.edges.row(place)))
    }
}

/// Two lists of edges by their ends in one: an edge that is in both, with the same weight, becomes one of both's graphs.
fn merged(held: Vec<(Edge, u64)>, own: impl Iterator<Item = Edge>, bit: u64) -> Vec<(Edge, u64)> {
    let order = |one: &Edge, other: &Edge| {
        one.ends.cmp(&other.ends).then_with(|| one.weight.total_cmp(&other.weight))
    };
    let mut merged = Vec::with_capacity(held.len() + held.len() / 4);
    let mut held = held.into_iter().peekable();
    for edge in own {
        while let Some(before) = held.next_if(|(held, _)| order(held, &edge) == Ordering::Less) {
            merged.push(before);
        }
        let graphs = held.next_if(|(held, _)| order(held, &edge) == Ordering::Equal).map_or(0, |held| held.1);
        merged.push((edge, graphs | bit));
    }
    merged.extend(held);
    merged
}

/// Points that hold together by edges, each piece known by one of its points.
struct Pieces(Vec<u32>);

impl Pieces {
    fn new(count: usize) -> Self {
        Self((0..count).map(number).collect())
    }

    fn of(&self, point: u32) -> usize {
        let mut at = point as usize;
        while self.0[at] as usize != at {
            at = self.0[at] as usize;
        }
        at
    }

    fn join(&mut self, (one, other): (u32, u32)) {
        let pieces = [one, other].map(|point| self.of(point));
        let first = number(pieces[0].min(pieces[1]));
        // Both ends and their pieces lead there at once: ways stay short.
        for point in [one as usize, other as usize, pieces[0], pieces[1]] {
            self.0[point] = first;
        }
    }
}

#[cfg(test)]
mod tests {
    use faer::Mat;

    use super::*;
    use crate::graph::Weights;
    use crate::{Silent, neighbors};

    /// A graph of those points that are not left out, among all.
    fn without(left_out: usize, weights: Weights) -> Affinity {
        let points = Mat::from_fn(3, 90, |i, j| ((j * (i + 3) * 7 + j * j) % 83) as f64 / 4.0);
        let members: Vec<usize> = (0..90).filter(|i| i % 10 != left_out).collect();
        let own = Mat::from_fn(3, members.len(), |i, j| points[(i, members[j])]);
        Affinity::new(&neighbors::exact(own.as_ref(), 2, &Silent), None, weights).among(&members, 90)
    }

    fn edges_of(graph: &Affinity) -> Vec<(usize, usize, f64)> {
        let later = |i: usize| graph.row(i).iter().filter(move |&(j, _)| j > i).map(move |(j, w)| (i, j, w));
        (0..graph.count()).flat_map(later).collect()
    }

    /// As many graphs as sets hold, and more; weights that are the same in all of them, and that are not.
    #[test]
    fn every_graph_has_its_edges_in_the_sets_that_it_is_in() {
        for (count, weights) in [(1, Weights::Exp), (5, Weights::Exp), (5, Weights::Heat), (70, Weights::Exp)]
        {
            let all: Vec<Affinity> = (0..count).map(|fold| without(fold % 10, weights)).collect();
            let mut graphs = Graphs::default();
            all.iter().for_each(|graph| graphs.push(graph));
            let shared = graphs.shared();
            for (number, graph) in all.iter().enumerate() {
                let mut found = Vec::new();
                for part in shared.iter().filter(|part| part.graphs.contains(&number)) {
                    found.extend(part.trees.iter().map(|edge| {
                        let (i, j) = edge.ends;
                        (i as usize, j as usize, edge.weight)
                    }));
                    for (i, row) in part.hubs.iter() {
                        assert!(row.points().is_sorted());
                        found.extend(row.iter().filter(|&(j, _)| j > i).map(|(j, weight)| (i, j, weight)));
                    }
                }
                found.sort_by_key(|edge| (edge.0, edge.1));
                assert_eq!(found, edges_of(graph), "graph {number} of {count}");
            }
            if weights == Weights::Exp {
                let held: usize = graphs.edges.iter().map(Vec::len).sum();
                assert!(count == 1 || held * 2 < all.iter().map(|graph| edges_of(graph).len()).sum());
            }
        }
    }

    #[test]
    fn trees_are_told_from_pieces_with_a_way_round() {
        // A path of three points, and a triangle with a tail.
        let ends = [(0, 1), (1, 2), (4, 5), (4, 6), (5, 6), (6, 8)];
        let edges = ends.map(|ends| Edge { ends, weight: f64::from(ends.0 + 1) }).to_vec();
        let mut numbers = [NONE; 9];
        let Shared { hubs, trees, .. } = Shared::new(vec![0], edges, &mut numbers);
        assert_eq!(numbers, [NONE; 9]);
        assert_eq!(trees.iter().map(|edge| edge.ends).collect::<Vec<_>>(), ends[..2]);
        let found: Vec<(usize, Vec<(usize, f64)>)> =
            hubs.iter().map(|(point, row)| (point, row.iter().collect())).collect();
        let six = vec![(4, 5.0), (5, 6.0), (8, 7.0)];
        assert_eq!(found[2], (6, six));
        assert_eq!(found.iter().map(|(point, _)| *point).collect::<Vec<_>>(), [4, 5, 6, 8]);
    }
}
