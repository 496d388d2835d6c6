//! The whole method in the order of the paper; no step knows which implementation the others chose.

use std::sync::Arc;

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use bidilel_math::{Observer, Scalar, vector};

use crate::bottom_up::BottomUp;
use crate::error::{Error, Result};
use crate::landmarks::Landmarks;
use crate::latent_space::LatentSpace;
use crate::metrics;
use crate::post::{Post, Refiner};
use crate::recognize::Recognition;
use crate::task::Task;
use crate::top_down::{ClassEmbedder, Embedding, TopDown};
use crate::visual::{Fusion, Report};

/// Every setting of the method.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Pipeline {
    /// How the latent space is learned.
    pub bottom_up: BottomUp,
    /// How several visual representations, or kernels of them, become one.
    #[serde(default)]
    pub fusion: Fusion,
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
    /// How the views were joined.
    pub fusion: Report,
}

/// The bottom-up half of a fit: it does not depend on the unseen classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Ground {
    /// The latent space.
    pub space: LatentSpace,
    /// The known classes in it.
    pub landmarks: Landmarks,
    /// How the views were joined.
    pub fusion: Report,
}

impl Pipeline {
    /// Learns the space from the known classes and places the unseen ones in it.
    pub fn fit<T: Scalar>(&self, task: &Task<T>, watch: &dyn Observer) -> Result<Fitted> {
        self.place(self.learn(task, watch)?, task, watch)
    }

    /// Bottom-up: the space and the landmarks.
    pub fn learn<T: Scalar>(&self, task: &Task<T>, watch: &dyn Observer) -> Result<Ground> {
        self.fusion.learn(&self.bottom_up, &task.training(), watch)
    }

    /// Top-down: the unseen classes among the landmarks.
    pub fn place<T: Scalar>(&self, ground: Ground, task: &Task<T>, watch: &dyn Observer) -> Result<Fitted> {
        let Ground { space, landmarks, fusion } = ground;
        let embedding = self.top_down.embed(&landmarks, &task.semantics, watch)?;
        let (known, unseen) = (landmarks.points.as_ref(), embedding.points.as_ref());
        let stress = metrics::stress(known, unseen, &task.semantics.distances);
        require_finite("landmarks", "the landmarks", known)?;
        require_finite("top_down", "the embedding of the unseen classes", unseen)?;
        if !stress.is_finite() {
            let what = "the stress of the embedding";
            return Err(Error::in_stage("top_down")(bidilel_math::Error::NotFinite { what }));
        }
        Ok(Fitted { space, landmarks, embedding, stress, fusion })
    }

    /// Recognises a batch of instances (visual dimensions x instances), corrections included.
    pub fn recognize<T: Scalar>(
        &self,
        fitted: &Fitted,
        features: MatRef<'_, T>,
        watch: &dyn Observer,
    ) -> Result<Recognition> {
        watch.stage("recognize");
        self.recognize_points(fitted, fitted.space.project(features)?, |_, _| ())
    }

    /// Recognises projected instances; `seen` is shown every step, by name: `inductive`, then each correction.
    pub fn recognize_points(
        &self,
        fitted: &Fitted,
        points: Mat<f64>,
        mut seen: impl FnMut(&str, &Recognition),
    ) -> Result<Recognition> {
        let mut recognition = Recognition::nearest(Arc::new(points), fitted.embedding.points.clone());
        seen("inductive", &recognition);
        for post in &self.post {
            recognition = post.refine(recognition)?;
            seen(post.name(), &recognition);
        }
        Ok(recognition)
    }

    /// The same settings with everything that was left open as it turned out.
    #[must_use]
    pub fn resolved<T: Scalar>(&self, task: &Task<T>, fitted: &Fitted) -> Self {
        let mut resolved = self.clone();
        let dim = Some(fitted.space.dim());
        match &mut resolved.bottom_up {
            BottomUp::Slpp(learner) => learner.locality.dim = dim,
            BottomUp::Lpp(learner) => learner.locality.dim = dim,
            BottomUp::Pca(learner) => learner.dim = dim,
            BottomUp::Lda(learner) => learner.dim = dim,
            BottomUp::Cca(learner) => learner.dim = dim,
            BottomUp::None(_) => {}
        }
        let svr = match &mut resolved.top_down {
            TopDown::Lsm(_) => None,
            TopDown::Svr(svr) => Some(svr),
            TopDown::LsmSvr(both) => Some(&mut both.svr),
        };
        if let (Some(svr), Some(known)) = (svr, task.semantics.known_vectors()) {
            svr.resolve(known);
        }
        resolved
    }
}

/// Numbers that are no numbers must end here: everything after this compares them, and comparisons with NaN say nothing.
fn require_finite(stage: &'static str, what: &'static str, points: MatRef<'_, f64>) -> Result<()> {
    let finite = (0..points.ncols()).all(|i| vector::max_abs(vector::column(points, i)).is_finite());
    if finite { Ok(()) } else { Err(Error::in_stage(stage)(bidilel_math::Error::NotFinite { what })) }
}
