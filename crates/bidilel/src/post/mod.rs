//! Refiners: a recognition is improved by the whole batch of test instances (the transductive setting).
//!
//! Refiners can be chained. A [`LatentRefiner`] moves class embeddings in the latent space, so that it works only after
//! methods that have one; [`Post`] returns an error otherwise. A [`ScoreRefiner`] changes scores alone, and works after
//! any method: the remedies against hubs, classes that are near to everything. It leaves latent points as they are, so
//! that a latent refiner may follow; self-training then takes its nearest instances by the refined scores, while
//! structured and balanced prediction start from the embeddings and drop them.
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
mod csls;
mod global_correction;
mod mutual_proximity;
mod nrm;
#[cfg(test)]
mod score_laws;
mod self_training;
mod structured;

use serde::{Deserialize, Serialize};

pub use balanced::Balanced;
pub use beside_known::BesideKnown;
pub use csls::Csls;
pub use global_correction::GlobalCorrection;
pub use mutual_proximity::MutualProximity;
pub use nrm::Nrm;
pub(crate) use nrm::normalize_classes;
pub use self_training::SelfTraining;
pub use structured::Structured;

use crate::error::{Error, Result};
use crate::recognize::{Latent, Recognition, Scores};
use crate::settings::{Named, PostName, Settings};

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

/// Improves scores by those of the whole batch, whichever method they come from.
pub trait ScoreRefiner {
    /// The scores after refinement.
    fn refine(&self, scores: &Scores) -> Result<Scores>;
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
    /// Scores of a class are divided by their norm.
    Nrm(Nrm),
    /// Instances by their place in the list of a class.
    GlobalCorrection(GlobalCorrection),
    /// Scores less those of neighbors on both sides.
    Csls(Csls),
    /// The probability that both are nearer to each other than to others.
    MutualProximity(MutualProximity),
}

impl Post {
    /// The refiners that settings name, in order, with the settings that they own.
    pub(crate) fn from_settings(settings: &Settings) -> Vec<Self> {
        let refiner = |name: &PostName| match name {
            PostName::None => None,
            PostName::SelfTraining => Some(Self::SelfTraining(SelfTraining::from_settings(settings))),
            PostName::Structured => Some(Self::Structured(Structured::from_settings(settings))),
            PostName::Balanced => Some(Self::Balanced(Balanced::from_settings(settings))),
            PostName::Nrm => Some(Self::Nrm(Nrm {})),
            PostName::GlobalCorrection => Some(Self::GlobalCorrection(GlobalCorrection {})),
            PostName::Csls => Some(Self::Csls(Csls::from_settings(settings))),
            PostName::MutualProximity => {
                Some(Self::MutualProximity(MutualProximity::from_settings(settings)))
            }
        };
        settings.post.iter().flatten().filter_map(refiner).collect()
    }

    /// The name by which settings ask for it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::SelfTraining(_) => "self-training",
            Self::Structured(_) => "structured",
            Self::Balanced(_) => "balanced",
            Self::Nrm(_) => "nrm",
            Self::GlobalCorrection(_) => "global-correction",
            Self::Csls(_) => "csls",
            Self::MutualProximity(_) => "mutual-proximity",
        }
    }

    /// Whether it works on scores alone, so that it can follow methods without a latent space.
    pub fn needs_scores_only(&self) -> bool {
        PostName::parse(self.name()).is_some_and(PostName::needs_scores_only)
    }

    fn latent(&self, latent: Option<Latent>) -> Result<Latent> {
        latent.ok_or(Error::NoLatentPoints { refiner: self.name() })
    }
}

impl Refiner for Post {
    fn refine(&self, before: Recognition) -> Result<Recognition> {
        let Recognition { scores, latent } = before;
        let scored = |scores: Result<Scores>, latent| Ok(Recognition { scores: scores?, latent });
        match self {
            Self::SelfTraining(refiner) => {
                refiner.refine(self.latent(latent)?, &scores).map(Recognition::from)
            }
            Self::Structured(refiner) => refiner.refine(self.latent(latent)?, &scores).map(Recognition::from),
            // Its scores are not those of the nearest center alone.
            Self::Balanced(refiner) => refiner.refine(self.latent(latent)?),
            Self::Nrm(refiner) => scored(refiner.refine(&scores), latent),
            Self::GlobalCorrection(refiner) => scored(refiner.refine(&scores), latent),
            Self::Csls(refiner) => scored(refiner.refine(&scores), latent),
            Self::MutualProximity(refiner) => scored(refiner.refine(&scores), latent),
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
