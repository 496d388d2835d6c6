//! Scatter matrices of columns, accumulated in `f64` from features of either precision.
//!
//! $X D X^\top$ and $X L X^\top$ for a graph $W$ (both dimensions x dimensions), and the plain $\sum_i x_i x_i^\top$. The
//! features are read in blocks of instances and never copied whole; only the lower half is multiplied out.
//!
//! What is summed up is $\frac12 X (D + W) X^\top$ and $X L X^\top = X (D - W) X^\top$, half of which makes the first
//! $X D X^\top$: both are sums over points, of $\frac12 (D_{ii} x_i + \sum_j W_{ij} x_j) x_i^\top$ and
//! $(D_{ii} x_i - \sum_j W_{ij} x_j) x_i^\top$, or over edges, of $\frac12 W_{ij} (x_i + x_j) (x_i + x_j)^\top$ and
//! $W_{ij} (x_i - x_j) (x_i - x_j)^\top$. A piece of the graph is summed up by what it has fewer of.

mod verify;

use std::ops::Range;

use faer::{Mat, MatRef};
use rayon::prelude::*;

pub use verify::{verify_graph, verify_total};

use crate::graph::Affinity;
use crate::graphs::{Edge, Graphs, Shared};
use crate::panels::Panels;
use crate::parallel::zeros;
use crate::pencil::Pencil;
use crate::rows::Row;
use crate::tiles::{Symmetric, mirror};
use crate::vector::{add_scaled, column, widen, widest};
use crate::{Columns, Observer, Scalar};

/// Instances that are widened to `f64` at a time: every sum is read and written once a block.
const BLOCK: usize = 480;
/// Instances that one thread widens at a time.
const SLAB: usize = 24;
/// With fewer sums to save, those that several graphs share are not worth a matrix of their own.
const FEW: usize = 192;
/// Dimensions whose sums stay in the first cache.
const STRIP: usize = 1024;
/// Dimensions whose mean one thread finds at a time.
const SHARE: usize = 128;

/// Which features of a matrix to use, and what to subtract from them.
#[derive(Debug, Clone, Copy)]
pub struct Selected<'a, T> {
    /// Features, dimensions x instances.
    pub points: MatRef<'a, T>,
    /// The dimensions to use, ascending.
    pub rows: &'a [usize],
    /// Subtracted from every instance, over all dimensions.
    pub center: Option<&'a [f64]>,
}

impl<'a, T: Scalar> Selected<'a, T> {
    fn dim(&self) -> usize {
        self.rows.len()
    }

    /// The places among the selected dimensions of those that follow each other among all.
    fn runs(&self) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for (place, &row) in self.rows.iter().enumerate() {
            match runs.last_mut() {
                Some(run) if self.rows[run.end - 1] + 1 == row => run.end += 1,
                _ => runs.push(place..place + 1),
            }
        }
        runs
    }

    /// Writes instance `i`, run by run.
    fn write(&self, runs: &[Range<usize>], i: usize, into: &mut [f64]) {
        for run in runs {
            let (into, values) = (&mut into[run.clone()], self.values(i, run));
            widen(values, into);
            if let Some(center) = self.center(run) {
                add_scaled(into, -1.0, center);
            }
        }
    }

    /// Adds `scale` times instance `i` to `into`, run by run.
    fn add(&self, runs: &[Range<usize>], i: usize, scale: f64, into: &mut [f64]) {
        for run in runs {
            let (into, values) = (&mut into[run.clone()], self.values(i, run));
            let Some(center) = self.center(run) else {
                add_scaled(into, scale, values);
                continue;
            };
            widest(
                #[inline(always)]
                || {
                    for ((sum, value), center) in into.iter_mut().zip(values).zip(center) {
                        *sum += scale * (value.to_f64() - center);
                    }
                },
            );
        }
    }

    /// Adds each neighbour to `into`, times the weight of its edge.
    ///
    /// Four at a time, a strip of dimensions after the other: the sums stay in registers, and in the first cache.
    fn add_neighbors(&self, runs: &[Range<usize>], edges: Row<'_>, into: &mut [f64]) {
        let (fours, rest) = edges.points().as_chunks::<4>();
        let (weights, rest_weights) = edges.values().as_chunks::<4>();
        for run in runs {
            for first in run.clone().step_by(STRIP) {
                let strip = first..run.end.min(first + STRIP);
                for (points, weights) in fours.iter().zip(weights) {
                    self.add_four(&strip, points, weights, &mut into[strip.clone()]);
                }
            }
        }
        rest.iter().zip(rest_weights).for_each(|(&j, &weight)| self.add(runs, j as usize, weight, into));
    }

    fn add_four(&self, strip: &Range<usize>, points: &[u32; 4], weights: &[f64; 4], into: &mut [f64]) {
        let [a, b, c, d] = points.map(|j| self.values(j as usize, strip));
        let [e, f, g, h] = *weights;
        // The same steps in the same order as one neighbour after the other takes.
        match self.center(strip) {
            None => widest(
                #[inline(always)]
                || {
                    let others = b.iter().zip(c).zip(d);
                    for ((sum, a), ((b, c), d)) in into.iter_mut().zip(a).zip(others) {
                        *sum = *sum + e * a.to_f64() + f * b.to_f64() + g * c.to_f64() + h * d.to_f64();
                    }
                },
            ),
            Some(center) => widest(
                #[inline(always)]
                || {
                    let others = b.iter().zip(c).zip(d);
                    for (((sum, a), ((b, c), d)), m) in into.iter_mut().zip(a).zip(others).zip(center) {
                        let [a, b, c, d] = [a, b, c, d].map(|value| value.to_f64() - m);
                        *sum = *sum + e * a + f * b + g * c + h * d;
                    }
                },
            ),
        }
    }

    /// What instance `i` has at dimensions that follow each other.
    fn values(&self, i: usize, run: &Range<usize>) -> &'a [T] {
        &column(self.points, i)[self.rows[run.start]..][..run.len()]
    }

    /// What is subtracted at dimensions that follow each other.
    fn center(&self, run: &Range<usize>) -> Option<&'a [f64]> {
        self.center.map(|center| &center[self.rows[run.start]..][..run.len()])
    }
}

