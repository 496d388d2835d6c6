//! Scatter matrices of columns, accumulated in `f64` from features of either precision.
//!
//! $X D X^\top = \sum_i D_{ii} x_i x_i^\top$ and $X L X^\top = \sum_i (D_{ii} x_i - \sum_j W_{ij} x_j) x_i^\top$
//! for a graph $W$ (both dimensions x dimensions), and the plain $\sum_i x_i x_i^\top$. The features are read
//! in blocks of instances and never copied whole; only the lower half is multiplied out.

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
    let instances = linked(graph);
    let (dim, depth, runs) = (data.dim(), BLOCK.min(instances.len()), data.runs());
    let mut pencil = Pencil::zeros(dim);
    let (mut weighted, mut pulled) = (Panels::left(dim, depth), Panels::left(dim, depth));
    let mut plain = Panels::right(dim, depth);
    each_block(&instances, watch, |instances| {
        let slabs = weighted.slabs(SLAB).zip(pulled.slabs(SLAB)).zip(plain.slabs(SLAB));
        slabs.zip(instances.par_chunks(SLAB)).for_each(
            |(((mut weighted, mut pulled), mut plain), instances)| {
                let mut values = vec![0.0; dim];
                for (depth, &i) in instances.iter().enumerate() {
                    values.fill(0.0);
                    data.add(&runs, i, 1.0, &mut values);
                    plain.put(depth, &values);
                    values.iter_mut().for_each(|value| *value *= graph.degree(i));
                    weighted.put(depth, &values);
                    graph.row(i).iter().for_each(|&(j, weight)| data.add(&runs, j, -weight, &mut values));
                    pulled.put(depth, &values);
                }
            },
        );
        let half = |left| Symmetric { left, right: &plain, depth: instances.len() };
        pencil.add(half(&weighted), half(&pulled));
    });
    pencil
}

/// An instance without an edge adds nothing to any of these.
fn linked(graph: &Affinity) -> Vec<usize> {
    (0..graph.count()).filter(|&i| graph.degree(i) > 0.0).collect()
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
