//! The whole method in the order of the paper; no step knows which implementation the others chose.

use std::sync::Arc;

use faer::MatRef;
use serde::{Deserialize, Serialize};

use bidilel_math::{Observer, Scalar};

use crate::bottom_up::{BottomUp, LatentSpaceLearner};
use crate::error::Result;
use crate::landmarks::Landmarks;
use crate::latent_space::LatentSpace;
use crate::metrics;
use crate::post::{Post, Refiner};
use crate::recognize::Recognition;
use crate::task::Task;
use crate::top_down::{ClassEmbedder, Embedding, TopDown};

/// Every setting of the method.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Pipeline {
    /// How the latent space is learned.
    pub bottom_up: BottomUp,
    /// How the unseen classes are placed in it.
    pub top_down: TopDown,
    /// Corrections by the batch of test instances, in order.
    #[serde(default)]
    pub post: Vec<Post>,
}

/// What is left of a fit when the data are dropped.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The latent space.
    pub space: LatentSpace,
    /// The known classes in it.
    pub landmarks: Landmarks,
    /// The unseen classes in it.
    pub embedding: Embedding,
    /// How far latent distances are from semantic ones: $E(B^u)$.
    pub stress: f64,
}

impl Pipeline {
    /// Learns the space from the known classes and places the unseen ones in it.
    pub fn fit<T: Scalar>(&self, task: &Task<T>, watch: &dyn Observer) -> Result<Fitted> {
        let training = task.training();
        let space = self.bottom_up.fit(&training, watch)?;
        watch.stage("landmarks");
        let landmarks = Landmarks::of(&space, training.features, training.labels, training.classes)?;
        let embedding = self.top_down.embed(&landmarks, &task.semantics, watch)?;
        let (known, unseen) = (landmarks.points.as_ref(), embedding.points.as_ref());
        let stress = metrics::stress(known, unseen, &task.semantics.distances);
        Ok(Fitted { space, landmarks, embedding, stress })
    }

    /// Recognises a batch of instances (visual dimensions x instances), corrections included.
    pub fn recognize<T: Scalar>(
        &self,
        fitted: &Fitted,
        features: MatRef<'_, T>,
        watch: &dyn Observer,
    ) -> Result<Recognition> {
        watch.stage("recognize");
        let points = Arc::new(fitted.space.project(features)?);
        let first = Recognition::nearest(points, fitted.embedding.points.clone());
        self.post.iter().try_fold(first, |recognition, post| post.refine(recognition))
    }
}
