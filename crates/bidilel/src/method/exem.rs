//! EXEM: predicted visual exemplars as the descriptions of SynC.
//!
//! Exemplars of all classes are predicted from their descriptions (principal directions of the features, class means
//! there, one support vector regression per direction), and SynC takes them instead of the descriptions that were given.
//!
//! Left open by the paper and chosen here: known classes have predicted exemplars too, so that all come from one function;
//! cost, width and $\nu$ of the regression are shared by all directions; exemplars enter SynC as they are, without unit norm.
//!
//! # References
//! S. Changpinyo, W.-L. Chao and F. Sha, *Predicting visual exemplars of unseen classes for zero-shot learning*, 2017.

use serde::{Deserialize, Serialize};

use bidilel_math::Observer;

use super::ZeroShotMethod;
use super::exemplars::ExemplarRegression;
use super::linear::require_linear;
use super::sync::{SynC, SynthesizedClassifiers};
use crate::error::Result;
use crate::settings::Settings;
use crate::task::Task;

/// Settings of EXEM.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Exem {
    /// How exemplars are predicted.
    #[serde(flatten)]
    pub exemplars: ExemplarRegression,
    /// What takes them as descriptions.
    #[serde(flatten)]
    pub sync: SynC,
}

impl Exem {
    pub(crate) fn from_settings(settings: &Settings, seed: u64) -> Self {
        Self {
            exemplars: ExemplarRegression::from_settings(settings),
            sync: SynC::from_settings(settings, seed),
        }
    }
}

impl ZeroShotMethod for Exem {
    type Fitted = SynthesizedClassifiers;

    fn fit(&self, task: &Task, watch: &dyn Observer) -> Result<SynthesizedClassifiers> {
        self.exemplars.check()?;
        self.sync.check()?;
        require_linear(task, "exem")?;
        let found = self.exemplars.fit(task, "method `exem`", watch)?;
        self.sync.fit_described(task, found.predicted.as_ref(), watch)
    }
}
