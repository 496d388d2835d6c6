//! What held-out known classes say about how sure a method may be.

use bidilel_math::Observer;

use super::conformal::{nonconformities, prediction_set};
use super::generalized::{Biases, calibrated_folds};
use super::held_out::{HeldOutScores, HoldOut, held_out};
use super::reject::{Rejection, Signal, Threshold};
use super::sample::Sample;
use super::temperature::{self, Labeled};
use crate::error::{Error, Result};
use crate::method::Method;
use crate::recognize::Scores;
use crate::task::{Candidates, Task};

/// Folds where nobody says: each is a fit.
pub const CALIBRATION_FOLDS: usize = 3;
/// The largest share of the known classes that act as unseen ones: the others are learned from.
const MAX_CLASS_SHARE: f64 = 0.5;

/// All that prediction needs to say how sure it is, for any rate and coverage that may be asked later.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// How many folds it was measured on.
    pub folds: usize,
    /// Temperature of the softmax that turns scores into probabilities.
    pub temperature: f64,
    /// Nonconformities of the right classes.
    pub nonconformity: Sample,
    /// Signals by which instances are rejected.
    pub rejection: Rejection,
}

/// What is asked of predictions beside their labels.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Asked {
    /// Share of the instances of candidate classes that may be taken for none of them.
    pub reject: Option<f64>,
    /// The signal to reject by; the one that tells more where it is left open.
    pub reject_by: Option<Signal>,
    /// Share of the instances whose prediction set is to hold the right class.
    pub coverage: Option<f64>,
}

/// A calibration with what is asked of it: the same for every instance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answering {
    /// Temperature of the softmax.
    pub temperature: f64,
    /// When to answer "none of these".
    pub reject: Option<Threshold>,
    /// The largest nonconformity within a prediction set.
    pub set_bound: Option<f64>,
}

impl Calibration {
    /// Fits a method to folds of a task's known classes and measures it on what was held out. Candidates are the held-out
    /// classes, as many in each fold as there are unseen ones (a half of the known ones at most).
    ///
    /// # Errors
    /// Those of [`held_out`].
    pub fn new(task: &Task, method: &Method, folds: usize, seed: u64, watch: &dyn Observer) -> Result<Self> {
        let share = task.unseen.len() as f64 / task.known.len() as f64;
        let hold_out = HoldOut {
            folds,
            class_share: share.min(MAX_CLASS_SHARE),
            ..HoldOut::like(task, Candidates::Unseen, seed)
        };
        Ok(Self::of(&held_out(task, method, &hold_out, watch)?))
    }

    /// The same where known and unseen classes compete, with the biases of known classes from the same folds.
    ///
    /// # Errors
    /// Those of [`held_out`].
    pub fn generalized(
        task: &Task,
        method: &Method,
        hold_out: &HoldOut,
        watch: &dyn Observer,
    ) -> Result<(Biases, Self)> {
        let (biases, folds) = calibrated_folds(task, method, hold_out, watch)?;
        Ok((biases, Self::of(&folds)))
    }

    /// Measures the scores of folds.
    pub fn of(folds: &[HeldOutScores]) -> Self {
        let sets: Vec<Labeled<'_>> = folds.iter().map(|fold| (&fold.scores, fold.truth.as_slice())).collect();
        Self {
            folds: folds.len(),
            temperature: temperature::fit(&sets),
            nonconformity: nonconformities(&sets),
            rejection: Rejection::fit(&sets),
        }
    }

    /// How instances are answered.
    ///
    /// # Errors
    /// [`Error::Setting`] for shares that are none.
    pub fn answering(&self, asked: &Asked) -> Result<Answering> {
        asked.reject.map_or(Ok(()), |rate| check("reject", rate, (0.0..1.0).contains(&rate)))?;
        asked.coverage.map_or(Ok(()), |share| check("coverage", share, share > 0.0 && share < 1.0))?;
        Ok(Answering {
            temperature: self.temperature,
            reject: asked.reject.map(|rate| self.rejection.threshold(rate, asked.reject_by)),
            set_bound: asked.coverage.map(|share| self.nonconformity.bound(share)),
        })
    }
}

impl Answering {
    /// Whether an instance is none of the candidates.
    pub fn rejects(&self, scores: &Scores, instance: usize) -> bool {
        self.reject.is_some_and(|threshold| threshold.rejects(scores.values.col_as_slice(instance)))
    }

    /// The size of the prediction set of an instance, which has its best classes; none where no coverage was asked for.
    pub fn set_size(&self, scores: &Scores, instance: usize) -> Option<usize> {
        self.set_bound.map(|bound| prediction_set(scores, instance, bound).len())
    }
}

fn check(setting: &'static str, found: f64, sound: bool) -> Result<()> {
    let expected = || "a share between 0 and 1".into();
    if sound {
        Ok(())
    } else {
        Err(Error::Setting { setting, expected: expected(), found: found.to_string() })
    }
}
