//! What to try and in which order: the paper's two stages, whole grids, random samples, successive halving.

use std::collections::HashMap;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use xxhash_rust::xxh3::Xxh3;

use bidilel_math::{Observer, Scalar};

use super::auto;
use super::evaluator::Evaluator;
use super::grid::{self, Axis, product};
use super::search::{Log, Search};
use super::{Curve, Host, Outcome, Rule, Scored, Stage};
use crate::error::{Error, Result};
use crate::settings::{MethodName, PostName, Range, Setting, Settings, TABLE};

/// A tenth of a percentage point: a difference that shows in print.
const VISIBLE_DIFFERENCE: f64 = 1e-3;

/// How settings are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// The paper's: a coarse grid, then one setting at a time.
    Paper,
    /// All combinations.
    Grid,
    /// Some of the combinations, at random.
    Random {
        /// How many.
        samples: usize,
    },
    /// All combinations on one fold, the best third of them on three times as many, and so on.
    Halving,
}

/// What to try.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Settings that are always the same.
    pub base: Settings,
    /// Settings to vary, with their values; they replace the paper's values for them.
    pub axes: Vec<Axis>,
    /// The order.
    pub strategy: Strategy,
    /// Which of the settings that were tried is chosen.
    pub rule: Rule,
    /// Whether the pipeline itself is chosen too.
    pub auto: bool,
    /// Seed of random samples.
    pub seed: u64,
}

impl Plan {
    /// A fingerprint of what is tried: other settings give another.
    pub fn fingerprint(&self) -> String {
        let mut hash = Xxh3::new();
        hash.update(format!("{:?} {} {} ", self.strategy, self.auto, self.seed).as_bytes());
        hash.update(grid::key(&self.base).as_bytes());
        for axis in &self.axes {
            hash.update(format!("{}={} ", axis.name, Value::from(axis.values.clone())).as_bytes());
        }
        format!("{:032x}", hash.digest128())
    }

    /// Runs the search. The same plan, data and seed give the same outcome, whatever was recalled.
    ///
    /// # Errors
    /// [`crate::Error::NothingToTry`] for an empty axis, [`crate::Error::Axis`] for an impossible one; the first failure where no setting could be fitted.
    pub fn run<T: Scalar>(
        &self,
        evaluator: &mut Evaluator<T>,
        host: &dyn Host,
        watch: &dyn Observer,
    ) -> Result<Outcome> {
        let compared = self.base.method.unwrap_or_default() != MethodName::Bidilel;
        if self.auto {
            self.check_auto(compared, watch)?;
        }
        let Settings { semantic, gamma, semantic_weights, .. } = &self.base;
        let open = gamma.is_none() && semantic_weights.is_none();
        let singles = semantic.clone().filter(|names| open && names.len() == 2).unwrap_or_default();
        let mut search = Search {
            plan: self,
            evaluator,
            host,
            watch,
            singles,
            curves: Vec::new(),
            stopped: false,
            prior: None,
            tried: Vec::new(),
            rejected: None,
            inductive: None,
            classes: HashMap::new(),
            log: Log::default(),
        };
        let best = match self.strategy {
            // The paper's order is about the paper's method.
            Strategy::Paper if compared => search.product()?,
            _ if self.auto => auto::run(&mut search)?,
            Strategy::Paper => search.paper()?,
            Strategy::Grid | Strategy::Random { .. } | Strategy::Halving => search.product()?,
        };
        let (best, verdict) = search.finally(best)?;
        let inductive = search.inductive.take();
        let inductive = inductive.map(|settings| Settings { gamma: best.settings.gamma, ..settings });
        let curves = std::mem::take(&mut search.curves);
        let (scored, stopped) = search.finish()?;
        let outcome = Outcome { best, inductive, verdict, scored, curves, stopped };
        let visible = |better: &&Scored| better.mean - outcome.best.mean >= VISIBLE_DIFFERENCE;
        let paper = self.strategy == Strategy::Paper && !self.auto && !compared;
        let whole = paper && !stopped && outcome.verdict.is_none();
        if let Some(better) = outcome.passed_over().filter(visible).filter(|_| whole) {
            let entries = better.settings.effective().entries();
            let value = |name: &&str| Some(format!("{name} {}", entries.get(*name)?));
            let values: Vec<String> = ["alpha", "dim", "neighbors"].iter().filter_map(value).collect();
            let [better, chosen] = [better, &outcome.best].map(|scored| 100.0 * scored.mean);
            watch.note(&format!(
                "{} scored {better:.1} % on held-out classes, more than the {chosen:.1} % that the paper's order ends \
                 with: its finer grids leave out values of the coarse one; the strategy `grid` with values of your own \
                 compares them all",
                values.join(", ")
            ));
        }
        Ok(outcome)
    }
}