/// $X D X^\top$ on the left and $X L X^\top$ on the right of a graph.
///
/// # Panics
/// If instances are not contiguous.
pub fn of_graph<T: Scalar>(data: Selected<'_, T>, graph: &Affinity, watch: &dyn Observer) -> Pencil {
    // An instance without an edge adds nothing.
    let linked = (0..graph.count()).map(|i| (i, graph.row(i))).filter(|(_, edges)| !edges.is_empty());
    let points: Vec<Point<'_>> = linked.collect();
    let mut pencil = Pencil::zeros(data.dim());
    let mut sums = Sums::new(data, points.len());
    each_block(&points, watch, |points| sums.add_points(points, &mut pencil));
    pencil.add_half_of_right_to_left();
    pencil
}

/// The same for several graphs over the same instances: edges that are in several of them are summed up once.
///
/// # Panics
/// If instances are not contiguous.
pub fn of_graphs<T: Scalar>(data: Selected<'_, T>, graphs: &Graphs, watch: &dyn Observer) -> Vec<Pencil> {
    let mut pencils: Vec<Pencil> = (0..graphs.len()).map(|_| Pencil::zeros(data.dim())).collect();
    let shared = graphs.shared();
    let (many, few): (Vec<&Shared>, Vec<&Shared>) =
        shared.iter().partition(|shared| shared.len() * (shared.graphs.len() - 1) >= FEW);
    let own = |graph: usize| few.iter().filter(move |shared| shared.graphs.contains(&graph));
    let all = many.iter().map(|shared| shared.len()).sum::<usize>()
        + (0..graphs.len()).flat_map(own).map(|shared| shared.len()).sum::<usize>();
    let mut sums = Sums::new(data, all);
    let mut done = 0;
    let mut add = |shared: &[&Shared], pencil: &mut Pencil| {
        let mut told = |count: usize| {
            done += count;
            watch.progress(done, all);
        };
        let points: Vec<Point<'_>> = shared.iter().flat_map(|shared| shared.hubs.iter()).collect();
        for block in points.chunks(BLOCK) {
            sums.add_points(block, pencil);
            told(block.len());
        }
        let edges: Vec<Edge> = shared.iter().flat_map(|shared| shared.trees.iter().copied()).collect();
        for block in edges.chunks(BLOCK) {
            sums.add_edges(block, pencil);
            told(block.len());
        }
    };
    let mut together: Option<Pencil> = None;
    for shared in many {
        let together = together.get_or_insert_with(|| Pencil::zeros(data.dim()));
        together.clear();
        add(&[shared], together);
        shared.graphs.iter().for_each(|&graph| pencils[graph].add_pencil(together));
    }
    drop(together);
    for (graph, pencil) in pencils.iter_mut().enumerate() {
        add(&own(graph).copied().collect::<Vec<_>>(), pencil);
    }
    pencils.par_iter_mut().for_each(Pencil::add_half_of_right_to_left);
    pencils
}

