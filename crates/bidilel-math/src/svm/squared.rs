//! One versus other with the squared hinge, all classes at once.
//!
//! The Hessian of each class is at most `$H = 2 X X^\top + \lambda I$`, and equal to it where no instance has a margin. Its
//! Cholesky factor $H = R R^\top$ is shared by all classes: L-BFGS minimizes over $R^\top A$, where the problem is well
//! conditioned whatever the features are.

use std::sync::Mutex;

use faer::{Accum, Mat, MatMut, MatRef};

use super::{Classes, Machines, check_lambda};
use crate::lbfgs::{Stopping, lbfgs};
use crate::parallel::{multiply, product, zeros};
use crate::projection::Projector;
use crate::vector::widen;
use crate::{Error, Observer, Result, eigen, vector};

/// Instances whose features are widened at a time.
const BLOCK_INSTANCES: usize = 256;
const MAX_ITERATIONS: usize = 200;

/// Fits all classes; `gram` is $X X^\top$. The iteration stops at a preconditioned gradient of `tolerance` times the loss of
/// zero weights.
///
/// # Errors
/// [`Error::Parameter`] unless `lambda` is positive; [`Error::NotPositiveDefinite`] where `gram` is none;
/// [`Error::Cancelled`].
///
/// # Panics
/// If shapes do not match.
pub fn one_versus_other(
    features: MatRef<'_, f32>,
    classes: Classes<'_>,
    gram: Mat<f64>,
    lambda: f64,
    tolerance: f64,
    watch: &dyn Observer,
) -> Result<Machines> {
    check_lambda(lambda)?;
    let dim = features.nrows();
    assert_eq!((gram.nrows(), classes.labels.len()), (dim, features.ncols()), "sizes of the inputs");
    let factor = eigen::cholesky(bound(gram, lambda))?;
    let problem = Problem { features, classes, lambda, factor, buffer: Mutex::new(Mat::new()) };
    let objective = |point: &[f64], gradient: &mut [f64]| problem.evaluate(point, gradient);
    let stopping = Stopping { tolerance, max_iterations: MAX_ITERATIONS };
    let found = lbfgs(&objective, vec![0.0; dim * problem.columns()], stopping, watch);
    if watch.poll().is_break() {
        return Err(Error::Cancelled);
    }
    Ok(Machines { weights: problem.expanded(problem.weights(&found.point)), converged: found.converged })
}

/// $H$.
fn bound(mut gram: Mat<f64>, lambda: f64) -> Mat<f64> {
    for j in 0..gram.ncols() {
        gram.col_as_slice_mut(j).iter_mut().for_each(|value| *value *= 2.0);
        gram[(j, j)] += lambda;
    }
    gram
}

/// Replaces the scores of an instance by the gradient of its loss, which is returned.
fn loss(label: usize, scores: &mut [f64]) -> f64 {
    let mut loss = 0.0;
    for (class, score) in scores.iter_mut().enumerate() {
        let sign = if class == label { 1.0 } else { -1.0 };
        let slack = (1.0 - sign * *score).max(0.0);
        loss += slack * slack;
        *score = -2.0 * sign * slack;
    }
    loss
}

struct Problem<'a> {
    features: MatRef<'a, f32>,
    classes: Classes<'a>,
    lambda: f64,
    /// $R$.
    factor: Mat<f64>,
    /// Widened features of a block.
    buffer: Mutex<Mat<f64>>,
}

