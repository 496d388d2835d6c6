//! One fold: which instances of the pool it trains on, which it holds out.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use faer::MatRef;

use bidilel_math::{Columns, Scalar, scatter};

use super::pool::Searched;
use super::tree::ViewsKey;
use crate::dataset::Dataset;
use crate::error::{Error, Result, Role};
use crate::split::Trial;
use crate::task::labels_among;
use crate::visual::KernelForm;

/// A division of the known classes, with what has been found out about it.
pub(super) struct Fold {
    pub(super) trial: Trial,
    /// Training instances, by their index in the pool.
    pub(super) train: Vec<usize>,
    /// Held-out instances, those of known classes first where the fold tests some.
    pub(super) test: Vec<usize>,
    pub(super) labels: Vec<usize>,
    /// Their classes, counted within the candidates.
    pub(super) test_labels: Vec<usize>,
    /// How many of the candidates are known: all known classes where the fold tests some, otherwise none.
    pub(super) known: usize,
    searched: Mutex<Searched>,
    /// The mean of the training instances.
    pub(super) mean: Vec<f64>,
}

impl Fold {
    /// A fold whose instances have these indices among the `features` of the pool.
    pub(super) fn new<T: Scalar>(
        dataset: &Dataset,
        trial: Trial,
        index: &HashMap<usize, usize>,
        features: MatRef<'_, T>,
    ) -> Result<Self> {
        let labels = labels_among(dataset, &trial.train, &trial.known)?;
        if let Some(empty) = (0..trial.known.len()).find(|class| !labels.contains(class)) {
            let class = dataset.classes[trial.known[empty]].clone();
            return Err(Error::EmptyClass { role: Role::Known, class, split: trial.name });
        }
        let indices = |instances: &[usize]| instances.iter().map(|instance| index[instance]).collect();
        let train: Vec<usize> = indices(&trial.train);
        let known = if trial.test_seen.is_empty() { 0 } else { trial.known.len() };
        let candidates = [&trial.known[..known], &trial.unseen].concat();
        let test = [&trial.test_seen[..], &trial.test].concat();
        Ok(Self {
            mean: scatter::mean(Columns::new(features, &train)),
            train,
            test: indices(&test),
            labels,
            test_labels: labels_among(dataset, &test, &candidates)?,
            known,
            trial,
            searched: Mutex::default(),
        })
    }

    /// Takes on other features of the same instances.
    pub(super) fn reset<T: Scalar>(&mut self, features: MatRef<'_, T>) {
        self.mean = scatter::mean(Columns::new(features, &self.train));
        self.searched().clear();
    }

    /// Neighbor lists that had to be searched for again.
    pub(super) fn searched(&self) -> MutexGuard<'_, Searched> {
        self.searched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How its views are joined.
    pub(super) fn method(&self, ViewsKey { views, fusion, direct }: &ViewsKey) -> Result<KernelForm> {
        fusion.choose(views, self.train.len(), *direct).map(|(method, _)| method)
    }
}
