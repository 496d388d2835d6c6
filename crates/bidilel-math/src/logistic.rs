//! Logistic regression of many targets over the same instances: multinomial, and binary with one target per row.
//!
//! With instances `$x_i$` (columns of $X$, $d \times n$), linear predictors `$z_i = W^\top x_i + b$` and a weight $\lambda$
//!
//! `$$ \min_{W, b} \sum_i \ell(z_i, y_i) + \tfrac{\lambda}{2} \|W\|^2, $$`
//!
//! where $\ell$ is minus the log-likelihood: of the softmax of `$z_i$` at the label of an instance, or of independent
//! sigmoids at targets in `$\{0, 1\}$`. The Hessian is bounded by `$H = c\, \tilde X \tilde X^\top + \lambda I$` per target,
//! with $c = 1/4$ for sigmoids and $1/2$ for the softmax, and $\tilde X$ with a row of ones for $b$. Its Cholesky factor
//! $H = R R^\top$ is computed once for all targets, and L-BFGS minimizes over $V = R^\top \tilde W$, where the problem is
//! well conditioned whatever the features are: some twenty iterations suffice.
//!
//! # References
//! D. Böhning, *Multinomial logistic regression algorithm*, 1992 (the bound).

use std::sync::Mutex;

use faer::{Accum, Mat, MatMut, MatRef};

use crate::lbfgs::{Stopping, lbfgs};
use crate::parallel::{multiply, zeros};
use crate::projection::Projector;
use crate::scatter::{self, Selected};
use crate::vector::widen;
use crate::{Error, Observer, Result, eigen, vector};

/// Instances whose features are widened at a time.
const BLOCK_INSTANCES: usize = 256;
/// Weight of the intercept's square, relative to $\lambda$: small, so that it is all but free, and not zero, so that
/// the bound is definite.
const INTERCEPT_SHARE: f64 = 1e-6;
/// Gradient at which the iteration stops, relative to the loss of the zero map.
const TOLERANCE: f64 = 1e-9;
const MAX_ITERATIONS: usize = 500;

/// What instances are to be predicted as.
#[derive(Debug, Clone, Copy)]
pub enum Targets<'a> {
    /// One of several classes.
    Classes {
        /// The class of every instance.
        labels: &'a [usize],
        /// How many classes there are.
        count: usize,
    },
    /// Independent properties, which instances of a group share.
    Binary {
        /// The group of every instance.
        groups: &'a [usize],
        /// Targets x groups: 0 or 1, or a probability.
        values: MatRef<'a, f64>,
    },
}

/// A fitted map from instances to linear predictors.
#[derive(Debug, Clone, PartialEq)]
pub struct Logistic {
    /// $W$, dimensions x targets.
    pub weights: Mat<f64>,
    /// $b$.
    pub intercepts: Vec<f64>,
    /// Whether the iteration converged.
    pub converged: bool,
}

impl Targets<'_> {
    fn count(&self) -> usize {
        match self {
            Self::Classes { count, .. } => *count,
            Self::Binary { values, .. } => values.nrows(),
        }
    }

    /// Replaces the linear predictors of an instance by the gradient of its loss, which is returned.
    fn loss(&self, instance: usize, predictors: &mut [f64]) -> f64 {
        match self {
            Self::Classes { labels, .. } => {
                let label = labels[instance];
                let own = predictors[label];
                let log_sum = softmax(predictors);
                predictors[label] -= 1.0;
                log_sum - own
            }
            Self::Binary { groups, values } => {
                let targets = values.col(groups[instance]);
                let mut loss = 0.0;
                for (predictor, target) in predictors.iter_mut().zip(targets.iter()) {
                    let z = *predictor;
                    // log(1 + exp(z)) - y z without overflow.
                    loss += z.max(0.0) + (-z.abs()).exp().ln_1p() - target * z;
                    *predictor = sigmoid(z) - target;
                }
                loss
            }
        }
    }
}

/// $1 / (1 + e^{-z})$ without overflow.
pub fn sigmoid(z: f64) -> f64 {
    if z >= 0.0 { 1.0 / (1.0 + (-z).exp()) } else { z.exp() / (1.0 + z.exp()) }
}

