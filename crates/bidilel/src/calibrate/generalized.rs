//! Calibrated stacking: the bias of known classes after every step of a recognition.

use serde::{Deserialize, Serialize};

use bidilel_math::Observer;

use super::held_out::{Recognized, curves, recognized};
use super::{Curve, HeldOutScores, HoldOut, SeenUnseen, best_bias};
use crate::error::Result;
use crate::method::{AnyFitted, FittedMethod, Method};
use crate::post::{Batch, BesideKnown, Post, counts};
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
        batch: &Batch<'_>,
        mut step: impl FnMut(&str, &Recognition, f64),
    ) -> Result<Recognition> {
        let mut biases = std::iter::once(self.inductive).chain(self.refined.iter().copied());
        let each = |name: &str, found: &Recognition| step(name, found, biases.next().unwrap_or(self.last()));
        BesideKnown { known, bias: self.inductive }.refined(first, found, post, batch, each)
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
        batch: &Batch<'_>,
        step: impl FnMut(&str, &Recognition, f64),
    ) -> Result<Recognition> {
        let found = fitted.recognize(instances, Candidates::All)?;
        self.refined(&method.kind().to_string(), found, known, method.post(), batch, step)
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
        let counts = counts(&truth, known, classes.len());
        let batch = Batch::held_out(&counts);
        let found = BesideKnown { known, bias: inductive }.refined("", found, post, &batch, |_, found| {
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

#[cfg(test)]
mod tests {
    #![expect(clippy::float_cmp, reason = "the numbers are exact")]

    use bidilel_math::Silent;

    use super::*;
    use crate::method::{Rr, ZeroShotMethod};
    use crate::pipeline::Pipeline;
    use crate::post::{SelfTraining, Structured};
    use crate::settings::Settings;
    use crate::synthetic::Synthetic;
    use crate::task::Choice;

    fn task(seed: u64) -> Task {
        let dataset = Synthetic { scale: 0.5, ..Synthetic::default() }.generate(seed).expect("data");
        let trial = dataset.trials(None).expect("a split").remove(0);
        let trial = trial.with_test_seen(&dataset, 0.2, 0).expect("test instances of known classes");
        let choice = Choice { candidates: Candidates::All, ..Choice::default() };
        Task::new(&dataset, &trial, &choice, &Silent).expect("a task")
    }

    fn figures(task: &Task, method: &Method) -> (Biases, Generalized) {
        let hold_out = HoldOut::like(task, Candidates::All, 0);
        let biases = calibrate(task, method, &hold_out, &Silent).expect("biases");
        let fitted = method.fit(task, &Silent).expect("a fit");
        let batch = task.batch(Candidates::All);
        let known = task.known.len();
        let found = biases
            .recognize((method, &fitted), batch.prepared(), known, &Batch::UNNAMED, |_, _, _| ())
            .expect("scores");
        let figures = Generalized::of(&found.scores, known, &batch.labels, biases.last());
        (biases, figures)
    }

    /// On average over datasets, on which a bias that was chosen on other classes has no advantage by itself.
    #[test]
    fn calibration_on_known_classes_helps_on_unseen_ones() {
        for method in [Settings::best().pipeline(0).into(), Method::from(Rr::default())] {
            let gain = |seed: u64| {
                let (_, found) = figures(&task(seed), &method);
                assert!(
                    found.calibrated.harmonic <= found.ausuc.sqrt() + 1e-12,
                    "the curve is above the point"
                );
                found.calibrated.harmonic - found.uncalibrated.harmonic
            };
            let gains: Vec<f64> = (0..4).map(gain).collect();
            assert!(gains.iter().sum::<f64>() > 0.0, "{gains:?}");
        }
    }

    #[test]
    fn every_refiner_has_a_bias_and_every_step_its_own() {
        let post = vec![
            Post::SelfTraining(SelfTraining { self_training_neighbors: 10, ..SelfTraining::default() }),
            Post::Structured(Structured::default()),
        ];
        let task = task(1);
        let plain: Method = Pipeline::default().into();
        let refined: Method = Pipeline { post, ..Pipeline::default() }.into();
        let (biases, _) = figures(&task, &refined);
        assert_eq!(biases.refined.len(), 2);
        assert_eq!(biases.inductive, figures(&task, &plain).0.inductive);
        let fitted = refined.fit(&task, &Silent).expect("a fit");
        let mut steps = Vec::new();
        let batch = task.batch(Candidates::All);
        let step = |name: &str, _: &Recognition, bias: f64| steps.push((name.to_owned(), bias));
        biases
            .recognize((&refined, &fitted), batch.prepared(), task.known.len(), &Batch::UNNAMED, step)
            .expect("scores");
        let names: Vec<&str> = steps.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["inductive", "self-training", "structured"]);
        let given: Vec<f64> = steps.iter().map(|(_, bias)| *bias).collect();
        assert_eq!(given, [&[biases.inductive][..], &biases.refined].concat());
        assert_eq!(biases.last(), biases.refined[1]);
    }
}
