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
//! - Several starts, of which the embedding of the least cost is kept, on request: a lower cost does not recognize better.
//!
//! # References
//! J. Sammon, *A nonlinear mapping for data structure analysis*, 1969.

use faer::MatRef;
use serde::{Deserialize, Serialize};

use bidilel_math::lbfgs::{self, Minimum, Stopping};
use bidilel_math::{Observer, distance};

use super::smacof::Majorized;
use super::span::Span;
use super::{ClassEmbedder, DISTANCE_FLOOR, Embedding, Init, Sammon, init, smacof, verify};
use crate::error::{Error, Result};
use crate::landmarks::Landmarks;
use crate::semantic::ClassSemantics;
use crate::settings::{self, InitName, Settings, named};

/// Most unseen classes for which majorization goes first: its factor takes 8 bytes per pair of them, 1.6 GB here.
pub(super) const MAX_MAJORIZED_CLASSES: usize = 14_000;

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

/// Settings of the mapping.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lsm {
    /// The optimizer.
    pub optimizer: Optimizer,
    /// The initial embeddings; `start` in files.
    #[serde(rename = "start", alias = "init")]
    pub init: Init,
    /// Times that the cost is minimized, first from `init`, then from random embeddings; that of the least cost is kept.
    pub starts: usize,
    /// Seed of the random embeddings after the first start; 0 if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts_seed: Option<u64>,
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
            starts: 1,
            starts_seed: None,
            tolerance: 1e-10,
            max_iterations: 10_000,
            unit_embedding: false,
        }
    }
}

impl Lsm {
    pub(crate) fn from_settings(settings: &Settings, seed: u64) -> Self {
        let default = Self::default();
        let starts = settings.starts.unwrap_or(default.starts);
        Self {
            optimizer: settings.optimizer.unwrap_or(default.optimizer),
            init: match settings.init {
                None => default.init,
                Some(InitName::WeightedMean) => Init::WeightedMean,
                Some(InitName::Random) => Init::Random { seed },
                Some(InitName::Krr) => Init::Krr,
            },
            starts,
            starts_seed: (starts > 1).then_some(seed),
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
        self.check()?;
        settings::check("starts", self.starts as f64)?;
        watch.stage("top_down");
        let cost = Sammon::new(landmarks.points.as_ref(), &semantics.distances);
        if cost.floored > 0 {
            watch.note(&format!(
                "{} pairs of classes have the same description; their distance counts as {DISTANCE_FLOOR:e}",
                cost.floored
            ));
        }
        let start = self.init.points(&cost, landmarks, semantics, watch)?;
        verify::gradient(&cost, cost.dim(), &start, watch)?;
        let mut found = self.minimize(&cost, start, watch)?;
        for number in 1..self.starts as u64 {
            Error::unless_cancelled(watch)?;
            let start = init::random(&cost, self.starts_seed.unwrap_or_default(), number);
            let other = self.minimize(&cost, start, watch)?;
            if other.value < found.value {
                found = other;
            }
        }
        if !found.converged {
            watch.note(&format!("the mapping had not settled after {} iterations", found.iterations));
        }
        let mut points = MatRef::from_column_major_slice(&found.point, cost.dim(), cost.unseen()).to_owned();
        verify::value(&cost, points.as_ref(), found.value, watch)?;
        if self.unit_embedding {
            distance::normalize_columns(points.as_mut());
        }
        Ok(Embedding { points, converged: found.converged, mapped: None })
    }
}

impl Lsm {
    /// Fails where the tolerance is out of its range.
    pub(super) fn check(&self) -> Result<()> {
        if self.tolerance > 0.0 && self.tolerance < 1.0 {
            return Ok(());
        }
        let expected = "between 0 and 1".into();
        Err(Error::Setting { setting: "tolerance", expected, found: self.tolerance.to_string() })
    }

    /// The initial embeddings, column after column; none for [`Init::Krr`], which needs more than distances.
    pub fn initial_points(&self, cost: &Sammon) -> Option<Vec<f64>> {
        self.init.by_distances(cost)
    }

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
        let stiff = cost.floored > 0 && cost.unseen() <= MAX_MAJORIZED_CLASSES;
        self.minimum_of(cost, stiff, start, watch)
    }

    /// Minimizes a cost of pairs, of which some may be far stiffer than the others.
    pub(super) fn minimum_of(
        &self,
        cost: &impl Majorized,
        stiff: bool,
        start: Vec<f64>,
        watch: &dyn Observer,
    ) -> Result<Minimum> {
        let stopping = Stopping { tolerance: self.tolerance, max_iterations: self.max_iterations };
        match self.optimizer {
            // A distance at the floor makes a pair a million times stiffer than the others: majorization
            // settles such pairs in its linear system, and L-BFGS finishes from there.
            Optimizer::Lbfgs if stiff => {
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