/// Replaces numbers by their softmax and returns the logarithm of the sum of their exponentials.
pub fn softmax(values: &mut [f64]) -> f64 {
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    values.iter_mut().for_each(|value| *value = (*value - largest).exp());
    let sum: f64 = values.iter().sum();
    values.iter_mut().for_each(|value| *value /= sum);
    largest + sum.ln()
}

/// Fits all targets together.
///
/// # Errors
/// [`Error::Parameter`] unless `lambda` is positive; [`Error::Cancelled`].
///
/// # Panics
/// If there is no label for every instance.
pub fn fit(
    features: MatRef<'_, f32>,
    targets: Targets<'_>,
    lambda: f64,
    watch: &dyn Observer,
) -> Result<Logistic> {
    if !(lambda > 0.0 && lambda.is_finite()) {
        return Err(Error::Parameter { parameter: "lambda", expected: "a positive number", found: lambda });
    }
    let (dim, count) = (features.nrows(), targets.count());
    let factor = eigen::cholesky(bound(features, &targets, lambda, watch))?;
    let problem =
        Problem { features, targets, lambda, factor: factor.as_ref(), buffer: Mutex::new(Mat::new()) };
    let objective = |point: &[f64], gradient: &mut [f64]| problem.evaluate(point, gradient);
    let stopping = Stopping { tolerance: TOLERANCE, max_iterations: MAX_ITERATIONS };
    let found = lbfgs(&objective, vec![0.0; (dim + 1) * count], stopping, watch);
    if watch.poll().is_break() {
        return Err(Error::Cancelled);
    }
    let all = problem.weights(&found.point);
    Ok(Logistic {
        weights: all.subrows(0, dim).to_owned(),
        intercepts: all.row(dim).iter().copied().collect(),
        converged: found.converged,
    })
}

/// $H$, with the intercept last.
fn bound(features: MatRef<'_, f32>, targets: &Targets<'_>, lambda: f64, watch: &dyn Observer) -> Mat<f64> {
    let (dim, count) = (features.nrows(), features.ncols());
    let curvature = if matches!(targets, Targets::Classes { .. }) { 0.5 } else { 0.25 };
    let rows: Vec<usize> = (0..dim).collect();
    let total = scatter::total(Selected { points: features, rows: &rows, center: None }, watch);
    let mean = scatter::mean(features);
    let mut bound = zeros(dim + 1, dim + 1);
    for j in 0..dim {
        let column = bound.col_as_slice_mut(j);
        column[..dim].iter_mut().zip(total.col_as_slice(j)).for_each(|(to, from)| *to = curvature * from);
        column[j] += lambda;
        column[dim] = curvature * count as f64 * mean[j];
    }
    for j in 0..dim {
        bound[(j, dim)] = bound[(dim, j)];
    }
    bound[(dim, dim)] = curvature * count as f64 + INTERCEPT_SHARE * lambda;
    bound
}

struct Problem<'a> {
    features: MatRef<'a, f32>,
    targets: Targets<'a>,
    lambda: f64,
    /// $R$.
    factor: MatRef<'a, f64>,
    /// Widened features of a block.
    buffer: Mutex<Mat<f64>>,
}

