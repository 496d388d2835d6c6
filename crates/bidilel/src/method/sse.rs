//! SSE: instances and classes as mixtures of the known classes, which must agree.
//!
//! A class is described by the simplex code of its description $s_c$ over those of the known classes $S$ (semantic
//! dimensions x known classes), [`bidilel_math::simplex`]:
//! `$$ \alpha_c = \arg\min_a \tfrac12 \|s_c - S a\|^2 + \tfrac{\gamma}{2} \|a\|^2 \quad\text{over}\quad a \ge 0,\ \textstyle\sum_y a_y = 1. $$`
//! The pattern of an instance $x$ is its similarity to a reference `$v_y$` of every known class, with weights $w$ of the
//! features that all classes share:
//! `$$ p_y(x) = w^\top \psi(x, v_y), \qquad \psi(x, v) = \min(x, v)\ \text{(intersection)}\quad\text{or}\quad \max(0, x - v)\ \text{(ReLU)}, $$`
//! and the score of class $c$ is `$f(x, c) = \alpha_c^\top p(x)$`. The weights are learned with a margin: with $F(y, c)$ the
//! mean of $f(x, c)$ over the instances of class $y$,
//! `$$ \min_w \tfrac{\lambda}{2} \|w\|^2 + \frac{1}{2K} \sum_y \sum_{c \ne y} \max(0,\ 1 - F(y, y) + F(y, c))^2. $$`
//!
//! The two variants are one: $\max(0, x - v) = x - \min(x, v)$, and as codes sum to 1, the part in $x$ adds the same to the
//! score of every class. So `$w_{\mathrm{ReLU}} = -w_{\mathrm{intersection}}$`, and the ranking of classes is the same.
//!
//! Left open by the paper and chosen here: the references are the class means and stay so, which makes the problem in
//! $w$ convex (the paper alternates between $w$ and $v$ from there); margins hold for the means over classes (the paper's
//! alignment of distributions) and not for single instances, so that training needs known classes squared x features
//! numbers, whatever the number of instances; the squared hinge; a margin of 1 for all pairs of classes; unit vectors as
//! descriptions.
//!
//! # References
//! Z. Zhang and V. Saligrama, *Zero-shot learning via semantic similarity embedding*, 2015.

use faer::{Mat, MatRef};
use rayon::prelude::*;
use safetensors::tensor::SafeTensors;
use serde::{Deserialize, Serialize};

use bidilel_math::parallel::product;
use bidilel_math::{Observer, Silent, simplex, vector};

use super::linear::{require_linear, vectors};
use super::similarity::Similarities;
use super::{FittedMethod, Method, ZeroShotMethod};
use crate::error::{Error, Result};
use crate::recognize::{Candidates, Recognition, Scores};
use crate::semantic::ClassSemantics;
use crate::settings::{self, Settings, named};
use crate::stored::{Change, Recorded, Stored, unpack};
use crate::task::{Prepared, Task};
use crate::tensors::Tensor;

/// How an instance is compared with the reference of a class, feature by feature.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SseVariant {
    /// $\min(x, v)$.
    #[default]
    Intersection,
    /// $\max(0, x - v)$.
    Relu,
}

named! { SseVariant: "intersection" | "relu"; }

/// Settings of SSE.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sse {
    /// How instances are compared with references.
    pub sse_variant: SseVariant,
    /// Ridge of the codes of classes: $\gamma$.
    pub sse_gamma: f64,
    /// Regularizer of the weights of features: $\lambda$.
    pub sse_lambda: f64,
}

impl Default for Sse {
    fn default() -> Self {
        Self { sse_variant: SseVariant::default(), sse_gamma: 0.01, sse_lambda: 0.003 }
    }
}

/// References of the known classes, weights of features, codes of all classes.
#[derive(Debug, Clone, PartialEq)]
pub struct MixturePatterns {
    variant: SseVariant,
    /// The variant as it is stored: its place among the variants.
    stored: [f64; 1],
    /// $v$, visual dimensions x known classes.
    references: Mat<f64>,
    /// $w$.
    weights: Vec<f64>,
    /// Known classes x known, then unseen classes.
    codes: Mat<f64>,
}

impl Sse {
    pub(crate) fn from_settings(settings: &Settings, _seed: u64) -> Self {
        let default = Self::default();
        Self {
            sse_variant: settings.sse_variant.unwrap_or(default.sse_variant),
            sse_gamma: settings.sse_gamma.unwrap_or(default.sse_gamma),
            sse_lambda: settings.sse_lambda.unwrap_or(default.sse_lambda),
        }
    }
}

impl ZeroShotMethod for Sse {
    type Fitted = MixturePatterns;

    fn fit(&self, task: &Task, watch: &dyn Observer) -> Result<MixturePatterns> {
        settings::check("sse_gamma", self.sse_gamma)?;
        settings::check("sse_lambda", self.sse_lambda)?;
        require_linear(task, "sse")?;
        let all = vectors(&task.semantics, "method `sse`")?;
        let known = all.subcols(0, task.known.len());
        watch.stage("codes");
        let codes = simplex::codes(known, all, self.sse_gamma, watch).map_err(Error::in_stage("codes"))?;
        watch.stage("similarities");
        let (features, labels) = (task.train.features.as_ref(), task.train.labels.as_slice());
        let references = means(features, labels, task.known.len());
        let scales = task.views.scales();
        let similarities = Similarities::of(
            features,
            labels,
            references.as_ref(),
            self.sse_variant,
            scales.as_deref(),
            watch,
        )?;
        watch.stage("weights");
        let codes_of_known = codes.subcols(0, task.known.len());
        let mut weights = similarities.weights(codes_of_known, self.sse_lambda, watch)?;
        if let Some(scales) = scales {
            weights.iter_mut().zip(scales).for_each(|(weight, scale)| *weight *= scale);
        }
        Ok(MixturePatterns::new(self.sse_variant, references, weights, codes))
    }
}

