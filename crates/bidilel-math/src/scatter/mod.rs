//! Scatter matrices of columns, accumulated in `f64` from features of either precision.
//!
//! $X D X^\top$ and $X L X^\top$ for a graph $W$ (both dimensions x dimensions), and the total scatter $\sum_i x_i x_i^\top$:
//! symmetric rank-k updates on packed blocks of instances, lower triangle only. The features are never copied whole.
//!
//! The matrices that are accumulated are $\frac12 X (D + W) X^\top$ and $X L X^\top = X (D - W) X^\top$; half of the second
//! added to the first gives $X D X^\top$. Both are sums over vertices, of $\frac12 (D_{ii} x_i + \sum_j W_{ij} x_j) x_i^\top$ and
//! $(D_{ii} x_i - \sum_j W_{ij} x_j) x_i^\top$, or over edges, of $\frac12 W_{ij} (x_i + x_j) (x_i + x_j)^\top$ and
//! $W_{ij} (x_i - x_j) (x_i - x_j)^\top$. Each connected component of a graph is summed over its edges if it is a tree,
//! which has fewer edges than vertices, and over its vertices otherwise.
//!
//! ```
//! use bidilel_math::Silent;
//! use bidilel_math::scatter::{Selected, mean, total};
//!
//! let points = faer::mat![[1.0_f32, 3.0], [2.0, 2.0]]; // two instances
//! let center = mean(points.as_ref());
//! let data = Selected { points: points.as_ref(), rows: &[0, 1], center: Some(&center) };
//! assert_eq!(total(data, &Silent), faer::mat![[2.0, 0.0], [0.0, 0.0]]);
//! ```

mod columns;
mod selected;
mod verify;

use std::ops::Range;

use faer::Mat;
use rayon::prelude::*;

pub use columns::{mean, varying};
pub use selected::Selected;
pub use verify::{verify_graph, verify_total};

use crate::csr::CsrRow;
use crate::graph::Affinity;
use crate::graphs::{Edge, EdgeGroup, Graphs};
use crate::panels::Panels;
use crate::parallel::zeros;
use crate::pencil::Pencil;
use crate::tiles::{RankUpdate, mirror};
use crate::{Observer, Scalar, simd};

/// Terms of a rank-k update: every matrix is read and written once per block.
const BLOCK_TERMS: usize = 480;
/// Terms that one thread packs at a time.
const SLAB_TERMS: usize = 24;
/// Terms that a group of shared edges must save to be accumulated in a separate matrix.
const MIN_SAVED_TERMS: usize = 192;

/// The pencil of a graph: $X D X^\top$ on the left and $X L X^\top$ on the right.
///
/// # Panics
/// If instances are not contiguous.
pub fn of_graph<T: Scalar>(data: Selected<'_, T>, graph: &Affinity, watch: &dyn Observer) -> Pencil {
    // Isolated vertices contribute nothing.
    let linked = (0..graph.count()).map(|i| (i, graph.row(i))).filter(|(_, edges)| !edges.is_empty());
    let vertices: Vec<Vertex<'_>> = linked.collect();
    let mut pencil = Pencil::zeros(data.dim());
    let mut sums = Accumulator::new(data, vertices.len());
    each_block(&vertices, watch, |vertices| sums.add_vertices(vertices, &mut pencil, watch));
    pencil.add_half_of_right_to_left();
    pencil
}

