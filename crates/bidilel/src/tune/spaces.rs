//! Scores in one latent space of a fold and in its leading dimensions.

use std::sync::Arc;

use faer::Mat;
use rayon::prelude::*;

use bidilel_math::norms::Norms;
use bidilel_math::{Columns, Scalar, distance};

use super::execute::{Executor, NotesOnly};
use super::fold::Fold;
use super::naive::refined_at_best;
use super::tree::{EmbedderNode, GraphSettings, SpaceNode};
use crate::bottom_up::Scatters;
use crate::calibrate::{Curve, Sides};
use crate::error::{Error, Result};
use crate::landmarks::Landmarks;
use crate::latent_space::{LatentSpace, Map};
use crate::metrics::{accuracy, class_accuracies, confusion};
use crate::post::{Batch, Post, counts};
use crate::recognize::Recognition;
use crate::top_down::ClassEmbedder;

/// Held-out instances that are projected and recognized at a time: they stay in the cache.
const BLOCK: usize = 480;

/// A fold in the features that its latent spaces are over: those of the pool, or those of a fused kernel.
pub(super) struct Spaces<'a, T, F> {
    pub(super) run: &'a Executor<'a, T>,
    pub(super) fold: usize,
    pub(super) train: Columns<'a, F>,
    pub(super) test: Columns<'a, F>,
    /// The mean of the training instances.
    pub(super) mean: &'a [f64],
}

/// Settings that are still wanted, and their candidates in some leading dimensions: dimensions x classes.
type Embedded = (Vec<usize>, Mat<f64>);

