//! Refiners: a recognition is improved by the whole batch of test instances (the transductive setting).
//!
//! Refiners can be chained. A [`LatentRefiner`] moves class embeddings in the latent space, so that it works only after
//! methods that have one; [`Post`] returns an error otherwise.
//!
//! ```
//! use bidilel::{
//!     Candidates, Choice, FittedMethod, Pipeline, Post, Refiner, SelfTraining, Silent, Synthetic, Task, ZeroShotMethod,
//! };
//!
//! let dataset = Synthetic::preset("small")?.generate(0)?;
//! let task = Task::new(&dataset, &dataset.trials(None)?[0], &Choice::default(), &Silent)?;
//! let fitted = Pipeline::default().fit(&task, &Silent)?;
//! let inductive = fitted.recognize(task.test.prepared(), Candidates::Unseen)?;
//! let settings = SelfTraining { self_training_neighbors: 20, ..SelfTraining::default() };
//! let refined = Post::SelfTraining(settings).refine(inductive)?;
//! assert_eq!(refined.labels().len(), task.test.labels.len());
//! # Ok::<(), bidilel::Error>(())
//! ```

mod balanced;
mod beside_known;
mod self_training;
mod structured;

use serde::{Deserialize, Serialize};

pub use balanced::Balanced;
pub use beside_known::BesideKnown;
pub use self_training::SelfTraining;
pub use structured::Structured;

use crate::error::{Error, Result};
use crate::recognize::{Latent, Recognition, Scores};
use crate::settings::{PostName, Settings};

/// Improves a recognition by what the batch of instances shows.
pub trait Refiner {
    /// The recognition after refinement.
    ///
    /// # Errors
    /// [`Error::NoLatentPoints`] where the refiner needs points and the method has none, and settings out of their range.
    fn refine(&self, before: Recognition) -> Result<Recognition>;
}

/// Improves a recognition by moving class embeddings among the points of a latent space.
pub trait LatentRefiner {
    /// The embeddings after refinement; `scores` are those of `before`.
    fn refine(&self, before: Latent, scores: &Scores) -> Result<Latent>;
}

/// Any of the refiners.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Post {
    /// Embeddings move towards their nearest instances.
    SelfTraining(SelfTraining),
    /// Instances are clustered and clusters matched to classes.
    Structured(Structured),
    /// Soft clusters from the embeddings, of shares near equal.
    Balanced(Balanced),
}

impl Post {
    /// The refiners that settings name, in order, with the settings that they own.
    pub(crate) fn from_settings(settings: &Settings) -> Vec<Self> {
        let refiner = |name: &PostName| match name {
            PostName::None => None,
            PostName::SelfTraining => Some(Self::SelfTraining(SelfTraining::from_settings(settings))),
            PostName::Structured => Some(Self::Structured(Structured::from_settings(settings))),
            PostName::Balanced => Some(Self::Balanced(Balanced::from_settings(settings))),
        };
        settings.post.iter().flatten().filter_map(refiner).collect()
    }

    /// The name by which settings ask for it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::SelfTraining(_) => "self-training",
            Self::Structured(_) => "structured",
            Self::Balanced(_) => "balanced",
        }
    }
}

impl Refiner for Post {
    fn refine(&self, before: Recognition) -> Result<Recognition> {
        let Recognition { scores, latent } = before;
        let latent = latent.ok_or(Error::NoLatentPoints { refiner: self.name() })?;
        match self {
            Self::SelfTraining(refiner) => refiner.refine(latent, &scores).map(Recognition::from),
            Self::Structured(refiner) => refiner.refine(latent, &scores).map(Recognition::from),
            // Its scores are not those of the nearest center alone.
            Self::Balanced(refiner) => refiner.refine(latent),
        }
    }
}

/// A recognition after some refiners; `step` gets it before them (called `first`) and after each of them, by name.
///
/// # Errors
/// Those of the refiners.
pub fn refined(
    first: &str,
    recognition: Recognition,
    post: &[Post],
    mut step: impl FnMut(&str, &Recognition),
) -> Result<Recognition> {
    step(first, &recognition);
    post.iter().try_fold(recognition, |before, refiner| {
        let after = refiner.refine(before)?;
        step(refiner.name(), &after);
        Ok(after)
    })
}
