//! Blocked reduction of a generalized symmetric problem to a standard one: $C = R^{-1} A R^{-\top}$, in place of the lower triangle
//! of $A$ (`xSYGST` in LAPACK).
//!
//! One block of columns at a time: where $A$ and $R$ are partitioned into a leading block (1) and the rest (2),
//! $C_{11} = R_{11}^{-1} A_{11} R_{11}^{-\top}$ and $C_{21} = R_{22}^{-1} (A_{21} R_{11}^{-\top} - R_{21} C_{11})$, and the
//! recursion continues with $A_{22} - B R_{21}^\top - R_{21} B^\top$ with $B = A_{21} R_{11}^{-\top} - \frac12 R_{21} C_{11}$. That is half of the
//! work of two full triangular solves.
//!
//! # References
//! J. Dongarra, D. Sorensen and S. Hammarling, *Block reduction of matrices to condensed forms for eigenvalue
//! computations*, 1989. E. Anderson et al., *LAPACK Users' Guide*, 3rd ed., 1999 (`xSYGST`).

use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::solve_lower;
use crate::parallel::{copy, multiply};
use crate::tiles::{mirror, subtract_rank_2k};
use crate::{Observer, Result};

/// Columns of a block.
const BLOCK_COLUMNS: usize = 96;
/// Rows of a triangular solve per task.
const ROWS_PER_TASK: usize = 128;

/// The lower triangle of $R^{-1} A R^{-\top}$, from that of $A$.
///
/// # Errors
/// [`crate::Error::Cancelled`].
pub(super) fn reduce(
    mut matrix: Mat<f64>,
    factor: MatRef<'_, f64>,
    watch: &dyn Observer,
) -> Result<Mat<f64>> {
    let size = matrix.nrows();
    for start in (0..size).step_by(BLOCK_COLUMNS) {
        watch.go_on()?;
        let count = BLOCK_COLUMNS.min(size - start);
        let (after, rest) = (start + count, size - start - count);
        let own = factor.submatrix(start, start, count, count);
        let mut corner = copy(matrix.submatrix(start, start, count, count));
        mirror(&mut corner);
        solve_right(own, corner.as_mut());
        solve_lower_triangular_in_place(own, corner.as_mut(), Par::Seq);
        mirror(&mut corner);
        matrix.submatrix_mut(start, start, count, count).copy_from(&corner);
        if rest == 0 {
            break;
        }
        let factor_below = factor.submatrix(after, start, rest, count);
        let half = Mat::from_fn(count, count, |i, j| -0.5 * corner[(i, j)]);
        let mut below = copy(matrix.submatrix(after, start, rest, count));
        solve_right(own, below.as_mut());
        multiply(below.as_mut(), Accum::Add, factor_below, half.as_ref());
        subtract_rank_2k(matrix.submatrix_mut(after, after, rest, rest), factor_below, below.as_ref(), watch);
        multiply(below.as_mut(), Accum::Add, factor_below, half.as_ref());
        solve_lower(factor.submatrix(after, after, rest, rest), below.as_mut());
        matrix.submatrix_mut(after, start, rest, count).copy_from(&below);
    }
    watch.go_on()?;
    Ok(matrix)
}

/// `block = block R^-T`.
fn solve_right(factor: MatRef<'_, f64>, block: MatMut<'_, f64>) {
    block.par_row_chunks_mut(ROWS_PER_TASK).for_each(|rows| {
        solve_lower_triangular_in_place(factor, rows.transpose_mut(), Par::Seq);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;
    use crate::eigen::cholesky;
    use crate::krylov::tests::random;
    use crate::parallel::product;

    #[test]
    fn the_congruence_of_the_reduced_matrix_is_the_matrix() {
        for size in [1, 40, BLOCK_COLUMNS, BLOCK_COLUMNS + 1, 3 * BLOCK_COLUMNS + 7] {
            let (half, other) = (random(size, size, 1), random(size, size + 3, 2));
            let matrix = Mat::from_fn(size, size, |i, j| half[(i, j)] + half[(j, i)]);
            let factor = cholesky(product(other.as_ref(), other.transpose())).expect("definite");
            let lower = Mat::from_fn(size, size, |i, j| if i < j { 0.0 } else { factor[(i, j)] });
            // Only the lower triangle may be read.
            let mut reduced = reduce(
                Mat::from_fn(size, size, |i, j| if i < j { f64::NAN } else { matrix[(i, j)] }),
                factor.as_ref(),
                &Silent,
            )
            .expect("not canceled");
            mirror(&mut reduced);
            let back = product(product(lower.as_ref(), reduced.as_ref()).as_ref(), lower.transpose());
            assert!((back - &matrix).norm_max() < 1e-9 * matrix.norm_max(), "{size}");
        }
    }
}
