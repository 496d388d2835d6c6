//! Direct attribute prediction: one classifier per attribute, then the class whose attributes are likeliest.
//!
//! `$p(a_m = 1 \mid x)$` by logistic regression on the instances of known classes, whose label is whether their class has
//! attribute $m$; then the score of class $c$ is
//! $$ \sum_m \log p(a_m = a_m^c \mid x) - \log p(a_m = a_m^c), $$
//! with the share of known classes that has the attribute as prior.
//!
//! Left open by the paper and chosen here: attributes that are not binary are cut at their mean over all classes, and
//! those that all known classes share are left out; all classifiers are fitted together, with one factored Gram matrix
//! ([`bidilel_math::logistic`]), and share one ridge.
//!
//! # References
//! C. Lampert, H. Nickisch and S. Harmeling, *Learning to detect unseen object classes by between-class attribute
//! transfer*, 2009.

use faer::Mat;
use safetensors::tensor::SafeTensors;
use serde::{Deserialize, Serialize};

use bidilel_math::Observer;
use bidilel_math::logistic::Targets;

use super::probabilities::{Attributes, Predictors, log_sigmoid};
use super::{FittedMethod, ZeroShotMethod};
use crate::error::Result;
use crate::recognize::{Candidates, Recognition, Scores};
use crate::semantic::ClassSemantics;
use crate::settings::Settings;
use crate::stored::{Recorded, Stored};
use crate::task::{Prepared, Task};
use crate::tensors::Tensor;

/// Settings of direct attribute prediction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Dap {
    /// Ridge of the logistic regression.
    pub logistic_ridge: f64,
}

impl Default for Dap {
    fn default() -> Self {
        Self { logistic_ridge: 1.0 }
    }
}

/// Classifiers of attributes, and the attributes of the classes.
#[derive(Debug, Clone, PartialEq)]
pub struct AttributeClassifiers {
    predictors: Predictors,
    attributes: Attributes,
}

impl Dap {
    pub(crate) fn from_settings(settings: &Settings, _seed: u64) -> Self {
        Self { logistic_ridge: settings.logistic_ridge.unwrap_or(Self::default().logistic_ridge) }
    }
}

impl ZeroShotMethod for Dap {
    type Fitted = AttributeClassifiers;

    fn fit(&self, task: &Task, watch: &dyn Observer) -> Result<AttributeClassifiers> {
        let attributes = Attributes::of(&task.semantics, "method `dap`")?;
        let known = attributes.bits.subcols(0, task.known.len());
        let targets = Targets::Binary { groups: &task.train.labels, values: known };
        let predictors = Predictors::fit(task, targets, self.logistic_ridge, "dap", watch)?;
        Ok(AttributeClassifiers { predictors, attributes })
    }
}

impl AttributeClassifiers {
    pub(super) fn new(predictors: Predictors, attributes: Attributes) -> Self {
        Self { predictors, attributes }
    }
}

impl FittedMethod for AttributeClassifiers {
    fn recognize(&self, instances: Prepared<'_>, candidates: Candidates) -> Result<Recognition> {
        let predictors = self.predictors.of(instances)?;
        let map = |sign: f64| {
            Mat::from_fn(predictors.nrows(), predictors.ncols(), |m, i| {
                log_sigmoid(sign * predictors[(m, i)])
            })
        };
        Ok(Scores { values: self.attributes.scores((&map(1.0), &map(-1.0)), candidates) }.into())
    }
}

impl Stored for AttributeClassifiers {
    fn tensors(&self) -> Vec<Tensor<'_>> {
        self.predictors.tensors()
    }

    fn read(file: &SafeTensors<'_>, recorded: &Recorded<'_>, semantics: &ClassSemantics) -> Result<Self> {
        let attributes = Attributes::of(semantics, "this method")?;
        let predictors = Predictors::read(file, recorded, attributes.bits.nrows())?;
        Ok(Self { predictors, attributes })
    }
}
