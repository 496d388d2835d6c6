//! Leading eigenpairs of symmetric eigenproblems, standard and generalized.
//!
//! $A p = \lambda B p$ with $A$ symmetric and $B$ positive definite becomes, by $B = R R^\top$ (Cholesky) and
//! $p = R^{-\top} q$, the symmetric problem $R^{-1} A R^{-\top} q = \lambda q$. Eigenvalues come in descending
//! order; eigenvectors are columns with $p_i^\top B p_j = [i = j]$, and the entry of largest magnitude of each
//! is positive, so that results can be compared.
//!
//! Small problems, and those with many wanted pairs, are solved directly: Householder tridiagonalization, then bisection and
//! inverse iteration for the leading pairs, or divide and conquer where nearly all pairs are wanted. Otherwise a block
//! Krylov method finds the leading pairs, with $R^{-1} A R^{-\top}$ as an operator, which is formed only for many pairs.
//!
//! Every solution is checked against products with both matrices that were taken before the factorization (`verify.rs`), and
//! every solver works on a matrix whose largest entry is scaled to about 1 (`scaling.rs`).
//!
//! ```
//! use bidilel_math::{Silent, eigen};
//!
//! let left = faer::mat![[2.0, 1.0], [1.0, 2.0]];
//! let found = eigen::symmetric(left.as_ref(), 1, &Silent)?;
//! assert!((found.values[0] - 3.0).abs() < 1e-12);
//!
//! let right = faer::mat![[4.0, 0.0], [0.0, 4.0]];
//! let found = eigen::generalized(left.as_ref(), right, 1, &Silent)?;
//! assert!((found.values[0] - 0.75).abs() < 1e-12);
//! # Ok::<(), bidilel_math::Error>(())
//! ```
//!
//! # References
//! G. Golub and C. Van Loan, *Matrix Computations*, 4th ed., 2013, section 8.7.2.

pub(crate) mod cholesky;
mod householder;
mod reduction;
pub(crate) mod scaling;
mod triangle;
mod tridiagonal;
mod verify;
mod whitener;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

pub use self::cholesky::cholesky;
pub(crate) use self::cholesky::cholesky_watched;
use self::householder::tridiagonalize;
use self::reduction::reduce;
use self::scaling::Scaling;
use self::triangle::Triangle;
pub(crate) use self::verify::ResidualCheck;
pub use self::whitener::Whitener;
pub use crate::krylov::gram_schmidt;
use crate::parallel::{abandonable, copy, product, zeros};
pub use crate::pencil::{Pencil, leading};
use crate::tiles::{mirror, transposed_times};
use crate::{Error, Observer, Result, Silent, krylov};

/// Up to this order a problem is always solved directly.
const MAX_DIRECT_ORDER: usize = 1280;
/// From this order on a full decomposition, which cannot be stopped, is abandoned by a computation that is canceled: it may take a
/// tenth of a second here, and eight times as long at twice the order.
const MIN_ABANDONED_ORDER: usize = 512;
/// Below this order divide and conquer for all pairs is the fastest.
const MIN_BISECTION_ORDER: usize = 64;
/// The operator of the block Krylov method is formed where more than one in so many pairs is wanted.
const MIN_FORMED_SHARE: usize = 20;
/// `(right-hand sides at most, columns per task)` of triangular solves: wide tasks are faster, but must occupy all threads.
const SOLVE_COLUMNS: [(usize, usize); 3] = [(64, 8), (512, 32), (usize::MAX, 128)];

/// Eigenvalues with their eigenvectors.
#[derive(Debug, Clone, PartialEq)]
pub struct Eigen {
    /// Eigenvalues, descending.
    pub values: Vec<f64>,
    /// Eigenvectors as columns, in the same order.
    pub vectors: Mat<f64>,
}

