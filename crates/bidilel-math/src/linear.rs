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

use crate::parallel::product;
use crate::{Error, Result, eigen};

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

/// The solution of the Sylvester equation $A W + W B = C$ for symmetric $A$, $B$ whose eigenvalues have no sum of zero.
///
/// With $A = U \Lambda U^\top$ and $B = V M V^\top$ it is `$W_{ij} = (U^\top C V)_{ij} / (\lambda_i + \mu_j)$`, rotated back.
///
/// # Errors
/// [`Error::NotFinite`] where two eigenvalues cancel, and those of the eigensolver.
pub fn sylvester(left: MatRef<'_, f64>, right: MatRef<'_, f64>, rhs: MatRef<'_, f64>) -> Result<Mat<f64>> {
    let (left, right) = (eigen::full(left, left.nrows())?, eigen::full(right, right.nrows())?);
    let mut rotated = product(product(left.vectors.transpose(), rhs).as_ref(), right.vectors.as_ref());
    for j in 0..rotated.ncols() {
        let mu = right.values[j];
        let column = rotated.col_as_slice_mut(j).iter_mut();
        column.zip(&left.values).for_each(|(value, lambda)| *value /= lambda + mu);
        if !rotated.col_as_slice(j).iter().all(|value| value.is_finite()) {
            return Err(Error::NotFinite { what: "the solution of a Sylvester equation" });
        }
    }
    Ok(product(product(left.vectors.as_ref(), rotated.as_ref()).as_ref(), right.vectors.transpose()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symmetric(size: usize, seed: usize) -> Mat<f64> {
        let factor = Mat::from_fn(size, size + 2, |i, j| ((i * 7 + j * 13 + seed) as f64).sin());
        &factor * factor.transpose()
    }

    #[test]
    fn both_sides_of_the_sylvester_equation_agree() {
        let (left, right) = (symmetric(5, 1), symmetric(8, 2));
        let rhs = Mat::from_fn(5, 8, |i, j| ((i * 3 + j) as f64).cos());
        let found = sylvester(left.as_ref(), right.as_ref(), rhs.as_ref()).expect("a solution");
        let error = (&left * &found + &found * &right - &rhs).norm_max();
        assert!(error < 1e-9, "{error}");
    }

    #[test]
    fn eigenvalues_that_cancel_are_an_error() {
        let (one, minus) = (Mat::<f64>::identity(2, 2), -Mat::<f64>::identity(2, 2));
        let rhs = Mat::from_fn(2, 2, |_, _| 1.0);
        assert!(sylvester(one.as_ref(), minus.as_ref(), rhs.as_ref()).is_err());
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_is_refused() {
        let matrix = faer::mat![[1.0, 2.0], [2.0, 1.0]];
        assert!(solve(matrix, faer::mat![[1.0], [1.0]]).is_err());
    }
}
