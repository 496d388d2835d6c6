//! `tune`: settings chosen on known classes, as the program chooses them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bidilel::dataset::Dataset as Data;
use bidilel::settings::Settings;
use bidilel::split::{Trial, Trials};
use bidilel::tune::{Axis, Evaluator, FOLDS, Holdout, Host, Plan, Rule, SHARE, Stage, Strategy, folds};
use bidilel::{Error, Observer};
use bidilel_report::Tuning;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Map, Value};

use crate::dataset::Dataset;
use crate::evaluate::Splits;
use crate::failure::Failure;
use crate::json::versioned;
use crate::run::{Running, run};
use crate::settings;
use crate::watch::Watch;

/// What to hold out, and when to stop.
#[derive(FromPyObject)]
pub(crate) struct Search {
    #[pyo3(item)]
    strategy: String,
    #[pyo3(item)]
    samples: usize,
    #[pyo3(item)]
    auto: bool,
    #[pyo3(item)]
    holdout: Option<f64>,
    #[pyo3(item)]
    trials: Option<usize>,
    #[pyo3(item)]
    seconds: Option<f64>,
    #[pyo3(item)]
    evaluations: Option<usize>,
}

impl Search {
    /// Which of so many known classes are held out.
    pub(crate) fn held_out(&self, known: usize, seed: u64) -> Holdout {
        let (share, folds) = (self.holdout.unwrap_or(SHARE), self.trials.unwrap_or(FOLDS));
        let holdout = match (self.holdout, self.trials) {
            (None, None) => Holdout::Matched { share, folds, seed },
            _ => Holdout::Random { share, folds, seed },
        };
        if self.auto { holdout.among_pipelines(known) } else { holdout }
    }

    /// The host of a search that began now.
    pub(crate) fn host<'a>(&self, watch: &'a Watch) -> Caller<'a> {
        let ends = self.seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        Caller { watch, ends: ends.map(|time| Instant::now() + time), evaluations: self.evaluations }
    }

    fn plan(&self, base: Settings, axes: Vec<Axis>, seed: u64) -> PyResult<Plan> {
        let strategy = match self.strategy.as_str() {
            "paper" => Strategy::Paper,
            "grid" => Strategy::Grid,
            "random" => Strategy::Random { samples: self.samples },
            "halving" => Strategy::Halving,
            other => {
                let message = format!("strategy must be one of paper, grid, random, halving, found {other}");
                return Err(PyValueError::new_err(message));
            }
        };
        Ok(Plan { base, axes, strategy, rule: Rule::Sure { refined: true }, auto: self.auto, seed })
    }
}

/// The Python side of a search: progress, and when to stop.
pub(crate) struct Caller<'a> {
    watch: &'a Watch,
    ends: Option<Instant>,
    evaluations: Option<usize>,
}

impl Host for Caller<'_> {
    fn planned(&self, stage: Stage, evaluations: usize) {
        self.watch.stage(stage.name());
        self.watch.plan(evaluations);
    }

    fn evaluated(&self, _: &Settings, _: usize, _: f64) {
        self.watch.count();
    }

    fn evaluations_left(&self, used: usize) -> usize {
        self.evaluations.map_or(usize::MAX, |most| most.saturating_sub(used))
    }

    fn may_continue(&self) -> bool {
        self.watch.poll().is_continue() && self.ends.is_none_or(|ends| Instant::now() < ends)
    }
}

/// The one trial that is learned from.
pub(crate) fn one_trial(found: Trials) -> Result<Trial, Failure> {
    let Trials { split, mut trials, .. } = found;
    if trials.len() != 1 {
        let count = trials.len();
        return Err(anyhow::anyhow!("split `{split}` has {count} trials: name one, as in {split}:0").into());
    }
    Ok(trials.remove(0))
}

/// Chooses settings on held-out known classes: those of `grid`, a JSON object of lists, or all that the strategy tries.
#[pyfunction]
#[pyo3(signature = (dataset, settings, grid, *, splits, search, seed, running))]
#[expect(clippy::too_many_arguments, reason = "a call from Python, which names them")]
pub(crate) fn tune(
    py: Python<'_>,
    dataset: &Bound<'_, Dataset>,
    settings: &str,
    grid: &str,
    splits: Splits,
    search: Search,
    seed: u64,
    running: Running,
) -> PyResult<String> {
    let base = settings::parse(settings)?;
    let plan = search.plan(base, axes(grid)?, seed)?;
    let data: Arc<Data> = Arc::clone(&dataset.get().inner);
    let split = splits.choice(seed);
    let tuned = run(py, &running, |watch| {
        let started = Instant::now();
        let found = split.trials(&data)?;
        let drawn = found.drawn;
        let trial = one_trial(found)?;
        let choice = plan.base.choice(&data)?;
        let folds = folds(&data, &trial, search.held_out(trial.known.len(), seed))?;
        let mut evaluator = Evaluator::new(Arc::clone(&data), &trial, folds, &choice, seed, watch)?;
        let outcome = plan.run(&mut evaluator, &search.host(watch), watch)?;
        if watch.poll().is_break() {
            return Err(Error::Cancelled.into());
        }
        let seconds = started.elapsed().as_secs_f64();
        let tuning = Tuning::of(&outcome, &trial.name, Vec::new(), seconds, evaluator.searched());
        Ok(Tuning { random_splits: drawn, ..tuning })
    })?;
    versioned(&tuned)
}

/// The settings to vary, with the values to try.
fn axes(grid: &str) -> Result<Vec<Axis>, Failure> {
    let unreadable = |cause| Error::Unreadable { cause };
    let grid: Map<String, Value> = serde_json::from_str(grid).map_err(unreadable)?;
    let axis = |(name, values): (String, Value)| {
        let values = match values {
            Value::Array(values) => values,
            one => vec![one],
        };
        for value in &values {
            settings::combined(&Map::from_iter([(name.clone(), value.clone())]))?;
        }
        let axis = Axis { name, values };
        for settings in axis.over(&Settings::default())? {
            settings.check()?;
        }
        Ok(axis)
    };
    grid.into_iter().map(axis).collect()
}
