//! What methods over linear maps of the features share.

use faer::{Mat, MatRef};

use bidilel_math::scatter::Selected;
use bidilel_math::{Observer, vector};

use crate::bottom_up::{scale_both, scale_rows, total_scatter};
use crate::error::{Error, Result, SemanticProblem};
use crate::semantic::ClassSemantics;
use crate::task::Task;

/// Fails where a view has a kernel that no linear map can follow.
pub(super) fn require_linear(task: &Task, method: &'static str) -> Result<()> {
    if task.views.is_linear() {
        return Ok(());
    }
    let expected = format!("linear with method `{method}`").into();
    Err(Error::Setting { setting: "kernel", expected, found: "another kernel".to_owned() })
}

/// Descriptions of all classes as unit vectors, the known ones first.
pub(super) fn vectors<'a>(semantics: &'a ClassSemantics, needed_by: &'static str) -> Result<MatRef<'a, f64>> {
    semantics.vectors().ok_or_else(|| Error::Semantic {
        origin: "the semantic representation".to_owned(),
        problem: SemanticProblem::NoVectors { needed_by },
    })
}

/// The training features with every view scaled by the root of its weight; none where that changes nothing.
pub(super) fn scaled(task: &Task) -> Option<Mat<f32>> {
    let (scales, features) = (task.views.scales()?, &task.train.features);
    #[expect(clippy::cast_possible_truncation, reason = "features are single precision")]
    Some(Mat::from_fn(features.nrows(), features.ncols(), |i, j| features[(i, j)] * scales[i] as f32))
}

/// Sums over the training instances, with every view scaled by the root of its weight.
pub(super) struct Sums {
    scales: Option<Vec<f64>>,
    /// Per class, the sum of its instances: visual dimensions x known classes.
    pub(super) per_class: Mat<f64>,
    /// Instances of every class.
    pub(super) counts: Vec<f64>,
}

impl Sums {
    pub(super) fn of(task: &Task) -> Self {
        let features = task.train.features.as_ref();
        let mut per_class = Mat::<f64>::zeros(features.nrows(), task.known.len());
        let mut counts = vec![0.0; task.known.len()];
        for (instance, &label) in task.train.labels.iter().enumerate() {
            let column = vector::column(features, instance);
            vector::add_scaled(per_class.col_as_slice_mut(label), 1.0, column);
            counts[label] += 1.0;
        }
        let scales = task.views.scales();
        scale_rows(&mut per_class, scales.as_deref());
        Self { scales, per_class, counts }
    }

    /// The sum of all instances.
    pub(super) fn total(&self) -> Vec<f64> {
        let mut total = vec![0.0; self.per_class.nrows()];
        for class in 0..self.per_class.ncols() {
            vector::add_scaled(&mut total, 1.0, self.per_class.col_as_slice(class));
        }
        total
    }

    /// $X X^\top$ of the scaled features.
    pub(super) fn gram(&self, task: &Task, watch: &dyn Observer) -> Result<Mat<f64>> {
        let points = task.train.features.as_ref();
        let rows: Vec<usize> = (0..points.nrows()).collect();
        let compute = || {
            let gram = total_scatter(Selected { points, rows: &rows, center: None }, watch)?;
            // What a cancelled stage returned is not kept for another method.
            Error::unless_cancelled(watch)?;
            Ok(gram)
        };
        let mut gram = Mat::clone(&*task.shared.gram(points, compute)?);
        scale_both(&mut gram, self.scales.as_deref());
        Ok(gram)
    }

    /// A map of scaled features (visual dimensions x anything) as one of the features themselves.
    pub(super) fn unscaled(&self, mut map: Mat<f64>) -> Mat<f64> {
        scale_rows(&mut map, self.scales.as_deref());
        map
    }

    /// $\sum_i x_i s_i^\top$ for the description `$s_i$` of each instance's class, and $\sum_i s_i s_i^\top$.
    pub(super) fn with_semantics(&self, known: MatRef<'_, f64>) -> (Mat<f64>, Mat<f64>) {
        let weighted =
            Mat::from_fn(known.nrows(), known.ncols(), |i, class| known[(i, class)] * self.counts[class]);
        let cross = bidilel_math::parallel::product(self.per_class.as_ref(), known.transpose());
        (cross, bidilel_math::parallel::product(weighted.as_ref(), known.transpose()))
    }
}
