//! Everything that happens on one fold in one latent space and in its leading dimensions.

use std::sync::Arc;

use faer::{Mat, MatRef};
use rayon::prelude::*;

use bidilel_math::{Columns, Observer, Scalar, distance};

use super::common::{dim, groups};
use super::lengths::Lengths;
use super::nearest::Nearest;
use crate::bottom_up::{Locality, Scatters};
use crate::error::Result;
use crate::landmarks::Landmarks;
use crate::latent_space::{LatentSpace, Map};
use crate::metrics::accuracy;
use crate::pipeline::Pipeline;
use crate::post::Refiner;
use crate::recognize::Recognition;
use crate::semantic::ClassSemantics;
use crate::top_down::{ClassEmbedder, TopDown};

/// Held-out instances that are placed and recognised at a time.
const BLOCK: usize = 480;

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

/// Receives every score, or why there is none, as soon as it is there; false means to stop.
pub(crate) type Report<'a> = &'a (dyn Fn(usize, Result<f64>) -> bool + Sync);

/// The instances and classes of a fold.
#[derive(Clone, Copy)]
pub(crate) struct Ground<'a, T> {
    pub(crate) train: Columns<'a, T>,
    pub(crate) test: Columns<'a, T>,
    pub(crate) labels: &'a [usize],
    pub(crate) test_labels: &'a [usize],
    pub(crate) semantics: &'a [ClassSemantics],
}

/// A space that is to be solved for: one eigenproblem for all settings that differ in what comes after it.
pub(crate) struct Problem<'a> {
    pub(crate) scatters: &'a Scatters,
    pub(crate) locality: &'a Locality,
    /// The bits of alpha.
    pub(crate) alpha: Option<u64>,
    /// The settings, by number.
    pub(crate) members: &'a [usize],
}

impl<T: Scalar> Ground<'_, T> {
    /// Solves for a space around the mean of the training instances, and scores what is wanted in it.
    pub(crate) fn solve(
        &self,
        problem: &Problem<'_>,
        mean: &[f64],
        jobs: &[Job],
        report: Report<'_>,
        watch: &dyn Observer,
    ) -> bool {
        let Problem { scatters, locality, alpha, members } = *problem;
        let alpha = alpha.map_or(0.0, f64::from_bits);
        let dims = members.iter().map(|&job| dim(&jobs[job].pipeline, scatters.most_dim));
        let largest = dims.max().unwrap_or(1);
        let checked = Locality { alpha, ..locality.clone() }.check();
        match checked.and_then(|()| scatters.solve(alpha, largest, watch)) {
            Err(failure) => fail(jobs, members, failure, report),
            Ok(map) => {
                let space = LatentSpace::around(Map::Linear(map), mean.to_vec());
                self.spaces(&space, jobs, members, report, watch)
            }
        }
    }

    /// Scores what is wanted in one space and in its leading dimensions.
    pub(crate) fn spaces(
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
        let lengths = Lengths::new(space, self.train, &dims);
        let landmarks = match &lengths {
            Some(lengths) => Ok(lengths.landmarks(self.train, self.labels, classes)),
            None => Landmarks::of_prefixes(space, self.train, self.labels, classes, &dims),
        };
        let landmarks = match landmarks {
            Ok(landmarks) => landmarks,
            Err(failure) => return fail(jobs, &wanted, failure, report),
        };
        let key = |job: usize| {
            let Job { pipeline, semantics, .. } = &jobs[job];
            (dim(pipeline, space.dim()), *semantics, pipeline.top_down.clone())
        };
        let embed = |((dim, semantics, top_down), members): ((usize, usize, TopDown), Vec<usize>)| {
            let place = dims.iter().position(|other| *other == dim).unwrap_or(0);
            match top_down.embed(&landmarks[place], &self.semantics[semantics], watch) {
                Ok(embedding) => Ok(Embedded::new(embedding.points, members)),
                Err(failure) => Err(fail(jobs, &members, failure, report)),
            }
        };
        let found: Vec<_> = groups(&wanted, key).into_par_iter().map(embed).collect();
        if found.iter().any(|one| matches!(one, Err(false))) {
            return false;
        }
        let mut embedded: Vec<Embedded> = found.into_iter().flatten().collect();
        let refined = |one: &Embedded| one.members.iter().any(|&job| !jobs[job].pipeline.post.is_empty());
        let refined = embedded.iter().any(refined);
        let points: Vec<&Mat<f64>> = embedded.iter().map(|one| &one.points).collect();
        let lengths = lengths.as_ref().filter(|_| !refined);
        match lengths.and_then(|lengths| Nearest::new(lengths, &points)) {
            Some(nearest) => self.score(nearest.labels(self.test), jobs, &embedded, report),
            None => self.recognize(space, jobs, &mut embedded, refined, report),
        }
    }

    /// Scores what is found by each of some embeddings that nothing refines.
    fn score(
        &self,
        labels: Result<Vec<Vec<usize>>>,
        jobs: &[Job],
        embedded: &[Embedded],
        report: Report<'_>,
    ) -> bool {
        match labels {
            Err(failure) => fail(jobs, &members_of(embedded), failure, report),
            Ok(labels) => embedded.iter().zip(labels).all(|(one, labels)| {
                let score = accuracy(&labels, self.test_labels, one.points.ncols()).per_class;
                one.members.iter().all(|&job| report(job, Ok(score)))
            }),
        }
    }

    /// Recognises the held-out instances by each of some embeddings, and scores that.
    fn recognize(
        &self,
        space: &LatentSpace,
        jobs: &[Job],
        embedded: &mut [Embedded],
        refined: bool,
        report: Report<'_>,
    ) -> bool {
        // Refiners look at all instances together; otherwise a few at a time do not leave the cache.
        let all = self.test.ncols();
        let block = if refined { all } else { BLOCK.min(all) };
        let placer = space.placer();
        let mut done = 0;
        loop {
            let count = block.min(all - done);
            let placed = match placer.place(self.test.part(done, count)) {
                Ok(placed) => placed,
                Err(failure) => return fail(jobs, &members_of(embedded), failure, report),
            };
            done += count;
            let last = (done == all).then_some((self.test_labels, report));
            let going = embedded.par_iter_mut().map(|one| one.recognize(placed.as_ref(), jobs, last));
            if !going.reduce(|| true, |one, other| one && other) {
                return false;
            }
            if last.is_some() {
                return true;
            }
        }
    }
}

