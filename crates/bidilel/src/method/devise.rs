//! DeViSE: a bilinear compatibility by a hinge loss over all wrong classes.
//!
//! With the compatibility `$F(x, c) = x^\top W s_c$` and the label $y$ of an instance
//! `$$ \min_W \sum_{(x, y)} \frac{1}{K - 1} \sum_{c \ne y} [1 + F(x, c) - F(x, y)]_+ $$`
//! over $K$ known classes; the class of the largest compatibility wins.
//!
//! Left open by the paper and chosen here: all violators instead of one that is drawn, weighed by $1/(K-1)$, so that steps are
//! comparable with those of the other methods, and what `compatibility.rs` says. The network below the features is not trained.
//!
//! # References
//! A. Frome et al., *DeViSE: a deep visual-semantic embedding model*, 2013.

use serde::{Deserialize, Serialize};

use bidilel_math::Observer;
use bidilel_math::ranking::{Loss, Ranking};

use super::ZeroShotMethod;
use super::compatibility::{self, EPOCHS, RATE, Rankings};
use crate::error::Result;
use crate::settings::Settings;
use crate::task::Task;

/// Settings of DeViSE.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Devise {
    /// The first step of an instance.
    pub sgd_rate: f64,
    /// Passes over the training instances.
    pub sgd_epochs: usize,
    /// Seed of the order of the instances.
    pub seed: u64,
}

impl Default for Devise {
    fn default() -> Self {
        Self { sgd_rate: RATE, sgd_epochs: EPOCHS, seed: 0 }
    }
}

impl Devise {
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
        Ranking { loss: Loss::All, maps: 1, rate, epochs, seed }
    }
}

impl ZeroShotMethod for Devise {
    type Fitted = Rankings;

    fn fit(&self, task: &Task, watch: &dyn Observer) -> Result<Rankings> {
        compatibility::fit(task, &self.ranking(), "devise", "method `devise`", watch)
    }
}
