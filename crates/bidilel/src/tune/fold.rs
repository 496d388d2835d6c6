//! One fold: which instances of the pool it trains on, which it holds out.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use bidilel_math::{Columns, Scalar, scatter};

use super::pool::{Pool, Searched};
use super::tree::ViewsKey;
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::semantic::ClassSemantics;
use crate::split::Trial;
use crate::task::{Samples, Task, places};
use crate::visual::Method;

/// A division of the known classes, with what has been found out about it.
pub(super) struct Fold {
    pub(super) trial: Trial,
    /// Training instances, by their index in the pool.
    pub(super) train: Vec<usize>,
    /// Held-out instances.
    pub(super) test: Vec<usize>,
    pub(super) labels: Vec<usize>,
    pub(super) test_labels: Vec<usize>,
    searched: Mutex<Searched>,
    mean: OnceLock<Vec<f64>>,
}

impl Fold {
    /// A fold whose instances have these indices in the pool.
    pub(super) fn new(dataset: &Dataset, trial: Trial, index: &HashMap<usize, usize>) -> Result<Self> {
        let labels = places(dataset, &trial.train, &trial.known);
        let mut counts = vec![0_usize; trial.known.len()];
        labels.iter().for_each(|&label| counts[label] += 1);
        if let Some(empty) = counts.iter().position(|&count| count == 0) {
            let class = dataset.classes[trial.known[empty]].clone();
            return Err(Error::EmptyClass { role: "known", class, split: trial.name });
        }
        let indices = |instances: &[usize]| instances.iter().map(|instance| index[instance]).collect();
        Ok(Self {
            train: indices(&trial.train),
            test: indices(&trial.test),
            labels,
            test_labels: places(dataset, &trial.test, &trial.unseen),
            trial,
            searched: Mutex::default(),
            mean: OnceLock::new(),
        })
    }

    /// Neighbour lists that had to be searched for again.
    pub(super) fn searched(&self) -> MutexGuard<'_, Searched> {
        self.searched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How its views are joined.
    pub(super) fn method(&self, ViewsKey { views, fusion, direct }: &ViewsKey) -> Result<Method> {
        fusion.choose(views, self.train.len(), *direct).map(|(method, _)| method)
    }

    /// The task of its classes over all views.
    pub(super) fn task<T: Scalar>(&self, dataset: &Dataset, pool: &Pool<T>, of: &ClassSemantics) -> Task<T> {
        let name = |&class: &usize| dataset.classes[class].clone();
        let samples = |instances, labels: &Vec<usize>| Samples {
            features: pool.gather(instances),
            labels: labels.clone(),
        };
        Task {
            split: self.trial.name.clone(),
            views: pool.views.clone(),
            train: samples(&self.train, &self.labels),
            test: samples(&self.test, &self.test_labels),
            known: self.trial.known.iter().map(name).collect(),
            unseen: self.trial.unseen.iter().map(name).collect(),
            semantics: of.clone(),
        }
    }

    /// The mean of the training instances.
    pub(super) fn mean<T: Scalar>(&self, pool: &Pool<T>) -> &[f64] {
        self.mean.get_or_init(|| scatter::mean(Columns::new(pool.features.as_ref(), &self.train)))
    }
}
