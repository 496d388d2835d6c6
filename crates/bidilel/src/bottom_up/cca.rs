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

use faer::Mat;
use serde::{Deserialize, Serialize};

use bidilel_math::eigen::Whitener;
use bidilel_math::parallel::product;
use bidilel_math::scatter::{self, Selected};
use bidilel_math::{Observer, Scalar};

use super::lda::{check_classes, class_factor, finish, leading_left};
use super::{
    DEFAULT_DIM, LatentSpaceLearner, Learner, Sizes, resolve_dim, scale_both, scale_rows, scales_of,
    total_scatter, varying_dimensions,
};
use crate::error::{Error, Result, SemanticProblem};
use crate::latent_space::{LatentSpace, Map};
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
        let Some(semantics) = training.semantics else {
            let origin = "the semantic representation".to_owned();
            let problem = SemanticProblem::NoVectors { needed_by: "bottom-up `cca`" };
            return Err(Error::Semantic { origin, problem });
        };
        let rows = varying_dimensions(training, watch)?;
        let most = rows.len().min(semantics.nrows());
        let fallback = DEFAULT_DIM.min(most).min(training.classes.saturating_sub(1)).max(1);
        let dim =
            resolve_dim(self.dim.or(Some(fallback)), most, "varying features, and semantic dimensions")?;
        watch.stage("scatter");
        let mean = scatter::mean(training.features);
        let data = Selected { points: training.features, rows: &rows, center: Some(&mean) };
        let mut visual = total_scatter(data, watch)?;
        let scales = scales_of(training, &rows);
        scale_both(&mut visual, scales.as_deref());
        let factor = class_factor(training, &rows, &mean);
        let weighted = semantic_factor(training, semantics);
        // Unit vectors that agree to rounding are the same.
        if weighted.norm_max() < 1e-9 {
            let origin = "the semantic representation".to_owned();
            return Err(Error::Semantic { origin, problem: SemanticProblem::AllAlike });
        }
        watch.stage("eigen");
        let visual =
            Whitener::new(with_ridge(visual, self.ridge).as_ref()).map_err(Error::in_stage("eigen"))?;
        let semantic = with_ridge(product(weighted.as_ref(), weighted.transpose()), self.ridge);
        let semantic = Whitener::new(semantic.as_ref()).map_err(Error::in_stage("eigen"))?;
        // The instances' factors 1/n cancel between the covariances and the cross-covariance.
        let cross = product(
            visual.forward(factor.as_ref()).as_ref(),
            semantic.forward(weighted.as_ref()).transpose(),
        );
        let mut map = visual.back(leading_left(cross.as_ref(), dim)?.as_ref());
        scale_rows(&mut map, scales.as_deref());
        Ok(LatentSpace::centered(
            Map::Linear(finish(map, &rows, training.features.nrows())),
            training.features,
        ))
    }
}

/// Columns $\sqrt{n_c} (s_c - \bar s)$ with the mean over instances: semantic dimensions x classes.
fn semantic_factor<T: Scalar>(training: &Training<'_, T>, semantics: faer::MatRef<'_, f64>) -> Mat<f64> {
    let mut counts = vec![0.0; training.classes];
    training.labels.iter().for_each(|&label| counts[label] += 1.0);
    let total: f64 = counts.iter().sum();
    let mean: Vec<f64> = (0..semantics.nrows())
        .map(|row| (0..training.classes).map(|c| counts[c] * semantics[(row, c)]).sum::<f64>() / total)
        .collect();
    Mat::from_fn(semantics.nrows(), training.classes, |row, c| {
        counts[c].sqrt() * (semantics[(row, c)] - mean[row])
    })
}

fn with_ridge(mut covariance: Mat<f64>, ridge: f64) -> Mat<f64> {
    let size = covariance.nrows();
    let trace: f64 = (0..size).map(|i| covariance[(i, i)]).sum();
    (0..size).for_each(|i| covariance[(i, i)] += ridge * trace / size as f64);
    covariance
}
