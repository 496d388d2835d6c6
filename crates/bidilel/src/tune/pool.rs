//! The instances of all known classes and their neighbour lists, held once whatever the number of folds.

use std::collections::HashMap;

use faer::Mat;
use rayon::prelude::*;

use bidilel_math::graph::Affinity;
use bidilel_math::neighbors::{self, Neighbors};
use bidilel_math::parallel::zeros;
use bidilel_math::{Columns, Observer, Scalar};

use super::fold::Fold;
use super::tree::GraphSettings;
use crate::bottom_up::Neighborhood;
use crate::error::{Error, Result};
use crate::visual::{Pairs, View, Views};

/// Bytes of scatter matrices that are always granted, however few instances there are.
const MIN_SCATTER_BYTES: usize = 96 << 20;

/// Features of the known classes, and neighbour lists over all of them.
pub(super) struct Pool<T> {
    /// All views, one instance per column.
    pub(super) features: Mat<T>,
    /// The class of every instance.
    labels: Vec<usize>,
    pub(super) views: Views,
    global: Option<Lists>,
    within_class: Option<Lists>,
}

/// Neighbour lists of every view, and the number of neighbours for which they are long enough in every fold.
struct Lists {
    neighbors: usize,
    views: Vec<Neighbors>,
}

/// Lists that a fold leaves too short and that were searched for again, by view.
pub(super) type Searched = Vec<HashMap<usize, Vec<(usize, f64)>>>;

impl<T: Scalar> Pool<T> {
    pub(super) fn new(features: Mat<T>, labels: Vec<usize>, views: Views) -> Self {
        Self { features, labels, views, global: None, within_class: None }
    }

    /// How many pairs of scatter matrices take no more memory than the features, or than [`MIN_SCATTER_BYTES`].
    pub(super) fn scatter_capacity(&self) -> usize {
        let (dim, count) = (self.features.nrows(), self.features.ncols());
        (dim * count * size_of::<T>()).max(MIN_SCATTER_BYTES) / (dim * dim * size_of::<f64>()).max(1)
    }

    /// Some instances as a matrix of their own, for learners that take no [`Columns`].
    pub(super) fn gather(&self, instances: &[usize]) -> Mat<T> {
        let mut own = zeros(self.features.nrows(), instances.len());
        let all = Columns::new(self.features.as_ref(), instances);
        own.par_col_iter_mut().enumerate().for_each(|(i, mut column)| column.copy_from(all.col(i)));
        own
    }

    /// Makes lists long enough for `k` neighbours when a `share` of the pool is held out.
    pub(super) fn prepare(
        &mut self,
        kind: Neighborhood,
        k: usize,
        share: f64,
        watch: &dyn Observer,
    ) -> Result<()> {
        if self.lists(kind).is_some_and(|lists| lists.neighbors >= k) {
            return Ok(());
        }
        watch.stage("neighbors");
        let mut first = 0;
        let search = |view: &View| {
            let part = self.features.as_ref().subrows(first, view.dim);
            first += view.dim;
            if kind == Neighborhood::WithinClass {
                // A fold holds out whole classes: nothing is ever missing from these lists.
                let found = neighbors::within_labels(part, &self.labels, k, watch);
                neighbors::verify_within_labels(part, &self.labels, &found, watch)?;
                return Ok(found);
            }
            // A quarter more than remains on average: few lists are then too short.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
            let length = (1.25 * k as f64 / (1.0 - share)).ceil() as usize + 8;
            let found = neighbors::exact(part, length, watch);
            neighbors::verify(part, &found, watch)?;
            Ok(found)
        };
        let found: bidilel_math::Result<Vec<Neighbors>> = self.views.parts.iter().map(search).collect();
        let lists = Some(Lists { neighbors: k, views: found.map_err(Error::in_stage("neighbors"))? });
        match kind {
            Neighborhood::Global => self.global = lists,
            Neighborhood::WithinClass => self.within_class = lists,
        }
        Ok(())
    }

    fn lists(&self, kind: Neighborhood) -> Option<&Lists> {
        match kind {
            Neighborhood::Global => self.global.as_ref(),
            Neighborhood::WithinClass => self.within_class.as_ref(),
        }
    }

    /// Same-class pairs among the `k` nearest neighbours of every view, from prepared lists.
    pub(super) fn pairs(&self, k: usize) -> Vec<Pairs> {
        let lists = self.lists(Neighborhood::Global).map_or(&[][..], |lists| &lists.views);
        lists.iter().map(|list| Pairs::of(list, k, &self.labels)).collect()
    }

    /// The graph of a fold's training instances, the mean over the `views` that have a weight; lists are prepared.
    pub(super) fn graph(
        &self,
        fold: &Fold,
        GraphSettings { locality, neighborhood, supervised }: &GraphSettings<'_>,
        views: &Views,
        watch: &dyn Observer,
    ) -> Affinity {
        let lists = self.lists(*neighborhood).expect("lists are prepared for the whole batch");
        let mut searched = std::mem::take(&mut *fold.searched());
        searched.resize_with(lists.views.len(), HashMap::new);
        let (mut first, mut found) = (0, Vec::new());
        for ((view, list), searched) in views.parts.iter().zip(&lists.views).zip(&mut searched) {
            let part = self.features.as_ref().subrows(first, view.dim);
            first += view.dim;
            if view.weight > 0.0 && *neighborhood == Neighborhood::Global {
                let known = std::mem::take(searched);
                let own = list.restricted(&fold.train, part, locality.neighbors, known, watch);
                *searched = own.searched;
                found.push(own.neighbors);
            } else if view.weight > 0.0 {
                found.push(list.renumbered(&fold.train));
            }
        }
        *fold.searched() = searched;
        let (lists, labels) = (found.iter().collect::<Vec<_>>(), supervised.then_some(&fold.labels[..]));
        views.graph(&lists, locality.neighbors, labels, locality.weights)
    }
}
