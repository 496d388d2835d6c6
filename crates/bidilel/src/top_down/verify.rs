//! Self-checks of the mapping: its gradient against its cost, and its cost against the formula, pair by pair.

use faer::MatRef;

use bidilel_math::lbfgs::Objective;
use bidilel_math::{Check, Observer, check, vector};

use super::{Sammon, stress};
use crate::error::{Error, Result};

/// Steps along the gradient, for landmarks of norm 1. Near classes curve the cost within a small distance, and rounding
/// hides small steps: one of these is right for any cost.
const STEPS: [f64; 4] = [1e-4, 1e-5, 1e-6, 1e-7];
/// A gradient whose norm is below this share of the cost counts as zero.
const FLAT_SHARE: f64 = 1e-6;
/// Distance from its initial embedding at which the gradient of every class is checked.
const OFFSET: f64 = 1e-2;
/// Largest relative error of a slope by finite differences.
const SLOPE_TOLERANCE: f64 = 1e-3;
/// Share of the cost of coinciding classes below which a cost counts as zero.
const ZERO_COST_SHARE: f64 = 1e-6;
/// Largest relative difference between two sums over all pairs.
const VALUE_TOLERANCE: f64 = 1e-9;

/// Compares the gradient's norm with the slope of the cost along it, near the initial embeddings.
///
/// Not at them: a class whose description is that of a known one starts on its landmark, where the cost is not
/// differentiable.
///
/// # Errors
/// Where it is not the gradient of the cost, and where the cost is not finite.
pub(super) fn gradient(cost: &impl Objective, dim: usize, start: &[f64], watch: &dyn Observer) -> Result<()> {
    let mut point = start.to_vec();
    let signs = check::probes(start.len(), 1);
    vector::add_scaled(&mut point, OFFSET / (dim as f64).sqrt(), signs.col_as_slice(0));
    let mut gradient = vec![0.0; start.len()];
    let value = cost.evaluate(&point, &mut gradient);
    let norm = vector::dot(&gradient, &gradient).sqrt();
    if !(value.is_finite() && norm.is_finite()) {
        let what = "the cost of the mapping at its start";
        return Err(Error::in_stage("top_down")(bidilel_math::Error::NotFinite { what }));
    }
    let mut deviation = 0.0;
    // Where it is flat, differences of the cost are nothing but rounding.
    if norm > FLAT_SHARE * value {
        let mut unused = vec![0.0; start.len()];
        let mut at = |step: f64| {
            let mut moved = point.clone();
            vector::add_scaled(&mut moved, step / norm, &gradient);
            cost.evaluate(&moved, &mut unused)
        };
        deviation = f64::INFINITY;
        for step in STEPS {
            let slope = (at(step) - at(-step)) / (2.0 * step);
            deviation = deviation.min((slope - norm).abs() / norm);
            if deviation <= SLOPE_TOLERANCE {
                break;
            }
        }
    }
    enforce("the gradient of the mapping", deviation, SLOPE_TOLERANCE, watch)
}

/// Compares the cost that was reached with the sum over pairs.
///
/// # Errors
/// Where they differ.
pub(super) fn value(cost: &Sammon, points: MatRef<'_, f64>, value: f64, watch: &dyn Observer) -> Result<()> {
    let stress = stress(cost.landmarks.as_ref(), points, cost.distances);
    compare(cost, stress, value, watch)
}

/// Compares a cost that was reached with the sum over its pairs, both of classes among these landmarks.
///
/// # Errors
/// Where they differ.
pub(super) fn compare(cost: &Sammon, stress: f64, value: f64, watch: &dyn Observer) -> Result<()> {
    // The scale of the sum is what coinciding classes would cost. Where latent distances nearly equal the semantic ones,
    // little is left of the sum but rounding.
    let pairs = cost.known() * cost.unseen();
    let semantic = (0..cost.unseen()).map(|j| (0..cost.known()).map(|i| cost.outer(i, j)).sum::<f64>());
    let size = semantic.sum::<f64>() / pairs.max(1) as f64;
    let difference = (stress - value).abs();
    let deviation = if difference == 0.0 { 0.0 } else { difference / (stress + ZERO_COST_SHARE * size) };
    enforce("the cost of the mapping", deviation, VALUE_TOLERANCE, watch)
}

fn enforce(what: &'static str, deviation: f64, bound: f64, watch: &dyn Observer) -> Result<()> {
    Check { stage: "top_down", what, deviation, bound }.enforce(watch).map_err(Error::in_stage("top_down"))
}

#[cfg(test)]
mod tests {
    use bidilel_math::Silent;
    use bidilel_math::symmetric::Symmetric;
    use faer::Mat;

    use super::*;
    use crate::semantic::SemanticDistances;

    /// Known classes on a circle; the first unseen one is described as the first known one is, the next as each other.
    fn problem() -> (Mat<f64>, SemanticDistances) {
        let landmarks = Mat::from_fn(3, 7, |i, j| (j as f64 * 0.9 + i as f64 * 1.57).cos() / 2.0_f64.sqrt());
        let known_unseen = Mat::from_fn(7, 5, |i, j| match (i, j) {
            (0, 0) => 0.0,
            (_, 1 | 2) => 0.6 + 0.1 * i as f64,
            _ => 0.3 + 0.2 * ((i + 2 * j) % 5) as f64,
        });
        let among = Mat::from_fn(5, 5, |i, j| if i + j == 3 { 0.0 } else { 0.5 + 0.1 * (i + j) as f64 });
        (landmarks, SemanticDistances { known_unseen, unseen_unseen: Symmetric::from_matrix(among.as_ref()) })
    }

    /// On a landmark, and two classes that coincide: where the cost is not differentiable.
    #[test]
    fn classes_that_start_where_others_are_do_not_fail() {
        let (landmarks, distances) = problem();
        let cost = Sammon::new(landmarks.as_ref(), &distances);
        let start: Vec<f64> =
            [0, 3, 3, 5, 6].iter().flat_map(|&j| landmarks.col_as_slice(j).to_vec()).collect();
        gradient(&cost, cost.dim(), &start, &Silent).expect("it is the gradient");
    }

    #[test]
    fn another_cost_does_not_hold() {
        let (landmarks, distances) = problem();
        let cost = Sammon::new(landmarks.as_ref(), &distances);
        let points = Mat::from_fn(3, 5, |i, j| ((i * 5 + j) as f64).sin());
        let found = stress(landmarks.as_ref(), points.as_ref(), &distances);
        value(&cost, points.as_ref(), found, &Silent).expect("it is the cost");
        for off in [found * 1.0001, f64::NAN, f64::INFINITY] {
            assert!(value(&cost, points.as_ref(), off, &Silent).is_err(), "{off}");
        }
    }
}
