//! Kernel matrices between instances, computed in tiles, so that the features are never converted to `f64` as a whole.
//!
//! `$$ k(x, z) = x^\top z, \qquad e^{-\gamma \|x - z\|^2}, \qquad
//!    \exp\Big({-\gamma} \sum_i \frac{(x_i - z_i)^2}{x_i + z_i}\Big) $$`
//!
//! are the linear, the radial basis function (RBF) and the exponential chi-squared kernel. The last is for histograms, whose
//! entries are nonnegative; a bin that is empty in both contributes nothing. All are computed in `f64`: products in single
//! precision would leave too few digits for the eigenproblem that follows.
//!
//! # References
//! J. Zhang et al., *Local features and kernels for classification of texture and object categories*, 2007.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use crate::Scalar;

/// Support points of a tile.
const TILE_ROWS: usize = 512;
/// Points of a tile.
const TILE_COLUMNS: usize = 256;
/// Points whose pairwise distances the median is taken over.
const SAMPLE_POINTS: usize = 512;

/// A kernel with its parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kernel {
    /// Inner product.
    Linear,
    /// Radial basis function.
    Rbf {
        /// Inverse squared width.
        gamma: f64,
    },
    /// Exponential chi-squared.
    ChiSquared {
        /// Inverse scale of the chi-squared distance.
        gamma: f64,
    },
}

impl Kernel {
    /// Adds `weight` times the kernel between `support` (rows of `into`) and `points` (its columns).
    ///
    /// # Panics
    /// If shapes do not match.
    pub fn add_to<S: Scalar, T: Scalar>(
        self,
        weight: f64,
        support: MatRef<'_, S>,
        points: MatRef<'_, T>,
        into: MatMut<'_, f64>,
    ) {
        assert_eq!(support.nrows(), points.nrows(), "points must have one dimension");
        assert_eq!((into.nrows(), into.ncols()), (support.ncols(), points.ncols()), "one entry per pair");
        into.par_col_chunks_mut(TILE_COLUMNS).enumerate().for_each(|(block, mut columns)| {
            let right = widened(points.subcols(block * TILE_COLUMNS, columns.ncols()));
            for first in (0..support.ncols()).step_by(TILE_ROWS) {
                let count = TILE_ROWS.min(support.ncols() - first);
                let left = widened(support.subcols(first, count));
                let tile = self.tile(&left, &right);
                for (j, column) in columns.as_mut().subrows_mut(first, count).col_iter_mut().enumerate() {
                    column
                        .iter_mut()
                        .zip(tile.col_as_slice(j))
                        .for_each(|(sum, value)| *sum += weight * value);
                }
            }
        });
    }

    /// $k(x, x)$.
    pub fn diagonal<T: Scalar>(self, point: impl Iterator<Item = T>) -> f64 {
        match self {
            Self::Linear => point.map(|value| value.to_f64().powi(2)).sum(),
            Self::Rbf { .. } | Self::ChiSquared { .. } => 1.0,
        }
    }

    fn tile(self, left: &Mat<f64>, right: &Mat<f64>) -> Mat<f64> {
        let mut tile = Mat::zeros(left.ncols(), right.ncols());
        match self {
            Self::Linear => matmul(tile.as_mut(), Accum::Replace, left.transpose(), right, 1.0, Par::Seq),
            Self::Rbf { gamma } => {
                matmul(tile.as_mut(), Accum::Replace, left.transpose(), right, -2.0, Par::Seq);
                let square = |points: &Mat<f64>, i: usize| points.col(i).squared_norm_l2();
                let own: Vec<f64> = (0..left.ncols()).map(|i| square(left, i)).collect();
                for j in 0..right.ncols() {
                    let other = square(right, j);
                    for (value, own) in tile.col_as_slice_mut(j).iter_mut().zip(&own) {
                        // Rounding must not make a squared distance negative.
                        *value = (-gamma * (*value + own + other).max(0.0)).exp();
                    }
                }
            }
            Self::ChiSquared { gamma } => {
                for j in 0..right.ncols() {
                    let point = right.col_as_slice(j);
                    for (i, value) in tile.col_as_slice_mut(j).iter_mut().enumerate() {
                        *value = (-gamma * chi_squared(left.col_as_slice(i), point)).exp();
                    }
                }
            }
        }
        tile
    }
}

