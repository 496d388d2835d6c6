//! KDICA: features in which classes differ by their attributes and by nothing else, then direct attribute prediction.
//!
//! Classes are domains: an attribute classifier must work in classes that it has not seen. With the kernel $K$ of the $n$
//! training instances, the transform $B$ maximizes
//! `$$ \frac{\operatorname{tr} B^\top (g\, K L K + \tfrac{1 - g}{n} K K) B}{\operatorname{tr} B^\top (K Q K + r K) B}, $$`
//! where $L$ is the centered kernel of the attributes of the instances' classes (alignment with attributes), $KK / n$ keeps
//! the variance of the features, and $Q$ is the distributional variance: `$\operatorname{tr} B^\top K Q K B$` is the mean
//! squared distance of the class means from their mean. It is a generalized eigenproblem.
//!
//! For the linear kernel $K = X^\top X$ it has $d$ (visual dimensions) instead of $n$ unknowns: with $W = X B$
//! `$$ \left(g\, X L X^\top + \tfrac{1 - g}{n} X X^\top\right) w = \lambda \left(X Q X^\top + r I\right) w, $$`
//! because `$B^\top K B = W^\top W$`; and every $w$ with $\lambda \ne 0$ is in the span of $X$, since
//! $r w = X (\dots)$. So both forms have the same features, $B^\top K(\cdot, x) = W^\top x$. $X L X^\top$ and
//! $X Q X^\top$ are of sums over classes.
//!
//! Left open by the paper and chosen here: the linear kernel; the kernel of attributes is linear over unit vectors, and
//! $L$ is it, centered, divided by $n$ times its Frobenius norm, which is the scale of $KK / n$; the weight $r$ of the last
//! term (features have unit norm, so that class means are near each other and $r = 1$ would leave $Q$ without effect);
//! transformed features are scaled to a mean squared norm of 1, as the features have, for the ridge of the classifiers.
//!
//! # References
//! C. Gan, T. Yang and B. Gong, *Learning attributes equals multi-source domain generalization*, 2016; K. Muandet, D.
//! Balduzzi and B. Schölkopf, *Domain generalization via invariant feature representation*, 2013.

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use bidilel_math::logistic::Targets;
use bidilel_math::parallel::product;
use bidilel_math::{Observer, eigen, vector};

use super::ZeroShotMethod;
use super::dap::AttributeClassifiers;
use super::linear::{Sums, require_linear, vectors};
use super::probabilities::{Attributes, Predictors};
use crate::error::{Error, Result};
use crate::settings::{self, Settings};
use crate::task::Task;

/// Eigenvalues below this share of the first are of directions without features.
const ZERO_SHARE: f64 = 1e-10;

/// Settings of KDICA.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kdica {
    /// Ridge of the logistic regression.
    pub logistic_ridge: f64,
    /// Transformed features, at most.
    pub kdica_dim: usize,
    /// Weight of the alignment with attributes against the variance: $g$.
    pub kdica_balance: f64,
    /// Weight of the norm of the transform: $r$.
    pub kdica_ridge: f64,
}

impl Default for Kdica {
    fn default() -> Self {
        Self { logistic_ridge: 1.0, kdica_dim: 300, kdica_balance: 0.5, kdica_ridge: 0.01 }
    }
}

impl Kdica {
    pub(crate) fn from_settings(settings: &Settings, _seed: u64) -> Self {
        let default = Self::default();
        Self {
            logistic_ridge: settings.logistic_ridge.unwrap_or(default.logistic_ridge),
            kdica_dim: settings.kdica_dim.unwrap_or(default.kdica_dim),
            kdica_balance: settings.kdica_balance.unwrap_or(default.kdica_balance),
            kdica_ridge: settings.kdica_ridge.unwrap_or(default.kdica_ridge),
        }
    }

