//! The kernel of kernel ridge regression: one per semantic representation, summed.
//!
//! Distances that were precomputed need not be distances of points: those in a tree, or rounded ones, often are not. Their
//! kernel may then have negative eigenvalues, by which the regression would divide by numbers of either sign and as small as
//! it happens. They are cut off: what remains is the nearest kernel that has none, and the kernel values of unseen classes are
//! projected to the eigenvectors that remain, so that equal classes still have equal values.
//!
//! # References
//! Y. Chen, E. Garcia, M. Gupta, A. Rahimi and L. Cazzanti, *Similarity-based classification: concepts and algorithms*, 2009.

use faer::{Mat, MatRef};

use bidilel_math::distance::pairwise;
use bidilel_math::eigen;
use bidilel_math::parallel::product;

use crate::dataset::Metric;
use crate::error::{Error, Result};
use crate::semantic::{ClassSemantics, Representation};

/// Negative eigenvalues that are smaller, relative to the largest, are zeros with rounding errors, and left as they are.
const ROUNDING: f64 = 1e-10;

/// The kernel of the known classes.
pub(super) struct Kernel {
    pub(super) width: f64,
    /// Known x known.
    pub(super) known: Mat<f64>,
    /// Its eigenpairs, largest first.
    pub(super) spectrum: eigen::Eigen,
    /// The eigenvectors that were cut off: known x their number.
    cut: Mat<f64>,
}

impl Kernel {
    pub(super) fn new(squares: &[Squares], width: f64) -> Result<Self> {
        let mut known = sum(squares, width, |one| one.known.as_ref());
        let mut spectrum = eigen::full(known.as_ref(), known.nrows()).map_err(Error::in_stage("krr"))?;
        let bound = -ROUNDING * spectrum.values.first().copied().unwrap_or_default();
        let kept = spectrum.values.iter().take_while(|value| **value >= bound).count();
        let cut = spectrum.vectors.subcols(kept, spectrum.vectors.ncols() - kept).to_owned();
        if cut.ncols() > 0 {
            let negative =
                Mat::from_fn(cut.nrows(), cut.ncols(), |i, k| cut[(i, k)] * spectrum.values[kept + k]);
            known -= product(negative.as_ref(), cut.transpose());
            spectrum.values[kept..].fill(0.0);
        }
        Ok(Self { width, known, spectrum, cut })
    }

    /// The kernel values of the unseen classes with the known ones: known x unseen.
    pub(super) fn unseen(&self, squares: &[Squares]) -> Mat<f64> {
        let mut values = sum(squares, self.width, |one| one.unseen.as_ref());
        if self.cut.ncols() > 0 {
            let within = product(self.cut.transpose(), values.as_ref());
            values -= product(self.cut.as_ref(), within.as_ref());
        }
        values
    }
}

/// Squared distances of one representation over their mean between known classes.
pub(super) struct Squares {
    weight: f64,
    /// Known x known.
    known: Mat<f64>,
    /// Known x unseen.
    unseen: Mat<f64>,
}

impl Squares {
    pub(super) fn of(semantics: &ClassSemantics) -> Vec<Self> {
        semantics.representations.iter().map(|one| Self::new(one, semantics.known)).collect()
    }

    fn new(one: &Representation, known: usize) -> Self {
        let distances = match one.metric {
            Metric::Precomputed => one.values.subrows(0, known).to_owned(),
            Metric::Euclidean | Metric::Cosine => pairwise(one.values.subcols(0, known), one.values.as_ref()),
        };
        let square = |i: usize, j: usize| distances[(i, j)] * distances[(i, j)];
        let pairs = (0..known).flat_map(|i| (0..i).map(move |j| (i, j)));
        let count = (known * known.saturating_sub(1) / 2).max(1) as f64;
        let mean = pairs.map(|(i, j)| square(i, j)).sum::<f64>() / count;
        // Known classes that are all alike have no scale, and need none.
        let mean = if mean > 0.0 { mean } else { 1.0 };
        let unseen = distances.ncols() - known;
        Self {
            weight: one.weight,
            known: Mat::from_fn(known, known, |i, j| square(i, j) / mean),
            unseen: Mat::from_fn(known, unseen, |i, j| square(i, known + j) / mean),
        }
    }
}

/// The weighted sum of the kernels of all representations.
fn sum<'s>(squares: &'s [Squares], width: f64, part: impl Fn(&'s Squares) -> MatRef<'s, f64>) -> Mat<f64> {
    let shape = squares.first().map_or((0, 0), |one| part(one).shape());
    let value = |i: usize, j: usize| {
        squares.iter().map(|one| one.weight * (-width * part(one)[(i, j)]).exp()).sum::<f64>()
    };
    Mat::from_fn(shape.0, shape.1, value)
}
