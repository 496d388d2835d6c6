//! From sets of local descriptors to one feature row per item: Fisher vectors and bags of features.
//!
//! A video or picture (an *item*) comes as any number of local descriptors, such as the HOG, HOF and MBH of
//! its trajectories. An [`Encoder`] is learned from a sample of the descriptors of all items:
//!
//! 1. PCA to half the dimensions ([`settings::Reduction`]);
//! 2. a mixture of Gaussians, or the words of k-means ([`Codebook`]);
//! 3. for every item a vector of how its descriptors differ from the mixture ([`fisher`]), or of how many
//!    fall to each word ([`bag`]), then a power and a norm ([`normalize`]);
//! 4. if asked for, PCA of these vectors.
//!
//! Everything is read in blocks: memory depends on the sample and on the dimensions of a feature row, and not on the
//! number of descriptors.
//!
//! ```
//! use bidilel::{Error, Mat, Silent, encode::{Empty, Encoder, Method, Settings}};
//!
//! // Three items with 40, 60 and 50 descriptors of four dimensions, one column each.
//! let item = |count| Mat::<f32>::from_fn(4, count, |i, j| ((i + 1) as f32 * (j * j) as f32).sin());
//! let items = [40, 60, 50].map(item).to_vec();
//! let settings = Settings { components: 2, ..Settings::new(Method::Fisher) };
//! let encoder = Encoder::fit(&items, &settings, &Silent)?;
//! // PCA to two dimensions, two components, means and deviations.
//! assert_eq!(encoder.dim(), 2 * 2 * 2);
//! encoder.encode(&items, Empty::Refuse, &Silent, |rows| {
//!     assert_eq!(rows.shape(), (8, 3));
//!     Ok::<(), Error>(())
//! })?;
//! # Ok::<(), Error>(())
//! ```
//!
//! # References
//! F. Perronnin, J. Sánchez and T. Mensink, *Improving the Fisher kernel for large-scale image classification*,
//! 2010. H. Wang and C. Schmid, *Action recognition with improved trajectories*, 2013.

pub mod bag;
pub mod file;
pub mod fisher;
mod fit;
pub mod items;
pub mod normalize;
mod sample;
pub mod settings;

use faer::{ColMut, Mat, MatRef};
use rayon::prelude::*;

use bidilel_math::mixture::{Expectation, Mixture};
use bidilel_math::pca::{self, ColumnSource, Projection};
use bidilel_math::{Observer, Scalar};

use crate::dataset::Rows;
use crate::error::{Error, Result};
pub use file::Header;
pub use items::{AnyError, Items};
pub use normalize::Norm;
pub use settings::{Method, Reduction, Settings};

/// Descriptors of an item that are read and assigned at a time.
const BLOCK_DESCRIPTORS: usize = 1024;
/// Items per batch: those that are encoded, reduced and passed on together.
pub const BATCH_ITEMS: usize = 128;

/// What descriptors are compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum Codebook {
    /// The mixture of Fisher vectors.
    Mixture(Mixture),
    /// The words of a bag of features, dimensions x words.
    Words(Mat<f64>),
}

/// A learned encoder: all that encoding needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoder {
    /// What it is and how it was learned.
    pub header: Header,
    /// Reduces descriptors; none where they are used as they are.
    pub projection: Option<Projection>,
    /// What they are compared with.
    pub codebook: Codebook,
    /// Reduces feature rows; none where they are used as they are.
    pub reduction: Option<Projection>,
}

/// What to do with an item that has no descriptors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Empty {
    /// Fail.
    Refuse,
    /// Give it a row of zeros.
    Zero,
}

impl Encoder {
    /// Learns projection and codebook from a sample of the descriptors; the reduction of feature rows comes later.
    pub fn fit(items: &dyn Items, settings: &Settings, watch: &dyn Observer) -> Result<Self> {
        fit::fit(items, settings, watch)
    }

    /// Learns the reduction of feature rows from those of [`encode`](Self::encode).
    ///
    /// At most as many dimensions are kept as the rows have: [`Self::dim`] says how many.
    pub fn fit_reduction<C: ColumnSource<Error = AnyError>>(
        &mut self,
        rows: &C,
        dim: usize,
        method: Option<pca::Method>,
        watch: &dyn Observer,
    ) -> Result<()> {
        fit::reduction(self, rows, dim, method, watch)
    }

    /// Features of a row before it is reduced.
    pub fn raw_dim(&self) -> usize {
        match &self.codebook {
            Codebook::Mixture(mixture) => 2 * mixture.dim() * mixture.count(),
            Codebook::Words(words) => words.ncols(),
        }
    }

    /// Features of a row.
    pub fn dim(&self) -> usize {
        self.reduction.as_ref().map_or(self.raw_dim(), |reduction| reduction.directions.ncols())
    }

