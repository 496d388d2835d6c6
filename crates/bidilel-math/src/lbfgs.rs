//! Unconstrained minimization of a smooth function: L-BFGS, and gradient descent with backtracking.
//!
//! Both are descent methods: no accepted step increases the objective.
//!
//! ```
//! use bidilel_math::Silent;
//! use bidilel_math::lbfgs::{Stopping, lbfgs};
//!
//! let paraboloid = |x: &[f64], gradient: &mut [f64]| {
//!     gradient[0] = 2.0 * (x[0] - 3.0);
//!     gradient[1] = 8.0 * x[1];
//!     (x[0] - 3.0).powi(2) + 4.0 * x[1].powi(2)
//! };
//! let stopping = Stopping { tolerance: 1e-10, max_iterations: 100 };
//! let found = lbfgs(&paraboloid, vec![0.0, 1.0], stopping, &Silent);
//! assert!(found.converged && (found.point[0] - 3.0).abs() < 1e-6);
//! ```
//!
//! # References
//! J. Nocedal and S. Wright, *Numerical Optimization*, 2nd ed., 2006: algorithms 7.4 (two-loop recursion),
//! 3.5 and 3.6 (line search for the strong Wolfe conditions).

use std::borrow::Cow;
use std::collections::VecDeque;

use crate::Observer;
use crate::parallel::{add_scaled, dot};

/// A differentiable function.
pub trait Objective {
    /// Value at `point`; the gradient goes to `gradient`.
    fn evaluate(&self, point: &[f64], gradient: &mut [f64]) -> f64;
}

impl<F: Fn(&[f64], &mut [f64]) -> f64> Objective for F {
    fn evaluate(&self, point: &[f64], gradient: &mut [f64]) -> f64 {
        self(point, gradient)
    }
}

/// Stopping criteria.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stopping {
    /// Maximum norm of the gradient, relative to the objective at the initial point, below which it counts as zero.
    pub tolerance: f64,
    /// Maximum number of iterations.
    pub max_iterations: usize,
}

/// The result of a minimization.
#[derive(Debug, Clone, PartialEq)]
pub struct Minimum {
    /// The point.
    pub point: Vec<f64>,
    /// The objective there.
    pub value: f64,
    /// Iterations taken.
    pub iterations: usize,
    /// Whether the gradient vanished, or no step could decrease the objective any further.
    pub converged: bool,
}

/// Curvature pairs that the Hessian is approximated from, at most.
const MAX_PAIRS: usize = 20;
/// Bytes that curvature pairs may occupy, beyond [`MIN_PAIRS`].
const MAX_PAIR_BYTES: usize = 1 << 30;
/// Curvature pairs that are kept whatever their size.
const MIN_PAIRS: usize = 5;
/// $c_1$ of the Wolfe conditions (sufficient decrease): the usual value for quasi-Newton methods.
const DECREASE: f64 = 1e-4;
/// $c_2$ of the Wolfe conditions (curvature): the usual value for quasi-Newton methods.
const CURVATURE: f64 = 0.9;
/// Trial steps of a line search.
const MAX_TRIALS: usize = 40;

/// Gradient descent ends after this many consecutive stalled steps.
const MAX_STALLED_STEPS: usize = 100;
/// Relative decrease of the objective below which a step is stalled.
const STALL: f64 = 1e-15;

/// A point with its objective value and gradient.
#[derive(Clone)]
struct Iterate {
    point: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

impl Iterate {
    fn at(objective: &impl Objective, point: Vec<f64>) -> Self {
        let mut gradient = vec![0.0; point.len()];
        let value = objective.evaluate(&point, &mut gradient);
        Self { point, value, gradient }
    }

    fn along(&self, objective: &impl Objective, direction: &[f64], step: f64) -> Self {
        Self::at(objective, self.point.iter().zip(direction).map(|(x, d)| x + step * d).collect())
    }

