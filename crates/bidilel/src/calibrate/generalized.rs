//! Calibrated stacking: the bias of known classes after every step of a recognition.

use serde::{Deserialize, Serialize};

use bidilel_math::Observer;

use super::held_out::{Recognized, curves, recognized};
use super::{Curve, HeldOutScores, HoldOut, SeenUnseen, best_bias};
use crate::error::Result;
use crate::method::{AnyFitted, FittedMethod, Method};
use crate::post::{BesideKnown, Post};
use crate::recognize::{Candidates, Recognition, Scores};
use crate::task::{Prepared, Task};

/// How well a batch of known and unseen classes was recognized.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Generalized {
    /// With the bias.
    #[serde(flatten)]
    pub calibrated: SeenUnseen,
    /// Area under the curve of the two accuracies, over all biases.
    pub ausuc: f64,
    /// What was subtracted from the scores of known classes.
    pub bias: f64,
    /// Without the bias.
    pub uncalibrated: SeenUnseen,
}

impl Generalized {
    /// The figures of scores whose first `known` candidates are the known classes, with this bias.
    pub fn of(scores: &Scores, known: usize, truth: &[usize], bias: f64) -> Self {
        let curve = Curve::new(scores, known, truth);
        Self { calibrated: curve.at(bias), ausuc: curve.area(), bias, uncalibrated: curve.at(0.0) }
    }
}

/// What is subtracted from the scores of known classes before they compete with unseen ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Biases {
    /// From those of the method itself. It also says which instances refiners look at.
    pub inductive: f64,
    /// From those after each refiner.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refined: Vec<f64>,
}

impl Biases {
    /// After the last step.
    pub fn last(&self) -> f64 {
        self.refined.last().copied().unwrap_or(self.inductive)
    }

    /// Refines a batch of known and unseen classes, of which the first `known` candidates are known. `step` gets the
    /// recognition after each step with its bias, by name; neither has the bias subtracted.
    ///
    /// # Errors
    /// Those of the refiners.
    pub fn refined(
        &self,
        first: &str,
        found: Recognition,
        known: usize,
        post: &[Post],
        mut step: impl FnMut(&str, &Recognition, f64),
    ) -> Result<Recognition> {
        let mut biases = std::iter::once(self.inductive).chain(self.refined.iter().copied());
        let each = |name: &str, found: &Recognition| step(name, found, biases.next().unwrap_or(self.last()));
        BesideKnown { known, bias: self.inductive }.refined(first, found, post, each)
    }

    /// Recognizes a batch among all classes, refiners included; `step` as in [`Self::refined`].
    ///
    /// # Errors
    /// Those of the recognition and of the refiners.
    pub fn recognize(
        &self,
        (method, fitted): (&Method, &AnyFitted),
        instances: Prepared<'_>,
        known: usize,
        step: impl FnMut(&str, &Recognition, f64),
    ) -> Result<Recognition> {
        let found = fitted.recognize(instances, Candidates::All)?;
        self.refined(&method.kind().to_string(), found, known, method.post(), step)
    }
}

/// Chooses the biases of a method on held-out known classes of a task, by the harmonic mean of the accuracies on known and
/// on held-out classes. Test instances are not looked at.
///
/// # Errors
/// Those of [`held_out`](super::held_out).
pub fn calibrate(task: &Task, method: &Method, hold_out: &HoldOut, watch: &dyn Observer) -> Result<Biases> {
    Ok(calibrated_folds(task, method, hold_out, watch)?.0)
}

/// The same with what was held out in the folds, whose scores have the last bias.
pub(super) fn calibrated_folds(
    task: &Task,
    method: &Method,
    hold_out: &HoldOut,
    watch: &dyn Observer,
) -> Result<(Biases, Vec<HeldOutScores>)> {
    let hold_out = HoldOut { candidates: Candidates::All, ..*hold_out };
    let folds = recognized(task, method, &hold_out, watch)?;
    let inductive = best_bias(&curves(&folds));
    let post = method.post();
    // One list of curves per refiner, with one curve per fold.
    let mut refined: Vec<Vec<Curve>> = vec![Vec::new(); post.len()];
    let mut last = Vec::with_capacity(folds.len());
    for Recognized { found, known, truth, classes } in folds {
        let mut steps = 0;
        let found = BesideKnown { known, bias: inductive }.refined("", found, post, |_, found| {
            if steps > 0 {
                refined[steps - 1].push(Curve::new(&found.scores, known, &truth));
            }
            steps += 1;
        })?;
        last.push(HeldOutScores { scores: found.scores, known, truth, classes });
    }
    let biases = Biases { inductive, refined: refined.iter().map(|curves| best_bias(curves)).collect() };
    let biased = |fold: HeldOutScores| HeldOutScores {
        scores: fold.scores.calibrated(fold.known, biases.last()),
        ..fold
    };
    let last = last.into_iter().map(biased).collect();
    Ok((biases, last))
}
