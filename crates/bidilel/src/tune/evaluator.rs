//! A dataset's known classes, divided into folds, on which settings are scored.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use faer::Mat;
use xxhash_rust::xxh3::Xxh3;

use bidilel_math::{Observer, Scalar, scatter};

use super::Host;
use super::cache::Cache;
use super::execute::Executor;
use super::fold::Fold;
use super::naive::class_scores;
use super::pool::Pool;
use super::sink::{Scores, Sink};
use super::tree::{Branch, GraphSettings, Setting, parts, tree};
use crate::bottom_up::{BottomUp, Neighborhood, Search, Sizes};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::pipeline::Pipeline;
use crate::semantic::ClassSemantics;
use crate::settings::{MethodName, Settings};
use crate::split::{TEST_SEEN_SHARE, Trial};
use crate::task::{Candidates, Choice, Normalize, Sources, Task};
use crate::visual::{KernelForm, Views, check_choice};

/// Scores settings on folds of the known classes.
pub struct Evaluator<T = f32> {
    pub(super) dataset: Arc<Dataset>,
    /// Where the features of the pool come from; unknown where they were given.
    loaded: Option<Loaded<T>>,
    pub(super) pool: Pool<T>,
    pub(super) folds: Vec<Fold>,
    cache: Cache,
    /// The most dims that were asked of every space over a graph.
    asked: Vec<(SpaceKey, usize)>,
    /// How many features are not the same for all instances.
    varying: usize,
    pub(super) seed: u64,
    /// Whether settings share their work; otherwise each is fitted by itself, to every fold as the dataset has it.
    pub sharing: bool,
}

/// What a latent space over a graph depends on besides its dims: normalization, views, learner and alpha.
type SpaceKey = (Normalize, Views, BottomUp, Option<f64>);

