//! Scatter matrices of columns, accumulated in `f64` from features of either precision.
//!
//! $X D X^\top = \sum_i D_{ii} x_i x_i^\top$ and $X L X^\top = \sum_i (D_{ii} x_i - \sum_j W_{ij} x_j) x_i^\top$
//! for a graph $W$ (both dimensions x dimensions), and the plain $\sum_i x_i x_i^\top$. The features are read
//! in blocks of instances and never copied whole; only the lower half is multiplied out.

use std::ops::Range;

use faer::{Mat, MatRef};
use pulp::Arch;
use rayon::prelude::*;

use crate::graph::Affinity;
use crate::parallel::zeros;
use crate::pencil::Pencil;
use crate::tiles::{add_lower, mirror};
use crate::{Observer, Scalar};

/// Instances that are widened to `f64` at a time: every sum is read and written once a block.
const BLOCK: usize = 480;
/// Dimensions that one thread widens at a time: the instances' numbers are turned within the nearest cache.
const STRIP: usize = 128;
const LINE: usize = 8;

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

    /// Adds `scale` times the selected dimensions `strip` of instance `i` to `into`.
    fn add(&self, i: usize, scale: f64, strip: Range<usize>, into: &mut [f64]) {
        let rows = &self.rows[strip];
        let column = self.points.col(i).try_as_col_major().map(faer::ColRef::as_slice);
        let whole = rows.last().is_some_and(|last| last - rows[0] + 1 == rows.len());
        match (column, self.center) {
            (Some(column), None) if whole => {
                let values = &column[rows[0]..][..rows.len()];
                Arch::new().dispatch(
                    #[inline(always)]
                    || into.iter_mut().zip(values).for_each(|(sum, value)| *sum += scale * value.to_f64()),
                );
            }
            _ => {
                for (sum, &row) in into.iter_mut().zip(rows) {
                    let center = self.center.map_or(0.0, |center| center[row]);
                    *sum += scale * (self.points[(row, i)].to_f64() - center);
                }
            }
        }
    }

    /// Room for a block of instances x dimensions: products of matrices that lie this way round are the fastest.
    fn room(&self) -> Mat<f64> {
        zeros(BLOCK.min(self.points.ncols()), self.dim())
    }

    /// The instances as they are.
    fn plain<'p>(&self, panel: &'p mut Mat<f64>, instances: &[usize]) -> MatRef<'p, f64> {
        fill(panel, instances, |i, strip, into| self.add(i, 1.0, strip, into))
    }

    /// $D_{ii} x_i - \sum_j W_{ij} x_j$ for some instances.
    fn pulled<'p>(&self, panel: &'p mut Mat<f64>, graph: &Affinity, instances: &[usize]) -> MatRef<'p, f64> {
        fill(panel, instances, |i, strip, into| {
            self.add(i, graph.degree(i), strip.clone(), into);
            graph.row(i).iter().for_each(|&(j, weight)| self.add(j, -weight, strip.clone(), into));
        })
    }
}

/// Fills the panel: `add` adds up a strip of the dimensions of one instance.
fn fill<'p>(
    panel: &'p mut Mat<f64>,
    instances: &[usize],
    add: impl Fn(usize, Range<usize>, &mut [f64]) + Sync,
) -> MatRef<'p, f64> {
    panel.par_col_chunks_mut(STRIP).enumerate().for_each(|(index, mut strip)| {
        let range = index * STRIP..index * STRIP + strip.ncols();
        // A cache line of instances at a time, so that none of the panel is written twice.
        let mut sums = [[0.0; STRIP]; LINE];
        for (line, members) in instances.chunks(LINE).enumerate() {
            for (sums, &instance) in sums.iter_mut().zip(members) {
                sums.fill(0.0);
                add(instance, range.clone(), &mut sums[..range.len()]);
            }
            for (place, column) in strip.as_mut().col_iter_mut().enumerate() {
                let column = column.try_as_col_major_mut().expect("an owned panel").as_slice_mut();
                let values = &mut column[line * LINE..][..members.len()];
                values.iter_mut().zip(&sums).for_each(|(value, sums)| *value = sums[place]);
            }
        }
    });
    panel.subrows(0, instances.len())
}

/// $X D X^\top$ on the left and $X L X^\top$ on the right of a graph.
pub fn of_graph<T: Scalar>(data: Selected<'_, T>, graph: &Affinity, watch: &dyn Observer) -> Pencil {
    let mut pencil = Pencil::zeros(data.dim());
    let (mut plain, mut other) = (data.room(), data.room());
    each_block(&linked(graph), watch, |instances| {
        let plain = data.plain(&mut plain, instances);
        let add = |i, strip, into: &mut [f64]| data.add(i, graph.degree(i), strip, into);
        pencil.add_left(fill(&mut other, instances, add), plain);
        pencil.add_right(data.pulled(&mut other, graph, instances), plain);
    });
    pencil
}

/// An instance without an edge adds nothing to any of these.
fn linked(graph: &Affinity) -> Vec<usize> {
    (0..graph.count()).filter(|&i| graph.degree(i) > 0.0).collect()
}

/// $\sum_i x_i x_i^\top$.
pub fn total<T: Scalar>(data: Selected<'_, T>, watch: &dyn Observer) -> Mat<f64> {
    let mut sum = zeros(data.dim(), data.dim());
    let mut plain = data.room();
    let instances: Vec<usize> = (0..data.points.ncols()).collect();
    each_block(&instances, watch, |instances| {
        let plain = data.plain(&mut plain, instances);
        add_lower(&mut sum, plain, plain);
    });
    mirror(&mut sum);
    sum
}

/// The mean of all columns.
pub fn mean<T: Scalar>(points: MatRef<'_, T>) -> Vec<f64> {
    let mut mean = vec![0.0; points.nrows()];
    mean.par_chunks_mut(STRIP).enumerate().for_each(|(strip, sum)| {
        let rows: Vec<usize> = (strip * STRIP..).take(sum.len()).collect();
        let data = Selected { points, rows: &rows, center: None };
        (0..points.ncols()).for_each(|i| data.add(i, 1.0, 0..rows.len(), sum));
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
