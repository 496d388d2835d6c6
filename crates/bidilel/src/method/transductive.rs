//! What transductive methods share: they learn from the whole batch of test instances, and are not saved.

use faer::{Mat, MatRef};
use rayon::prelude::*;

use bidilel_math::distance;
use bidilel_math::vector::{column, widen};

use crate::error::{Error, Result};

/// Lets what a transductive method has learned take its place among the fitted methods: a model file never has it, and
/// [`Model::fit`](crate::Model::fit) refuses it before anything is written.
macro_rules! never_stored {
    ($fitted:ty, $name:ident) => {
        impl crate::stored::Stored for $fitted {
            fn tensors(&self) -> Vec<crate::tensors::Tensor<'_>> {
                Vec::new()
            }

            fn read(
                _: &safetensors::tensor::SafeTensors<'_>,
                _: &crate::stored::Recorded<'_>,
                _: &crate::semantic::ClassSemantics,
            ) -> crate::error::Result<Self> {
                Err(crate::error::Error::Transductive { method: super::MethodName::$name })
            }
        }
    };
}

pub(super) use never_stored;

/// Fails unless there are as many features as training instances have.
pub(super) fn require_dim(features: MatRef<'_, f32>, dim: usize) -> Result<()> {
    if features.nrows() == dim {
        return Ok(());
    }
    let (origin, what) = ("the features".to_owned(), "dimensions, as in the training features");
    Err(Error::Mismatch { origin, what, expected: dim, found: features.nrows() })
}

/// Features in double precision, scaled by the roots of their views' weights, minus a mean.
pub(super) fn centered(features: MatRef<'_, f32>, scales: Option<&[f64]>, mean: &[f64]) -> Mat<f64> {
    let mut wide = bidilel_math::parallel::zeros(features.nrows(), features.ncols());
    wide.par_col_iter_mut().enumerate().for_each(|(i, into)| {
        // Always: the matrix was allocated here.
        let Some(into) = into.try_as_col_major_mut() else { return };
        let into = into.as_slice_mut();
        widen(column(features, i), into);
        if let Some(scales) = scales {
            into.iter_mut().zip(scales).for_each(|(value, scale)| *value *= scale);
        }
        into.iter_mut().zip(mean).for_each(|(value, mean)| *value -= mean);
    });
    wide
}

/// Self-training of unit prototypes: each moves halfway to the direction of the mean of its `count` best points.
///
/// `scores` are prototypes x points; sums are taken in the order of the points, ties go to the one that comes first.
pub(super) fn self_trained(
    prototypes: &Mat<f64>,
    points: &Mat<f64>,
    scores: &Mat<f64>,
    count: usize,
) -> Mat<f64> {
    let count = count.min(points.ncols());
    let mut means = Mat::<f64>::zeros(prototypes.nrows(), prototypes.ncols());
    for class in 0..if count == 0 { 0 } else { prototypes.ncols() } {
        let mut order: Vec<usize> = (0..points.ncols()).collect();
        let best_first =
            |&a: &usize, &b: &usize| scores[(class, b)].total_cmp(&scores[(class, a)]).then(a.cmp(&b));
        order.select_nth_unstable_by(count - 1, best_first);
        order.truncate(count);
        order.sort_unstable();
        let mean = means.col_as_slice_mut(class);
        order.iter().for_each(|&i| bidilel_math::vector::add_scaled(mean, 1.0, points.col_as_slice(i)));
    }
    distance::normalize_columns(means.as_mut());
    let mut moved = prototypes + &means;
    distance::normalize_columns(moved.as_mut());
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prototype_moves_halfway_to_its_best_points() {
        let points = faer::mat![[0.0, 1.0, 0.0], [1.0, 0.0, -1.0]];
        let scores = faer::mat![[0.9, 0.1, 0.2]];
        let moved = self_trained(&faer::mat![[1.0], [0.0]], &points, &scores, 1);
        assert!((moved - faer::mat![[0.5_f64.sqrt()], [0.5_f64.sqrt()]]).norm_max() < 1e-12);
        let stays = self_trained(&faer::mat![[1.0], [0.0]], &points, &scores, 0);
        assert_eq!(stays, faer::mat![[1.0], [0.0]]);
    }

    #[test]
    fn features_are_scaled_before_their_mean_is_subtracted() {
        let features = faer::mat![[1.0_f32, 2.0], [3.0, 4.0]];
        let found = centered(features.as_ref(), Some(&[2.0, 1.0]), &[1.0, 3.0]);
        assert_eq!(found, faer::mat![[1.0, 3.0], [0.0, 1.0]]);
        assert!(require_dim(features.as_ref(), 3).is_err());
    }
}
