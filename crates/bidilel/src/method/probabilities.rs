//! Logistic regression over the training instances: probabilities of known classes, or of attributes.
//!
//! What `conse` and `iap` (known classes), `dap` and `kdica` (attributes) stand on.

use faer::{Mat, MatRef};
use safetensors::tensor::SafeTensors;

use bidilel_math::Observer;
use bidilel_math::backend::Projector;
use bidilel_math::logistic::{self, Logistic, Targets};
use bidilel_math::parallel::product;

use super::linear::{require_linear, scaled};
use crate::error::{Error, Result};
use crate::latent_space::{LatentSpace, Map};
use crate::semantic::ClassSemantics;
use crate::settings;
use crate::stored::{Recorded, unpack};
use crate::task::{Prepared, Task};
use crate::tensors::Tensor;

/// A linear map from features to the predictors of logistic regression.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Predictors {
    /// As [`LatentSpace`] computes it: the map of the features minus the mean, which is minus the intercept.
    space: LatentSpace,
    /// The map again, as it is stored.
    map: Mat<f64>,
}

impl Predictors {
    /// Fits targets to the training instances of a task.
    pub(super) fn fit(
        task: &Task,
        targets: Targets<'_>,
        ridge: f64,
        method: &'static str,
        watch: &dyn Observer,
    ) -> Result<Self> {
        settings::check("logistic_ridge", ridge)?;
        require_linear(task, method)?;
        watch.stage("logistic");
        let scaled = scaled(task);
        let features = scaled.as_ref().unwrap_or(&task.train.features);
        let (mut weights, offset) = solve(features, targets, ridge, watch)?;
        crate::bottom_up::scale_rows(&mut weights, task.views.scales().as_deref());
        Ok(Self::new(weights, offset))
    }

    /// Fits targets to linearly transformed features; `map` is visual dimensions x transformed features.
    pub(super) fn of_projected(
        task: &Task,
        map: MatRef<'_, f64>,
        targets: Targets<'_>,
        ridge: f64,
        watch: &dyn Observer,
    ) -> Result<Self> {
        settings::check("logistic_ridge", ridge)?;
        watch.stage("logistic");
        let projected = Projector::new(map).project(task.train.features.as_ref());
        #[expect(clippy::cast_possible_truncation, reason = "features are single precision")]
        let narrow = Mat::from_fn(projected.nrows(), projected.ncols(), |i, j| projected[(i, j)] as f32);
        drop(projected);
        let (weights, offset) = solve(&narrow, targets, ridge, watch)?;
        Ok(Self::new(product(map, weights.as_ref()), offset))
    }

    fn new(map: Mat<f64>, mean: Vec<f64>) -> Self {
        Self { space: LatentSpace { map: Map::Linear(map.clone()), mean }, map }
    }

    /// Linear predictors: targets x instances.
    pub(super) fn of(&self, instances: Prepared<'_>) -> Result<Mat<f64>> {
        self.space.project_unnormalized(instances.features())
    }

    pub(super) fn tensors(&self) -> Vec<Tensor<'_>> {
        vec![Tensor::new("predictors", &self.map), Tensor::vector("predictor_offset", &self.space.mean)]
    }

    /// The predictors of a file: as many as are expected.
    pub(super) fn read(file: &SafeTensors<'_>, recorded: &Recorded<'_>, count: usize) -> Result<Self> {
        let map = unpack(file, "predictors", Some(recorded.views.dim()), Some(count))?;
        let mean = unpack(file, "predictor_offset", Some(count), Some(1))?;
        Ok(Self::new(map, mean.col_as_slice(0).to_vec()))
    }
}

/// Weights of the features, and what is taken off their sums.
fn solve(
    features: &Mat<f32>,
    targets: Targets<'_>,
    ridge: f64,
    watch: &dyn Observer,
) -> Result<(Mat<f64>, Vec<f64>)> {
    let Logistic { weights, intercepts, converged } =
        logistic::fit(features.as_ref(), targets, ridge, watch).map_err(Error::in_stage("logistic"))?;
    if !converged {
        watch.note("logistic regression was stopped at its iteration limit");
    }
    Ok((weights, intercepts.into_iter().map(|b| -b).collect()))
}

/// $\log \sigma(z) = -\log(1 + e^{-z})$ without overflow.
pub(super) fn log_sigmoid(z: f64) -> f64 {
    z.min(0.0) - (-z.abs()).exp().ln_1p()
}

/// Attributes as yes or no: 1 where a class has more of a dimension than the mean over all classes.
///
/// Dimensions of several representations are stacked. A dimension that is the same for all known classes, or for all
/// classes, tells nothing and is left out.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Attributes {
    /// Attributes x known, then unseen classes.
    pub(super) bits: Mat<f64>,
    /// The share of known classes that has each attribute.
    pub(super) prior: Vec<f64>,
    known: usize,
}