/// Embedded classes, and what the settings that share them recognise by them.
struct Embedded {
    /// Latent dimensions x classes.
    points: Mat<f64>,
    /// The settings, by number.
    members: Vec<usize>,
    /// The labels that each setting has found so far, or why it has none.
    labels: Vec<Result<Vec<usize>>>,
}

impl Embedded {
    fn new(points: Mat<f64>, members: Vec<usize>) -> Self {
        let labels = members.iter().map(|_| Ok(Vec::new())).collect();
        Self { points, members, labels }
    }

    /// Recognises some more instances, in the leading dimensions of where they are placed. With the last of them comes
    /// the truth about all, by which settings are scored; false means to stop.
    fn recognize(
        &mut self,
        placed: MatRef<'_, f64>,
        jobs: &[Job],
        last: Option<(&[usize], Report<'_>)>,
    ) -> bool {
        let classes = self.points.ncols();
        let mut points: Mat<f64> = placed.subrows(0, self.points.nrows()).to_owned();
        distance::normalize_columns(points.as_mut());
        let first = Recognition::nearest(Arc::new(points), self.points.clone());
        self.members.par_iter().zip(&mut self.labels).all(|(&job, labels)| {
            let refined = jobs[job].pipeline.post.iter().try_fold(first.clone(), |r, post| post.refine(r));
            match (refined, &mut *labels) {
                (Ok(refined), Ok(labels)) => labels.extend(refined.labels()),
                (Err(failure), _) => *labels = Err(failure),
                (Ok(_), Err(_)) => {}
            }
            last.is_none_or(|(truth, report)| {
                let found = std::mem::replace(labels, Ok(Vec::new()));
                report(job, found.map(|labels| accuracy(&labels, truth, classes).per_class))
            })
        })
    }
}

/// The settings of all embeddings.
fn members_of(embedded: &[Embedded]) -> Vec<usize> {
    embedded.iter().flat_map(|one| one.members.clone()).collect()
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
