//! Corrections of a recognition by the whole batch of test instances (the transductive setting).
//!
//! Refiners can be chained: each moves the class embeddings and measures again.

mod self_training;
mod structured;

use serde::{Deserialize, Serialize};

pub use self_training::SelfTraining;
pub use structured::Structured;

use crate::error::Result;
use crate::recognize::Recognition;
use crate::settings::{PostName, Settings};

/// Improves a recognition.
pub trait Refiner {
    /// Moves the class embeddings by what the instances show.
    fn refine(&self, before: Recognition) -> Result<Recognition>;
}

/// Any of the refiners.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Post {
    /// Embeddings move towards their nearest instances.
    SelfTraining(SelfTraining),
    /// Instances are clustered and clusters matched to classes.
    Structured(Structured),
}

impl Post {
    /// The refiners that settings name, in order, with the settings that they own.
    pub(crate) fn from_settings(settings: &Settings) -> Vec<Self> {
        let refiner = |name: &PostName| match name {
            PostName::None => None,
            PostName::SelfTraining => Some(Self::SelfTraining(SelfTraining::from_settings(settings))),
            PostName::Structured => Some(Self::Structured(Structured::from_settings(settings))),
        };
        settings.post.iter().flatten().filter_map(refiner).collect()
    }

    /// The name by which settings ask for it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::SelfTraining(_) => "self-training",
            Self::Structured(_) => "structured",
        }
    }
}

impl Refiner for Post {
    fn refine(&self, before: Recognition) -> Result<Recognition> {
        match self {
            Self::SelfTraining(refiner) => refiner.refine(before),
            Self::Structured(refiner) => refiner.refine(before),
        }
    }
}
