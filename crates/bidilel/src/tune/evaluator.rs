//! A dataset's known classes, divided into folds, on which settings are scored.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use faer::{Mat, MatRef};
use xxhash_rust::xxh3::Xxh3;

use bidilel_math::{Columns, Observer, Scalar, scatter};

use super::common::{check_search, lists_of};
use super::fused::Fused;
use super::pool::{Lists, Pool, Searched, needs};
use super::shelf::Shelf;
use super::spaces::{Ground, Job};
use crate::bottom_up::Neighborhood;
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::semantic::ClassSemantics;
use crate::settings::{BottomUpName, Settings};
use crate::split::Trial;
use crate::task::{Choice, Sources, labels_among};
use crate::visual::{Method, Pairs, Views, check_choice};

/// Scores settings on folds of the known classes, with the work shared.
pub struct Evaluator<'a, T = f32> {
    dataset: &'a Dataset,
    pub(super) pool: Pool<T>,
    pub(super) folds: Vec<Fold>,
    pub(super) shelf: Shelf,
    varying: usize,
    pub(super) seed: u64,
}

/// One fold, and what is known of it.
pub(super) struct Fold {
    trial: Trial,
    /// Numbers of the training instances in the pool, then of those held out.
    pub(super) order: Vec<usize>,
    pub(super) labels: Vec<usize>,
    test_labels: Vec<usize>,
    pub(super) searched: Searched,
    /// The features that are not the same for all training instances.
    pub(super) varying: Option<Vec<usize>>,
    /// The mean of the training instances.
    pub(super) mean: Option<Vec<f64>>,
}

impl Fold {
    /// Whether a setting's space is learned in the visual dimensions.
    pub(super) fn is_primal(&self, Job { pipeline, .. }: &Job, views: &Views) -> bool {
        let way = pipeline.fusion.choose(views, self.labels.len(), pipeline.bottom_up.is_direct());
        way.is_ok_and(|(method, _)| method == Method::Primal)
    }

    /// The fold's instances among all, which stand in their own order.
    pub(super) fn ground<'a, T: Scalar>(
        &'a self,
        features: MatRef<'a, T>,
        semantics: &'a [ClassSemantics],
    ) -> Ground<'a, T> {
        let Self { labels, test_labels, .. } = self;
        let (train, test) = self.order.split_at(labels.len());
        let (train, test) = (Columns::new(features, train), Columns::new(features, test));
        Ground { train, test, labels, test_labels, semantics }
    }
}

impl<'a> Evaluator<'a> {
    /// Gathers the instances of `trial`'s known classes, and nothing else, for these folds of them.
    pub fn new(
        dataset: &'a Dataset,
        trial: &Trial,
        folds: Vec<Trial>,
        choice: &Choice,
        seed: u64,
        watch: &dyn Observer,
    ) -> Result<Self> {
        watch.stage("load");
        let sources = Sources::new(dataset, choice)?;
        let features = sources.features(&trial.train, choice.normalize, watch)?;
        Self::over_views(dataset, features, sources.views, &trial.train, folds, seed)
    }
}

impl<'a, T: Scalar> Evaluator<'a, T> {
    /// The same over given features of one view, one column for each of `instances`.
    pub fn over(
        dataset: &'a Dataset,
        features: Mat<T>,
        instances: &[usize],
        folds: Vec<Trial>,
        seed: u64,
    ) -> Result<Self> {
        let views = Views::single(&dataset.visual(None)?.name, features.nrows());
        Self::over_views(dataset, features, views, instances, folds, seed)
    }

