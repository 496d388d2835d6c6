//! One trial with some views: settings are chosen on its known classes, then run on its unseen ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use bidilel_math::Observer;

use super::fingerprint::{self, DataFingerprint};
use super::ledger::{Ledger, known_or};
use super::search::{Choice, Search};
use crate::bottom_up::LandmarkSpace;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::evaluate::{self, Run};
use crate::method::Method;
use crate::metrics::class_accuracies;
use crate::semantic::ClassSemantics;
use crate::settings::Settings;
use crate::split::Trial;
use crate::task::{self, Side, Task};
use crate::tune::{self, Evaluator, Holdout, Host, choose_views};
use crate::visual::Until;

/// How known classes are held out, and the first seed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Protocol {
    /// Share of the known classes that a fold holds out.
    pub share: f64,
    /// How many folds; without any there is no search, and settings that are not fixed are the defaults.
    pub folds: usize,
    /// Whether the validation classes that the split names are the only fold, where it names some.
    pub named: bool,
    /// Seed of folds and of the first run.
    pub seed: u64,
}

/// One run on the unseen classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Name of the trial.
    pub trial: String,
    /// Seed.
    pub seed: u64,
    /// Mean of the classes' accuracies.
    pub per_class: f64,
    /// Share of the instances.
    pub per_image: f64,
    /// Accuracy of every unseen class.
    pub classes: BTreeMap<String, f64>,
    /// The settings in force.
    pub settings: Settings,
}

/// One trial of a dataset with some views, in the order in which they are named.
pub struct Bench<'l> {
    dataset: Arc<Dataset>,
    trial: Trial,
    views: Vec<String>,
    protocol: Protocol,
    ledger: &'l dyn Ledger,
    /// Data and division.
    key: String,
    evaluator: Option<Evaluator>,
    task: Option<(task::Choice, Task)>,
    /// The latent space of the last fit, by what decides it. It is not small: one over kernels has the training features.
    learned: Option<(String, LandmarkSpace)>,
}

impl<'l> Bench<'l> {
    /// A bench over a trial; nothing is loaded yet, apart from what the fingerprint of the data needs.
    ///
    /// # Errors
    /// [`crate::Error::NotInDataset`] for a view that does not exist.
    pub fn new(
        dataset: Arc<Dataset>,
        trial: Trial,
        views: &[impl AsRef<str>],
        protocol: Protocol,
        ledger: &'l dyn Ledger,
    ) -> Result<Self> {
        let views: Vec<String> = views.iter().map(|view| view.as_ref().to_owned()).collect();
        let data = DataFingerprint::of(&dataset, &views)?;
        Ok(Self::with(dataset, trial, views, protocol, &data, ledger))
    }

    /// The same where the fingerprint of the data, which has all of the views, is known.
    pub fn with(
        dataset: Arc<Dataset>,
        trial: Trial,
        views: Vec<String>,
        protocol: Protocol,
        data: &DataFingerprint,
        ledger: &'l dyn Ledger,
    ) -> Self {
        let own: Vec<_> = views.iter().map(|view| (view, data.visual.get(view))).collect();
        let division = fingerprint::trial(&dataset, &trial);
        let key = format!("{} {own:?} {:?} {} {division}", data.labels, data.semantic, trial.name);
        let key = fingerprint::of_text(&key);
        Self { dataset, trial, views, protocol, ledger, key, evaluator: None, task: None, learned: None }
    }

    /// Name of the trial.
    pub fn trial(&self) -> &str {
        &self.trial.name
    }

    /// Settings that name the views of this bench and these descriptions.
    fn base(&self, semantic: &[impl AsRef<str>]) -> Settings {
        Settings {
            visual: Some(self.views.clone()),
            semantic: Some(semantic.iter().map(|name| name.as_ref().to_owned()).collect()),
            ..Settings::default()
        }
    }

    /// The division of the known classes, with what must be in a key for it.
    fn folds(&self) -> Result<Vec<Trial>> {
        let Protocol { share, folds, named, seed } = self.protocol;
        let holdout = if named && !self.trial.validation.is_empty() {
            Holdout::Split
        } else {
            Holdout::Random { share, folds: folds.max(1), seed }
        };
        tune::folds(&self.dataset, &self.trial, holdout)
    }

    fn key_of(&self, kind: &str, what: &str) -> String {
        format!("{kind} {}", fingerprint::of_text(&format!("{} {what}", self.key)))
    }

