//! ESZSL: a bilinear compatibility of features and descriptions in closed form.
//!
//! With features $X$ (visual dimensions x instances), labels `$Y \in \{-1, 1\}$` (instances x known classes) and
//! descriptions $S$ of the known classes (semantic dimensions x classes)
//! $$ V = (X X^\top + \gamma I)^{-1} X Y S^\top (S S^\top + \lambda I)^{-1}, $$
//! and the score of class $c$ for an instance $x$ is $x^\top V s_c$.
//!
//! Left open by the paper and chosen here: descriptions have unit norm, several are stacked, each times the root of its
//! weight, and so are several views; both regularizers are 1 unless they are set (features have unit norm, so that
//! $X X^\top$ has the trace of the number of instances).
//!
//! # References
//! B. Romera-Paredes and P. Torr, *An embarrassingly simple approach to zero-shot learning*, 2015.

use faer::{Mat, MatRef};
use safetensors::tensor::SafeTensors;
use serde::{Deserialize, Serialize};

use bidilel_math::check::probes;
use bidilel_math::parallel::product;
use bidilel_math::scatter::Selected;
use bidilel_math::{Check, Observer, eigen, vector};

use super::{FittedMethod, ZeroShotMethod};
use crate::bottom_up::{scale_both, scale_rows, total_scatter};
use crate::error::{Error, Result, SemanticProblem};
use crate::latent_space::{LatentSpace, Map};
use crate::recognize::{Candidates, Recognition, Scores};
use crate::semantic::ClassSemantics;
use crate::settings::{self, Settings};
use crate::stored::{Recorded, Stored, unpack};
use crate::task::{Prepared, Task};
use crate::tensors::Tensor;

/// The name of the compatibility in a model file.
const TENSOR: &str = "compatibility";
/// Largest difference between the two sides of the equation by rounding, relative to the larger side.
const TOLERANCE: f64 = 1e-6;

/// Settings of ESZSL.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Eszsl {
    /// Regularizer of the features: $\gamma$.
    pub eszsl_gamma: f64,
    /// Regularizer of the descriptions: $\lambda$.
    pub eszsl_lambda: f64,
}

impl Default for Eszsl {
    fn default() -> Self {
        Self { eszsl_gamma: 1.0, eszsl_lambda: 1.0 }
    }
}

/// What ESZSL learns.
#[derive(Debug, Clone, PartialEq)]
pub struct Compatibility {
    /// $V$, visual x semantic dimensions.
    weights: Mat<f64>,
    /// $V S$ for known, then unseen classes: a linear map from features to scores.
    classifiers: LatentSpace,
    known: usize,
}

impl Eszsl {
    pub(crate) fn from_settings(settings: &Settings, _seed: u64) -> Self {
        let default = Self::default();
        Self {
            eszsl_gamma: settings.eszsl_gamma.unwrap_or(default.eszsl_gamma),
            eszsl_lambda: settings.eszsl_lambda.unwrap_or(default.eszsl_lambda),
        }
    }

    fn check(&self, task: &Task) -> Result<()> {
        settings::check("eszsl_gamma", self.eszsl_gamma)?;
        settings::check("eszsl_lambda", self.eszsl_lambda)?;
        if !task.views.is_linear() {
            let expected = "linear with method `eszsl`".into();
            return Err(Error::Setting { setting: "kernel", expected, found: "another kernel".to_owned() });
        }
        Ok(())
    }
}

impl ZeroShotMethod for Eszsl {
    type Fitted = Compatibility;

    fn fit(&self, task: &Task, watch: &dyn Observer) -> Result<Compatibility> {
        self.check(task)?;
        let vectors = vectors(&task.semantics)?;
        let known = vectors.subcols(0, task.known.len());
        let (features, scales) = (task.train.features.as_ref(), task.views.scales());
        watch.stage("scatter");
        let all: Vec<usize> = (0..features.nrows()).collect();
        let mut left = total_scatter(Selected { points: features, rows: &all, center: None }, watch)?;
        scale_both(&mut left, scales.as_deref());
        let mut targets = signed_sums(features, &task.train.labels, task.known.len());
        scale_rows(&mut targets, scales.as_deref());
        watch.stage("solve");
        let rhs = product(targets.as_ref(), known.transpose());
        let right = product(known, known.transpose());
        let (mut weights, deviation) = solve(left, self.eszsl_gamma, right, self.eszsl_lambda, rhs)?;
        Check { stage: "solve", what: "the compatibility in its equation", deviation, bound: TOLERANCE }
            .enforce(watch)
            .map_err(Error::in_stage("solve"))?;
        scale_rows(&mut weights, scales.as_deref());
        Ok(Compatibility::new(weights, vectors, task.known.len()))
    }
}