/// Shares of classes are kept this far from 0 and 1, whose logarithms would decide alone.
pub(super) const PRIOR_MARGIN: f64 = 1e-2;

impl Attributes {
    pub(super) fn of(semantics: &ClassSemantics, needed_by: &'static str) -> Result<Self> {
        super::linear::vectors(semantics, needed_by)?;
        let known = semantics.known;
        let (mut rows, mut prior) = (Vec::new(), Vec::new());
        for one in &semantics.representations {
            let classes = one.raw.ncols();
            for dimension in 0..one.raw.nrows() {
                let values: Vec<f64> = (0..classes).map(|class| one.raw[(dimension, class)]).collect();
                let mean = values.iter().sum::<f64>() / classes as f64;
                let bits: Vec<f64> = values.iter().map(|&value| f64::from(u8::from(value > mean))).collect();
                let share = bits[..known].iter().sum::<f64>() / known as f64;
                if share > 0.0 && share < 1.0 {
                    rows.push(bits);
                    prior.push(share.clamp(PRIOR_MARGIN, 1.0 - PRIOR_MARGIN));
                }
            }
        }
        if rows.is_empty() {
            return Err(Error::Semantic {
                origin: "the semantic representation".to_owned(),
                problem: crate::error::SemanticProblem::AllAlike,
            });
        }
        let classes = rows[0].len();
        Ok(Self { bits: Mat::from_fn(rows.len(), classes, |i, class| rows[i][class]), prior, known })
    }

    /// $\sum_m \log p(a_m = a_m^c \mid x) - \log p(a_m = a_m^c)$ for every candidate class: two products of log-odds.
    ///
    /// `log_probabilities` are those of having an attribute and of not having it, attributes x instances.
    pub(super) fn scores(
        &self,
        log_probabilities: (&Mat<f64>, &Mat<f64>),
        candidates: crate::recognize::Candidates,
    ) -> Mat<f64> {
        let (yes, no) = log_probabilities;
        let range = candidates.range(self.known, self.bits.ncols() - self.known);
        let bits = self.bits.subcols(range.start, range.len());
        let attributes = bits.nrows();
        // Relative to the priors.
        let own = Mat::from_fn(attributes, yes.ncols(), |m, i| yes[(m, i)] - self.prior[m].ln());
        let other = Mat::from_fn(attributes, no.ncols(), |m, i| no[(m, i)] - (1.0 - self.prior[m]).ln());
        let odds = &own - &other;
        let mut scores = product(bits.transpose(), odds.as_ref());
        for instance in 0..scores.ncols() {
            let base: f64 = other.col_as_slice(instance).iter().sum();
            scores.col_as_slice_mut(instance).iter_mut().for_each(|score| *score += base);
        }
        scores
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Metric;
    use crate::recognize::Candidates;
    use crate::semantic::Representation;

    #[test]
    fn attributes_are_cut_at_their_mean_and_those_that_tell_nothing_are_left_out() {
        let raw = faer::mat![[5.0, 1.0, 1.0], [2.0, 2.0, 2.1], [0.0, 0.4, 0.9]];
        let one = Representation::new("a", 1.0, Metric::Euclidean, raw);
        let found = Attributes::of(&ClassSemantics::from_representations(vec![one], 2), "a test")
            .expect("attributes");
        // Both known classes lack the second one.
        assert_eq!(found.bits, faer::mat![[1.0, 0.0, 0.0]]);
        assert_eq!(found.prior, [0.5]);
    }

    #[test]
    fn scores_are_sums_of_log_probabilities_relative_to_priors() {
        let bits = faer::mat![[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]];
        let attributes = Attributes { bits, prior: vec![0.5, 0.25], known: 2 };
        let p = faer::mat![[0.9], [0.3]];
        let log = |f: &dyn Fn(f64) -> f64| Mat::from_fn(2, 1, |i, _| f(p[(i, 0)]).ln());
        let scores = attributes.scores((&log(&|p| p), &log(&|p| 1.0 - p)), Candidates::Unseen);
        let expected = (0.9_f64 / 0.5).ln() + (0.3_f64 / 0.25).ln();
        assert!((scores[(0, 0)] - expected).abs() < 1e-12 && scores.nrows() == 1);
        let known = attributes.scores((&log(&|p| p), &log(&|p| 1.0 - p)), Candidates::Known);
        let expected = (0.9_f64 / 0.5).ln() + (0.7_f64 / 0.75).ln();
        assert!((known[(0, 0)] - expected).abs() < 1e-12 && known.nrows() == 2);
    }
}
