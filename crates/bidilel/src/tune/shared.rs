//! Scores of many settings on one fold, each part of the work done once.
//!
//! Settings are grouped by what they have in common, from the outside in: the views ([`super::fused`]), the graph (one pair of scatter matrices),
//! then alpha (one eigenproblem at the largest dim; smaller spaces are its leading dimensions), then dim, descriptions
//! and embedder (one embedding), then the refiners, which start from one recognition ([`super::spaces`]).

use faer::MatRef;

use bidilel_math::parallel::run_jobs;
use bidilel_math::{Observer, Scalar, scatter};

use super::common::{GraphKey, NotesOnly, alpha, asked_dim, graph_key, groups, with_dim};
use super::pool::Lists;
use super::spaces::{Ground, Job, Problem, Report, fail};
use crate::bottom_up::{BottomUp, LatentSpaceLearner, Scatters};
use crate::semantic::ClassSemantics;
use crate::task::Training;
use crate::visual::Views;

/// One fold, as the learners see it.
pub(crate) struct View<'a, T> {
    pub(crate) train: MatRef<'a, T>,
    pub(crate) test: MatRef<'a, T>,
    /// Which of the features are whose.
    pub(crate) views: &'a Views,
    /// The views that graphs are made of.
    pub(crate) graph_views: &'a Views,
    pub(crate) labels: &'a [usize],
    pub(crate) test_labels: &'a [usize],
    pub(crate) semantics: &'a [ClassSemantics],
}

/// The spaces over one graph that are still to be solved for.
struct Open {
    key: GraphKey,
    scatters: Scatters,
    /// Settings by the bits of alpha.
    alphas: Vec<(Option<u64>, Vec<usize>)>,
}

impl<T: Scalar> View<'_, T> {
    /// Scores every one of `among` that is wanted; false when it was told to stop.
    pub(crate) fn score(
        &self,
        jobs: &[Job],
        among: &[usize],
        lists: &Lists,
        report: Report<'_>,
        watch: &dyn Observer,
    ) -> bool {
        let mut open: Vec<Open> = Vec::new();
        for (key, members) in groups(among, |job| graph_key(&jobs[job].pipeline.bottom_up)) {
            if !members.iter().any(|&job| jobs[job].wanted) {
                continue;
            }
            let Some(key) = key else {
                if !self.other_spaces(jobs, &members, report, watch) {
                    return false;
                }
                continue;
            };
            let graph = lists.graph(&key, self.graph_views, self.labels);
            match key.locality.scatters(&self.training(0), &graph, watch) {
                Ok(scatters) => {
                    let alphas = by_alpha(jobs, &members);
                    open.push(Open { key, scatters, alphas });
                }
                Err(failure) => {
                    if !fail(jobs, &members, failure, report) {
                        return false;
                    }
                }
            }
            // Eigenproblems are solved on one thread each: as many are gathered as there are threads.
            let ready =
                open.iter().map(|one| one.alphas.len()).sum::<usize>() >= rayon::current_num_threads();
            if ready && !self.solve(jobs, &std::mem::take(&mut open), report, watch) {
                return false;
            }
        }
        self.solve(jobs, &open, report, watch)
    }

    /// All spaces over some graphs: one eigenproblem a graph and alpha.
    fn solve(&self, jobs: &[Job], open: &[Open], report: Report<'_>, watch: &dyn Observer) -> bool {
        if open.is_empty() {
            return true;
        }
        let mean = scatter::mean(self.train);
        let problems: Vec<Problem<'_>> = open
            .iter()
            .flat_map(|Open { key, scatters, alphas }| {
                let locality = &key.locality;
                let alphas = alphas.iter();
                alphas.map(move |(alpha, members)| Problem { scatters, locality, alpha: *alpha, members })
            })
            .collect();
        watch.stage("eigen");
        run_jobs(&problems, |problem| self.ground().solve(problem, &mean, jobs, report, &NotesOnly(watch)))
    }

    /// Spaces that are not made from a graph: one fit for all dims.
    fn other_spaces(
        &self,
        jobs: &[Job],
        members: &[usize],
        report: Report<'_>,
        watch: &dyn Observer,
    ) -> bool {
        // Only cca looks at the descriptions.
        let key = |job: usize| {
            let learner = &jobs[job].pipeline.bottom_up;
            let semantics = matches!(learner, BottomUp::Cca(_)).then_some(jobs[job].semantics);
            (with_dim(learner, None), semantics, asked_dim(learner).is_some())
        };
        for ((learner, ..), group) in groups(members, key) {
            if !group.iter().any(|&job| jobs[job].wanted) {
                continue;
            }
            let largest = group.iter().filter_map(|&job| asked_dim(&jobs[job].pipeline.bottom_up)).max();
            let learner = with_dim(&learner, largest);
            let going = match learner.fit(&self.training(jobs[group[0]].semantics), watch) {
                Ok(space) => self.ground().spaces(&space, jobs, &group, report, &NotesOnly(watch)),
                Err(failure) => fail(jobs, &group, failure, report),
            };
            if !going {
                return false;
            }
        }
        true
    }

    fn training(&self, semantics: usize) -> Training<'_, T> {
        let semantics = &self.semantics[semantics];
        Training {
            features: self.train,
            labels: self.labels,
            classes: semantics.known,
            semantics: semantics.known_vectors(),
            views: self.views,
        }
    }

    fn ground(&self) -> Ground<'_, T> {
        let Self { labels, test_labels, semantics, .. } = self;
        Ground { train: self.train.into(), test: self.test.into(), labels, test_labels, semantics }
    }
}

/// Settings over one graph by the bits of alpha, where one of them is wanted.
pub(crate) fn by_alpha(jobs: &[Job], members: &[usize]) -> Vec<(Option<u64>, Vec<usize>)> {
    let mut alphas = groups(members, |job| alpha(&jobs[job].pipeline.bottom_up).map(f64::to_bits));
    alphas.retain(|(_, group)| group.iter().any(|&job| jobs[job].wanted));
    alphas
}
