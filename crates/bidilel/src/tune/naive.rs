//! The same scores without sharing: one whole fit for every setting and fold.
//!
//! What tuning must agree with, and what it is measured against.

use bidilel_math::Observer;

use crate::dataset::Dataset;
use crate::error::Result;
use crate::metrics::accuracy;
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
    let task = Task::new(dataset, fold, &settings.choice(dataset)?, watch)?;
    let pipeline = settings.pipeline(seed);
    let fitted = pipeline.fit(&task, watch)?;
    let found = pipeline.recognize(&fitted, task.test.features.as_ref(), watch)?;
    Ok(accuracy(&found.labels(), &task.test.labels, task.unseen.len()).per_class)
}
