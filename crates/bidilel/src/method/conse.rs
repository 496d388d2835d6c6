//! ConSE: an instance is described by the known classes that it resembles.
//!
//! With `$p(y \mid x)$` over the known classes by multinomial logistic regression, and the $T$ most probable of them,
//! `$$ f(x) = \frac{1}{\sum_{t \le T} p(y_t \mid x)} \sum_{t \le T} p(y_t \mid x)\, s_{y_t}, $$`
//! and the nearest class by the cosine of $f(x)$ and its description.
//!
//! Left open by the paper and chosen here: unit vectors as descriptions, $T = 10$ (the paper's own) unless it is set.
//! Unit vectors are compared by their Euclidean distance, which orders classes as the cosine does and gives refiners
//! points to work with.
//!
//! # References
//! M. Norouzi et al., *Zero-shot learning by convex combination of semantic embeddings*, 2013.

use std::sync::Arc;

use faer::{Mat, MatRef};
use safetensors::tensor::SafeTensors;
use serde::{Deserialize, Serialize};

use bidilel_math::logistic::{Targets, softmax};
use bidilel_math::parallel::product;
use bidilel_math::{Observer, distance};

use super::linear::vectors;
use super::probabilities::Predictors;
use super::{FittedMethod, ZeroShotMethod};
use crate::error::Result;
use crate::recognize::{Candidates, Recognition};
use crate::semantic::ClassSemantics;
use crate::settings::{self, Settings};
use crate::stored::{Change, Recorded, Stored, unpack};
use crate::task::{Prepared, Task};
use crate::tensors::Tensor;

/// Settings of ConSE.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Conse {
    /// Ridge of the logistic regression.
    pub logistic_ridge: f64,
    /// Known classes that describe an instance: $T$.
    pub conse_classes: usize,
}

impl Default for Conse {
    fn default() -> Self {
        Self { logistic_ridge: 1.0, conse_classes: 10 }
    }
}

/// A classifier of known classes, and the descriptions of all classes.
#[derive(Debug, Clone, PartialEq)]
pub struct ConvexCombination {
    predictors: Predictors,
    /// Unit vectors of known, then unseen classes.
    classes: Mat<f64>,
    /// $T$, as it is stored.
    terms: [f64; 1],
}

impl Conse {
    pub(crate) fn from_settings(settings: &Settings, _seed: u64) -> Self {
        let default = Self::default();
        Self {
            logistic_ridge: settings.logistic_ridge.unwrap_or(default.logistic_ridge),
            conse_classes: settings.conse_classes.unwrap_or(default.conse_classes),
        }
    }
}

impl ZeroShotMethod for Conse {
    type Fitted = ConvexCombination;

    fn fit(&self, task: &Task, watch: &dyn Observer) -> Result<ConvexCombination> {
        settings::check("conse_classes", self.conse_classes as f64)?;
        let classes = unit(&task.semantics)?;
        let targets = Targets::Classes { labels: &task.train.labels, count: task.known.len() };
        let predictors = Predictors::fit(task, targets, self.logistic_ridge, "conse", watch)?;
        Ok(ConvexCombination { predictors, classes, terms: [self.conse_classes as f64] })
    }
}

/// Unit vectors of all classes.
fn unit(semantics: &ClassSemantics) -> Result<Mat<f64>> {
    let mut classes = vectors(semantics, "method `conse`")?.to_owned();
    distance::normalize_columns(classes.as_mut());
    Ok(classes)
}

impl ConvexCombination {
    /// $T$; a file may say anything.
    fn terms(&self) -> usize {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate")]
        let terms = self.terms[0] as usize;
        terms.max(1)
    }
}

impl FittedMethod for ConvexCombination {
    fn recognize(&self, instances: Prepared<'_>, candidates: Candidates) -> Result<Recognition> {
        let mut probabilities = self.predictors.of(instances)?;
        let known = probabilities.nrows();
        for instance in 0..probabilities.ncols() {
            softmax(probabilities.col_as_slice_mut(instance));
        }
        let points = combined(self.classes.subcols(0, known), probabilities, self.terms());
        let range = candidates.range(known, self.classes.ncols() - known);
        let classes = self.classes.subcols(range.start, range.len()).to_owned();
        Ok(Recognition::nearest(Arc::new(points), classes))
    }
}

/// The directions of instances: descriptions of known classes weighted by their largest probabilities, with unit norm.
fn combined(known: MatRef<'_, f64>, mut probabilities: Mat<f64>, terms: usize) -> Mat<f64> {
    for instance in 0..probabilities.ncols() {
        keep_largest(probabilities.col_as_slice_mut(instance), terms);
    }
    // The sum of the weights does not matter to a direction.
    let mut points = product(known, probabilities.as_ref());
    distance::normalize_columns(points.as_mut());
    points
}

/// Sets all but the largest values to zero; of equal ones the first stay.
fn keep_largest(values: &mut [f64], count: usize) {
    if count >= values.len() {
        return;
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b)));
    order[count..].iter().for_each(|&i| values[i] = 0.0);
}

impl Stored for ConvexCombination {
    fn tensors(&self) -> Vec<Tensor<'_>> {
        let mut tensors = self.predictors.tensors();
        tensors.push(Tensor::vector("combined_classes", &self.terms));
        tensors
    }

    fn read(file: &SafeTensors<'_>, recorded: &Recorded<'_>, semantics: &ClassSemantics) -> Result<Self> {
        let predictors = Predictors::read(file, recorded, recorded.known)?;
        let terms = [unpack(file, "combined_classes", Some(1), Some(1))?[(0, 0)]];
        Ok(Self { predictors, classes: unit(semantics)?, terms })
    }

    fn changed(&self, change: &Change<'_>) -> Result<Option<Self>> {
        Ok(Some(Self { classes: unit(change.semantics)?, ..self.clone() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distances by NumPy, from the definition: two of four known classes, in two semantic dimensions.
    #[test]
    fn given_probabilities_make_the_points_that_numpy_finds() {
        let raw = [[1.0, 0.1], [0.2, 0.8], [-0.5, 0.6], [0.4, -0.7], [0.9, 0.5], [-0.3, 0.2]];
        let mut classes = Mat::from_fn(2, 6, |i, class| raw[class][i]);
        distance::normalize_columns(classes.as_mut());
        let given = [[0.5, 0.2, 0.25, 0.05], [0.1, 0.05, 0.45, 0.4]];
        let probabilities = Mat::from_fn(4, 2, |class, instance| given[instance][class]);
        let points = combined(classes.subcols(0, 4), probabilities, 2);
        let found = Recognition::nearest(Arc::new(points), classes.subcols(4, 2).to_owned()).scores;
        let expected = [
            [0.114_568_841_800_778_24, 1.645_156_209_451_653],
            [1.940_450_476_860_561_7, 0.596_604_189_483_726_8],
        ];
        for (instance, expected) in expected.iter().enumerate() {
            for (class, distance) in expected.iter().enumerate() {
                assert!((found.distance(class, instance) - distance).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn only_the_largest_terms_count() {
        let mut values = [0.1, 0.4, 0.1, 0.4];
        keep_largest(&mut values, 3);
        assert_eq!(values.map(|value| value > 0.0), [true, true, false, true]);
        keep_largest(&mut values, 9);
        assert_eq!(values.map(|value| value > 0.0), [true, true, false, true]);
    }
}