impl Problem<'_> {
    fn columns(&self) -> usize {
        self.classes.basis.map_or(self.classes.count, |basis| basis.ncols())
    }

    /// $A = R^{-\top} V$.
    fn weights(&self, point: &[f64]) -> Mat<f64> {
        let mut weights =
            MatRef::from_column_major_slice(point, self.factor.nrows(), self.columns()).to_owned();
        eigen::solve_lower_transposed(self.factor.as_ref(), weights.as_mut());
        weights
    }

    /// $W = A U^\top$.
    fn expanded(&self, weights: Mat<f64>) -> Mat<f64> {
        match self.classes.basis {
            Some(basis) => product(weights.as_ref(), basis.transpose()),
            None => weights,
        }
    }

    fn evaluate(&self, point: &[f64], gradient: &mut [f64]) -> f64 {
        let weights = self.weights(point);
        let mut scores = Projector::new(weights.as_ref()).project(self.features);
        if let Some(basis) = self.classes.basis {
            scores = product(basis, scores.as_ref());
        }
        let mut value = 0.0;
        for (instance, &label) in self.classes.labels.iter().enumerate() {
            value += loss(label, scores.col_as_slice_mut(instance));
        }
        if let Some(basis) = self.classes.basis {
            scores = product(basis.transpose(), scores.as_ref());
        }
        let slope = self.sum_products(&scores);
        let mut into = MatMut::from_column_major_slice_mut(gradient, slope.nrows(), slope.ncols());
        for column in 0..slope.ncols() {
            let pairs = slope.col_as_slice(column).iter().zip(weights.col_as_slice(column));
            for (to, (slope, weight)) in into.as_mut().col_mut(column).iter_mut().zip(pairs) {
                *to = slope + self.lambda * weight;
                value += 0.5 * self.lambda * weight * weight;
            }
        }
        eigen::solve_lower(self.factor.as_ref(), into);
        value
    }

    /// $X E^\top$ for residuals $E$, columns x instances.
    fn sum_products(&self, residuals: &Mat<f64>) -> Mat<f64> {
        let (dim, count) = (self.features.nrows(), self.features.ncols());
        let mut wide = self.buffer.lock().expect("no panic while it is held");
        if wide.nrows() == 0 {
            *wide = zeros(dim, BLOCK_INSTANCES.min(count));
        }
        let mut slope: Mat<f64> = zeros(dim, residuals.nrows());
        for first in (0..count).step_by(BLOCK_INSTANCES) {
            let size = BLOCK_INSTANCES.min(count - first);
            for i in 0..size {
                widen(vector::column(self.features, first + i), wide.col_as_slice_mut(i));
            }
            let part = residuals.subcols(first, size);
            multiply(slope.as_mut(), Accum::Add, wide.subcols(0, size), part.transpose());
        }
        slope
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;
    use crate::krylov::gram_schmidt;

    fn data() -> (Mat<f32>, Vec<usize>, Mat<f64>) {
        let features =
            Mat::from_fn(5, 60, |i, j| ((i * 60 + j * 7) as f32 * 0.37).sin() + (j % 4 * i) as f32 * 0.2);
        let wide = Mat::from_fn(5, 60, |i, j| f64::from(features[(i, j)]));
        (features, (0..60).map(|j| j % 4).collect(), &wide * wide.transpose())
    }

    /// Value and gradient in $W$ by plain loops.
    fn plain(weights: &Mat<f64>, features: &Mat<f32>, labels: &[usize], lambda: f64) -> (f64, Mat<f64>) {
        let mut slope = weights * faer::Scale(lambda);
        let mut value = 0.5 * lambda * weights.squared_norm_l2();
        for (j, &label) in labels.iter().enumerate() {
            let point = |i: usize| f64::from(features[(i, j)]);
            for c in 0..weights.ncols() {
                let score: f64 = (0..5).map(|i| weights[(i, c)] * point(i)).sum();
                let sign = if c == label { 1.0 } else { -1.0 };
                let slack = (1.0 - sign * score).max(0.0);
                value += slack * slack;
                (0..5).for_each(|i| slope[(i, c)] -= 2.0 * sign * slack * point(i));
            }
        }
        (value, slope)
    }

    fn basis() -> Mat<f64> {
        let mut basis = Mat::from_fn(4, 2, |i, j| ((i + 3 * j) as f64).cos());
        gram_schmidt(&mut basis);
        basis
    }

    #[test]
    fn the_gradient_vanishes_at_the_solution_free_or_coupled() {
        let (features, labels, gram) = data();
        let basis = basis();
        for lambda in [1e-3, 1.0, 100.0] {
            for coupled in [None, Some(basis.as_ref())] {
                let classes = Classes { labels: &labels, count: 4, basis: coupled };
                let found =
                    one_versus_other(features.as_ref(), classes, gram.clone(), lambda, 1e-10, &Silent)
                        .expect("a fit");
                assert!(found.converged);
                let (_, mut slope) = plain(&found.weights, &features, &labels, lambda);
                if let Some(basis) = coupled {
                    slope = slope * basis;
                    let outside = &found.weights - &found.weights * basis * basis.transpose();
                    assert!(outside.norm_max() < 1e-12);
                }
                assert!(slope.norm_max() < 1e-4, "{lambda}: {}", slope.norm_max());
            }
        }
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        let (features, labels, gram) = data();
        let basis = basis();
        for coupled in [None, Some(basis.as_ref())] {
            let classes = Classes { labels: &labels, count: 4, basis: coupled };
            let factor = eigen::cholesky(bound(gram.clone(), 0.3)).expect("a factor");
            let problem = Problem {
                features: features.as_ref(),
                classes,
                lambda: 0.3,
                factor,
                buffer: Mutex::new(Mat::new()),
            };
            let size = 5 * problem.columns();
            let point: Vec<f64> = (0..size).map(|i| (i as f64).sin()).collect();
            let mut slope = vec![0.0; size];
            let value = problem.evaluate(&point, &mut slope);
            let (expected, _) = plain(&problem.expanded(problem.weights(&point)), &features, &labels, 0.3);
            assert!((value - expected).abs() < 1e-9 * expected);
            for k in 0..size {
                let at = |step: f64| {
                    let mut moved = point.clone();
                    moved[k] += step;
                    problem.evaluate(&moved, &mut vec![0.0; size])
                };
                let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
                assert!((difference - slope[k]).abs() < 1e-5 * (1.0 + slope[k].abs()), "{k}");
            }
        }
    }
}
