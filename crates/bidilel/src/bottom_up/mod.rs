//! Bottom-up: a latent space learned from the labeled features of the known classes.
//!
//! ```
//! use bidilel::{Choice, LatentSpaceLearner, Locality, Silent, Slpp, Synthetic, Task};
//!
//! let dataset = Synthetic::preset("small")?.generate(0)?;
//! let task = Task::new(&dataset, &dataset.trials(None)?[0], &Choice::default(), &Silent)?;
//! let locality = Locality { dim: Some(12), neighbors: 5, ..Locality::default() };
//! let space = Slpp { locality, ..Slpp::default() }.fit(&task.training(), &Silent)?;
//! let points = space.project(task.test.features.as_ref())?;
//! assert_eq!(points.shape(), (12, task.test.labels.len()));
//! # Ok::<(), bidilel::Error>(())
//! ```

mod cca;
mod cca_lda;
mod fused;
mod joint;
mod lda;
mod locality;
mod moments;
mod none;
mod pca;
mod scatters;
mod semantic_factor;

use serde::{Deserialize, Serialize};

use bidilel_math::graph::Affinity;
pub use bidilel_math::graph::Weights;
use bidilel_math::scatter::{self, Selected};
use bidilel_math::{Observer, Scalar};

pub use cca::Cca;
pub use cca_lda::CcaLda;
pub use fused::LandmarkSpace;
pub use lda::Lda;
pub use locality::{Locality, Lpp, Regularizer, Slpp};
pub use none::Unchanged;
pub use pca::Pca;
pub(crate) use scatters::Scatters;

pub use crate::visual::{Neighborhood, Search};

use crate::error::{Error, Expected, Result};
use crate::latent_space::LatentSpace;
use crate::method::{Latem, Sje};
use crate::settings::{BottomUpName, Settings};
use crate::task::Training;
use crate::visual::Views;

/// Latent dimensions by default, or as many as there are.
pub const DEFAULT_DIM: usize = 100;

/// Learns a latent space.
///
/// Features are `f32`; the type parameter exists so that tests can follow a reference in `f64`.
pub trait LatentSpaceLearner<T = f32> {
    /// Fits the space to known classes only.
    ///
    /// # Errors
    /// [`Error::Setting`] for settings out of their range, [`Error::NoEdges`], [`Error::Semantic`] for descriptions that
    /// cannot be used, [`Error::Math`] for failed computations.
    fn fit(&self, training: &Training<'_, T>, watch: &dyn Observer) -> Result<LatentSpace>;
}

/// What bounds the dimensions that a learner can find, besides the number of features.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// Training instances.
    pub(crate) instances: usize,
    /// Known classes.
    pub(crate) classes: usize,
    /// Dimensions of all semantic representations together.
    pub(crate) semantic_dim: usize,
}

/// What the stages around a learner ask it.
pub(crate) trait Learner {
    /// Its number of latent dimensions, where that is a setting: spaces of fewer dimensions are leading parts then.
    fn dim(&mut self) -> Option<&mut Option<usize>> {
        None
    }

    /// Its weight of a regularizer, where scatter matrices do not depend on it.
    fn alpha(&mut self) -> Option<&mut f64> {
        None
    }

    /// The most dimensions that it finds in data of these sizes.
    fn most_dim(&self, sizes: &Sizes) -> usize {
        sizes.instances
    }

    /// Whether it looks at the descriptions of the known classes.
    fn reads_semantics(&self) -> bool {
        false
    }

    /// Whether a seed makes a difference. Fits of such a learner share nothing.
    fn is_random(&self) -> bool {
        false
    }
}