    /// The settings that a search chooses on held-out known classes, with these descriptions.
    ///
    /// # Errors
    /// Where no setting could be fitted, or a setting of the search does not exist.
    pub fn choose(
        &mut self,
        search: &Search,
        semantic: &[impl AsRef<str>],
        watch: &dyn Observer,
    ) -> Result<Choice> {
        let names: Vec<&str> = semantic.iter().map(AsRef::as_ref).collect();
        let key = self.key_of("choice", &format!("{:?} {names:?} {}", self.protocol, search.key()));
        let ledger = self.ledger;
        known_or(ledger, &key, || {
            let base = match &search.after {
                Some(after) => self.choose(after, semantic, watch)?.settings,
                None => self.base(semantic),
            };
            let plan = search.plan(&base, self.protocol.seed)?;
            if self.protocol.folds == 0 {
                return Ok(Choice::given(plan.base.effective()));
            }
            if search.is_single() {
                let only =
                    |settings: Settings, axis: &tune::Axis| axis.over(&settings).map(|mut all| all.remove(0));
                return Ok(Choice::given(plan.axes.iter().try_fold(plan.base.clone(), only)?));
            }
            let (host, seed) =
                (Scores { ledger, bench: format!("{} {:?}", self.key, self.protocol) }, self.protocol.seed);
            let evaluator = self.evaluator(&plan.base, watch)?;
            let folds = evaluator.folds();
            let mut choice = Choice::of(&plan.run(evaluator, &host, watch)?, folds);
            let chosen = choice.settings.clone();
            for axis in &search.drawn {
                let drawn = Search::plan_of_drawn(axis, &chosen, seed)?;
                choice.draw(&axis.name, &drawn.run(evaluator, &host, watch)?, folds);
            }
            Ok(choice)
        })
    }

    fn evaluator(&mut self, base: &Settings, watch: &dyn Observer) -> Result<&mut Evaluator> {
        if self.evaluator.is_none() {
            let (dataset, folds) = (Arc::clone(&self.dataset), self.folds()?);
            let choice = base.choice(&dataset)?;
            self.evaluator =
                Some(Evaluator::new(dataset, &self.trial, folds, &choice, self.protocol.seed, watch)?);
        }
        let Some(evaluator) = &mut self.evaluator else { unreachable!("it was just made") };
        Ok(evaluator)
    }

    /// Views in the order of Algorithm 2 of the paper, at most `most`: each adds most to those before it. `k` neighbors make
    /// the pairs, descriptions choose the first: one order for each of `semantics`, from one look at every view.
    ///
    /// # Errors
    /// What the first view that cannot be used fails with.
    pub fn order_views(
        &mut self,
        semantics: &[impl AsRef<[String]>],
        k: usize,
        most: usize,
        watch: &dyn Observer,
    ) -> Result<Vec<Vec<String>>> {
        let bases: Vec<Settings> = semantics.iter().map(|semantic| self.base(semantic.as_ref())).collect();
        let key = |base: &Settings| {
            self.key_of("order", &format!("{:?} {:?} {k} {most}", self.protocol, base.semantic))
        };
        let kept = |base| self.ledger.recall(&key(base)).and_then(|order| serde_json::from_value(order).ok());
        let mut orders: Vec<Option<Vec<String>>> = bases.iter().map(kept).collect();
        let new: Vec<usize> = (0..orders.len()).filter(|&place| orders[place].is_none()).collect();
        if !new.is_empty() {
            let wanted: Vec<Settings> = new.iter().map(|&place| bases[place].clone()).collect();
            let until = (k, Until { most: Some(most), threshold: None });
            // The order is a result, not a setting: it needs a fold in any case.
            let (folds, seed) = (self.folds()?, self.protocol.seed);
            let found = choose_views(&self.dataset, &self.trial, &folds, &wanted, until, seed, watch)?;
            for (place, chosen) in new.into_iter().zip(found) {
                let order: Vec<String> =
                    chosen.selection.order.iter().map(|&view| self.views[view].clone()).collect();
                self.ledger.keep(&key(&bases[place]), &order.clone().into())?;
                orders[place] = Some(order);
            }
        }
        Ok(orders.into_iter().flatten().collect())
    }

