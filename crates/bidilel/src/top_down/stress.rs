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
pub struct Sammon<'a> {
    pub(super) landmarks: Mat<f64>,
    /// Squared norms of the landmarks.
    norms: Vec<f64>,
    distances: &'a SemanticDistances,
    /// How many distances were raised to the floor.
    pub floored: usize,
}

impl<'a> Sammon<'a> {
    /// The cost for these landmarks (latent dimensions x known) and distances.
    pub fn new(landmarks: MatRef<'_, f64>, distances: &'a SemanticDistances) -> Self {
        let below = |value: f64| value < DISTANCE_FLOOR;
        let outer =
            distances.known_unseen.col_iter().flat_map(faer::ColRef::iter).filter(|&&v| below(v)).count();
        let inner = distances.unseen_unseen.entries().iter().filter(|&&v| below(v)).count();
        Self {
            norms: squared_norms(landmarks),
            landmarks: landmarks.to_owned(),
            distances,
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
        self.distances.known_unseen.nrows()
    }

    pub(super) fn unseen(&self) -> usize {
        self.distances.known_unseen.ncols()
    }

    /// Distance of a known and an unseen class, at least the floor.
    pub(super) fn outer(&self, known: usize, unseen: usize) -> f64 {
        self.distances.known_unseen[(known, unseen)].max(DISTANCE_FLOOR)
    }

    /// Distance of two unseen classes, at least the floor.
    pub(super) fn inner(&self, one: usize, other: usize) -> f64 {
        self.distances.unseen_unseen.get(one, other).max(DISTANCE_FLOOR)
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
        // Rows before columns: the distances of one class to a run of others lie side by side.
        let mut semantic = Mat::zeros(self.known().max(self.unseen()), gradient.ncols());
        for i in 0..self.known() {
            (0..gradient.ncols()).for_each(|j| semantic[(i, j)] = self.outer(i, first + j));
        }
        let known = pull(&landmarks, &own, outer, semantic.as_ref(), gradient.as_mut());
        for i in 0..self.unseen() {
            (0..gradient.ncols()).for_each(|j| semantic[(i, j)] = self.inner(i, first + j));
        }
        // No class makes a pair with itself.
        (0..gradient.ncols()).for_each(|j| semantic[(first + j, j)] = 0.0);
        known + 0.5 * pull(places, &own, inner, semantic.as_ref(), gradient)
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

/// The cost of the pairs of `others` and `own` (the rows and columns of `semantic`); adds what they pull to `gradient`.
///
/// Distances are at least the floor; zero marks what is no pair.
fn pull(
    others: &Points<'_>,
    own: &Points<'_>,
    weight: f64,
    semantic: MatRef<'_, f64>,
    mut gradient: MatMut<'_, f64>,
) -> f64 {
    let mut forces = Mat::zeros(others.norms.len(), own.norms.len());
    matmul(forces.as_mut(), Accum::Replace, others.points.transpose(), own.points, -2.0, Par::Seq);
    let mut cost = 0.0;
    for (j, &own_norm) in own.norms.iter().enumerate() {
        let mut total = 0.0;
        for (i, (force, &norm)) in forces.col_as_slice_mut(j).iter_mut().zip(others.norms).enumerate() {
            let (product, both) = (std::mem::take(force), norm + own_norm);
            let semantic = semantic[(i, j)];
            if semantic <= 0.0 {
                continue;
            }
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

impl Objective for Sammon<'_> {
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
