//! LatEm: a piecewise bilinear compatibility, the largest of several maps.
//!
//! With the compatibility `$F(x, c) = \max_k x^\top W_k s_c$` and the label $y$ of an instance
//! `$$ \min_W \sum_{(x, y)} \sum_{c \ne y} [1 + F(x, c) - F(x, y)]_+ $$`
//! by steps for one class at a time: a violator $c$ is drawn, its best map gives way and the best map of the right class
//! gains (one joint step where they are the same map). The class of the largest compatibility wins.
//!
//! Left open by the paper and chosen here: classes are drawn among the violators, which is to draw until one violates;
//! the number of maps is set or tuned and not pruned; the first maps are normal with a deviation of one over the root of the
//! visual dimensions; and what `compatibility.rs` says.
//!
//! # References
//! Y. Xian et al., *Latent embeddings for zero-shot classification*, 2016.

use serde::{Deserialize, Serialize};

use bidilel_math::Observer;
use bidilel_math::ranking::{Loss, Ranking};

use super::ZeroShotMethod;
use super::compatibility::{self, EPOCHS, RATE, Rankings};
use crate::error::Result;
use crate::settings::Settings;
use crate::task::Task;

/// Settings of LatEm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Latem {
    /// The first step of an instance.
    pub sgd_rate: f64,
    /// Passes over the training instances.
    pub sgd_epochs: usize,
    /// How many maps there are.
    pub latem_maps: usize,
    /// Seed of the order of the instances, of the drawn classes and of the first maps.
    pub seed: u64,
}

impl Default for Latem {
    fn default() -> Self {
        Self { sgd_rate: RATE, sgd_epochs: EPOCHS, latem_maps: 4, seed: 0 }
    }
}

impl Latem {
    pub(crate) fn from_settings(settings: &Settings, seed: u64) -> Self {
        let default = Self::default();
        Self {
            sgd_rate: settings.sgd_rate.unwrap_or(default.sgd_rate),
            sgd_epochs: settings.sgd_epochs.unwrap_or(default.sgd_epochs),
            latem_maps: settings.latem_maps.unwrap_or(default.latem_maps),
            seed,
        }
    }

    pub(crate) fn ranking(&self) -> Ranking {
        let Self { sgd_rate: rate, sgd_epochs: epochs, latem_maps: maps, seed } = *self;
        Ranking { loss: Loss::Drawn, maps, rate, epochs, seed }
    }
}

impl ZeroShotMethod for Latem {
    type Fitted = Rankings;

    fn fit(&self, task: &Task, watch: &dyn Observer) -> Result<Rankings> {
        compatibility::fit(task, &self.ranking(), "latem", "method `latem`", watch)
    }
}