impl Problem<'_> {
    /// $\tilde W = R^{-\top} V$.
    fn weights(&self, point: &[f64]) -> Mat<f64> {
        let (rows, columns) = (self.factor.nrows(), self.targets.count());
        let mut weights = MatRef::from_column_major_slice(point, rows, columns).to_owned();
        eigen::solve_lower_transposed(self.factor, weights.as_mut());
        weights
    }

    fn evaluate(&self, point: &[f64], gradient: &mut [f64]) -> f64 {
        let (dim, count) = (self.features.nrows(), self.targets.count());
        let weights = self.weights(point);
        let projector = Projector::new(weights.subrows(0, dim).to_owned().as_ref());
        let mut residuals = projector.project(self.features);
        let mut loss = 0.0;
        for instance in 0..residuals.ncols() {
            let column = residuals.col_as_slice_mut(instance);
            column.iter_mut().enumerate().for_each(|(target, value)| *value += weights[(dim, target)]);
            loss += self.targets.loss(instance, column);
        }
        let mut slope = MatMut::from_column_major_slice_mut(gradient, dim + 1, count);
        self.sum_products(&residuals, slope.as_mut());
        for target in 0..count {
            let share = |row: usize| if row == dim { INTERCEPT_SHARE * self.lambda } else { self.lambda };
            for row in 0..=dim {
                let weight = weights[(row, target)];
                slope[(row, target)] += share(row) * weight;
                loss += 0.5 * share(row) * weight * weight;
            }
        }
        eigen::solve_lower(self.factor, slope);
        loss
    }

    /// $\tilde X E^\top$ for residuals $E$, targets x instances.
    fn sum_products(&self, residuals: &Mat<f64>, mut into: MatMut<'_, f64>) {
        let (dim, count) = (self.features.nrows(), self.features.ncols());
        into.fill(0.0);
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
        into.as_mut().subrows_mut(0, dim).copy_from(&slope);
        for target in 0..residuals.nrows() {
            into[(dim, target)] = (0..count).map(|i| residuals[(target, i)]).sum();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;

    fn data() -> (Mat<f32>, Vec<usize>) {
        let features =
            Mat::from_fn(4, 60, |i, j| ((i * 60 + j * 7) as f32 * 0.37).sin() + (j % 3 * i) as f32 * 0.2);
        (features, (0..60).map(|j| j % 3).collect())
    }

    /// The gradient of the loss itself, by plain loops: it must vanish at the solution.
    fn gradient(found: &Logistic, features: &Mat<f32>, targets: Targets<'_>, lambda: f64) -> f64 {
        let mut slope = Mat::<f64>::zeros(5, found.weights.ncols());
        for j in 0..features.ncols() {
            let predictor = |t: usize| {
                let dot: f64 = (0..4).map(|i| found.weights[(i, t)] * f64::from(features[(i, j)])).sum();
                dot + found.intercepts[t]
            };
            let mut values: Vec<f64> = (0..found.weights.ncols()).map(predictor).collect();
            targets.loss(j, &mut values);
            for (t, value) in values.iter().enumerate() {
                (0..4).for_each(|i| slope[(i, t)] += value * f64::from(features[(i, j)]));
                slope[(4, t)] += value;
            }
        }
        for t in 0..found.weights.ncols() {
            (0..4).for_each(|i| slope[(i, t)] += lambda * found.weights[(i, t)]);
            slope[(4, t)] += INTERCEPT_SHARE * lambda * found.intercepts[t];
        }
        slope.norm_max()
    }

    #[test]
    fn the_gradient_vanishes_at_the_solution() {
        let (features, labels) = data();
        let values = faer::mat![[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]];
        for lambda in [0.01, 1.0, 100.0] {
            let classes = Targets::Classes { labels: &labels, count: 3 };
            let binary = Targets::Binary { groups: &labels, values: values.as_ref() };
            for targets in [classes, binary] {
                let found = fit(features.as_ref(), targets, lambda, &Silent).expect("a fit");
                assert!(found.converged, "{targets:?} {lambda}");
                let slope = gradient(&found, &features, targets, lambda);
                assert!(slope < 1e-3, "{targets:?} {lambda}: {slope}");
            }
        }
    }

    #[test]
    fn losses_agree_with_their_derivatives() {
        let labels = [1];
        let values = faer::mat![[0.0, 1.0], [0.0, 0.3], [0.0, 0.0]];
        let classes = Targets::Classes { labels: &labels, count: 3 };
        let binary = Targets::Binary { groups: &labels, values: values.as_ref() };
        for targets in [classes, binary] {
            let point = [0.3, -0.7, 30.0];
            let mut slope = point;
            targets.loss(0, &mut slope);
            for k in 0..3 {
                let at = |step: f64| {
                    let mut moved = point;
                    moved[k] += step;
                    targets.loss(0, &mut moved)
                };
                assert!(((at(1e-5) - at(-1e-5)) / 2e-5 - slope[k]).abs() < 1e-6, "{targets:?} {k}");
            }
        }
    }
}
