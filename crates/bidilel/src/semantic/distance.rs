//! Distances between classes, from known to unseen and among the unseen: $\Delta$.

use faer::Mat;

use bidilel_math::distance::pairwise;
use bidilel_math::parallel::product;
use bidilel_math::symmetric::Symmetric;
use bidilel_math::vector::add_scaled;

use super::Representation;
use crate::dataset::Metric;

/// Unseen classes whose distances are computed at a time.
const BLOCK_CLASSES: usize = 256;

/// Semantic distances that the top-down stage follows.
#[derive(Debug, Clone, PartialEq)]
pub struct SemanticDistances {
    /// $\delta(s^l_i, s^u_j)$: known x unseen.
    pub known_unseen: Mat<f64>,
    /// $\delta(s^u_i, s^u_j)$: unseen x unseen, zero on the diagonal.
    pub unseen_unseen: Symmetric,
}

impl SemanticDistances {
    /// The weighted sum of every representation's distances.
    pub fn combine(representations: &[Representation], known: usize) -> Self {
        let classes = representations.first().map_or(known, |one| one.values.ncols());
        let unseen = classes - known;
        let mut sum =
            Self { known_unseen: Mat::zeros(known, unseen), unseen_unseen: Symmetric::zeros(unseen) };
        for one in representations {
            sum.add(one, known);
        }
        sum
    }

    /// Adds one representation's distances, block by block of unseen classes.
    fn add(&mut self, one: &Representation, known: usize) {
        self.add_from(one, known, 0);
    }

    /// Adds one representation's distances of the unseen classes from `start` on, to all classes before them.
    pub(super) fn add_from(&mut self, one: &Representation, known: usize, start: usize) {
        let unseen = one.values.ncols() - known;
        for first in (start..unseen).step_by(BLOCK_CLASSES) {
            let count = BLOCK_CLASSES.min(unseen - first);
            // Known classes, and of the unseen ones those that come before the end of the block.
            let block = one.block(known + first, count);
            for j in first..first + count {
                let (to_known, among) = block.col_as_slice(j - first).split_at(known);
                add_scaled(self.known_unseen.col_as_slice_mut(j), one.weight, to_known);
                add_scaled(self.unseen_unseen.above_mut(j), one.weight, &among[..j]);
            }
        }
    }
}

impl Representation {
    /// Distances from all classes that come before the end of a block to the classes of the block.
    fn block(&self, first: usize, count: usize) -> Mat<f64> {
        let (before, own) = (self.values.subcols(0, first + count), self.values.subcols(first, count));
        match self.metric {
            Metric::Precomputed => self.values.submatrix(0, first, first + count, count).to_owned(),
            Metric::Euclidean => pairwise(before, own),
            Metric::Cosine => {
                // Clamped, since rounding may bring them below zero.
                let mut similarity = product(before.transpose(), own);
                for column in similarity.as_mut().col_iter_mut() {
                    column.iter_mut().for_each(|value| *value = (1.0 - *value).max(0.0));
                }
                similarity
            }
        }
    }
}
