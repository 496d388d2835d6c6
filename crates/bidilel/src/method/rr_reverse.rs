//! Ridge regression from descriptions to features, then the nearest class in the visual space: fewer hubs.
//!
//! With features $X$ (visual dimensions x instances) and the descriptions $S$ of their classes (semantic dimensions x
//! instances), both centered on their means over the instances,
//! $$ V = X S^\top (S S^\top + \rho I)^{-1}, $$
//! and a class is at $V (s_c - \bar s) + \bar x$ in the visual space. Instances enter by the sums over their classes
//! alone, so that a fit costs one pass over the features.
//!
//! Left open by the paper and chosen here: the intercept, unit vectors as descriptions, and $\rho = 1$ unless it is set.
//!
//! # References
//! Y. Shigeto, I. Suzuki, K. Hara, M. Shimbo and Y. Matsumoto, *Ridge regression, hubness, and zero-shot learning*,
//! 2015.

use faer::{Mat, MatRef};
use rayon::prelude::*;
use safetensors::tensor::SafeTensors;
use serde::{Deserialize, Serialize};

use bidilel_math::distance::pairwise;
use bidilel_math::parallel::product;
use bidilel_math::vector::{column, widen};
use bidilel_math::{Observer, linear};

use super::linear::{Sums, require_linear, vectors};
use super::{FittedMethod, ZeroShotMethod};
use crate::bottom_up::scale_rows;
use crate::error::{Error, Result};
use crate::recognize::{Candidates, Recognition, Scores};
use crate::semantic::ClassSemantics;
use crate::settings::{self, Settings};
use crate::stored::{Change, Recorded, Stored, unpack};
use crate::task::{Prepared, Task};
use crate::tensors::Tensor;

/// Instances that are compared with all classes at a time.
const BLOCK_INSTANCES: usize = 256;

/// Settings of reverse ridge regression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RrReverse {
    /// The ridge: $\rho$.
    pub rr_ridge: f64,
}

impl Default for RrReverse {
    fn default() -> Self {
        Self { rr_ridge: 1.0 }
    }
}

/// Classes in the visual space.
#[derive(Debug, Clone, PartialEq)]
pub struct VisualPrototypes {
    /// $V$, visual x semantic dimensions.
    map: Mat<f64>,
    /// The prototype of a class without description: $\bar x - V \bar s$.
    offset: Mat<f64>,
    /// Visual dimensions x known, then unseen classes.
    prototypes: Mat<f64>,
    /// The root of its view's weight for every feature, where there are several views.
    scales: Option<Vec<f64>>,
    known: usize,
}

impl RrReverse {
    pub(crate) fn from_settings(settings: &Settings, _seed: u64) -> Self {
        Self { rr_ridge: settings.rr_ridge.unwrap_or(Self::default().rr_ridge) }
    }
}

impl ZeroShotMethod for RrReverse {
    type Fitted = VisualPrototypes;

    fn fit(&self, task: &Task, watch: &dyn Observer) -> Result<VisualPrototypes> {
        settings::check("rr_ridge", self.rr_ridge)?;
        require_linear(task, "rr-reverse")?;
        let all = vectors(&task.semantics, "method `rr-reverse`")?;
        let known = all.subcols(0, task.known.len());
        watch.stage("scatter");
        let sums = Sums::of(task);
        watch.stage("solve");
        let count: f64 = sums.counts.iter().sum();
        let described = |i: usize| (0..known.ncols()).map(|c| known[(i, c)] * sums.counts[c]).sum::<f64>();
        let mean: Vec<f64> = (0..known.nrows()).map(|i| described(i) / count).collect();
        let centered = Mat::from_fn(known.nrows(), known.ncols(), |i, c| known[(i, c)] - mean[i]);
        // Centered descriptions sum to zero over the instances, so that the features need no centering.
        let (cross, mut gram) = sums.with_semantics(centered.as_ref());
        (0..gram.nrows()).for_each(|i| gram[(i, i)] += self.rr_ridge);
        let map = linear::solve(gram, cross.transpose().to_owned()).map_err(Error::in_stage("solve"))?;
        let map = map.transpose().to_owned();
        let center = product(map.as_ref(), MatRef::from_column_major_slice(&mean, mean.len(), 1));
        let total = sums.total();
        let offset = Mat::from_fn(total.len(), 1, |i, _| total[i] / count - center[(i, 0)]);
        Ok(VisualPrototypes::new(map, offset, all, task.views.scales(), task.known.len()))
    }
}

impl VisualPrototypes {
    fn new(
        map: Mat<f64>,
        offset: Mat<f64>,
        classes: MatRef<'_, f64>,
        scales: Option<Vec<f64>>,
        known: usize,
    ) -> Self {
        let mut prototypes = product(map.as_ref(), classes);
        for class in 0..prototypes.ncols() {
            let column = prototypes.col_as_slice_mut(class).iter_mut();
            column.zip(offset.col_as_slice(0)).for_each(|(value, offset)| *value += offset);
        }
        Self { map, offset, prototypes, scales, known }
    }
}

impl FittedMethod for VisualPrototypes {
    fn recognize(&self, instances: Prepared<'_>, candidates: Candidates) -> Result<Recognition> {
        let features = instances.features();
        let dim = self.prototypes.nrows();
        if features.nrows() != dim {
            let (origin, what) = ("the features".to_owned(), "dimensions, as in the training features");
            return Err(Error::Mismatch { origin, what, expected: dim, found: features.nrows() });
        }
        let range = candidates.range(self.known, self.prototypes.ncols() - self.known);
        let classes = self.prototypes.subcols(range.start, range.len());
        let mut distances = Mat::<f64>::zeros(classes.ncols(), features.ncols());
        distances.as_mut().par_col_chunks_mut(BLOCK_INSTANCES).enumerate().for_each(|(block, mut into)| {
            let mut wide = Mat::<f64>::zeros(dim, into.ncols());
            for i in 0..into.ncols() {
                widen(column(features, block * BLOCK_INSTANCES + i), wide.col_as_slice_mut(i));
            }
            scale_rows(&mut wide, self.scales.as_deref());
            into.copy_from(pairwise(classes, wide.as_ref()));
        });
        Ok(Scores::from_distances(distances).into())
    }
}

impl Stored for VisualPrototypes {
    fn tensors(&self) -> Vec<Tensor<'_>> {
        vec![Tensor::new("visual_from_semantic", &self.map), Tensor::new("visual_offset", &self.offset)]
    }

    fn read(file: &SafeTensors<'_>, recorded: &Recorded<'_>, semantics: &ClassSemantics) -> Result<Self> {
        let classes = vectors(semantics, "method `rr-reverse`")?;
        let map = unpack(file, "visual_from_semantic", Some(recorded.views.dim()), Some(classes.nrows()))?;
        let offset = unpack(file, "visual_offset", Some(recorded.views.dim()), Some(1))?;
        Ok(Self::new(map, offset, classes, recorded.views.scales(), recorded.known))
    }

    fn changed(&self, change: &Change<'_>) -> Result<Option<Self>> {
        let classes = vectors(change.semantics, "method `rr-reverse`")?;
        let (map, offset) = (self.map.clone(), self.offset.clone());
        Ok(Some(Self::new(map, offset, classes, self.scales.clone(), self.known)))
    }
}
