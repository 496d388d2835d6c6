//! The mapping in the coordinates of the landmarks' affine hull.
//!
//! Every force of the Sammon cost acts along the line between two points. From initial embeddings inside the affine hull
//! of the landmarks, as weighted means are, no optimizer that follows gradients ever leaves it, and with fewer landmarks
//! than latent dimensions the same iterates are found, at less cost, as $c = Q^\top (b - o)$ for a landmark $o$ and an
//! orthonormal basis $Q$ of the differences from it.
//!
//! In all latent dimensions it would leave the hull by its rounding errors alone: what is a minimum inside is often a
//! saddle point outside, from which a long descent sometimes drifts away, to another minimum for other last digits of the
//! landmarks. Here there is nothing outside to drift to.

use faer::{Mat, MatRef};

use bidilel_math::distance;
use bidilel_math::eigen::gram_schmidt;
use bidilel_math::parallel::product;

use super::Sammon;

/// Largest coordinate of the component outside the hull that counts as rounding.
const MAX_OUTSIDE: f64 = 1e-12;

/// The affine hull of the landmarks.
pub(super) struct Hull {
    /// $o$.
    origin: Vec<f64>,
    /// $Q$, latent dimensions x one fewer than known classes.
    basis: Mat<f64>,
}

impl Hull {
    /// The hull, if it has fewer dimensions than the space.
    pub(super) fn of(landmarks: MatRef<'_, f64>) -> Option<Self> {
        let (dim, known) = landmarks.shape();
        if !(2..=dim).contains(&known) {
            return None;
        }
        let origin: Vec<f64> = landmarks.col(0).iter().copied().collect();
        let mut basis = Mat::from_fn(dim, known - 1, |i, j| landmarks[(i, j + 1)] - origin[i]);
        distance::normalize_columns(basis.as_mut());
        gram_schmidt(&mut basis);
        Some(Self { origin, basis })
    }

    fn relative_to_origin(&self, points: MatRef<'_, f64>) -> Mat<f64> {
        Mat::from_fn(points.nrows(), points.ncols(), |i, j| points[(i, j)] - self.origin[i])
    }

    /// Landmarks in the coordinates of their hull.
    pub(super) fn landmarks(&self, landmarks: MatRef<'_, f64>) -> Mat<f64> {
        product(self.basis.transpose(), self.relative_to_origin(landmarks).as_ref())
    }

    /// Points in the coordinates of the hull, if they are all in it.
    pub(super) fn within(&self, points: MatRef<'_, f64>) -> Option<Mat<f64>> {
        let points = self.relative_to_origin(points);
        let within = product(self.basis.transpose(), points.as_ref());
        let outside = product(self.basis.as_ref(), within.as_ref()) - &points;
        (outside.norm_max() <= MAX_OUTSIDE).then_some(within)
    }

    /// Points of the hull, column after column, in latent coordinates.
    pub(super) fn lift(&self, point: &[f64]) -> Vec<f64> {
        let dim = self.basis.ncols();
        let within = MatRef::from_column_major_slice(point, dim, point.len() / dim);
        let mut points = columns(product(self.basis.as_ref(), within).as_ref());
        for point in points.chunks_mut(self.origin.len()) {
            point.iter_mut().zip(&self.origin).for_each(|(value, origin)| *value += origin);
        }
        points
    }
}

/// A smaller mapping with the same minimum.
pub(super) struct Span<'a> {
    pub(super) cost: Sammon<'a>,
    pub(super) start: Vec<f64>,
    hull: Hull,
}

impl<'a> Span<'a> {
    /// The mapping inside the hull, if that has fewer dimensions and the initial embeddings are in it.
    pub(super) fn of(cost: &Sammon<'a>, start: &[f64]) -> Option<Self> {
        let hull = Hull::of(cost.landmarks.as_ref())?;
        let within = hull.within(MatRef::from_column_major_slice(start, cost.dim(), cost.unseen()))?;
        let cost = cost.with_landmarks(hull.landmarks(cost.landmarks.as_ref()));
        Some(Self { cost, start: columns(within.as_ref()), hull })
    }

    /// Points of the hull, column after column, in latent coordinates.
    pub(super) fn lift(&self, point: &[f64]) -> Vec<f64> {
        self.hull.lift(point)
    }
}

/// The numbers of a matrix, column after column.
pub(super) fn columns(matrix: MatRef<'_, f64>) -> Vec<f64> {
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
        (landmarks, SemanticDistances { known_unseen, unseen_unseen: Symmetric::from_matrix(half.as_ref()) })
    }

    #[test]
    fn the_minimum_inside_the_hull_is_that_of_all_dimensions() {
        let (landmarks, distances) = random(40, 9, 5);
        let cost = Sammon::new(landmarks.as_ref(), &distances);
        let start = super::super::Lsm::default().initial_points(&cost).expect("distances are enough");
        let stopping = Stopping { tolerance: 1e-11, max_iterations: 5000 };
        let whole = lbfgs(&cost, start.clone(), stopping, &Silent);
        let span = Span::of(&cost, &start).expect("a weighted mean is in the hull");
        let within = lbfgs(&span.cost, span.start.clone(), stopping, &Silent);
        assert_eq!(span.start.len(), 8 * 5);
        let lifted = span.lift(&within.point);
        assert!(whole.point.iter().zip(&lifted).all(|(a, b)| (a - b).abs() < 1e-7));
        approx::assert_relative_eq!(whole.value, within.value, max_relative = 1e-12);
    }

    #[test]
    fn a_start_outside_the_hull_is_left_alone() {
        let inside = |dim: usize, scale: f64| {
            let (landmarks, distances) = random(dim, 9, 5);
            let cost = Sammon::new(landmarks.as_ref(), &distances);
            let start = super::super::Lsm::default().initial_points(&cost).expect("distances are enough");
            Span::of(&cost, &start.iter().map(|value| scale * value).collect::<Vec<_>>()).is_some()
        };
        assert!(inside(40, 1.0) && inside(9, 1.0));
        // Inside the span, but not the hull; and a hull that is the whole space.
        assert!(!inside(40, 0.9) && !inside(8, 1.0));
    }

    /// A long descent would carry what rounding leaves outside further and further out.
    #[test]
    fn the_minimum_never_leaves_the_hull() {
        let (landmarks, mut distances) = random(60, 24, 12);
        // Further from all landmarks than any point of the hull is: every way out of it would be a descent.
        distances.known_unseen += Mat::full(24, 12, 1.0);
        let cost = Sammon::new(landmarks.as_ref(), &distances);
        let lsm = super::super::Lsm { tolerance: 1e-13, ..super::super::Lsm::default() };
        let start = lsm.initial_points(&cost).expect("distances are enough");
        let found = lsm.minimize(&cost, start, &Silent).expect("nothing is majorized");
        let origin = landmarks.col_as_slice(0);
        let mut basis = Mat::from_fn(60, 23, |i, j| landmarks[(i, j + 1)] - origin[i]);
        distance::normalize_columns(basis.as_mut());
        gram_schmidt(&mut basis);
        let places = Mat::from_fn(60, 12, |i, j| found.point[j * 60 + i] - origin[i]);
        let within = product(basis.transpose(), places.as_ref());
        let outside = product(basis.as_ref(), within.as_ref()) - &places;
        assert!(outside.norm_max() < 1e-14, "{}", outside.norm_max());
    }
}
