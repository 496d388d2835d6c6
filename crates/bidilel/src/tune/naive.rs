//! One whole fit per setting and fold: what shared scores must agree with, and what they are measured against.

use bidilel_math::Observer;

use crate::calibrate::{Curve, best_bias};
use crate::dataset::Dataset;
use crate::error::Result;
use crate::method::{FittedMethod, Method, ZeroShotMethod};
use crate::metrics::{class_accuracies, confusion};
use crate::post::{Batch, BesideKnown, Post, counts};
use crate::recognize::{Candidates, Recognition, Scores};
use crate::settings::Settings;
use crate::split::Trial;
use crate::task::Task;

/// The per-class accuracy of one setting on one fold, or its harmonic mean where the fold tests known classes.
pub fn score(
    dataset: &Dataset,
    fold: &Trial,
    settings: &Settings,
    seed: u64,
    watch: &dyn Observer,
) -> Result<f64> {
    fit_and_score(&Task::new(dataset, fold, &settings.choice(dataset)?, watch)?, settings, seed, watch)
}

/// Fits a setting to the known classes of a task and returns the per-class accuracy on its held-out classes; where it tests
/// known classes, too, the largest harmonic mean of the two accuracies.
///
/// Everything that shares no work with other settings is tuned through this function.
pub(super) fn fit_and_score(
    task: &Task,
    settings: &Settings,
    seed: u64,
    watch: &dyn Observer,
) -> Result<f64> {
    if task.candidates() == Candidates::All {
        let scores = recognized(task, settings, seed, watch)?;
        return Ok(Curve::new(&scores, task.known.len(), &task.truth(Candidates::All)).best_harmonic());
    }
    let shares = class_scores(task, settings, seed, watch)?;
    Ok(shares.iter().sum::<f64>() / shares.len().max(1) as f64)
}

/// Fits a setting to the known classes of a task and returns the accuracy of each candidate that has instances.
pub(super) fn class_scores(
    task: &Task,
    settings: &Settings,
    seed: u64,
    watch: &dyn Observer,
) -> Result<Vec<f64>> {
    let candidates = task.candidates();
    let (truth, known) = (task.truth(candidates), task.known.len());
    let mut scores = recognized(task, settings, seed, watch)?;
    if candidates == Candidates::All {
        let bias = best_bias(&[Curve::new(&scores, known, &truth)]);
        scores = scores.calibrated(known, bias);
    }
    let confusion = confusion(&scores.labels(), &truth, scores.classes());
    Ok(class_accuracies(&confusion).into_iter().flatten().collect())
}

/// The scores of the candidates of a task, refiners included, for its test instances.
fn recognized(task: &Task, settings: &Settings, seed: u64, watch: &dyn Observer) -> Result<Scores> {
    let method = Method::from_settings(settings, seed);
    let fitted = method.fit(task, watch)?;
    watch.stage("recognize");
    let (candidates, known) = (task.candidates(), task.known.len());
    if candidates != Candidates::All {
        let counts = counts(&task.test.labels, 0, task.unseen.len());
        let batch = Batch::held_out(&counts);
        return Ok(method.recognize(&fitted, task.test.prepared(), candidates, &batch, |_, _| ())?.scores);
    }
    let batch = task.batch(candidates);
    let found = fitted.recognize(batch.prepared(), candidates)?;
    Ok(refined_at_best(found, known, &batch.labels, method.post())?.scores)
}

/// Refines a recognition of known and held-out classes, with the bias before refinement that is best for them.
pub(super) fn refined_at_best(
    found: Recognition,
    known: usize,
    truth: &[usize],
    post: &[Post],
) -> Result<Recognition> {
    if post.is_empty() {
        return Ok(found);
    }
    let bias = best_bias(&[Curve::new(&found.scores, known, truth)]);
    let counts = counts(truth, known, found.scores.classes());
    BesideKnown { known, bias }.refined("", found, post, &Batch::held_out(&counts), |_, _| ())
}
