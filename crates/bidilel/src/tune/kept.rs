//! The scatter matrices of a fold's best setting so far.
//!
//! The next stage varies another setting around the best one, over the same graph: its matrices need not be summed up
//! again. They are the largest part of tuning. One pair a fold is kept, and none where they would take more room than
//! the features themselves.

use std::sync::{Arc, Mutex, PoisonError};

use super::common::GraphKey;
use crate::bottom_up::Scatters;
use crate::visual::Views;

/// One fold's matrices, or none yet.
#[derive(Default)]
pub(crate) struct Kept(Option<Entry>);

struct Entry {
    views: Views,
    key: GraphKey,
    scatters: Arc<Scatters>,
    score: f64,
}

impl Kept {
    /// The matrices of this graph over these views, if they are the ones that were kept.
    pub(crate) fn find(&self, views: &Views, key: &GraphKey) -> Option<Arc<Scatters>> {
        let entry = self.0.as_ref().filter(|entry| entry.key == *key && entry.views == *views)?;
        Some(Arc::clone(&entry.scatters))
    }

    /// Keeps these if their best score is the fold's best so far.
    pub(crate) fn offer(&mut self, views: &Views, key: &GraphKey, scatters: &Arc<Scatters>, score: f64) {
        if self.0.as_ref().is_none_or(|entry| score > entry.score) {
            let scatters = Arc::clone(scatters);
            self.0 = Some(Entry { views: views.clone(), key: key.clone(), scatters, score });
        }
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

    pub(crate) fn get(self) -> Option<f64> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
