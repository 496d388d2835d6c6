//! The mapping in the coordinates of the landmarks' span.
//!
//! Every force of the Sammon cost acts along the line between two places. From a start inside the span of the
//! landmarks no optimiser that follows gradients therefore ever leaves it, and with fewer landmarks than latent
//! dimensions the same iterates are found, at less cost, as $c = Q^\top b$ for an orthonormal basis $Q$ of the span.

use faer::{Mat, MatRef};

use bidilel_math::krylov::gram_schmidt;
use bidilel_math::parallel::product;

use super::Sammon;

/// What of a start may lie outside the span and count as rounding.
const OUTSIDE: f64 = 1e-12;

/// A smaller mapping with the same minimum.
pub(super) struct Span<'a> {
    /// $Q$, latent dimensions x known classes.
    pub(super) basis: Mat<f64>,
    pub(super) cost: Sammon<'a>,
    pub(super) start: Vec<f64>,
}

impl<'a> Span<'a> {
    /// The mapping inside the span, if it is smaller and the start lies in it.
    pub(super) fn of(cost: &Sammon<'a>, start: &[f64]) -> Option<Self> {
        if cost.known() >= cost.dim() {
            return None;
        }
        let mut basis = cost.landmarks.clone();
        gram_schmidt(&mut basis);
        let places = MatRef::from_column_major_slice(start, cost.dim(), cost.unseen());
        let within = product(basis.transpose(), places);
        let outside = product(basis.as_ref(), within.as_ref()) - places;
        if outside.norm_max() > OUTSIDE {
            return None;
        }
        let landmarks = product(basis.transpose(), cost.landmarks.as_ref());
        Some(Self { cost: cost.with_landmarks(landmarks), start: columns(within.as_ref()), basis })
    }
}

/// Places of the span, column after column, in latent coordinates.
pub(super) fn lift(basis: MatRef<'_, f64>, point: &[f64]) -> Vec<f64> {
    let within = MatRef::from_column_major_slice(point, basis.ncols(), point.len() / basis.ncols());
    columns(product(basis, within).as_ref())
}

fn columns(matrix: MatRef<'_, f64>) -> Vec<f64> {
    matrix.col_iter().flat_map(faer::ColRef::iter).copied().collect()
}

#[cfg(test)]
mod tests {
    use bidilel_math::Silent;
    use bidilel_math::lbfgs::{Stopping, lbfgs};
    use bidilel_math::symmetric::Symmetric;

    use super::*;
    use crate::semantic::SemanticDistances;

    fn random(dim: usize, known: usize, unseen: usize) -> (Mat<f64>, SemanticDistances) {
        let mut state = 7_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut landmarks = Mat::from_fn(dim, known, |_, _| next() - 0.5);
        bidilel_math::distance::normalize_columns(landmarks.as_mut());
        let known_unseen = Mat::from_fn(known, unseen, |_, _| 0.5 + next());
        let half = Mat::from_fn(unseen, unseen, |_, _| 0.5 + next());
        (landmarks, SemanticDistances { known_unseen, unseen_unseen: Symmetric::of(half.as_ref()) })
    }

    #[test]
    fn the_minimum_inside_the_span_is_that_of_all_dimensions() {
        let (landmarks, distances) = random(40, 9, 5);
        let cost = Sammon::new(landmarks.as_ref(), &distances);
        let start = super::super::Lsm::default().begin(&cost);
        let stopping = Stopping { tolerance: 1e-11, max_iterations: 5000 };
        let whole = lbfgs(&cost, start.clone(), stopping, &Silent);
        let span = Span::of(&cost, &start).expect("a weighted mean lies in the span");
        let within = lbfgs(&span.cost, span.start.clone(), stopping, &Silent);
        let lifted = lift(span.basis.as_ref(), &within.point);
        assert!(whole.point.iter().zip(&lifted).all(|(a, b)| (a - b).abs() < 1e-7));
        approx::assert_relative_eq!(whole.value, within.value, max_relative = 1e-12);
    }

    #[test]
    fn a_start_outside_the_span_is_left_alone() {
        let none = |dim: usize, place: f64| {
            let (landmarks, distances) = random(dim, 9, 5);
            let cost = Sammon::new(landmarks.as_ref(), &distances);
            Span::of(&cost, &vec![place; dim * 5]).is_none()
        };
        assert!(none(40, 0.3) && none(6, 0.0) && !none(40, 0.0));
    }
}
