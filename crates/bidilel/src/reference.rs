//! The computations that tests compare with a reference to 1e-10, on features in double precision.
//!
//! Everywhere else features are `f32`. What implements [`crate::ZeroShotMethod`] or
//! [`crate::bottom_up::LatentSpaceLearner`] takes `f64` through the type parameter of the trait; the rest is here.

use faer::{Mat, MatRef};

use bidilel_math::Observer;
use bidilel_math::neighbors::Neighbors;

use crate::error::Result;
use crate::latent_space::LatentSpace;
use crate::pipeline::{Fitted, Pipeline};
use crate::recognize::Recognition;
use crate::task::Prepared;
use crate::visual::{Neighborhood, Search, Views};

/// [`LatentSpace::project`].
pub fn project(space: &LatentSpace, features: MatRef<'_, f64>) -> Result<Mat<f64>> {
    space.project_columns(features)
}

/// [`LatentSpace::project_unnormalized`].
pub fn project_unnormalized(space: &LatentSpace, features: MatRef<'_, f64>) -> Result<Mat<f64>> {
    space.projector().project(features)
}

/// [`Pipeline::recognize`].
pub fn recognize(
    pipeline: &Pipeline,
    fitted: &Fitted,
    instances: Prepared<'_, f64>,
    watch: &dyn Observer,
) -> Result<Recognition> {
    pipeline.recognize_prepared(fitted, instances, watch)
}

/// The features of every view with a positive weight.
pub fn split<'a>(views: &Views, features: MatRef<'a, f64>) -> Vec<MatRef<'a, f64>> {
    views.split(features)
}

/// The `k` nearest neighbors in every view with a positive weight.
pub fn neighbors(
    views: &Views,
    features: MatRef<'_, f64>,
    labels: &[usize],
    how: (Neighborhood, Search),
    k: usize,
    watch: &dyn Observer,
) -> Result<Vec<Neighbors>> {
    views.neighbors(features, labels, how, k, watch)
}
