//! Principal component analysis: the orthonormal directions of largest variance.
//!
//! The leading eigenvectors of $\sum_i (x_i - \bar x)(x_i - \bar x)^\top$ (visual x visual dimensions).
//!
//! # References
//! I. Jolliffe, *Principal Component Analysis*, 2002.

use serde::{Deserialize, Serialize};

use bidilel_math::scatter::{self, Selected};
use bidilel_math::{Observer, Scalar, eigen};

use super::{
    LatentSpaceLearner, Learner, Sizes, resolve_dim, scale_both, scale_rows, scales_of, spread,
    total_scatter, varying_dimensions,
};
use crate::error::{Error, Result};
use crate::latent_space::{LatentSpace, Map};
use crate::settings::Settings;
use crate::task::Training;

/// Settings of PCA.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pca {
    /// Latent dimensions; up to 100 if not given.
    pub dim: Option<usize>,
}

impl Pca {
    pub(crate) fn from_settings(settings: &Settings, _seed: u64) -> Self {
        Self { dim: settings.dim }
    }
}

impl Learner for Pca {
    fn dim(&mut self) -> Option<&mut Option<usize>> {
        Some(&mut self.dim)
    }

    fn most_dim(&self, sizes: &Sizes) -> usize {
        sizes.instances.saturating_sub(1)
    }
}

impl<T: Scalar> LatentSpaceLearner<T> for Pca {
    fn fit(&self, training: &Training<'_, T>, watch: &dyn Observer) -> Result<LatentSpace> {
        let rows = varying_dimensions(training, watch)?;
        let most = rows.len().min(training.features.ncols().saturating_sub(1)).max(1);
        let dim = resolve_dim(self.dim, most, "varying features, and instances less one")?;
        watch.stage("scatter");
        let mean = scatter::mean(training.features);
        let data = Selected { points: training.features, rows: &rows, center: Some(&mean) };
        let mut total = total_scatter(data, watch)?;
        let scales = scales_of(training, &rows);
        scale_both(&mut total, scales.as_deref());
        watch.stage("eigen");
        let mut found = eigen::symmetric(total.as_ref(), dim, watch).map_err(Error::in_stage("eigen"))?;
        scale_rows(&mut found.vectors, scales.as_deref());
        let map = spread(found.vectors, &rows, training.features.nrows());
        Ok(LatentSpace::centered(Map::Linear(map), training.features))
    }
}