impl<T: Scalar, F: Scalar> Spaces<'_, T, F> {
    /// Solves the eigenproblem of a node at its largest dim, or at the larger one that is asked for, and scores what is
    /// wanted in that space; the map, where one was needed.
    pub(super) fn solve(&self, scatters: &Scatters, node: &SpaceNode, asked: usize) -> Option<Mat<f64>> {
        let learner = &self.run.settings[node.settings[0]].pipeline.bottom_up;
        let GraphSettings { locality, .. } = GraphSettings::of(learner)?;
        if !self.run.sink.wants(self.fold, &node.settings) {
            return None;
        }
        let largest = node.children.iter().map(|dim| dim.key).max().unwrap_or(1).max(asked);
        let (dim, notes) = (largest.min(scatters.most_dim), NotesOnly(self.run.watch));
        match locality.check().and_then(|()| scatters.solve(locality.alpha, dim, &notes)) {
            Ok(map) => {
                self.score_map(map.clone(), node);
                Some(map)
            }
            Err(failure) => {
                self.run.sink.fail(self.fold, &node.settings, failure);
                None
            }
        }
    }

    /// Scores what is wanted of a node in the leading dimensions of a map.
    pub(super) fn score_map(&self, mut map: Mat<f64>, node: &SpaceNode) {
        if self.run.sink.wants(self.fold, &node.settings) {
            let used = node.children.iter().map(|dim| dim.key).max().unwrap_or(1).min(map.ncols());
            map.truncate(map.nrows(), used);
            self.score(&LatentSpace::around(Map::Linear(map), self.mean.to_vec()), node);
        }
    }

    /// Scores what is wanted in a space and in its leading dimensions.
    pub(super) fn score(&self, space: &LatentSpace, node: &SpaceNode) {
        let outcome = self.embed(space, node).and_then(|embedded| {
            let refined = |&setting: &usize| !self.run.settings[setting].pipeline.post.is_empty();
            if embedded.iter().flat_map(|(settings, _)| settings).any(refined) {
                self.refine(space, &embedded)
            } else {
                self.recognize(space, &embedded)
            }
        });
        outcome.unwrap_or_else(|failure| self.run.sink.fail(self.fold, &node.settings, failure));
    }

    /// All embeddings that are wanted, from landmarks in every dim of a node.
    fn embed(&self, space: &LatentSpace, node: &SpaceNode) -> Result<Vec<Embedded>> {
        let (sink, Fold { labels, known, .. }) = (self.run.sink, self.own());
        let known = *known;
        let semantics = &self.run.semantics[self.fold];
        let mut dims: Vec<usize> = node.children.iter().map(|dim| dim.key.min(space.dim())).collect();
        dims.sort_unstable();
        dims.dedup();
        let norms = match &space.map {
            Map::Linear(map) => Norms::new(map.as_ref(), &space.mean, self.train, &dims),
            _ => None,
        };
        let landmarks: Vec<Landmarks> = match &norms {
            Some(norms) => {
                let directions = norms
                    .directions(self.train, labels, semantics[0].known, self.run.watch)
                    .map_err(Error::in_stage("landmarks"))?;
                directions.into_iter().map(|points| Landmarks { points }).collect()
            }
            None => {
                Landmarks::of_prefixes(space, self.train, labels, semantics[0].known, &dims, self.run.watch)?
            }
        };
        let below = node.children.iter().flat_map(|dim| dim.children.iter().map(move |node| (dim.key, node)));
        let embed = |(dim, node): (usize, &EmbedderNode)| {
            let settings = sink.wanted(self.fold, &node.settings);
            let at = dims.binary_search(&dim.min(space.dim())).ok().filter(|_| !settings.is_empty())?;
            let ((chosen, embedder), notes) = (&node.key, NotesOnly(self.run.watch));
            let embedding = embedder.embed(&landmarks[at], &semantics[*chosen], &notes);
            let failed = |failure| sink.fail(self.fold, &settings, failure);
            let candidates = |points| if known > 0 { beside(&landmarks[at].points, &points) } else { points };
            embedding.map_err(failed).ok().map(|embedding| (settings.clone(), candidates(embedding.points)))
        };
        Ok(below.collect::<Vec<_>>().into_par_iter().filter_map(embed).collect())
    }

    /// Scores settings that do not refine, a few held-out instances at a time.
    fn recognize(&self, space: &LatentSpace, embedded: &[Embedded]) -> Result<()> {
        let known = self.own().known;
        let sides = |(_, points): &Embedded| Sides::new(known, points.ncols());
        let mut found: Vec<Sides> = embedded.iter().map(sides).collect();
        let projector = space.projector();
        for first in (0..self.test.ncols()).step_by(BLOCK) {
            Error::unless_cancelled(self.run.watch)?;
            let projected = projector.project(self.test.part(first, BLOCK.min(self.test.ncols() - first)))?;
            let each = found.par_iter_mut().zip(embedded);
            each.for_each(|(sides, (_, points))| sides.extend(&nearest(&projected, points).scores));
        }
        for ((settings, points), sides) in embedded.iter().zip(found) {
            settings.iter().for_each(|&setting| self.put(setting, &sides, points.ncols()));
        }
        Ok(())
    }

    /// Scores settings of which some refine: refiners look at all held-out instances together.
    fn refine(&self, space: &LatentSpace, embedded: &[Embedded]) -> Result<()> {
        let projected = space.projector().project(self.test)?;
        embedded.par_iter().for_each(|(settings, points)| {
            let inductive = nearest(&projected, points);
            settings.par_iter().for_each(|&setting| {
                let post = &self.run.settings[setting].pipeline.post;
                match self.refined(inductive.clone(), post) {
                    Ok(found) => {
                        let mut sides = Sides::new(self.own().known, points.ncols());
                        sides.extend(&found.scores);
                        self.put(setting, &sides, points.ncols());
                    }
                    Err(failure) => self.run.sink.put(self.fold, setting, Err(failure)),
                }
            });
        });
        Ok(())
    }

    fn refined(&self, inductive: Recognition, post: &[Post]) -> Result<Recognition> {
        match self.own() {
            Fold { known: 0, test_labels, .. } => {
                let counts = counts(test_labels, 0, inductive.scores.classes());
                let batch = Batch::held_out(&counts);
                post.iter().try_fold(inductive, |found, post| post.refine_batch(found, &batch))
            }
            Fold { known, test_labels, .. } => refined_at_best(inductive, *known, test_labels, post),
        }
    }

    /// Passes on the score of a setting, and of a single fold the accuracies of its classes: these are the pairs by which
    /// settings are compared there.
    fn put(&self, setting: usize, sides: &Sides, classes: usize) {
        let Fold { known, test_labels, .. } = self.own();
        if self.run.evaluator.folds.len() == 1 && *known == 0 {
            let confusion = confusion(&sides.unseen_labels(), test_labels, classes);
            let accuracies = class_accuracies(&confusion).into_iter().flatten().collect();
            self.run.sink.put_classes(setting, accuracies);
        }
        self.run.sink.put(self.fold, setting, Ok(self.score_of(sides, classes)));
    }

    /// The accuracy on held-out classes; where known classes compete, the largest harmonic mean of the two accuracies.
    fn score_of(&self, sides: &Sides, classes: usize) -> f64 {
        let Fold { known, test_labels, .. } = self.own();
        match known {
            0 => accuracy(&sides.unseen_labels(), test_labels, classes).per_class,
            _ => Curve::of(sides, test_labels).best_harmonic(),
        }
    }

    fn own(&self) -> &Fold {
        &self.run.evaluator.folds[self.fold]
    }
}

/// Landmarks, then embeddings.
fn beside(landmarks: &Mat<f64>, embedding: &Mat<f64>) -> Mat<f64> {
    let known = landmarks.ncols();
    let point = |i: usize, j: usize| if j < known { landmarks[(i, j)] } else { embedding[(i, j - known)] };
    Mat::from_fn(landmarks.nrows(), known + embedding.ncols(), point)
}

/// Recognition in the leading dimensions that `points` have.
fn nearest(projected: &Mat<f64>, points: &Mat<f64>) -> Recognition {
    let mut leading = projected.subrows(0, points.nrows()).to_owned();
    distance::normalize_columns(leading.as_mut());
    Recognition::nearest(Arc::new(leading), points.clone())
}