    /// Passes on the feature rows of all items, not yet reduced: features x items, [`BATCH_ITEMS`] items at a time.
    pub fn encode<E: From<Error>>(
        &self,
        items: &dyn Items,
        empty: Empty,
        watch: &dyn Observer,
        mut take: impl FnMut(MatRef<'_, f32>) -> Result<(), E>,
    ) -> Result<(), E> {
        let expected = self.header.descriptor_dim;
        // Items without any descriptor have no dimensions.
        if items.dim() > 0 && items.dim() != expected {
            return Err(Error::Mismatch {
                origin: items.origin(0),
                what: "dimensions, as in the descriptors of the encoder",
                expected,
                found: items.dim(),
            }
            .into());
        }
        let assigner = Assigner::of(&self.codebook);
        let batches = items.count().div_ceil(BATCH_ITEMS);
        for batch in 0..batches {
            let first = batch * BATCH_ITEMS;
            let mut rows = Mat::<f32>::zeros(self.raw_dim(), BATCH_ITEMS.min(items.count() - first));
            let outcomes: Vec<Result<()>> = rows
                .par_col_iter_mut()
                .enumerate()
                .map(|(i, row)| self.encode_item(&assigner, items, first + i, empty, contiguous(row)))
                .collect();
            outcomes.into_iter().collect::<Result<()>>()?;
            take(rows.as_ref())?;
            watch.progress(batch + 1, batches);
        }
        Ok(())
    }

    /// Reduces feature rows of [`encode`](Self::encode), features x items.
    pub fn reduce(&self, rows: MatRef<'_, f32>) -> Mat<f32> {
        if self.reduction.is_none() {
            return rows.to_owned();
        }
        let wide = Mat::from_fn(rows.nrows(), rows.ncols(), |i, j| f64::from(rows[(i, j)]));
        self.reduce_wide(wide.as_ref())
    }

    /// The same for rows that were read back as `f64`, as a [`ColumnSource`] reads them.
    pub fn reduce_wide(&self, rows: MatRef<'_, f64>) -> Mat<f32> {
        let narrow = |matrix: MatRef<'_, f64>| {
            Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| f32::from_f64(matrix[(i, j)]))
        };
        match &self.reduction {
            None => narrow(rows),
            Some(reduction) => narrow(reduction.project(rows).as_ref()),
        }
    }

    fn encode_item(
        &self,
        assigner: &Assigner<'_>,
        items: &dyn Items,
        item: usize,
        empty: Empty,
        into: &mut [f32],
    ) -> Result<()> {
        if items.descriptors(item) == 0 {
            return match empty {
                Empty::Zero => Ok(()),
                Empty::Refuse => Err(Error::NoDescriptors { origin: items.origin(item) }),
            };
        }
        let rows = items::open(items, item)?;
        let mut values = match assigner {
            Assigner::Mixture(mixture, expectation) => {
                let mut statistics = expectation.empty();
                self.each_block(&*rows, items, item, |block| expectation.add(block, &mut statistics))?;
                fisher::vector(mixture, &statistics)
            }
            Assigner::Words(words) => {
                let mut counts = vec![0.0; words.ncols()];
                self.each_block(&*rows, items, item, |block| bag::count(*words, block, &mut counts))?;
                counts
            }
        };
        normalize::apply(&mut values, self.header.settings.power, self.header.settings.normalize);
        into.iter_mut().zip(&values).for_each(|(narrow, &value)| *narrow = f32::from_f64(value));
        Ok(())
    }

    /// Passes on blocks of an item's descriptors, checked and projected.
    fn each_block(
        &self,
        rows: &dyn Rows,
        items: &dyn Items,
        item: usize,
        mut take: impl FnMut(MatRef<'_, f64>),
    ) -> Result<()> {
        let mut row = vec![0.0; rows.dim()];
        for first in (0..rows.count()).step_by(BLOCK_DESCRIPTORS) {
            let mut block = Mat::zeros(rows.dim(), BLOCK_DESCRIPTORS.min(rows.count() - first));
            for i in 0..block.ncols() {
                items::read_checked(items, item, rows, first + i, &mut row)?;
                let column = block.col_as_slice_mut(i);
                column.iter_mut().zip(&row).for_each(|(wide, &value)| *wide = f64::from(value));
            }
            match &self.projection {
                None => take(block.as_ref()),
                Some(projection) => take(projection.project(block.as_ref()).as_ref()),
            }
        }
        Ok(())
    }
}

/// A column of an owned matrix as a slice.
fn contiguous(column: ColMut<'_, f32>) -> &mut [f32] {
    column.try_as_col_major_mut().expect("columns of an owned matrix are contiguous").as_slice_mut()
}

/// A codebook prepared to assign descriptors to its components or words.
enum Assigner<'a> {
    Mixture(&'a Mixture, Expectation),
    Words(MatRef<'a, f64>),
}

impl<'a> Assigner<'a> {
    fn of(codebook: &'a Codebook) -> Self {
        match codebook {
            Codebook::Mixture(mixture) => Self::Mixture(mixture, Expectation::new(mixture)),
            Codebook::Words(words) => Self::Words(words.as_ref()),
        }
    }
}

#[cfg(test)]
mod testing {
    use faer::Mat;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    /// A matrix of standard normal numbers.
    pub(super) fn normals(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        Mat::from_fn(rows, columns, |_, _| StandardNormal.sample(&mut random))
    }
}
