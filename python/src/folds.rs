//! Folds of classes, drawn as tuning draws them.

use bidilel::dataset::Metric;
use bidilel::tune::{Holdout, folds};
use bidilel::{Dataset, Mat};
use pyo3::prelude::*;

use crate::failure::Failure;

/// The classes that each of several folds holds out: indices below `classes`, ascending.
#[pyfunction]
pub(crate) fn class_folds(classes: usize, share: f64, count: usize, seed: u64) -> PyResult<Vec<Vec<usize>>> {
    // The draw looks at nothing but the classes: a dataset of one instance of each, and one class that is unseen.
    let dataset = Dataset::builder("classes")
        .classes((0..=classes).map(|class| class.to_string()))
        .labels((0..=classes).collect::<Vec<_>>())
        .visual("none", Mat::<f32>::zeros(1, classes + 1))
        .semantic("none", Metric::Euclidean, Mat::from_fn(1, classes + 1, |_, _| 1.0))
        .unseen("all", [classes.to_string()])
        .build()
        .map_err(Failure::from)?;
    let trial = dataset.trials(None).map_err(Failure::from)?.remove(0);
    let drawn =
        folds(&dataset, &trial, Holdout::Random { share, folds: count, seed }).map_err(Failure::from)?;
    Ok(drawn.into_iter().map(|fold| fold.unseen).collect())
}
