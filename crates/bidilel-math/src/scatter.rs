//! Scatter matrices of columns, accumulated in `f64` from features of either precision.
//!
//! $X D X^\top = \sum_i D_{ii} x_i x_i^\top$ and $X L X^\top = \sum_i (D_{ii} x_i - \sum_j W_{ij} x_j) x_i^\top$
//! for a graph $W$ (both dimensions x dimensions), and the plain $\sum_i x_i x_i^\top$. The features are read
//! in blocks of instances and never copied whole; only the lower half is multiplied out.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

use crate::graph::Affinity;
use crate::{Observer, Scalar};

/// Instances that are widened to `f64` at a time.
const BLOCK: usize = 512;
/// Columns of the result that one thread computes.
const PANEL: usize = 192;

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

    /// Adds `scale` times instance `i` to `into`.
    fn add(&self, i: usize, scale: f64, into: &mut [f64]) {
        let column = self.points.col(i);
        for (value, &row) in into.iter_mut().zip(self.rows) {
            let center = self.center.map_or(0.0, |center| center[row]);
            *value += scale * (column[row].to_f64() - center);
        }
    }
}

/// $X D X^\top$ and $X L X^\top$ of a graph.
pub fn of_graph<T: Scalar>(
    data: Selected<'_, T>,
    graph: &Affinity,
    watch: &dyn Observer,
) -> (Mat<f64>, Mat<f64>) {
    let mut degree = Mat::zeros(data.dim(), data.dim());
    let mut laplacian = Mat::zeros(data.dim(), data.dim());
    // An instance without an edge adds nothing to either.
    let linked: Vec<usize> = (0..graph.count()).filter(|&i| graph.degree(i) > 0.0).collect();
    let blocks = linked.len().div_ceil(BLOCK);
    for (block, instances) in linked.chunks(BLOCK).enumerate() {
        let plain = panel(data.dim(), instances, |i, into| data.add(i, 1.0, into));
        let weighted = panel(data.dim(), instances, |i, into| data.add(i, graph.degree(i), into));
        add_lower(&mut degree, weighted.as_ref(), plain.as_ref());
        let mut rest = weighted;
        each_column(&mut rest, instances, |i, into| {
            graph.row(i).iter().for_each(|&(j, weight)| data.add(j, -weight, into));
        });
        add_lower(&mut laplacian, rest.as_ref(), plain.as_ref());
        watch.progress(block + 1, blocks);
    }
    mirror(&mut degree);
    mirror(&mut laplacian);
    (degree, laplacian)
}

/// $\sum_i x_i x_i^\top$.
pub fn total<T: Scalar>(data: Selected<'_, T>, watch: &dyn Observer) -> Mat<f64> {
    let mut sum = Mat::zeros(data.dim(), data.dim());
    let instances: Vec<usize> = (0..data.points.ncols()).collect();
    let blocks = instances.len().div_ceil(BLOCK);
    for (block, instances) in instances.chunks(BLOCK).enumerate() {
        let plain = panel(data.dim(), instances, |i, into| data.add(i, 1.0, into));
        add_lower(&mut sum, plain.as_ref(), plain.as_ref());
        watch.progress(block + 1, blocks);
    }
    mirror(&mut sum);
    sum
}

/// The mean of all columns.
pub fn mean<T: Scalar>(points: MatRef<'_, T>) -> Vec<f64> {
    let mut sum = vec![0.0; points.nrows()];
    for column in points.col_iter() {
        sum.iter_mut().zip(column.iter()).for_each(|(sum, value)| *sum += value.to_f64());
    }
    sum.iter_mut().for_each(|value| *value /= points.ncols() as f64);
    sum
}

/// The dimensions that are not the same for all columns.
pub fn varying<T: Scalar>(points: MatRef<'_, T>) -> Vec<usize> {
    let mut varies = vec![false; points.nrows()];
    if points.ncols() > 0 {
        let first = points.col(0);
        for column in points.col_iter() {
            for (row, varies) in varies.iter_mut().enumerate() {
                *varies |= column[row] != first[row];
            }
        }
    }
    (0..points.nrows()).filter(|&row| varies[row]).collect()
}

fn panel(dim: usize, instances: &[usize], fill: impl Fn(usize, &mut [f64]) + Sync) -> Mat<f64> {
    let mut panel = Mat::zeros(dim, instances.len());
    each_column(&mut panel, instances, fill);
    panel
}

fn each_column(panel: &mut Mat<f64>, instances: &[usize], change: impl Fn(usize, &mut [f64]) + Sync) {
    panel.par_col_iter_mut().zip(instances).for_each(|(column, &i)| {
        change(i, column.try_as_col_major_mut().expect("an owned panel").as_slice_mut());
    });
}

/// Adds the lower half of `left * right'` to `sum`, whole panels at a time.
pub(crate) fn add_lower(sum: &mut Mat<f64>, left: MatRef<'_, f64>, right: MatRef<'_, f64>) {
    let dim = sum.nrows();
    sum.par_col_chunks_mut(PANEL).enumerate().for_each(|(index, panel)| {
        let first = index * PANEL;
        let (rows, columns) = (dim - first, panel.ncols());
        let (left, right) = (left.subrows(first, rows), right.subrows(first, columns));
        matmul(panel.subrows_mut(first, rows), Accum::Add, left, right.transpose(), 1.0, Par::Seq);
    });
}

pub(crate) fn mirror(matrix: &mut Mat<f64>) {
    for column in 1..matrix.ncols() {
        for row in 0..column {
            matrix[(row, column)] = matrix[(column, row)];
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
        let (degree, laplacian) =
            of_graph(Selected { points: points.as_ref(), rows: &rows, center: None }, &graph, &Silent);
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