/// Chi-squared distance: $\sum_i (x_i - z_i)^2 / (x_i + z_i)$ over the entries that are not zero in both.
pub fn chi_squared(left: &[f64], right: &[f64]) -> f64 {
    // Eight accumulators, added up in a fixed order, let the compiler vectorize the loop.
    let mut sums = [0.0; 8];
    let term = |x: f64, z: f64| {
        let total = x + z;
        if total > 0.0 { (x - z) * (x - z) / total } else { 0.0 }
    };
    let (left_chunks, right_chunks) = (left.chunks_exact(8), right.chunks_exact(8));
    let tail: f64 =
        left_chunks.remainder().iter().zip(right_chunks.remainder()).map(|(&x, &z)| term(x, z)).sum();
    for (x, z) in left_chunks.zip(right_chunks) {
        for lane in 0..8 {
            sums[lane] += term(x[lane], z[lane]);
        }
    }
    sums.iter().sum::<f64>() + tail
}

/// The median of `distance` over the pairs of an evenly spaced sample of points; 0 without a pair.
pub fn median_over_pairs<T: Scalar>(
    points: MatRef<'_, T>,
    distance: impl Fn(&[f64], &[f64]) -> f64 + Sync,
) -> f64 {
    let count = points.ncols().min(SAMPLE_POINTS);
    let sample =
        Mat::from_fn(points.nrows(), count, |row, i| points[(row, i * points.ncols() / count)].to_f64());
    let mut all: Vec<f64> = (0..count)
        .into_par_iter()
        .flat_map_iter(|j| {
            let (sample, distance) = (&sample, &distance);
            (0..j).map(move |i| distance(sample.col_as_slice(i), sample.col_as_slice(j)))
        })
        .collect();
    match all.len() {
        0 => 0.0,
        pairs => *all.select_nth_unstable_by(pairs / 2, f64::total_cmp).1,
    }
}

fn widened<T: Scalar>(points: MatRef<'_, T>) -> Mat<f64> {
    Mat::from_fn(points.nrows(), points.ncols(), |i, j| points[(i, j)].to_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::squared_slices;

    type Direct = fn(&[f64], &[f64]) -> f64;

    fn cloud(dim: usize, count: usize) -> Mat<f32> {
        Mat::from_fn(dim, count, |i, j| ((i * 31 + j * 17 + i * j % 13) % 29) as f32 / 29.0)
    }

    #[test]
    fn entries_equal_the_formulas_across_tile_boundaries() {
        // More support points and more points than fit a tile.
        let (support, points) = (cloud(11, 700), cloud(11, 300));
        let wide = |m: &Mat<f32>, j: usize| -> Vec<f64> {
            m.col_as_slice(j).iter().map(|&v| f64::from(v)).collect()
        };
        let cases: [(Kernel, Direct); 3] = [
            (Kernel::Linear, |x, z| x.iter().zip(z).map(|(a, b)| a * b).sum()),
            (Kernel::Rbf { gamma: 0.7 }, |x, z| (-0.7 * squared_slices(x, z)).exp()),
            (Kernel::ChiSquared { gamma: 0.3 }, |x, z| (-0.3 * chi_squared(x, z)).exp()),
        ];
        for (kernel, direct) in cases {
            let mut found = Mat::full(700, 300, 1.0);
            kernel.add_to(0.5, support.as_ref(), points.as_ref(), found.as_mut());
            for (i, j) in [(0, 0), (511, 255), (512, 256), (699, 299), (13, 280), (600, 4)] {
                let expected = 1.0 + 0.5 * direct(&wide(&support, i), &wide(&points, j));
                approx::assert_relative_eq!(found[(i, j)], expected, max_relative = 1e-12);
            }
            let own = kernel.diagonal(points.col_as_slice(9).iter().copied());
            approx::assert_relative_eq!(
                own,
                direct(&wide(&points, 9), &wide(&points, 9)),
                max_relative = 1e-12
            );
        }
    }

    #[test]
    fn empty_bins_add_nothing_to_chi_squared() {
        approx::assert_relative_eq!(chi_squared(&[0.0, 1.0, 0.0], &[0.0, 1.0, 2.0]), 2.0);
        approx::assert_relative_eq!(chi_squared(&[1.0; 9], &[3.0; 9]), 9.0, max_relative = 1e-15);
    }

    #[test]
    fn the_median_is_that_of_all_pairs_of_few_points() {
        let points = faer::mat![[0.0_f64, 1.0, 3.0]];
        let apart = |x: &[f64], z: &[f64]| (x[0] - z[0]).abs();
        approx::assert_relative_eq!(median_over_pairs(points.as_ref(), apart), 2.0);
        approx::assert_relative_eq!(median_over_pairs(points.subcols(0, 1), apart), 0.0);
    }
}
