//! A dataset's known classes, divided into folds, on which settings are scored.

use std::collections::HashMap;
use std::sync::Mutex;

use faer::Mat;
use xxhash_rust::xxh3::Xxh3;

use bidilel_math::{Observer, Scalar, scatter};

use super::common::{GraphKey, check_search, graph_key, groups, lists_of};
use super::fused::Fused;
use super::pool::{Lists, Pool, Searched};
use super::shared::Job;
use super::shelf::{Part, Shelf};
use crate::bottom_up::{Locality, Neighborhood};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::semantic::ClassSemantics;
use crate::settings::{BottomUpName, Settings};
use crate::split::Trial;
use crate::task::{Choice, Sources, Training, places};
use crate::visual::{Method, Pairs, Views, check_choice, is_direct};

/// Scores settings on folds of the known classes, with the work shared.
pub struct Evaluator<'a, T = f32> {
    dataset: &'a Dataset,
    pool: Pool<T>,
    folds: Vec<Fold>,
    shelf: Shelf,
    varying: usize,
    seed: u64,
}

struct Fold {
    trial: Trial,
    /// Numbers of the training instances in the pool, then of those held out.
    order: Vec<usize>,
    labels: Vec<usize>,
    test_labels: Vec<usize>,
    searched: Searched,
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
                let labels = places(dataset, &trial.train, &trial.known);
                require_instances(dataset, &trial, &labels)?;
                let test_labels = places(dataset, &trial.test, &trial.unseen);
                Ok(Fold { order, labels, test_labels, searched: Vec::new(), trial })
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
    pub fn prepare(&mut self, batch: &[Settings], watch: &dyn Observer) {
        if check_search(batch).is_err() {
            // Scoring them fails: no need to search first.
            return;
        }
        let share = |fold: &Fold| fold.test_labels.len() as f64 / fold.order.len().max(1) as f64;
        let share = self.folds.iter().map(share).fold(0.0, f64::max);
        for kind in [Neighborhood::Global, Neighborhood::WithinClass] {
            let asked = batch.iter().filter_map(|settings| lists_of(&settings.pipeline(0).bottom_up));
            if let Some(k) = asked.filter(|(other, _)| *other == kind).map(|(_, k)| k).max() {
                self.pool.prepare(kind, k, share, watch);
            }
        }
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
        match pipeline.fusion.choose(&views, instances, is_direct(&pipeline.bottom_up)) {
            Ok((Method::NSpace, _)) => instances,
            Ok((Method::Nystrom, _)) => instances.min(pipeline.fusion.nystrom_rank),
            Ok((Method::Primal, _)) | Err(_) => self.varying,
        }
    }

