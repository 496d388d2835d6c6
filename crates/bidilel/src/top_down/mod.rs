//! Top-down: the unseen classes are embedded in the latent space by their descriptions.
//!
//! ```
//! use bidilel::{BottomUp, Choice, ClassEmbedder, Landmarks, LatentSpaceLearner, Lsm, Silent, Synthetic, Task};
//!
//! let dataset = Synthetic::preset("small")?.generate(0)?;
//! let task = Task::new(&dataset, &dataset.trials(None)?[0], &Choice::default(), &Silent)?;
//! let space = BottomUp::default().fit(&task.training(), &Silent)?;
//! let (features, labels) = (task.train.features.as_ref(), &task.train.labels);
//! let landmarks = Landmarks::of(&space, features, labels, task.known.len())?;
//! let embedding = Lsm::default().embed(&landmarks, &task.semantics, &Silent)?;
//! assert!(embedding.converged);
//! assert_eq!(embedding.points.shape(), (space.dim(), task.unseen.len()));
//! # Ok::<(), bidilel::Error>(())
//! ```

mod ensemble;
mod forces;
mod formula;
mod init;
mod join;
mod krr;
mod lsm;
mod smacof;
mod span;
mod stress;
mod svr;
mod verify;

use faer::Mat;
use serde::{Deserialize, Serialize};

use bidilel_math::Observer;

pub use ensemble::{LsmKrr, LsmSvr};
pub use formula::{stress, stress_from};
pub use init::Init;
pub(crate) use join::joined;
pub use krr::Krr;
pub use lsm::{Lsm, Optimizer};
pub use stress::Sammon;
pub use svr::{Form, Kernel, Svr};

use crate::error::Result;
use crate::landmarks::Landmarks;
use crate::semantic::ClassSemantics;
use crate::settings::{Settings, TopDownName};

/// The least semantic distance; smaller ones are raised to it, since the cost divides by them.
pub const DISTANCE_FLOOR: f64 = 1e-6;

/// Embeddings of the unseen classes: $B^u$, latent dimensions x unseen classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// One column per class.
    pub points: Mat<f64>,
    /// Whether the embedder converged before its iteration limit.
    pub converged: bool,
    /// The points of the mapping alone, where `points` are its means with a regression: classes that come later are
    /// mapped among these.
    pub mapped: Option<Mat<f64>>,
}

impl Embedding {
    /// That of no classes, in a space of so many dimensions.
    pub(crate) fn nothing(dim: usize) -> Self {
        Self { points: Mat::zeros(dim, 0), converged: true, mapped: None }
    }

    /// The embeddings of the same classes in several spaces, below each other.
    pub(crate) fn stacked(each: Vec<Self>) -> Self {
        let converged = each.iter().all(|one| one.converged);
        let below = |parts: Vec<Mat<f64>>| {
            let columns = parts.first().map_or(0, Mat::ncols);
            let mut all = Mat::zeros(parts.iter().map(Mat::nrows).sum(), columns);
            let mut first = 0;
            for part in &parts {
                all.as_mut().subrows_mut(first, part.nrows()).copy_from(part);
                first += part.nrows();
            }
            all
        };
        let (mut points, mut mapped) = (Vec::new(), Vec::new());
        for one in each {
            points.push(one.points);
            mapped.push(one.mapped);
        }
        let mapped: Option<Vec<Mat<f64>>> = mapped.into_iter().collect();
        Self { points: below(points), converged, mapped: mapped.map(below) }
    }
}

/// Embeds the unseen classes among the landmarks.
pub trait ClassEmbedder {
    /// Embeds every unseen class.
    ///
    /// # Errors
    /// [`Error::Setting`](crate::Error::Setting) for settings out of their range,
    /// [`Error::Semantic`](crate::Error::Semantic) for descriptions without vectors where these are needed,
    /// [`Error::Math`](crate::Error::Math) for failed computations.
    fn embed(
        &self,
        landmarks: &Landmarks,
        semantics: &ClassSemantics,
        watch: &dyn Observer,
    ) -> Result<Embedding>;
}

/// Any of the top-down embedders.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
pub enum TopDown {
    /// Landmark-based Sammon mapping: the paper's choice.
    #[serde(rename = "lsm")]
    Lsm(Lsm),
    /// Support vector regression from descriptions to landmarks.
    #[serde(rename = "svr")]
    Svr(Svr),
    /// The mean of both.
    #[serde(rename = "lsm+svr")]
    LsmSvr(LsmSvr),
    /// Kernel ridge regression from descriptions to landmarks.
    #[serde(rename = "krr")]
    Krr(Krr),
    /// The mean of the mapping and of kernel ridge regression.
    #[serde(rename = "lsm+krr")]
    LsmKrr(LsmKrr),
}

impl Default for TopDown {
    fn default() -> Self {
        Self::Lsm(Lsm::default())
    }
}

impl TopDown {
    /// The embedder that settings name, with the settings that it owns; `seed` is for what is random.
    pub(crate) fn from_settings(settings: &Settings, seed: u64) -> Self {
        match settings.top_down.unwrap_or_default() {
            TopDownName::Lsm => Self::Lsm(Lsm::from_settings(settings, seed)),
            TopDownName::Svr => Self::Svr(Svr::from_settings(settings)),
            TopDownName::LsmSvr => Self::LsmSvr(LsmSvr::from_settings(settings, seed)),
            TopDownName::Krr => Self::Krr(Krr::from_settings(settings)),
            TopDownName::LsmKrr => Self::LsmKrr(LsmKrr::from_settings(settings, seed)),
        }
    }
}

impl TopDown {
    /// Fills in what follows from the known classes where it was left open.
    pub(crate) fn resolve(&mut self, landmarks: &Landmarks, semantics: &ClassSemantics) {
        let known = semantics.known_vectors();
        match self {
            Self::Lsm(_) => {}
            Self::Svr(svr) => known.into_iter().for_each(|known| svr.resolve(known)),
            Self::LsmSvr(both) => known.into_iter().for_each(|known| both.svr.resolve(known)),
            Self::Krr(krr) => krr.resolve(landmarks, semantics),
            Self::LsmKrr(both) => both.krr.resolve(landmarks, semantics),
        }
    }
}

impl ClassEmbedder for TopDown {
    fn embed(
        &self,
        landmarks: &Landmarks,
        semantics: &ClassSemantics,
        watch: &dyn Observer,
    ) -> Result<Embedding> {
        match self {
            Self::Lsm(embedder) => embedder.embed(landmarks, semantics, watch),
            Self::Svr(embedder) => embedder.embed(landmarks, semantics, watch),
            Self::LsmSvr(embedder) => embedder.embed(landmarks, semantics, watch),
            Self::Krr(embedder) => embedder.embed(landmarks, semantics, watch),
            Self::LsmKrr(embedder) => embedder.embed(landmarks, semantics, watch),
        }
    }
}