/// An instance with all of its edges.
type Point<'a> = (usize, Row<'a>);

/// The operands of both products for a block of terms.
struct Sums<'a, T> {
    data: Selected<'a, T>,
    runs: Vec<Range<usize>>,
    /// Of $\frac12 X (D + W) X^\top$.
    pushed: (Panels<f64>, Panels<f64>),
    /// Of $X (D - W) X^\top$.
    pulled: (Panels<f64>, Panels<f64>),
}

impl<'a, T: Scalar> Sums<'a, T> {
    /// Room for blocks of up to so many terms, or [`BLOCK`].
    fn new(data: Selected<'a, T>, most: usize) -> Self {
        let (dim, depth) = (data.dim(), BLOCK.min(most));
        let both = || (Panels::left(dim, depth), Panels::right(dim, depth));
        Self { data, runs: data.runs(), pushed: both(), pulled: both() }
    }

    /// Adds what a block of points gives. Both products have the points themselves on the right.
    fn add_points(&mut self, points: &[Point<'_>], pencil: &mut Pencil) {
        let Self { data, runs, pushed: (pushed, right), pulled: (pulled, _) } = self;
        let slabs = right.slabs(SLAB).zip(pushed.slabs(SLAB).zip(pulled.slabs(SLAB)));
        slabs.zip(points.par_chunks(SLAB)).for_each(|((mut right, (mut pushed, mut pulled)), points)| {
            let (mut one, mut other) = (vec![0.0; data.dim()], vec![0.0; data.dim()]);
            for (depth, &(i, edges)) in points.iter().enumerate() {
                data.write(runs, i, &mut one);
                right.put(depth, &one);
                other.fill(0.0);
                data.add_neighbors(runs, edges, &mut other);
                let degree: f64 = edges.values().iter().sum();
                turn(&mut one, &mut other, |own, others| {
                    (0.5 * (degree * own + others), degree * own - others)
                });
                pushed.put(depth, &one);
                pulled.put(depth, &other);
            }
        });
        let half = |left| Symmetric { left, right, depth: points.len() };
        pencil.add(half(pushed), half(pulled));
    }

    /// Adds what a block of edges gives.
    fn add_edges(&mut self, edges: &[Edge], pencil: &mut Pencil) {
        let Self { data, runs, pushed, pulled } = self;
        let pushed_slabs = pushed.0.slabs(SLAB).zip(pushed.1.slabs(SLAB));
        let slabs = pushed_slabs.zip(pulled.0.slabs(SLAB).zip(pulled.1.slabs(SLAB)));
        slabs.zip(edges.par_chunks(SLAB)).for_each(|((mut pushed, mut pulled), edges)| {
            let (mut one, mut other) = (vec![0.0; data.dim()], vec![0.0; data.dim()]);
            for (depth, &Edge { ends: (i, j), weight }) in edges.iter().enumerate() {
                data.write(runs, i as usize, &mut one);
                data.write(runs, j as usize, &mut other);
                turn(&mut one, &mut other, |one, other| (one + other, one - other));
                pushed.1.put(depth, &one);
                pulled.1.put(depth, &other);
                turn(&mut one, &mut other, |sum, difference| (0.5 * weight * sum, weight * difference));
                pushed.0.put(depth, &one);
                pulled.0.put(depth, &other);
            }
        });
        let half = |(left, right)| Symmetric { left, right, depth: edges.len() };
        pencil.add(half((&pushed.0, &pushed.1)), half((&pulled.0, &pulled.1)));
    }
}

/// Puts two numbers in the place of every two.
fn turn(one: &mut [f64], other: &mut [f64], work: impl Fn(f64, f64) -> (f64, f64)) {
    widest(
        #[inline(always)]
        || {
            for (one, other) in one.iter_mut().zip(other.iter_mut()) {
                (*one, *other) = work(*one, *other);
            }
        },
    );
}

/// $\sum_i x_i x_i^\top$.
///
/// # Panics
/// If instances are not contiguous.
pub fn total<T: Scalar>(data: Selected<'_, T>, watch: &dyn Observer) -> Mat<f64> {
    let (dim, depth, runs) = (data.dim(), BLOCK.min(data.points.ncols()), data.runs());
    let mut sum = zeros(dim, dim);
    let (mut left, mut right) = (Panels::left(dim, depth), Panels::right(dim, depth));
    let instances: Vec<usize> = (0..data.points.ncols()).collect();
    each_block(&instances, watch, |instances| {
        let slabs = left.slabs(SLAB).zip(right.slabs(SLAB)).zip(instances.par_chunks(SLAB));
        slabs.for_each(|((mut left, mut right), instances)| {
            let mut values = vec![0.0; dim];
            for (depth, &i) in instances.iter().enumerate() {
                data.write(&runs, i, &mut values);
                left.put(depth, &values);
                right.put(depth, &values);
            }
        });
        Symmetric { left: &left, right: &right, depth: instances.len() }.add_lower(&mut sum);
    });
    mirror(&mut sum);
    sum
}

/// The mean of all columns.
///
/// # Panics
/// If columns are not contiguous.
pub fn mean<'a, T: Scalar>(points: impl Into<Columns<'a, T>>) -> Vec<f64> {
    let points = points.into();
    let mut mean = vec![0.0; points.nrows()];
    mean.par_chunks_mut(SHARE).enumerate().for_each(|(strip, sum)| {
        let own = strip * SHARE..strip * SHARE + sum.len();
        (0..points.ncols()).for_each(|i| add_scaled(sum, 1.0, &points.slice(i)[own.clone()]));
        sum.iter_mut().for_each(|value| *value /= points.ncols() as f64);
    });
    mean
}

