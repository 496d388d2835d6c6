//! Scatter matrices of columns, accumulated in `f64` from features of either precision.
//!
//! $X D X^\top = \sum_i D_{ii} x_i x_i^\top$ and $X L X^\top = \sum_i (D_{ii} x_i - \sum_j W_{ij} x_j) x_i^\top$
//! for a graph $W$ (both dimensions x dimensions), and the plain $\sum_i x_i x_i^\top$. The features are read
//! in blocks of instances and never copied whole; only the lower half is multiplied out.

use std::collections::BTreeMap;
use std::ops::Range;

use faer::{Mat, MatRef};
use rayon::prelude::*;

use crate::graph::Affinity;
use crate::panels::Panels;
use crate::parallel::zeros;
use crate::pencil::Pencil;
use crate::tiles::{Symmetric, mirror};
use crate::vector::{column, widest};
use crate::{Observer, Scalar};

/// Instances that are widened to `f64` at a time: every sum is read and written once a block.
const BLOCK: usize = 480;
/// Instances that one thread widens at a time.
const SLAB: usize = 24;
/// Below so many instances, sums for several graphs are not worth a matrix of their own.
const FEW: usize = 96;
/// Dimensions whose mean one thread finds at a time.
const STRIP: usize = 128;

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

impl<T: Scalar> Selected<'_, T> {
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

    /// Adds `scale` times instance `i` to `into`, run by run.
    fn add(&self, runs: &[Range<usize>], i: usize, scale: f64, into: &mut [f64]) {
        let instance = column(self.points, i);
        for run in runs {
            let first = self.rows[run.start];
            let (into, values) = (&mut into[run.clone()], &instance[first..][..run.len()]);
            let Some(center) = self.center.map(|center| &center[first..][..run.len()]) else {
                add_widened(into, scale, values);
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
}

fn add_widened<T: Scalar>(into: &mut [f64], scale: f64, values: &[T]) {
    widest(
        #[inline(always)]
        || into.iter_mut().zip(values).for_each(|(sum, value)| *sum += scale * value.to_f64()),
    );
}

/// $X D X^\top$ on the left and $X L X^\top$ on the right of a graph.
///
/// # Panics
/// If instances are not contiguous.
pub fn of_graph<T: Scalar>(data: Selected<'_, T>, graph: &Affinity, watch: &dyn Observer) -> Pencil {
    // An instance without an edge adds nothing.
    let linked: Vec<usize> = (0..graph.count()).filter(|&i| graph.degree(i) > 0.0).collect();
    let mut pencil = Pencil::zeros(data.dim());
    let mut sums = Sums::new(data, linked.len());
    each_block(&linked, watch, |instances| sums.add(graph, instances, &mut pencil));
    pencil
}

/// The same for several graphs over the same instances, such as those of folds, each without some of them.
///
/// What an instance adds depends on its own edges alone: where several graphs give it the same ones, it is multiplied out
/// once for all of them.
///
/// # Panics
/// If instances are not contiguous, or graphs are not over the same number of them.
pub fn of_graphs<T: Scalar>(data: Selected<'_, T>, graphs: &[Affinity], watch: &dyn Observer) -> Vec<Pencil> {
    let mut pencils: Vec<Pencil> = graphs.iter().map(|_| Pencil::zeros(data.dim())).collect();
    let mut sums = Sums::new(data, graphs.iter().map(Affinity::count).max().unwrap_or(0));
    let shared = instances_of_each_set(graphs);
    let (mut done, all) = (0, shared.iter().map(|(_, instances)| instances.len()).sum());
    let mut together: Option<Pencil> = None;
    for (among, instances) in shared {
        if among.len() == 1 || instances.len() < FEW {
            for &graph in &among {
                let blocks = instances.chunks(BLOCK);
                blocks.for_each(|block| sums.add(&graphs[graph], block, &mut pencils[graph]));
            }
        } else {
            let together = together.get_or_insert_with(|| Pencil::zeros(data.dim()));
            together.clear();
            instances.chunks(BLOCK).for_each(|block| sums.add(&graphs[among[0]], block, together));
            among.iter().for_each(|&graph| pencils[graph].add_pencil(together));
        }
        done += instances.len();
        watch.progress(done, all);
    }
    pencils
}

/// Sets of graphs, each with the instances that have the same edges in all of them and in no other.
fn instances_of_each_set(graphs: &[Affinity]) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut sets: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for i in 0..graphs.first().map_or(0, Affinity::count) {
        let mut own: Vec<Vec<usize>> = Vec::new();
        for (at, graph) in graphs.iter().enumerate().filter(|(_, graph)| graph.degree(i) > 0.0) {
            match own.iter_mut().find(|others| graphs[others[0]].row(i) == graph.row(i)) {
                Some(others) => others.push(at),
                None => own.push(vec![at]),
            }
        }
        own.into_iter().for_each(|set| sets.entry(set).or_default().push(i));
    }
    sets.into_iter().collect()
}

/// The operands of both products for a block of instances.
struct Sums<'a, T> {
    data: Selected<'a, T>,
    runs: Vec<Range<usize>>,
    weighted: Panels<f64>,
    pulled: Panels<f64>,
    plain: Panels<f64>,
}

