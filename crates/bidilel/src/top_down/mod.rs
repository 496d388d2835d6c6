//! Top-down: the unseen classes are placed in the latent space by their descriptions.

mod ensemble;
mod forces;
mod formula;
mod lsm;
mod smacof;
mod span;
mod stress;
mod svr;
mod verify;

use faer::Mat;
use serde::{Deserialize, Serialize};

use bidilel_math::Observer;

pub use ensemble::LsmSvr;
pub use formula::stress;
pub use lsm::{Init, Lsm, Optimizer};
pub use stress::Sammon;
pub use svr::{Form, Kernel, Svr};

use crate::error::Result;
use crate::landmarks::Landmarks;
use crate::semantic::ClassSemantics;
use crate::settings::{Settings, TopDownName};

/// Semantic distances below this count as this much: the cost divides by them.
pub const DISTANCE_FLOOR: f64 = 1e-6;

/// The unseen classes' places: $B^u$, latent dimensions x unseen classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// One column a class.
    pub points: Mat<f64>,
    /// Whether the embedder ended by itself, and not at its iteration limit.
    pub converged: bool,
}

/// Embeds the unseen classes among the landmarks.
pub trait ClassEmbedder {
    /// Places every unseen class.
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
        }
    }
}
