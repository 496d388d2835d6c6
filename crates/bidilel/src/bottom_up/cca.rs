//! Canonical correlation analysis of features with the semantic vectors of their classes.
//!
//! The directions $p$ (visual) and $q$ (semantic) whose projections correlate most: with covariances
//! $C_{xx} + r \bar\lambda_x I = R R^\top$ and $C_{ss} + r \bar\lambda_s I = Q Q^\top$, the leading singular
//! vectors $u$ of $R^{-1} C_{xs} Q^{-\top}$ give $p = R^{-\top} u$. The ridge $r$ is relative to the mean
//! eigenvalue $\bar\lambda$ of each covariance. $C_{xs}$ has at most the rank `classes - 1`, which bounds the
//! number of dimensions; with a tiny ridge and semantics of full rank this is LDA.
//!
//! # References
//! D. Hardoon, S. Szedmak, J. Shawe-Taylor, *Canonical correlation analysis: an overview with application
//! to learning methods*, 2004.

use serde::{Deserialize, Serialize};

use bidilel_math::eigen::Whitener;
use bidilel_math::parallel::product;
use bidilel_math::{Observer, Scalar};

use super::moments::{Moments, add_relative, check_classes, leading_left};
use super::semantic_factor::semantic_factor;
use super::{DEFAULT_DIM, LatentSpaceLearner, Learner, Sizes, resolve_dim};
use crate::error::{Error, Result};
use crate::latent_space::LatentSpace;
use crate::settings::{self, Settings};
use crate::task::Training;

/// Settings of CCA.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cca {
    /// Latent dimensions; as many as are determined, up to 100, if not given.
    pub dim: Option<usize>,
    /// Ridge of both covariances, relative to the mean eigenvalue of each.
    pub ridge: f64,
}

impl Default for Cca {
    fn default() -> Self {
        Self { dim: None, ridge: 1.0 }
    }
}

impl Cca {
    pub(crate) fn from_settings(settings: &Settings, _seed: u64) -> Self {
        Self { dim: settings.dim, ridge: settings.ridge.unwrap_or(Self::default().ridge) }
    }
}

impl Learner for Cca {
    fn dim(&mut self) -> Option<&mut Option<usize>> {
        Some(&mut self.dim)
    }

    fn most_dim(&self, sizes: &Sizes) -> usize {
        sizes.semantic_dim
    }

    fn reads_semantics(&self) -> bool {
        true
    }
}

impl<T: Scalar> LatentSpaceLearner<T> for Cca {
    fn fit(&self, training: &Training<'_, T>, watch: &dyn Observer) -> Result<LatentSpace> {
        settings::check("ridge", self.ridge)?;
        check_classes(training.classes)?;
        let weighted = semantic_factor(training, "bottom-up `cca`")?;
        let mut moments = Moments::of(training, watch)?;
        let most = moments.rows.len().min(weighted.nrows());
        let fallback = DEFAULT_DIM.min(most).min(training.classes.saturating_sub(1)).max(1);
        let dim =
            resolve_dim(self.dim.or(Some(fallback)), most, "varying features, and semantic dimensions")?;
        watch.stage("eigen");
        add_relative(&mut moments.total, self.ridge);
        let visual = Whitener::new(moments.total.as_ref(), watch).map_err(Error::in_stage("eigen"))?;
        let mut semantic = product(weighted.as_ref(), weighted.transpose());
        add_relative(&mut semantic, self.ridge);
        let semantic = Whitener::new(semantic.as_ref(), watch).map_err(Error::in_stage("eigen"))?;
        // The instances' factors 1/n cancel between the covariances and the cross-covariance.
        let cross = product(
            visual.forward(moments.classes.as_ref()).as_ref(),
            semantic.forward(weighted.as_ref()).transpose(),
        );
        let map = visual.back(leading_left(cross.as_ref(), dim)?.as_ref());
        Ok(moments.space(map, training))
    }
}