impl<'a, T: Scalar> Sums<'a, T> {
    /// Room for blocks of up to so many instances, or [`BLOCK`].
    fn new(data: Selected<'a, T>, most: usize) -> Self {
        let (dim, depth) = (data.dim(), BLOCK.min(most));
        let left = || Panels::left(dim, depth);
        Self { data, runs: data.runs(), weighted: left(), pulled: left(), plain: Panels::right(dim, depth) }
    }

    /// Adds what a block of instances gives with their edges in a graph.
    fn add(&mut self, graph: &Affinity, instances: &[usize], pencil: &mut Pencil) {
        let Self { data, runs, weighted, pulled, plain } = self;
        let slabs = weighted.slabs(SLAB).zip(pulled.slabs(SLAB)).zip(plain.slabs(SLAB));
        slabs.zip(instances.par_chunks(SLAB)).for_each(
            |(((mut weighted, mut pulled), mut plain), instances)| {
                let mut values = vec![0.0; data.dim()];
                for (depth, &i) in instances.iter().enumerate() {
                    values.fill(0.0);
                    data.add(runs, i, 1.0, &mut values);
                    plain.put(depth, &values);
                    values.iter_mut().for_each(|value| *value *= graph.degree(i));
                    weighted.put(depth, &values);
                    graph.row(i).iter().for_each(|&(j, weight)| data.add(runs, j, -weight, &mut values));
                    pulled.put(depth, &values);
                }
            },
        );
        let half = |left| Symmetric { left, right: plain, depth: instances.len() };
        pencil.add(half(weighted), half(pulled));
    }
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
                values.fill(0.0);
                data.add(&runs, i, 1.0, &mut values);
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
pub fn mean<T: Scalar>(points: MatRef<'_, T>) -> Vec<f64> {
    let mut mean = vec![0.0; points.nrows()];
    mean.par_chunks_mut(STRIP).enumerate().for_each(|(strip, sum)| {
        let part = points.subrows(strip * STRIP, sum.len());
        (0..part.ncols()).for_each(|i| add_widened(sum, 1.0, column(part, i)));
        sum.iter_mut().for_each(|value| *value /= points.ncols() as f64);
    });
    mean
}

/// The dimensions that are not the same for all columns.
pub fn varying<T: Scalar>(points: MatRef<'_, T>) -> Vec<usize> {
    let mut same: Vec<usize> = (0..points.nrows()).collect();
    let mut columns = points.col_iter();
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

fn each_block(instances: &[usize], watch: &dyn Observer, mut work: impl FnMut(&[usize])) {
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
                    for &(j, weight) in graph.row(i) {
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
        let graphs = [1, 2, 77].map(fold);
        let sets = instances_of_each_set(&graphs);
        let count = |many: bool| {
            sets.iter().filter(|(set, instances)| set.len() > 1 && (instances.len() >= FEW) == many).count()
        };
        assert!(count(true) > 0 && count(false) > 0, "{} and {}", count(true), count(false));
        let rows: Vec<usize> = (0..7).collect();
        let data = Selected { points: points.as_ref(), rows: &rows, center: None };
        for (found, graph) in of_graphs(data, &graphs, &Silent).iter().zip(&graphs) {
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
