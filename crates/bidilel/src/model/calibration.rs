//! A calibration in a model file: figures in the header, samples as tensors in one row each.
//!
//! `calibration.nonconformity`, `calibration.score` and `calibration.margin` are sorted, at most
//! [`MOST_KEPT`](crate::calibrate::MOST_KEPT) numbers each.

use safetensors::tensor::SafeTensors;
use serde::{Deserialize, Serialize};

use crate::calibrate::{Calibration, MOST_KEPT, Rejection, Sample, Signal};
use crate::error::{ModelProblem, Result};
use crate::tensors::{self, Tensor};

/// What a model file says about its calibration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibrationHeader {
    /// Folds that it was measured on.
    pub folds: usize,
    /// Instances of held-out classes in all of them together.
    pub instances: usize,
    /// Temperature of the softmax that turns scores into probabilities.
    pub temperature: f64,
    /// What instances are rejected by.
    pub reject_by: Signal,
    /// Area under the ROC curve by score, on held-out classes.
    pub score_auroc: f64,
    /// The same by margin.
    pub margin_auroc: f64,
}

impl CalibrationHeader {
    pub(super) fn of(calibration: &Calibration) -> Self {
        let Calibration { folds, temperature, nonconformity, rejection } = calibration;
        Self {
            folds: *folds,
            instances: nonconformity.count(),
            temperature: *temperature,
            reject_by: rejection.by,
            score_auroc: rejection.score_auroc,
            margin_auroc: rejection.margin_auroc,
        }
    }

    /// The calibration of a file, with the samples that its tensors have.
    pub(super) fn read(&self, file: &SafeTensors<'_>) -> Result<Calibration> {
        let sound = self.temperature > 0.0 && self.temperature.is_finite();
        if !sound {
            return Err(ModelProblem::Without { what: "sound temperature" }.into());
        }
        let sample = |name: &str| -> Result<Sample> {
            let kept = tensors::unpack_vector(file, name, self.instances.min(MOST_KEPT));
            let kept = kept.map_err(ModelProblem::from)?;
            let sample = Sample::from_kept(kept, self.instances);
            Ok(sample.ok_or(ModelProblem::Without { what: "sorted sample of its calibration" })?)
        };
        Ok(Calibration {
            folds: self.folds,
            temperature: self.temperature,
            nonconformity: sample("calibration.nonconformity")?,
            rejection: Rejection {
                by: self.reject_by,
                score_auroc: self.score_auroc,
                margin_auroc: self.margin_auroc,
                score: sample("calibration.score")?,
                margin: sample("calibration.margin")?,
            },
        })
    }
}

/// The samples of a calibration.
pub(super) fn tensors(calibration: &Calibration) -> [Tensor<'_>; 3] {
    let Calibration { nonconformity, rejection, .. } = calibration;
    [
        Tensor::vector("calibration.nonconformity", nonconformity.kept()),
        Tensor::vector("calibration.score", rejection.score.kept()),
        Tensor::vector("calibration.margin", rejection.margin.kept()),
    ]
}
