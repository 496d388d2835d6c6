//! What can be chosen of an encoder.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Norm;
use crate::error::{Error, Result};

/// What a feature row tells of a set of descriptors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// How they differ from a mixture of Gaussians.
    Fisher,
    /// How many fall to each word.
    Bag,
}

/// To how many dimensions descriptors are reduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reduction {
    /// Half of them.
    Half,
    /// They are used as they are.
    None,
    /// This many.
    To(usize),
}

impl FromStr for Reduction {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            ("half", _) => Ok(Self::Half),
            ("none", _) => Ok(Self::None),
            (_, Ok(dim)) if dim > 0 => Ok(Self::To(dim)),
            _ => Err("expected `half`, `none` or a number of dimensions".to_owned()),
        }
    }
}

impl fmt::Display for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Half => f.write_str("half"),
            Self::None => f.write_str("none"),
            Self::To(dim) => write!(f, "{dim}"),
        }
    }
}

/// Everything that is chosen before an encoder is learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// What a feature row tells.
    pub method: Method,
    /// The PCA of descriptors.
    pub pca: Reduction,
    /// Components of the mixture, or words.
    pub components: usize,
    /// Descriptors to learn from, at most.
    pub sample: usize,
    /// Steps of expectation maximization or of k-means, at most.
    pub iterations: usize,
    /// Expectation maximization stops when a step raises the mean log-likelihood by less.
    pub tolerance: f64,
    /// The least variance of a component, as a share of that of all descriptors.
    pub variance_floor: f64,
    /// The power that is taken of every entry.
    pub power: f64,
    /// What a row is divided by, after the power.
    pub normalize: Norm,
    /// Seed of the sample and of the initialization.
    pub seed: u64,
}

impl Settings {
    /// The usual settings of a method: 256 components (Wang and Schmid 2013), 4,000 words (Wang et al. 2011).
    pub fn new(method: Method) -> Self {
        Self {
            method,
            pca: Reduction::Half,
            components: match method {
                Method::Fisher => 256,
                Method::Bag => 4000,
            },
            sample: 256_000,
            iterations: 100,
            tolerance: 1e-4,
            variance_floor: 1e-4,
            power: 0.5,
            normalize: Norm::L2,
            seed: 0,
        }
    }

    pub(super) fn check(&self) -> Result<()> {
        let wrong = |setting, expected: &'static str, found: String| {
            Err(Error::Setting { setting, expected: expected.into(), found })
        };
        let share = |value: f64| value > 0.0 && value <= 1.0;
        if self.components == 0 {
            return wrong("components", "at least 1", "0".to_owned());
        }
        if self.sample == 0 {
            return wrong("sample", "at least 1", "0".to_owned());
        }
        if !(self.tolerance.is_finite() && self.tolerance >= 0.0) {
            return wrong("tolerance", "a number of at least 0", self.tolerance.to_string());
        }
        if !share(self.variance_floor) {
            return wrong("variance-floor", "above 0 and at most 1", self.variance_floor.to_string());
        }
        if !share(self.power) {
            return wrong("power", "above 0 and at most 1", self.power.to_string());
        }
        Ok(())
    }
}
