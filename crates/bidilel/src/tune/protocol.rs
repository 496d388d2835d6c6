//! The orders in which settings are tried: the paper's two stages, whole grids, random ones, halving.

use xxhash_rust::xxh3::Xxh3;

use bidilel_math::{Observer, Scalar};

use super::auto;
use super::evaluator::Evaluator;
use super::grid::{self, Axis, product};
use super::search::Search;
use super::{Curve, Host, Outcome, Scored};
use crate::error::Result;
use crate::settings::{PostName, Settings};

/// A tenth of a percent point: what is printed of a score.
const REMARKABLE: f64 = 1e-3;

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
    /// Settings that are the same in every trial.
    pub base: Settings,
    /// Settings to vary, with their values; they take the place of the paper's where it has values for them.
    pub axes: Vec<Axis>,
    /// The order.
    pub strategy: Strategy,
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
            hash.update(
                format!("{}={} ", axis.name, serde_json::Value::from(axis.values.clone())).as_bytes(),
            );
        }
        format!("{:032x}", hash.digest128())
    }

    /// Runs the search. The same plan, data and seed give the same outcome, whatever was recalled.
    ///
    /// # Errors
    /// [`crate::Error::Grid`] for an empty or impossible grid; the first failure where no setting could be fitted.
    pub fn run<T: Scalar>(
        &self,
        evaluator: &mut Evaluator<'_, T>,
        host: &dyn Host,
        watch: &dyn Observer,
    ) -> Result<Outcome> {
        let mut run = Run { plan: self, search: Search::new(evaluator, host, watch), curves: Vec::new() };
        let best = match self.strategy {
            _ if self.auto => auto::run(&mut run)?,
            Strategy::Paper => run.paper()?,
            Strategy::Grid | Strategy::Random { .. } | Strategy::Halving => run.product()?,
        };
        let Run { mut search, curves, .. } = run;
        // The answer is scored as it stands, even if no stage happened to.
        search.score("best", std::slice::from_ref(&best), search.folds())?;
        let best = search.scored("best", &best);
        let (trials, stopped) = search.finish()?;
        let outcome = Outcome { best, trials, curves, stopped };
        let whole = self.strategy == Strategy::Paper && !self.auto && !outcome.stopped;
        let worth = |better: &&Scored| better.mean - outcome.best.mean >= REMARKABLE;
        if let Some(better) = outcome.passed_over().filter(worth).filter(|_| whole) {
            let entries = better.settings.effective().entries();
            let value = |name: &&str| Some(format!("{name} {}", entries.get(*name)?));
            let values: Vec<String> = ["alpha", "dim", "neighbors"].iter().filter_map(value).collect();
            watch.note(&format!(
                "{} scored {:.1} % on held-out classes, more than the {:.1} % that the paper's order ends with: its finer \
                 grids leave out values of the coarse one; the strategy `grid` with values of your own compares them all",
                values.join(", "),
                100.0 * better.mean,
                100.0 * outcome.best.mean
            ));
        }
        Ok(outcome)
    }
}

/// A plan being carried out.
pub(super) struct Run<'p, 's, 'd, T> {
    pub(super) plan: &'p Plan,
    pub(super) search: Search<'s, 'd, T>,
    pub(super) curves: Vec<Curve>,
}

