//! Choosing settings by class-wise cross-validation, with the work shared.
//!
//! In a fold some of the **known** classes play the unseen ones ([`folds()`]); a setting's score is the mean per-class
//! accuracy on them. Where known classes are candidates, too, folds also test some of their instances, and the score is the
//! largest harmonic mean of the two accuracies over all biases. Nothing of the unseen classes is ever looked at. [`Plan`] says what to try and in which order,
//! [`Evaluator`] scores it. A batch of settings becomes a tree of what they have in common (`tree`), which is executed
//! on all folds (`execute`); scatter matrices are shared by folds (`cache`). The scores are those of one fit after
//! another ([`naive`]). [`Rule`] says which of the scored settings is chosen.
//!
//! ```
//! use bidilel::{settings::Settings, synthetic::Synthetic, tune::*};
//! use bidilel_math::Silent;
//!
//! let dataset = Synthetic { scale: 0.3, ..Synthetic::default() }.generate(0)?;
//! let trial = dataset.trials(None)?.remove(0);
//! let folds = folds(&dataset, &trial, Holdout::Random { share: 0.2, folds: 2, seed: 0 })?;
//! let base = Settings::default();
//! let choice = base.choice(&dataset)?;
//! let mut evaluator = Evaluator::new(dataset, &trial, folds, &choice, 0, &Silent)?;
//! let axes = vec![Axis::new("alpha", &[0.1, 10.0]), Axis::new("dim", &[5, 10])];
//! let plan = Plan { base, axes, strategy: Strategy::Grid, rule: Rule::Highest, auto: false, seed: 0 };
//! let outcome = plan.run(&mut evaluator, &Forgetful, &Silent)?;
//! assert_eq!(outcome.scored.len(), 4);
//! # Ok::<(), bidilel::Error>(())
//! ```
//!
//! # References
//! Wang & Chen 2017, section "On Hyper-Parameters". K. Jamieson and A. Talwalkar, *Non-stochastic best arm
//! identification and hyperparameter optimization*, 2016 (successive halving).

mod auto;
mod cache;
mod choose;
mod evaluator;
mod execute;
mod fold;
mod folds;
mod grid;
pub mod naive;
mod nearness;
mod plan;
mod pool;
mod search;
mod settle;
mod sink;
mod spaces;
mod tree;
mod views;

pub use choose::{Paired, Rule, STANDARD_ERRORS, Unit, Verdict, challenger};
pub use evaluator::Evaluator;
pub use folds::{FOLDS, Holdout, SHARE, enough_folds, folds};
pub use grid::{Axis, coarse, fine, product};
pub use nearness::Nearness;
pub use plan::{Plan, Strategy};
pub use sink::Scores;
pub use views::{ChosenViews, choose_views};

use crate::error::Result;
use crate::settings::Settings;

/// The caller's side of a search: known scores, progress, and when to stop.
///
/// Methods may be called from several threads.
#[expect(unused_variables, reason = "by default a host ignores everything")]
pub trait Host: Sync {
    /// The score of a setting on a fold, where an earlier run has found it.
    fn recall(&self, key: &str, fold: usize) -> Option<f64> {
        None
    }

    /// Keeps a score that was just found.
    fn record(&self, key: &str, fold: usize, score: f64) -> Result<()> {
        Ok(())
    }

    /// A stage begins that needs this many scores.
    fn planned(&self, stage: Stage, evaluations: usize) {}

    /// A score is there, found or recalled.
    fn evaluated(&self, settings: &Settings, fold: usize, score: f64) {}

    /// How many scores may still be asked for when `used` have been.
    fn evaluations_left(&self, used: usize) -> usize {
        usize::MAX
    }

    /// Whether there is time for more; asked after every score.
    fn may_continue(&self) -> bool {
        true
    }
}

/// A host that recalls nothing and never stops.
#[derive(Debug, Clone, Copy, Default)]
pub struct Forgetful;

impl Host for Forgetful {}

/// A part of a search, by what it varies; [`Stage::name`] is its name in results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "settings and strategies are documented where they are")]
pub enum Stage {
    /// Nothing: the defaults, which others must beat.
    Default,
    Coarse,
    Alpha,
    Dim,
    Neighbors,
    SelfTrainingNeighbors,
    Gamma,
    /// Any other setting.
    Fine,
    Pipelines,
    Post,
    Grid,
    Halving,
    /// Nothing: the answer, where no other stage has scored it.
    Best,
}

impl Stage {
    /// The name, as in `self-training-neighbors`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Coarse => "coarse",
            Self::Alpha => "alpha",
            Self::Dim => "dim",
            Self::Neighbors => "neighbors",
            Self::SelfTrainingNeighbors => "self-training-neighbors",
            Self::Gamma => "gamma",
            Self::Fine => "fine",
            Self::Pipelines => "pipelines",
            Self::Post => "post",
            Self::Grid => "grid",
            Self::Halving => "halving",
            Self::Best => "best",
        }
    }

    /// The stage that varies one setting by itself.
    fn of_axis(name: &str) -> Self {
        let own = [Self::Alpha, Self::Dim, Self::Neighbors, Self::SelfTrainingNeighbors, Self::Gamma];
        own.into_iter().find(|stage| stage.name() == name.replace('_', "-")).unwrap_or(Self::Fine)
    }
}

/// A setting with its scores.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// The stage that asked for it.
    pub stage: Stage,
    /// The setting.
    pub settings: Settings,
    /// Per-class accuracy on every fold, or its harmonic mean where known classes are candidates.
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
    /// The same without the refiner that the choice added, where it did.
    pub inductive: Option<Settings>,
    /// How sure the choice is; none where the highest mean was asked for, or the values to try leave out the defaults.
    pub verdict: Option<Verdict>,
    /// Everything that was tried, in order.
    pub scored: Vec<Scored>,
    /// Accuracy against each setting that was varied by itself, or the best for each of its values in a grid.
    pub curves: Vec<Curve>,
    /// Whether the budget ended it early.
    pub stopped: bool,
}

impl Outcome {
    /// The best of those that scored higher than the chosen setting and differ from it in alpha, dim and neighbors alone.
    ///
    /// The paper's finer grids leave out some values of its coarse one, so that there may be such a setting.
    pub fn passed_over(&self) -> Option<&Scored> {
        let Settings { alpha, dim, neighbors, .. } = self.best.settings;
        let chosen = grid::key(&self.best.settings);
        let comparable = |one: &&Scored| {
            let same = Settings { alpha, dim, neighbors, ..one.settings.clone() };
            one.scores.len() == self.best.scores.len() && grid::key(&same) == chosen
        };
        let best = self.scored.iter().filter(comparable).max_by(|a, b| a.mean.total_cmp(&b.mean));
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
            Scored::new(Stage::Coarse, settings, scores.to_vec(), None)
        };
        let refined = Some(vec![PostName::SelfTraining]);
        // Neither what refines nor what has seen fewer folds can be compared.
        let mut all =
            vec![scored(50, None, &[0.4, 0.5]), scored(50, refined, &[0.9, 0.9]), scored(20, None, &[0.9])];
        let mut best = all[0].clone();
        best.settings.self_training_neighbors = Some(20);
        let outcome = |scored| Outcome {
            best: best.clone(),
            inductive: None,
            verdict: None,
            scored,
            curves: Vec::new(),
            stopped: false,
        };
        assert_eq!(outcome(all.clone()).passed_over(), None);
        all.push(scored(10, None, &[0.5, 0.5]));
        assert_eq!(outcome(all.clone()).passed_over(), all.last());
    }
}
