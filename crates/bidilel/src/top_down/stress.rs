//! The cost of the landmark-based Sammon mapping and its gradient.
//!
//! `$$E(B^u) = \frac{1}{|C^l||C^u|} \sum_{i,j} \frac{(d^{lu}_{ij} - \delta^{lu}_{ij})^2}{\delta^{lu}_{ij}} +
//! \frac{2}{|C^u|(|C^u|-1)} \sum_{i<j} \frac{(d^{uu}_{ij} - \delta^{uu}_{ij})^2}{\delta^{uu}_{ij}}$$`
//! (Wang & Chen 2017, eq. 7) over the embeddings of the unseen classes; landmarks are fixed.
//!
//! # Differences from the paper
//! In the gradient printed in Appendix A the second sum runs over $i > j$ only. Every pair pulls at both its
//! points: the sum runs over all $i \ne j$, as finite differences confirm.

use std::sync::{Mutex, MutexGuard, PoisonError};

use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

use bidilel_math::lbfgs::Objective;
use bidilel_math::parallel::round_robin;
use bidilel_math::vector::add_scaled;

use super::DISTANCE_FLOOR;
use super::forces::{Forces, Points, squared_norms};
use super::smacof::Majorized;
use crate::semantic::SemanticDistances;

/// Known classes whose forces are computed at a time.
const BLOCK_LANDMARKS: usize = 256;

/// The cost as a function of the embedding, stored column after column.
#[derive(Debug, Clone)]
pub struct Sammon<'a> {
    pub(super) landmarks: Mat<f64>,
    /// Squared norms of the landmarks.
    norms: Vec<f64>,
    pub(super) distances: &'a SemanticDistances,
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

    /// Unseen classes per block: large blocks make efficient products, small problems need blocks for all threads.
    fn block(&self) -> usize {
        (self.unseen() / 16).next_multiple_of(32).clamp(64, 256)
    }

    /// The forces of the landmarks, and of the classes of a block on each other.
    fn add_own(&self, own: &Points<'_>, first: usize, share: &mut Share<'_>) {
        share.gradient.fill(0.0);
        let landmarks = Points { points: self.landmarks.as_ref(), norms: &self.norms };
        let outer = &self.distances.known_unseen;
        for start in (0..self.known()).step_by(BLOCK_LANDMARKS) {
            let some = landmarks.part(start, BLOCK_LANDMARKS.min(self.known() - start));
            let semantic = |j: usize| &outer.col_as_slice(first + j)[start..][..some.norms.len()];
            let forces = Forces::between(&some, own, self.outer_weight(), semantic);
            share.cost += forces.cost;
            forces.pull_columns(&some, &mut share.totals, share.gradient.as_mut());
        }
        let among = |j: usize| &self.distances.unseen_unseen.above(first + j)[first..];
        let mut forces = Forces::between(own, own, self.inner_weight(), among);
        share.cost += forces.cost;
        forces.mirror();
        forces.pull_columns(own, &mut share.totals, share.gradient.as_mut());
    }
}

/// Sums of a block of classes: the gradient is `points * totals - gradient`.
struct Share<'a> {
    gradient: MatMut<'a, f64>,
    /// Sum of the forces at every class.
    totals: Vec<f64>,
    cost: f64,
}

impl Objective for Sammon<'_> {
    /// Per block of classes, the forces of the landmarks and of the block itself, then those between blocks in the rounds
    /// of a round-robin tournament: each pair of blocks is computed once for both, and every block sums in the order of
    /// the rounds.
    fn evaluate(&self, point: &[f64], gradient: &mut [f64]) -> f64 {
        let (dim, block) = (self.dim(), self.block());
        let points = MatRef::from_column_major_slice(point, dim, self.unseen());
        let norms = squared_norms(points);
        let all = Points { points, norms: &norms };
        let part = |index: usize| all.part(index * block, block.min(self.unseen() - index * block));
        let shares: Vec<Mutex<Share<'_>>> = gradient.chunks_mut(dim * block).map(share(dim)).collect();
        shares.par_iter().enumerate().for_each(|(index, share)| {
            self.add_own(&part(index), index * block, &mut lock(share));
        });
        for round in round_robin(shares.len()) {
            round.into_par_iter().for_each(|(one, other)| {
                let (one, other) = (one.min(other), one.max(other));
                let (rows, columns) = (part(one), part(other));
                let semantic = |j: usize| {
                    &self.distances.unseen_unseen.above(other * block + j)[one * block..][..rows.norms.len()]
                };
                let forces = Forces::between(&rows, &columns, self.inner_weight(), semantic);
                let mut share = lock(&shares[other]);
                let Share { gradient, totals, cost } = &mut *share;
                *cost += forces.cost;
                forces.pull_columns(&rows, totals, gradient.as_mut());
                drop(share);
                let mut share = lock(&shares[one]);
                let Share { gradient, totals, .. } = &mut *share;
                forces.pull_rows(&columns, totals, gradient.as_mut());
            });
        }
        let costs: Vec<f64> = shares
            .into_par_iter()
            .enumerate()
            .map(|(index, share)| {
                let mut share = share.into_inner().unwrap_or_else(PoisonError::into_inner);
                finish(&part(index), &mut share);
                share.cost
            })
            .collect();
        costs.iter().sum()
    }
}

