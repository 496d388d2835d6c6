//! The cost of the landmark-based Sammon mapping and its gradient.
//!
//! $$E(B^u) = \frac{1}{|C^l||C^u|} \sum_{i,j} \frac{(d^{lu}_{ij} - \delta^{lu}_{ij})^2}{\delta^{lu}_{ij}} +
//! \frac{2}{|C^u|(|C^u|-1)} \sum_{i<j} \frac{(d^{uu}_{ij} - \delta^{uu}_{ij})^2}{\delta^{uu}_{ij}}$$
//! (Wang & Chen 2017, eq. 7) over the places of the unseen classes; landmarks stay where they are.
//!
//! # Differences from the paper
//! In the gradient printed in Appendix A the second sum runs over $i > j$ only. Every pair pulls at both its
//! ends: the sum runs over all $i \ne j$, as finite differences confirm.

use faer::{Mat, MatRef};
use rayon::prelude::*;

use bidilel_math::distance::squared_slices;
use bidilel_math::lbfgs::Objective;

use super::DISTANCE_FLOOR;
use crate::semantic::SemanticDistances;

/// The cost as a function of the embedding, stored column after column.
#[derive(Debug, Clone)]
pub struct Sammon {
    pub(super) landmarks: Mat<f64>,
    pub(super) known_unseen: Mat<f64>,
    pub(super) unseen_unseen: Mat<f64>,
    /// How many distances were raised to the floor.
    pub floored: usize,
}

impl Sammon {
    /// The cost for these landmarks (latent dimensions x known) and distances.
    pub fn new(landmarks: MatRef<'_, f64>, distances: &SemanticDistances) -> Self {
        let unseen = distances.unseen_unseen.ncols();
        let below = |value: f64| value < DISTANCE_FLOOR;
        let outer =
            distances.known_unseen.col_iter().flat_map(faer::ColRef::iter).filter(|&&v| below(v)).count();
        let inner = (0..unseen)
            .flat_map(|j| (0..j).map(move |i| (i, j)))
            .filter(|&pair| below(distances.unseen_unseen[pair]))
            .count();
        let raise = |m: &Mat<f64>| Mat::from_fn(m.nrows(), m.ncols(), |i, j| m[(i, j)].max(DISTANCE_FLOOR));
        Self {
            landmarks: landmarks.to_owned(),
            known_unseen: raise(&distances.known_unseen),
            unseen_unseen: raise(&distances.unseen_unseen),
            floored: outer + inner,
        }
    }

    pub(super) fn dim(&self) -> usize {
        self.landmarks.nrows()
    }

    pub(super) fn known(&self) -> usize {
        self.known_unseen.nrows()
    }

    pub(super) fn unseen(&self) -> usize {
        self.known_unseen.ncols()
    }

    /// Weight of a pair of a known and an unseen class, before division by its distance.
    pub(super) fn outer_weight(&self) -> f64 {
        1.0 / (self.known() * self.unseen()) as f64
    }

    /// Weight of a pair of unseen classes; with one unseen class there is no pair.
    pub(super) fn inner_weight(&self) -> f64 {
        2.0 / (self.unseen() * (self.unseen() - 1)).max(1) as f64
    }

    /// One class's share of the cost (pairs of unseen classes are halved between them) and its gradient.
    fn class(&self, point: &[f64], j: usize, gradient: &mut [f64]) -> f64 {
        let dim = self.dim();
        let own = &point[j * dim..][..dim];
        gradient.fill(0.0);
        let mut pull = |other: &[f64], semantic: f64, weight: f64| {
            let latent = squared_slices(own, other).sqrt();
            // Two classes in one place have no direction to part in: the gradient leaves them there.
            if latent > 0.0 {
                let force = 2.0 * weight * (latent - semantic) / (semantic * latent);
                gradient.iter_mut().zip(own.iter().zip(other)).for_each(|(g, (a, b))| *g += force * (a - b));
            }
            weight * (latent - semantic).powi(2) / semantic
        };
        let (outer, inner) = (self.outer_weight(), self.inner_weight());
        let mut cost = 0.0;
        for i in 0..self.known() {
            cost += pull(self.landmarks.col_as_slice(i), self.known_unseen[(i, j)], outer);
        }
        for i in (0..self.unseen()).filter(|&i| i != j) {
            cost += 0.5 * pull(&point[i * dim..][..dim], self.unseen_unseen[(i, j)], inner);
        }
        cost
    }
}

impl Objective for Sammon {
    fn evaluate(&self, point: &[f64], gradient: &mut [f64]) -> f64 {
        let shares: Vec<f64> = gradient
            .par_chunks_mut(self.dim())
            .enumerate()
            .map(|(j, gradient)| self.class(point, j, gradient))
            .collect();
        shares.iter().sum()
    }
}
