//! Visual exemplars of classes, predicted from their descriptions: what `exem` and `exem-1nn` stand on.
//!
//! Features are projected to their leading principal directions, the exemplar of a known class is the mean $z_c$ of its
//! instances there, and one support vector regression per direction learns $z_c$ from the description $s_c$, with a
//! Gaussian kernel. Its predictions are the exemplars of all classes, known and unseen.

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use bidilel_math::parallel::product;
use bidilel_math::svr::{Form, Kernel, ResolvedKernel, Svr};
use bidilel_math::{Observer, eigen};

use super::linear::{Sums, vectors};
use crate::error::{Error, Result};
use crate::settings::{self, Settings};
use crate::task::Task;

/// Directions with a smaller share of the variance of the first are those of rounding.
const RANK_TOLERANCE: f64 = 1e-10;
/// Largest violation of the optimality conditions, relative to the largest coordinate of an exemplar.
const TOLERANCE: f64 = 1e-5;

/// Settings of the prediction of exemplars.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExemplarRegression {
    /// Principal directions; as many as there are where these are fewer.
    pub exem_dim: usize,
    /// Inverse squared width of the kernel, relative to that of the mean squared distance between known classes.
    pub exem_gamma: f64,
    /// Cost of an error outside the tube, for exemplars whose largest coordinate is 1.
    pub exem_c: f64,
    /// Share of known classes outside the tube: $\nu$.
    pub exem_nu: f64,
}

impl Default for ExemplarRegression {
    fn default() -> Self {
        Self { exem_dim: 500, exem_gamma: 0.3, exem_c: 1.0, exem_nu: 0.5 }
    }
}

/// Exemplars of all classes, and the space that they are in.
pub(super) struct Exemplars {
    /// Principal directions of the scaled features: visual dimensions x directions.
    pub(super) directions: Mat<f64>,
    /// The mean of the training instances along them.
    pub(super) center: Vec<f64>,
    /// Directions x known, then unseen classes, relative to the center.
    pub(super) predicted: Mat<f64>,
}

impl ExemplarRegression {
    pub(super) fn from_settings(settings: &Settings) -> Self {
        let default = Self::default();
        Self {
            exem_dim: settings.exem_dim.unwrap_or(default.exem_dim),
            exem_gamma: settings.exem_gamma.unwrap_or(default.exem_gamma),
            exem_c: settings.exem_c.unwrap_or(default.exem_c),
            exem_nu: settings.exem_nu.unwrap_or(default.exem_nu),
        }
    }

    /// Fails where a setting is out of its range.
    pub(super) fn check(&self) -> Result<()> {
        settings::check("exem_dim", self.exem_dim as f64)?;
        settings::check("exem_gamma", self.exem_gamma)?;
        settings::check("exem_c", self.exem_c)?;
        settings::check("exem_nu", self.exem_nu)
    }

    pub(super) fn fit(&self, task: &Task, method: &'static str, watch: &dyn Observer) -> Result<Exemplars> {
        let all = vectors(&task.semantics, method)?;
        watch.stage("scatter");
        let sums = Sums::of(task);
        let mut scatter = sums.gram(task, watch)?;
        let (total, count) = (sums.total(), task.train.labels.len() as f64);
        for j in 0..scatter.ncols() {
            let mean = total[j] / count;
            scatter.col_as_slice_mut(j).iter_mut().zip(&total).for_each(|(value, sum)| *value -= sum * mean);
        }
        watch.stage("eigen");
        let most = self.exem_dim.min(scatter.nrows()).min(task.train.labels.len().saturating_sub(1)).max(1);
        let found = eigen::symmetric(scatter.as_ref(), most, watch).map_err(Error::in_stage("eigen"))?;
        let noise = RANK_TOLERANCE * found.values[0];
        let rank = found.values.iter().filter(|&&value| value > noise).count().max(1);
        let directions = found.vectors.subcols(0, rank).to_owned();
        let mean = Mat::from_fn(total.len(), 1, |i, _| total[i] / count);
        let center = product(directions.transpose(), mean.as_ref()).col_as_slice(0).to_vec();
        let sums_there = product(directions.transpose(), sums.per_class.as_ref());
        let means =
            Mat::from_fn(rank, task.known.len(), |i, c| sums_there[(i, c)] / sums.counts[c] - center[i]);
        watch.stage("svr");
        Error::unless_cancelled(watch)?;
        let predicted = self.predict(all, means.as_ref())?;
        Ok(Exemplars { directions, center, predicted })
    }

    /// Exemplars of all classes from those of the known ones.
    fn predict(&self, all: MatRef<'_, f64>, means: MatRef<'_, f64>) -> Result<Mat<f64>> {
        let known = all.subcols(0, means.ncols());
        let in_stage = Error::in_stage;
        let gamma = match (Kernel::Rbf { gamma: None }).resolve(known).map_err(in_stage("svr"))? {
            ResolvedKernel::Rbf { gamma } => gamma * self.exem_gamma,
            ResolvedKernel::Linear => self.exem_gamma,
        };
        let kernel = ResolvedKernel::Rbf { gamma };
        // The cost bounds the coefficients, so that it depends on the scale of the features: take that out.
        let largest = means.norm_max();
        let scale = if largest > 0.0 { largest } else { 1.0 };
        let targets = Mat::from_fn(means.nrows(), means.ncols(), |i, c| means[(i, c)] / scale);
        let svr = Svr {
            form: Form::Nu { nu: self.exem_nu },
            c: self.exem_c,
            tolerance: TOLERANCE,
            ..Svr::default()
        };
        let machines =
            svr.fit_all(kernel.matrix(known, known).as_ref(), targets.as_ref()).map_err(in_stage("svr"))?;
        let columns = kernel.matrix(known, all);
        Ok(Mat::from_fn(means.nrows(), all.ncols(), |i, class| {
            scale * machines[i].predict(columns.col(class).iter().copied())
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_of_the_features_does_not_matter_to_the_regression() {
        let all = Mat::from_fn(3, 8, |i, j| ((i * 8 + j * 5) as f64).sin());
        let means = Mat::from_fn(2, 6, |i, j| ((i + j * 3) as f64).cos());
        let regression = ExemplarRegression::default();
        let found = regression.predict(all.as_ref(), means.as_ref()).expect("a fit");
        let larger = regression.predict(all.as_ref(), (&means * faer::Scale(4.0)).as_ref()).expect("a fit");
        assert!((found * faer::Scale(4.0) - larger).norm_max() < 1e-9);
    }
}
