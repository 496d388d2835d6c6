//! Landmark-based Sammon mapping: latent distances follow semantic ones.
//!
//! Minimizes the cost of [`super::Sammon`] (Wang & Chen 2017, eq. 7 and Algorithm 1) over the
//! embeddings of the unseen classes.
//!
//! # Differences from the paper
//! - Algorithm 1 adds the gradient; that climbs. It is subtracted.
//! - L-BFGS by default: it reaches a gradient of 1e-11 in some 160 iterations, where backtracking descent
//!   takes 1,600. Stopping early costs accuracy.
//! - The initial embeddings are, by default, means of the landmarks weighted by inverse squared semantic distances:
//!   deterministic, and in nearly all cases they lead to the best optimum that random initial embeddings find.
//!
//! # References
//! J. Sammon, *A nonlinear mapping for data structure analysis*, 1969.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use bidilel_math::lbfgs::{self, Minimum, Stopping};
use bidilel_math::{Observer, distance, parallel};

use super::span::Span;
use super::{ClassEmbedder, DISTANCE_FLOOR, Embedding, Sammon, smacof, verify};
use crate::error::{Error, Result};
use crate::landmarks::Landmarks;
use crate::semantic::ClassSemantics;
use crate::settings::{InitName, Settings, named};

/// Initial embeddings at a smaller distance count as coinciding.
const COINCIDENCE_DISTANCE: f64 = 1e-9;
/// Norm, about, of the random vector by which coinciding initial embeddings are moved apart.
const PERTURBATION_NORM: f64 = 1e-3;
/// Unseen classes whose initial embeddings one thread computes at a time.
const BLOCK_CLASSES: usize = 256;
/// Most unseen classes for which majorization goes first: its factor takes 8 bytes per pair of them, 1.6 GB here.
const MAX_MAJORIZED_CLASSES: usize = 14_000;

/// How the cost is minimized.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Optimizer {
    /// Limited-memory BFGS; where a semantic distance is zero, SMACOF goes first.
    #[default]
    Lbfgs,
    /// The paper's gradient descent, with step control.
    Descent,
    /// Majorization: every step solves a linear system and cannot raise the cost.
    Smacof,
}

named! { Optimizer: "lbfgs" | "descent" | "smacof"; }

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
}

/// Settings of the mapping.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lsm {
    /// The optimizer.
    pub optimizer: Optimizer,
    /// The initial embeddings; `start` in files.
    #[serde(rename = "start", alias = "init")]
    pub init: Init,
    /// Largest gradient entry, relative to the initial cost, that counts as zero.
    pub tolerance: f64,
    /// Most iterations of the optimizer.
    pub max_iterations: usize,
    /// Whether embeddings are l2-normalized, as landmarks are.
    #[serde(alias = "normalize_embedding")]
    pub unit_embedding: bool,
}

impl Default for Lsm {
    fn default() -> Self {
        Self {
            optimizer: Optimizer::default(),
            init: Init::default(),
            tolerance: 1e-10,
            max_iterations: 10_000,
            unit_embedding: false,
        }
    }
}

impl Lsm {
    pub(crate) fn from_settings(settings: &Settings, seed: u64) -> Self {
        let default = Self::default();
        Self {
            optimizer: settings.optimizer.unwrap_or(default.optimizer),
            init: match settings.init {
                None => default.init,
                Some(InitName::WeightedMean) => Init::WeightedMean,
                Some(InitName::Random) => Init::Random { seed },
            },
            unit_embedding: settings.unit_embedding.unwrap_or(default.unit_embedding),
            ..default
        }
    }
}

