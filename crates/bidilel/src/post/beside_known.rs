//! Refiners where known classes are candidates, too (generalized recognition).
//!
//! A batch then has instances of known and of unseen classes. Known classes have landmarks, which come from labeled
//! instances: they stay where they are. The embeddings of unseen classes move, by those instances alone that the scores
//! before refinement, with their bias, give to an unseen class: an unseen class that took its nearest instances of the
//! whole batch, or shared a clustering with known classes that attract almost everything, would move into these. Refiners
//! that follow another in a chain look at the same instances. Afterwards all instances are scored again by all classes.

use std::sync::Arc;

use faer::{Mat, MatRef};

use bidilel_math::Silent;
use bidilel_math::distance::normalize_columns;

use super::{Batch, LatentRefiner, Post, Refiner};
use crate::error::{Error, Result};
use crate::recognize::{Latent, Recognition, Scores};

/// The known classes of a batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BesideKnown {
    /// How many of the candidates are known; they come first.
    pub known: usize,
    /// Bias of their scores before refinement: what is left to unseen classes with it is what refiners look at.
    pub bias: f64,
}

impl BesideKnown {
    /// [`refined`](super::refined) where known classes are candidates: these stay where they are.
    ///
    /// # Errors
    /// Those of the refiners.
    pub fn refined(
        &self,
        first: &str,
        recognition: Recognition,
        post: &[Post],
        batch: &Batch<'_>,
        mut step: impl FnMut(&str, &Recognition),
    ) -> Result<Recognition> {
        step(first, &recognition);
        let members = self.members(&recognition.scores);
        post.iter().try_fold(recognition, |before, refiner| {
            let after = self.refine(refiner, before, &members, batch)?;
            step(refiner.name(), &after);
            Ok(after)
        })
    }

    /// The instances that belong to an unseen class by these scores.
    fn members(&self, scores: &Scores) -> Vec<usize> {
        let labels = scores.clone().calibrated(self.known, self.bias).labels();
        labels.into_iter().enumerate().filter(|(_, class)| *class >= self.known).map(|(i, _)| i).collect()
    }

    fn refine(
        &self,
        refiner: &Post,
        before: Recognition,
        members: &[usize],
        batch: &Batch<'_>,
    ) -> Result<Recognition> {
        // Corrections of scores move nothing, and are about all candidates of the batch.
        if refiner.needs_scores_only() {
            return Refiner::refine(refiner, before);
        }
        let Recognition { scores, latent } = before;
        let latent = latent.ok_or(Error::NoLatentPoints { refiner: refiner.name() })?;
        if let Post::Propagation(refiner) = refiner {
            // Shares of all classes, with the bias; those after it are scores of another kind, also where nothing is
            // left to unseen classes.
            return refiner.refine(latent, &scores.calibrated(self.known, self.bias), batch.watch);
        }
        if members.is_empty() {
            return Ok(Recognition { scores, latent: Some(latent) });
        }
        let (part, own) = self.part(&latent, &scores, members);
        match refiner {
            Post::SelfTraining(refiner) => {
                Ok(self.beside(latent, &refiner.refine(part, &own)?.embedding).into())
            }
            Post::Structured(refiner) => {
                let watch = batch.watch.unwrap_or(&Silent);
                Ok(self.beside(latent, &refiner.refine_watched(part, watch)?.embedding).into())
            }
            Post::Balanced(refiner) => {
                let (centers, prices) = refiner.clustered(&part, batch)?;
                // Its centers are among points of unit norm, and so must be the landmarks.
                let mut unit = self.beside(latent, &centers);
                normalize_columns(unit.embedding.as_mut());
                let mut points = Mat::clone(&unit.points);
                normalize_columns(points.as_mut());
                unit.points = Arc::new(points);
                // A known class has no price: the bias does for all of them what potentials do for unseen ones.
                let prices: Vec<f64> = vec![0.0; self.known].into_iter().chain(prices).collect();
                let scores = refiner.priced(&unit, &prices);
                Ok(Recognition { scores, latent: Some(unit) })
            }
            Post::Propagation(_)
            | Post::Nrm(_)
            | Post::GlobalCorrection(_)
            | Post::Csls(_)
            | Post::MutualProximity(_) => {
                Refiner::refine(refiner, Recognition { scores, latent: Some(latent) })
            }
        }
    }

