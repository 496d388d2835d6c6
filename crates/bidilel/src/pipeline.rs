//! The paper's method in the order of the paper; no step knows which implementation the others chose.
//!
//! $X^l \to P$ (bottom-up), $P \to B^l$ (landmarks), $B^l, S \to B^u$ (top-down), $X^u, P \to Y^u$ (projection),
//! $Y^u, B^u \to$ labels (nearest embedding), then refiners.

use std::sync::Arc;

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use bidilel_math::{Observer, Scalar, vector};

use crate::bottom_up::{BottomUp, LandmarkSpace};
use crate::error::{Error, Result};
use crate::landmarks::Landmarks;
use crate::latent_space::{LatentSpace, block_rows};
use crate::post::{Batch, Post, refined};
use crate::recognize::{Candidates, Latent, Recognition};
use crate::semantic::{ClassSemantics, SemanticDistances};
use crate::settings::Settings;
use crate::task::{Prepared, Task};
use crate::top_down::{ClassEmbedder, Embedding, TopDown, stress};
use crate::visual::{Fusion, Report};
use crate::zero_shot::{FittedMethod, ZeroShotMethod};

/// Every setting of the paper's method.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Pipeline {
    /// How the latent space is learned.
    pub bottom_up: BottomUp,
    /// How several visual representations, or kernels of them, become one.
    #[serde(default)]
    pub fusion: Fusion,
    /// How the unseen classes are embedded in it.
    pub top_down: TopDown,
    /// Refiners, in order.
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
    /// How far latent distances are from semantic ones: $E(B^u)$, the mean over several spaces.
    pub stress: f64,
    /// How the views were joined.
    pub fusion: Report,
}

impl<T: Scalar> ZeroShotMethod<T> for Pipeline {
    type Fitted = Fitted;

    /// Learns the space from the known classes and embeds the unseen ones in it.
    fn fit(&self, task: &Task<T>, watch: &dyn Observer) -> Result<Fitted> {
        let learned = self.bottom_up.learn(&self.fusion, &task.training(), watch)?;
        self.embed(learned, &task.semantics, watch)
    }

    fn resolved(&self, task: &Task<T>, fitted: &Fitted) -> Self {
        let mut resolved = self.clone();
        if let Some(dim) = resolved.bottom_up.learner_mut().dim() {
            *dim = Some(fitted.space.dim());
        }
        // Every one of several spaces chose its own: what was left open stays open, and is chosen again the same way.
        if fitted.space.spaces() == 1 {
            resolved.top_down.resolve(&fitted.landmarks, &task.semantics);
        }
        resolved
    }
}

impl<T: Scalar> FittedMethod<T> for Fitted {
    fn recognize(&self, instances: Prepared<'_, T>, candidates: Candidates) -> Result<Recognition> {
        let points = self.space.project_columns(instances.features())?;
        Ok(self.nearest(points, candidates))
    }
}

impl Fitted {
    /// The nearest class of projected instances.
    pub fn nearest(&self, points: Mat<f64>, candidates: Candidates) -> Recognition {
        let spaces = self.space.spaces();
        Latent { points: Arc::new(points), embedding: self.class_points(candidates), spaces }.into()
    }

    /// Embeddings of the candidate classes: landmarks of known ones, then embeddings of unseen ones.
    pub fn class_points(&self, candidates: Candidates) -> Mat<f64> {
        let (known, unseen) = (&self.landmarks.points, &self.embedding.points);
        match candidates {
            Candidates::Known => known.clone(),
            Candidates::Unseen => unseen.clone(),
            Candidates::All => {
                let first = known.ncols();
                let both = |i, j| if j < first { known[(i, j)] } else { unseen[(i, j - first)] };
                Mat::from_fn(known.nrows(), first + unseen.ncols(), both)
            }
        }
    }
}

impl Pipeline {
    pub(crate) fn from_settings(settings: &Settings, seed: u64) -> Self {
        settings.pipeline(seed)
    }

    /// Bottom-up: the space and the landmarks. Repeated fits of one task can share it unless the learner is random or has
    /// the Nyström form, whose sample is.
    ///
    /// # Errors
    /// Settings out of their range, a graph without edges, failed computations.
    pub fn learn(&self, task: &Task, watch: &dyn Observer) -> Result<LandmarkSpace> {
        self.bottom_up.learn(&self.fusion, &task.training(), watch)
    }

