//! Scores of many settings on one fold, each part of the work done once.
//!
//! Settings are grouped by what they have in common, from the outside in: the views ([`super::fused`]), the graph (one pair of scatter matrices),
//! then alpha (one eigenproblem at the largest dim; smaller spaces are its leading dimensions), then dim, descriptions
//! and embedder (one embedding), then the refiners, which start from one recognition.

use std::sync::Arc;

use faer::{Mat, MatRef};
use rayon::prelude::*;

use bidilel_math::{Observer, Scalar, distance, scatter};

use super::common::{GraphKey, NotesOnly, alpha, asked_dim, dim, graph_key, groups, with_dim};
use super::pool::Lists;
use super::shelf::{Best, Shelf};
use crate::bottom_up::{BottomUp, LatentSpaceLearner, Locality, Scatters};
use crate::error::Result;
use crate::landmarks::Landmarks;
use crate::latent_space::{LatentSpace, Map};
use crate::metrics::accuracy;
use crate::pipeline::Pipeline;
use crate::post::Refiner;
use crate::recognize::Recognition;
use crate::semantic::ClassSemantics;
use crate::task::Training;
use crate::top_down::{ClassEmbedder, TopDown};
use crate::visual::Views;

/// One setting to score.
pub(crate) struct Job {
    pub(crate) pipeline: Pipeline,
    /// Which of the fold's descriptions it uses.
    pub(crate) semantics: usize,
    /// Which of the fold's ways to weigh the views it uses.
    pub(crate) views: usize,
    /// Whether its score is still to be found; one that is known already only shapes the groups.
    pub(crate) wanted: bool,
}

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

/// Receives every score, or why there is none, as soon as it is there; false means to stop.
pub(crate) type Report<'a> = &'a (dyn Fn(usize, Result<f64>) -> bool + Sync);

/// The spaces over one graph that are still to be solved for.
struct Open<'s> {
    key: GraphKey,
    scatters: Arc<Scatters>,
    /// Settings by alpha.
    alphas: Vec<(Option<u64>, Vec<usize>)>,
    /// Where to say how good they are.
    best: Option<&'s Best>,
}