/// The dimensions that are not the same for all columns.
pub fn varying<'a, T: Scalar>(points: impl Into<Columns<'a, T>>) -> Vec<usize> {
    let points = points.into();
    let mut same: Vec<usize> = (0..points.nrows()).collect();
    let mut columns = (0..points.ncols()).map(|i| points.col(i));
    let Some(first) = columns.next() else { return Vec::new() };
    // Of real features nearly all are told apart by the first few instances.
    for column in columns {
        same.retain(|&row| column[row] == first[row]);
        if same.is_empty() {
            break;
        }
    }
    let mut varies = vec![true; points.nrows()];
    same.into_iter().for_each(|row| varies[row] = false);
    (0..points.nrows()).filter(|&row| varies[row]).collect()
}

fn each_block<I>(instances: &[I], watch: &dyn Observer, mut work: impl FnMut(&[I])) {
    let blocks = instances.len().div_ceil(BLOCK);
    for (block, instances) in instances.chunks(BLOCK).enumerate() {
        work(instances);
        watch.progress(block + 1, blocks);
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

    /// Graphs of all points, and of those with a few left out: most points have the same edges in all or some of them.
    #[test]
    fn matrices_of_several_graphs_are_those_of_each_alone() {
        let points = Mat::<f32>::from_fn(7, 900, |i, j| ((i * 13 + j * 37 + j * j % 11) % 41) as f32 / 8.0);
        let fold = |left_out: usize| {
            let members: Vec<usize> = (0..900).filter(|i| i % 50 != left_out).collect();
            let own = Mat::from_fn(7, members.len(), |i, j| points[(i, members[j])]);
            let graph = Affinity::new(&neighbors::exact(own.as_ref(), 2, &Silent), None, Weights::Exp);
            graph.among(&members, 900)
        };
        let alone = [1, 2, 77].map(fold);
        let mut graphs = Graphs::default();
        alone.iter().for_each(|graph| graphs.push(graph));
        let sets = graphs.shared();
        let saved = |shared: &Shared| shared.len() * (shared.graphs.len() - 1);
        assert!(
            sets.iter().any(|shared| saved(shared) >= FEW) && sets.iter().any(|shared| saved(shared) < FEW)
        );
        assert!(sets.iter().any(|shared| !shared.trees.is_empty()));
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
    fn centring_removes_the_mean_and_constant_rows_are_found() {
        let points = Mat::from_fn(3, 50, |i, j| if i == 1 { 2.5 } else { (j * (i + 1) % 17) as f64 });
        assert_eq!(varying(points.as_ref()), [0, 2]);
        let center = mean(points.as_ref());
        let data = Selected { points: points.as_ref(), rows: &[0, 1, 2], center: Some(&center) };
        let sum = total(data, &Silent);
        assert!(sum[(1, 1)].abs() < 1e-20 && sum[(0, 0)] > 1.0);
    }
}
