//! `evaluate`: the object that the program prints.

use bidilel::split::{RandomSplits, SplitChoice, UnseenClasses};
use bidilel::{Dataset as Data, Experiment};
use bidilel_report::Evaluation;
use pyo3::prelude::*;

use crate::dataset::Dataset;
use crate::json::versioned;
use crate::run::{Running, run};
use crate::settings;

/// Which trials: a split by name, or this many random ones with this number or share of unseen classes.
#[derive(FromPyObject)]
pub(crate) struct Splits {
    #[pyo3(item)]
    split: Option<String>,
    #[pyo3(item)]
    random: Option<usize>,
    #[pyo3(item)]
    unseen: Option<f64>,
}

impl Splits {
    /// What the library calls it.
    pub(crate) fn choice(&self, seed: u64) -> SplitChoice {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count is at least 1")]
        let unseen = |number: f64| {
            if number < 1.0 { UnseenClasses::Share(number) } else { UnseenClasses::Count(number as usize) }
        };
        match (&self.split, self.random) {
            (_, Some(count)) => {
                SplitChoice::Random(RandomSplits { count, unseen: self.unseen.map(unseen), seed })
            }
            (Some(name), None) => SplitChoice::Named(name.clone()),
            (None, None) => SplitChoice::First,
        }
    }
}

/// Fits on the known classes, recognizes the unseen ones, and returns the scores as JSON.
#[pyfunction]
#[pyo3(signature = (dataset, settings, *, splits, test_seen_share, seed, repeats, top, running))]
#[expect(clippy::too_many_arguments, reason = "a call from Python, which names them")]
pub(crate) fn evaluate(
    py: Python<'_>,
    dataset: &Bound<'_, Dataset>,
    settings: &str,
    splits: Splits,
    test_seen_share: Option<f64>,
    seed: u64,
    repeats: u16,
    top: Vec<usize>,
    running: Running,
) -> PyResult<String> {
    let settings = settings::parse(settings)?;
    let split = splits.choice(seed);
    let experiment = Experiment { settings, split, test_seen_share, seed, repeats, top };
    // Representations are shared: this copies names and labels.
    let data: Data = (*dataset.get().inner).clone();
    let result = run(py, &running, |watch| {
        settings::note_unused(&experiment.settings, watch);
        let evaluated = bidilel::evaluate(data, &experiment, watch)?;
        Ok(Evaluation::of(evaluated, watch.timings(), watch.checks()))
    })?;
    versioned(&result)
}
