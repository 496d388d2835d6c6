//! ESZSL: a bilinear compatibility of features and descriptions in closed form.
//!
//! With features $X$ (visual dimensions x instances), labels `$Y \in \{-1, 1\}$` (instances x known classes) and
//! descriptions $S$ of the known classes (semantic dimensions x classes)
//! $$ V = (X X^\top + \gamma I)^{-1} X Y S^\top (S S^\top + \lambda I)^{-1}, $$
//! and the score of class $c$ for an instance $x$ is $x^\top V s_c$.
//!
//! Left open by the paper and chosen here: descriptions have unit norm, several are stacked, each times the root of its
//! weight, and so are several views; both regularizers are 1 unless they are set (features have unit norm, so that
//! $X X^\top$ has the trace of the number of instances). With `eszsl_center` the mean over the known classes is taken
//! from every description first: attributes that most classes share then no longer dominate $S S^\top$.
//!
//! # References
//! B. Romera-Paredes and P. Torr, *An embarrassingly simple approach to zero-shot learning*, 2015.

use faer::{Mat, MatRef};
use safetensors::tensor::SafeTensors;
use serde::{Deserialize, Serialize};

use bidilel_math::check::probes;
use bidilel_math::parallel::product;
use bidilel_math::{Check, Observer, linear, vector};

use super::linear::{Sums, require_linear, vectors};
use super::{FittedMethod, ZeroShotMethod};
use crate::error::{Error, Result};
use crate::latent_space::{LatentSpace, Map};
use crate::recognize::{Candidates, Recognition, Scores};
use crate::semantic::ClassSemantics;
use crate::settings::{self, Settings};
use crate::stored::{Change, Recorded, Stored, unpack};
use crate::task::{Prepared, Task};
use crate::tensors::Tensor;

/// The name of the compatibility in a model file.
const TENSOR: &str = "compatibility";
/// The name of what is taken from the descriptions.
const CENTER: &str = "semantic_center";
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
    /// Whether descriptions are centered by the mean over the known classes.
    pub eszsl_center: bool,
}

impl Default for Eszsl {
    fn default() -> Self {
        Self { eszsl_gamma: 1.0, eszsl_lambda: 1.0, eszsl_center: false }
    }
}

/// What ESZSL learns.
#[derive(Debug, Clone, PartialEq)]
pub struct Compatibility {
    /// $V$, visual x semantic dimensions.
    weights: Mat<f64>,
    /// What is taken from every description: zeros unless they are centered.
    center: Vec<f64>,
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
            eszsl_center: settings.eszsl_center.unwrap_or(default.eszsl_center),
        }
    }

    fn check(&self, task: &Task) -> Result<()> {
        settings::check("eszsl_gamma", self.eszsl_gamma)?;
        settings::check("eszsl_lambda", self.eszsl_lambda)?;
        require_linear(task, "eszsl")
    }
}

impl ZeroShotMethod for Eszsl {
    type Fitted = Compatibility;

    fn fit(&self, task: &Task, watch: &dyn Observer) -> Result<Compatibility> {
        self.check(task)?;
        let vectors = vectors(&task.semantics, "method `eszsl`")?;
        let center = if self.eszsl_center {
            mean(vectors.subcols(0, task.known.len()))
        } else {
            vec![0.0; vectors.nrows()]
        };
        let vectors = centered(vectors, &center);
        let known = vectors.subcols(0, task.known.len());
        watch.stage("scatter");
        let sums = Sums::of(task);
        let left = sums.gram(task, watch)?;
        watch.stage("solve");
        let rhs = product(signed_sums(&sums).as_ref(), known.transpose());
        let right = product(known, known.transpose());
        let (weights, deviation) = solve(left, self.eszsl_gamma, right, self.eszsl_lambda, rhs)?;
        Check { stage: "solve", what: "the compatibility in its equation", deviation, bound: TOLERANCE }
            .enforce(watch)
            .map_err(Error::in_stage("solve"))?;
        Ok(Compatibility::new(sums.unscaled(weights), center, vectors.as_ref(), task.known.len()))
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
    let half = linear::solve(left, rhs).map_err(Error::in_stage("solve"))?;
    let weights = linear::solve(right, half.transpose().to_owned())
        .map_err(Error::in_stage("solve"))?
        .transpose()
        .to_owned();
    let found = product(product(probed.transpose(), weights.as_ref()).as_ref(), right_kept.as_ref());
    let largest =
        |m: &Mat<f64>| (0..m.ncols()).map(|j| vector::max_abs(m.col_as_slice(j))).fold(0.0, f64::max);
    let deviation = largest(&(&found - &expected)) / largest(&expected).max(f64::MIN_POSITIVE);
    Ok((weights, deviation))
}

/// $X Y$: per class, the sum of its instances minus the sum of all others.
fn signed_sums(sums: &Sums) -> Mat<f64> {
    let total = sums.total();
    Mat::from_fn(total.len(), sums.per_class.ncols(), |i, class| 2.0 * sums.per_class[(i, class)] - total[i])
}

/// The mean of the columns.
fn mean(vectors: MatRef<'_, f64>) -> Vec<f64> {
    let count = vectors.ncols() as f64;
    (0..vectors.nrows()).map(|i| (0..vectors.ncols()).map(|j| vectors[(i, j)]).sum::<f64>() / count).collect()
}

fn centered(vectors: MatRef<'_, f64>, center: &[f64]) -> Mat<f64> {
    Mat::from_fn(vectors.nrows(), vectors.ncols(), |i, j| vectors[(i, j)] - center[i])
}

impl Compatibility {
    /// For descriptions that are centered already.
    fn new(weights: Mat<f64>, center: Vec<f64>, vectors: MatRef<'_, f64>, known: usize) -> Self {
        let map = product(weights.as_ref(), vectors);
        let mean = vec![0.0; map.ncols()];
        Self { weights, center, classifiers: LatentSpace { map: Map::Linear(map), mean }, known }
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
        vec![Tensor::new(TENSOR, &self.weights), Tensor::vector(CENTER, &self.center)]
    }

    fn read(file: &SafeTensors<'_>, recorded: &Recorded<'_>, semantics: &ClassSemantics) -> Result<Self> {
        let vectors = vectors(semantics, "method `eszsl`")?;
        let weights = unpack(file, TENSOR, Some(recorded.views.dim()), Some(vectors.nrows()))?;
        // Files of before descriptions could be centered do not have it.
        let center = match file.tensor(CENTER) {
            Ok(_) => unpack(file, CENTER, Some(vectors.nrows()), Some(1))?.col_as_slice(0).to_vec(),
            Err(_) => vec![0.0; vectors.nrows()],
        };
        let vectors = centered(vectors, &center);
        Ok(Self::new(weights, center, vectors.as_ref(), recorded.known))
    }

    fn changed(&self, change: &Change<'_>) -> Result<Option<Self>> {
        let vectors = centered(vectors(change.semantics, "method `eszsl`")?, &self.center);
        let (weights, center) = (self.weights.clone(), self.center.clone());
        Ok(Some(Self::new(weights, center, vectors.as_ref(), self.known)))
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
}