/// The `count` leading eigenpairs of a symmetric matrix.
///
/// # Errors
/// [`Error::NotFinite`] where an entry is not finite; [`Error::Check`] where the pairs fail the check against the matrix.
pub fn symmetric(matrix: MatRef<'_, f64>, count: usize, watch: &dyn Observer) -> Result<Eigen> {
    let size = matrix.nrows();
    let mut found = if solve_directly(size, count) {
        direct(copy(matrix), count, watch)?
    } else {
        let apply = |block: MatRef<'_, f64>| product(matrix, block);
        let found = krylov::leading(&apply, size, count, watch);
        or_directly(found, watch, || direct(copy(matrix), count, watch))?
    };
    ResidualCheck::standard(size, |probes| product(matrix, probes)).pairs(&found).enforce(watch)?;
    verify::standard_norms(&found).enforce(watch)?;
    fix_signs(found.vectors.as_mut());
    Ok(found)
}

/// The `count` leading pairs of $A p = \lambda B p$; the right-hand matrix is overwritten.
///
/// # Errors
/// [`Error::NotPositiveDefinite`] when `right` has no Cholesky factor; otherwise as [`symmetric`].
pub fn generalized(
    left: MatRef<'_, f64>,
    right: Mat<f64>,
    count: usize,
    watch: &dyn Observer,
) -> Result<Eigen> {
    let check =
        ResidualCheck::new(left.nrows(), |probes| (product(left, probes), product(right.as_ref(), probes)));
    let factor = cholesky_watched(right, watch)?;
    let found = if solve_directly(left.nrows(), count) {
        generalized_directly(copy(left), &factor, count, watch)?
    } else {
        let found = generalized_leading(&|block| product(left, block), &factor, count, watch);
        or_directly(found, watch, || generalized_directly(copy(left), &factor, count, watch))?
    };
    verify(&check, factor.as_ref(), &found, watch)?;
    Ok(found)
}

/// Falls back to a direct solution where an iteration did not converge, as with clustered eigenvalues.
pub(crate) fn or_directly(
    found: Result<Eigen>,
    watch: &dyn Observer,
    directly: impl FnOnce() -> Result<Eigen>,
) -> Result<Eigen> {
    if let Err(Error::NoConvergence { .. }) = found {
        watch.note(
            "the leading eigenvalues are clustered, and the iteration did not converge: solving directly",
        );
        return directly();
    }
    found
}

/// Checks a factor and its eigenpairs against products from before the factorization.
pub(crate) fn verify(
    check: &ResidualCheck,
    factor: MatRef<'_, f64>,
    found: &Eigen,
    watch: &dyn Observer,
) -> Result<()> {
    check.factor(factor).enforce(watch)?;
    check.pairs(found).enforce(watch)?;
    verify::norms(factor, found).enforce(watch)
}

/// Direct solution from the Cholesky factor of $B$; the left-hand matrix is overwritten.
pub(crate) fn generalized_directly(
    left: Mat<f64>,
    factor: &Mat<f64>,
    count: usize,
    watch: &dyn Observer,
) -> Result<Eigen> {
    let reduced = reduce(left, factor.as_ref(), watch)?;
    back_transform(direct(reduced, count, watch)?, factor.as_ref(), watch)
}

/// Iterative solution from the Cholesky factor of $B$ and products with $A$.
pub(crate) fn generalized_leading(
    left_times: &dyn Fn(MatRef<'_, f64>) -> Mat<f64>,
    factor: &Mat<f64>,
    count: usize,
    watch: &dyn Observer,
) -> Result<Eigen> {
    let apply = |block: MatRef<'_, f64>| {
        let mut block = copy(block);
        solve_lower_transposed(factor.as_ref(), block.as_mut());
        let mut image = left_times(block.as_ref());
        solve_lower(factor.as_ref(), image.as_mut());
        image
    };
    back_transform(krylov::leading(&apply, factor.nrows(), count, watch)?, factor.as_ref(), watch)
}

