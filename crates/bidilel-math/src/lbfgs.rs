//! Minimization of a smooth function: limited-memory BFGS, and plain gradient descent with step control.
//!
//! Both are descent methods: no accepted step raises the objective.
//!
//! # References
//! J. Nocedal and S. Wright, *Numerical Optimization*, 2nd ed., 2006: algorithms 7.4 (two-loop recursion),
//! 3.5 and 3.6 (line search for the strong Wolfe conditions).

use std::borrow::Cow;
use std::collections::VecDeque;

use crate::Observer;
use crate::parallel::{add_scaled, dot};

/// A function that returns its value at a point and writes its gradient.
pub trait Objective {
    /// Value at `point`; the gradient goes to `gradient`.
    fn evaluate(&self, point: &[f64], gradient: &mut [f64]) -> f64;
}

impl<F: Fn(&[f64], &mut [f64]) -> f64> Objective for F {
    fn evaluate(&self, point: &[f64], gradient: &mut [f64]) -> f64 {
        self(point, gradient)
    }
}

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stopping {
    /// Largest gradient entry, relative to the objective's value at the start, that counts as zero.
    pub tolerance: f64,
    /// Most iterations.
    pub max_iterations: usize,
}

/// Where a minimization ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Minimum {
    /// The point.
    pub point: Vec<f64>,
    /// The objective there.
    pub value: f64,
    /// Iterations taken.
    pub iterations: usize,
    /// Whether the gradient vanished, or no step could lower the objective any further.
    pub converged: bool,
}

/// How many past steps the Hessian is built from: as many as fit into the bytes, at least the few that it needs.
const MEMORY: usize = 20;
const MEMORY_BYTES: usize = 1 << 30;
const LEAST_MEMORY: usize = 5;
/// Sufficient decrease, and curvature, of the Wolfe conditions: the usual values for quasi-Newton steps.
const DECREASE: f64 = 1e-4;
const CURVATURE: f64 = 0.9;

/// Plain descent ends after this many steps running that lower the objective by less than this share.
const PATIENCE: usize = 100;
const STALL: f64 = 1e-15;

/// One evaluated place on the way.
#[derive(Clone)]
struct Place {
    point: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

impl Place {
    fn at(objective: &impl Objective, point: Vec<f64>) -> Self {
        let mut gradient = vec![0.0; point.len()];
        let value = objective.evaluate(&point, &mut gradient);
        Self { point, value, gradient }
    }

    fn along(&self, objective: &impl Objective, direction: &[f64], step: f64) -> Self {
        Self::at(objective, self.point.iter().zip(direction).map(|(x, d)| x + step * d).collect())
    }