    /// Top-down: embeds the unseen classes among the landmarks.
    ///
    /// # Errors
    /// Settings out of their range, descriptions without vectors where these are needed, failed computations.
    pub fn embed(
        &self,
        learned: LandmarkSpace,
        semantics: &ClassSemantics,
        watch: &dyn Observer,
    ) -> Result<Fitted> {
        let LandmarkSpace { space, landmarks, fusion } = learned;
        let embedding = self.embed_each(&landmarks, space.spaces(), semantics, watch)?;
        let (known, unseen) = (landmarks.points.as_ref(), embedding.points.as_ref());
        let stress = mean_stress(known, unseen, space.spaces(), &semantics.distances);
        require_finite("landmarks", "the landmarks", known)?;
        require_finite("top_down", "the embedding of the unseen classes", unseen)?;
        if !stress.is_finite() {
            let what = "the stress of the embedding";
            return Err(Error::in_stage("top_down")(bidilel_math::Error::NotFinite { what }));
        }
        Ok(Fitted { space, landmarks, embedding, stress, fusion })
    }

    /// Embeddings in every space by itself, below each other.
    pub(crate) fn embed_each(
        &self,
        landmarks: &Landmarks,
        spaces: usize,
        semantics: &ClassSemantics,
        watch: &dyn Observer,
    ) -> Result<Embedding> {
        if semantics.distances.known_unseen.ncols() == 0 {
            return Ok(Embedding::nothing(landmarks.points.nrows()));
        }
        if spaces == 1 {
            return self.top_down.embed(landmarks, semantics, watch);
        }
        let each = block_rows(landmarks.points.nrows(), spaces).map(|rows| {
            let own = Landmarks { points: rows.of(landmarks.points.as_ref()).to_owned() };
            self.top_down.embed(&own, semantics, watch)
        });
        Ok(Embedding::stacked(each.collect::<Result<Vec<_>>>()?))
    }

    /// Recognizes a batch of test instances among the unseen classes, refiners included.
    ///
    /// # Errors
    /// Those of [`LatentSpace::project`], and of the refiners.
    pub fn recognize(
        &self,
        fitted: &Fitted,
        instances: Prepared<'_>,
        watch: &dyn Observer,
    ) -> Result<Recognition> {
        self.recognize_prepared(fitted, instances, watch)
    }

    /// [`Self::recognize`] for features of either precision.
    pub(crate) fn recognize_prepared<T: Scalar>(
        &self,
        fitted: &Fitted,
        instances: Prepared<'_, T>,
        watch: &dyn Observer,
    ) -> Result<Recognition> {
        watch.stage("recognize");
        let points = fitted.space.project_columns(instances.features())?;
        let batch = Batch::of(&[], watch);
        self.recognize_points(fitted, points, &batch, |_, _| ())
    }

    /// The same for projected instances; `step` gets the recognition after each step, by name: `inductive`, then each
    /// refiner.
    ///
    /// # Errors
    /// Those of the refiners.
    pub fn recognize_points(
        &self,
        fitted: &Fitted,
        points: Mat<f64>,
        batch: &Batch<'_>,
        step: impl FnMut(&str, &Recognition),
    ) -> Result<Recognition> {
        refined("inductive", fitted.nearest(points, Candidates::Unseen), &self.post, batch, step)
    }
}

/// $E(B^u)$, the mean over several spaces.
pub(crate) fn mean_stress(
    landmarks: MatRef<'_, f64>,
    embedding: MatRef<'_, f64>,
    spaces: usize,
    distances: &SemanticDistances,
) -> f64 {
    let each = block_rows(landmarks.nrows(), spaces);
    each.map(|rows| stress(rows.of(landmarks), rows.of(embedding), distances)).sum::<f64>() / spaces as f64
}

/// NaN must end here: everything after this compares numbers, and comparisons with NaN say nothing.
pub(crate) fn require_finite(stage: &'static str, what: &'static str, points: MatRef<'_, f64>) -> Result<()> {
    let finite = (0..points.ncols()).all(|i| vector::max_abs(vector::column(points, i)).is_finite());
    if finite { Ok(()) } else { Err(Error::in_stage(stage)(bidilel_math::Error::NotFinite { what })) }
}
