//! Scatter matrices, the most expensive part of tuning, summed for several folds at a time.
//!
//! They are sums over the edges of graphs, and an edge is summed once for all folds that have it
//! ([`backend::of_graphs`]). The matrices of the best setting so far are kept: the next stage varies another setting
//! around it, over the same graph.

use std::ops::Range;

use rayon::prelude::*;

use bidilel_math::graph::{Affinity, Graphs};
use bidilel_math::scatter::{self, Selected};
use bidilel_math::{Columns, Observer, Scalar, backend};

use super::execute::NotesOnly;
use super::fold::Fold;
use super::pool::Pool;
use super::tree::GraphSettings;
use crate::bottom_up::{BottomUp, Locality, Scatters, usable};
use crate::visual::Views;

/// Graphs that are made, and held whole, at a time: a large part of each is made by one thread.
const GRAPHS_AT_A_TIME: usize = 2;

/// Scatter matrices by what they depend on.
#[derive(Default)]
pub(super) struct Cache(Vec<Entry>);

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
        self.0.iter().find(|(own, ..)| own == key).map_or(&[], |(_, scatters, _)| scatters)
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
            self.0.push((key.clone(), scatters, 0.0));
        }
    }

    /// Drops all matrices but those that led to the best score, the first of equals.
    pub(super) fn keep_best(&mut self, score: impl Fn(&ScatterKey) -> f64) {
        let mut best: Option<Entry> = None;
        for (key, scatters, before) in self.0.drain(..) {
            let score = before.max(score(&key));
            if best.as_ref().is_none_or(|(.., best)| score > *best) {
                best = Some((key, scatters, score));
            }
        }
        self.0.extend(best);
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
        let made: Vec<Affinity> =
            some.par_iter().map(|fold| pool.graph(fold, &settings, views, &NotesOnly(watch))).collect();
        for (fold, graph) in some.iter().zip(made) {
            Locality::check_graph(&graph, watch).ok()?;
            let varying = scatter::varying(Columns::new(points, &fold.train));
            let own = usable(varying, points.nrows(), views, watch).ok()?;
            if *rows.get_or_insert_with(|| own.clone()) != own {
                return None;
            }
            let graph = graph.expanded(&fold.train, points.ncols());
            graphs.push(&graph);
            alone = (folds.len() == 1).then_some(graph);
        }
    }
    let rows = rows?;
    watch.stage("scatter");
    let data = Selected { points, rows: &rows, center: None };
    let pencils = backend::of_graphs(data, &graphs, watch);
    if let Some(graph) = alone {
        scatter::verify_graph(data, &graph, &pencils[0], watch).ok()?;
    }
    let scatters =
        |(pencil, fold): (_, &Fold)| Scatters::new(pencil, None, rows.clone(), views, fold.train.len());
    Some(pencils.into_iter().zip(folds).map(scatters).collect())
}
