//! EXEM with one nearest neighbor: the class whose predicted visual exemplar is nearest.
//!
//! Exemplars of all classes are predicted as in `exem`; an instance is projected to the same principal directions and
//! compared with them there, by the Euclidean distance, or with every direction divided by the mean over known classes of
//! the standard deviation within a class.
//!
//! Left open by the paper and chosen here: known classes have predicted exemplars too; a direction along which no class
//! varies has the deviation of the direction with the least that is not zero.
//!
//! # References
//! S. Changpinyo, W.-L. Chao and F. Sha, *Predicting visual exemplars of unseen classes for zero-shot learning*, 2017.

use std::sync::Arc;

use faer::Mat;
use safetensors::tensor::SafeTensors;
use serde::{Deserialize, Serialize};

use bidilel_math::Observer;
use bidilel_math::backend::Projector;

use super::exemplars::ExemplarRegression;
use super::linear::require_linear;
use super::{FittedMethod, ZeroShotMethod};
use crate::bottom_up::scale_rows;
use crate::error::Result;
use crate::latent_space::{LatentSpace, Map};
use crate::recognize::{Candidates, Recognition};
use crate::semantic::ClassSemantics;
use crate::settings::{ExemDistance, Settings};
use crate::stored::{Change, Recorded, Stored, unpack};
use crate::task::{Prepared, Task};
use crate::tensors::Tensor;

/// Settings of EXEM with one nearest neighbor.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExemNearest {
    /// How exemplars are predicted.
    #[serde(flatten)]
    pub exemplars: ExemplarRegression,
    /// How instances are compared with them.
    pub exem_distance: ExemDistance,
}

/// Exemplars of all classes in the space of principal directions.
#[derive(Debug, Clone, PartialEq)]
pub struct VisualExemplars {
    space: LatentSpace,
    /// The map of the space, as it is stored.
    map: Mat<f64>,
    /// Directions x known, then unseen classes.
    exemplars: Mat<f64>,
    known: usize,
}

impl ExemNearest {
    pub(crate) fn from_settings(settings: &Settings, _seed: u64) -> Self {
        Self {
            exemplars: ExemplarRegression::from_settings(settings),
            exem_distance: settings.exem_distance.unwrap_or_default(),
        }
    }
}

impl ZeroShotMethod for ExemNearest {
    type Fitted = VisualExemplars;

    fn fit(&self, task: &Task, watch: &dyn Observer) -> Result<VisualExemplars> {
        self.exemplars.check()?;
        require_linear(task, "exem-1nn")?;
        let found = self.exemplars.fit(task, "method `exem-1nn`", watch)?;
        let (mut map, mut center, mut exemplars) = (found.directions, found.center, found.predicted);
        scale_rows(&mut map, task.views.scales().as_deref());
        if self.exem_distance == ExemDistance::Standardized {
            let points = Projector::new(map.as_ref()).project(task.train.features.as_ref());
            let inverse: Vec<f64> = deviations(&points, &task.train.labels, task.known.len())
                .into_iter()
                .map(|deviation| 1.0 / deviation)
                .collect();
            for (direction, factor) in inverse.iter().enumerate() {
                map.col_as_slice_mut(direction).iter_mut().for_each(|value| *value *= factor);
                center[direction] *= factor;
            }
            scale_rows(&mut exemplars, Some(&inverse));
        }
        Ok(VisualExemplars::new(map, center, exemplars, task.known.len()))
    }
}

/// Per direction, the standard deviation within a class, averaged over classes.
fn deviations(points: &Mat<f64>, labels: &[usize], classes: usize) -> Vec<f64> {
    let (mut sums, mut squares) =
        (Mat::<f64>::zeros(points.nrows(), classes), Mat::<f64>::zeros(points.nrows(), classes));
    let mut counts = vec![0.0; classes];
    for (instance, &label) in labels.iter().enumerate() {
        counts[label] += 1.0;
        let pairs = sums.col_as_slice_mut(label).iter_mut();
        pairs.zip(points.col_as_slice(instance)).for_each(|(sum, value)| *sum += value);
    }
    for (instance, &label) in labels.iter().enumerate() {
        for (i, value) in points.col_as_slice(instance).iter().enumerate() {
            squares[(i, label)] += (value - sums[(i, label)] / counts[label]).powi(2);
        }
    }
    let mean =
        |i: usize| (0..classes).map(|c| (squares[(i, c)] / counts[c]).sqrt()).sum::<f64>() / classes as f64;
    let found: Vec<f64> = (0..points.nrows()).map(mean).collect();
    let least = found.iter().copied().filter(|&value| value > 0.0).fold(f64::INFINITY, f64::min);
    // Where no class varies at all, every direction counts the same.
    let least = if least.is_finite() { least } else { 1.0 };
    found.into_iter().map(|value| value.max(least)).collect()
}

impl VisualExemplars {
    fn new(map: Mat<f64>, mean: Vec<f64>, exemplars: Mat<f64>, known: usize) -> Self {
        Self { space: LatentSpace { map: Map::Linear(map.clone()), mean }, map, exemplars, known }
    }
}

impl FittedMethod for VisualExemplars {
    fn recognize(&self, instances: Prepared<'_>, candidates: Candidates) -> Result<Recognition> {
        let points = self.space.project_unnormalized(instances.features())?;
        let range = candidates.range(self.known, self.exemplars.ncols() - self.known);
        let classes = self.exemplars.subcols(range.start, range.len()).to_owned();
        Ok(Recognition::nearest(Arc::new(points), classes))
    }
}

impl Stored for VisualExemplars {
    fn tensors(&self) -> Vec<Tensor<'_>> {
        vec![
            Tensor::new("exemplar_from_visual", &self.map),
            Tensor::vector("exemplar_offset", &self.space.mean),
            Tensor::new("exemplars", &self.exemplars),
        ]
    }

    fn read(file: &SafeTensors<'_>, recorded: &Recorded<'_>, _: &ClassSemantics) -> Result<Self> {
        let map = unpack(file, "exemplar_from_visual", Some(recorded.views.dim()), None)?;
        let mean = unpack(file, "exemplar_offset", Some(map.ncols()), Some(1))?;
        let all = recorded.known + recorded.unseen;
        let exemplars = unpack(file, "exemplars", Some(map.ncols()), Some(all))?;
        Ok(Self::new(map, mean.col_as_slice(0).to_vec(), exemplars, recorded.known))
    }

    /// New classes would need the regression behind the exemplars, which is not kept.
    fn changed(&self, change: &Change<'_>) -> Result<Option<Self>> {
        let exemplars = change.columns(&self.exemplars, |_, _| Ok(None))?;
        Ok(exemplars.map(|exemplars| Self { exemplars, ..self.clone() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations_are_those_within_classes() {
        // Class 0 at 0 and 2, class 1 at 10 and 16; the second direction does not vary within classes.
        let points = faer::mat![[0.0, 10.0, 2.0, 16.0], [1.0, 3.0, 1.0, 3.0]];
        let found = deviations(&points, &[0, 1, 0, 1], 2);
        assert_eq!(found, [2.0, 2.0]);
    }
}
