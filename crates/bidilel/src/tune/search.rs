//! Scores that are kept: a setting is evaluated once on a fold, whichever stage asks for it.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use bidilel_math::statistics::Summary;
use bidilel_math::{Observer, Scalar};

use super::evaluator::Evaluator;
use super::grid::{distinct, key};
use super::{Host, Scored};
use crate::error::{Error, Result};
use crate::settings::Settings;

/// Two means that differ by less are a tie; ties go to the first.
pub(super) const TIE: f64 = 1e-12;

/// A search under way.
pub(crate) struct Search<'s, 'd, T> {
    evaluator: &'s mut Evaluator<'d, T>,
    host: &'s dyn Host,
    watch: &'s dyn Observer,
    scores: HashMap<String, Vec<Option<f64>>>,
    /// Every setting that was scored, in order, with the stage that first asked for it.
    seen: Vec<(&'static str, Settings)>,
    told: HashSet<usize>,
    first_failure: Option<Error>,
    /// Why settings cannot be fitted, by their keys.
    problems: HashMap<String, String>,
    used: usize,
    pub(crate) stopped: bool,
}

impl<'s, 'd, T: Scalar> Search<'s, 'd, T> {
    pub(crate) fn new(
        evaluator: &'s mut Evaluator<'d, T>,
        host: &'s dyn Host,
        watch: &'s dyn Observer,
    ) -> Self {
        Self {
            evaluator,
            host,
            watch,
            scores: HashMap::new(),
            seen: Vec::new(),
            told: HashSet::new(),
            first_failure: None,
            problems: HashMap::new(),
            used: 0,
            stopped: false,
        }
    }

    pub(crate) fn folds(&self) -> usize {
        self.evaluator.folds()
    }

    /// Makes neighbour lists for all that may come, at once.
    pub(crate) fn prepare(&mut self, all: &[Settings]) -> Result<()> {
        self.evaluator.prepare(all, self.watch)
    }

    /// Clips what cannot be, and drops what is there twice.
    pub(crate) fn admit(&mut self, batch: Vec<Settings>) -> Vec<Settings> {
        let clip = |settings: Settings| {
            let (clipped, asked) = self.evaluator.clipped(&settings);
            if let (Some(asked), Some(dim)) = (asked, clipped.dim)
                && self.told.insert(asked)
            {
                let text = format!("there are no {asked} latent dimensions here: {dim} are tried instead");
                self.watch.note(&text);
            }
            clipped
        };
        distinct(batch.into_iter().map(clip).collect())
    }

    /// Scores a batch on the first `folds` folds.
    pub(crate) fn score(&mut self, stage: &'static str, batch: &[Settings], folds: usize) -> Result<()> {
        if self.stopped {
            return Ok(());
        }
        let left = self.host.evaluations_left(self.used);
        let affordable = left / folds.max(1);
        self.stopped = affordable < batch.len();
        let (whole, rest) = batch.split_at(batch.len().min(affordable));
        self.score_affordable(stage, whole, folds)?;
        match (rest, left % folds.max(1)) {
            // What is left of a budget is for the first folds of the next setting.
            ([next, ..], 1..) => self.score_affordable(stage, std::slice::from_ref(next), left % folds),
            _ => Ok(()),
        }
    }

    fn score_affordable(&mut self, stage: &'static str, batch: &[Settings], folds: usize) -> Result<()> {
        self.used += batch.len() * folds;
        let keys: Vec<String> = batch.iter().map(key).collect();
        for (settings, key) in batch.iter().zip(&keys) {
            let scores = self.scores.entry(key.clone()).or_insert_with(|| {
                self.seen.push((stage, settings.clone()));
                vec![None; self.evaluator.folds()]
            });
            // Not beyond these folds: a memory must not tell more than the search has asked for.
            for (fold, score) in scores.iter_mut().enumerate().take(folds) {
                *score = score.or_else(|| self.host.recall(key, fold));
            }
        }
        self.host.planned(stage, batch.len() * folds);
        for portion in self.evaluator.portions(batch) {
            let settings: Vec<Settings> = portion.iter().map(|&at| batch[at].clone()).collect();
            let keys: Vec<String> = portion.iter().map(|&at| keys[at].clone()).collect();
            self.score_portion(&settings, &keys, folds)?;
            if self.stopped && !self.host.may_continue() {
                break;
            }
        }
        Ok(())
    }

    /// Scores settings that share their work on the first `folds` folds.
    fn score_portion(&mut self, batch: &[Settings], keys: &[String], folds: usize) -> Result<()> {
        for (settings, key) in batch.iter().zip(keys) {
            for (fold, score) in self.scores[key][..folds].iter().enumerate() {
                score.iter().for_each(|&score| self.host.evaluated(settings, fold, score));
            }
        }
        let open = |key: &String| self.scores[key][..folds].contains(&None);
        if keys.iter().any(open) {
            self.evaluator.share(batch, folds, self.watch)?;
            self.score_folds(0..folds, batch, keys, true)?;
        }
        // What there are no common matrices for.
        for fold in (0..folds).take_while(|_| self.host.may_continue()) {
            self.score_folds(fold..fold + 1, batch, keys, false)?;
        }
        self.evaluator.settle();
        Ok(())
    }

