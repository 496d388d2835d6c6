//! Whitening by a positive semi-definite matrix.

use faer::{Mat, MatRef};

use super::{Eigen, ResidualCheck, cholesky_watched, full_in_place, solve_lower, solve_lower_transposed};
use crate::parallel::{copy, product};
use crate::{Error, Observer, Result, Silent};

/// A whitening transform: coordinates in which a symmetric positive semi-definite matrix $M$ is the identity on its range.
///
/// $V^\top M V = I$ with $V = R^{-\top}$ from the Cholesky factor of $M$ where it is numerically definite, else with
/// $V = U \Lambda^{-1/2}$ from the eigenpairs above the usual rank threshold.
#[derive(Debug, Clone)]
pub enum Whitener {
    /// Lower triangular Cholesky factor.
    Factor(Mat<f64>),
    /// Eigenpairs of the range of $M$.
    Range(Eigen),
}

impl Whitener {
    /// Factors `matrix`.
    ///
    /// Where the pivots of the Cholesky factor span more than `1 / sqrt(eps)`, the matrix is singular to working precision, and
    /// its inverse would be noise.
    ///
    /// # Errors
    /// [`Error::NotFinite`] where an entry is not finite; [`Error::Check`] where a factorization fails its check;
    /// [`Error::Cancelled`].
    pub fn new(matrix: MatRef<'_, f64>, watch: &dyn Observer) -> Result<Self> {
        let size = matrix.nrows();
        match cholesky_watched(matrix.to_owned(), watch) {
            Ok(factor) => {
                let check = ResidualCheck::new(size, |probes| (probes.to_owned(), product(matrix, probes)));
                check.factor(factor.as_ref()).enforce(&Silent)?;
                let pivots = (0..size).map(|i| factor[(i, i)]);
                let (least, most) = pivots.fold((f64::INFINITY, 0.0_f64), |(l, m), p| (l.min(p), m.max(p)));
                if least > most * f64::EPSILON.sqrt() {
                    return Ok(Self::Factor(factor));
                }
            }
            Err(Error::NotPositiveDefinite { .. }) => {}
            Err(other) => return Err(other),
        }
        let Eigen { mut values, vectors } = full_in_place(copy(matrix), size, watch)?;
        let cut = values.first().copied().unwrap_or(0.0) * f64::EPSILON * size as f64;
        values.retain(|&value| value > cut);
        let vectors = vectors.subcols(0, values.len()).to_owned();
        Ok(Self::Range(Eigen { values, vectors }))
    }

    /// Whitens: $V^\top$ times a block.
    pub fn forward(&self, block: MatRef<'_, f64>) -> Mat<f64> {
        match self {
            Self::Factor(factor) => {
                let mut block = block.to_owned();
                solve_lower(factor.as_ref(), block.as_mut());
                block
            }
            Self::Range(range) => {
                let rotated = product(range.vectors.transpose(), block);
                Mat::from_fn(rotated.nrows(), rotated.ncols(), |i, j| {
                    rotated[(i, j)] / range.values[i].sqrt()
                })
            }
        }
    }

    /// Back-transforms: $V$ times a block.
    pub fn back(&self, block: MatRef<'_, f64>) -> Mat<f64> {
        match self {
            Self::Factor(factor) => {
                let mut block = block.to_owned();
                solve_lower_transposed(factor.as_ref(), block.as_mut());
                block
            }
            Self::Range(range) => {
                let scaled =
                    Mat::from_fn(block.nrows(), block.ncols(), |i, j| block[(i, j)] / range.values[i].sqrt());
                product(range.vectors.as_ref(), scaled.as_ref())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::krylov::tests::random;

    #[test]
    fn a_whitened_matrix_is_the_identity_on_its_range() {
        for rank in [4, 12] {
            let a = random(12, rank, 3);
            let matrix = product(a.as_ref(), a.transpose());
            let whitener = Whitener::new(matrix.as_ref(), &Silent).expect("semi-definite");
            let basis = whitener.back(Mat::<f64>::identity(rank, rank).as_ref());
            let inside = product(basis.transpose(), product(matrix.as_ref(), basis.as_ref()).as_ref());
            assert!((inside - Mat::<f64>::identity(rank, rank)).norm_max() < 1e-9);
            let forward = whitener.forward(Mat::<f64>::identity(12, 12).as_ref());
            assert!((forward - basis.transpose()).norm_max() < 1e-9);
        }
    }
}
