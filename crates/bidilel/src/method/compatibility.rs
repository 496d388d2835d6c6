//! Bilinear compatibilities that are learned by ranking: what `devise`, `ale`, `sje` and `latem` share.
//!
//! The score of class $c$ for an instance $x$ is `$\max_k (x - \bar x)^\top W_k s_c$` with the mean $\bar x$ of the
//! training instances; all but `latem` have one map. `bidilel_math::ranking` learns the maps, from losses that the
//! methods name.
//!
//! Left open by the papers and chosen here, for all four: unit vectors as descriptions, several stacked, each times the
//! root of its weight, and so are several views; centered features (the mean, which all instances share, would
//! dominate the first steps); a margin of 1; mini-batches, and a step that falls linearly to zero. The papers stop early:
//! how many epochs and which step is chosen by tuning on held-out classes.

use faer::{Mat, MatRef};
use safetensors::tensor::SafeTensors;

use bidilel_math::parallel::product;
use bidilel_math::ranking::{Bilinear, Ranked, Ranking};
use bidilel_math::{Observer, Scalar};

use super::FittedMethod;
use super::linear::{require_linear, vectors};
use crate::error::{Error, ModelProblem, Result, SemanticProblem};
use crate::latent_space::{LatentSpace, Map};
use crate::recognize::{Candidates, Recognition, Scores};
use crate::semantic::ClassSemantics;
use crate::settings;
use crate::stored::{Change, Recorded, Stored, unpack};
use crate::task::{Prepared, Task, Training};
use crate::tensors::Tensor;

/// The first step of an instance unless it is set.
pub(super) const RATE: f64 = 0.1;
/// Passes over the training instances unless they are set.
pub(super) const EPOCHS: usize = 10;
/// The name of the maps in a model file, next to each other.
const MAPS: &str = "compatibility";
/// The name of the mean of the training instances.
const MEAN: &str = "visual_mean";

/// What the four methods learn.
#[derive(Debug, Clone, PartialEq)]
pub struct Rankings {
    /// `$W_k$` next to each other: visual x (maps x semantic dimensions).
    maps: Mat<f64>,
    /// $\bar x$.
    mean: Vec<f64>,
    /// `$W_k S$` for known, then unseen classes, of one map after the other: a linear map from features to scores.
    classifiers: LatentSpace,
    known: usize,
    unseen: usize,
}

/// Learns maps from the known classes of a task.
pub(super) fn fit(
    task: &Task,
    ranking: &Ranking,
    method: &'static str,
    needed_by: &'static str,
    watch: &dyn Observer,
) -> Result<Rankings> {
    require_linear(task, method)?;
    let vectors = vectors(&task.semantics, needed_by)?;
    let Bilinear { maps, mean, .. } = learn(&task.training(), ranking, needed_by, watch)?;
    let dim = vectors.nrows();
    let side_by_side = Mat::from_fn(mean.len(), maps.len() * dim, |i, j| maps[j / dim][(i, j % dim)]);
    Ok(Rankings::new(side_by_side, mean, vectors, task.known.len()))
}

/// Learns maps from training instances, for methods and for learners of latent spaces.
pub(crate) fn learn<T: Scalar>(
    training: &Training<'_, T>,
    ranking: &Ranking,
    needed_by: &'static str,
    watch: &dyn Observer,
) -> Result<Bilinear> {
    settings::check("sgd_rate", ranking.rate)?;
    settings::check("sgd_epochs", ranking.epochs as f64)?;
    settings::check("latem_maps", ranking.maps as f64)?;
    let origin = || "the semantic representation".to_owned();
    let Some(classes) = training.semantics else {
        return Err(Error::Semantic { origin: origin(), problem: SemanticProblem::NoVectors { needed_by } });
    };
    let alike = |class: usize| (classes.col(class) - classes.col(0)).norm_max() < ALIKE;
    if (0..classes.ncols()).all(alike) {
        return Err(Error::Semantic { origin: origin(), problem: SemanticProblem::AllAlike });
    }
    watch.stage("descent");
    let scales = training.views.scales();
    let data =
        Ranked { instances: training.features, scales: scales.as_deref(), labels: training.labels, classes };
    ranking.fit(data, watch).map_err(Error::in_stage("descent"))
}

/// Unit vectors that agree to rounding are the same.
const ALIKE: f64 = 1e-9;

impl Rankings {
    fn new(maps: Mat<f64>, mean: Vec<f64>, vectors: MatRef<'_, f64>, known: usize) -> Self {
        let (dim, classes) = vectors.shape();
        let count = maps.ncols() / dim;
        let mut all = Mat::zeros(maps.nrows(), count * classes);
        for map in 0..count {
            let own = product(maps.subcols(map * dim, dim), vectors);
            all.as_mut().subcols_mut(map * classes, classes).copy_from(&own);
        }
        let classifiers = LatentSpace::around(Map::Linear(all), mean.clone());
        Self { maps, mean, classifiers, known, unseen: classes - known }
    }
}

impl FittedMethod for Rankings {
    fn recognize(&self, instances: Prepared<'_>, candidates: Candidates) -> Result<Recognition> {
        let all = self.classifiers.project_unnormalized(instances.features())?;
        let (classes, range) = (self.known + self.unseen, candidates.range(self.known, self.unseen));
        let best = |class: usize, j: usize| {
            (0..all.nrows() / classes)
                .map(|map| all[(map * classes + class, j)])
                .fold(f64::NEG_INFINITY, f64::max)
        };
        let values = Mat::from_fn(range.len(), all.ncols(), |i, j| best(range.start + i, j));
        Ok(Scores { values }.into())
    }
}

impl Stored for Rankings {
    fn tensors(&self) -> Vec<Tensor<'_>> {
        vec![Tensor::new(MAPS, &self.maps), Tensor::vector(MEAN, &self.mean)]
    }

    fn read(file: &SafeTensors<'_>, recorded: &Recorded<'_>, semantics: &ClassSemantics) -> Result<Self> {
        let vectors = vectors(semantics, "this method")?;
        let maps = unpack(file, MAPS, Some(recorded.views.dim()), None)?;
        if maps.ncols() == 0 || !maps.ncols().is_multiple_of(vectors.nrows()) {
            return Err(ModelProblem::Without { what: "map of the semantic dimensions" }.into());
        }
        let mean = unpack(file, MEAN, Some(recorded.views.dim()), Some(1))?;
        Ok(Self::new(maps, mean.col_as_slice(0).to_vec(), vectors, recorded.known))
    }

    fn changed(&self, change: &Change<'_>) -> Result<Option<Self>> {
        let vectors = vectors(change.semantics, "this method")?;
        Ok(Some(Self::new(self.maps.clone(), self.mean.clone(), vectors, self.known)))
    }
}
