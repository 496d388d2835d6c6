//! Several graphs over the same points, such as those of folds, with shared edges stored once.
//!
//! A fold leaves out some of the points, and most edges occur in every graph that has both of their ends. An edge is stored
//! once, with the set of its graphs as a bit mask. A sum over the edges of a graph is a sum over the edge groups (edges with
//! the same set) that contain the graph ([`crate::scatter::of_graphs`]).

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::csr::{Csr, CsrRow, index_u32, split_by_lengths};
use crate::graph::Affinity;

/// Graphs per bit mask; graphs of different masks share no edges.
const MASK_GRAPHS: usize = u64::BITS as usize;

/// The local number of a point outside the group at hand.
const UNNUMBERED: u32 = u32::MAX;

/// An undirected edge with its weight; the end with the smaller index comes first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Edge {
    pub(crate) ends: (u32, u32),
    pub(crate) weight: f64,
}

/// Several graphs over the same points.
#[derive(Debug, Default)]
pub struct Graphs {
    count: usize,
    points: usize,
    /// For every [`MASK_GRAPHS`] graphs: their edges in the order of their ends, each with the mask of its graphs.
    edges: Vec<Vec<(Edge, u64)>>,
}

/// An edge group: the edges that occur in exactly this set of graphs, by connected components.
#[derive(Debug)]
pub(crate) struct EdgeGroup {
    /// The graphs, ascending.
    pub(crate) graphs: Vec<usize>,
    /// Components with a cycle, by vertex: they have at least as many edges as vertices.
    pub(crate) cyclic: Vertices,
    /// Components that are trees, by edge: they have fewer edges than vertices.
    pub(crate) forest: Vec<Edge>,
}

/// Vertices with all of their edges.
#[derive(Debug)]
pub(crate) struct Vertices {
    points: Vec<usize>,
    edges: Csr,
}

impl EdgeGroup {
    /// The number of terms of a sum over its edges.
    pub(crate) fn len(&self) -> usize {
        self.cyclic.points.len() + self.forest.len()
    }
}

impl Graphs {
    /// Adds a graph.
    ///
    /// # Panics
    /// If it has another number of points than the others.
    pub fn push(&mut self, graph: &Affinity) {
        assert!(self.count == 0 || self.points == graph.count(), "as many points");
        self.points = graph.count();
        if self.count.is_multiple_of(MASK_GRAPHS) {
            self.edges.push(Vec::new());
        }
        let bit = 1 << (self.count % MASK_GRAPHS);
        self.count += 1;
        let Some(held) = self.edges.last_mut() else { return };
        let own = (0..graph.count()).flat_map(|i| {
            let later = graph.row(i).iter().filter(move |&(j, _)| j > i);
            later.map(move |(j, weight)| Edge { ends: (index_u32(i), index_u32(j)), weight })
        });
        *held = merged(std::mem::take(held), own, bit);
    }

    /// The number of graphs.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no graphs.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The edges, grouped by the set of their graphs.
    pub(crate) fn groups(&self) -> Vec<EdgeGroup> {
        let mut numbers = vec![UNNUMBERED; self.points];
        let mut groups = Vec::new();
        for (part, edges) in self.edges.iter().enumerate() {
            let mut sizes: BTreeMap<u64, usize> = BTreeMap::new();
            edges.iter().for_each(|(_, set)| *sizes.entry(*set).or_default() += 1);
            let mut sets: BTreeMap<u64, Vec<Edge>> =
                sizes.into_iter().map(|(set, size)| (set, Vec::with_capacity(size))).collect();
            for &(edge, set) in edges {
                sets.entry(set).or_default().push(edge);
            }
            groups.extend(sets.into_iter().map(|(set, edges)| {
                let bits = (0..MASK_GRAPHS).filter(|bit| set >> bit & 1 == 1);
                let graphs = bits.map(|bit| part * MASK_GRAPHS + bit);
                EdgeGroup::new(graphs.collect(), edges, &mut numbers)
            }));
        }
        groups
    }
}

impl EdgeGroup {
    /// Separates trees from components with cycles.
    ///
    /// There may be thousands of groups with a few edges each. `numbers` (one per point) is scratch space, restored before
    /// returning, so that the cost depends on the edges of the group and not on the number of points.
    fn new(graphs: Vec<usize>, edges: Vec<Edge>, numbers: &mut [u32]) -> Self {
        let ends = edges.iter().flat_map(|edge| [edge.ends.0, edge.ends.1]);
        let mut points: Vec<u32> =
            ends.filter(|&end| std::mem::replace(&mut numbers[end as usize], 0) == UNNUMBERED).collect();
        points.sort_unstable();
        points.iter().zip(0..).for_each(|(&point, number)| numbers[point as usize] = number);
        let inner = |edge: &Edge| (numbers[edge.ends.0 as usize], numbers[edge.ends.1 as usize]);
        let mut components = UnionFind::new(points.len());
        edges.iter().for_each(|edge| components.union(inner(edge)));
        // Vertices and edges of every component, at its root.
        let mut sizes = vec![(0_usize, 0_usize); points.len()];
        (0..index_u32(points.len())).for_each(|point| sizes[components.find(point)].0 += 1);
        edges.iter().for_each(|edge| sizes[components.find(inner(edge).0)].1 += 1);
        let is_tree = |edge: &Edge| {
            let (points, edges) = sizes[components.find(inner(edge).0)];
            edges < points
        };
        let (forest, others): (Vec<Edge>, Vec<Edge>) = edges.into_iter().partition(is_tree);
        let cyclic = Vertices::new(&points, &others, numbers);
        points.iter().for_each(|&point| numbers[point as usize] = UNNUMBERED);
        Self { graphs, cyclic, forest }
    }
}

