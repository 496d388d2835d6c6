//! SynC: classifiers of all classes, synthesized from base classifiers of phantom classes.
//!
//! Phantom class $r$ has a description $b_r$ and a base classifier $v_r$; the classifier of any class, known or unseen, is
//! `$$ w_c = \sum_r s_{cr} v_r, \qquad
//!    s_{cr} = \frac{\exp(-\|s_c - b_r\|^2 / 2 \sigma^2)}{\sum_{r'} \exp(-\|s_c - b_{r'}\|^2 / 2 \sigma^2)}, $$`
//! and a class scores $w_c^\top x$. The base classifiers minimize, over the training instances,
//! `$$ \sum_i \ell(w_1^\top x_i, \dots, w_K^\top x_i;\, y_i) + \tfrac\lambda2 \sum_c \|w_c\|^2 $$`
//! with the squared hinge of one class versus the others, the margin of Crammer and Singer, or the structured loss, whose
//! margin between two classes is the distance of their descriptions ([`bidilel_math::svm`]).
//!
//! The phantom classes have the descriptions of the known classes. With $G$ the Gaussian kernel between these and $D$ its
//! row sums, $W = V G D^{-1}$: where $G$ is regular the loss is minimized over $W$ itself, which is a support vector machine,
//! and $V = W D G^{-1}$. Directions in which $G$ all but vanishes are left out of both: $W$ keeps to the others.
//!
//! Left open by the paper and chosen here: $\sigma^2$ is relative to the mean squared distance between known classes, and
//! so is the structured margin to their mean distance; there is no intercept.
//!
//! # References
//! S. Changpinyo, W.-L. Chao, B. Gong and F. Sha, *Synthesized classifiers for zero-shot learning*, 2016.

use faer::{Mat, MatRef};
use safetensors::tensor::SafeTensors;
use serde::{Deserialize, Serialize};

use bidilel_math::distance::pairwise;
use bidilel_math::logistic::softmax;
use bidilel_math::parallel::product;
use bidilel_math::svm::{self, Classes, Machines};
use bidilel_math::{Observer, eigen};

use super::linear::{Sums, require_linear, scaled, vectors};
use super::{FittedMethod, Method, ZeroShotMethod};
use crate::error::{Error, Result};
use crate::latent_space::{LatentSpace, Map};
use crate::recognize::{Candidates, Recognition, Scores};
use crate::semantic::ClassSemantics;
use crate::settings::{self, Settings, SyncLoss};
use crate::stored::{Change, Recorded, Stored, unpack};
use crate::task::{Prepared, Task};
use crate::tensors::Tensor;
use crate::top_down::joined;

/// The name of the classifiers in a model file.
const TENSOR: &str = "classifiers";
/// Eigenvalues of the kernel between known classes below this share of the largest count as zero.
const RANK_TOLERANCE: f64 = 1e-8;
/// Gradient at which one versus other stops, relative to the loss of zero weights: the objective is right to about 1e-5.
const TOLERANCE: f64 = 1e-7;

/// Settings of SynC.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SynC {
    /// The loss.
    pub sync_loss: SyncLoss,
    /// The regularizer: $\lambda$.
    pub sync_lambda: f64,
    /// $\sigma^2$, relative to the mean squared distance between known classes.
    pub sync_width: f64,
}

impl Default for SynC {
    fn default() -> Self {
        Self { sync_loss: SyncLoss::OneVersusOther, sync_lambda: 10.0, sync_width: 1.0 }
    }
}

/// Linear classifiers of all classes.
#[derive(Debug, Clone, PartialEq)]
pub struct SynthesizedClassifiers {
    /// Visual dimensions x known, then unseen classes, as a map from features to scores.
    classifiers: LatentSpace,
    /// The same, as it is stored.
    weights: Mat<f64>,
    known: usize,
}

impl SynC {
    pub(crate) fn from_settings(settings: &Settings, _seed: u64) -> Self {
        let default = Self::default();
        Self {
            sync_loss: settings.sync_loss.unwrap_or(default.sync_loss),
            sync_lambda: settings.sync_lambda.unwrap_or(default.sync_lambda),
            sync_width: settings.sync_width.unwrap_or(default.sync_width),
        }
    }

    /// Fails where a setting is out of its range.
    pub(super) fn check(&self) -> Result<()> {
        settings::check("sync_lambda", self.sync_lambda)?;
        settings::check("sync_width", self.sync_width)
    }