    /// Scores what is still open on some folds, all of them together or one alone.
    fn score_folds(
        &mut self,
        folds: Range<usize>,
        batch: &[Settings],
        keys: &[String],
        together: bool,
    ) -> Result<()> {
        let (host, watch) = (self.host, self.watch);
        let wanted = |fold: usize| keys.iter().map(|key| self.scores[key][fold].is_none()).collect();
        let wanted: Vec<Vec<bool>> = folds.clone().map(wanted).collect();
        let found = Mutex::new((Vec::new(), Vec::new()));
        let report = |fold: usize, job: usize, score: Result<f64>| {
            // A setting that cannot be fitted loses; it is no reason to give up the others.
            let score = match score {
                Ok(score) => {
                    host.record(&keys[job], fold, score)?;
                    score
                }
                // Not recorded: another run finds out again, and why.
                Err(failure) => {
                    watch.note(&format!("{}: {failure}", keys[job]));
                    found.lock().unwrap_or_else(PoisonError::into_inner).1.push((job, failure));
                    0.0
                }
            };
            host.evaluated(&batch[job], fold, score);
            found.lock().unwrap_or_else(PoisonError::into_inner).0.push((fold, job, score));
            Ok(host.may_continue())
        };
        if together {
            self.evaluator.score_together(batch, &wanted, &report, watch)?;
        } else {
            for (fold, wanted) in folds.zip(&wanted) {
                let report = |job: usize, score: Result<f64>| report(fold, job, score);
                self.evaluator.score(fold, batch, wanted, &report, watch)?;
            }
        }
        let (scores, failures) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (job, failure) in failures {
            self.problems.entry(keys[job].clone()).or_insert_with(|| failure.to_string());
            self.first_failure.get_or_insert(failure);
        }
        for (fold, job, score) in scores {
            if let Some(known) = self.scores.get_mut(&keys[job]) {
                known[fold] = Some(score);
            }
        }
        self.stopped |= !host.may_continue();
        Ok(())
    }

    /// What is known of a setting.
    pub(crate) fn scored(&self, stage: &'static str, settings: &Settings) -> Scored {
        let scores = self.scores.get(&key(settings)).into_iter().flatten().flatten().copied().collect();
        let problem = self.problems.get(&key(settings)).cloned();
        scored(stage, settings.clone(), scores, problem)
    }

    /// A setting judged by the mean over its variants on every fold that all of them have.
    pub(crate) fn judged(&self, stage: &'static str, settings: &Settings, variants: &[Settings]) -> Scored {
        let parts: Vec<Scored> = variants.iter().map(|one| self.scored(stage, one)).collect();
        let problem = parts.iter().find_map(|part| part.problem.clone());
        let parts: Vec<Vec<f64>> = parts.into_iter().map(|part| part.scores).collect();
        let folds = parts.iter().map(Vec::len).min().unwrap_or(0);
        let mean = |fold: usize| parts.iter().map(|part| part[fold]).sum::<f64>() / parts.len() as f64;
        scored(stage, settings.clone(), (0..folds).map(mean).collect(), problem)
    }

    /// The first of the best.
    ///
    /// What can be fitted counts before what cannot, and more folds before a higher mean: with a budget some settings
    /// may not get to all.
    pub(crate) fn best(judged: &[Scored]) -> Result<Settings> {
        let mut best: Option<&Scored> = None;
        for one in judged {
            let folds = one.scores.len();
            let better = match best {
                None => folds > 0,
                Some(best) if one.problem.is_some() != best.problem.is_some() => {
                    folds > 0 && one.problem.is_none()
                }
                Some(best) if folds == best.scores.len() => one.mean > best.mean + TIE,
                Some(best) => folds > best.scores.len(),
            };
            if better {
                best = Some(one);
            }
        }
        best.map(|best| best.settings.clone()).ok_or_else(|| Error::Setting {
            setting: "budget",
            expected: "enough for at least one evaluation".into(),
            found: "none finished".to_owned(),
        })
    }

    /// All that was scored, and the first failure where nothing else came of it.
    pub(crate) fn finish(mut self) -> Result<(Vec<Scored>, bool)> {
        let all: Vec<Scored> =
            self.seen.iter().map(|(stage, settings)| self.scored(stage, settings)).collect();
        let all: Vec<Scored> = all.into_iter().filter(|one| !one.scores.is_empty()).collect();
        match self.first_failure.take() {
            Some(failure) if all.iter().all(|one| one.mean <= 0.0) => Err(failure),
            _ => Ok((all, self.stopped)),
        }
    }
}

fn scored(stage: &'static str, settings: Settings, scores: Vec<f64>, problem: Option<String>) -> Scored {
    let Summary { mean, standard_error, .. } = Summary::of(&scores);
    Scored { stage, settings, scores, mean, standard_error, problem }
}