    /// Maximum norm of the gradient.
    fn gradient_norm(&self) -> f64 {
        self.gradient.iter().fold(0.0, |largest, g| g.abs().max(largest))
    }
}

/// L-BFGS from the initial point `init`, with a line search for the strong Wolfe conditions.
pub fn lbfgs(
    objective: &impl Objective,
    init: Vec<f64>,
    stopping: Stopping,
    watch: &dyn Observer,
) -> Minimum {
    let mut here = Iterate::at(objective, init);
    let goal = stopping.tolerance * here.value.abs().max(f64::MIN_POSITIVE);
    let memory = pair_count(here.point.len());
    let mut history: VecDeque<(Vec<f64>, Vec<f64>, f64)> = VecDeque::with_capacity(memory);
    for iteration in 0..stopping.max_iterations {
        watch.step(iteration, here.value);
        if watch.poll().is_break() {
            return finish(here, iteration, false);
        }
        if here.gradient_norm() <= goal {
            return finish(here, iteration, true);
        }
        let mut direction = two_loop(&here.gradient, &history);
        if dot(&direction, &here.gradient) >= 0.0 {
            // Not a descent direction, because of rounding: drop the curvature pairs and restart from steepest descent.
            history.clear();
            direction = here.gradient.iter().map(|g| -g).collect();
        }
        let first = if history.is_empty() { 1.0 / here.gradient_norm().max(1.0) } else { 1.0 };
        let Some(next) = line_search(objective, &here, &direction, first) else {
            if history.is_empty() {
                // Not even steepest descent decreases the objective: it is flat up to rounding.
                return finish(here, iteration, true);
            }
            history.clear();
            continue;
        };
        drop(direction);
        let step = difference(&next.point, &here.point);
        let change = difference(&next.gradient, &here.gradient);
        let curvature = dot(&step, &change);
        if curvature > f64::EPSILON * dot(&change, &change) {
            if history.len() == memory {
                history.pop_front();
            }
            history.push_back((step, change, 1.0 / curvature));
        }
        here = next;
    }
    finish(here, stopping.max_iterations, false)
}

/// Gradient descent from `init` with backtracking: the step is halved until it decreases the objective sufficiently, and grows
/// after every iteration.
pub fn descent(
    objective: &impl Objective,
    init: Vec<f64>,
    stopping: Stopping,
    watch: &dyn Observer,
) -> Minimum {
    let mut here = Iterate::at(objective, init);
    let goal = stopping.tolerance * here.value.abs().max(f64::MIN_POSITIVE);
    let mut step = 1.0 / here.gradient_norm().max(1.0);
    let mut stalled = 0;
    for iteration in 0..stopping.max_iterations {
        watch.step(iteration, here.value);
        if watch.poll().is_break() {
            return finish(here, iteration, false);
        }
        if here.gradient_norm() <= goal || stalled >= MAX_STALLED_STEPS {
            return finish(here, iteration, true);
        }
        let direction: Vec<f64> = here.gradient.iter().map(|g| -g).collect();
        let slope = -dot(&here.gradient, &here.gradient);
        let next = loop {
            let next = here.along(objective, &direction, step);
            if next.value <= here.value + DECREASE * step * slope {
                break next;
            }
            step /= 2.0;
            if step < 1e-18 {
                return finish(here, iteration, true);
            }
        };
        step *= 1.5;
        stalled = if here.value - next.value <= STALL * here.value.abs() { stalled + 1 } else { 0 };
        here = next;
    }
    finish(here, stopping.max_iterations, false)
}

fn finish(last: Iterate, iterations: usize, converged: bool) -> Minimum {
    Minimum { point: last.point, value: last.value, iterations, converged }
}

/// Curvature pairs that are kept for a number of variables; each is two vectors.
fn pair_count(variables: usize) -> usize {
    (MAX_PAIR_BYTES / (2 * size_of::<f64>() * variables.max(1))).clamp(MIN_PAIRS, MAX_PAIRS)
}

/// Two-loop recursion: the quasi-Newton direction $-H g$ from the curvature pairs, without forming $H$.
fn two_loop(gradient: &[f64], history: &VecDeque<(Vec<f64>, Vec<f64>, f64)>) -> Vec<f64> {
    let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut weights = Vec::with_capacity(history.len());
    for (step, change, inverse) in history.iter().rev() {
        let weight = inverse * dot(step, &direction);
        add_scaled(&mut direction, -weight, change);
        weights.push(weight);
    }
    if let Some((_, change, inverse)) = history.back() {
        let scale = 1.0 / (inverse * dot(change, change));
        direction.iter_mut().for_each(|d| *d *= scale);
    }
    for ((step, change, inverse), weight) in history.iter().zip(weights.iter().rev()) {
        let correction = inverse * dot(change, &direction);
        add_scaled(&mut direction, weight - correction, step);
    }
    direction
}

/// Line search: a point along `direction` that satisfies the strong Wolfe conditions, or at least decreases the objective.
fn line_search(objective: &impl Objective, from: &Iterate, direction: &[f64], first: f64) -> Option<Iterate> {
    let slope = dot(&from.gradient, direction);
    let enough = |step: f64, trial: &Iterate| trial.value <= from.value + DECREASE * step * slope;
    let flat = |trial: &Iterate| dot(&trial.gradient, direction).abs() <= -CURVATURE * slope;
    // Borrowed, to avoid a copy of millions of variables.
    let (mut low, mut low_trial) = (0.0, Cow::Borrowed(from));
    let mut high: Option<(f64, Cow<'_, Iterate>)> = None;
    let mut step = first;
    for _ in 0..MAX_TRIALS {
        let trial = from.along(objective, direction, step);
        if !trial.value.is_finite() || !enough(step, &trial) || trial.value > low_trial.value {
            high = Some((step, Cow::Owned(trial)));
        } else if flat(&trial) {
            return Some(trial);
        } else if dot(&trial.gradient, direction) * high.as_ref().map_or(1.0, |(far, _)| far - low) >= 0.0 {
            // The minimum lies between the last acceptable step and this one.
            high = Some((low, low_trial));
            (low, low_trial) = (step, Cow::Owned(trial));
        } else {
            (low, low_trial) = (step, Cow::Owned(trial));
        }
        step = match &high {
            Some((far, far_trial)) => interpolate(low, &low_trial, *far, far_trial, direction),
            None => step * extrapolation(dot(&low_trial.gradient, direction) / slope),
        };
        if high.as_ref().is_some_and(|(far, _)| (far - low).abs() <= 1e-16 * far.abs().max(low)) {
            break;
        }
    }
    (low > 0.0 && low_trial.value < from.value).then(|| low_trial.into_owned())
}

/// The factor by which a step is extrapolated that left the fraction `left` of the slope.
///
/// A power of two that stays short of where linear extrapolation of the slope meets the curvature condition: the search ends where
/// doubling would have ended, but does not take twenty evaluations to get there where slopes are tiny.
fn extrapolation(left: f64) -> f64 {
    let goal = 0.5 * (1.0 - CURVATURE) / (1.0 - left);
    if goal.is_finite() && goal > 2.0 { goal.log2().floor().min(20.0).exp2() } else { 2.0 }
}

/// The minimizer of the cubic through the values and slopes at both ends, kept away from the ends of the interval.
fn interpolate(low: f64, low_trial: &Iterate, high: f64, high_trial: &Iterate, direction: &[f64]) -> f64 {
    let (a, b) = (dot(&low_trial.gradient, direction), dot(&high_trial.gradient, direction));
    let middle = f64::midpoint(low, high);
    let d1 = a + b - 3.0 * (low_trial.value - high_trial.value) / (low - high);
    let square = d1 * d1 - a * b;
    if !square.is_finite() || square < 0.0 {
        return middle;
    }
    let d2 = (high - low).signum() * square.sqrt();
    let cubic = high - (high - low) * (b + d2 - d1) / (b - a + 2.0 * d2);
    let margin = 0.1 * (high - low).abs();
    if cubic.is_finite() { cubic.clamp(low.min(high) + margin, low.max(high) - margin) } else { middle }
}

fn difference(left: &[f64], right: &[f64]) -> Vec<f64> {
    left.iter().zip(right).map(|(l, r)| l - r).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::Silent;

    fn rosenbrock(x: &[f64], gradient: &mut [f64]) -> f64 {
        let mut value = 0.0;
        gradient.fill(0.0);
        for i in 0..x.len() - 1 {
            let (a, b) = (1.0 - x[i], x[i + 1] - x[i] * x[i]);
            value += a * a + 100.0 * b * b;
            gradient[i] += -2.0 * a - 400.0 * x[i] * b;
            gradient[i + 1] += 200.0 * b;
        }
        value
    }

    #[derive(Default)]
    struct Trace(Mutex<Vec<f64>>);
    impl Observer for Trace {
        fn step(&self, _: usize, value: f64) {
            self.0.lock().expect("no test thread panics").push(value);
        }
    }

    const STOPPING: Stopping = Stopping { tolerance: 1e-12, max_iterations: 20_000 };

    #[test]
    fn finds_the_bottom_of_the_banana_valley_without_ever_rising() {
        let trace = Trace::default();
        let found = lbfgs(&rosenbrock, vec![-1.2, 1.0, -0.5, 0.8], STOPPING, &trace);
        assert!(found.converged && found.iterations < 200, "{found:?}");
        assert!(found.point.iter().all(|x| (x - 1.0).abs() < 1e-8), "{found:?}");
        assert!(trace.0.lock().expect("no test thread panics").windows(2).all(|pair| pair[1] <= pair[0]));
    }

    #[test]
    fn descent_gets_there_too_but_slowly() {
        let found = descent(&rosenbrock, vec![-1.2, 1.0], Stopping { tolerance: 1e-8, ..STOPPING }, &Silent);
        assert!(found.point.iter().all(|x| (x - 1.0).abs() < 1e-3), "{found:?}");
    }

    #[test]
    fn extrapolation_takes_few_evaluations_and_ends_where_doubling_ends() {
        for curvature in [1e-3, 3e-5, 7e-7, 1e-9] {
            let evaluations = Mutex::new(0);
            let parabola = |x: &[f64], gradient: &mut [f64]| {
                *evaluations.lock().expect("no test thread panics") += 1;
                gradient[0] = 2.0 * curvature * (x[0] - 1.0);
                curvature * (x[0] - 1.0).powi(2)
            };
            let from = Iterate::at(&parabola, vec![0.0]);
            let found = line_search(&parabola, &from, &[2.0 * curvature], 1.0).expect("a decrease");
            let doubled = (0..40).map(|k| f64::from(k).exp2()).find(|step| step * 2.0 * curvature >= 0.1);
            approx::assert_relative_eq!(found.point[0], 2.0 * curvature * doubled.expect("not far"));
            assert!(*evaluations.lock().expect("no test thread panics") <= 7);
        }
    }

    #[test]
    fn curvature_pairs_fit_a_memory_budget() {
        assert_eq!(pair_count(0), MAX_PAIRS);
        assert_eq!(pair_count(1_000_000), MAX_PAIRS);
        // The coordinates of 20,000 classes in 300 dimensions.
        let many = 6_000_000;
        assert!((MIN_PAIRS..MAX_PAIRS).contains(&pair_count(many)));
        assert!(2 * size_of::<f64>() * many * pair_count(many) <= MAX_PAIR_BYTES);
        assert_eq!(pair_count(usize::MAX / 32), MIN_PAIRS);
    }

    #[test]
    fn a_quadratic_is_solved_to_rounding() {
        let quadratic = |x: &[f64], gradient: &mut [f64]| {
            let mut value = 0.0;
            for (i, (x, g)) in x.iter().zip(gradient).enumerate() {
                let scale = 10.0_f64.powi(i32::try_from(i).expect("few"));
                *g = scale * (x - 3.0);
                value += 0.5 * scale * (x - 3.0).powi(2);
            }
            value
        };
        let found = lbfgs(&quadratic, vec![0.0; 6], STOPPING, &Silent);
        assert!(found.point.iter().all(|x| (x - 3.0).abs() < 1e-6), "{found:?}");
    }
}
