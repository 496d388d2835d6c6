//! Scatter matrices of all folds at a time.
//!
//! They are the largest part of tuning, and sums over the edges of graphs: an edge is summed up once for all folds that have
//! it ([`scatter::of_graphs`]). All folds of a few graphs are made at a time, as
//! many as there is room for, and those of the best setting so far are kept: the next stage varies another setting
//! around it, over the same graph.

use std::sync::{Mutex, PoisonError};

use faer::MatRef;

use bidilel_math::eigen::Pencil;
use bidilel_math::graph::Graphs;
use bidilel_math::scatter::{self, Selected};
use bidilel_math::{Observer, Scalar};

use super::common::GraphKey;
use crate::bottom_up::Scatters;
use crate::visual::Views;

/// The matrices that are held.
#[derive(Default)]
pub(crate) struct Shelf(Vec<Entry>);

/// The folds of a graph whose matrices are to be summed up.
#[derive(Default)]
pub(crate) struct Parts {
    /// The graphs over all instances of the pool; those that are held out have no edges.
    pub(crate) graphs: Graphs,
    /// Of every fold the dimensions that vary, and how many instances are not held out.
    pub(crate) others: Vec<(Vec<usize>, usize)>,
}

/// One graph's matrices.
struct Entry {
    views: Views,
    key: GraphKey,
    folds: Vec<(Scatters, Best)>,
}

impl Entry {
    fn is(&self, views: &Views, key: &GraphKey) -> bool {
        self.key == *key && self.views == *views
    }

    /// The mean over folds of the best score that the matrices have led to.
    fn mean(&self) -> f64 {
        self.folds.iter().map(|(_, best)| best.get().unwrap_or(0.0)).sum::<f64>()
            / self.folds.len().max(1) as f64
    }
}

impl Shelf {
    /// Whether there are matrices of this graph over these views.
    pub(crate) fn has(&self, views: &Views, key: &GraphKey) -> bool {
        self.0.iter().any(|entry| entry.is(views, key))
    }

    /// The matrices of a fold, and where to say what they are good for.
    pub(crate) fn find(&self, views: &Views, key: &GraphKey, fold: usize) -> Option<(&Scatters, &Best)> {
        let (scatters, best) = self.0.iter().find(|entry| entry.is(views, key))?.folds.get(fold)?;
        Some((scatters, best))
    }

    /// Sums up the matrices of all folds, where the same dimensions vary in each.
    pub(crate) fn add<T: Scalar>(
        &mut self,
        features: MatRef<'_, T>,
        views: &Views,
        key: &GraphKey,
        Parts { graphs, others }: &Parts,
        watch: &dyn Observer,
    ) {
        let Some((rows, _)) = others.first().filter(|first| others.iter().all(|other| other.0 == first.0))
        else {
            return;
        };
        let pencils = scatter::of_graphs(Selected { points: features, rows, center: None }, graphs, watch);
        let made = |(pencil, (rows, instances)): (Pencil, &(Vec<usize>, usize))| {
            (Scatters::new(pencil, None, rows.clone(), views, *instances), Best::default())
        };
        let folds = pencils.into_iter().zip(others).map(made).collect();
        self.0.push(Entry { views: views.clone(), key: key.clone(), folds });
    }

    /// Lets go of all but the best, the first of equals.
    pub(crate) fn keep_best(&mut self) {
        let mut best: Option<Entry> = None;
        for entry in self.0.drain(..) {
            if best.as_ref().is_none_or(|best| entry.mean() > best.mean()) {
                best = Some(entry);
            }
        }
        self.0.extend(best);
    }
}

/// The best of some scores that come from several threads.
#[derive(Default)]
pub(crate) struct Best(Mutex<Option<f64>>);

impl Best {
    pub(crate) fn see(&self, score: f64) {
        let mut best = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *best = Some(best.map_or(score, |other| other.max(score)));
    }

    fn get(&self) -> Option<f64> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
