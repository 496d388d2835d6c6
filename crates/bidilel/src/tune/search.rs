//! A search under way: scores by setting and fold, each computed once whichever stage asks for it.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use bidilel_math::statistics::Summary;
use bidilel_math::{Observer, Scalar};

use super::evaluator::Evaluator;
use super::grid::{distinct, key};
use super::sink::Sink;
use super::{Curve, Host, Paired, Plan, Scored, Stage};
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
    pub(super) stopped: bool,
    /// The defaults with what was fixed, where they compete.
    pub(super) prior: Option<Settings>,
    /// What was tried since the last choice.
    pub(super) tried: Vec<(Stage, Settings)>,
    /// The best of what scored higher than the defaults and did not replace them.
    pub(super) rejected: Option<(Scored, Paired)>,
    /// The chosen setting before a refiner was added.
    pub(super) inductive: Option<Settings>,
    /// Accuracies of held-out classes, by the keys of settings.
    pub(super) classes: HashMap<String, Vec<f64>>,
    pub(super) log: Log,
}

/// What a search has found so far.
#[derive(Default)]
pub(super) struct Log {
    /// Scores by fold and why there are none, by the keys of settings.
    scores: HashMap<String, (Vec<Option<f64>>, Option<String>)>,
    /// Every setting that was scored, in order, with the stage that first asked for it.
    asked: Vec<(Stage, Settings)>,
    /// Dims that do not exist, of which the user was notified.
    clipped: HashSet<usize>,
    first_failure: Option<Error>,
    evaluations: usize,
}

impl Log {
    /// How many of the first `folds` folds have no score of a setting yet. What a journal has counts as missing, so that a
    /// search that is resumed goes the way of one that was not.
    fn missing(&self, settings: &Settings, folds: usize) -> usize {
        let known = self.scores.get(&key(settings));
        folds - known.map_or(0, |(scores, _)| scores.iter().take(folds).flatten().count())
    }
}

impl<T: Scalar> Search<'_, T> {
    /// Clips dims that do not exist, and drops duplicates.
    pub(super) fn admit(&mut self, batch: Vec<Settings>) -> Vec<Settings> {
        let Plan { base, axes, auto, .. } = self.plan;
        // Every learner has another number of dims: those that a choice of pipelines tries on its own are nobody's wish.
        let said = !auto || base.dim.is_some() || axes.iter().any(|axis| axis.name == "dim");
        let clip = |settings: Settings| {
            let (clipped, asked) = self.evaluator.clipped(&settings);
            if let (Some(asked), Some(dim)) = (asked, clipped.dim)
                && said
                && self.log.clipped.insert(asked)
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
        let mut left = self.host.evaluations_left(self.log.evaluations);
        let is_affordable = |settings: &&Settings| {
            let rest = left.checked_sub(self.log.missing(settings, folds));
            rest.inspect(|rest| left = *rest).is_some()
        };
        let whole = batch.iter().take_while(is_affordable).count();
        self.stopped = whole < batch.len();
        let (whole, rest) = batch.split_at(whole);
        // What is left of a budget is for the first folds of the next setting.
        let partly = rest.first().map(|next| {
            let affordable = |count: &usize| self.log.missing(next, *count) <= left;
            (std::slice::from_ref(next), (0..folds).rfind(affordable).unwrap_or(0))
        });
        self.score_affordable(stage, whole, folds)?;
        partly.map_or(Ok(()), |(next, folds)| self.score_affordable(stage, next, folds))
    }

    fn score_affordable(&mut self, stage: Stage, batch: &[Settings], folds: usize) -> Result<()> {
        if batch.len() * folds == 0 {
            return Ok(());
        }
        self.log.evaluations += batch.iter().map(|one| self.log.missing(one, folds)).sum::<usize>();
        self.host.planned(stage, batch.len() * folds);
        let (host, watch, log) = (self.host, self.watch, &mut self.log);
        // Only on these folds: a journal must not reveal more than the search has asked for.
        let known = |key: &str, fold: usize| {
            log.scores.get(key).and_then(|(scores, _)| scores[fold]).or_else(|| host.recall(key, fold))
        };
        let sink = Sink::new(batch, 0..folds, known, host, watch);
        let found = self.evaluator.score_into(sink, batch, 0..folds, watch)?;
        for (settings, values) in batch.iter().zip(found.values) {
            let (scores, _) = log.scores.entry(key(settings)).or_insert_with(|| {
                log.asked.push((stage, settings.clone()));
                (vec![None; self.evaluator.folds()], None)
            });
            scores.iter_mut().zip(values).for_each(|(score, found)| *score = score.or(found));
        }
        let classes = found.classes.into_iter().map(|(setting, own)| (key(&batch[setting]), own));
        self.classes.extend(classes);
        for (setting, failure) in found.failures {
            if let Some((_, problem @ None)) = log.scores.get_mut(&key(&batch[setting])) {
                *problem = Some(failure.to_string());
            }
            log.first_failure.get_or_insert(failure);
        }
        self.stopped |= !host.may_continue();
        Ok(())
    }

    /// What is known of a setting; one that names no refiner is the same as one that says that there is none.
    pub(super) fn scored(&self, stage: Stage, settings: &Settings) -> Scored {
        let known = |settings: &Settings| self.log.scores.get(&key(settings)).cloned();
        let unnamed = settings.post.is_some() && settings.post().is_empty();
        let bare = || known(&Settings { post: None, ..settings.clone() }).filter(|_| unnamed);
        let (scores, problem) = known(settings).or_else(bare).unwrap_or_default();
        let scores =
            if scores.is_empty() { scores } else { self.fold_order().map(|fold| scores[fold]).collect() };
        Scored::new(stage, settings.clone(), scores.into_iter().map_while(|score| score).collect(), problem)
    }

    /// The folds as scores list them. Settings that lack some are compared on the first ones, so that these must be the same
    /// folds. Where time was up in the middle of a batch, folds ended in any order: those that most settings have come first.
    fn fold_order(&self) -> impl Iterator<Item = usize> + use<T> {
        let mut order: Vec<usize> = (0..self.evaluator.folds()).collect();
        if self.stopped {
            let known = |fold: usize| self.log.scores.values().filter(|(own, _)| own[fold].is_some()).count();
            order.sort_by_cached_key(|&fold| Reverse(known(fold)));
        }
        order.into_iter()
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
        let all = self.log.asked.iter().map(|(stage, settings)| self.scored(*stage, settings));
        let all: Vec<Scored> = all.filter(|one| !one.scores.is_empty()).collect();
        let useless = all.iter().all(|one| one.mean <= 0.0);
        self.log.first_failure.take().filter(|_| useless).map_or(Ok((all, self.stopped)), Err)
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
            expected: "enough for at least one evaluation".into(),
            found: "none finished".to_owned(),
        })
    }
}
