//! Refiners: a recognition is improved by the whole batch of test instances (the transductive setting).
//!
//! Refiners can be chained. A [`LatentRefiner`] moves class embeddings in the latent space, so that it works only after
//! methods that have one; [`Post`] returns an error otherwise. A [`ScoreRefiner`] changes scores alone, and works after
//! any method: the remedies against hubs, classes that are near to everything. It leaves latent points as they are, so
//! that a latent refiner may follow; self-training then takes its nearest instances by the refined scores, while
//! structured and balanced prediction start from the embeddings and drop them. [`Propagation`] changes scores, too, by those
//! of the instances around a latent point.
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
#[cfg(test)]
mod batch_laws;
mod beside_known;
mod csls;
mod global_correction;
mod mutual_proximity;
mod nrm;
mod prior;
mod propagation;
#[cfg(test)]
mod score_laws;
mod self_training;
mod sinkhorn;
mod structured;
mod trust;

use bidilel_math::{Observer, Silent};
use serde::{Deserialize, Serialize};

pub use balanced::Balanced;
pub use beside_known::BesideKnown;
pub use csls::Csls;
pub use global_correction::GlobalCorrection;
pub use mutual_proximity::MutualProximity;
pub use nrm::Nrm;
pub(crate) use nrm::normalize_classes;
pub use prior::Prior;
pub use propagation::{Propagation, ScoreKind};
pub use self_training::SelfTraining;
pub use structured::Structured;
pub(crate) use trust::Remarks;

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

/// What refiners may know of a batch besides its recognition.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    /// Names of the classes that refiners may move, in the order of their scores: the unseen ones. None where they have
    /// no names.
    pub classes: &'a [String],
    /// How many instances each of these classes has, where that is known, as of held-out known classes. Where shares are
    /// given by name, these stand for them: what is given is about the user's batch.
    pub counts: &'a [usize],
    /// Gets what speaks against the refinement of this batch.
    pub watch: Option<&'a dyn Observer>,
}

impl<'a> Batch<'a> {
    /// A batch of which nothing is known, and nobody hears about.
    pub const UNNAMED: Batch<'static> = Batch { classes: &[], counts: &[], watch: None };

    /// A batch of some classes.
    pub fn of(classes: &'a [String], watch: &'a dyn Observer) -> Self {
        Self { classes, counts: &[], watch: Some(watch) }
    }

    /// Instances of known classes that play unseen ones; remarks about them would not be about the user's batch.
    pub(crate) fn held_out(counts: &'a [usize]) -> Self {
        Self { counts, ..Self::UNNAMED }
    }
}

/// How many instances each of `classes` candidates has, leaving out the first `known` of them.
pub(crate) fn counts(truth: &[usize], known: usize, classes: usize) -> Vec<usize> {
    let mut counts = vec![0; classes - known];
    truth.iter().filter_map(|label| label.checked_sub(known)).for_each(|class| counts[class] += 1);
    counts
}

/// Any of the refiners.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Post {
    /// Embeddings move towards their nearest instances.
    SelfTraining(SelfTraining),
    /// Instances are clustered and clusters matched to classes.
    Structured(Structured),
    /// Soft clusters from the embeddings, of shares near equal, given or estimated ones.
    Balanced(Balanced),
    /// Class shares of an instance are drawn towards those of its nearest instances.
    Propagation(Propagation),
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
        let all = settings.post.as_deref().unwrap_or_default();
        let refiner = |(at, name): (usize, &PostName)| match name {
            PostName::None => None,
            PostName::SelfTraining => Some(Self::SelfTraining(SelfTraining::from_settings(settings))),
            PostName::Structured => Some(Self::Structured(Structured::from_settings(settings))),
            PostName::Balanced => Some(Self::Balanced(Balanced::from_settings(settings))),
            PostName::Propagation => {
                Some(Self::Propagation(Propagation::from_settings(settings, &all[..at])))
            }
            PostName::Nrm => Some(Self::Nrm(Nrm {})),
            PostName::GlobalCorrection => Some(Self::GlobalCorrection(GlobalCorrection {})),
            PostName::Csls => Some(Self::Csls(Csls::from_settings(settings))),
            PostName::MutualProximity => {
                Some(Self::MutualProximity(MutualProximity::from_settings(settings)))
            }
        };
        all.iter().enumerate().filter_map(refiner).collect()
    }

    /// The name by which settings ask for it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::SelfTraining(_) => "self-training",
            Self::Structured(_) => "structured",
            Self::Balanced(_) => "balanced",
            Self::Propagation(_) => "propagation",
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
        self.refine_batch(before, &Batch::UNNAMED)
    }
}

impl Post {
    /// The recognition of a batch after refinement.
    ///
    /// # Errors
    /// As [`Refiner::refine`], and [`Error::Setting`] for shares of classes that are not those of the batch.
    pub fn refine_batch(&self, before: Recognition, batch: &Batch<'_>) -> Result<Recognition> {
        let Recognition { scores, latent } = before;
        let scored = |scores: Result<Scores>, latent| Ok(Recognition { scores: scores?, latent });
        match self {
            Self::SelfTraining(refiner) => {
                refiner.refine(self.latent(latent)?, &scores).map(Recognition::from)
            }
            Self::Structured(refiner) => {
                let watch = batch.watch.unwrap_or(&Silent);
                refiner.refine_watched(self.latent(latent)?, watch).map(Recognition::from)
            }
            // Its scores are not those of the nearest center alone.
            Self::Balanced(refiner) => refiner.refine(self.latent(latent)?, batch),
            // It leaves the embeddings where they are.
            Self::Propagation(refiner) => refiner.refine(self.latent(latent)?, &scores, batch.watch),
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
    batch: &Batch<'_>,
    mut step: impl FnMut(&str, &Recognition),
) -> Result<Recognition> {
    step(first, &recognition);
    post.iter().try_fold(recognition, |before, refiner| {
        let after = refiner.refine_batch(before, batch)?;
        step(refiner.name(), &after);
        Ok(after)
    })
}