impl Vertices {
    /// The ends of the edges, among points with these local numbers.
    fn new(points: &[u32], edges: &[Edge], numbers: &[u32]) -> Self {
        let mut degrees = vec![0; points.len()];
        let both = |edge: &Edge| {
            let (one, other) = edge.ends;
            [(numbers[one as usize] as usize, other), (numbers[other as usize] as usize, one)]
        };
        edges.iter().flat_map(both).for_each(|(end, _)| degrees[end] += 1);
        let mut ends = vec![(0, 0.0); 2 * edges.len()];
        let mut rows = split_by_lengths(&mut ends, &degrees);
        let mut used = vec![0; points.len()];
        for edge in edges {
            for (end, other) in both(edge) {
                rows[end][used[end]] = (other as usize, edge.weight);
                used[end] += 1;
            }
        }
        let linked: Vec<usize> = (0..points.len()).filter(|&number| degrees[number] > 0).collect();
        let lengths: Vec<usize> = linked.iter().map(|&number| degrees[number]).collect();
        let edges = Csr::new(&lengths, |vertex| rows[linked[vertex]].iter().copied());
        Self { points: linked.iter().map(|&number| points[number] as usize).collect(), edges }
    }

    /// Every vertex with its edges, in the order of their other ends.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, CsrRow<'_>)> {
        self.points.iter().enumerate().map(|(vertex, &point)| (point, self.edges.row(vertex)))
    }
}

/// Merges two sorted lists of edges; an edge with the same weight in both becomes one, with the union of their graphs.
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

/// Union-find over vertices, for connected components; the root of a component is its smallest vertex.
struct UnionFind(Vec<u32>);

impl UnionFind {
    fn new(count: usize) -> Self {
        Self((0..count).map(index_u32).collect())
    }

    fn find(&self, point: u32) -> usize {
        let mut at = point as usize;
        while self.0[at] as usize != at {
            at = self.0[at] as usize;
        }
        at
    }

    fn union(&mut self, (one, other): (u32, u32)) {
        let roots = [one, other].map(|point| self.find(point));
        let first = index_u32(roots[0].min(roots[1]));
        // Partial path compression: both ends and their roots point to the new root.
        for point in [one as usize, other as usize, roots[0], roots[1]] {
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
        Affinity::new(&neighbors::exact(own.as_ref(), 2, &Silent), None, weights).expanded(&members, 90)
    }

    fn edges_of(graph: &Affinity) -> Vec<(usize, usize, f64)> {
        let later = |i: usize| graph.row(i).iter().filter(move |&(j, _)| j > i).map(move |(j, w)| (i, j, w));
        (0..graph.count()).flat_map(later).collect()
    }

    /// As many graphs as fit one mask, and more; weights that agree in all graphs, and weights that do not.
    #[test]
    fn every_graph_has_its_edges_in_the_sets_that_it_is_in() {
        for (count, weights) in [(1, Weights::Exp), (5, Weights::Exp), (5, Weights::Heat), (70, Weights::Exp)]
        {
            let all: Vec<Affinity> = (0..count).map(|fold| without(fold % 10, weights)).collect();
            let mut graphs = Graphs::default();
            all.iter().for_each(|graph| graphs.push(graph));
            let groups = graphs.groups();
            for (number, graph) in all.iter().enumerate() {
                let mut found = Vec::new();
                for part in groups.iter().filter(|part| part.graphs.contains(&number)) {
                    found.extend(part.forest.iter().map(|edge| {
                        let (i, j) = edge.ends;
                        (i as usize, j as usize, edge.weight)
                    }));
                    for (i, row) in part.cyclic.iter() {
                        assert!(row.indices().is_sorted());
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
    fn trees_are_separated_from_components_with_cycles() {
        // A path of three vertices, and a triangle with a tail.
        let ends = [(0, 1), (1, 2), (4, 5), (4, 6), (5, 6), (6, 8)];
        let edges = ends.map(|ends| Edge { ends, weight: f64::from(ends.0 + 1) }).to_vec();
        let mut numbers = [UNNUMBERED; 9];
        let EdgeGroup { cyclic, forest, .. } = EdgeGroup::new(vec![0], edges, &mut numbers);
        assert_eq!(numbers, [UNNUMBERED; 9]);
        assert_eq!(forest.iter().map(|edge| edge.ends).collect::<Vec<_>>(), ends[..2]);
        let found: Vec<(usize, Vec<(usize, f64)>)> =
            cyclic.iter().map(|(point, row)| (point, row.iter().collect())).collect();
        let six = vec![(4, 5.0), (5, 6.0), (8, 7.0)];
        assert_eq!(found[2], (6, six));
        assert_eq!(found.iter().map(|(point, _)| *point).collect::<Vec<_>>(), [4, 5, 6, 8]);
    }
}
