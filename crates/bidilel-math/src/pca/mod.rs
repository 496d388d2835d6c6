//! Principal component analysis (PCA) of columns that are read block by block.
//!
//! The principal directions $u_1, u_2, \dots$ are the leading eigenvectors of the scatter matrix
//! $C = \sum_i (x_i - \bar x)(x_i - \bar x)^\top$. With fewer columns than dimensions they come from the Gram matrix instead: if
//! $X_c^\top X_c v = \lambda v$, then $u = X_c v / \sqrt\lambda$. Both are exact. Where neither matrix fits into memory,
//! `randomized` does subspace iteration from a random subspace, and reports its residual.
//!
//! ```
//! use bidilel_math::Silent;
//! use bidilel_math::pca::{Method, principal_components};
//!
//! // Four points on the diagonal of the plane.
//! let points = faer::mat![[0.0, 1.0, 2.0, 5.0], [0.0, 1.0, 2.0, 5.0]];
//! let found = principal_components(&points.as_ref(), 1, Method::Exact, &Silent)?;
//! assert!((found.projection.directions[(0, 0)] - 0.5_f64.sqrt()).abs() < 1e-12);
//! assert!((found.explained_variance_ratio - 1.0).abs() < 1e-12);
//! # Ok::<(), bidilel_math::Error>(())
//! ```
//!
//! # References
//! I. Jolliffe, *Principal Component Analysis*, 2002. N. Halko, P. Martinsson and J. Tropp, *Finding structure
//! with randomness*, 2011.

mod randomized;

use faer::{Accum, Mat, MatMut, MatRef};

use crate::panels::Panels;
use crate::parallel::{multiply, product, zeros};
use crate::tiles::{RankUpdate, mirror};
use crate::{Error, Observer, Scalar, eigen};

/// Up to this many columns or dimensions, whichever are fewer, callers should use the exact method by default.
pub const EXACT_LIMIT: usize = 8192;
/// Bytes of a block of columns in `f64`.
const BLOCK_BYTES: usize = 64 << 20;
/// Directions with a smaller fraction of the variance of the first are attributed to rounding.
const RANK_TOLERANCE: f64 = 1e-10;

/// A matrix that is read by blocks of columns: from memory, or from a file.
pub trait ColumnSource: Sync {
    /// The error of reading, which includes those of this crate.
    type Error: From<Error>;
    /// The number of columns.
    fn count(&self) -> usize;
    /// The number of rows.
    fn dim(&self) -> usize;
    /// Copies the columns from `first` on into `into`, as many as it has.
    fn read(&self, first: usize, into: MatMut<'_, f64>) -> Result<(), Self::Error>;
}

impl<T: Scalar> ColumnSource for MatRef<'_, T> {
    type Error = Error;
    fn count(&self) -> usize {
        self.ncols()
    }
    fn dim(&self) -> usize {
        self.nrows()
    }
    fn read(&self, first: usize, into: MatMut<'_, f64>) -> Result<(), Error> {
        for (column, i) in into.col_iter_mut().zip(first..) {
            column.iter_mut().zip(self.col(i).iter()).for_each(|(wide, value)| *wide = value.to_f64());
        }
        Ok(())
    }
}

/// The algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Eigendecomposition of the scatter or the Gram matrix, whichever is smaller.
    Exact,
    /// Randomized subspace iteration.
    Randomized {
        /// Seed of the initial subspace.
        seed: u64,
    },
}

/// An affine projection: coordinates along orthonormal directions, relative to a mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Projection {
    /// The point that becomes the origin.
    pub mean: Vec<f64>,
    /// Dimensions x directions, orthonormal.
    pub directions: Mat<f64>,
}

/// The principal directions, in the order of decreasing variance.
#[derive(Debug, Clone, PartialEq)]
pub struct PrincipalComponents {
    /// The directions; fewer than requested where the rank of the data is lower.
    pub projection: Projection,
    /// Fraction of the total variance along the directions.
    pub explained_variance_ratio: f64,
    /// Largest `$\|C u_i - \lambda_i u_i\| / \lambda_1$` of the randomized method; `None` for the exact one.
    pub residual: Option<f64>,
}

/// The `count` leading principal directions of `data`.
///
/// # Errors
/// [`Error::Parameter`] unless `count` is from 1 to the dimensions and below the number of columns;
/// [`Error::Constant`] where the columns do not vary; [`Error::NotFinite`] where squares overflow.
pub fn principal_components<C: ColumnSource>(
    data: &C,
    count: usize,
    method: Method,
    watch: &dyn Observer,
) -> Result<PrincipalComponents, C::Error> {
    if count == 0 || count > data.dim() || count >= data.count() {
        return Err(C::Error::from(Error::Parameter {
            parameter: "the number of directions",
            expected: "at least 1, at most the dimensions, and below the number of points",
            found: count as f64,
        }));
    }
    let mean = mean(data)?;
    match method {
        Method::Exact if data.dim() <= data.count() => from_scatter(data, count, mean, watch),
        Method::Exact => from_gram(data, count, mean, watch),
        Method::Randomized { seed } => randomized::principal_components(data, count, mean, seed, watch),
    }
}

