//! The known classes' places in the latent space, by which the unseen ones are placed.
//!
//! $b^l_i = \frac{1}{n_i} \sum_{z^l_j = i} \hat y^l_j$, then divided by its own norm (Wang & Chen 2017,
//! eq. 6).

use faer::Mat;
use rayon::prelude::*;

use bidilel_math::{Columns, Scalar, distance};

use crate::error::Result;
use crate::latent_space::LatentSpace;

/// Instances that are projected at a time, so that a large training set is never held in the latent space.
const BLOCK: usize = 480;

/// The landmarks: unit vectors, one column a known class.
#[derive(Debug, Clone, PartialEq)]
pub struct Landmarks {
    /// $B^l$, latent dimensions x known classes.
    pub points: Mat<f64>,
}

impl Landmarks {
    /// Normalised class means of projected training instances.
    pub fn of<'a, T: Scalar>(
        space: &LatentSpace,
        features: impl Into<Columns<'a, T>>,
        labels: &[usize],
        classes: usize,
    ) -> Result<Self> {
        let mut all = Self::of_prefixes(space, features, labels, classes, &[space.dim()])?;
        Ok(all.swap_remove(0))
    }

    /// The landmarks in the leading `dims` dimensions (ascending), for each of them, from one projection.
    pub fn of_prefixes<'a, T: Scalar>(
        space: &LatentSpace,
        features: impl Into<Columns<'a, T>>,
        labels: &[usize],
        classes: usize,
        dims: &[usize],
    ) -> Result<Vec<Self>> {
        let features = features.into();
        let mut all: Vec<Mat<f64>> = dims.iter().map(|&dim| Mat::zeros(dim, classes)).collect();
        let placer = space.placer();
        for first in (0..features.ncols()).step_by(BLOCK) {
            let count = BLOCK.min(features.ncols() - first);
            let placed = placer.place(features.part(first, count))?;
            all.par_iter_mut().for_each(|points| {
                for (column, &label) in (0..count).map(|i| placed.col_as_slice(i)).zip(&labels[first..]) {
                    let column = &column[..points.nrows()];
                    let norm = distance::norm(column);
                    if norm > 0.0 {
                        let sums = points.col_as_slice_mut(label);
                        sums.iter_mut().zip(column).for_each(|(sum, value)| *sum += value / norm);
                    }
                }
            });
        }
        // Dividing by the count first would change nothing: only the direction stays.
        let unit = |mut points: Mat<f64>| {
            distance::normalize_columns(points.as_mut());
            Self { points }
        };
        Ok(all.into_iter().map(unit).collect())
    }
}
