//! Compatibilities of features and descriptions as latent spaces: `sje` and `latem`.
//!
//! The compatibility $x^\top W s$ compares $W^\top x$ with the description $s$, so that $W^\top x$ is a point of a space with
//! the semantic dimensions; landmarks and embeddings are found in it as in any other. The maps of `latem` give one space
//! each, and distances are the means over all spaces (Wang & Chen 2017, section 4.5).

use faer::Mat;

use bidilel_math::{Observer, Scalar};

use super::{LatentSpaceLearner, Learner};
use crate::error::Result;
use crate::latent_space::{LatentSpace, Map};
use crate::method::compatibility::learn;
use crate::method::{Latem, Sje};
use crate::task::Training;

impl Learner for Sje {
    fn reads_semantics(&self) -> bool {
        true
    }

    fn is_random(&self) -> bool {
        true
    }
}

impl<T: Scalar> LatentSpaceLearner<T> for Sje {
    fn fit(&self, training: &Training<'_, T>, watch: &dyn Observer) -> Result<LatentSpace> {
        let found = learn(training, &self.ranking(), "bottom-up `sje`", watch)?;
        Ok(LatentSpace::around(beside(&found.maps), found.mean))
    }
}

impl Learner for Latem {
    fn reads_semantics(&self) -> bool {
        true
    }

    fn is_random(&self) -> bool {
        true
    }
}

impl<T: Scalar> LatentSpaceLearner<T> for Latem {
    fn fit(&self, training: &Training<'_, T>, watch: &dyn Observer) -> Result<LatentSpace> {
        let found = learn(training, &self.ranking(), "bottom-up `latem`", watch)?;
        Ok(LatentSpace::around(beside(&found.maps), found.mean))
    }
}

/// Maps into one space each, next to each other.
fn beside(maps: &[Mat<f64>]) -> Map {
    let (rows, dim) = maps.first().map_or((0, 1), Mat::shape);
    let map = Mat::from_fn(rows, maps.len() * dim, |i, j| maps[j / dim][(i, j % dim)]);
    if maps.len() == 1 { Map::Linear(map) } else { Map::Several { map, spaces: maps.len() } }
}
