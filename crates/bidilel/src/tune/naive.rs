//! One whole fit per setting and fold: what shared scores must agree with, and what they are measured against.

use bidilel_math::Observer;

use crate::dataset::Dataset;
use crate::error::Result;
use crate::method::{Method, ZeroShotMethod};
use crate::metrics::{class_accuracies, confusion};
use crate::recognize::Candidates;
use crate::settings::Settings;
use crate::split::Trial;
use crate::task::Task;

/// The per-class accuracy of one setting on one fold.
pub fn score(
    dataset: &Dataset,
    fold: &Trial,
    settings: &Settings,
    seed: u64,
    watch: &dyn Observer,
) -> Result<f64> {
    fit_and_score(&Task::new(dataset, fold, &settings.choice(dataset)?, watch)?, settings, seed, watch)
}

/// Fits a setting to the known classes of a task and returns the per-class accuracy on its held-out classes.
///
/// Everything that shares no work with other settings is tuned through this function.
pub(super) fn fit_and_score(
    task: &Task,
    settings: &Settings,
    seed: u64,
    watch: &dyn Observer,
) -> Result<f64> {
    let shares = class_scores(task, settings, seed, watch)?;
    Ok(shares.iter().sum::<f64>() / shares.len().max(1) as f64)
}

/// Fits a setting to the known classes of a task and returns the accuracy of each held-out class that has instances.
pub(super) fn class_scores(
    task: &Task,
    settings: &Settings,
    seed: u64,
    watch: &dyn Observer,
) -> Result<Vec<f64>> {
    let method = Method::from_settings(settings, seed);
    let fitted = method.fit(task, watch)?;
    watch.stage("recognize");
    let found = method.recognize(&fitted, task.test.prepared(), Candidates::Unseen, |_, _| ())?;
    let confusion = confusion(&found.labels(), &task.test.labels, task.unseen.len());
    Ok(class_accuracies(&confusion).into_iter().flatten().collect())
}
