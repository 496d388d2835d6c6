//! Choosing settings by class-wise cross-validation, with the work shared.
//!
//! In a trial some of the **known** classes play the unseen ones ([`folds()`]); a setting's score is the mean
//! per-class accuracy on them. Nothing of the unseen classes is ever looked at. [`Plan`] says what to try and in which
//! order, [`Evaluator`] scores it:
//!
//! | done once for | what |
//! | --- | --- |
//! | all | neighbour lists of every view at the largest `neighbors`, filtered for every trial |
//! | a trial, view weights and kernels | the fused kernel, where the problem is not solved in the visual dimensions |
//! | a trial and `neighbors` | one pair of scatter matrices |
//! | and `alpha` | one eigenproblem at the largest `dim` |
//! | and `dim` | landmarks and placed instances, from the leading dimensions |
//! | and embedder | one embedding, on which all refiners start |
//!
//! The scores are those of one fit after another ([`naive`]).
//!
//! ```
//! use bidilel::{settings::Settings, synthetic::Synthetic, tune::*};
//! use bidilel_math::Silent;
//!
//! let dataset = Synthetic { scale: 0.3, ..Synthetic::default() }.generate(0)?;
//! let trial = &dataset.trials(None)?[0];
//! let folds = folds(&dataset, trial, Holdout::Random { share: 0.2, trials: 2, seed: 0 })?;
//! let base = Settings::default();
//! let mut evaluator = Evaluator::new(&dataset, trial, folds, &base.choice(&dataset)?, 0, &Silent)?;
//! let axes = vec![Axis::new("alpha", &[0.1, 10.0]), Axis::new("dim", &[5, 10])];
//! let plan = Plan { base, axes, strategy: Strategy::Grid, auto: false, seed: 0 };
//! let outcome = plan.run(&mut evaluator, &Forgetful, &Silent)?;
//! assert_eq!(outcome.trials.len(), 4);
//! # Ok::<(), bidilel::Error>(())
//! ```
//!
//! # References
//! Wang & Chen 2017, section "On Hyper-Parameters". K. Jamieson and A. Talwalkar, *Non-stochastic best arm
//! identification and hyperparameter optimization*, 2016 (successive halving).

mod auto;
mod combinations;
mod common;
mod evaluator;
mod folds;
mod fused;
mod grid;
mod lengths;
pub mod naive;
mod nearest;
mod pool;
mod protocol;
mod search;
mod shared;
mod shelf;
mod spaces;
mod together;
mod views;

pub use evaluator::Evaluator;
pub use folds::{Holdout, SHARE, TRIALS, folds};
pub use grid::{Axis, coarse, fine, product};
pub use protocol::{Plan, Strategy};
pub use views::{ChosenViews, choose_views};

use crate::error::Result;
use crate::settings::Settings;

/// What a search asks of whoever runs it: a memory, an ear, and leave to go on.
pub trait Host: Sync {
    /// The score of a setting on a fold, where an earlier run has found it.
    fn recall(&self, key: &str, fold: usize) -> Option<f64> {
        let _ = (key, fold);
        None
    }

    /// Keeps a score that was just found; called from several threads.
    fn record(&self, key: &str, fold: usize, score: f64) -> Result<()> {
        let _ = (key, fold, score);
        Ok(())
    }

    /// A stage begins that needs this many scores.
    fn planned(&self, stage: &str, evaluations: usize) {
        let _ = (stage, evaluations);
    }

    /// A score is there, found or recalled.
    fn evaluated(&self, settings: &Settings, fold: usize, score: f64) {
        let _ = (settings, fold, score);
    }

    /// How many scores may still be asked for when `used` have been.
    fn evaluations_left(&self, used: usize) -> usize {
        let _ = used;
        usize::MAX
    }

    /// Whether there is time for more.
    fn may_continue(&self) -> bool {
        true
    }
}

/// A host that remembers nothing and never stops.
#[derive(Debug, Clone, Copy, Default)]
pub struct Forgetful;

impl Host for Forgetful {}

/// A setting with its scores.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// The stage that asked for it.
    pub stage: &'static str,
    /// The setting.
    pub settings: Settings,
    /// Per-class accuracy on every fold.
    pub scores: Vec<f64>,
    /// Their mean.
    pub mean: f64,
    /// The standard error of the mean.
    pub standard_error: f64,
    /// Why it cannot be fitted, where it cannot; its scores then mean nothing.
    pub problem: Option<String>,
}

/// What came of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The chosen settings.
    pub best: Scored,
    /// Everything that was tried, in order.
    pub trials: Vec<Scored>,
    /// Accuracy against each setting that was varied by itself, or the best for each of its values in a grid.
    pub curves: Vec<Curve>,
    /// Whether the budget ended it early.
    pub stopped: bool,
}

impl Outcome {
    /// The best of those that scored higher than the chosen setting and differ from it in alpha, dim and neighbours alone.
    ///
    /// The paper's finer grids leave out some values of its coarse one, so that there may be such a setting.
    pub fn passed_over(&self) -> Option<&Scored> {
        let Settings { alpha, dim, neighbors, .. } = self.best.settings;
        let chosen = grid::key(&self.best.settings);
        let comparable = |one: &&Scored| {
            let same = Settings { alpha, dim, neighbors, ..one.settings.clone() };
            one.scores.len() == self.best.scores.len() && grid::key(&same) == chosen
        };
        let best = self.trials.iter().filter(comparable).max_by(|a, b| a.mean.total_cmp(&b.mean));
        best.filter(|best| best.mean > self.best.mean + search::TIE)
    }
}

/// Accuracy against one setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The setting's name.
    pub setting: String,
    /// A scored setting for each value, in order.
    pub points: Vec<Scored>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::PostName;

    #[test]
    fn a_setting_is_passed_over_where_it_is_comparable_and_better() {
        let scored = |dim: usize, post: Option<Vec<PostName>>, scores: &[f64]| {
            let settings = Settings { alpha: Some(1.0), dim: Some(dim), post, ..Settings::default() };
            let mean = scores.iter().sum::<f64>() / scores.len() as f64;
            let scores = scores.to_vec();
            Scored { stage: "coarse", settings, scores, mean, standard_error: 0.0, problem: None }
        };
        let refined = Some(vec![PostName::SelfTraining]);
        let mut trials = vec![
            scored(50, None, &[0.4, 0.5]),
            // Neither what refines nor what has seen fewer folds can be compared.
            scored(50, refined, &[0.9, 0.9]),
            scored(20, None, &[0.9]),
        ];
        let best = Scored {
            settings: Settings { self_training_neighbors: Some(20), ..trials[0].settings.clone() },
            ..trials[0].clone()
        };
        let outcome = |trials| Outcome { best: best.clone(), trials, curves: Vec::new(), stopped: false };
        assert_eq!(outcome(trials.clone()).passed_over(), None);
        trials.push(scored(10, None, &[0.5, 0.5]));
        assert_eq!(outcome(trials.clone()).passed_over(), trials.last());
    }
}