impl<T: Scalar> Run<'_, '_, '_, T> {
    fn paper(&mut self) -> Result<Settings> {
        let base = &self.plan.base;
        let singles = self.singles();
        let inductive = Settings { post: None, gamma: None, ..base.clone() };
        let coarse = self.wanted(grid::coarse());
        let (fine, late): (Vec<Axis>, Vec<Axis>) = self
            .wanted(grid::fine())
            .into_iter()
            .partition(|axis| !matches!(axis.name.as_str(), "self_training_neighbors" | "gamma"));
        self.prepare(&inductive, coarse.iter().chain(&fine))?;
        let batch = product(&inductive, &coarse)?;
        let mut best = self.stage("coarse", batch, &inductive, &singles, None)?;
        let extra = self.plan.axes.iter().filter(|axis| !known_to_the_paper(&axis.name));
        for axis in fine.iter().chain(extra) {
            best = self.one(axis, &best, &singles)?;
        }
        let asked: Vec<PostName> = base.post.clone().unwrap_or_default();
        let refined = asked.is_empty() || asked.contains(&PostName::SelfTraining);
        if let Some(axis) = late.iter().find(|axis| axis.name == "self_training_neighbors")
            && refined
        {
            let post = if asked.is_empty() { vec![PostName::SelfTraining] } else { asked };
            let with = Settings { post: Some(post), ..best.clone() };
            best.self_training_neighbors = self.one(axis, &with, &singles)?.self_training_neighbors;
        }
        best.post.clone_from(&base.post);
        best.gamma = base.gamma;
        if let Some(axis) = late.iter().find(|axis| axis.name == "gamma")
            && !singles.is_empty()
        {
            best = self.one(axis, &best, &[])?;
        }
        Ok(best)
    }

    /// Varies one setting of `current`.
    pub(super) fn one(&mut self, axis: &Axis, current: &Settings, singles: &[String]) -> Result<Settings> {
        let stage = match axis.name.as_str() {
            "alpha" => "alpha",
            "dim" => "dim",
            "neighbors" => "neighbors",
            "self_training_neighbors" => "self-training-neighbors",
            "gamma" => "gamma",
            _ => "fine",
        };
        let batch = axis.over(current)?;
        self.stage(stage, batch, current, singles, Some(&axis.name))
    }

    /// Scores a batch and returns its best; `current` where the budget leaves no time for it.
    pub(super) fn stage(
        &mut self,
        stage: &'static str,
        batch: Vec<Settings>,
        current: &Settings,
        singles: &[String],
        varied: Option<&str>,
    ) -> Result<Settings> {
        let batch = self.search.admit(batch);
        let started = stage != "coarse" && stage != "pipelines";
        if self.search.stopped || (started && batch.len() < 2) {
            return Ok(batch.into_iter().next().filter(|_| !self.search.stopped).unwrap_or(current.clone()));
        }
        let variants = |settings: &Settings| -> Vec<Settings> {
            if singles.is_empty() {
                return vec![settings.clone()];
            }
            let one = |name: &String| Settings { semantic: Some(vec![name.clone()]), ..settings.clone() };
            singles.iter().map(one).collect()
        };
        let expanded: Vec<Settings> = batch.iter().flat_map(variants).collect();
        self.search.score(stage, &expanded, self.search.folds())?;
        let judged: Vec<Scored> =
            batch.iter().map(|one| self.search.judged(stage, one, &variants(one))).collect();
        let best = Search::<T>::best(&judged);
        if let Some(setting) = varied {
            self.curves.push(Curve { setting: setting.to_owned(), points: judged });
        }
        match best {
            Err(_) if started && self.search.stopped => Ok(current.clone()),
            found => found,
        }
    }

    /// Neighbour lists for everything that these axes can ask for.
    pub(super) fn prepare<'x>(
        &mut self,
        base: &Settings,
        axes: impl Iterator<Item = &'x Axis>,
    ) -> Result<()> {
        let mut all = vec![base.clone()];
        for axis in axes {
            all.extend(axis.over(base)?);
        }
        self.search.prepare(&all)
    }

    /// The paper's axes, with the values that were typed in the place of its own, without what is fixed.
    pub(super) fn wanted(&self, axes: Vec<Axis>) -> Vec<Axis> {
        let fixed = self.plan.base.entries();
        let typed = |axis: Axis| {
            let own = self.plan.axes.iter().find(|other| other.name == axis.name);
            own.cloned().unwrap_or(axis)
        };
        axes.into_iter().filter(|axis| !fixed.contains_key(&axis.name)).map(typed).collect()
    }

    /// The representations one by one, where two are to be fused and their weights are still to be found.
    pub(super) fn singles(&self) -> Vec<String> {
        let base = &self.plan.base;
        match base.semantic.as_deref() {
            Some([first, second]) if base.gamma.is_none() && base.semantic_weights.is_none() => {
                vec![first.clone(), second.clone()]
            }
            _ => Vec::new(),
        }
    }
}

fn known_to_the_paper(name: &str) -> bool {
    grid::fine().iter().any(|axis| axis.name == name)
}
