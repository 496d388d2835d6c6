//! What methods over linear maps of the features share.

use faer::{Mat, MatRef};

use bidilel_math::parallel::product;
use bidilel_math::scatter::Selected;
use bidilel_math::{Observer, linear, vector};

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
        let cross = product(self.per_class.as_ref(), known.transpose());
        (cross, product(weighted.as_ref(), known.transpose()))
    }

    /// The sums of a regression from features to the descriptions of their classes.
    pub(super) fn regression(
        &self,
        task: &Task,
        known: MatRef<'_, f64>,
        watch: &dyn Observer,
    ) -> Result<Regression> {
        let mut gram = self.gram(task, watch)?;
        let (mut cross, _) = self.with_semantics(known);
        // Centering subtracts the outer products of the sums, over the number of instances.
        let count: f64 = self.counts.iter().sum();
        let total = self.total();
        let described = |i: usize| (0..known.ncols()).map(|c| known[(i, c)] * self.counts[c]).sum::<f64>();
        let described: Vec<f64> = (0..known.nrows()).map(|i| described(i) / count).collect();
        let mean: Vec<f64> = total.iter().map(|value| value / count).collect();
        for (j, share) in mean.iter().enumerate() {
            gram.col_as_slice_mut(j).iter_mut().zip(&total).for_each(|(value, sum)| *value -= share * sum);
        }
        for (j, share) in described.iter().enumerate() {
            cross.col_as_slice_mut(j).iter_mut().zip(&total).for_each(|(value, sum)| *value -= share * sum);
        }
        Ok(Regression { gram, cross, mean, described })
    }
}

/// Sums of a regression from scaled features to descriptions, both centered on their means over the instances.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Regression {
    /// $X X^\top$.
    pub(super) gram: Mat<f64>,
    /// $X T^\top$ for the description of each instance's class.
    pub(super) cross: Mat<f64>,
    /// The mean of the features.
    pub(super) mean: Vec<f64>,
    /// The mean of the descriptions.
    pub(super) described: Vec<f64>,
}

impl Regression {
    /// $W = (X X^\top + \rho I)^{-1} X T^\top$, and $W^\top \bar x$.
    pub(super) fn solve(self, ridge: f64) -> Result<(Mat<f64>, Vec<f64>)> {
        let Self { mut gram, cross, mean, .. } = self;
        (0..gram.nrows()).for_each(|i| gram[(i, i)] += ridge);
        let map = linear::solve(gram, cross).map_err(Error::in_stage("solve"))?;
        let at_mean = at_mean(&map, &mean);
        Ok((map, at_mean))
    }

    /// Descriptions of all classes, around the mean description.
    pub(super) fn centered(&self, classes: MatRef<'_, f64>) -> Mat<f64> {
        Mat::from_fn(classes.nrows(), classes.ncols(), |i, class| classes[(i, class)] - self.described[i])
    }
}

/// $W^\top \bar x$.
pub(super) fn at_mean(map: &Mat<f64>, mean: &[f64]) -> Vec<f64> {
    let column = MatRef::from_column_major_slice(mean, mean.len(), 1);
    product(map.transpose(), column).col_as_slice(0).to_vec()
}
