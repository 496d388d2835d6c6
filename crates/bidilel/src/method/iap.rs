//! Indirect attribute prediction: known classes first, and attributes through them.
//!
//! `$p(y \mid x)$` over the known classes by multinomial logistic regression gives
//! `$$ p(a_m = 1 \mid x) = \sum_y a_m^y\, p(y \mid x), $$`
//! and classes are scored as in direct attribute prediction.
//!
//! Left open by the paper and chosen here: attributes are cut at their mean, as in `dap`, and probabilities are kept
//! away from 0 and 1, which a sum over all known classes that have an attribute can reach.
//!
//! # References
//! C. Lampert, H. Nickisch and S. Harmeling, *Learning to detect unseen object classes by between-class attribute
//! transfer*, 2009.

use faer::Mat;
use safetensors::tensor::SafeTensors;
use serde::{Deserialize, Serialize};

use bidilel_math::Observer;
use bidilel_math::logistic::{Targets, softmax};
use bidilel_math::parallel::product;

use super::probabilities::{Attributes, Predictors};
use super::{FittedMethod, ZeroShotMethod};
use crate::error::Result;
use crate::recognize::{Candidates, Recognition, Scores};
use crate::semantic::ClassSemantics;
use crate::settings::Settings;
use crate::stored::{Recorded, Stored};
use crate::task::{Prepared, Task};
use crate::tensors::Tensor;

/// Probabilities stay this far from 0 and 1.
const MARGIN: f64 = 1e-6;

/// Settings of indirect attribute prediction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Iap {
    /// Ridge of the logistic regression.
    pub logistic_ridge: f64,
}

impl Default for Iap {
    fn default() -> Self {
        Self { logistic_ridge: 1.0 }
    }
}

/// A classifier of known classes, and the attributes of all classes.
#[derive(Debug, Clone, PartialEq)]
pub struct IndirectAttributes {
    predictors: Predictors,
    attributes: Attributes,
}

impl Iap {
    pub(crate) fn from_settings(settings: &Settings, _seed: u64) -> Self {
        Self { logistic_ridge: settings.logistic_ridge.unwrap_or(Self::default().logistic_ridge) }
    }
}

impl ZeroShotMethod for Iap {
    type Fitted = IndirectAttributes;

    fn fit(&self, task: &Task, watch: &dyn Observer) -> Result<IndirectAttributes> {
        let attributes = Attributes::of(&task.semantics, "method `iap`")?;
        let targets = Targets::Classes { labels: &task.train.labels, count: task.known.len() };
        let predictors = Predictors::fit(task, targets, self.logistic_ridge, "iap", watch)?;
        Ok(IndirectAttributes { predictors, attributes })
    }
}

impl FittedMethod for IndirectAttributes {
    fn recognize(&self, instances: Prepared<'_>, candidates: Candidates) -> Result<Recognition> {
        let mut classes = self.predictors.of(instances)?;
        for instance in 0..classes.ncols() {
            softmax(classes.col_as_slice_mut(instance));
        }
        let known = self.attributes.bits.subcols(0, classes.nrows());
        let probabilities = product(known, classes.as_ref());
        let log = |of: fn(f64) -> f64| {
            Mat::from_fn(probabilities.nrows(), probabilities.ncols(), |m, i| {
                of(probabilities[(m, i)]).clamp(MARGIN, 1.0 - MARGIN).ln()
            })
        };
        Ok(Scores { values: self.attributes.scores((&log(|p| p), &log(|p| 1.0 - p)), candidates) }.into())
    }
}

impl Stored for IndirectAttributes {
    fn tensors(&self) -> Vec<Tensor<'_>> {
        self.predictors.tensors()
    }

    fn read(file: &SafeTensors<'_>, recorded: &Recorded<'_>, semantics: &ClassSemantics) -> Result<Self> {
        let attributes = Attributes::of(semantics, "method `iap`")?;
        Ok(Self { predictors: Predictors::read(file, recorded, recorded.known)?, attributes })
    }
}