    /// Fits and recognizes the unseen classes from several random starts, with seeds counting up.
    ///
    /// Settings without randomness are run once: all starts would give the same.
    ///
    /// # Errors
    /// Those of the fit.
    pub fn run(&mut self, settings: &Settings, starts: u16, watch: &dyn Observer) -> Result<Vec<Measured>> {
        let starts = if settings.is_random() { starts.max(1) } else { 1 };
        let text = Value::Object(settings.effective().entries()).to_string();
        let mut runs = Vec::new();
        for start in 0..u64::from(starts) {
            let seed = self.protocol.seed.wrapping_add(start);
            let (key, ledger) = (self.key_of("run", &format!("{seed} {text}")), self.ledger);
            runs.push(known_or(ledger, &key, || self.measure(settings, seed, watch))?);
        }
        Ok(runs)
    }

    /// What decides the bottom-up half of a run with these settings, as text; empty for methods without one. Runs of one
    /// text that follow each other share that half, whatever describes the classes where the learner does not look at it.
    ///
    /// # Errors
    /// Those of [`Settings::choice`].
    pub fn space_of(&self, settings: &Settings) -> Result<String> {
        Ok(space(&settings.choice(&self.dataset)?, &Method::from_settings(settings, self.protocol.seed)))
    }

    /// Drops what choosing settings needs: a second copy of the features.
    pub fn end_search(&mut self) {
        self.evaluator = None;
    }

    /// Has the task of a choice: loaded, or with the features that are there and other descriptions.
    fn load(&mut self, choice: &task::Choice, watch: &dyn Observer) -> Result<()> {
        if let Some((loaded, task)) = &mut self.task {
            let same = task::Choice { semantic: choice.semantic.clone(), ..loaded.clone() } == *choice;
            if same && loaded.semantic != choice.semantic {
                let Trial { known, unseen, .. } = &self.trial;
                task.semantics = ClassSemantics::new(&self.dataset, &choice.semantic, known, unseen)?;
                loaded.semantic.clone_from(&choice.semantic);
            }
            if same {
                return Ok(());
            }
        }
        // The old one makes room first.
        self.task = None;
        let task = Task::new(&self.dataset, &self.trial, choice, watch)?;
        task.require_instances(Side::Unseen)?;
        self.task = Some((choice.clone(), task));
        Ok(())
    }

    fn measure(&mut self, settings: &Settings, seed: u64, watch: &dyn Observer) -> Result<Measured> {
        settings.check()?;
        let choice = settings.choice(&self.dataset)?;
        self.load(&choice, watch)?;
        let Some((_, task)) = &self.task else { unreachable!("it was just loaded") };
        let method = Method::from_settings(settings, seed);
        let space = space(&choice, &method);
        let mut learned =
            self.learned.take().filter(|(known, _)| *known == space).map(|(_, learned)| learned);
        let fitted = evaluate::fit_again(&method, task, &mut learned, watch)?;
        self.learned = learned.map(|learned| (space, learned));
        let (run, _) = evaluate::score(&method, task, &fitted, seed, &[1], watch)?;
        Ok(Measured {
            trial: run.split.clone(),
            seed,
            per_class: run.accuracy().per_class,
            per_image: run.accuracy().per_image,
            classes: accuracies(&run),
            settings: settings.effective(),
        })
    }
}

/// What decides the bottom-up half of a fit; empty for methods without one.
fn space(choice: &task::Choice, method: &Method) -> String {
    let Method::Bidilel(pipeline) = method else { return String::new() };
    let task::Choice { visual, semantic, normalize, .. } = choice;
    let semantic = pipeline.bottom_up.learner().reads_semantics().then_some(semantic);
    format!("{visual:?} {normalize:?} {semantic:?} {:?} {:?}", pipeline.bottom_up, pipeline.fusion)
}

/// The accuracy of every class that has instances.
fn accuracies(run: &Run) -> BTreeMap<String, f64> {
    let all = run.classes.iter().cloned().zip(class_accuracies(&run.confusion));
    all.filter_map(|(name, accuracy)| Some((name, accuracy?))).collect()
}

/// Scores of settings on the folds of a bench, in the ledger: searches have many in common.
struct Scores<'a> {
    ledger: &'a dyn Ledger,
    bench: String,
}

impl Scores<'_> {
    fn key(&self, settings: &str, fold: usize) -> String {
        format!("score {}", fingerprint::of_text(&format!("{} {fold} {settings}", self.bench)))
    }
}

impl Host for Scores<'_> {
    fn recall(&self, key: &str, fold: usize) -> Option<f64> {
        self.ledger.recall(&self.key(key, fold))?.as_f64()
    }

    fn record(&self, key: &str, fold: usize, score: f64) -> Result<()> {
        self.ledger.keep(&self.key(key, fold), &score.into())
    }
}
