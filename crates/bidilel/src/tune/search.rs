//! A search under way: scores by setting and fold, each computed once whichever stage asks for it.

use std::collections::{HashMap, HashSet};

use bidilel_math::statistics::Summary;
use bidilel_math::{Observer, Scalar};

use super::evaluator::Evaluator;
use super::grid::{distinct, key};
use super::sink::Sink;
use super::{Curve, Host, Plan, Scored, Stage};
use crate::error::{Error, Result};
use crate::settings::Settings;

/// Two means that differ by less are a tie; ties go to the first.
pub(super) const TIE: f64 = 1e-12;

/// A plan that is being carried out.
pub(super) struct Search<'s, T> {
    pub(super) plan: &'s Plan,
    pub(super) evaluator: &'s mut Evaluator<T>,
    pub(super) host: &'s dyn Host,
    pub(super) watch: &'s dyn Observer,
    /// Two semantic representations that are judged one by one until their weights are searched for.
    pub(super) singles: Vec<String>,
    pub(super) curves: Vec<Curve>,
    scores: HashMap<String, Vec<Option<f64>>>,
    /// Every setting that was scored, in order, with the stage that first asked for it.
    asked: Vec<(Stage, Settings)>,
    /// Dims that do not exist, of which the user has been told.
    clipped: HashSet<usize>,
    first_failure: Option<Error>,
    /// Why settings cannot be fitted, by their keys.
    problems: HashMap<String, String>,
    evaluations: usize,
    pub(super) stopped: bool,
}

impl<'s, T: Scalar> Search<'s, T> {
    pub(super) fn new(
        plan: &'s Plan,
        evaluator: &'s mut Evaluator<T>,
        host: &'s dyn Host,
        watch: &'s dyn Observer,
    ) -> Self {
        let Settings { semantic, gamma, semantic_weights, .. } = &plan.base;
        let open = gamma.is_none() && semantic_weights.is_none();
        let both = semantic.clone().filter(|names| open && names.len() == 2);
        Self {
            plan,
            evaluator,
            host,
            watch,
            singles: both.unwrap_or_default(),
            curves: Vec::new(),
            scores: HashMap::new(),
            asked: Vec::new(),
            clipped: HashSet::new(),
            first_failure: None,
            problems: HashMap::new(),
            evaluations: 0,
            stopped: false,
        }
    }

    /// Clips dims that do not exist, and drops duplicates.
    pub(super) fn admit(&mut self, batch: Vec<Settings>) -> Vec<Settings> {
        let clip = |settings: Settings| {
            let (clipped, asked) = self.evaluator.clipped(&settings);
            if let (Some(asked), Some(dim)) = (asked, clipped.dim)
                && self.clipped.insert(asked)
            {
                let text = format!("there are no {asked} latent dimensions here: {dim} are tried instead");
                self.watch.note(&text);
            }
            clipped
        };
        distinct(batch.into_iter().map(clip).collect())
    }

    /// Scores a batch on the first `folds` folds, as far as the budget allows.
    pub(super) fn score(&mut self, stage: Stage, batch: &[Settings], folds: usize) -> Result<()> {
        if self.stopped {
            return Ok(());
        }
        let left = self.host.evaluations_left(self.evaluations);
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

    fn score_affordable(&mut self, stage: Stage, batch: &[Settings], folds: usize) -> Result<()> {
        self.evaluations += batch.len() * folds;
        self.host.planned(stage, batch.len() * folds);
        let (host, watch, scores) = (self.host, self.watch, &self.scores);
        // Only on these folds: a journal must not reveal more than the search has asked for.
        let known = |key: &str, fold: usize| {
            scores.get(key).and_then(|scores| scores[fold]).or_else(|| host.recall(key, fold))
        };
        let sink = Sink::new(batch, 0..folds, known, host, watch);
        let found = self.evaluator.score_into(sink, batch, 0..folds, watch)?;
        for (setting, failure) in found.failures {
            self.problems.entry(key(&batch[setting])).or_insert_with(|| failure.to_string());
            self.first_failure.get_or_insert(failure);
        }
        for (settings, values) in batch.iter().zip(found.values) {
            let scores = self.scores.entry(key(settings)).or_insert_with(|| {
                self.asked.push((stage, settings.clone()));
                vec![None; self.evaluator.folds()]
            });
            scores.iter_mut().zip(values).for_each(|(score, found)| *score = score.or(found));
        }
        self.stopped |= !host.may_continue();
        Ok(())
    }

    /// What is known of a setting.
    pub(super) fn scored(&self, stage: Stage, settings: &Settings) -> Scored {
        let key = key(settings);
        let scores = self.scores.get(&key).into_iter().flatten().flatten().copied().collect();
        Scored::new(stage, settings.clone(), scores, self.problems.get(&key).cloned())
    }

    /// The settings by which one is judged: itself, or itself with either semantic representation.
    pub(super) fn variants(&self, settings: &Settings) -> Vec<Settings> {
        let one = |name: &String| Settings { semantic: Some(vec![name.clone()]), ..settings.clone() };
        if self.singles.is_empty() { vec![settings.clone()] } else { self.singles.iter().map(one).collect() }
    }

    /// A setting judged by the mean over its variants, on the folds that all of them have.
    pub(super) fn judged(&self, stage: Stage, settings: &Settings) -> Scored {
        let parts: Vec<Scored> = self.variants(settings).iter().map(|one| self.scored(stage, one)).collect();
        let problem = parts.iter().find_map(|part| part.problem.clone());
        let folds = parts.iter().map(|part| part.scores.len()).min().unwrap_or(0);
        let mean = |fold: usize| parts.iter().map(|part| part.scores[fold]).sum::<f64>() / parts.len() as f64;
        Scored::new(stage, settings.clone(), (0..folds).map(mean).collect(), problem)
    }

    /// All that was scored, and whether the search was stopped.
    ///
    /// # Errors
    /// The first failure where nothing else came of it.
    pub(super) fn finish(mut self) -> Result<(Vec<Scored>, bool)> {
        let all = self.asked.iter().map(|(stage, settings)| self.scored(*stage, settings));
        let all: Vec<Scored> = all.filter(|one| !one.scores.is_empty()).collect();
        match self.first_failure.take() {
            Some(failure) if all.iter().all(|one| one.mean <= 0.0) => Err(failure),
            _ => Ok((all, self.stopped)),
        }
    }
}

impl Scored {
    pub(super) fn new(stage: Stage, settings: Settings, scores: Vec<f64>, problem: Option<String>) -> Self {
        let Summary { mean, standard_error, .. } = Summary::of(&scores);
        Self { stage, settings, scores, mean, standard_error, problem }
    }

    /// The best of some settings, the first of equals.
    ///
    /// What can be fitted comes before what cannot, and more folds before a higher mean: with a budget some settings
    /// may not get to all folds.
    pub(super) fn best(judged: &[Self]) -> Result<&Self> {
        let mut best: Option<&Self> = None;
        for one in judged.iter().filter(|one| !one.scores.is_empty()) {
            let folds = one.scores.len();
            let better = match best {
                None => true,
                Some(best) if one.problem.is_some() != best.problem.is_some() => one.problem.is_none(),
                Some(best) if folds == best.scores.len() => one.mean > best.mean + TIE,
                Some(best) => folds > best.scores.len(),
            };
            if better {
                best = Some(one);
            }
        }
        best.ok_or_else(|| Error::Setting {
            setting: "budget",
            expected: "enough for at least one evaluation".to_owned(),
            found: "none finished".to_owned(),
        })
    }
}