/// $(A + \gamma I)^{-1} C (B + \lambda I)^{-1}$ for symmetric $A$, $B$, and how far a few random combinations of the
/// equation's rows are from holding.
fn solve(
    mut left: Mat<f64>,
    gamma: f64,
    mut right: Mat<f64>,
    lambda: f64,
    rhs: Mat<f64>,
) -> Result<(Mat<f64>, f64)> {
    (0..left.nrows()).for_each(|i| left[(i, i)] += gamma);
    (0..right.nrows()).for_each(|i| right[(i, i)] += lambda);
    // Taken before anything is factored: for any p, (A p)' V B must be p' C.
    let probes = probes(left.nrows(), 2);
    let probed = product(left.as_ref(), probes.as_ref());
    let expected = product(probes.transpose(), rhs.as_ref());
    let right_kept = right.clone();
    let half = solved(left, rhs)?;
    let weights = solved(right, half.transpose().to_owned())?.transpose().to_owned();
    let found = product(product(probed.transpose(), weights.as_ref()).as_ref(), right_kept.as_ref());
    let largest =
        |m: &Mat<f64>| (0..m.ncols()).map(|j| vector::max_abs(m.col_as_slice(j))).fold(0.0, f64::max);
    let deviation = largest(&(&found - &expected)) / largest(&expected).max(f64::MIN_POSITIVE);
    Ok((weights, deviation))
}

/// The solution of a positive definite system.
fn solved(matrix: Mat<f64>, mut rhs: Mat<f64>) -> Result<Mat<f64>> {
    let factor = eigen::cholesky(matrix).map_err(Error::in_stage("solve"))?;
    eigen::solve_lower(factor.as_ref(), rhs.as_mut());
    eigen::solve_lower_transposed(factor.as_ref(), rhs.as_mut());
    Ok(rhs)
}

/// $X Y$: per class, the sum of its instances minus the sum of all others.
fn signed_sums(features: MatRef<'_, f32>, labels: &[usize], classes: usize) -> Mat<f64> {
    let mut sums = Mat::<f64>::zeros(features.nrows(), classes);
    let mut total = vec![0.0; features.nrows()];
    for (instance, &label) in labels.iter().enumerate() {
        let column = vector::column(features, instance);
        vector::add_scaled(sums.col_as_slice_mut(label), 2.0, column);
        vector::add_scaled(&mut total, 1.0, column);
    }
    for class in 0..classes {
        sums.col_as_slice_mut(class).iter_mut().zip(&total).for_each(|(sum, total)| *sum -= total);
    }
    sums
}

/// Descriptions of all classes as vectors.
fn vectors(semantics: &ClassSemantics) -> Result<MatRef<'_, f64>> {
    semantics.vectors().ok_or_else(|| Error::Semantic {
        origin: "the semantic representation".to_owned(),
        problem: SemanticProblem::NoVectors { needed_by: "method `eszsl`" },
    })
}

impl Compatibility {
    fn new(weights: Mat<f64>, vectors: MatRef<'_, f64>, known: usize) -> Self {
        let map = product(weights.as_ref(), vectors);
        let mean = vec![0.0; map.ncols()];
        Self { weights, classifiers: LatentSpace { map: Map::Linear(map), mean }, known }
    }
}

impl FittedMethod for Compatibility {
    fn recognize(&self, instances: Prepared<'_>, candidates: Candidates) -> Result<Recognition> {
        let all = self.classifiers.project_unnormalized(instances.features())?;
        let range = candidates.range(self.known, all.nrows() - self.known);
        Ok(Scores { values: all.subrows(range.start, range.len()).to_owned() }.into())
    }
}

impl Stored for Compatibility {
    fn tensors(&self) -> Vec<Tensor<'_>> {
        vec![Tensor::new(TENSOR, &self.weights)]
    }

    fn read(file: &SafeTensors<'_>, recorded: &Recorded<'_>, semantics: &ClassSemantics) -> Result<Self> {
        let vectors = vectors(semantics)?;
        let weights = unpack(file, TENSOR, Some(recorded.views.dim()), Some(vectors.nrows()))?;
        Ok(Self::new(weights, vectors, recorded.known))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Kronecker form of the same equation, solved by elimination.
    #[test]
    fn the_solution_satisfies_its_equation() {
        let wave = |i: usize, j: usize, n: usize| ((i * n + j) as f64 * 0.37).sin();
        let factor = Mat::from_fn(5, 9, |i, j| wave(i, j, 9));
        let (left, known) = (&factor * factor.transpose(), Mat::from_fn(3, 4, |i, j| wave(j, i, 5)));
        let (right, rhs) = (&known * known.transpose(), Mat::from_fn(5, 3, |i, j| wave(i, j, 3)));
        let (weights, deviation) =
            solve(left.clone(), 0.1, right.clone(), 0.2, rhs.clone()).expect("positive definite");
        let identity = |n: usize, scale: f64| Mat::<f64>::identity(n, n) * faer::Scale(scale);
        let found = (left + identity(5, 0.1)) * &weights * (right + identity(3, 0.2));
        assert!((found - rhs).norm_max() < 1e-12);
        assert!(deviation < 1e-12, "{deviation}");
    }

    #[test]
    fn signed_sums_are_the_product_with_plus_and_minus_one() {
        let features = Mat::<f32>::from_fn(3, 5, |i, j| (i + 2 * j) as f32);
        let labels = [0, 1, 1, 2, 0];
        let signs = Mat::from_fn(5, 3, |i, c| if labels[i] == c { 1.0 } else { -1.0 });
        let wide = Mat::from_fn(3, 5, |i, j| f64::from(features[(i, j)]));
        assert_eq!(signed_sums(features.as_ref(), &labels, 3), wide * signs);
    }
}