impl ClassEmbedder for Lsm {
    fn embed(
        &self,
        landmarks: &Landmarks,
        semantics: &ClassSemantics,
        watch: &dyn Observer,
    ) -> Result<Embedding> {
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            let expected = "between 0 and 1".into();
            return Err(Error::Setting { setting: "tolerance", expected, found: self.tolerance.to_string() });
        }
        watch.stage("top_down");
        let cost = Sammon::new(landmarks.points.as_ref(), &semantics.distances);
        if cost.floored > 0 {
            watch.note(&format!(
                "{} pairs of classes have the same description; their distance counts as {DISTANCE_FLOOR:e}",
                cost.floored
            ));
        }
        let start = self.initial_points(&cost);
        verify::gradient(&cost, &start, watch)?;
        let found = self.minimize(&cost, start, watch)?;
        if !found.converged {
            watch.note(&format!("the mapping had not settled after {} iterations", found.iterations));
        }
        let mut points = MatRef::from_column_major_slice(&found.point, cost.dim(), cost.unseen()).to_owned();
        verify::value(&cost, points.as_ref(), found.value, watch)?;
        if self.unit_embedding {
            distance::normalize_columns(points.as_mut());
        }
        Ok(Embedding { points, converged: found.converged })
    }
}

impl Lsm {
    /// Minimizes the cost from initial embeddings, given column after column.
    ///
    /// # Errors
    /// When distances of wildly different sizes leave majorization without a definite system.
    pub fn minimize(&self, cost: &Sammon, start: Vec<f64>, watch: &dyn Observer) -> Result<Minimum> {
        let Some(span) = Span::of(cost, &start) else {
            return self.descend(cost, start, watch);
        };
        let found = self.descend(&span.cost, span.start.clone(), watch)?;
        Ok(Minimum { point: span.lift(&found.point), ..found })
    }

    fn descend(&self, cost: &Sammon, start: Vec<f64>, watch: &dyn Observer) -> Result<Minimum> {
        let stopping = Stopping { tolerance: self.tolerance, max_iterations: self.max_iterations };
        match self.optimizer {
            // A distance at the floor makes a pair a million times stiffer than the others: majorization
            // settles such pairs in its linear system, and L-BFGS finishes from there.
            Optimizer::Lbfgs if cost.floored > 0 && cost.unseen() <= MAX_MAJORIZED_CLASSES => {
                let Ok(settled) = smacof::smacof(cost, start.clone(), stopping, watch) else {
                    return Ok(lbfgs::lbfgs(cost, start, stopping, watch));
                };
                let polished = lbfgs::lbfgs(cost, settled.point.clone(), stopping, watch);
                Ok(if polished.value <= settled.value { polished } else { settled })
            }
            Optimizer::Lbfgs => Ok(lbfgs::lbfgs(cost, start, stopping, watch)),
            Optimizer::Descent => Ok(lbfgs::descent(cost, start, stopping, watch)),
            Optimizer::Smacof => {
                smacof::smacof(cost, start, stopping, watch).map_err(Error::in_stage("smacof"))
            }
        }
    }

    /// The initial embeddings, column after column.
    pub fn initial_points(&self, cost: &Sammon) -> Vec<f64> {
        let mut start = match self.init {
            Init::WeightedMean => weighted_mean(cost),
            Init::Random { seed } => {
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                let scale = 1.0 / (cost.dim() as f64).sqrt();
                let mut sample = || -> f64 { StandardNormal.sample(&mut random) };
                (0..cost.dim() * cost.unseen()).map(|_| scale * sample()).collect()
            }
        };
        separate(cost, &mut start);
        start
    }
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
                && distance::squared_slices(&before[i * dim..][..dim], own)
                    < COINCIDENCE_DISTANCE * COINCIDENCE_DISTANCE
                && cost.inner(i, j) > DISTANCE_FLOOR
        };
        if (0..j).any(alike) {
            let mut random = ChaCha8Rng::seed_from_u64(j as u64);
            let scale = PERTURBATION_NORM / (dim as f64).sqrt();
            own.iter_mut().for_each(|value| {
                let sample: f64 = StandardNormal.sample(&mut random);
                *value += scale * sample;
            });
            firsts[j] = own[0];
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_initial_embeddings_keep_their_name_in_files() {
        let random = Lsm { init: Init::Random { seed: 3 }, ..Lsm::default() };
        let written = serde_json::to_value(&random).expect("plain settings");
        assert_eq!(written["start"], serde_json::json!({"kind": "random", "seed": 3}));
        assert_eq!(serde_json::from_value::<Lsm>(written).expect("the same settings"), random);
    }
}
