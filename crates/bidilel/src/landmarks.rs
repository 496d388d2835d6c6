//! The known classes' places in the latent space, by which the unseen ones are placed.
//!
//! $b^l_i = \frac{1}{n_i} \sum_{z^l_j = i} \hat y^l_j$, then divided by its own norm (Wang & Chen 2017,
//! eq. 6).

use faer::{Mat, MatRef};

use bidilel_math::{Scalar, distance};

use crate::error::Result;
use crate::latent_space::LatentSpace;

/// Instances that are projected at a time, so that a large training set is never held in the latent space.
const BLOCK: usize = 4096;

/// The landmarks: unit vectors, one column a known class.
#[derive(Debug, Clone, PartialEq)]
pub struct Landmarks {
    /// $B^l$, latent dimensions x known classes.
    pub points: Mat<f64>,
}

impl Landmarks {
    /// Normalised class means of projected training instances.
    pub fn of<T: Scalar>(
        space: &LatentSpace,
        features: MatRef<'_, T>,
        labels: &[usize],
        classes: usize,
    ) -> Result<Self> {
        let mut points = Mat::<f64>::zeros(space.dim(), classes);
        for first in (0..features.ncols()).step_by(BLOCK) {
            let count = BLOCK.min(features.ncols() - first);
            let projected = space.project(features.subcols(first, count))?;
            for (column, &label) in projected.col_iter().zip(&labels[first..]) {
                points.col_mut(label).iter_mut().zip(column.iter()).for_each(|(sum, value)| *sum += value);
            }
        }
        // Dividing by the count first would change nothing: only the direction stays.
        distance::normalize_columns(points.as_mut());
        Ok(Self { points })
    }
}