impl Majorized for Sammon<'_> {
    fn system(&self) -> Mat<f64> {
        let unseen = self.unseen();
        let mut system = Mat::zeros(unseen, unseen);
        for j in 0..unseen {
            for i in 0..self.known() {
                system[(j, j)] += self.outer_weight() / self.outer(i, j);
            }
            for k in 0..j {
                let weight = self.inner_weight() / self.inner(k, j);
                system[(j, j)] += weight;
                system[(k, k)] += weight;
                system[(j, k)] -= weight;
            }
        }
        system
    }
}

fn share<'a>(dim: usize) -> impl Fn(&'a mut [f64]) -> Mutex<Share<'a>> {
    move |gradient| {
        let count = gradient.len() / dim;
        let gradient = MatMut::from_column_major_slice_mut(gradient, dim, count);
        Mutex::new(Share { gradient, totals: vec![0.0; count], cost: 0.0 })
    }
}

/// Adds the classes' own term of all forces: $b_j \sum_i f_{ij}$.
fn finish(own: &Points<'_>, share: &mut Share<'_>) {
    for (j, &total) in share.totals.iter().enumerate() {
        let column = share.gradient.as_mut().col_mut(j).try_as_col_major_mut();
        add_scaled(column.expect("gradients are column-major").as_slice_mut(), total, own.column(j));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use bidilel_math::distance::squared_slices;
    use bidilel_math::symmetric::Symmetric;

    use super::*;

    fn random() -> impl FnMut() -> f64 {
        let mut state = 3_u64;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        }
    }

    /// Landmarks, distances and points, of which the last coincides with the first, and the last but one nearly so.
    fn problem(dim: usize, known: usize, unseen: usize) -> (Mat<f64>, SemanticDistances, Vec<f64>) {
        let mut next = random();
        let landmarks = Mat::from_fn(dim, known, |_, _| next() - 0.5);
        let mut known_unseen = Mat::from_fn(known, unseen, |_, _| 0.2 + next());
        known_unseen[(0, 0)] = 0.0;
        let among = Mat::from_fn(unseen, unseen, |_, _| 0.2 + next());
        let mut places: Vec<f64> = (0..dim * unseen).map(|_| next() - 0.5).collect();
        if unseen > 2 {
            places.copy_within(..dim, dim * (unseen - 1));
            places.copy_within(..dim, dim * (unseen - 2));
            places[dim * (unseen - 2)] += 1e-5;
        }
        (
            landmarks,
            SemanticDistances { known_unseen, unseen_unseen: Symmetric::from_matrix(among.as_ref()) },
            places,
        )
    }

    /// The equations, pair by pair.
    fn pair_by_pair(cost: &Sammon<'_>, places: &[f64]) -> (f64, Vec<f64>) {
        let dim = cost.dim();
        let (mut value, mut gradient) = (0.0, vec![0.0; places.len()]);
        for j in 0..cost.unseen() {
            let own = &places[dim * j..][..dim];
            let mut pull = |other: &[f64], semantic: f64, weight: f64, share: f64| {
                let latent = squared_slices(own, other).sqrt();
                value += share * weight * (latent - semantic).powi(2) / semantic;
                let force = if latent > 0.0 { 2.0 * weight * (1.0 / semantic - 1.0 / latent) } else { 0.0 };
                (0..dim).for_each(|row| gradient[dim * j + row] += force * (own[row] - other[row]));
            };
            for i in 0..cost.known() {
                pull(cost.landmarks.col_as_slice(i), cost.outer(i, j), cost.outer_weight(), 1.0);
            }
            for k in (0..cost.unseen()).filter(|&k| k != j) {
                // Every pair is met twice here.
                pull(&places[dim * k..][..dim], cost.inner(k, j), cost.inner_weight(), 0.5);
            }
        }
        (value, gradient)
    }

    #[test]
    fn tiles_give_what_pairs_give() {
        for (dim, known, unseen) in [(3, 2, 1), (4, 1, 2), (5, 300, 63), (4, 7, 64), (3, 5, 65), (6, 70, 200)]
        {
            let (landmarks, distances, places) = problem(dim, known, unseen);
            let cost = Sammon::new(landmarks.as_ref(), &distances);
            let mut gradient = vec![f64::NAN; places.len()];
            let value = cost.evaluate(&places, &mut gradient);
            let (expected, slopes) = pair_by_pair(&cost, &places);
            approx::assert_relative_eq!(value, expected, max_relative = 1e-12);
            let steepest = slopes.iter().fold(0.0_f64, |largest, slope| largest.max(slope.abs()));
            for (found, slope) in gradient.iter().zip(&slopes) {
                assert!((found - slope).abs() < 1e-9 * steepest, "{unseen} unseen: {found} is not {slope}");
            }
        }
    }

    #[test]
    fn many_blocks_have_the_same_bits_for_any_number_of_threads() {
        let (landmarks, distances, places) = problem(5, 300, 500);
        let cost = Sammon::new(landmarks.as_ref(), &distances);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a small pool");
            let mut gradient = vec![0.0; places.len()];
            let value = pool.install(|| cost.evaluate(&places, &mut gradient));
            (value.to_bits(), gradient)
        };
        assert_eq!(with(1), with(2));
        assert_eq!(with(1), with(3));
    }
}
