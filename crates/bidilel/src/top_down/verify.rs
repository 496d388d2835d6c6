//! The mapping held against itself: its gradient against its cost, and its cost against the formula, pair by pair.

use faer::MatRef;

use bidilel_math::lbfgs::Objective;
use bidilel_math::{Check, Observer, vector};

use super::Sammon;
use crate::error::{Error, Result};
use crate::metrics;

/// Steps along the gradient, relative to landmarks of norm 1. Near classes bend the cost within a small distance, and
/// rounding hides small steps: one of them is right for any cost.
const STEPS: [f64; 4] = [1e-4, 1e-5, 1e-6, 1e-7];
/// How far a slope by differences may be off.
const SLOPE: f64 = 1e-3;
/// How far two sums over all pairs may be apart.
const VALUE: f64 = 1e-9;

/// Compares the gradient's norm with how steep the cost is along it, at the start.
///
/// # Errors
/// Where it is not the gradient of the cost, and where the cost is no number.
pub(super) fn gradient(cost: &Sammon, start: &[f64], watch: &dyn Observer) -> Result<()> {
    let mut gradient = vec![0.0; start.len()];
    let value = cost.evaluate(start, &mut gradient);
    let norm = vector::dot(&gradient, &gradient).sqrt();
    if !(value.is_finite() && norm.is_finite()) {
        let what = "the cost of the mapping at its start";
        return Err(Error::in_stage("top_down")(bidilel_math::Error::NotFinite { what }));
    }
    let mut deviation = 0.0;
    // Where it is flat there is nothing to compare.
    if norm > f64::EPSILON.sqrt() * value {
        let mut unused = vec![0.0; start.len()];
        let mut at = |step: f64| {
            let mut moved = start.to_vec();
            vector::add_scaled(&mut moved, step / norm, &gradient);
            cost.evaluate(&moved, &mut unused)
        };
        deviation = f64::INFINITY;
        for step in STEPS {
            let slope = (at(step) - at(-step)) / (2.0 * step);
            deviation = deviation.min((slope - norm).abs() / norm);
            if deviation <= SLOPE {
                break;
            }
        }
    }
    settle("the gradient of the mapping", deviation, SLOPE, watch)
}

/// Compares the cost that was reached with the sum over pairs.
///
/// # Errors
/// Where they differ.
pub(super) fn value(cost: &Sammon, points: MatRef<'_, f64>, value: f64, watch: &dyn Observer) -> Result<()> {
    let stress = metrics::stress(cost.landmarks.as_ref(), points, cost.distances);
    // A distance at the floor divides the rounding of a latent distance by it.
    let rounding = if cost.floored > 0 { f64::EPSILON / super::DISTANCE_FLOOR } else { 0.0 };
    let difference = (stress - value).abs();
    let deviation = if difference == 0.0 { 0.0 } else { difference / (stress + rounding) };
    settle("the cost of the mapping", deviation, VALUE, watch)
}

fn settle(what: &'static str, deviation: f64, bound: f64, watch: &dyn Observer) -> Result<()> {
    Check { stage: "top_down", what, deviation, bound }.settle(watch).map_err(Error::in_stage("top_down"))
}