    /// The unseen classes among some instances, with their scores.
    fn part(&self, latent: &Latent, scores: &Scores, members: &[usize]) -> (Latent, Scores) {
        let unseen = latent.embedding.ncols() - self.known;
        let part = Latent {
            points: Arc::new(columns(latent.points.as_ref().as_ref(), members)),
            embedding: latent.embedding.subcols(self.known, unseen).to_owned(),
            spaces: latent.spaces,
        };
        (part, Scores { values: columns(scores.values.subrows(self.known, unseen), members) })
    }

    /// The same points and landmarks with other embeddings of the unseen classes.
    fn beside(&self, mut latent: Latent, unseen: &Mat<f64>) -> Latent {
        latent.embedding.as_mut().subcols_mut(self.known, unseen.ncols()).copy_from(unseen);
        latent
    }
}

fn columns(all: MatRef<'_, f64>, which: &[usize]) -> Mat<f64> {
    Mat::from_fn(all.nrows(), which.len(), |i, j| all[(i, which[j])])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::post::{Balanced, SelfTraining, Structured, refined};

    /// Unit points around three known and two unseen classes; the embeddings of the unseen ones are off.
    fn batch() -> Recognition {
        let directions =
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0], [0.0, 0.6, 0.8]];
        let mut embedding = Mat::from_fn(3, 5, |i, class| {
            directions[class][i] + if class >= 3 { 0.2 * ((i + class) as f64).sin() } else { 0.0 }
        });
        let mut points = Mat::from_fn(3, 40, |i, j| directions[j % 5][i] + 0.1 * ((i * 40 + j) as f64).cos());
        normalize_columns(embedding.as_mut());
        normalize_columns(points.as_mut());
        Recognition::nearest(Arc::new(points), embedding)
    }

    fn refiners() -> [Post; 3] {
        let self_training = SelfTraining { self_training_neighbors: 5, ..SelfTraining::default() };
        [
            Post::SelfTraining(self_training),
            Post::Structured(Structured::default()),
            Post::Balanced(Balanced::default()),
        ]
    }

    fn embedding(found: &Recognition) -> &Mat<f64> {
        &found.latent.as_ref().expect("latent points").embedding
    }

    #[test]
    fn landmarks_stay_and_embeddings_move() {
        let before = batch();
        for post in refiners() {
            let known = BesideKnown { known: 3, bias: 0.1 };
            let after =
                known.refined("x", before.clone(), &[post], &Batch::UNNAMED, |_, _| ()).expect("refined");
            let (before, after) = (embedding(&before), embedding(&after));
            assert!((before.subcols(0, 3) - after.subcols(0, 3)).norm_max() < 1e-12);
            assert!((before.subcols(3, 2) - after.subcols(3, 2)).norm_max() > 1e-3);
        }
    }

    /// With a bias that leaves everything to unseen classes, these are refined as if there were no others.
    #[test]
    fn where_every_instance_is_unseen_refinement_is_that_of_unseen_classes_alone() {
        let before = batch();
        let latent = before.latent.as_ref().expect("latent points");
        let alone = Recognition::nearest(latent.points.clone(), latent.embedding.subcols(3, 2).to_owned());
        for post in refiners() {
            let known = BesideKnown { known: 3, bias: 1e9 };
            let beside =
                known.refined("x", before.clone(), std::slice::from_ref(&post), &Batch::UNNAMED, |_, _| ());
            let (beside, alone) = (
                beside.expect("refined").scores.values,
                refined("x", alone.clone(), &[post], &Batch::UNNAMED, |_, _| ())
                    .expect("refined")
                    .scores
                    .values,
            );
            assert!((beside.subrows(3, 2) - alone).norm_max() < 1e-12);
        }
    }

    #[test]
    fn without_instances_of_unseen_classes_nothing_moves() {
        let before = batch();
        for post in refiners() {
            let known = BesideKnown { known: 3, bias: -1e9 };
            assert_eq!(
                known.refined("x", before.clone(), &[post], &Batch::UNNAMED, |_, _| ()).expect("refined"),
                before
            );
        }
    }
}
