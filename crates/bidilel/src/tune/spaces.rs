//! Scores in one latent space of a fold and in its leading dimensions.

use std::sync::Arc;

use faer::Mat;
use rayon::prelude::*;

use bidilel_math::norms::Norms;
use bidilel_math::{Check, Columns, Observer, Scalar, distance};

use super::sink::Sink;
use super::tree::{EmbedderNode, GraphSettings, Setting, SpaceNode};
use crate::bottom_up::Scatters;
use crate::error::Result;
use crate::landmarks::Landmarks;
use crate::latent_space::{LatentSpace, Map};
use crate::metrics::accuracy;
use crate::post::Refiner;
use crate::recognize::Recognition;
use crate::semantic::ClassSemantics;
use crate::top_down::ClassEmbedder;

/// Held-out instances that are projected and recognised at a time: they stay in the cache.
const BLOCK: usize = 480;

/// A fold as the top-down half of the pipeline needs it, and where its scores go.
pub(super) struct Spaces<'a, T> {
    pub(super) fold: usize,
    pub(super) train: Columns<'a, T>,
    pub(super) test: Columns<'a, T>,
    pub(super) labels: &'a [usize],
    pub(super) test_labels: &'a [usize],
    /// The mean of the training instances.
    pub(super) mean: &'a [f64],
    pub(super) semantics: &'a [ClassSemantics],
    pub(super) settings: &'a [Setting],
    pub(super) sink: &'a Sink<'a>,
    pub(super) watch: &'a dyn Observer,
}

/// The held-out classes in some leading dimensions, for the settings that are still wanted.
struct Embedded {
    settings: Vec<usize>,
    /// Latent dimensions x classes.
    points: Mat<f64>,
}

impl<T: Scalar> Spaces<'_, T> {
    /// Solves the eigenproblem of a node at its largest dim, and scores what is wanted in that space.
    pub(super) fn solve(&self, scatters: &Scatters, node: &SpaceNode) {
        let learner = &self.settings[node.settings[0]].pipeline.bottom_up;
        let Some(GraphSettings { locality, .. }) = GraphSettings::of(learner) else { return };
        if !self.sink.wants(self.fold, &node.settings) {
            return;
        }
        let largest = node.children.iter().map(|dim| dim.key).max().unwrap_or(1).min(scatters.most_dim);
        let solve = |()| scatters.solve(locality.alpha, largest, &NotesOnly(self.watch));
        match locality.check().and_then(solve) {
            Ok(map) => self.score(&LatentSpace::around(Map::Linear(map), self.mean.to_vec()), node),
            Err(failure) => self.sink.fail(self.fold, &node.settings, failure),
        }
    }

    /// Scores what is wanted in a space and in its leading dimensions.
    pub(super) fn score(&self, space: &LatentSpace, node: &SpaceNode) {
        if let Err(failure) = self.try_score(space, node) {
            self.sink.fail(self.fold, &node.settings, failure);
        }
    }

    fn try_score(&self, space: &LatentSpace, node: &SpaceNode) -> Result<()> {
        let mut dims: Vec<usize> = node.children.iter().map(|dim| dim.key.min(space.dim())).collect();
        dims.sort_unstable();
        dims.dedup();
        let norms = match &space.map {
            Map::Linear(map) => Norms::new(map.as_ref(), &space.mean, self.train, &dims),
            _ => None,
        };
        let classes = self.semantics[0].known;
        let landmarks: Vec<Landmarks> = match &norms {
            Some(norms) => {
                let directions = norms.directions(self.train, self.labels, classes);
                directions.into_iter().map(|points| Landmarks { points }).collect()
            }
            None => Landmarks::of_prefixes(space, self.train, self.labels, classes, &dims)?,
        };
        let below = node.children.iter().flat_map(|dim| dim.children.iter().map(move |node| (dim.key, node)));
        let wanted: Vec<_> = below.filter(|(_, node)| self.sink.wants(self.fold, &node.settings)).collect();
        let embed = |(dim, node): (usize, &EmbedderNode)| {
            let at = dims.iter().position(|&other| other == dim.min(space.dim())).unwrap_or(0);
            let (semantics, embedder) = &node.key;
            let embedding =
                embedder.embed(&landmarks[at], &self.semantics[*semantics], &NotesOnly(self.watch));
            let failed = |failure| self.sink.fail(self.fold, &node.settings, failure);
            let mut settings = node.settings.clone();
            settings.retain(|&setting| self.sink.wants(self.fold, &[setting]));
            Some(Embedded { settings, points: embedding.map_err(failed).ok()?.points })
        };
        let embedded: Vec<Embedded> = wanted.into_par_iter().filter_map(embed).collect();
        let refined = |&setting: &usize| !self.settings[setting].pipeline.post.is_empty();
        if embedded.iter().any(|one| one.settings.iter().any(refined)) {
            return self.refine(space, &embedded);
        }
        let mut labels = vec![Vec::with_capacity(self.test.ncols()); embedded.len()];
        let placer = space.placer();
        for first in (0..self.test.ncols()).step_by(BLOCK) {
            let placed = placer.place(self.test.part(first, BLOCK.min(self.test.ncols() - first)))?;
            let each = labels.par_iter_mut().zip(&embedded);
            each.for_each(|(labels, one)| labels.extend(recognize(&placed, &one.points).labels()));
        }
        for (one, labels) in embedded.iter().zip(labels) {
            let score = accuracy(&labels, self.test_labels, one.points.ncols()).per_class;
            one.settings.iter().for_each(|&setting| self.sink.put(self.fold, setting, Ok(score)));
        }
        Ok(())
    }

    /// Scores settings of which some refine: refiners look at all held-out instances together.
    fn refine(&self, space: &LatentSpace, embedded: &[Embedded]) -> Result<()> {
        let placed = space.place(self.test)?;
        embedded.par_iter().for_each(|one| {
            let inductive = recognize(&placed, &one.points);
            one.settings.par_iter().for_each(|&setting| {
                let post = &self.settings[setting].pipeline.post;
                let refined = post.iter().try_fold(inductive.clone(), |found, post| post.refine(found));
                let classes = one.points.ncols();
                let score =
                    refined.map(|found| accuracy(&found.labels(), self.test_labels, classes).per_class);
                self.sink.put(self.fold, setting, score);
            });
        });
        Ok(())
    }
}

/// Recognition in the leading dimensions that `points` have.
fn recognize(placed: &Mat<f64>, points: &Mat<f64>) -> Recognition {
    let mut leading = placed.subrows(0, points.nrows()).to_owned();
    distance::normalize_columns(leading.as_mut());
    Recognition::nearest(Arc::new(leading), points.clone())
}

/// Passes on notes and checks only: the stages of concurrent work have no order.
pub(super) struct NotesOnly<'a>(pub(super) &'a dyn Observer);

impl Observer for NotesOnly<'_> {
    fn check(&self, check: &Check) {
        self.0.check(check);
    }

    fn note(&self, message: &str) {
        self.0.note(message);
    }
}