/// The pencils of several graphs over the same instances; edges that several graphs share are accumulated once.
///
/// # Panics
/// If instances are not contiguous.
pub fn of_graphs<T: Scalar>(data: Selected<'_, T>, graphs: &Graphs, watch: &dyn Observer) -> Vec<Pencil> {
    let mut pencils: Vec<Pencil> = (0..graphs.len()).map(|_| Pencil::zeros(data.dim())).collect();
    let groups = graphs.groups();
    let (large, small): (Vec<&EdgeGroup>, Vec<&EdgeGroup>) =
        groups.iter().partition(|group| group.len() * (group.graphs.len() - 1) >= MIN_SAVED_TERMS);
    let own = |graph: usize| small.iter().filter(move |group| group.graphs.contains(&graph));
    let all = large.iter().map(|group| group.len()).sum::<usize>()
        + (0..graphs.len()).flat_map(own).map(|group| group.len()).sum::<usize>();
    let mut sums = Accumulator::new(data, all);
    let mut done = 0;
    let mut add = |groups: &[&EdgeGroup], pencil: &mut Pencil| {
        let mut report = |count: usize| {
            done += count;
            watch.progress(done, all);
        };
        let vertices: Vec<Vertex<'_>> = groups.iter().flat_map(|group| group.cyclic.iter()).collect();
        for block in vertices.chunks(BLOCK_TERMS).take_while(|_| watch.poll().is_continue()) {
            sums.add_vertices(block, pencil, watch);
            report(block.len());
        }
        let edges: Vec<Edge> = groups.iter().flat_map(|group| group.forest.iter().copied()).collect();
        for block in edges.chunks(BLOCK_TERMS).take_while(|_| watch.poll().is_continue()) {
            sums.add_edges(block, pencil, watch);
            report(block.len());
        }
    };
    let mut shared: Option<Pencil> = None;
    for group in large {
        let shared = shared.get_or_insert_with(|| Pencil::zeros(data.dim()));
        shared.clear();
        add(&[group], shared);
        group.graphs.iter().for_each(|&graph| pencils[graph].add_pencil(shared));
    }
    drop(shared);
    for (graph, pencil) in pencils.iter_mut().enumerate() {
        add(&own(graph).copied().collect::<Vec<_>>(), pencil);
    }
    pencils.par_iter_mut().for_each(Pencil::add_half_of_right_to_left);
    pencils
}

/// An instance with its row of the graph.
type Vertex<'a> = (usize, CsrRow<'a>);

/// The packed operands of both rank-k updates, for one block of terms.
struct Accumulator<'a, T> {
    data: Selected<'a, T>,
    runs: Vec<Range<usize>>,
    /// Left and right operand of $\frac12 X (D + W) X^\top$.
    sum: (Panels<f64>, Panels<f64>),
    /// Left and right operand of $X (D - W) X^\top$.
    difference: (Panels<f64>, Panels<f64>),
}

impl<'a, T: Scalar> Accumulator<'a, T> {
    /// Operands for blocks of up to `max_terms` terms, at most [`BLOCK_TERMS`].
    fn new(data: Selected<'a, T>, max_terms: usize) -> Self {
        let (dim, depth) = (data.dim(), BLOCK_TERMS.min(max_terms));
        let both = || (Panels::left(dim, depth), Panels::right(dim, depth));
        Self { data, runs: data.runs(), sum: both(), difference: both() }
    }