/// Iterative solution with $R^{-1} A R^{-\top}$ formed, from the lower triangle of $A$; returns the factor, too.
pub(crate) fn generalized_formed(
    left: Mat<f64>,
    factor: Mat<f64>,
    count: usize,
    watch: &dyn Observer,
) -> Result<(Eigen, Mat<f64>)> {
    let mut reduced = reduce(left, factor.as_ref(), watch)?;
    mirror(&mut reduced);
    watch.go_on()?;
    // Half of the memory until the factor is needed again.
    let packed = Triangle::pack(&factor);
    drop(factor);
    watch.go_on()?;
    let apply = |block: MatRef<'_, f64>| transposed_times(reduced.as_ref(), block);
    let found = krylov::leading(&apply, reduced.nrows(), count, watch);
    let found = or_directly(found, watch, || direct(copy(reduced.as_ref()), count, watch))?;
    drop(reduced);
    watch.go_on()?;
    let factor = packed.unpack();
    watch.go_on()?;
    Ok((back_transform(found, factor.as_ref(), watch)?, factor))
}

/// Back-transformation of eigenvectors, $p = R^{-\top} q$.
fn back_transform(mut found: Eigen, factor: MatRef<'_, f64>, watch: &dyn Observer) -> Result<Eigen> {
    solve_lower_transposed_watched(factor, found.vectors.as_mut(), watch);
    watch.go_on()?;
    fix_signs(found.vectors.as_mut());
    Ok(found)
}

fn columns_per_task(columns: usize) -> usize {
    SOLVE_COLUMNS.iter().find(|(bound, _)| columns <= *bound).map_or(1, |&(_, width)| width)
}

/// `block = R^-1 block` for a lower triangular $R$.
pub fn solve_lower(factor: MatRef<'_, f64>, block: MatMut<'_, f64>) {
    solve_lower_watched(factor, block, &Silent);
}

/// The same; of a canceled computation some columns stay as they are.
fn solve_lower_watched(factor: MatRef<'_, f64>, block: MatMut<'_, f64>, watch: &dyn Observer) {
    let width = columns_per_task(block.ncols());
    block.par_col_chunks_mut(width).for_each(|panel| {
        if watch.poll().is_continue() {
            solve_lower_triangular_in_place(factor, panel, Par::Seq);
        }
    });
}

/// `block = R^-T block` for a lower triangular $R$.
pub fn solve_lower_transposed(factor: MatRef<'_, f64>, block: MatMut<'_, f64>) {
    solve_lower_transposed_watched(factor, block, &Silent);
}

/// The same; of a canceled computation some columns stay as they are.
fn solve_lower_transposed_watched(factor: MatRef<'_, f64>, block: MatMut<'_, f64>, watch: &dyn Observer) {
    let width = columns_per_task(block.ncols());
    block.par_col_chunks_mut(width).for_each(|panel| {
        if watch.poll().is_continue() {
            solve_upper_triangular_in_place(factor.transpose(), panel, Par::Seq);
        }
    });
}

/// $(R R^\top)^{-1}$ from a Cholesky factor $R$.
///
/// # Errors
/// [`Error::Cancelled`].
pub fn cholesky_inverse(factor: MatRef<'_, f64>, watch: &dyn Observer) -> Result<Mat<f64>> {
    let mut inverse = zeros(factor.nrows(), factor.ncols());
    inverse.diagonal_mut().fill(1.0);
    solve_lower_watched(factor, inverse.as_mut(), watch);
    solve_lower_transposed_watched(factor, inverse.as_mut(), watch);
    watch.go_on()?;
    Ok(inverse)
}

/// The leading pairs of a symmetric matrix, given by its lower triangle, by tridiagonalization.
pub(crate) fn direct(mut matrix: Mat<f64>, count: usize, watch: &dyn Observer) -> Result<Eigen> {
    let size = matrix.nrows();
    // Bisection and inverse iteration are faster unless nearly all pairs are wanted.
    if size < MIN_BISECTION_ORDER || !(1..=size * 4 / 5).contains(&count) {
        mirror(&mut matrix);
        return full_in_place(matrix, count, watch);
    }
    let scaling = Scaling::of(&mut matrix)?;
    // Inside the thread pool: from outside, each of many short parallel loops would have to enter it.
    let (tridiagonal, reflections) = rayon::scope(|_| tridiagonalize(matrix, watch))?;
    // Inverse iteration may fail for eigenvalues that are too close.
    let mut found = match tridiagonal.leading(count) {
        Some(found) => found,
        None => full_in_place(tridiagonal.dense(), count, watch)?,
    };
    watch.go_on()?;
    reflections.apply(found.vectors.as_mut());
    scaling.restore(&mut found.values);
    Ok(found)
}