    fn over_views(
        dataset: &'a Dataset,
        features: Mat<T>,
        views: Views,
        instances: &[usize],
        folds: Vec<Trial>,
        seed: u64,
    ) -> Result<Self> {
        let number: HashMap<usize, usize> = instances.iter().enumerate().map(|(at, &i)| (i, at)).collect();
        let folds = folds
            .into_iter()
            .map(|trial| {
                let order = trial.train.iter().chain(&trial.test).map(|i| number[i]).collect();
                let labels = labels_among(dataset, &trial.train, &trial.known)?;
                require_instances(dataset, &trial, &labels)?;
                let test_labels = labels_among(dataset, &trial.test, &trial.unseen)?;
                Ok(Fold {
                    order,
                    labels,
                    test_labels,
                    searched: Vec::new(),
                    trial,
                    varying: None,
                    mean: None,
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let labels = instances.iter().map(|&instance| dataset.labels[instance]).collect();
        let varying = scatter::varying(features.as_ref()).len();
        let (pool, shelf) = (Pool::new(features, labels, views), Shelf::default());
        Ok(Self { dataset, pool, folds, shelf, varying, seed })
    }

    /// How many folds there are.
    pub fn folds(&self) -> usize {
        self.folds.len()
    }

    /// Lists that the filter left too short in some fold, and that were searched for.
    pub fn searched(&self) -> usize {
        self.folds.iter().flat_map(|fold| &fold.searched).map(HashMap::len).sum()
    }

    /// Makes the neighbour lists long enough for all of these settings at once.
    ///
    /// # Errors
    /// If lists are not those that a plain search finds.
    pub fn prepare(&mut self, batch: &[Settings], watch: &dyn Observer) -> Result<()> {
        if check_search(batch).is_err() {
            // Scoring them fails: no need to search first.
            return Ok(());
        }
        let share = |fold: &Fold| fold.test_labels.len() as f64 / fold.order.len().max(1) as f64;
        let share = self.folds.iter().map(share).fold(0.0, f64::max);
        for kind in [Neighborhood::Global, Neighborhood::WithinClass] {
            let asked = batch.iter().filter_map(|settings| lists_of(&settings.pipeline(0).bottom_up));
            if let Some(k) = asked.filter(|(other, _)| *other == kind).map(|(_, k)| k).max() {
                self.pool.prepare(kind, k, share, watch)?;
            }
        }
        Ok(())
    }

    /// The same settings with a dim that exists in every fold, and the larger one that was asked for.
    pub fn clipped(&self, settings: &Settings) -> (Settings, Option<usize>) {
        let least = |count: fn(&Fold) -> usize| self.folds.iter().map(count).min().unwrap_or(0);
        let instances = least(|fold| fold.labels.len());
        let most = match settings.bottom_up.unwrap_or(BottomUpName::Slpp) {
            BottomUpName::Slpp | BottomUpName::Lpp => instances,
            BottomUpName::Pca => instances.saturating_sub(1),
            BottomUpName::Lda => least(|fold| fold.trial.known.len()).saturating_sub(1),
            BottomUpName::Cca => self.semantic_dim(settings),
            BottomUpName::None => return (settings.clone(), None),
        };
        let most = most.min(self.features_of(settings, instances)).max(1);
        match settings.dim {
            Some(dim) if dim > most => (Settings { dim: Some(most), ..settings.clone() }, Some(dim)),
            _ => (settings.clone(), None),
        }
    }

    /// The features that a learner has: those that vary, or those of the fused kernel.
    fn features_of(&self, settings: &Settings, instances: usize) -> usize {
        let pipeline = settings.pipeline(self.seed);
        let Ok(views) = self.views_of(settings) else { return self.varying };
        match pipeline.fusion.choose(&views, instances, pipeline.bottom_up.is_direct()) {
            Ok((Method::NSpace, _)) => instances,
            Ok((Method::Nystrom, _)) => instances.min(pipeline.fusion.nystrom_rank),
            Ok((Method::Primal, _)) | Err(_) => self.varying,
        }
    }

    /// The views as a setting weighs them.
    pub(super) fn views_of(&self, settings: &Settings) -> Result<Views> {
        let chosen = settings.choice(self.dataset)?.visual;
        check_choice(&chosen)?;
        let mut views = self.pool.views().clone();
        let names = |parts: &mut dyn Iterator<Item = &String>| parts.cloned().collect::<Vec<_>>().join(",");
        let (asked, held) =
            (names(&mut chosen.iter().map(|v| &v.name)), names(&mut views.parts.iter().map(|v| &v.name)));
        if asked != held {
            let problem = format!("`visual` is {asked}, but {held} is what was loaded: views are not varied");
            return Err(Error::Grid { problem });
        }
        for (view, chosen) in views.parts.iter_mut().zip(chosen) {
            (view.weight, view.kernel) = (chosen.weight, chosen.kernel);
        }
        Ok(views)
    }

    /// Same-class pairs among the `k` nearest of every view over all instances; lists that are there are used.
    ///
    /// # Errors
    /// As [`Self::prepare`].
    pub fn pairs(&mut self, k: usize, watch: &dyn Observer) -> Result<Vec<Pairs>> {
        self.pool.prepare(Neighborhood::Global, k, 0.0, watch)?;
        let lists = self.pool.lists(Neighborhood::Global).unwrap_or(&[]);
        Ok(lists.iter().map(|list| Pairs::of(list, k, self.pool.labels())).collect())
    }

    fn semantic_dim(&self, settings: &Settings) -> usize {
        let Ok(choice) = settings.choice(self.dataset) else { return usize::MAX };
        let names = choice.semantic.iter().filter_map(|(name, _)| self.dataset.semantic(Some(name)).ok());
        names.map(|semantic| semantic.vectors.nrows()).sum()
    }

    /// Scores a batch on one fold; `report` is called with every score (per-class accuracy) that is `wanted`.
    ///
    /// # Errors
    /// What `report` fails with, and unusable descriptions. A setting that cannot be fitted is reported instead.
    pub fn score(
        &mut self,
        fold: usize,
        batch: &[Settings],
        wanted: &[bool],
        report: &(dyn Fn(usize, Result<f64>) -> Result<bool> + Sync),
        watch: &dyn Observer,
    ) -> Result<()> {
        if !wanted.contains(&true) {
            return Ok(());
        }
        check_search(batch)?;
        self.prepare(batch, watch)?;
        let batch = self.jobs(batch, wanted)?;
        let semantics = self.semantics(&self.folds[fold], &batch)?;
        let Fold { order, labels, test_labels, searched, .. } = &mut self.folds[fold];
        let members = &order[..labels.len()];
        self.pool.arrange_back();
        let lists = Lists::new(&self.pool, members, searched, needs(&batch.jobs), watch);
        self.pool.arrange(order);
        let (pool, lists, semantics, views) = (&self.pool, &lists, &semantics[..], &batch.weighed[..]);
        let fused = Fused { pool, lists, labels, test_labels, semantics, views };
        let told = Told::default();
        fused.score(&batch.jobs, &|job, score| told.hear(report(job, score)), watch);
        told.outcome()
    }

    /// The descriptions that a batch refers to, of the classes of a fold.
    pub(super) fn semantics(&self, Fold { trial, .. }: &Fold, batch: &Batch) -> Result<Vec<ClassSemantics>> {
        let of = |chosen| ClassSemantics::new(self.dataset, chosen, &trial.known, &trial.unseen);
        batch.chosen.iter().map(|chosen| of(chosen)).collect()
    }

    /// A batch as the folds see it.
    pub(super) fn jobs(&self, batch: &[Settings], wanted: &[bool]) -> Result<Batch> {
        let (mut chosen, mut weighed): (Vec<Vec<(String, f64)>>, Vec<Views>) = (Vec::new(), Vec::new());
        let mut jobs = Vec::with_capacity(batch.len());
        for (settings, &wanted) in batch.iter().zip(wanted) {
            let semantics = place_of(&mut chosen, settings.choice(self.dataset)?.semantic);
            let views = place_of(&mut weighed, self.views_of(settings)?);
            jobs.push(Job { pipeline: settings.pipeline(self.seed), semantics, views, wanted });
        }
        Ok(Batch { jobs, chosen, weighed })
    }

    /// A fingerprint of the features, labels, folds and descriptions: other data gives another.
    pub fn fingerprint(&mut self) -> String {
        self.pool.arrange_back();
        let mut hash = Xxh3::new();
        let features = self.pool.features();
        for column in features.col_iter() {
            column.iter().for_each(|value| hash.update(&value.to_f64().to_le_bytes()));
        }
        for fold in &self.folds {
            let parts = [&fold.order, &fold.labels, &fold.test_labels, &fold.trial.known, &fold.trial.unseen];
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

/// Some settings as the folds see them.
pub(super) struct Batch {
    pub(super) jobs: Vec<Job>,
    /// The descriptions that jobs refer to.
    chosen: Vec<Vec<(String, f64)>>,
    /// The ways to weigh the views that jobs refer to.
    pub(super) weighed: Vec<Views>,
}

/// What became of reports from several threads.
#[derive(Default)]
pub(super) struct Told(Mutex<Option<Error>>);

impl Told {
    /// Whether to go on; a failure is kept.
    pub(super) fn hear(&self, outcome: Result<bool>) -> bool {
        outcome.unwrap_or_else(|failure| {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
            false
        })
    }

    pub(super) fn outcome(self) -> Result<()> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }
}

/// The place of an item in a list, at its end where it is new.
pub(super) fn place_of<I: PartialEq>(list: &mut Vec<I>, item: I) -> usize {
    list.iter().position(|other| *other == item).unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    })
}

fn require_instances(dataset: &Dataset, trial: &Trial, labels: &[usize]) -> Result<()> {
    let mut counts = vec![0_usize; trial.known.len()];
    labels.iter().for_each(|&label| counts[label] += 1);
    match counts.iter().position(|&count| count == 0) {
        Some(empty) => Err(Error::EmptyClass {
            role: "known",
            class: dataset.classes[trial.known[empty]].clone(),
            split: trial.name.clone(),
        }),
        None => Ok(()),
    }
}