/// The mean of every class, in single precision as the features, dimensions x classes.
fn means(features: MatRef<'_, f32>, labels: &[usize], classes: usize) -> Mat<f64> {
    let mut sums = Mat::<f64>::zeros(features.nrows(), classes);
    let mut counts = vec![0.0; classes];
    for (instance, &label) in labels.iter().enumerate() {
        vector::add_scaled(sums.col_as_slice_mut(label), 1.0, vector::column(features, instance));
        counts[label] += 1.0;
    }
    // Rounded, so that fitting and scoring see the same numbers.
    #[expect(clippy::cast_possible_truncation, reason = "features are single precision")]
    Mat::from_fn(sums.nrows(), classes, |i, class| {
        f64::from((sums[(i, class)] / f64::max(counts[class], 1.0)) as f32)
    })
}

impl SseVariant {
    /// $w^\top \psi(x, v)$.
    fn similarity(self, weights: &[f64], x: &[f64], v: &[f64]) -> f64 {
        match self {
            Self::Intersection => weighted(weights, x, v, f64::min),
            Self::Relu => weighted(weights, x, v, |x, v| (x - v).max(0.0)),
        }
    }
}

/// Sums that run independently, so that the compiler can use vector instructions.
const LANES: usize = 8;

#[inline(always)]
fn weighted(weights: &[f64], x: &[f64], v: &[f64], feature: impl Fn(f64, f64) -> f64) -> f64 {
    let mut sums = [0.0; LANES];
    let whole = weights.len() / LANES * LANES;
    let chunks = weights[..whole].chunks_exact(LANES);
    for ((w, x), v) in chunks.zip(x.chunks_exact(LANES)).zip(v.chunks_exact(LANES)) {
        for (sum, ((w, x), v)) in sums.iter_mut().zip(w.iter().zip(x).zip(v)) {
            *sum += w * feature(*x, *v);
        }
    }
    let rest: f64 = (whole..weights.len()).map(|i| weights[i] * feature(x[i], v[i])).sum();
    sums.iter().sum::<f64>() + rest
}

impl MixturePatterns {
    fn new(variant: SseVariant, references: Mat<f64>, weights: Vec<f64>, codes: Mat<f64>) -> Self {
        let stored = [if variant == SseVariant::Relu { 1.0 } else { 0.0 }];
        Self { variant, stored, references, weights, codes }
    }
}

impl FittedMethod for MixturePatterns {
    fn recognize(&self, instances: Prepared<'_>, candidates: Candidates) -> Result<Recognition> {
        let features = instances.features();
        let dim = self.weights.len();
        if features.nrows() != dim {
            let (origin, what) = ("the features".to_owned(), "dimensions, as in the training features");
            return Err(Error::Mismatch { origin, what, expected: dim, found: features.nrows() });
        }
        let known = self.references.ncols();
        let mut patterns = Mat::<f64>::zeros(known, features.ncols());
        patterns.par_col_iter_mut().enumerate().for_each_init(
            || vec![0.0; dim],
            |wide, (instance, pattern)| {
                vector::widen(vector::column(features, instance), wide);
                for (class, value) in pattern.iter_mut().enumerate() {
                    *value =
                        self.variant.similarity(&self.weights, wide, self.references.col_as_slice(class));
                }
            },
        );
        let range = candidates.range(known, self.codes.ncols() - known);
        let codes = self.codes.subcols(range.start, range.len());
        Ok(Scores { values: product(codes.transpose(), patterns.as_ref()) }.into())
    }
}

impl Stored for MixturePatterns {
    fn tensors(&self) -> Vec<Tensor<'_>> {
        vec![
            Tensor::new("class_references", &self.references),
            Tensor::vector("feature_weights", &self.weights),
            Tensor::new("class_codes", &self.codes),
            Tensor::vector("sse_variant", &self.stored),
        ]
    }

    fn read(file: &SafeTensors<'_>, recorded: &Recorded<'_>, _: &ClassSemantics) -> Result<Self> {
        let (dim, known) = (recorded.views.dim(), recorded.known);
        let references = unpack(file, "class_references", Some(dim), Some(known))?;
        let weights = unpack(file, "feature_weights", Some(dim), Some(1))?.col_as_slice(0).to_vec();
        let codes = unpack(file, "class_codes", Some(known), Some(known + recorded.unseen))?;
        let relu = unpack(file, "sse_variant", Some(1), Some(1))?[(0, 0)] != 0.0;
        let variant = if relu { SseVariant::Relu } else { SseVariant::Intersection };
        Ok(Self::new(variant, references, weights, codes))
    }

    fn changed(&self, change: &Change<'_>) -> Result<Option<Self>> {
        let Method::Sse(sse) = change.method else { return Ok(None) };
        let codes = change.columns(&self.codes, |known, new| {
            simplex::codes(known, new, sse.method.sse_gamma, &Silent)
                .map(Some)
                .map_err(Error::in_stage("codes"))
        })?;
        Ok(codes.map(|codes| Self { codes, ..self.clone() }))
    }
}