/// The `count` leading eigenpairs of a symmetric matrix from a full eigendecomposition.
///
/// # Errors
/// [`Error::NotFinite`] where an entry is not finite; [`Error::NoConvergence`] where the iteration fails; [`Error::Check`]
/// where the pairs fail the check against the matrix.
pub fn full(matrix: MatRef<'_, f64>, count: usize) -> Result<Eigen> {
    full_in_place(copy(matrix), count, &Silent)
}

/// The same; the matrix is overwritten, and an observer can cancel.
pub(crate) fn full_in_place(mut matrix: Mat<f64>, count: usize, watch: &dyn Observer) -> Result<Eigen> {
    let size = matrix.nrows();
    if size == 0 {
        return Ok(Eigen { values: Vec::new(), vectors: matrix });
    }
    let scaling = Scaling::of(&mut matrix)?;
    let check = ResidualCheck::standard(size, |probes| product(matrix.as_ref(), probes));
    let (values, vectors) = if size < MIN_ABANDONED_ORDER {
        decompose(matrix.as_ref())?
    } else {
        abandonable(watch, move || decompose(matrix.as_ref()))??
    };
    let count = count.min(size);
    let values = (0..count).map(|i| values[size - 1 - i]).collect();
    let mut found = Eigen { values, vectors: copy(vectors.subcols(size - count, count).reverse_cols()) };
    check.pairs(&found).enforce(watch)?;
    verify::standard_norms(&found).enforce(watch)?;
    scaling.restore(&mut found.values);
    Ok(found)
}

/// All eigenvalues, ascending, with their eigenvectors: one call of faer.
fn decompose(matrix: MatRef<'_, f64>) -> Result<(faer::Col<f64>, Mat<f64>)> {
    let size = matrix.nrows();
    let mut values = faer::Col::<f64>::zeros(size);
    let mut vectors = zeros(size, size);
    // One thread: the blocked reduction rounds differently for other numbers of threads.
    let par = Par::Seq;
    let scratch = self_adjoint_evd_scratch::<f64>(size, ComputeEigenvectors::Yes, par, faer::Spec::default());
    let mut buffer = MemBuffer::new(scratch);
    self_adjoint_evd(
        matrix.as_ref(),
        values.as_diagonal_mut(),
        Some(vectors.as_mut()),
        par,
        MemStack::new(&mut buffer),
        faer::Spec::default(),
    )
    .map_err(|_| Error::NoConvergence { what: "the symmetric eigenvalue iteration", iterations: size })?;
    Ok((values, vectors))
}

/// Normalizes signs: makes the entry of largest magnitude of every column positive.
pub fn fix_signs(vectors: MatMut<'_, f64>) {
    for column in vectors.col_iter_mut() {
        let largest = column
            .as_ref()
            .iter()
            .copied()
            .fold(0.0_f64, |best, v| if v.abs() > best.abs() { v } else { best });
        if largest < 0.0 {
            column.iter_mut().for_each(|value| *value = -*value);
        }
    }
}

/// Whether a direct solution is faster than the block Krylov method.
pub(crate) fn solve_directly(size: usize, count: usize) -> bool {
    size <= MAX_DIRECT_ORDER || count * 4 > size
}

/// Whether the block Krylov method is faster with $R^{-1} A R^{-\top}$ formed: that takes as long as some thousand products with
/// a vector save.
pub(crate) fn form_operator(size: usize, count: usize) -> bool {
    count * MIN_FORMED_SHARE > size
}

#[cfg(test)]
mod tests;
