//! Distances between classes, from known to unseen and among the unseen: $\Delta$.

use faer::{Mat, MatRef};

use bidilel_math::distance::pairwise;
use bidilel_math::parallel::product;

use super::Representation;
use crate::dataset::Metric;

/// Semantic distances that the top-down stage follows.
#[derive(Debug, Clone, PartialEq)]
pub struct SemanticDistances {
    /// $\delta(s^l_i, s^u_j)$: known x unseen.
    pub known_unseen: Mat<f64>,
    /// $\delta(s^u_i, s^u_j)$: unseen x unseen, zero on the diagonal.
    pub unseen_unseen: Mat<f64>,
}

impl SemanticDistances {
    /// The weighted sum of every representation's distances.
    pub fn combine(representations: &[Representation], known: usize) -> Self {
        let classes = representations.first().map_or(known, |one| one.values.ncols());
        let unseen = classes - known;
        let mut sum =
            Self { known_unseen: Mat::zeros(known, unseen), unseen_unseen: Mat::zeros(unseen, unseen) };
        for one in representations {
            let part = Self::of(one, known);
            sum.known_unseen += faer::Scale(one.weight) * part.known_unseen;
            sum.unseen_unseen += faer::Scale(one.weight) * part.unseen_unseen;
        }
        sum
    }

    fn of(one: &Representation, known: usize) -> Self {
        let unseen = one.values.ncols() - known;
        if one.metric == Metric::Precomputed {
            return Self {
                known_unseen: one.values.submatrix(0, known, known, unseen).to_owned(),
                unseen_unseen: one.values.submatrix(known, known, unseen, unseen).to_owned(),
            };
        }
        let (left, right) = (one.values.subcols(0, known), one.values.subcols(known, unseen));
        let mut distances = Self {
            known_unseen: between(one.metric, left, right),
            unseen_unseen: between(one.metric, right, right),
        };
        // Rounding must not put a class at a distance from itself.
        (0..unseen).for_each(|i| distances.unseen_unseen[(i, i)] = 0.0);
        distances
    }
}

/// Distances of unit columns; cosine ones are clamped, since rounding may bring them below zero.
fn between(metric: Metric, left: MatRef<'_, f64>, right: MatRef<'_, f64>) -> Mat<f64> {
    match metric {
        Metric::Cosine => {
            let similarity = product(left.transpose(), right);
            Mat::from_fn(similarity.nrows(), similarity.ncols(), |i, j| (1.0 - similarity[(i, j)]).max(0.0))
        }
        Metric::Euclidean | Metric::Precomputed => pairwise(left, right),
    }
}