/// Declares the learners by the names of their variants, which are those of [`BottomUpName`].
macro_rules! learners {
    ($($(#[$doc:meta])* $variant:ident($settings:ty),)+) => {
        /// Any of the bottom-up learners.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind", rename_all = "kebab-case")]
        pub enum BottomUp { $($(#[$doc])* $variant($settings),)+ }

        impl<T: Scalar> LatentSpaceLearner<T> for BottomUp {
            fn fit(&self, training: &Training<'_, T>, watch: &dyn Observer) -> Result<LatentSpace> {
                match self { $(Self::$variant(learner) => learner.fit(training, watch),)+ }
            }
        }

        impl BottomUp {
            /// The learner that settings name, with the settings that it owns; `seed` is for what is random.
            pub(crate) fn from_settings(settings: &Settings, seed: u64) -> Self {
                match settings.bottom_up.unwrap_or_default() {
                    $(BottomUpName::$variant => Self::$variant(<$settings>::from_settings(settings, seed)),)+
                }
            }

            /// What the stages around it ask.
            pub(crate) fn learner(&self) -> &dyn Learner {
                match self { $(Self::$variant(learner) => learner,)+ }
            }

            /// The same, to change what they ask for.
            pub(crate) fn learner_mut(&mut self) -> &mut dyn Learner {
                match self { $(Self::$variant(learner) => learner,)+ }
            }
        }
    };
}

learners! {
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
    /// Both of these in one problem.
    #[serde(rename = "cca+lda")]
    CcaLda(CcaLda),
    /// The map of structured joint embedding.
    Sje(Sje),
    /// The maps of latent embeddings: several spaces.
    Latem(Latem),
    /// The visual representation itself.
    None(Unchanged),
}

impl Default for BottomUp {
    fn default() -> Self {
        Self::Slpp(Slpp::default())
    }
}

impl BottomUp {
    /// The neighborhood graph of the training instances, for the learners that have one.
    pub(crate) fn graph<T: Scalar>(
        &self,
        training: &Training<'_, T>,
        watch: &dyn Observer,
    ) -> Result<Option<Affinity>> {
        match self {
            Self::Slpp(learner) => learner.graph(training, watch).map(Some),
            Self::Lpp(learner) => learner.graph(training, watch).map(Some),
            _ => Ok(None),
        }
    }

    /// Fits the space over a graph that is there already; learners without one ignore it.
    pub(crate) fn fit_graph<T: Scalar>(
        &self,
        training: &Training<'_, T>,
        graph: &Affinity,
        watch: &dyn Observer,
    ) -> Result<LatentSpace> {
        match self {
            Self::Slpp(learner) => learner.locality.fit_graph(training, graph, watch),
            Self::Lpp(learner) => learner.locality.fit_graph(training, graph, watch),
            other => other.fit(training, watch),
        }
    }
}

/// The number of dimensions to learn: what was asked for if possible, else [`DEFAULT_DIM`] clipped.
pub(crate) fn resolve_dim(asked: Option<usize>, most: usize, limit: &'static str) -> Result<usize> {
    match asked {
        None => Ok(DEFAULT_DIM.min(most)),
        Some(dim) if (1..=most).contains(&dim) => Ok(dim),
        Some(dim) => Err(Error::Setting {
            setting: "dim",
            expected: Expected::Between { least: 1, most, limit },
            found: dim.to_string(),
        }),
    }
}

/// The dimensions that vary; constant ones carry nothing and would make scatter matrices singular.
pub(crate) fn varying_dimensions<T: Scalar>(
    training: &Training<'_, T>,
    watch: &dyn Observer,
) -> Result<Vec<usize>> {
    let varying = bidilel_math::scatter::varying(training.features);
    usable(varying, training.features.nrows(), training.views, watch)
}

/// Of `all` features, those that vary and have a weight.
pub(crate) fn usable(
    mut rows: Vec<usize>,
    all: usize,
    views: &Views,
    watch: &dyn Observer,
) -> Result<Vec<usize>> {
    let dropped = all - rows.len();
    // A view without a weight has no effect.
    if let Some(scales) = views.scales() {
        rows.retain(|&row| scales[row] > 0.0);
    }
    if rows.is_empty() {
        return Err(Error::Setting {
            setting: "the visual representation",
            expected: "different for different instances".into(),
            found: "one and the same row for all training instances".to_owned(),
        });
    }
    if dropped > 0 {
        watch.note(&format!("{dropped} of {all} features are constant and are left out"));
    }
    Ok(rows)
}

/// $\sum_i x_i x_i^\top$, compared with the instances.
pub(crate) fn total_scatter<T: Scalar>(
    data: Selected<'_, T>,
    watch: &dyn Observer,
) -> Result<faer::Mat<f64>> {
    let total = scatter::total(data, watch);
    scatter::verify_total(data, &total, watch).map_err(Error::in_stage("scatter"))?;
    Ok(total)
}

/// The scales of some features, where views have weights.
pub(crate) fn scales_of<T>(training: &Training<'_, T>, rows: &[usize]) -> Option<Vec<f64>> {
    let scales = training.views.scales()?;
    Some(rows.iter().map(|&row| scales[row]).collect())
}

/// $S M S$ with the diagonal matrix $S$: the scatter matrix of scaled features from that of unscaled ones.
pub(crate) fn scale_both(matrix: &mut faer::Mat<f64>, scales: Option<&[f64]>) {
    if let Some(scales) = scales {
        scale_rows(matrix, Some(scales));
        for (j, scale) in scales.iter().enumerate() {
            matrix.col_as_slice_mut(j).iter_mut().for_each(|value| *value *= scale);
        }
    }
}

/// $S M$: a factor of scaled features, or the map of unscaled features from that of scaled ones.
pub(crate) fn scale_rows(matrix: &mut faer::Mat<f64>, scales: Option<&[f64]>) {
    if let Some(scales) = scales {
        for j in 0..matrix.ncols() {
            matrix.col_as_slice_mut(j).iter_mut().zip(scales).for_each(|(value, scale)| *value *= scale);
        }
    }
}

/// The map of all visual dimensions from the map of some: the other rows are zero.
pub(crate) fn spread(map: faer::Mat<f64>, rows: &[usize], dim: usize) -> faer::Mat<f64> {
    if rows.len() == dim {
        return map;
    }
    let mut whole = bidilel_math::parallel::zeros(dim, map.ncols());
    for column in 0..map.ncols() {
        let own = whole.col_as_slice_mut(column);
        rows.iter().zip(map.col_as_slice(column)).for_each(|(&row, &value)| own[row] = value);
    }
    whole
}
