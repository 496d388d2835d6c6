//! The cost of the landmark-based Sammon mapping and its gradient.
//!
//! $$E(B^u) = \frac{1}{|C^l||C^u|} \sum_{i,j} \frac{(d^{lu}_{ij} - \delta^{lu}_{ij})^2}{\delta^{lu}_{ij}} +
//! \frac{2}{|C^u|(|C^u|-1)} \sum_{i<j} \frac{(d^{uu}_{ij} - \delta^{uu}_{ij})^2}{\delta^{uu}_{ij}}$$
//! (Wang & Chen 2017, eq. 7) over the places of the unseen classes; landmarks stay where they are.
//!
//! # Differences from the paper
//! In the gradient printed in Appendix A the second sum runs over $i > j$ only. Every pair pulls at both its
//! ends: the sum runs over all $i \ne j$, as finite differences confirm.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use bidilel_math::distance;
use bidilel_math::lbfgs::Objective;
use bidilel_math::vector::add_scaled;

use super::DISTANCE_FLOOR;
use crate::semantic::SemanticDistances;

/// Unseen classes that one thread works on at a time.
const BLOCK: usize = 64;
/// Squared distances below this share of the squared norms are computed from differences.
const CLOSE: f64 = 1e-2;

/// The cost as a function of the embedding, stored column after column.
#[derive(Debug, Clone)]
pub struct Sammon {
    pub(super) landmarks: Mat<f64>,
    /// Squared norms of the landmarks.
    norms: Vec<f64>,
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
            norms: squared_norms(landmarks),
            landmarks: landmarks.to_owned(),
            known_unseen: raise(&distances.known_unseen),
            unseen_unseen: raise(&distances.unseen_unseen),
            floored: outer + inner,
        }
    }

    /// The same distances to other landmarks.
    pub(super) fn with_landmarks(&self, landmarks: Mat<f64>) -> Self {
        Self { norms: squared_norms(landmarks.as_ref()), landmarks, ..self.clone() }
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

    /// The share of a block of classes in the cost (pairs of unseen classes are halved between them), and its
    /// gradient, dimensions x classes.
    ///
    /// With forces $f_{ij}$ along the lines between places, the gradient is
    /// $\sum_i f_{ij} (b_j - p_i) = b_j \sum_i f_{ij} - P f_j$: like the distances, a matrix product.
    fn block(&self, places: &Points<'_>, first: usize, mut gradient: MatMut<'_, f64>) -> f64 {
        let own = places.part(first, gradient.ncols());
        gradient.fill(0.0);
        let (outer, inner) = (self.outer_weight(), self.inner_weight());
        let landmarks = Points { points: self.landmarks.as_ref(), norms: &self.norms };
        let known = |i: usize, j: usize| Some(self.known_unseen[(i, first + j)]);
        let unseen = |i: usize, j: usize| (i != first + j).then(|| self.unseen_unseen[(i, first + j)]);
        pull(&landmarks, &own, outer, known, gradient.as_mut())
            + 0.5 * pull(places, &own, inner, unseen, gradient)
    }
}

/// Columns with their squared norms.
struct Points<'a> {
    points: MatRef<'a, f64>,
    norms: &'a [f64],
}

impl Points<'_> {
    fn part(&self, first: usize, count: usize) -> Points<'_> {
        Points { points: self.points.subcols(first, count), norms: &self.norms[first..][..count] }
    }

    fn column(&self, i: usize) -> &[f64] {
        self.points.col(i).try_as_col_major().expect("places lie column after column").as_slice()
    }
}

fn squared_norms(points: MatRef<'_, f64>) -> Vec<f64> {
    let zero = Mat::zeros(points.nrows(), 1);
    points.col_iter().map(|column| distance::squared(column, zero.col(0))).collect()
}

/// The cost of the pairs of `others` and `own` that have a semantic distance; adds what they pull to `gradient`.
fn pull(
    others: &Points<'_>,
    own: &Points<'_>,
    weight: f64,
    semantic: impl Fn(usize, usize) -> Option<f64>,
    mut gradient: MatMut<'_, f64>,
) -> f64 {
    let mut forces = Mat::zeros(others.norms.len(), own.norms.len());
    matmul(forces.as_mut(), Accum::Replace, others.points.transpose(), own.points, -2.0, Par::Seq);
    let mut cost = 0.0;
    for (j, &own_norm) in own.norms.iter().enumerate() {
        let mut total = 0.0;
        for (i, (force, &norm)) in forces.col_as_slice_mut(j).iter_mut().zip(others.norms).enumerate() {
            let (product, both) = (std::mem::take(force), norm + own_norm);
            let Some(semantic) = semantic(i, j) else { continue };
            let mut square = both + product;
            if square < CLOSE * both {
                // The digits of near places cancel in the expanded form.
                square = distance::squared_slices(others.column(i), own.column(j));
            }
            let latent = square.sqrt();
            let away = latent - semantic;
            cost += weight * away * away / semantic;
            // Two classes in one place have no direction to part in: the gradient leaves them there.
            if latent > 0.0 {
                *force = 2.0 * weight * away / (semantic * latent);
                total += *force;
            }
        }
        add_scaled(column_mut(gradient.as_mut(), j), total, own.column(j));
    }
    matmul(gradient, Accum::Add, others.points, forces.as_ref(), -1.0, Par::Seq);
    cost
}

fn column_mut(matrix: MatMut<'_, f64>, j: usize) -> &mut [f64] {
    matrix.col_mut(j).try_as_col_major_mut().expect("gradients lie column after column").as_slice_mut()
}

impl Objective for Sammon {
    fn evaluate(&self, point: &[f64], gradient: &mut [f64]) -> f64 {
        let dim = self.dim();
        let points = MatRef::from_column_major_slice(point, dim, self.unseen());
        let norms = squared_norms(points);
        let places = Points { points, norms: &norms };
        let shares: Vec<f64> = gradient
            .par_chunks_mut(dim * BLOCK)
            .enumerate()
            .map(|(block, gradient)| {
                let count = gradient.len() / dim;
                self.block(&places, block * BLOCK, MatMut::from_column_major_slice_mut(gradient, dim, count))
            })
            .collect();
        shares.iter().sum()
    }
}
