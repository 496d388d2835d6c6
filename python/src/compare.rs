//! `compare`: several methods on the same trials.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use bidilel::Error;
use bidilel::compare::{Contender, Contest};
use bidilel::evaluate::Run;
use bidilel::metrics::class_accuracies;
use bidilel::settings::Settings;
use bidilel::split::Trials;
use bidilel_report::{Comparison, ComparisonHead, Entry, Measurement};
use pyo3::prelude::*;

use crate::dataset::Dataset;
use crate::evaluate::Splits;
use crate::failure::Failure;
use crate::json::versioned;
use crate::run::{Running, run};
use crate::settings;
use crate::tune::Search;
use crate::watch::Watch;

/// Runs methods on the same trials and returns their scores as JSON, best first.
#[pyfunction]
#[pyo3(signature = (dataset, methods, settings, *, splits, test_seen_share, tune, search, seed, running))]
#[expect(clippy::too_many_arguments, reason = "a call from Python, which names them")]
pub(crate) fn compare(
    py: Python<'_>,
    dataset: &Bound<'_, Dataset>,
    methods: Vec<String>,
    settings: &str,
    splits: Splits,
    test_seen_share: Option<f64>,
    tune: bool,
    search: Search,
    seed: u64,
    running: Running,
) -> PyResult<String> {
    let base = settings::parse(settings)?;
    let contenders = contenders(&methods, &base)?;
    let data = Arc::clone(&dataset.get().inner);
    let split = splits.choice(seed);
    let compared = run(py, &running, |watch| {
        let started = Instant::now();
        let trials = split.trials(&data)?.with_test_seen(&data, test_seen_share, seed)?;
        let Trials { split, trials, drawn } = trials;
        let choice = base.choice(&data)?;
        let race = Race { search: &search, tune, seed, watch };
        let mut entries: Vec<Entry> = contenders.iter().map(entry).collect();
        for trial in trials {
            let mut contest = Contest::new(Arc::clone(&data), trial, &base, seed, watch)?;
            let running = contenders.iter().zip(&mut entries).filter(|(_, entry)| entry.error.is_none());
            for (contender, entry) in running {
                match race.measure(&mut contest, contender) {
                    Ok(measurement) => entry.runs.push(measurement),
                    Err(Error::Cancelled) => return Err(Error::Cancelled.into()),
                    // A failure of one method is not one of the comparison.
                    Err(error) => entry.error = Some(error.to_string()),
                }
            }
        }
        if let Some(first) = entries.iter().find_map(|entry| entry.error.clone())
            && entries.iter().all(|entry| entry.error.is_some())
        {
            return Err(anyhow::anyhow!("no method could be run; the first says: {first}").into());
        }
        let head = ComparisonHead {
            dataset: data.name.clone(),
            split,
            random_splits: drawn,
            visual: choice.visual.iter().map(|view| view.name.clone()).collect(),
            semantic: choice.semantic.iter().map(|(name, _)| name.clone()).collect(),
            tuned: tune,
            seconds: started.elapsed().as_secs_f64(),
        };
        Ok(Comparison::of(head, entries))
    })?;
    versioned(&compared)
}

fn entry(contender: &Contender) -> Entry {
    Entry {
        method: contender.name.clone(),
        kind: contender.kind(),
        settings: contender.settings.clone(),
        runs: Vec::new(),
        error: None,
    }
}

/// What is to be compared: each once.
fn contenders(names: &[String], base: &Settings) -> Result<Vec<Contender>, Failure> {
    let mut all: Vec<Contender> = Vec::new();
    for name in names {
        for one in Contender::parse(name, base)? {
            if all.iter().all(|other| other.name != one.name) {
                all.push(one);
            }
        }
    }
    Ok(all)
}

/// Runs contenders and measures what they cost.
struct Race<'a> {
    search: &'a Search,
    tune: bool,
    seed: u64,
    watch: &'a Watch,
}

impl Race<'_> {
    fn measure(&self, contest: &mut Contest, contender: &Contender) -> bidilel::Result<Measurement> {
        let began = Instant::now();
        let tuned = self.tune || contender.auto;
        let settings = if tuned {
            // The number of known classes decides only where the whole pipeline is searched, which `compare` does not ask.
            let holdout = self.search.held_out(0, self.seed);
            contest.tune(contender, holdout, &self.search.host(self.watch), self.watch)?
        } else {
            contender.settings.clone()
        };
        let tuning_seconds = tuned.then(|| began.elapsed().as_secs_f64());
        let began = Instant::now();
        let run = contest.run(&settings, self.seed, &[1], self.watch)?;
        Ok(Measurement {
            split: contest.trial().to_owned(),
            seed: self.seed,
            per_class: run.accuracy().per_class,
            per_image: run.accuracy().per_image,
            generalized: run.generalized,
            classes: accuracies(&run),
            candidates: Some(run.classes.len()),
            seconds: began.elapsed().as_secs_f64(),
            tuning_seconds,
            peak_memory: None,
            settings: settings.effective(),
        })
    }
}

/// The accuracy of every unseen class that has instances.
fn accuracies(run: &Run) -> BTreeMap<String, f64> {
    let all = run.classes.iter().cloned().zip(class_accuracies(&run.confusion)).skip(run.known);
    all.filter_map(|(name, accuracy)| Some((name, accuracy?))).collect()
}