fn from_scatter<C: ColumnSource>(
    data: &C,
    count: usize,
    mean: Vec<f64>,
    watch: &dyn Observer,
) -> Result<PrincipalComponents, C::Error> {
    let mut scatter = zeros(data.dim(), data.dim());
    each_block(data, &mean, |_, block| {
        let (mut left, mut right) =
            (Panels::left(data.dim(), block.ncols()), Panels::right(data.dim(), block.ncols()));
        left.pack_rows(block);
        right.pack_rows(block);
        RankUpdate { left: &left, right: &right, depth: block.ncols() }.add_lower(&mut scatter);
        Ok(())
    })?;
    mirror(&mut scatter);
    let total = trace(scatter.as_ref())?;
    let found = eigen::symmetric(scatter.as_ref(), count, watch)?;
    let rank = rank(&found.values);
    let explained_variance_ratio = found.values[..rank].iter().sum::<f64>() / total;
    let directions = found.vectors.subcols(0, rank).to_owned();
    Ok(PrincipalComponents {
        projection: Projection { mean, directions },
        explained_variance_ratio,
        residual: None,
    })
}

fn from_gram<C: ColumnSource>(
    data: &C,
    count: usize,
    mean: Vec<f64>,
    watch: &dyn Observer,
) -> Result<PrincipalComponents, C::Error> {
    let mut gram = Mat::zeros(data.count(), data.count());
    each_block(data, &mean, |first, left| {
        // The lower triangle: columns up to and including this block.
        let before = Leading { data, count: first + left.ncols() };
        each_block(&before, &mean, |start, right| {
            let part = gram.as_mut().submatrix_mut(first, start, left.ncols(), right.ncols());
            multiply(part, Accum::Replace, left.transpose(), right);
            Ok(())
        })?;
        watch.progress(first + left.ncols(), data.count());
        Ok(())
    })?;
    mirror(&mut gram);
    let total = trace(gram.as_ref())?;
    let eigen::Eigen { values, mut vectors } = eigen::symmetric(gram.as_ref(), count, watch)?;
    drop(gram);
    let rank = rank(&values);
    for (column, value) in vectors.as_mut().col_iter_mut().zip(&values[..rank]) {
        column.iter_mut().for_each(|entry| *entry /= value.sqrt());
    }
    let mut directions = Mat::zeros(data.dim(), rank);
    each_block(data, &mean, |first, block| {
        let part = vectors.subcols(0, rank).subrows(first, block.ncols());
        multiply(directions.as_mut(), Accum::Add, block, part);
        Ok(())
    })?;
    eigen::fix_signs(directions.as_mut());
    let explained_variance_ratio = values[..rank].iter().sum::<f64>() / total;
    Ok(PrincipalComponents {
        projection: Projection { mean, directions },
        explained_variance_ratio,
        residual: None,
    })
}

/// The leading columns of another source.
struct Leading<'a, C> {
    data: &'a C,
    count: usize,
}

impl<C: ColumnSource> ColumnSource for Leading<'_, C> {
    type Error = C::Error;
    fn count(&self) -> usize {
        self.count
    }
    fn dim(&self) -> usize {
        self.data.dim()
    }
    fn read(&self, first: usize, into: MatMut<'_, f64>) -> Result<(), C::Error> {
        self.data.read(first, into)
    }
}

