//! The E-step: responsibilities of components for points, and their sufficient statistics.
//!
//! $\log w_k p_k(x) = a_k + \sum_d x_d^2 (-\tfrac1{2\sigma^2_{dk}}) + \sum_d x_d \tfrac{\mu_{dk}}{\sigma^2_{dk}}$, one
//! GEMM of the stacked $[x^2; x]$ with the stacked coefficients. The responsibilities are its softmax, and the sufficient statistics
//! $\sum_i \gamma_{ik} [x_i^2; x_i]$ are a second GEMM. No matrix of all points x components is ever formed.
//!
//! Here $x$ and $\mu$ are relative to an origin, the mean of the mixture. Far from zero the variances would cancel:
//! $\frac1n \sum x^2 - \mu^2$ loses a factor of $\mu^2 / \sigma^2$ in relative accuracy. Relative to the mean of the mixture,
//! $w_k \mu_k^2$ is at most the variance of all points, of which the floor of every $\sigma_k^2$ is a fraction
//! ([`super::variance_floor`]): the loss is at most one over that fraction and $w_k$.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

use super::Mixture;
use super::exponential::exp;

/// Points per GEMM.
const BLOCK_POINTS: usize = 256;
/// Points per task.
const CHUNK_POINTS: usize = 4096;
/// Tasks whose statistics are in memory at once.
const WAVE_CHUNKS: usize = 16;
/// Log-density relative to the largest component below which a responsibility is set to zero: it would be below 1e-17, less
/// than the rounding errors of the others, and the exponential stays within its range.
const NEGLIGIBLE_LOG: f64 = -40.0;

/// Sufficient statistics of points, weighted by the responsibilities.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// The number of points.
    pub count: usize,
    /// $\sum_i \log p(x_i)$.
    pub log_likelihood: f64,
    /// $\sum_i \gamma_{ik}$, per component.
    pub soft_counts: Vec<f64>,
    /// The origin of the coordinates in `sums`.
    pub origin: Vec<f64>,
    /// $\sum_i \gamma_{ik} x_i^2$ stacked on $\sum_i \gamma_{ik} x_i$, relative to the origin: twice the dimensions x components.
    pub sums: Mat<f64>,
}

impl Statistics {
    /// The statistics of no points.
    pub fn zeros(origin: Vec<f64>, components: usize) -> Self {
        Self {
            count: 0,
            log_likelihood: 0.0,
            soft_counts: vec![0.0; components],
            sums: Mat::zeros(2 * origin.len(), components),
            origin,
        }
    }

    fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.log_likelihood += other.log_likelihood;
        self.soft_counts.iter_mut().zip(&other.soft_counts).for_each(|(sum, value)| *sum += value);
        self.sums += &other.sums;
    }
}

/// A mixture prepared for the E-step.
#[derive(Debug, Clone)]
pub struct Expectation {
    /// The mean of the mixture.
    origin: Vec<f64>,
    /// Coefficients of $[x^2; x]$, twice the dimensions x components.
    coefficients: Mat<f64>,
    constants: Vec<f64>,
}

impl Expectation {
    /// Prepares a mixture.
    pub fn new(mixture: &Mixture) -> Self {
        let (dim, count) = (mixture.dim(), mixture.count());
        let variances = &mixture.variances;
        let weighted = |d: usize| (0..count).map(|k| mixture.weights[k] * mixture.means[(d, k)]).sum::<f64>();
        let origin: Vec<f64> = (0..dim).map(weighted).collect();
        let means = Mat::from_fn(dim, count, |d, k| mixture.means[(d, k)] - origin[d]);
        let coefficients = Mat::from_fn(2 * dim, count, |row, k| match row.checked_sub(dim) {
            None => -0.5 / variances[(row, k)],
            Some(d) => means[(d, k)] / variances[(d, k)],
        });
        let constant = |k: usize| {
            let terms = (0..dim).map(|d| {
                let (mean, variance) = (means[(d, k)], variances[(d, k)]);
                (std::f64::consts::TAU * variance).ln() + mean * mean / variance
            });
            mixture.weights[k].ln() - 0.5 * terms.sum::<f64>()
        };
        Self { constants: (0..count).map(constant).collect(), coefficients, origin }
    }

    /// The statistics of the columns of `points`, in parallel; the result does not depend on the number of threads.
    pub fn of(&self, points: MatRef<'_, f64>) -> Statistics {
        let mut all = self.empty();
        for first in (0..points.ncols()).step_by(CHUNK_POINTS * WAVE_CHUNKS) {
            let wave = points.subcols(first, (points.ncols() - first).min(CHUNK_POINTS * WAVE_CHUNKS));
            let parts: Vec<Statistics> = wave
                .par_col_chunks(CHUNK_POINTS)
                .map(|chunk| {
                    let mut part = self.empty();
                    self.add(chunk, &mut part);
                    part
                })
                .collect();
            parts.iter().for_each(|part| all.add(part));
        }
        all
    }