    /// Learns classifiers with these descriptions of known, then unseen classes.
    pub(super) fn fit_described(
        &self,
        task: &Task,
        described: MatRef<'_, f64>,
        watch: &dyn Observer,
    ) -> Result<SynthesizedClassifiers> {
        let synthesis = Synthesis::new(described, task.known.len(), self.sync_width)?;
        let classes = Classes {
            labels: &task.train.labels,
            count: task.known.len(),
            basis: synthesis.basis.as_ref().map(Mat::as_ref),
        };
        let features = scaled(task);
        let features = features.as_ref().unwrap_or(&task.train.features).as_ref();
        let sums = Sums::of(task);
        let machines = match self.sync_loss {
            SyncLoss::OneVersusOther => {
                watch.stage("scatter");
                let gram = sums.gram(task, watch)?;
                watch.stage("svm");
                svm::one_versus_other(features, classes, gram, self.sync_lambda, TOLERANCE, watch)
            }
            SyncLoss::CrammerSinger | SyncLoss::Structured => {
                watch.stage("svm");
                let margins = self.margins(described.subcols(0, task.known.len()));
                svm::multiclass(features, classes, margins.as_ref(), self.sync_lambda, watch)
            }
        };
        let Machines { weights, converged } = machines.map_err(Error::in_stage("svm"))?;
        if !converged {
            watch.note("the support vector machines were stopped at their iteration limit");
        }
        let unseen = product(weights.as_ref(), synthesis.unseen.as_ref());
        let (known, all) = (task.known.len(), weights.ncols() + unseen.ncols());
        let weights = Mat::from_fn(weights.nrows(), all, |i, class| {
            if class < known { weights[(i, class)] } else { unseen[(i, class - known)] }
        });
        Ok(SynthesizedClassifiers::new(sums.unscaled(weights), known))
    }

    /// $\Delta$ between known classes.
    fn margins(&self, known: MatRef<'_, f64>) -> Mat<f64> {
        if self.sync_loss == SyncLoss::CrammerSinger {
            return Mat::from_fn(known.ncols(), known.ncols(), |i, j| if i == j { 0.0 } else { 1.0 });
        }
        let mut distances = pairwise(known, known);
        let mean = mean_over_pairs(&distances, |distance| distance);
        for class in 0..distances.ncols() {
            distances.col_as_slice_mut(class).iter_mut().for_each(|distance| *distance /= mean);
        }
        distances
    }
}

/// How the classifiers of unseen classes follow from those of known ones.
struct Synthesis {
    /// Orthonormal basis of the rows that $W$ can have, where that is not all of them.
    basis: Option<Mat<f64>>,
    /// The classifiers of unseen classes are $W$ times this: known x unseen classes.
    unseen: Mat<f64>,
}

impl Synthesis {
    fn new(described: MatRef<'_, f64>, known: usize, width: f64) -> Result<Self> {
        let distances = pairwise(described.subcols(0, known), described);
        let between = distances.subcols(0, known).to_owned();
        let scale = 0.5 / (width * mean_over_pairs(&between, |distance| distance * distance));
        let kernel = Mat::from_fn(known, known, |i, j| (-scale * between[(i, j)].powi(2)).exp());
        let sums: Vec<f64> = (0..known).map(|j| kernel.col_as_slice(j).iter().sum()).collect();
        let found = eigen::full(kernel.as_ref(), known).map_err(Error::in_stage("eigen"))?;
        let rank = found.values.iter().filter(|&&value| value > RANK_TOLERANCE * found.values[0]).count();
        let vectors = found.vectors.subcols(0, rank);
        let basis = (rank < known).then(|| {
            let mut basis = Mat::from_fn(known, rank, |i, j| vectors[(i, j)] / sums[i]);
            eigen::gram_schmidt(&mut basis);
            basis
        });
        let mut shares =
            Mat::from_fn(known, described.ncols() - known, |r, c| -scale * distances[(r, known + c)].powi(2));
        (0..shares.ncols()).for_each(|class| {
            softmax(shares.col_as_slice_mut(class));
        });
        // D G^-1 of the shares.
        let rotated = product(vectors.transpose(), shares.as_ref());
        let divided = Mat::from_fn(rank, rotated.ncols(), |i, j| rotated[(i, j)] / found.values[i]);
        let mut unseen = product(vectors, divided.as_ref());
        for class in 0..unseen.ncols() {
            unseen.col_as_slice_mut(class).iter_mut().zip(&sums).for_each(|(value, sum)| *value *= sum);
        }
        Ok(Self { basis, unseen })
    }
}

/// The mean over pairs of different classes; 1 where there is none, or where they are all alike.
fn mean_over_pairs(distances: &Mat<f64>, of: impl Fn(f64) -> f64) -> f64 {
    let count = distances.ncols();
    let sum: f64 = (0..count).flat_map(|j| (0..j).map(move |i| (i, j))).map(|at| of(distances[at])).sum();
    if sum > 0.0 { sum / (count * (count - 1) / 2) as f64 } else { 1.0 }
}