/// Calls `take` with every block of centered columns and the index of its first column.
fn each_block<C: ColumnSource>(
    data: &C,
    mean: &[f64],
    mut take: impl FnMut(usize, MatRef<'_, f64>) -> Result<(), C::Error>,
) -> Result<(), C::Error> {
    let width = (BLOCK_BYTES / 8 / data.dim().max(1)).clamp(1, 1024);
    let mut block = Mat::zeros(data.dim(), width.min(data.count()));
    for first in (0..data.count()).step_by(width) {
        let count = width.min(data.count() - first);
        let mut block = block.subcols_mut(0, count);
        data.read(first, block.as_mut())?;
        for column in block.as_mut().col_iter_mut() {
            column.iter_mut().zip(mean).for_each(|(value, mean)| *value -= mean);
        }
        take(first, block.as_ref())?;
    }
    Ok(())
}

fn mean<C: ColumnSource>(data: &C) -> Result<Vec<f64>, C::Error> {
    let mut sum = vec![0.0; data.dim()];
    each_block(data, &[], |_, block| {
        for column in block.col_iter() {
            sum.iter_mut().zip(column.iter()).for_each(|(sum, value)| *sum += value);
        }
        Ok(())
    })?;
    sum.iter_mut().for_each(|value| *value /= data.count() as f64);
    Ok(sum)
}

fn trace(matrix: MatRef<'_, f64>) -> Result<f64, Error> {
    check_variance((0..matrix.nrows()).map(|i| matrix[(i, i)]).sum())
}

/// The total variance, if it is positive and finite.
fn check_variance(total: f64) -> Result<f64, Error> {
    match total {
        total if !total.is_finite() => Err(Error::NotFinite { what: "the variance of the points" }),
        total if total > 0.0 => Ok(total),
        _ => Err(Error::Constant { what: "the points" }),
    }
}

/// Numerical rank: how many of the descending eigenvalues are above rounding.
fn rank(values: &[f64]) -> usize {
    values.iter().take_while(|&&value| value > RANK_TOLERANCE * values[0]).count().max(1)
}

impl Projection {
    /// The coordinates of `points` (dimensions x points) along the directions, relative to the mean.
    pub fn project(&self, points: MatRef<'_, f64>) -> Mat<f64> {
        let mean = MatRef::from_column_major_slice(&self.mean, self.mean.len(), 1);
        let offset = product(self.directions.transpose(), mean);
        let mut found = product(self.directions.transpose(), points);
        for column in found.as_mut().col_iter_mut() {
            column.iter_mut().zip(offset.col_as_slice(0)).for_each(|(value, offset)| *value -= offset);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;
    use crate::krylov::tests::random;

    /// Columns with variances 1, 1/4, 1/9, ... along random directions, away from the origin.
    fn columns(dim: usize, count: usize) -> Mat<f64> {
        let (mixing, noise) = (random(dim, dim, 7), random(dim, count, 8));
        let scaled = Mat::from_fn(dim, count, |i, j| noise[(i, j)] / (i + 1) as f64);
        let mixed = product(mixing.as_ref(), scaled.as_ref());
        Mat::from_fn(dim, count, |i, j| 3.0 + mixed[(i, j)])
    }

    fn check(found: &PrincipalComponents, count: usize) {
        let gram = product(found.projection.directions.transpose(), found.projection.directions.as_ref());
        assert!((gram - Mat::<f64>::identity(count, count)).norm_max() < 1e-9);
    }

    #[test]
    fn scatter_and_gram_give_the_same_directions() {
        let points = columns(30, 30);
        let mean = mean(&points.as_ref()).expect("in memory");
        let scatter = from_scatter(&points.as_ref(), 12, mean.clone(), &Silent).expect("finite");
        let gram = from_gram(&points.as_ref(), 12, mean, &Silent).expect("finite");
        check(&gram, 12);
        assert!((&scatter.projection.directions - &gram.projection.directions).norm_max() < 1e-8);
        approx::assert_relative_eq!(
            scatter.explained_variance_ratio,
            gram.explained_variance_ratio,
            max_relative = 1e-10
        );
    }

    #[test]
    fn projections_are_uncorrelated_and_centered() {
        for (dim, count) in [(20, 300), (300, 40)] {
            let points = columns(dim, count);
            let found = principal_components(&points.as_ref(), 6, Method::Exact, &Silent).expect("finite");
            check(&found, 6);
            let projected = found.projection.project(points.as_ref());
            assert!(mean(&projected.as_ref()).expect("in memory").iter().all(|value| value.abs() < 1e-9));
            let scatter = product(projected.as_ref(), projected.transpose());
            for a in 0..6 {
                assert!((0..a).all(|b| scatter[(a, b)].abs() < 1e-9 * scatter[(0, 0)]));
                assert!(a == 0 || scatter[(a, a)] <= scatter[(a - 1, a - 1)]);
            }
        }
    }

    #[test]
    fn directions_beyond_the_numerical_rank_are_dropped() {
        let points =
            Mat::from_fn(50, 20, |i, j| ((i + 1) * (j % 3)) as f64 + f64::from(u8::from(i == j % 2)));
        let found = principal_components(&points.as_ref(), 15, Method::Exact, &Silent).expect("finite");
        assert!(found.projection.directions.ncols() < 5, "{}", found.projection.directions.ncols());
        approx::assert_relative_eq!(found.explained_variance_ratio, 1.0, max_relative = 1e-9);
        check(&found, found.projection.directions.ncols());
    }

    #[test]
    fn invalid_counts_and_constant_points_are_errors() {
        let points = columns(5, 4);
        for count in [0, 4, 6] {
            assert!(
                principal_components(&points.as_ref(), count, Method::Exact, &Silent).is_err(),
                "{count}"
            );
        }
        let same = Mat::<f64>::from_fn(5, 9, |_, _| 2.0);
        assert!(principal_components(&same.as_ref(), 2, Method::Exact, &Silent).is_err());
    }
}