    fn steepness(&self) -> f64 {
        self.gradient.iter().fold(0.0, |largest, g| g.abs().max(largest))
    }
}

/// Minimizes by L-BFGS from `start`.
pub fn lbfgs(
    objective: &impl Objective,
    start: Vec<f64>,
    stopping: Stopping,
    watch: &dyn Observer,
) -> Minimum {
    let mut here = Place::at(objective, start);
    let goal = stopping.tolerance * here.value.abs().max(f64::MIN_POSITIVE);
    let memory = remembered(here.point.len());
    let mut history: VecDeque<(Vec<f64>, Vec<f64>, f64)> = VecDeque::with_capacity(memory);
    for iteration in 0..stopping.max_iterations {
        watch.step(iteration, here.value);
        if here.steepness() <= goal {
            return finish(here, iteration, true);
        }
        let mut direction = two_loop(&here.gradient, &history);
        if dot(&direction, &here.gradient) >= 0.0 {
            // Rounding has spoiled the curvature pairs: begin again from steepest descent.
            history.clear();
            direction = here.gradient.iter().map(|g| -g).collect();
        }
        let first = if history.is_empty() { 1.0 / here.steepness().max(1.0) } else { 1.0 };
        let Some(next) = wolfe(objective, &here, &direction, first) else {
            if history.is_empty() {
                // Not even steepest descent finds a lower place: the objective is flat to rounding here.
                return finish(here, iteration, true);
            }
            history.clear();
            continue;
        };
        drop(direction);
        let step = difference(&next.point, &here.point);
        let bend = difference(&next.gradient, &here.gradient);
        let curvature = dot(&step, &bend);
        if curvature > f64::EPSILON * dot(&bend, &bend) {
            if history.len() == memory {
                history.pop_front();
            }
            history.push_back((step, bend, 1.0 / curvature));
        }
        here = next;
    }
    finish(here, stopping.max_iterations, false)
}

/// Minimizes by gradient descent whose step grows while it helps and is halved until it does.
pub fn descent(
    objective: &impl Objective,
    start: Vec<f64>,
    stopping: Stopping,
    watch: &dyn Observer,
) -> Minimum {
    let mut here = Place::at(objective, start);
    let goal = stopping.tolerance * here.value.abs().max(f64::MIN_POSITIVE);
    let mut step = 1.0 / here.steepness().max(1.0);
    let mut stalled = 0;
    for iteration in 0..stopping.max_iterations {
        watch.step(iteration, here.value);
        if here.steepness() <= goal || stalled >= PATIENCE {
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

fn finish(place: Place, iterations: usize, converged: bool) -> Minimum {
    Minimum { point: place.point, value: place.value, iterations, converged }
}

/// How many steps are remembered of vectors of a length; each is two vectors.
fn remembered(length: usize) -> usize {
    (MEMORY_BYTES / (2 * size_of::<f64>() * length.max(1))).clamp(LEAST_MEMORY, MEMORY)
}

/// The quasi-Newton direction $-H g$ from the remembered steps, without forming $H$.
fn two_loop(gradient: &[f64], history: &VecDeque<(Vec<f64>, Vec<f64>, f64)>) -> Vec<f64> {
    let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut weights = Vec::with_capacity(history.len());
    for (step, bend, inverse) in history.iter().rev() {
        let weight = inverse * dot(step, &direction);
        add_scaled(&mut direction, -weight, bend);
        weights.push(weight);
    }
    if let Some((_, bend, inverse)) = history.back() {
        let scale = 1.0 / (inverse * dot(bend, bend));
        direction.iter_mut().for_each(|d| *d *= scale);
    }
    for ((step, bend, inverse), weight) in history.iter().zip(weights.iter().rev()) {
        let correction = inverse * dot(bend, &direction);
        add_scaled(&mut direction, weight - correction, step);
    }
    direction
}

/// A place along `direction` that meets the strong Wolfe conditions, or at least lowers the objective.
fn wolfe(objective: &impl Objective, from: &Place, direction: &[f64], first: f64) -> Option<Place> {
    let slope = dot(&from.gradient, direction);
    let enough = |step: f64, place: &Place| place.value <= from.value + DECREASE * step * slope;
    let flat = |place: &Place| dot(&place.gradient, direction).abs() <= -CURVATURE * slope;
    // Borrowed, since a place of millions of numbers is not copied for nothing.
    let (mut low, mut low_place) = (0.0, Cow::Borrowed(from));
    let mut high: Option<(f64, Cow<'_, Place>)> = None;
    let mut step = first;
    for _ in 0..40 {
        let place = from.along(objective, direction, step);
        if !place.value.is_finite() || !enough(step, &place) || place.value > low_place.value {
            high = Some((step, Cow::Owned(place)));
        } else if flat(&place) {
            return Some(place);
        } else if dot(&place.gradient, direction) * high.as_ref().map_or(1.0, |(far, _)| far - low) >= 0.0 {
            // The bottom lies between the last good place and this one.
            high = Some((low, low_place));
            (low, low_place) = (step, Cow::Owned(place));
        } else {
            (low, low_place) = (step, Cow::Owned(place));
        }
        step = match &high {
            Some((far, far_place)) => interpolate(low, &low_place, *far, far_place, direction),
            None => step * stretch(dot(&low_place.gradient, direction) / slope),
        };
        if high.as_ref().is_some_and(|(far, _)| (far - low).abs() <= 1e-16 * far.abs().max(low)) {
            break;
        }
    }
    (low > 0.0 && low_place.value < from.value).then(|| low_place.into_owned())
}

/// How much longer the next step is where a step was too short to leave more than `left` of the slope.
///
/// A power of two that stays short of where a straight slope would be flat enough: the search ends where doubling
/// would have ended, but does not take twenty evaluations to get there from a start with tiny slopes.
fn stretch(left: f64) -> f64 {
    let goal = 0.5 * (1.0 - CURVATURE) / (1.0 - left);
    if goal.is_finite() && goal > 2.0 { goal.log2().floor().min(20.0).exp2() } else { 2.0 }
}

/// The minimizer of the cubic through two places' values and slopes, kept inside the middle of the interval.
fn interpolate(low: f64, low_place: &Place, high: f64, high_place: &Place, direction: &[f64]) -> f64 {
    let (a, b) = (dot(&low_place.gradient, direction), dot(&high_place.gradient, direction));
    let middle = f64::midpoint(low, high);
    let d1 = a + b - 3.0 * (low_place.value - high_place.value) / (low - high);
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
    fn a_long_way_takes_few_evaluations_and_ends_where_doubling_ends() {
        for bend in [1e-3, 3e-5, 7e-7, 1e-9] {
            let evaluations = Mutex::new(0);
            let parabola = |x: &[f64], gradient: &mut [f64]| {
                *evaluations.lock().expect("no test thread panics") += 1;
                gradient[0] = 2.0 * bend * (x[0] - 1.0);
                bend * (x[0] - 1.0).powi(2)
            };
            let from = Place::at(&parabola, vec![0.0]);
            let found = wolfe(&parabola, &from, &[2.0 * bend], 1.0).expect("a lower place");
            let doubled = (0..40).map(|k| f64::from(k).exp2()).find(|step| step * 2.0 * bend >= 0.1);
            approx::assert_relative_eq!(found.point[0], 2.0 * bend * doubled.expect("not far"));
            assert!(*evaluations.lock().expect("no test thread panics") <= 7);
        }
    }

    #[test]
    fn long_vectors_are_remembered_within_a_bound() {
        assert_eq!(remembered(0), MEMORY);
        assert_eq!(remembered(1_000_000), MEMORY);
        // The places of 20,000 classes in 300 dimensions.
        let many = 6_000_000;
        assert!((LEAST_MEMORY..MEMORY).contains(&remembered(many)));
        assert!(2 * size_of::<f64>() * many * remembered(many) <= MEMORY_BYTES);
        assert_eq!(remembered(usize::MAX / 32), LEAST_MEMORY);
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
