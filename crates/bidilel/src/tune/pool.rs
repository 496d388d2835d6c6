//! The instances of all known classes and their neighbor lists, held once whatever the number of folds.
//!
//! Lists over all instances serve every fold, filtered. A fold that is the only one has lists of its own: those of its training
//! instances alone take less than half of the pairs where a third is held out, and need not be longer than the graph asks.

use std::collections::HashMap;

use faer::Mat;
use rayon::prelude::*;

use bidilel_math::graph::Affinity;
use bidilel_math::neighbors::Neighbors;
use bidilel_math::parallel::zeros;
use bidilel_math::{Columns, Observer, Scalar};

use super::fold::Fold;
use super::tree::GraphSettings;
use crate::bottom_up::{Neighborhood, Search};
use crate::error::Result;
use crate::visual::{Pairs, Views};

/// Bytes of scatter matrices that are always granted, however few instances there are.
const MIN_SCATTER_BYTES: usize = 96 << 20;

/// Features of the known classes, and neighbor lists over all of them.
pub(super) struct Pool<T> {
    /// All views, one instance per column.
    pub(super) features: Mat<T>,
    /// The class of every instance.
    pub(super) labels: Vec<usize>,
    /// The views, each of weight 1: settings have weights of their own.
    pub(super) views: Views,
    /// Neighbor lists.
    pub(super) lists: Vec<Lists>,
}

/// Neighbor lists of one kind.
pub(super) struct Lists {
    kind: Neighborhood,
    /// Whether they are among the training instances of the only fold, instead of all instances.
    alone: bool,
    /// The number of neighbors for which they are long enough in every fold.
    k: usize,
    /// Those of every view.
    views: Vec<Neighbors>,
}

/// Lists that a fold leaves too short and that were searched for again, by view.
pub(super) type Searched = Vec<HashMap<usize, Vec<(usize, f64)>>>;

impl<T: Scalar> Pool<T> {
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

    /// Makes lists long enough for `k` neighbors in each of these folds.
    ///
    /// # Errors
    /// If lists are not those that a plain search finds.
    pub(super) fn prepare(
        &mut self,
        kind: Neighborhood,
        k: usize,
        folds: &[Fold],
        watch: &dyn Observer,
    ) -> Result<()> {
        let [fold] = folds else {
            let held_out =
                |fold: &Fold| fold.test.len() as f64 / (fold.train.len() + fold.test.len()).max(1) as f64;
            return self.prepare_all(kind, k, folds.iter().map(held_out).fold(0.0, f64::max), watch);
        };
        if self.lists.iter().any(|lists| lists.kind == kind && lists.k >= k) {
            return Ok(());
        }
        watch.stage("neighbors");
        let (own, how) = (self.gather(&fold.train), (kind, Search::Exact));
        let views = self.views.neighbors(own.as_ref(), &fold.labels, how, k, watch)?;
        self.put(Lists { kind, alone: true, k, views });
        Ok(())
    }

    /// Makes lists over all instances long enough for `k` neighbors when a `share` of the pool is held out.
    ///
    /// # Errors
    /// If lists are not those that a plain search finds.
    pub(super) fn prepare_all(
        &mut self,
        kind: Neighborhood,
        k: usize,
        share: f64,
        watch: &dyn Observer,
    ) -> Result<()> {
        if self.lists.iter().any(|lists| lists.kind == kind && lists.k >= k && !lists.alone) {
            return Ok(());
        }
        watch.stage("neighbors");
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
        let length = match kind {
            // A fold holds out whole classes: nothing is ever missing from these lists.
            Neighborhood::WithinClass => k,
            // A quarter more than remains on average: few lists are then too short.
            Neighborhood::Global => (1.25 * k as f64 / (1.0 - share)).ceil() as usize + 8,
        };
        let how = (kind, Search::Exact);
        let views = self.views.neighbors(self.features.as_ref(), &self.labels, how, length, watch)?;
        self.put(Lists { kind, alone: false, k, views });
        Ok(())
    }

    /// In place of others of the kind.
    fn put(&mut self, lists: Lists) {
        self.lists.retain(|other| other.kind != lists.kind);
        self.lists.push(lists);
    }

    /// Same-class pairs among the `k` nearest neighbors of every view, from lists that are prepared over all instances.
    pub(super) fn pairs(&self, k: usize) -> Vec<Pairs> {
        let global = self.lists.iter().filter(|lists| lists.kind == Neighborhood::Global && !lists.alone);
        global.flat_map(|lists| &lists.views).map(|list| Pairs::of(list, k, &self.labels)).collect()
    }

    /// The graph of a fold's training instances, the mean over the `views` that have a weight; lists are prepared.
    pub(super) fn graph(
        &self,
        fold: &Fold,
        GraphSettings { locality, neighborhood, supervised }: &GraphSettings<'_>,
        views: &Views,
        watch: &dyn Observer,
    ) -> Affinity {
        let prepared = self.lists.iter().find(|lists| lists.kind == *neighborhood);
        let Lists { alone, views: lists, .. } = prepared.expect("lists are prepared for the whole batch");
        let labels = supervised.then_some(&fold.labels[..]);
        let used = |number: &usize| views.parts[*number].weight > 0.0;
        if *alone {
            let lists: Vec<&Neighbors> = (0..lists.len()).filter(used).map(|number| &lists[number]).collect();
            return views.graph(&lists, locality.neighbors, labels, locality.weights);
        }
        let mut searched = std::mem::take(&mut *fold.searched());
        searched.resize_with(lists.len(), HashMap::new);
        let parts = self.views.split(self.features.as_ref()).into_iter().zip(&mut searched);
        let restrict = |(list, (part, searched)): (&Neighbors, (_, &mut HashMap<_, _>))| {
            if *neighborhood == Neighborhood::WithinClass {
                return list.renumbered(&fold.train);
            }
            let known = std::mem::take(searched);
            let own = list.restricted(&fold.train, part, locality.neighbors, known, watch);
            *searched = own.searched;
            own.neighbors
        };
        let all = lists.iter().zip(parts).enumerate().filter(|(number, _)| used(number));
        let found: Vec<Neighbors> = all.map(|(_, list)| restrict(list)).collect();
        *fold.searched() = searched;
        views.graph(&found.iter().collect::<Vec<_>>(), locality.neighbors, labels, locality.weights)
    }
}