impl ZeroShotMethod for SynC {
    type Fitted = SynthesizedClassifiers;

    fn fit(&self, task: &Task, watch: &dyn Observer) -> Result<SynthesizedClassifiers> {
        self.check()?;
        require_linear(task, "sync")?;
        self.fit_described(task, vectors(&task.semantics, "method `sync`")?, watch)
    }
}

impl SynthesizedClassifiers {
    fn new(weights: Mat<f64>, known: usize) -> Self {
        let mean = vec![0.0; weights.ncols()];
        Self { classifiers: LatentSpace { map: Map::Linear(weights.clone()), mean }, weights, known }
    }
}

impl FittedMethod for SynthesizedClassifiers {
    fn recognize(&self, instances: Prepared<'_>, candidates: Candidates) -> Result<Recognition> {
        let all = self.classifiers.project_unnormalized(instances.features())?;
        let range = candidates.range(self.known, all.nrows() - self.known);
        Ok(Scores { values: all.subrows(range.start, range.len()).to_owned() }.into())
    }
}

impl Stored for SynthesizedClassifiers {
    fn tensors(&self) -> Vec<Tensor<'_>> {
        vec![Tensor::new(TENSOR, &self.weights)]
    }

    fn read(file: &SafeTensors<'_>, recorded: &Recorded<'_>, _: &ClassSemantics) -> Result<Self> {
        let all = recorded.known + recorded.unseen;
        let weights = unpack(file, TENSOR, Some(recorded.views.dim()), Some(all))?;
        Ok(Self::new(weights, recorded.known))
    }

    /// New classes are synthesized from the descriptions that were given; those of `exem` are predicted, and what
    /// predicts them is not kept.
    fn changed(&self, change: &Change<'_>) -> Result<Option<Self>> {
        let width = if let Method::Sync(sync) = change.method { Some(sync.method.sync_width) } else { None };
        let weights = change.columns(&self.weights, |known, new| {
            let Some(width) = width else { return Ok(None) };
            let synthesis = Synthesis::new(joined(known, new).as_ref(), self.known, width)?;
            Ok(Some(product(self.weights.subcols(0, self.known), synthesis.unseen.as_ref())))
        })?;
        Ok(weights.map(|weights| Self::new(weights, self.known)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described() -> Mat<f64> {
        Mat::from_fn(3, 7, |i, j| ((i * 7 + j * 5) as f64).sin())
    }

    /// The definition: base classifiers whose known combinations are given, combined for all classes.
    #[test]
    fn unseen_classifiers_are_the_combinations_of_the_base_classifiers_behind_the_known_ones() {
        let (all, known, width) = (described(), 5, 0.3);
        let distances = pairwise(all.subcols(0, known), all.as_ref());
        let between = distances.subcols(0, known).to_owned();
        let scale = 0.5 / (width * mean_over_pairs(&between, |d| d * d));
        let shares = Mat::from_fn(known, 7, |r, c| {
            let sum: f64 = (0..known).map(|other| (-scale * distances[(other, c)].powi(2)).exp()).sum();
            (-scale * distances[(r, c)].powi(2)).exp() / sum
        });
        let base = Mat::from_fn(4, known, |i, j| ((i * 3 + j) as f64).cos());
        let synthesized = &base * &shares;
        let found = Synthesis::new(all.as_ref(), known, width).expect("a kernel");
        assert!(found.basis.is_none());
        let unseen = synthesized.subcols(0, known) * &found.unseen;
        assert!((unseen - synthesized.subcols(known, 2)).norm_max() < 1e-9);
    }

    #[test]
    fn classes_that_are_described_alike_have_one_classifier() {
        let all = described();
        // Class 1 as class 0, and the first unseen class as both.
        let all = Mat::from_fn(3, 7, |i, j| all[(i, if j == 1 || j == 5 { 0 } else { j })]);
        let found = Synthesis::new(all.as_ref(), 5, 0.3).expect("a kernel");
        let basis = found.basis.expect("a coupling");
        assert_eq!(basis.ncols(), 4);
        let coupled = &basis * basis.transpose();
        assert!((coupled.col(0) - coupled.col(1)).norm_max() < 1e-9);
        let unseen = coupled * found.unseen.col(0);
        let weights = Mat::from_fn(1, 5, |_, j| [2.0, 2.0, -1.0, 0.5, 1.0][j]);
        let value: f64 = (0..5).map(|j| weights[(0, j)] * unseen[j]).sum();
        assert!((value - 2.0).abs() < 1e-6, "{value}");
    }
}