impl<T: Scalar> View<'_, T> {
    /// Scores every one of `among` that is wanted; false when it was told to stop. Scatter matrices are taken from the
    /// `shelf` of a fold where it has them.
    pub(crate) fn score<P: Scalar>(
        &self,
        jobs: &[Job],
        among: &[usize],
        lists: &mut Lists<'_, P>,
        shelf: Option<(&Shelf, usize)>,
        report: Report<'_>,
        watch: &dyn Observer,
    ) -> bool {
        let mut open: Vec<Open<'_>> = Vec::new();
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
            let held = shelf.and_then(|(shelf, fold)| shelf.find(self.views, &key, fold));
            let scatters = if let Some((scatters, best)) = held {
                Ok((scatters, Some(best)))
            } else {
                let graph = lists.graph(&key, self.graph_views, self.labels, watch);
                let made = key.locality.scatters(&self.training(0), &graph, watch);
                made.map(|scatters| (Arc::new(scatters), None))
            };
            match scatters {
                Ok((scatters, best)) => {
                    let mut alphas =
                        groups(&members, |job| alpha(&jobs[job].pipeline.bottom_up).map(f64::to_bits));
                    alphas.retain(|(_, group)| group.iter().any(|&job| jobs[job].wanted));
                    open.push(Open { key, scatters, alphas, best });
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
    fn solve(&self, jobs: &[Job], open: &[Open<'_>], report: Report<'_>, watch: &dyn Observer) -> bool {
        if open.is_empty() {
            return true;
        }
        let mean = scatter::mean(self.train);
        let problems: Vec<_> = open
            .iter()
            .flat_map(|one| one.alphas.iter().map(move |(bits, group)| (one, bits, group)))
            .collect();
        watch.stage("eigen");
        // No more at a time than there are threads: each takes a matrix of its own.
        for side_by_side in problems.chunks(rayon::current_num_threads()) {
            let going = side_by_side.par_iter().map(|(one, bits, group)| {
                let alpha = bits.map_or(0.0, f64::from_bits);
                let most = one.scatters.most_dim;
                let largest = group.iter().map(|&job| dim(&jobs[job].pipeline, most)).max().unwrap_or(1);
                let checked = Locality { alpha, ..one.key.locality.clone() }.check();
                let quiet = NotesOnly(watch);
                let seen = |job: usize, score: Result<f64>| {
                    one.best.iter().zip(&score).for_each(|(best, &score)| best.see(score));
                    report(job, score)
                };
                match checked.and_then(|()| one.scatters.solve(alpha, largest, &quiet)) {
                    Err(failure) => fail(jobs, group, failure, report),
                    Ok(map) => {
                        let space = LatentSpace::around(Map::Linear(map), mean.clone());
                        self.spaces(&space, jobs, group, &seen, &quiet)
                    }
                }
            });
            if going.collect::<Vec<bool>>().contains(&false) {
                return false;
            }
        }
        true
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
                Ok(space) => self.spaces(&space, jobs, &group, report, &NotesOnly(watch)),
                Err(failure) => fail(jobs, &group, failure, report),
            };
            if !going {
                return false;
            }
        }
        true
    }

    /// Everything that happens in one space and in its leading dimensions.
    fn spaces(
        &self,
        space: &LatentSpace,
        jobs: &[Job],
        members: &[usize],
        report: Report<'_>,
        watch: &dyn Observer,
    ) -> bool {
        let wanted: Vec<usize> = members.iter().copied().filter(|&job| jobs[job].wanted).collect();
        let mut dims: Vec<usize> = wanted.iter().map(|&job| dim(&jobs[job].pipeline, space.dim())).collect();
        dims.sort_unstable();
        dims.dedup();
        let classes = self.semantics[0].known;
        let made = Landmarks::of_prefixes(space, self.train, self.labels, classes, &dims)
            .and_then(|landmarks| Ok((landmarks, space.place(self.test)?)));
        let (landmarks, placed) = match made {
            Ok(made) => made,
            Err(failure) => return fail(jobs, &wanted, failure, report),
        };
        let key = |job: usize| {
            let Job { pipeline, semantics, .. } = &jobs[job];
            (dim(pipeline, space.dim()), *semantics, pipeline.top_down.clone())
        };
        groups(&wanted, key)
            .par_iter()
            .map(|((dim, semantics, top_down), group)| {
                let place = dims.iter().position(|other| other == dim).unwrap_or(0);
                let semantics = &self.semantics[*semantics];
                let first = recognize(&landmarks[place], placed.as_ref(), top_down, semantics, watch);
                match first {
                    Err(failure) => fail(jobs, group, failure, report),
                    Ok(first) => group.par_iter().all(|&job| {
                        let refined =
                            jobs[job].pipeline.post.iter().try_fold(first.clone(), |r, p| p.refine(r));
                        let classes = first.embedding.ncols();
                        let score =
                            refined.map(|r| accuracy(&r.labels(), self.test_labels, classes).per_class);
                        report(job, score)
                    }),
                }
            })
            .reduce(|| true, |one, other| one && other)
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
}

/// The recognition from which refiners start, in the leading dimensions of placed instances.
fn recognize(
    landmarks: &Landmarks,
    placed: MatRef<'_, f64>,
    top_down: &TopDown,
    semantics: &ClassSemantics,
    watch: &dyn Observer,
) -> Result<Recognition> {
    let embedding = top_down.embed(landmarks, semantics, watch)?;
    let mut points: Mat<f64> = placed.subrows(0, landmarks.points.nrows()).to_owned();
    distance::normalize_columns(points.as_mut());
    Ok(Recognition::nearest(Arc::new(points), embedding.points))
}

/// The first of a group is told why, the others that they share its fate.
pub(crate) fn fail(jobs: &[Job], members: &[usize], failure: crate::Error, report: Report<'_>) -> bool {
    let text = failure.to_string();
    let mut first = Some(failure);
    members.iter().filter(|&&job| jobs[job].wanted).all(|&job| {
        let own = first.take().unwrap_or_else(|| crate::Error::Grid { problem: text.clone() });
        report(job, Err(own))
    })
}
