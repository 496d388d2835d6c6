//! The choice between the defaults and what a search has tried ([`super::choose`] has the rule).

use std::ops::ControlFlow;

use bidilel_math::{Check, Observer, Scalar};

use super::choose::{Paired, Rule, Unit, Verdict, challenger};
use super::grid::{Axis, key};
use super::search::{Search, TIE};
use super::{Scored, Stage};
use crate::bottom_up::DEFAULT_DIM;
use crate::error::Result;
use crate::method::Method;
use crate::settings::BottomUpName::{Lpp, Pca, Slpp};
use crate::settings::Settings;

impl<T: Scalar> Search<'_, T> {
    /// Scores the defaults before anything else, where the rule keeps them unless another setting is better.
    pub(super) fn begin(&mut self, base: &Settings, axes: &[Axis]) -> Result<()> {
        if self.plan.rule == Rule::Highest {
            return Ok(());
        }
        self.prior = self.explicit(base, axes)?;
        self.score_prior()
    }

    fn score_prior(&mut self) -> Result<()> {
        let Some(prior) = self.prior.clone() else { return Ok(()) };
        let variants = self.variants(&prior);
        self.score(Stage::Default, &variants, self.evaluator.folds())
    }

    /// `base` with the defaults of all axes written out, so that they are one with the combination that is tried.
    ///
    /// None where a list of values that was given leaves out the default: who lists values wants one of them.
    fn explicit(&self, base: &Settings, axes: &[Axis]) -> Result<Option<Settings>> {
        let mut prior = base.clone();
        for axis in axes {
            let same = axis.over(&prior)?.into_iter().find(|one| self.is_same(one, base));
            let listed = self.plan.axes.iter().any(|own| own.name == axis.name);
            match same {
                Some(same) => prior = same,
                None if listed => return Ok(None),
                None => {}
            }
        }
        // Folds have fewer dimensions than the whole training set may have: as many as there are is no number then.
        if self.evaluator.clipped(&prior).1.is_some() {
            prior.dim = base.dim;
        }
        Ok(Some(prior))
    }

    /// Whether a setting is the defaults that compete.
    pub(super) fn is_prior(&self, settings: &Settings) -> bool {
        self.prior.as_ref().is_some_and(|prior| key(prior) == key(settings))
    }

    fn is_same(&self, one: &Settings, other: &Settings) -> bool {
        let [one, other] = [one, other].map(|settings| {
            let choice = settings.choice(&self.evaluator.dataset).ok()?;
            let mut settings = settings.clone();
            if matches!(settings.bottom_up.unwrap_or_default(), Slpp | Lpp | Pca) {
                settings.dim = settings.dim.or(Some(DEFAULT_DIM));
            }
            let method = Method::from_settings(&settings, self.evaluator.seed);
            Some((method, choice.visual, choice.semantic, choice.normalize))
        });
        one.is_some() && one == other
    }

    /// The incumbent, or of what was tried since the last time the best, if it is surely better than the incumbent and
    /// than the defaults. These are the incumbent where none is named; without either it is what the search proposes.
    pub(super) fn settle(&mut self, proposed: Settings, incumbent: Option<&Settings>) -> Result<Settings> {
        let tried = std::mem::take(&mut self.tried);
        let Some(incumbent) = incumbent.or(self.prior.as_ref()).cloned() else { return Ok(proposed) };
        let kept = self.judged(Stage::Default, &incumbent);
        if kept.scores.is_empty() || self.plan.rule == Rule::Highest {
            return Ok(proposed);
        }
        let judged: Vec<Scored> = tried.iter().map(|(stage, one)| self.judged(*stage, one)).collect();
        let Some(best) = challenger(&kept, &judged) else { return Ok(incumbent) };
        if kept.problem.is_some() {
            return Ok(best.settings.clone());
        }
        let prior = self.prior.clone().filter(|_| !self.is_prior(&incumbent));
        for other in [Some(incumbent.clone()), prior].into_iter().flatten() {
            let paired = self.paired(&best.settings, &other)?;
            if !paired.convinces() {
                let higher = self.rejected.as_ref().is_none_or(|(other, _)| best.mean > other.mean);
                if higher && self.is_prior(&other) {
                    self.rejected = Some((best.clone(), paired));
                }
                return Ok(incumbent);
            }
        }
        Ok(best.settings.clone())
    }

    /// The differences of one setting from another.
    pub(super) fn paired(&mut self, one: &Settings, other: &Settings) -> Result<Paired> {
        if self.evaluator.folds() > 1 {
            let [one, other] = [one, other].map(|settings| self.judged(Stage::Best, settings).scores);
            return Ok(Paired::of(Unit::Folds, &one, &other, self.evaluator.overlap()));
        }
        let (one, other) = (self.by_class(one)?, self.by_class(other)?);
        Ok(Paired::of(Unit::Classes, &one, &other, 0.0))
    }

    /// The accuracy of every held-out class of the only fold.
    fn by_class(&mut self, settings: &Settings) -> Result<Vec<f64>> {
        let variants = self.variants(settings);
        let mut mean: Vec<f64> = Vec::new();
        for one in &variants {
            let own = match self.classes.get(&key(one)) {
                Some(own) => own.clone(),
                None => self.evaluator.class_accuracies(one, 0, &Unheard(self.watch))?,
            };
            mean.resize(own.len(), 0.0);
            mean.iter_mut().zip(&own).for_each(|(sum, own)| *sum += own / variants.len() as f64);
            self.classes.insert(key(one), own);
        }
        Ok(mean)
    }

    /// The last word: with refiners and weights that were fixed, and that the search left out, the choice must hold too.
    pub(super) fn finally(&mut self, best: Settings) -> Result<(Scored, Option<Verdict>)> {
        let folds = self.evaluator.folds();
        // The answer is scored as it stands, even if no stage happened to.
        self.score(Stage::Best, std::slice::from_ref(&best), folds)?;
        let prior = self.prior.clone();
        let whole = prior.clone().map(|own| self.with_fixed(own));
        let same = whole.as_ref().map(key) == prior.as_ref().map(key);
        if !same {
            self.prior.clone_from(&whole);
            self.score_prior()?;
            self.rejected = None;
            self.tried = vec![(Stage::Best, best.clone())];
        }
        let best = match whole {
            _ if self.plan.auto && !self.is_comparable(&best, whole.as_ref()) => {
                return self.unrefined(best, prior);
            }
            // The highest mean wins among pipelines.
            Some(whole) if self.plan.auto => self.not_below(best, whole),
            None => best,
            Some(_) if same => best,
            Some(_) => self.settle(best, None)?,
        };
        let verdict = self.verdict(&best)?;
        Ok((self.scored(Stage::Best, &best), verdict))
    }

    /// The defaults with what is fixed and was left out of the search so far.
    fn with_fixed(&self, prior: Settings) -> Settings {
        let base = &self.plan.base;
        Settings {
            gamma: base.gamma.or(prior.gamma),
            post: base.post.clone().or(prior.post.clone()),
            ..prior
        }
    }

    /// Whether a choice was scored, and the defaults on as many folds.
    fn is_comparable(&self, best: &Settings, default: Option<&Settings>) -> bool {
        let folds = |one: &Settings| self.judged(Stage::Best, one).scores.len();
        folds(best) > 0 && default.is_none_or(|default| folds(default) >= folds(best))
    }

    /// The choice as it was scored before refiners that are fixed or listed were added to it: a budget may leave no time for
    /// these.
    fn unrefined(&mut self, best: Settings, prior: Option<Settings>) -> Result<(Scored, Option<Verdict>)> {
        let post = best.post.clone();
        self.prior.clone_from(&prior);
        let bare = Settings { post: None, ..best };
        let best = prior.map_or_else(|| bare.clone(), |prior| self.not_below(bare.clone(), prior));
        let mut verdict = self.verdict(&best)?;
        let mut found = self.scored(Stage::Best, &best);
        if !found.scores.is_empty() {
            self.watch
                .note("the budget ended before the refiners could be compared: accuracies are without them");
        }
        let challenger = verdict.as_mut().map(|verdict| (&mut verdict.default, verdict.challenger.as_mut()));
        let others = challenger.into_iter().flat_map(|(default, own)| std::iter::once(default).chain(own));
        others.chain([&mut found]).for_each(|one| one.settings.post.clone_from(&post));
        Ok((found, verdict))
    }

    /// A choice among pipelines, or the defaults where these have a higher mean or were scored on more folds: a budget may
    /// have ended the search before anything better was found, and values that are fixed may leave the defaults out of it.
    fn not_below(&mut self, best: Settings, prior: Settings) -> Settings {
        let [own, default] = [&best, &prior].map(|one| self.scored(Stage::Best, one));
        let lower = own.scores.len() < default.scores.len() || own.mean < default.mean - TIE;
        let usable = default.problem.is_none() && !default.scores.is_empty();
        if !(usable && (lower || own.problem.is_some())) {
            return best;
        }
        self.inductive = None;
        prior
    }

    fn verdict(&mut self, best: &Settings) -> Result<Option<Verdict>> {
        let Some(prior) = self.prior.clone() else { return Ok(None) };
        let default = self.scored(Stage::Default, &prior);
        let kept = self.is_prior(best);
        let (challenger, paired) = match self.rejected.take().filter(|_| kept) {
            Some((challenger, paired)) => (Some(challenger), Some(paired)),
            None if kept => (None, None),
            None if default.problem.is_some() || default.scores.is_empty() => {
                (Some(self.scored(Stage::Best, best)), None)
            }
            None => (Some(self.scored(Stage::Best, best)), Some(self.paired(best, &prior)?)),
        };
        Ok(Some(Verdict { default, challenger, paired, kept }))
    }

    /// The gamma that is found for two semantic representations, unless equal weights are as good.
    pub(super) fn settle_gamma(&mut self, gamma: &Axis, current: &Settings) -> Result<Settings> {
        self.score_prior()?;
        self.score(Stage::Best, std::slice::from_ref(current), self.evaluator.folds())?;
        self.tried.clear();
        let found = self.one(gamma, current)?;
        self.settle(found, Some(current))
    }
}

/// Remarks were made when the same fit was scored.
struct Unheard<'a>(&'a dyn Observer);

impl Observer for Unheard<'_> {
    fn check(&self, check: &Check) {
        self.0.check(check);
    }

    fn poll(&self) -> ControlFlow<()> {
        self.0.poll()
    }
}