    /// $W$, scaled, for features of scaled views: visual dimensions x transformed features.
    fn transform(
        &self,
        sums: &Sums,
        gram: &Mat<f64>,
        known: MatRef<'_, f64>,
        watch: &dyn Observer,
    ) -> Result<Mat<f64>> {
        let (dim, count) = (gram.nrows(), sums.counts.iter().sum::<f64>());
        let pull = alignment(sums, known);
        let mut left = product(pull.as_ref(), pull.transpose());
        let (aligned, variance) = (self.kdica_balance / count, (1.0 - self.kdica_balance) / count);
        for j in 0..dim {
            let column = left.col_as_slice_mut(j).iter_mut();
            column
                .zip(gram.col_as_slice(j))
                .for_each(|(value, gram)| *value = aligned * *value + variance * gram);
        }
        let spread = class_spread(sums);
        let mut right = product(spread.as_ref(), spread.transpose());
        (0..dim).for_each(|i| right[(i, i)] += self.kdica_ridge);
        let found = eigen::generalized(left.as_ref(), right, self.kdica_dim.min(dim), watch)
            .map_err(Error::in_stage("eigen"))?;
        let least = ZERO_SHARE * found.values.first().copied().unwrap_or(0.0);
        let used = found.values.iter().take_while(|&&value| value > least.max(f64::MIN_POSITIVE)).count();
        if used == 0 {
            return Err(Error::in_stage("eigen")(bidilel_math::Error::Constant { what: "the features" }));
        }
        let map = found.vectors.subcols(0, used);
        let projected = product(gram.as_ref(), map);
        let norms: f64 =
            (0..used).map(|k| vector::dot(projected.col_as_slice(k), vector::column(map, k))).sum();
        Ok(map * faer::Scale((count / norms).sqrt()))
    }
}

/// $X H S^\top$ for the descriptions $S$ of the instances, divided by the root of the norm of $H A H$, the centered kernel
/// of attributes.
fn alignment(sums: &Sums, known: MatRef<'_, f64>) -> Mat<f64> {
    let count: f64 = sums.counts.iter().sum();
    let mean = |i: usize| {
        (0..known.ncols()).map(|class| known[(i, class)] * sums.counts[class]).sum::<f64>() / count
    };
    let mean: Vec<f64> = (0..known.nrows()).map(mean).collect();
    let centered = Mat::from_fn(known.nrows(), known.ncols(), |i, class| known[(i, class)] - mean[i]);
    // The Frobenius norm of the kernel is that of the scatter of the descriptions.
    let (cross, scatter) = sums.with_semantics(centered.as_ref());
    let norm = scatter.norm_l2();
    if norm > 0.0 { cross * faer::Scale(norm.recip().sqrt()) } else { cross }
}

/// A factor of $X Q X^\top$: class means minus their mean, over the root of the number of classes.
fn class_spread(sums: &Sums) -> Mat<f64> {
    let (dim, classes) = (sums.per_class.nrows(), sums.counts.len());
    let mean = |i: usize, class: usize| sums.per_class[(i, class)] / sums.counts[class].max(1.0);
    let center: Vec<f64> =
        (0..dim).map(|i| (0..classes).map(|class| mean(i, class)).sum::<f64>() / classes as f64).collect();
    let root = (classes as f64).sqrt();
    Mat::from_fn(dim, classes, |i, class| (mean(i, class) - center[i]) / root)
}

impl ZeroShotMethod for Kdica {
    type Fitted = AttributeClassifiers;

    fn fit(&self, task: &Task, watch: &dyn Observer) -> Result<AttributeClassifiers> {
        settings::check("kdica_dim", self.kdica_dim as f64)?;
        settings::check("kdica_balance", self.kdica_balance)?;
        settings::check("kdica_ridge", self.kdica_ridge)?;
        require_linear(task, "kdica")?;
        let attributes = Attributes::of(&task.semantics, "method `kdica`")?;
        let known = vectors(&task.semantics, "method `kdica`")?.subcols(0, task.known.len());
        watch.stage("scatter");
        let sums = Sums::of(task);
        let gram = sums.gram(task, watch)?;
        watch.stage("eigen");
        let map = sums.unscaled(self.transform(&sums, &gram, known, watch)?);
        let bits = attributes.bits.subcols(0, task.known.len());
        let targets = Targets::Binary { groups: &task.train.labels, values: bits };
        let predictors = Predictors::of_projected(task, map.as_ref(), targets, self.logistic_ridge, watch)?;
        Ok(AttributeClassifiers::new(predictors, attributes))
    }
}