impl Plan {
    /// The choice among pipelines is about those of the paper's method; a note says where it is made already.
    fn check_auto(&self, compared: bool, watch: &dyn Observer) -> Result<()> {
        let Settings { method, normalize, bottom_up, top_down, .. } = &self.base;
        if compared {
            let expected = "bidilel with auto, which chooses among the pipelines of that method alone";
            let found = method.unwrap_or_default().to_string();
            return Err(Error::Setting { setting: "method", expected: expected.into(), found });
        }
        if normalize.is_some() && bottom_up.is_some() && top_down.is_some() {
            watch.note(
                "auto: normalization, learner and embedder are given, so that only the rest is searched",
            );
        }
        Ok(())
    }
}

impl<T: Scalar> Search<'_, T> {
    fn paper(&mut self) -> Result<Settings> {
        let base = &self.plan.base;
        let inductive = Settings { post: None, gamma: None, ..base.clone() };
        let coarse = self.wanted(grid::coarse());
        let mut fine = self.wanted(grid::fine());
        let is_late = |axis: &mut Axis| ["self_training_neighbors", "gamma"].contains(&&axis.name[..]);
        let late: Vec<Axis> = fine.extract_if(.., is_late).collect();
        let late = |name: &str| late.iter().find(|axis| axis.name == name);
        let axes = coarse.iter().chain(&fine).map(|axis| axis.over(&inductive));
        self.evaluator.prepare(&axes.collect::<Result<Vec<_>>>()?.concat(), self.watch)?;
        let known = grid::fine();
        let extra = self.plan.axes.iter().filter(|axis| !known.iter().any(|other| other.name == axis.name));
        fine.extend(extra.cloned());
        let coarse = self.admit(product(&inductive, &coarse)?);
        // The defaults, which are scored first, have the space of one of these: it is found once, with all dims.
        self.evaluator.ask(&coarse)?;
        self.begin(&inductive, &fine)?;
        let mut best = self.stage(Stage::Coarse, coarse, &inductive, None)?;
        for axis in &fine {
            best = self.one(axis, &best)?;
        }
        best = self.settle(best, None)?;
        let mut post = base.post.clone().unwrap_or_default();
        if post.is_empty() {
            post.push(PostName::SelfTraining);
        }
        let refines = post.contains(&PostName::SelfTraining);
        if let Some(axis) = late("self_training_neighbors").filter(|_| refines) {
            let with = Settings { post: Some(post), ..best.clone() };
            best.self_training_neighbors = self.one(axis, &with)?.self_training_neighbors;
            if base.post.is_none() && self.plan.rule == (Rule::Sure { refined: true }) {
                let refined = self.settle(best.clone(), Some(&best))?;
                if refined.post.is_some() {
                    self.inductive = Some(std::mem::replace(&mut best, refined));
                }
            }
        }
        if base.post.is_some() {
            best.post.clone_from(&base.post);
        }
        best.gamma = base.gamma;
        late("gamma").map_or(Ok(best.clone()), |axis| self.fuse(axis, best))
    }

    /// Varies one setting of `current`.
    pub(super) fn one(&mut self, axis: &Axis, current: &Settings) -> Result<Settings> {
        self.stage(Stage::of_axis(&axis.name), axis.over(current)?, current, Some(&axis.name))
    }

    /// Finds the weights of two semantic representations that were judged one by one so far.
    pub(super) fn fuse(&mut self, gamma: &Axis, current: Settings) -> Result<Settings> {
        let fused = !std::mem::take(&mut self.singles).is_empty();
        match self.plan.rule {
            _ if !fused => Ok(current),
            Rule::Highest => self.one(gamma, &current),
            Rule::Sure { .. } => self.settle_gamma(gamma, &current),
        }
    }

    /// Scores a batch and returns its best; `current` where the budget leaves no time for it, if anything was scored before.
    pub(super) fn stage(
        &mut self,
        stage: Stage,
        batch: Vec<Settings>,
        current: &Settings,
        varied: Option<&str>,
    ) -> Result<Settings> {
        let mut batch = self.admit(batch);
        let first = matches!(stage, Stage::Coarse | Stage::Pipelines);
        let answered = !first || self.prior.is_some();
        if self.stopped {
            return Ok(current.clone());
        }
        if !first && batch.len() < 2 {
            return Ok(batch.pop().unwrap_or_else(|| current.clone()));
        }
        self.tried.extend(batch.iter().map(|one| (stage, one.clone())));
        let variants: Vec<Settings> = batch.iter().flat_map(|one| self.variants(one)).collect();
        self.score(stage, &variants, self.evaluator.folds())?;
        let judged: Vec<Scored> = batch.iter().map(|one| self.judged(stage, one)).collect();
        let best = Scored::best(&judged).map(|best| best.settings.clone());
        if let Some(setting) = varied {
            self.curves.push(Curve { setting: setting.to_owned(), points: judged });
        }
        if best.is_err() && answered && self.stopped { Ok(current.clone()) } else { best }
    }

    /// These axes without those that are fixed, and with the values of the plan where it has some.
    pub(super) fn wanted(&self, axes: Vec<Axis>) -> Vec<Axis> {
        let fixed = self.plan.base.entries();
        let own = |name: &str| self.plan.axes.iter().find(|axis| axis.name == name).cloned();
        let open = axes.into_iter().filter(|axis| !fixed.contains_key(&axis.name));
        open.map(|axis| own(&axis.name).unwrap_or(axis)).collect()
    }

    /// All combinations, some of them, or fewer and fewer.
    pub(super) fn product(&mut self) -> Result<Settings> {
        let plan = self.plan;
        let usual = if plan.base.method.unwrap_or_default() == MethodName::Bidilel {
            grid::fine().into_iter().take(3).collect()
        } else {
            let matters = TABLE.iter().filter(|row| row.matters(&plan.base) && !row.grid.is_empty());
            matters.map(Setting::axis).collect()
        };
        let axes = if plan.axes.is_empty() { self.wanted(usual) } else { plan.axes.clone() };
        let mut batch = self.admit(product(&plan.base, &axes)?);
        self.evaluator.prepare(&batch, self.watch)?;
        self.begin(&plan.base, &axes)?;
        match plan.strategy {
            Strategy::Halving => {
                self.tried.extend(batch.iter().map(|one| (Stage::Halving, one.clone())));
                let best = self.halving(batch, &axes)?;
                return self.settle(best, None);
            }
            Strategy::Random { samples } => {
                if samples == 0 {
                    let expected = Range::AtLeast(1).into();
                    return Err(Error::Setting { setting: "samples", expected, found: "0".to_owned() });
                }
                batch.shuffle(&mut ChaCha8Rng::seed_from_u64(plan.seed));
                // The defaults are one of the samples.
                batch.sort_by_key(|one| !self.is_prior(one));
                batch.truncate(samples);
            }
            Strategy::Grid | Strategy::Paper => {}
        }
        self.tried.extend(batch.iter().map(|one| (Stage::Grid, one.clone())));
        let open: Vec<Settings> = batch.iter().filter(|one| !self.is_prior(one)).cloned().collect();
        self.score(Stage::Grid, &open, self.evaluator.folds())?;
        let best = self.best_of_grid(Stage::Grid, &batch, &axes)?;
        self.settle(best, None)
    }

    /// Successive halving, by thirds: what does badly on few folds is not tried on many.
    fn halving(&mut self, mut batch: Vec<Settings>, axes: &[Axis]) -> Result<Settings> {
        let all = self.evaluator.folds();
        let mut folds = 1;
        loop {
            self.score(Stage::Halving, &batch, folds)?;
            if folds >= all || self.stopped {
                return self.best_of_grid(Stage::Halving, &batch, axes);
            }
            let mut order: Vec<(f64, usize)> =
                (0..batch.len()).map(|i| (self.scored(Stage::Halving, &batch[i]).mean, i)).collect();
            order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            order.truncate(batch.len().div_ceil(3));
            // Those that stay keep the grid's order, by which ties are broken.
            order.sort_by_key(|&(_, i)| i);
            batch = order.iter().map(|&(_, i)| batch[i].clone()).collect();
            folds = (3 * folds).min(all);
        }
    }

    /// The best of a grid, with the best for each value of each axis as its curves.
    fn best_of_grid(&mut self, stage: Stage, batch: &[Settings], axes: &[Axis]) -> Result<Settings> {
        let judged: Vec<Scored> = batch.iter().map(|one| self.scored(stage, one)).collect();
        for axis in axes.iter().filter(|axis| axis.values.len() > 1) {
            let mut points: Vec<Scored> = Vec::new();
            for value in &axis.values {
                let with = |one: &&Scored| {
                    grid::set(&one.settings, &axis.name, value).is_ok_and(|same| same == one.settings)
                };
                let among: Vec<Scored> = judged.iter().filter(with).cloned().collect();
                points.extend(Scored::best(&among).ok().cloned());
            }
            self.curves.push(Curve { setting: axis.name.clone(), points });
        }
        Scored::best(&judged).map(|best| best.settings.clone())
    }
}
