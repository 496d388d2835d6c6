//! Bottom-up: a latent space learned from the labelled features of the known classes.

mod cca;
mod lda;
mod locality;
mod none;
mod pca;
mod scatters;

use serde::{Deserialize, Serialize};

pub use bidilel_math::graph::Weights;
use bidilel_math::{Observer, Scalar};

pub use cca::Cca;
pub use lda::Lda;
pub use locality::{Locality, Lpp, Neighborhood, Regularizer, Slpp};
pub use none::Unchanged;
pub use pca::Pca;

use crate::error::{Error, Result};
use crate::latent_space::LatentSpace;
use crate::task::Training;

/// The latent dimensions that are used where none are asked for, as far as there are so many.
pub const DEFAULT_DIM: usize = 100;

/// Learns a latent space.
pub trait LatentSpaceLearner {
    /// Fits the space to known classes only.
    fn fit<T: Scalar>(&self, training: &Training<'_, T>, watch: &dyn Observer) -> Result<LatentSpace>;
}

/// Any of the bottom-up learners.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum BottomUp {
    /// Supervised locality preserving projection: the paper's choice.
    Slpp(Slpp),
    /// Locality preserving projection.
    Lpp(Lpp),
    /// Principal component analysis.
    Pca(Pca),
    /// Linear discriminant analysis.
    Lda(Lda),
    /// Canonical correlation analysis with the semantic vectors.
    Cca(Cca),
    /// The visual representation itself.
    None(Unchanged),
}

impl Default for BottomUp {
    fn default() -> Self {
        Self::Slpp(Slpp::default())
    }
}

impl LatentSpaceLearner for BottomUp {
    fn fit<T: Scalar>(&self, training: &Training<'_, T>, watch: &dyn Observer) -> Result<LatentSpace> {
        match self {
            Self::Slpp(learner) => learner.fit(training, watch),
            Self::Lpp(learner) => learner.fit(training, watch),
            Self::Pca(learner) => learner.fit(training, watch),
            Self::Lda(learner) => learner.fit(training, watch),
            Self::Cca(learner) => learner.fit(training, watch),
            Self::None(learner) => learner.fit(training, watch),
        }
    }
}

/// The number of dimensions to learn: what was asked for if possible, else [`DEFAULT_DIM`] clipped.
pub(crate) fn resolve_dim(asked: Option<usize>, most: usize, limit: &str) -> Result<usize> {
    match asked {
        None => Ok(DEFAULT_DIM.min(most)),
        Some(dim) if (1..=most).contains(&dim) => Ok(dim),
        Some(dim) => Err(Error::Setting {
            setting: "dim",
            expected: format!("between 1 and {most} ({limit})"),
            found: dim.to_string(),
        }),
    }
}

/// The dimensions that vary; constant ones carry nothing and would make scatter matrices singular.
pub(crate) fn varying_dimensions<T: Scalar>(
    training: &Training<'_, T>,
    watch: &dyn Observer,
) -> Result<Vec<usize>> {
    let rows = bidilel_math::scatter::varying(training.features);
    let dropped = training.features.nrows() - rows.len();
    if rows.is_empty() {
        return Err(Error::Setting {
            setting: "the visual representation",
            expected: "different for different instances".to_owned(),
            found: "one and the same row for all training instances".to_owned(),
        });
    }
    if dropped > 0 {
        watch.note(&format!(
            "{dropped} of {} features are constant and are left out",
            training.features.nrows()
        ));
    }
    Ok(rows)
}

/// Puts rows for all visual dimensions around a map of some: the others are zero.
pub(crate) fn spread(map: &faer::Mat<f64>, rows: &[usize], dim: usize) -> faer::Mat<f64> {
    let mut whole = bidilel_math::parallel::zeros(dim, map.ncols());
    for (place, &row) in rows.iter().enumerate() {
        for column in 0..map.ncols() {
            whole[(row, column)] = map[(place, column)];
        }
    }
    whole
}