    /// Adds the terms of a block of vertices. Both products have the instances themselves on the right.
    fn add_vertices(&mut self, vertices: &[Vertex<'_>], pencil: &mut Pencil, watch: &dyn Observer) {
        let Self { data, runs, sum: (sum, right), difference: (difference, _) } = self;
        let slabs = right.slabs(SLAB_TERMS).zip(sum.slabs(SLAB_TERMS).zip(difference.slabs(SLAB_TERMS)));
        slabs.zip(vertices.par_chunks(SLAB_TERMS)).for_each(
            |((mut right, (mut sum, mut difference)), vertices)| {
                let (mut one, mut other) = (vec![0.0; data.dim()], vec![0.0; data.dim()]);
                for (depth, &(i, edges)) in vertices.iter().enumerate() {
                    data.write(runs, i, &mut one);
                    right.put(depth, &one);
                    other.fill(0.0);
                    data.add_neighbors(runs, edges, &mut other);
                    let degree: f64 = edges.values().iter().sum();
                    map_pairs(&mut one, &mut other, |own, others| {
                        (0.5 * (degree * own + others), degree * own - others)
                    });
                    sum.put(depth, &one);
                    difference.put(depth, &other);
                }
            },
        );
        let update = |left| RankUpdate { left, right, depth: vertices.len() };
        pencil.add(update(sum), update(difference), watch);
    }

    /// Adds the terms of a block of edges.
    fn add_edges(&mut self, edges: &[Edge], pencil: &mut Pencil, watch: &dyn Observer) {
        let Self { data, runs, sum, difference } = self;
        let sum_slabs = sum.0.slabs(SLAB_TERMS).zip(sum.1.slabs(SLAB_TERMS));
        let slabs = sum_slabs.zip(difference.0.slabs(SLAB_TERMS).zip(difference.1.slabs(SLAB_TERMS)));
        slabs.zip(edges.par_chunks(SLAB_TERMS)).for_each(|((mut sum, mut difference), edges)| {
            let (mut one, mut other) = (vec![0.0; data.dim()], vec![0.0; data.dim()]);
            for (depth, &Edge { ends: (i, j), weight }) in edges.iter().enumerate() {
                data.write(runs, i as usize, &mut one);
                data.write(runs, j as usize, &mut other);
                map_pairs(&mut one, &mut other, |one, other| (one + other, one - other));
                sum.1.put(depth, &one);
                difference.1.put(depth, &other);
                map_pairs(&mut one, &mut other, |sum, difference| (0.5 * weight * sum, weight * difference));
                sum.0.put(depth, &one);
                difference.0.put(depth, &other);
            }
        });
        let update = |(left, right)| RankUpdate { left, right, depth: edges.len() };
        pencil.add(update((&sum.0, &sum.1)), update((&difference.0, &difference.1)), watch);
    }
}

/// Replaces every pair of entries by `work` of it.
fn map_pairs(one: &mut [f64], other: &mut [f64], work: impl Fn(f64, f64) -> (f64, f64)) {
    simd::dispatch(
        #[inline(always)]
        || {
            for (one, other) in one.iter_mut().zip(other.iter_mut()) {
                (*one, *other) = work(*one, *other);
            }
        },
    );
}

/// The total scatter matrix $\sum_i x_i x_i^\top$.
///
/// # Panics
/// If instances are not contiguous.
pub fn total<T: Scalar>(data: Selected<'_, T>, watch: &dyn Observer) -> Mat<f64> {
    let (dim, depth, runs) = (data.dim(), BLOCK_TERMS.min(data.points.ncols()), data.runs());
    let mut sum = zeros(dim, dim);
    let (mut left, mut right) = (Panels::left(dim, depth), Panels::right(dim, depth));
    let instances: Vec<usize> = (0..data.points.ncols()).collect();
    each_block(&instances, watch, |instances| {
        let slabs = left.slabs(SLAB_TERMS).zip(right.slabs(SLAB_TERMS)).zip(instances.par_chunks(SLAB_TERMS));
        slabs.for_each(|((mut left, mut right), instances)| {
            let mut values = vec![0.0; dim];
            for (depth, &i) in instances.iter().enumerate() {
                data.write(&runs, i, &mut values);
                left.put(depth, &values);
                right.put(depth, &values);
            }
        });
        RankUpdate { left: &left, right: &right, depth: instances.len() }.add_lower(&mut sum);
    });
    mirror(&mut sum);
    sum
}

fn each_block<I>(instances: &[I], watch: &dyn Observer, mut work: impl FnMut(&[I])) {
    let blocks = instances.len().div_ceil(BLOCK_TERMS);
    for (block, instances) in instances.chunks(BLOCK_TERMS).enumerate() {
        work(instances);
        watch.progress(block + 1, blocks);
        if watch.poll().is_break() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Weights;
    use crate::{Silent, neighbors};

    #[test]
    fn graph_scatters_are_the_sums_over_edges_that_they_stand_for() {
        let points = Mat::<f32>::from_fn(7, 700, |i, j| ((i * 13 + j * 37 + j * j % 11) % 41) as f32 / 8.0);
        let graph = Affinity::new(&neighbors::exact(points.as_ref(), 5, &Silent), None, Weights::Exp);
        let rows: Vec<usize> = vec![0, 2, 3, 6];
        let pencil =
            of_graph(Selected { points: points.as_ref(), rows: &rows, center: None }, &graph, &Silent);
        let (degree, laplacian) = (pencil.left(), pencil.right());
        let at = |a: usize, i: usize| f64::from(points[(rows[a], i)]);
        for a in 0..4 {
            for b in 0..4 {
                let (mut expected_degree, mut expected_laplacian) = (0.0, 0.0);
                for i in 0..700 {
                    expected_degree += graph.degree(i) * at(a, i) * at(b, i);
                    for (j, weight) in graph.row(i).iter() {
                        // x'Lx = half the sum over ordered pairs of w (x_i - x_j)^2
                        expected_laplacian += 0.5 * weight * (at(a, i) - at(a, j)) * (at(b, i) - at(b, j));
                    }
                }
                approx::assert_relative_eq!(degree[(a, b)], expected_degree, max_relative = 1e-11);
                approx::assert_relative_eq!(laplacian[(a, b)], expected_laplacian, max_relative = 1e-9);
            }
        }
    }

    /// Graphs over subsets of the points: most points have the same edges in all or some of them.
    #[test]
    fn matrices_of_several_graphs_are_those_of_each_alone() {
        let points = Mat::<f32>::from_fn(7, 900, |i, j| ((i * 13 + j * 37 + j * j % 11) % 41) as f32 / 8.0);
        let fold = |left_out: usize| {
            let members: Vec<usize> = (0..900).filter(|i| i % 50 != left_out).collect();
            let own = Mat::from_fn(7, members.len(), |i, j| points[(i, members[j])]);
            let graph = Affinity::new(&neighbors::exact(own.as_ref(), 2, &Silent), None, Weights::Exp);
            graph.expanded(&members, 900)
        };
        let alone = [1, 2, 77].map(fold);
        let mut graphs = Graphs::default();
        alone.iter().for_each(|graph| graphs.push(graph));
        let sets = graphs.groups();
        let saved = |group: &EdgeGroup| group.len() * (group.graphs.len() - 1);
        assert!(
            sets.iter().any(|group| saved(group) >= MIN_SAVED_TERMS)
                && sets.iter().any(|group| saved(group) < MIN_SAVED_TERMS)
        );
        assert!(sets.iter().any(|group| !group.forest.is_empty()));
        let rows: Vec<usize> = (0..7).collect();
        let data = Selected { points: points.as_ref(), rows: &rows, center: None };
        for (found, graph) in of_graphs(data, &graphs, &Silent).iter().zip(&alone) {
            let alone = of_graph(data, graph, &Silent);
            // The right-hand matrix is a difference of sums as large as the left-hand one.
            let rounding = 1e-12 * alone.left().norm_max();
            assert!((found.left() - alone.left()).norm_max() < rounding);
            assert!((found.right() - alone.right()).norm_max() < rounding);
        }
    }

    #[test]
    fn centering_removes_the_mean_and_constant_rows_are_found() {
        let points = Mat::from_fn(3, 50, |i, j| if i == 1 { 2.5 } else { (j * (i + 1) % 17) as f64 });
        assert_eq!(varying(points.as_ref()), [0, 2]);
        let center = mean(points.as_ref());
        let data = Selected { points: points.as_ref(), rows: &[0, 1, 2], center: Some(&center) };
        let sum = total(data, &Silent);
        assert!(sum[(1, 1)].abs() < 1e-20 && sum[(0, 0)] > 1.0);
    }
}
