//! What later stages of a search need again: scatter matrices and latent spaces.
//!
//! Scatter matrices are summed for several folds at a time.
//!
//! They are sums over the edges of graphs, and an edge is summed once for all folds that have it
//! ([`backend::of_graphs`]). The matrices of the best setting so far are kept: the next stage varies another setting
//! around it, over the same graph. Those of the first setting are kept, too, where there is one fold, and its space, which is
//! much smaller, for any number of folds: a search begins with the defaults, and returns to their graph.
//!
//! A space is found with the most dims that were asked of it so far, and none of its bits depend on whether it was kept.

use std::ops::Range;

use faer::Mat;
use rayon::prelude::*;

use bidilel_math::graph::{Affinity, Graphs};
use bidilel_math::scatter::{self, Selected};
use bidilel_math::{Columns, Observer, Scalar, backend};

use super::execute::NotesOnly;
use super::fold::Fold;
use super::pool::Pool;
use super::tree::GraphSettings;
use crate::bottom_up::{BottomUp, Locality, Scatters, usable};
use crate::error::Error;
use crate::visual::Views;

/// Graphs that are made, and held whole, at a time: a large part of each is made by one thread.
const GRAPHS_AT_A_TIME: usize = 2;

/// Scatter matrices and spaces by what they depend on.
#[derive(Default)]
pub(super) struct Cache {
    scatters: Vec<Entry>,
    /// What the first matrices depend on.
    first: Option<ScatterKey>,
    spaces: Vec<Space>,
    /// Whether a first space was chosen: it stays.
    begun: bool,
}

/// The space of one fold.
pub(super) struct Space {
    pub(super) key: ScatterKey,
    pub(super) fold: usize,
    pub(super) alpha: Option<f64>,
    /// Visual x latent dimensions.
    pub(super) map: Mat<f64>,
    /// Whether it is that of the first setting.
    first: bool,
    /// The best mean score that it has led to.
    score: f64,
}

impl Space {
    pub(super) fn new(key: ScatterKey, fold: usize, alpha: Option<f64>, map: Mat<f64>) -> Self {
        Self { key, fold, alpha, map, first: false, score: 0.0 }
    }
}

/// A key, one pair of matrices per fold, and the best mean score that they have led to.
type Entry = (ScatterKey, Vec<Scatters>, f64);

/// What scatter matrices depend on: summed over other folds, they differ in the last bits.
#[derive(Clone, PartialEq)]
pub(super) struct ScatterKey {
    pub(super) views: Views,
    pub(super) learner: BottomUp,
    pub(super) folds: Range<usize>,
}

impl Cache {
    /// The matrices of every fold; none where they were not made.
    pub(super) fn get(&self, key: &ScatterKey) -> &[Scatters] {
        self.scatters.iter().find(|(own, ..)| own == key).map_or(&[], |(_, scatters, _)| scatters)
    }

    /// Makes the matrices of `folds`, those of the key, if they are missing.
    ///
    /// They stay missing where a fold cannot use its graph, or has other features that vary: each fold then makes its
    /// own, and reports what is wrong.
    pub(super) fn fill<T: Scalar>(
        &mut self,
        key: &ScatterKey,
        pool: &Pool<T>,
        folds: &[Fold],
        watch: &dyn Observer,
    ) {
        if self.get(key).is_empty()
            && let Some(scatters) = sum(key, pool, folds, watch)
        {
            self.scatters.push((key.clone(), scatters, 0.0));
        }
    }

    /// Drops all matrices but those that led to the best score, the first of equals, and the first of a single fold.
    pub(super) fn keep_best(&mut self, score: impl Fn(&ScatterKey) -> f64) {
        let mut best: Option<(ScatterKey, f64)> = None;
        for (key, _, before) in &mut self.scatters {
            *before = before.max(score(key));
            if best.as_ref().is_none_or(|(_, best)| *before > *best) {
                best = Some((key.clone(), *before));
            }
        }
        let Some((best, _)) = best else { return };
        let first = self.first.get_or_insert_with(|| best.clone());
        self.scatters.retain(|(key, ..)| *key == best || (key == first && key.folds.len() == 1));
    }

