//! All folds of some graphs at a time.
//!
//! The scatter matrices of folds have most of their sums in common ([`super::shelf`]). Once they are made, what is left
//! are independent eigenproblems, one a fold, graph and alpha, each followed by the spaces that come of it: as many run
//! side by side as there are threads, whichever folds they are of. Instances are read where they lie.

use rayon::prelude::*;

use bidilel_math::graph::Affinity;
use bidilel_math::parallel::run_jobs;
use bidilel_math::{Columns, Observer, Scalar, scatter};

use super::common::{GraphKey, NotesOnly, check_search, graph_key, groups};
use super::evaluator::{Batch, Evaluator, Fold, Told, place_of};
use super::pool::{Lists, needs};
use super::shared::by_alpha;
use super::shelf::{Best, Parts};
use super::spaces::Problem;
use crate::bottom_up::{Locality, Scatters, usable};
use crate::error::Result;
use crate::settings::Settings;

/// An eigenproblem of a fold, and where to say what it is good for.
struct Waiting<'a> {
    fold: usize,
    scatters: &'a Scatters,
    best: &'a Best,
    locality: Locality,
    alpha: Option<u64>,
    members: Vec<usize>,
}

impl Waiting<'_> {
    fn problem(&self) -> Problem<'_> {
        let Self { scatters, locality, members, .. } = self;
        Problem { scatters, locality, alpha: self.alpha, members }
    }
}

impl<T: Scalar> Evaluator<'_, T> {
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
        self.prepare(portion, watch)?;
        let Batch { jobs, weighed, .. } = self.jobs(portion, &vec![true; portion.len()])?;
        let mut graphs: Vec<(usize, GraphKey)> = Vec::new();
        for job in &jobs {
            let Some(key) = graph_key(&job.pipeline.bottom_up).filter(|key| key.locality.is_additive())
            else {
                continue;
            };
            let views = &weighed[job.views];
            if self.folds[..folds].iter().all(|fold| fold.is_primal(job, views))
                && !self.shelf.has(views, &key)
            {
                place_of(&mut graphs, (job.views, key));
            }
        }
        if graphs.is_empty() {
            return Ok(());
        }
        self.pool.arrange_back();
        let mut parts: Vec<Parts> = graphs.iter().map(|_| Parts::default()).collect();
        let pool = &self.pool;
        let features = pool.features();
        let made = |fold: &mut Fold| {
            let members = &fold.order[..fold.labels.len()];
            fold.varying.get_or_insert_with(|| scatter::varying(Columns::new(features, members)));
            Lists::new(pool, members, &mut fold.searched, needs(&jobs), &NotesOnly(watch))
        };
        // Two at a time: much of a graph is made by one thread, and no more of them than that are held whole.
        for some in self.folds[..folds].chunks_mut(2) {
            let lists: Vec<Lists> = some.par_iter_mut().map(made).collect();
            for ((views, key), parts) in graphs.iter().zip(&mut parts) {
                let views = &weighed[*views];
                let graph = |(fold, lists): (&Fold, &Lists)| lists.graph(key, views, &fold.labels);
                let found: Vec<Affinity> = some.par_iter().zip(&lists).map(graph).collect();
                for (fold, graph) in some.iter().zip(found) {
                    let members = &fold.order[..fold.labels.len()];
                    let varying = fold.varying.clone().unwrap_or_default();
                    // A graph that cannot be used leaves its part out, and with that the whole.
                    let usable = Locality::check_graph(&graph, watch)
                        .and_then(|()| usable(varying, features.nrows(), views, watch));
                    if let Ok(dimensions) = usable {
                        parts.graphs.push(&graph.expanded(members, fold.order.len()));
                        parts.others.push((dimensions, members.len()));
                    }
                }
            }
        }
        watch.stage("scatter");
        for ((views, key), parts) in graphs.iter().zip(parts) {
            if parts.graphs.len() == folds {
                self.shelf.add(self.pool.features(), &weighed[*views], key, &parts, watch);
            }
        }
        Ok(())
    }

    /// Scores the settings of a portion whose matrices have been summed up together: on every fold those that are
    /// `wanted` there. `report` is called with the fold, the setting and its score.
    ///
    /// # Errors
    /// What `report` fails with, and unusable descriptions.
    pub(crate) fn score_together(
        &mut self,
        portion: &[Settings],
        wanted: &[Vec<bool>],
        report: &(dyn Fn(usize, usize, Result<f64>) -> Result<bool> + Sync),
        watch: &dyn Observer,
    ) -> Result<()> {
        let seen = |fold: &Fold, wanted: &Vec<bool>| {
            let batch = self.jobs(portion, wanted)?;
            let semantics = self.semantics(fold, &batch)?;
            Ok((batch, semantics))
        };
        let seen: Vec<(Batch, Vec<_>)> =
            self.folds.iter().zip(wanted).map(|(fold, wanted)| seen(fold, wanted)).collect::<Result<_>>()?;
        let mut problems: Vec<Waiting<'_>> = Vec::new();
        for (number, (Batch { jobs, weighed, .. }, _)) in seen.iter().enumerate() {
            let fold = &self.folds[number];
            let primal = |job: &usize| fold.is_primal(&jobs[*job], &weighed[jobs[*job].views]);
            let all: Vec<usize> = (0..jobs.len()).filter(primal).collect();
            let key = |job: usize| (jobs[job].views, graph_key(&jobs[job].pipeline.bottom_up));
            for ((views, key), members) in groups(&all, key) {
                let Some(key) = key else { continue };
                let Some((scatters, best)) = self.shelf.find(&weighed[views], &key, number) else { continue };
                for (alpha, members) in by_alpha(jobs, &members) {
                    let locality = key.locality.clone();
                    problems.push(Waiting { fold: number, scatters, best, locality, alpha, members });
                }
            }
        }
        if problems.is_empty() {
            return Ok(());
        }
        self.pool.arrange_back();
        let features = self.pool.features();
        for fold in &mut self.folds[..wanted.len()] {
            let members = &fold.order[..fold.labels.len()];
            fold.mean.get_or_insert_with(|| scatter::mean(Columns::new(features, members)));
        }
        watch.stage("eigen");
        let told = Told::default();
        run_jobs(&problems, |one| {
            let (fold, (Batch { jobs, .. }, semantics)) = (&self.folds[one.fold], &seen[one.fold]);
            let report = |job: usize, score: Result<f64>| {
                score.iter().for_each(|&score| one.best.see(score));
                told.hear(report(one.fold, job, score))
            };
            let mean = fold.mean.as_deref().unwrap_or(&[]);
            fold.ground(features, semantics).solve(&one.problem(), mean, jobs, &report, &NotesOnly(watch))
        });
        told.outcome()
    }

    /// Lets go of all matrices but those of the best setting so far.
    pub(crate) fn settle(&mut self) {
        self.shelf.keep_best();
    }
}