    /// The statistics of no points.
    pub fn empty(&self) -> Statistics {
        Statistics::zeros(self.origin.clone(), self.constants.len())
    }

    /// Adds the columns of `points` to `statistics`, on the calling thread.
    pub fn add(&self, points: MatRef<'_, f64>, statistics: &mut Statistics) {
        let (dim, count) = (points.nrows(), self.constants.len());
        let max_width = points.ncols().min(BLOCK_POINTS);
        let (mut stacked, mut responsibilities) =
            (Mat::<f64>::zeros(2 * dim, max_width), Mat::<f64>::zeros(count, max_width));
        for first in (0..points.ncols()).step_by(BLOCK_POINTS) {
            let width = (points.ncols() - first).min(BLOCK_POINTS);
            for i in 0..width {
                let column = points.col(first + i);
                let (squares, values) = stacked.col_as_slice_mut(i).split_at_mut(dim);
                let around = column.iter().zip(&self.origin).map(|(x, origin)| x - origin);
                for ((square, value), x) in squares.iter_mut().zip(values).zip(around) {
                    (*square, *value) = (x * x, x);
                }
            }
            let stacked = stacked.subcols(0, width);
            let logarithms = responsibilities.subcols_mut(0, width);
            matmul(logarithms, Accum::Replace, self.coefficients.transpose(), stacked, 1.0, Par::Seq);
            for i in 0..width {
                let column = responsibilities.col_as_slice_mut(i);
                statistics.log_likelihood += self.softmax(column);
                statistics.soft_counts.iter_mut().zip(&*column).for_each(|(sum, share)| *sum += share);
            }
            let block = responsibilities.subcols(0, width).transpose();
            matmul(statistics.sums.as_mut(), Accum::Add, stacked, block, 1.0, Par::Seq);
        }
        statistics.count += points.ncols();
    }

    /// Turns the log-densities of one point, still without the constants, into responsibilities; returns $\log p(x)$.
    fn softmax(&self, column: &mut [f64]) -> f64 {
        column.iter_mut().zip(&self.constants).for_each(|(value, constant)| *value += constant);
        let largest =
            column.iter().copied().fold(f64::NEG_INFINITY, |most, x| if x > most { x } else { most });
        for value in &mut *column {
            let below = *value - largest;
            let share = exp(if below < NEGLIGIBLE_LOG { NEGLIGIBLE_LOG } else { below });
            *value = if below < NEGLIGIBLE_LOG { 0.0 } else { share };
        }
        let sum: f64 = column.iter().sum();
        let scale = 1.0 / sum;
        column.iter_mut().for_each(|value| *value *= scale);
        largest + sum.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::krylov::tests::random;

    #[test]
    fn statistics_equal_the_sums_of_the_formula() {
        let mixture = Mixture {
            weights: vec![0.2, 0.5, 0.3],
            means: random(4, 3, 1),
            variances: Mat::from_fn(4, 3, |d, k| 0.3 + (d + 2 * k) as f64 / 4.0),
        };
        let points = random(4, 700, 2);
        let found = Expectation::new(&mixture).of(points.as_ref());
        let (mut likelihood, mut responsibilities, mut sums) = (0.0, [0.0; 3], Mat::<f64>::zeros(8, 3));
        for x in points.col_iter() {
            let densities = [0, 1, 2].map(|k| {
                let density = |d: usize| {
                    let (mean, variance) = (mixture.means[(d, k)], mixture.variances[(d, k)]);
                    (-(x[d] - mean).powi(2) / (2.0 * variance)).exp()
                        / (std::f64::consts::TAU * variance).sqrt()
                };
                mixture.weights[k] * (0..4).map(density).product::<f64>()
            });
            let all: f64 = densities.iter().sum();
            likelihood += all.ln();
            for k in 0..3 {
                responsibilities[k] += densities[k] / all;
                for d in 0..4 {
                    let x = x[d] - found.origin[d];
                    sums[(d, k)] += densities[k] / all * x * x;
                    sums[(4 + d, k)] += densities[k] / all * x;
                }
            }
        }
        approx::assert_relative_eq!(found.log_likelihood, likelihood, max_relative = 1e-12);
        assert!((&found.sums - &sums).norm_max() < 1e-10);
        assert!(found.soft_counts.iter().zip(responsibilities).all(|(a, b)| (a - b).abs() < 1e-10));
        assert_eq!(found.count, 700);
    }

    #[test]
    fn the_bits_do_not_depend_on_the_number_of_threads() {
        let mixture = Mixture {
            weights: vec![0.5; 2],
            means: random(3, 2, 4),
            variances: Mat::from_fn(3, 2, |_, _| 0.7),
        };
        let points = random(3, CHUNK_POINTS * (WAVE_CHUNKS + 2) + 17, 5);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a small pool");
            pool.install(|| Expectation::new(&mixture).of(points.as_ref()))
        };
        let one = with(1);
        assert_eq!(with(2), one);
        assert_eq!(with(3), one);
    }
}
