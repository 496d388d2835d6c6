//! SJE: a bilinear compatibility by the hinge of the worst violator, as in structured support vector machines.
//!
//! With the compatibility `$F(x, c) = x^\top W s_c$` and the label $y$ of an instance
//! `$$ \min_W \sum_{(x, y)} \max_c [\Delta(y, c) + F(x, c) - F(x, y)]_+, $$`
//! where $\Delta(y, c)$ is 0 for the right class and 1 for the others; the class of the largest compatibility wins.
//!
//! Left open by the paper and chosen here: several descriptions are stacked instead of learned one by one, and what
//! `compatibility.rs` says.
//!
//! # References
//! Z. Akata, S. Reed, D. Walter, H. Lee and B. Schiele, *Evaluation of output embeddings for fine-grained image
//! classification*, 2015.

use serde::{Deserialize, Serialize};

use bidilel_math::Observer;
use bidilel_math::ranking::{Loss, Ranking};

use super::ZeroShotMethod;
use super::compatibility::{self, EPOCHS, RATE, Rankings};
use crate::error::Result;
use crate::settings::Settings;
use crate::task::Task;

/// Settings of SJE.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sje {
    /// The first step of an instance.
    pub sgd_rate: f64,
    /// Passes over the training instances.
    pub sgd_epochs: usize,
    /// Seed of the order of the instances.
    pub seed: u64,
}

impl Default for Sje {
    fn default() -> Self {
        Self { sgd_rate: RATE, sgd_epochs: EPOCHS, seed: 0 }
    }
}

impl Sje {
    pub(crate) fn from_settings(settings: &Settings, seed: u64) -> Self {
        let default = Self::default();
        Self {
            sgd_rate: settings.sgd_rate.unwrap_or(default.sgd_rate),
            sgd_epochs: settings.sgd_epochs.unwrap_or(default.sgd_epochs),
            seed,
        }
    }

    pub(crate) fn ranking(&self) -> Ranking {
        let Self { sgd_rate: rate, sgd_epochs: epochs, seed } = *self;
        Ranking { loss: Loss::Worst, maps: 1, rate, epochs, seed }
    }
}

impl ZeroShotMethod for Sje {
    type Fitted = Rankings;

    fn fit(&self, task: &Task, watch: &dyn Observer) -> Result<Rankings> {
        compatibility::fit(task, &self.ranking(), "sje", "method `sje`", watch)
    }
}