/// Gathers and normalizes features of some instances.
type Load<T> = fn(&Sources<'_>, &[usize], Normalize, &dyn Observer) -> Result<Mat<T>>;

/// Features that were loaded from the dataset, and can be again.
struct Loaded<T> {
    /// None while there are none, as after loading was cancelled.
    normalize: Option<Normalize>,
    instances: Vec<usize>,
    load: Load<T>,
}

impl Evaluator {
    /// Gathers the instances of `trial`'s known classes, and nothing else, for these folds of them. Where known classes are
    /// candidates, each fold tests some of their instances, too.
    pub fn new(
        dataset: impl Into<Arc<Dataset>>,
        trial: &Trial,
        folds: Vec<Trial>,
        choice: &Choice,
        seed: u64,
        watch: &dyn Observer,
    ) -> Result<Self> {
        watch.stage("load");
        let dataset = dataset.into();
        let sources = Sources::new(&dataset, choice)?;
        let folds = match choice.candidates {
            Candidates::All => tested(&dataset, trial, folds, seed)?,
            Candidates::Known | Candidates::Unseen => folds,
        };
        let features = sources.features(&trial.train, choice.normalize, watch)?;
        let mut views = sources.views;
        views.parts.iter_mut().for_each(|view| view.weight = 1.0);
        let mut evaluator = Self::over(dataset, features, &trial.train, folds, seed)?;
        evaluator.pool.views = views;
        evaluator.loaded = Some(Loaded {
            normalize: Some(choice.normalize),
            instances: trial.train.clone(),
            load: |sources, instances, normalize, watch| sources.features(instances, normalize, watch),
        });
        Ok(evaluator)
    }
}

impl<T: Scalar> Evaluator<T> {
    /// The same over given features of one view, one column for each of `instances`.
    pub fn over(
        dataset: impl Into<Arc<Dataset>>,
        features: Mat<T>,
        instances: &[usize],
        folds: Vec<Trial>,
        seed: u64,
    ) -> Result<Self> {
        let dataset = dataset.into();
        let index: HashMap<usize, usize> = instances.iter().enumerate().map(|(at, &i)| (i, at)).collect();
        let fold = |trial: Trial| Fold::new(&dataset, trial, &index, features.as_ref());
        let folds = folds.into_iter().map(fold).collect::<Result<_>>()?;
        let labels = instances.iter().map(|&instance| dataset.labels[instance]).collect();
        let varying = scatter::varying(features.as_ref()).len();
        let views = Views::single(&dataset.visual(None)?.name, features.nrows());
        let pool = Pool { features, labels, views, lists: Vec::new() };
        let cache = Cache::default();
        let asked = Vec::new();
        Ok(Self { dataset, loaded: None, pool, folds, cache, asked, varying, seed, sharing: true })
    }

    /// How many folds there are.
    pub fn folds(&self) -> usize {
        self.folds.len()
    }

    /// The mean number of classes that a fold holds out per class that it learns from.
    pub(super) fn overlap(&self) -> f64 {
        let ratio = |Fold { trial, .. }: &Fold| trial.unseen.len() as f64 / trial.known.len().max(1) as f64;
        self.folds.iter().map(ratio).sum::<f64>() / self.folds.len().max(1) as f64
    }

    /// Neighbor lists that a fold left too short, and that were searched for again.
    pub fn searched(&self) -> usize {
        self.folds.iter().map(|fold| fold.searched().iter().map(HashMap::len).sum::<usize>()).sum()
    }

    /// Makes the neighbor lists long enough for all of these settings at once.
    ///
    /// # Errors
    /// With approximate neighbors, and if lists are not those that a plain search finds.
    pub fn prepare(&mut self, batch: &[Settings], watch: &dyn Observer) -> Result<()> {
        if !self.sharing {
            return Ok(());
        }
        // Lists are filtered for each fold: what an approximate search misses would not be what it misses in a fit.
        if batch.iter().any(|settings| settings.effective().search == Some(Search::Approximate)) {
            return Err(Error::ApproximateFolds);
        }
        let shared = batch.iter().filter(|settings| shares(settings));
        let pipelines: Vec<Pipeline> = shared.map(|settings| settings.pipeline(0)).collect();
        for kind in [Neighborhood::Global, Neighborhood::WithinClass] {
            let graphs = pipelines.iter().filter_map(|pipeline| GraphSettings::of(&pipeline.bottom_up));
            let asked = graphs.filter(|graph| graph.neighborhood == kind);
            if let Some(k) = asked.map(|graph| graph.locality.neighbors).max() {
                self.pool.prepare(kind, k, &self.folds, watch)?;
            }
        }
        Ok(())
    }

    /// The same settings with a dim that exists in every fold, and the larger one that was asked for.
    pub fn clipped(&self, settings: &Settings) -> (Settings, Option<usize>) {
        if !shares(settings) {
            return (settings.clone(), None);
        }
        let mut learner = settings.pipeline(self.seed).bottom_up;
        if learner.learner_mut().dim().is_none() {
            return (settings.clone(), None);
        }
        let least = |count: fn(&Fold) -> usize| self.folds.iter().map(count).min().unwrap_or(0);
        let semantic_dim = settings.choice(&self.dataset).map_or(usize::MAX, |choice| {
            let found = choice.semantic.iter().filter_map(|(name, _)| self.dataset.semantic(Some(name)).ok());
            found.map(|semantic| semantic.vectors.nrows()).sum()
        });
        let instances = least(|fold| fold.train.len());
        let sizes = Sizes { instances, classes: least(|fold| fold.trial.known.len()), semantic_dim };
        let most = learner.learner().most_dim(&sizes).min(self.features_of(settings, instances)).max(1);
        match settings.dim {
            Some(dim) if dim > most => (Settings { dim: Some(most), ..settings.clone() }, Some(dim)),
            _ => (settings.clone(), None),
        }
    }

    /// The features that a learner has: those that vary, or those of the fused kernel.
    fn features_of(&self, settings: &Settings, instances: usize) -> usize {
        let Pipeline { fusion, bottom_up, .. } = settings.pipeline(self.seed);
        let views = self.views_of(settings);
        match views.and_then(|views| fusion.choose(&views, instances, bottom_up.is_direct())) {
            Ok((KernelForm::NSpace, _)) => instances,
            Ok((KernelForm::Nystrom, _)) => instances.min(fusion.nystrom_rank),
            Ok((KernelForm::Primal, _)) | Err(_) => self.varying,
        }
    }

    /// The loaded views with the weights and kernels of a setting.
    fn views_of(&self, settings: &Settings) -> Result<Views> {
        let chosen = settings.choice(&self.dataset)?.visual;
        check_choice(&chosen)?;
        let mut views = self.pool.views.clone();
        let asked: Vec<&str> = chosen.iter().map(|view| &view.name[..]).collect();
        let held: Vec<&str> = views.parts.iter().map(|view| &view.name[..]).collect();
        if asked != held {
            return Err(Error::OtherViews { asked: asked.join(","), loaded: held.join(",") });
        }
        for (view, chosen) in views.parts.iter_mut().zip(chosen) {
            (view.weight, view.kernel) = (chosen.weight, chosen.kernel);
        }
        Ok(views)
    }

    /// The indices of settings that normalize features alike; those that the pool is loaded for come first.
    fn by_normalization(&self, batch: &[Settings]) -> Result<Vec<Vec<usize>>> {
        let mut groups: Vec<(Option<Normalize>, Vec<usize>)> = Vec::new();
        let current = self.loaded.as_ref().and_then(|loaded| loaded.normalize);
        for (index, settings) in batch.iter().enumerate() {
            let own = settings.choice(&self.dataset)?.normalize;
            let own = self.loaded.is_some().then_some(own);
            match groups.iter_mut().find(|(normalize, _)| *normalize == own) {
                Some((_, members)) => members.push(index),
                None => groups.push((own, vec![index])),
            }
        }
        groups.sort_by_key(|(normalize, _)| *normalize != current);
        Ok(groups.into_iter().map(|(_, members)| members).collect())
    }

    /// Makes the features those that a setting asks for. Nothing that was found for others is left.
    fn normalize_as(&mut self, settings: &Settings, watch: &dyn Observer) -> Result<()> {
        let choice = settings.choice(&self.dataset)?;
        let other = |loaded: &&mut Loaded<T>| loaded.normalize != Some(choice.normalize);
        let Some(loaded) = self.loaded.as_mut().filter(other) else {
            return Ok(());
        };
        watch.stage("load");
        loaded.normalize = None;
        // Before the new features are there: both would take twice the memory.
        self.pool.features = Mat::new();
        self.pool.lists.clear();
        self.cache = Cache::default();
        let sources = Sources::new(&self.dataset, &choice)?;
        let features = (loaded.load)(&sources, &loaded.instances, choice.normalize, watch)?;
        loaded.normalize = Some(choice.normalize);
        self.folds.iter_mut().for_each(|fold| fold.reset(features.as_ref()));
        self.varying = scatter::varying(features.as_ref()).len();
        self.pool.features = features;
        Ok(())
    }

    /// Scores a batch on some folds by per-class accuracy; what the host recalls is not computed.
    ///
    /// # Errors
    /// What the host could not record, and settings that no fold can use. A setting that cannot be fitted to a fold is
    /// among the failures instead.
    pub fn score(
        &mut self,
        batch: &[Settings],
        folds: Range<usize>,
        host: &dyn Host,
        watch: &dyn Observer,
    ) -> Result<Scores> {
        let sink = Sink::new(batch, folds.clone(), |key, fold| host.recall(key, fold), host, watch);
        self.score_into(sink, batch, folds, watch)
    }

    /// What the space of a setting depends on besides its dims, and these; none where it is not over a graph.
    fn space_of(&self, settings: &Settings) -> Result<Option<(SpaceKey, usize)>> {
        let learner = settings.pipeline(self.seed).bottom_up;
        if !shares(settings) || GraphSettings::of(&learner).is_none() {
            return Ok(None);
        }
        let (learner, alpha, dim) = parts(&learner);
        let normalize = settings.choice(&self.dataset)?.normalize;
        Ok(Some(((normalize, self.views_of(settings)?, learner, alpha), dim)))
    }

    /// Notes the dims that a batch asks for, whether its scores are known or not: a resumed search asks for the same.
    pub(super) fn ask(&mut self, batch: &[Settings]) -> Result<()> {
        for settings in batch {
            let Some((key, dim)) = self.space_of(settings)? else { continue };
            match self.asked.iter_mut().find(|(own, _)| *own == key) {
                Some((_, most)) => *most = dim.max(*most),
                None => self.asked.push((key, dim)),
            }
        }
        Ok(())
    }

    /// Scores what a sink wants of a batch on some folds.
    pub(super) fn score_into(
        &mut self,
        sink: Sink<'_>,
        batch: &[Settings],
        range: Range<usize>,
        watch: &dyn Observer,
    ) -> Result<Scores> {
        self.ask(batch)?;
        for members in self.by_normalization(batch)? {
            if range.clone().all(|fold| !sink.wants(fold, &members)) {
                continue;
            }
            self.normalize_as(&batch[members[0]], watch)?;
            let own: Vec<Settings> = members.iter().map(|&i| batch[i].clone()).collect();
            self.prepare(&own, watch)?;
            let mut chosen: Vec<Vec<(String, f64)>> = Vec::new();
            let setting = |settings: &Settings| {
                let own = settings.choice(&self.dataset)?.semantic;
                let semantics = chosen.iter().position(|other| *other == own).unwrap_or(chosen.len());
                if semantics == chosen.len() {
                    chosen.push(own);
                }
                let (pipeline, views) = (settings.pipeline(self.seed), self.views_of(settings)?);
                let key = self.space_of(settings)?.map(|(key, _)| key);
                let asked = self.asked.iter().find(|(own, _)| Some(own) == key.as_ref()).map(|(_, dim)| *dim);
                Ok(Setting { pipeline, views, semantics, asked })
            };
            let settings = batch.iter().map(setting).collect::<Result<Vec<_>>>()?;
            let semantics = self.folds[..range.end].iter().map(|Fold { trial, .. }| {
                let of = |own: &Vec<_>| ClassSemantics::new(&self.dataset, own, &trial.known, &trial.unseen);
                chosen.iter().map(of).collect()
            });
            let semantics = semantics.collect::<Result<Vec<_>>>()?;
            let (shared, whole) = members.into_iter().partition(|&i| self.sharing && shares(&batch[i]));
            let mut tree = tree(&settings, shared);
            tree.push(Branch::Whole(whole));
            let mut cache = std::mem::take(&mut self.cache);
            let (range, sink) = (range.clone(), &sink);
            let (settings, tree, semantics) = (&settings[..], &tree[..], &semantics[..]);
            Executor { evaluator: self, range, batch, settings, tree, semantics, sink, watch }
                .run(&mut cache);
            self.cache = cache;
        }
        sink.finish()
    }

    /// The accuracy of every held-out class of a fold, by one whole fit.
    pub(super) fn class_accuracies(
        &self,
        settings: &Settings,
        fold: usize,
        watch: &dyn Observer,
    ) -> Result<Vec<f64>> {
        let task =
            Task::new(&self.dataset, &self.folds[fold].trial, &settings.choice(&self.dataset)?, watch)?;
        class_scores(&task, settings, self.seed, watch)
    }

    /// A fingerprint of the features, labels, folds and semantic representations: other data gives another.
    pub fn fingerprint(&self) -> String {
        let mut hash = Xxh3::new();
        for column in self.pool.features.col_iter() {
            column.iter().for_each(|value| hash.update(&value.to_f64().to_le_bytes()));
        }
        for Fold { train, test, labels, test_labels, trial, .. } in &self.folds {
            let parts = [train, test, labels, test_labels, &trial.known, &trial.unseen];
            parts.into_iter().flatten().for_each(|&number| hash.update(&(number as u64).to_le_bytes()));
        }
        for semantic in &self.dataset.semantic {
            hash.update(semantic.name.as_bytes());
            for column in semantic.vectors.col_iter() {
                column.iter().for_each(|value| hash.update(&value.to_le_bytes()));
            }
        }
        hash.update(&self.seed.to_le_bytes());
        format!("{:032x}", hash.digest128())
    }
}

/// Folds that test as large a share of their known classes' instances as the trial, or the usual one.
fn tested(dataset: &Dataset, trial: &Trial, folds: Vec<Trial>, seed: u64) -> Result<Vec<Trial>> {
    let (drawn, left) = (trial.test_seen.len() as f64, trial.train.len() as f64);
    let share = if drawn > 0.0 { drawn / (drawn + left) } else { TEST_SEEN_SHARE };
    let draw = |(number, fold): (usize, Trial)| {
        fold.with_test_seen(dataset, share, seed.wrapping_add(number as u64))
    };
    folds.into_iter().enumerate().map(draw).collect()
}

/// Whether settings share work with others: those of the paper's method do, unless their learner is random. Neighbors
/// within classes are found for whole classes, of which generalized folds hold out some instances.
fn shares(settings: &Settings) -> bool {
    let learner = settings.pipeline(0).bottom_up;
    let within =
        GraphSettings::of(&learner).is_some_and(|graph| graph.neighborhood == Neighborhood::WithinClass);
    settings.method.unwrap_or_default() == MethodName::Bidilel
        && !learner.learner().is_random()
        && !(within && settings.candidates() == Candidates::All)
}
