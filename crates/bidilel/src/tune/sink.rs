//! Where the scores of a batch go, from any thread: which are missing, which were found, and whether to go on.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bidilel_math::Observer;

use super::Host;
use super::grid::key;
use crate::error::{Error, Result};
use crate::settings::Settings;

/// Scores of a batch.
#[derive(Debug)]
pub struct Scores {
    /// By setting, then by fold; none where the search was stopped before. A setting that cannot be fitted scores 0.
    pub values: Vec<Vec<Option<f64>>>,
    /// The settings that cannot be fitted, by index, and why.
    pub failures: Vec<(usize, Error)>,
    /// The accuracy of every held-out class, by setting, as far as they were kept.
    pub(super) classes: HashMap<usize, Vec<f64>>,
}

/// Collects the scores of a batch and passes them on to the host.
pub(super) struct Sink<'a> {
    batch: &'a [Settings],
    keys: Vec<String>,
    host: &'a dyn Host,
    watch: &'a dyn Observer,
    state: Mutex<State>,
}

struct State {
    scores: Scores,
    /// Why no more scores are wanted: the host said so, or cannot go on.
    ended: Option<Result<()>>,
}

impl<'a> Sink<'a> {
    /// For scores on some folds, of which `known` has found some before.
    pub(super) fn new(
        batch: &'a [Settings],
        folds: Range<usize>,
        known: impl Fn(&str, usize) -> Option<f64>,
        host: &'a dyn Host,
        watch: &'a dyn Observer,
    ) -> Self {
        let keys: Vec<String> = batch.iter().map(key).collect();
        let mut values = vec![vec![None; folds.end]; batch.len()];
        for ((settings, key), scores) in batch.iter().zip(&keys).zip(&mut values) {
            for fold in folds.clone() {
                scores[fold] = known(key, fold);
                scores[fold].into_iter().for_each(|score| host.evaluated(settings, fold, score));
            }
        }
        let scores = Scores { values, failures: Vec::new(), classes: HashMap::new() };
        let state = Mutex::new(State { scores, ended: None });
        Self { batch, keys, host, watch, state }
    }

    /// Those of some settings that have no score on a fold and are to have one.
    pub(super) fn wanted(&self, fold: usize, settings: &[usize]) -> Vec<usize> {
        let state = self.state();
        let goes_on = state.ended.is_none() && self.watch.poll().is_continue();
        let wanted = |&setting: &usize| goes_on && state.scores.values[setting][fold].is_none();
        settings.iter().copied().filter(wanted).collect()
    }

    /// Whether there are any.
    pub(super) fn wants(&self, fold: usize, settings: &[usize]) -> bool {
        !self.wanted(fold, settings).is_empty()
    }

    /// Takes the score of a setting on a fold, unless it is known.
    pub(super) fn put(&self, fold: usize, setting: usize, score: Result<f64>) {
        if !self.wants(fold, &[setting]) {
            return;
        }
        let recorded = match score {
            Ok(score) => self.host.record(&self.keys[setting], fold, score).map(|()| score),
            // It loses; that is no reason to give up the others. Not recorded: another run finds out again, and why.
            Err(failure) => {
                self.watch.note(&format!("{}: {failure}", self.keys[setting]));
                self.state().scores.failures.push((setting, failure));
                Ok(0.0)
            }
        };
        let ended = match recorded {
            Ok(score) => {
                self.state().scores.values[setting][fold] = Some(score);
                self.host.evaluated(&self.batch[setting], fold, score);
                (!self.host.may_continue()).then_some(Ok(()))
            }
            Err(fatal) => Some(Err(fatal)),
        };
        if ended.is_some() {
            let mut state = self.state();
            // A failure stays one although another thread is stopped after it.
            state.ended = state.ended.take().filter(Result::is_err).or(ended);
        }
    }

    /// Takes the accuracies of the held-out classes of the only fold.
    pub(super) fn put_classes(&self, setting: usize, accuracies: Vec<f64>) {
        self.state().scores.classes.insert(setting, accuracies);
    }

    /// Takes the reason why these settings have no score on a fold.
    pub(super) fn fail(&self, fold: usize, settings: &[usize], failure: Error) {
        let text = failure.to_string();
        let mut failure = Some(failure);
        for setting in self.wanted(fold, settings) {
            let own = failure.take().unwrap_or_else(|| Error::Shared { text: text.clone() });
            self.put(fold, setting, Err(own));
        }
    }

    /// The best mean over all folds that one of these settings has; missing scores count as 0.
    pub(super) fn best_mean(&self, settings: &[usize]) -> f64 {
        let state = self.state();
        let mean = |&setting: &usize| {
            let scores = &state.scores.values[setting];
            scores.iter().flatten().sum::<f64>() / scores.len().max(1) as f64
        };
        settings.iter().map(mean).fold(0.0, f64::max)
    }

    /// All scores.
    ///
    /// # Errors
    /// What the host could not record a score for; [`Error::Cancelled`].
    pub(super) fn finish(self) -> Result<Scores> {
        Error::unless_cancelled(self.watch)?;
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.ended.unwrap_or(Ok(())).map(|()| state.scores)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
