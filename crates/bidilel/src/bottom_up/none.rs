//! No bottom-up learning: the visual representation itself, centered and l2-normalized, is the space.

use serde::{Deserialize, Serialize};

use bidilel_math::{Observer, Scalar};

use super::{LatentSpaceLearner, Learner};
use crate::error::Result;
use crate::latent_space::{LatentSpace, Map};
use crate::settings::Settings;
use crate::task::Training;

/// The identity map; it has no settings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Unchanged {}

impl Unchanged {
    pub(crate) fn from_settings(_: &Settings, _seed: u64) -> Self {
        Self {}
    }
}

impl Learner for Unchanged {}

impl<T: Scalar> LatentSpaceLearner<T> for Unchanged {
    fn fit(&self, training: &Training<'_, T>, _: &dyn Observer) -> Result<LatentSpace> {
        let map = match training.views.scales() {
            None => Map::Identity(training.features.nrows()),
            Some(scales) => Map::Scaled(scales),
        };
        Ok(LatentSpace::centered(map, training.features))
    }
}