    /// The kept space of a fold, if it has at least `dim` dimensions.
    pub(super) fn space(
        &self,
        key: &ScatterKey,
        fold: usize,
        alpha: Option<f64>,
        dim: usize,
    ) -> Option<&Mat<f64>> {
        let same = |space: &&Space| space.fold == fold && space.alpha == alpha && space.key == *key;
        self.spaces.iter().find(same).map(|space| &space.map).filter(|map| map.ncols() >= dim)
    }

    /// Adds spaces, and drops all but the first and those that led to the best score, the first of equals.
    pub(super) fn keep_spaces(
        &mut self,
        found: Vec<Space>,
        score: impl Fn(&ScatterKey, Option<f64>) -> Option<f64>,
    ) {
        for space in found {
            let (key, fold, alpha) = (&space.key, space.fold, space.alpha);
            let same = |other: &&mut Space| other.fold == fold && other.alpha == alpha && other.key == *key;
            // The same space with more dims.
            match self.spaces.iter_mut().find(same) {
                Some(other) => other.map = space.map,
                None => self.spaces.push(space),
            }
        }
        for space in &mut self.spaces {
            space.score = space.score.max(score(&space.key, space.alpha).unwrap_or(0.0));
        }
        let mut best: Option<(f64, ScatterKey, Option<f64>)> = None;
        for Space { key, alpha, score, .. } in &self.spaces {
            if best.as_ref().is_none_or(|(best, ..)| score > best) {
                best = Some((*score, key.clone(), *alpha));
            }
        }
        let Some((_, key, alpha)) = best else { return };
        self.spaces.retain_mut(|space| {
            let is_best = space.key == key && space.alpha == alpha;
            space.first |= is_best && !self.begun;
            is_best || space.first
        });
        self.begun = true;
    }
}

fn sum<T: Scalar>(
    ScatterKey { views, learner, .. }: &ScatterKey,
    pool: &Pool<T>,
    folds: &[Fold],
    watch: &dyn Observer,
) -> Option<Vec<Scatters>> {
    let (points, settings) = (pool.features.as_ref(), GraphSettings::of(learner)?);
    let (mut graphs, mut rows, mut alone) = (Graphs::default(), None::<Vec<usize>>, None);
    for some in folds.chunks(GRAPHS_AT_A_TIME) {
        // Nothing is made of what was canceled: nobody looks at it.
        Error::unless_cancelled(watch).ok()?;
        let made: Vec<Affinity> =
            some.par_iter().map(|fold| pool.graph(fold, &settings, views, &NotesOnly(watch))).collect();
        Error::unless_cancelled(watch).ok()?;
        for (fold, graph) in some.iter().zip(made) {
            Locality::check_graph(&graph, watch).ok()?;
            let varying = scatter::varying(Columns::new(points, &fold.train));
            let own = usable(varying, points.nrows(), views, watch).ok()?;
            if *rows.get_or_insert_with(|| own.clone()) != own {
                return None;
            }
            let graph = graph.expanded(&fold.train, points.ncols());
            graphs.push(&graph);
            Error::unless_cancelled(watch).ok()?;
            alone = (folds.len() == 1).then_some(graph);
        }
    }
    let rows = rows?;
    watch.stage("scatter");
    let data = Selected { points, rows: &rows, center: None };
    let pencils = backend::of_graphs(data, &graphs, watch);
    // Sums that were cut off must not be kept.
    Error::unless_cancelled(watch).ok()?;
    if let Some(graph) = alone {
        scatter::verify_graph(data, &graph, &pencils[0], watch).ok()?;
    }
    let scatters =
        |(pencil, fold): (_, &Fold)| Scatters::new(pencil, None, rows.clone(), views, fold.train.len());
    Some(pencils.into_iter().zip(folds).map(scatters).collect())
}
