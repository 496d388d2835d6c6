//! ALE: a bilinear compatibility by a ranking loss that weighs the top of the ranking more.
//!
//! With the compatibility `$F(x, c) = x^\top W s_c$`, the label $y$ of an instance and the number $r$ of classes with
//! `$1 + F(x, c) > F(x, y)$`
//! `$$ \min_W \sum_{(x, y)} \frac{\ell_r}{r} \sum_{c \ne y} [1 + F(x, c) - F(x, y)]_+,
//! \qquad \ell_r = \sum_{i=1}^{r} \frac{1}{i}; $$`
//! the class of the largest compatibility wins.
//!
//! Left open by the paper and chosen here: all violators, whose number is counted, instead of an estimate of it from one that is
//! drawn, and what `compatibility.rs` says.
//!
//! # References
//! Z. Akata, F. Perronnin, Z. Harchaoui and C. Schmid, *Label-embedding for attribute-based classification*, 2013, and
//! *Label-embedding for image classification*, 2016.

use serde::{Deserialize, Serialize};

use bidilel_math::Observer;
use bidilel_math::ranking::{Loss, Ranking};

use super::ZeroShotMethod;
use super::compatibility::{self, EPOCHS, RATE, Rankings};
use crate::error::Result;
use crate::settings::Settings;
use crate::task::Task;

/// Settings of ALE.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ale {
    /// The first step of an instance.
    pub sgd_rate: f64,
    /// Passes over the training instances.
    pub sgd_epochs: usize,
    /// Seed of the order of the instances.
    pub seed: u64,
}

impl Default for Ale {
    fn default() -> Self {
        Self { sgd_rate: RATE, sgd_epochs: EPOCHS, seed: 0 }
    }
}

impl Ale {
    pub(crate) fn from_settings(settings: &Settings, seed: u64) -> Self {
        let default = Self::default();
        Self {
            sgd_rate: settings.sgd_rate.unwrap_or(default.sgd_rate),
            sgd_epochs: settings.sgd_epochs.unwrap_or(default.sgd_epochs),
            seed,
        }
    }

    fn ranking(&self) -> Ranking {
        let Self { sgd_rate: rate, sgd_epochs: epochs, seed } = *self;
        Ranking { loss: Loss::Ranked, maps: 1, rate, epochs, seed }
    }
}

impl ZeroShotMethod for Ale {
    type Fitted = Rankings;

    fn fit(&self, task: &Task, watch: &dyn Observer) -> Result<Rankings> {
        compatibility::fit(task, &self.ranking(), "ale", "method `ale`", watch)
    }
}
