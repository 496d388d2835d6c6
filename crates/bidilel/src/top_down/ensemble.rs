//! The mean of the landmark-based Sammon mapping and support vector regression.
//!
//! $b^u = \frac12 (b^u_{lsm} + b^u_{svr})$ (Wang & Chen 2017, section 4.5).

use faer::Scale;
use serde::{Deserialize, Serialize};

use bidilel_math::Observer;

use super::{ClassEmbedder, Embedding, Lsm, Svr};
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
        let converged = mapped.converged && regressed.converged;
        Ok(Embedding { points: Scale(0.5) * (mapped.points + regressed.points), converged })
    }
}
