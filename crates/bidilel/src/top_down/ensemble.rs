//! The mean of the landmark-based Sammon mapping and a regression.
//!
//! $b^u = \frac12 (b^u_{lsm} + b^u_{svr})$ (Wang & Chen 2017, section 4.5); the same with kernel ridge regression.

use faer::Scale;
use serde::{Deserialize, Serialize};

use bidilel_math::Observer;
use bidilel_math::distance::normalize_columns;

use super::{ClassEmbedder, Embedding, Krr, Lsm, Svr};
use crate::error::Result;
use crate::landmarks::Landmarks;
use crate::semantic::ClassSemantics;
use crate::settings::Settings;

/// Settings of both.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LsmSvr {
    /// Settings of the mapping.
    pub lsm: Lsm,
    /// Settings of the regression.
    pub svr: Svr,
}

impl LsmSvr {
    pub(crate) fn from_settings(settings: &Settings, seed: u64) -> Self {
        Self { lsm: Lsm::from_settings(settings, seed), svr: Svr::from_settings(settings) }
    }
}

impl ClassEmbedder for LsmSvr {
    fn embed(
        &self,
        landmarks: &Landmarks,
        semantics: &ClassSemantics,
        watch: &dyn Observer,
    ) -> Result<Embedding> {
        let mapped = self.lsm.embed(landmarks, semantics, watch)?;
        let regressed = self.svr.embed(landmarks, semantics, watch)?;
        Ok(mean(mapped, &regressed, self.svr.unit_embedding))
    }
}

/// Settings of the mapping and of kernel ridge regression.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LsmKrr {
    /// Settings of the mapping.
    pub lsm: Lsm,
    /// Settings of the regression.
    pub krr: Krr,
}

impl LsmKrr {
    pub(crate) fn from_settings(settings: &Settings, seed: u64) -> Self {
        Self { lsm: Lsm::from_settings(settings, seed), krr: Krr::from_settings(settings) }
    }
}

impl ClassEmbedder for LsmKrr {
    fn embed(
        &self,
        landmarks: &Landmarks,
        semantics: &ClassSemantics,
        watch: &dyn Observer,
    ) -> Result<Embedding> {
        let mapped = self.lsm.embed(landmarks, semantics, watch)?;
        let regressed = self.krr.embed(landmarks, semantics, watch)?;
        Ok(mean(mapped, &regressed, self.krr.unit_embedding))
    }
}

/// The mean of the mapping and a regression; the mean of unit vectors is no unit vector, and may have to become one.
pub(super) fn mean(mapped: Embedding, regressed: &Embedding, unit: bool) -> Embedding {
    let mut points = Scale(0.5) * (&mapped.points + &regressed.points);
    if unit {
        normalize_columns(points.as_mut());
    }
    let converged = mapped.converged && regressed.converged;
    Embedding { points, converged, mapped: Some(mapped.points) }
}