    /// The views as a setting weighs them.
    fn views_of(&self, settings: &Settings) -> Result<Views> {
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
    pub fn pairs(&mut self, k: usize, watch: &dyn Observer) -> Vec<Pairs> {
        self.pool.prepare(Neighborhood::Global, k, 0.0, watch);
        let lists = self.pool.lists(Neighborhood::Global).unwrap_or(&[]);
        lists.iter().map(|list| Pairs::of(list, k, self.pool.labels())).collect()
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
        self.prepare(batch, watch);
        let Batch { jobs, chosen, weighed } = self.jobs(batch, wanted)?;
        let Fold { trial, order, labels, test_labels, searched } = &mut self.folds[fold];
        let semantics = chosen
            .iter()
            .map(|one| ClassSemantics::new(self.dataset, one, &trial.known, &trial.unseen))
            .collect::<Result<Vec<_>>>()?;
        self.pool.arrange(order);
        let members = &order[..labels.len()];
        let (pool, semantics, views) = (&self.pool, &semantics[..], &weighed[..]);
        let fused = Fused { pool, members, labels, test_labels, semantics, views };
        let failure = Mutex::new(None);
        let tell = |job: usize, score: Result<f64>| match report(job, score) {
            Ok(going) => going,
            Err(error) => {
                *failure.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(error);
                false
            }
        };
        fused.score(&jobs, searched, Some((&self.shelf, fold)), &tell, watch);
        match failure.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// A batch as the folds see it.
    fn jobs(&self, batch: &[Settings], wanted: &[bool]) -> Result<Batch> {
        let (mut chosen, mut weighed): (Vec<Vec<(String, f64)>>, Vec<Views>) = (Vec::new(), Vec::new());
        let mut jobs = Vec::with_capacity(batch.len());
        for (settings, &wanted) in batch.iter().zip(wanted) {
            let semantics = place_of(&mut chosen, settings.choice(self.dataset)?.semantic);
            let views = place_of(&mut weighed, self.views_of(settings)?);
            jobs.push(Job { pipeline: settings.pipeline(self.seed), semantics, views, wanted });
        }
        Ok(Batch { jobs, chosen, weighed })
    }

    /// The settings of a batch, by number, in portions: there is room for the scatter matrices of all folds of one.
    pub(crate) fn portions(&self, batch: &[Settings]) -> Vec<Vec<usize>> {
        let all: Vec<usize> = (0..batch.len()).collect();
        // Those of the best setting so far stay beside them.
        let graphs = (self.pool.room_for_squares() / self.folds().max(1)).saturating_sub(1);
        if graphs == 0 {
            return vec![all];
        }
        let key = |at: usize| {
            let views = self.views_of(&batch[at]).ok();
            graph_key(&batch[at].pipeline(self.seed).bottom_up).map(|key| (views, key))
        };
        let flat = |some: &[(_, Vec<usize>)]| some.iter().flat_map(|(_, members)| members.clone()).collect();
        groups(&all, key).chunks(graphs).map(flat).collect()
    }

    /// Sums up the scatter matrices of a portion on the first `folds` folds together, those that can be.
    ///
    /// Where that is not possible, or fails, each fold makes its own and tells why it cannot.
    pub(crate) fn share(&mut self, portion: &[Settings], folds: usize, watch: &dyn Observer) -> Result<()> {
        let room = self.pool.room_for_squares() >= 2 * self.folds();
        if folds < 2 || !room || check_search(portion).is_err() {
            return Ok(());
        }
        self.prepare(portion, watch);
        let Batch { jobs, weighed, .. } = self.jobs(portion, &vec![true; portion.len()])?;
        let mut graphs: Vec<(usize, GraphKey)> = Vec::new();
        for Job { pipeline, views, .. } in &jobs {
            let Some(key) = graph_key(&pipeline.bottom_up).filter(|key| key.locality.is_additive()) else {
                continue;
            };
            let direct = is_direct(&pipeline.bottom_up);
            let primal = |fold: &Fold| {
                let way = pipeline.fusion.choose(&weighed[*views], fold.labels.len(), direct);
                way.is_ok_and(|(method, _)| method == Method::Primal)
            };
            if self.folds[..folds].iter().all(primal) && !self.shelf.has(&weighed[*views], &key) {
                place_of(&mut graphs, (*views, key));
            }
        }
        let longest = jobs.iter().filter_map(|job| lists_of(&job.pipeline.bottom_up)).map(|(_, k)| k).max();
        let mut parts: Vec<Vec<Part>> = graphs.iter().map(|_| Vec::new()).collect();
        for Fold { order, labels, searched, trial, .. } in &mut self.folds[..folds] {
            if graphs.is_empty() {
                return Ok(());
            }
            self.pool.arrange(order);
            let members = &order[..labels.len()];
            let mut lists = Lists::new(&self.pool, members, searched, longest.unwrap_or(0));
            for ((views, key), parts) in graphs.iter().zip(&mut parts) {
                let views = &weighed[*views];
                let graph = lists.graph(key, views, labels, watch);
                let features = self.pool.split(members.len()).0;
                let training =
                    Training { features, labels, classes: trial.known.len(), semantics: None, views };
                // A graph that cannot be used leaves its part out, and with that the whole.
                if let Ok(dimensions) = Locality::dimensions(&training, &graph, watch) {
                    let graph = graph.among(members, order.len());
                    parts.push(Part { graph, dimensions, instances: members.len() });
                }
            }
        }
        self.pool.arrange_back();
        watch.stage("scatter");
        for ((views, key), parts) in graphs.iter().zip(parts) {
            if parts.len() == folds {
                self.shelf.add(self.pool.features(), &weighed[*views], key, parts, watch);
            }
        }
        Ok(())
    }

    /// Lets go of all matrices but those of the best setting so far.
    pub(crate) fn settle(&mut self) {
        self.shelf.keep_best();
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
struct Batch {
    jobs: Vec<Job>,
    /// The descriptions that jobs refer to.
    chosen: Vec<Vec<(String, f64)>>,
    /// The ways to weigh the views that jobs refer to.
    weighed: Vec<Views>,
}

/// The place of an item in a list, at its end where it is new.
fn place_of<I: PartialEq>(list: &mut Vec<I>, item: I) -> usize {
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
