//! Initial embeddings of the landmark-based Sammon mapping.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, Par};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use bidilel_math::{Observer, distance, parallel};

use super::{ClassEmbedder, DISTANCE_FLOOR, Krr, Sammon};
use crate::error::Result;
use crate::landmarks::Landmarks;
use crate::semantic::ClassSemantics;

/// Initial embeddings at a smaller distance count as coinciding.
const COINCIDENCE_DISTANCE: f64 = 1e-9;
/// Norm, about, of the random vector by which coinciding initial embeddings are moved apart.
const PERTURBATION_NORM: f64 = 1e-3;
/// Unseen classes whose initial embeddings one thread computes at a time.
const BLOCK_CLASSES: usize = 256;

/// The initial embeddings of the unseen classes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Init {
    /// The mean of the landmarks, weighted by inverse squared semantic distances.
    #[default]
    WeightedMean,
    /// Gaussian, with a mean squared norm of 1, which the landmarks have.
    Random {
        /// Seed of the generator.
        seed: u64,
    },
    /// Kernel ridge regression from descriptions to landmarks, its ridge and width by leaving classes out.
    Krr,
}

impl Init {
    /// The initial embeddings, column after column, where distances are enough for them: regression needs descriptions.
    pub(super) fn by_distances(self, cost: &Sammon) -> Option<Vec<f64>> {
        let mut start = match self {
            Self::WeightedMean => weighted_mean(cost),
            Self::Random { seed } => gaussian(cost, seed, 0),
            Self::Krr => return None,
        };
        separate(cost, &mut start);
        Some(start)
    }

    /// The initial embeddings, column after column.
    pub(super) fn points(
        self,
        cost: &Sammon,
        landmarks: &Landmarks,
        semantics: &ClassSemantics,
        watch: &dyn Observer,
    ) -> Result<Vec<f64>> {
        if let Some(start) = self.by_distances(cost) {
            return Ok(start);
        }
        let points = Krr::default().embed(landmarks, semantics, watch)?.points;
        let mut start: Vec<f64> = points.col_iter().flat_map(faer::ColRef::iter).copied().collect();
        separate(cost, &mut start);
        Ok(start)
    }
}

/// Random initial embeddings for the start of that number: those of different numbers are independent of each other.
pub(super) fn random(cost: &Sammon, seed: u64, number: u64) -> Vec<f64> {
    let mut start = gaussian(cost, seed, number);
    separate(cost, &mut start);
    start
}

/// Gaussian coordinates, with a mean squared norm of 1.
fn gaussian(cost: &Sammon, seed: u64, stream: u64) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(stream);
    let scale = 1.0 / (cost.dim() as f64).sqrt();
    let mut sample = || -> f64 { StandardNormal.sample(&mut random) };
    (0..cost.dim() * cost.unseen()).map(|_| scale * sample()).collect()
}

/// Moves initial embeddings apart that coincide although the descriptions of their classes differ.
///
/// Between coinciding classes the cost has no gradient, so that no descent would ever separate them. It happens to
/// classes that are equally far from every known class, as those of one-hot descriptions are.
fn separate(cost: &Sammon, start: &mut [f64]) {
    let dim = cost.dim();
    // No distance is below that in one coordinate. The first coordinates of all classes are contiguous here.
    let mut firsts: Vec<f64> = start.iter().step_by(dim).copied().collect();
    for j in 1..cost.unseen() {
        let (before, rest) = start.split_at_mut(j * dim);
        let own = &mut rest[..dim];
        let alike = |i: usize| {
            (firsts[i] - firsts[j]).abs() < COINCIDENCE_DISTANCE
                && coincide(&before[i * dim..][..dim], own)
                && cost.inner(i, j) > DISTANCE_FLOOR
        };
        if (0..j).any(alike) {
            perturb(own, j as u64);
            firsts[j] = own[0];
        }
    }
}

/// Whether two points are as good as one.
pub(super) fn coincide(one: &[f64], other: &[f64]) -> bool {
    distance::squared_slices(one, other) < COINCIDENCE_DISTANCE * COINCIDENCE_DISTANCE
}

/// Moves a point a little, in a direction that depends on the seed alone.
pub(super) fn perturb(point: &mut [f64], seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let scale = PERTURBATION_NORM / (point.len() as f64).sqrt();
    point.iter_mut().for_each(|value| {
        let sample: f64 = StandardNormal.sample(&mut random);
        *value += scale * sample;
    });
}

fn weighted_mean(cost: &Sammon) -> Vec<f64> {
    let (dim, known) = (cost.dim(), cost.known());
    let mut start = vec![0.0; dim * cost.unseen()];
    start.par_chunks_mut(dim * BLOCK_CLASSES).enumerate().for_each(|(block, points)| {
        let count = points.len() / dim;
        let mut weights = parallel::zeros(known, count);
        for j in 0..count {
            let own = weights.col_as_slice_mut(j);
            own.iter_mut()
                .enumerate()
                .for_each(|(i, w)| *w = cost.outer(i, block * BLOCK_CLASSES + j).powi(-2));
            let total: f64 = own.iter().sum();
            own.iter_mut().for_each(|weight| *weight /= total);
        }
        let points = MatMut::from_column_major_slice_mut(points, dim, count);
        matmul(points, Accum::Replace, cost.landmarks.as_ref(), weights.as_ref(), 1.0, Par::Seq);
    });
    start
}
