//! Linear systems and the Sylvester equation, with symmetric matrices.
//!
//! ```
//! use bidilel_math::linear;
//! use faer::mat;
//!
//! let solution = linear::solve(mat![[4.0, 1.0], [1.0, 3.0]], mat![[1.0], [2.0]])?;
//! assert!((4.0 * solution[(0, 0)] + solution[(1, 0)] - 1.0).abs() < 1e-12);
//! # Ok::<(), bidilel_math::Error>(())
//! ```

use faer::{Mat, MatRef};

use crate::parallel::{copy, product};
use crate::{Error, Observer, Result, eigen};

/// The solution of $A X = B$ for a positive definite $A$, by its Cholesky factor.
///
/// # Errors
/// [`Error::NotPositiveDefinite`].
pub fn solve(matrix: Mat<f64>, mut rhs: Mat<f64>) -> Result<Mat<f64>> {
    let factor = eigen::cholesky(matrix)?;
    eigen::solve_lower(factor.as_ref(), rhs.as_mut());
    eigen::solve_lower_transposed(factor.as_ref(), rhs.as_mut());
    Ok(rhs)
}

/// Sums of eigenvalues below this share of the largest count as zero.
const ZERO_SHARE: f64 = 1e-12;

/// The solution of least norm of the Sylvester equation $A W + W B = C$ for symmetric $A$, $B$.
///
/// With $A = U \Lambda U^\top$ and $B = V M V^\top$ it is `$W_{ij} = (U^\top C V)_{ij} / (\lambda_i + \mu_j)$`, rotated back;
/// where the sum of two eigenvalues vanishes, $C$ must have no part there, and $W$ gets none.
///
/// # Errors
/// [`Error::Singular`] where $C$ has a part that no $W$ can reach, and those of the eigensolver.
pub fn sylvester(
    left: MatRef<'_, f64>,
    right: MatRef<'_, f64>,
    rhs: MatRef<'_, f64>,
    watch: &dyn Observer,
) -> Result<Mat<f64>> {
    let all = |matrix: MatRef<'_, f64>| eigen::full_in_place(copy(matrix), matrix.nrows(), watch);
    let (left, right) = (all(left)?, all(right)?);
    let rotated = product(left.vectors.transpose(), rhs);
    let mut rotated = product(rotated.as_ref(), right.vectors.as_ref());
    let largest = |values: &[f64]| values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let zero = ZERO_SHARE * (largest(&left.values) + largest(&right.values));
    let size = (0..rotated.ncols()).map(|j| largest(rotated.col_as_slice(j))).fold(0.0, f64::max);
    for (j, mu) in right.values.iter().enumerate() {
        for (value, lambda) in rotated.col_as_slice_mut(j).iter_mut().zip(&left.values) {
            let sum = lambda + mu;
            if sum.abs() > zero {
                *value /= sum;
            } else if value.abs() <= size * ZERO_SHARE.sqrt() {
                *value = 0.0;
            } else {
                return Err(Error::Singular { what: "Sylvester equation" });
            }
        }
    }
    Ok(product(product(left.vectors.as_ref(), rotated.as_ref()).as_ref(), right.vectors.transpose()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;

    fn symmetric(size: usize, seed: usize) -> Mat<f64> {
        let factor = Mat::from_fn(size, size + 2, |i, j| ((i * 7 + j * 13 + seed) as f64).powi(2).sin());
        &factor * factor.transpose()
    }

    #[test]
    fn both_sides_of_the_sylvester_equation_agree() {
        let (left, right) = (symmetric(5, 1), symmetric(8, 2));
        let rhs = Mat::from_fn(5, 8, |i, j| ((i * 3 + j) as f64).cos());
        let found = sylvester(left.as_ref(), right.as_ref(), rhs.as_ref(), &Silent).expect("a solution");
        let error = (&left * &found + &found * &right - &rhs).norm_max();
        assert!(error < 1e-9, "{error}");
    }

    #[test]
    fn what_neither_matrix_reaches_stays_zero() {
        let (left, right) = (faer::mat![[2.0, 0.0], [0.0, 0.0]], faer::mat![[0.0, 0.0], [0.0, 3.0]]);
        let rhs = faer::mat![[2.0, 5.0], [0.0, 3.0]];
        let found = sylvester(left.as_ref(), right.as_ref(), rhs.as_ref(), &Silent).expect("a solution");
        assert!((found - faer::mat![[1.0, 1.0], [0.0, 1.0]]).norm_max() < 1e-12);
    }

    #[test]
    fn eigenvalues_that_cancel_are_an_error() {
        let (one, minus) = (Mat::<f64>::identity(2, 2), -Mat::<f64>::identity(2, 2));
        let rhs = Mat::from_fn(2, 2, |_, _| 1.0);
        assert!(sylvester(one.as_ref(), minus.as_ref(), rhs.as_ref(), &Silent).is_err());
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_is_refused() {
        let matrix = faer::mat![[1.0, 2.0], [2.0, 1.0]];
        assert!(solve(matrix, faer::mat![[1.0], [1.0]]).is_err());
    }
}
