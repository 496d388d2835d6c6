//! From a generalized symmetric problem to a plain one: $R^{-1} A R^{-\top}$ from the lower half of $A$, in its place.
//!
//! Some columns at a time: where $A$ and $R$ are cut into a corner, what is below it, and the rest,
//! $C_{11} = R_{11}^{-1} A_{11} R_{11}^{-\top}$ and $C_{21} = R_{22}^{-1} (A_{21} R_{11}^{-\top} - R_{21} C_{11})$, and the same is
//! left to do for $A_{22} - B R_{21}^\top - R_{21} B^\top$ with $B = A_{21} R_{11}^{-\top} - \frac12 R_{21} C_{11}$. That is half of the work
//! of two solutions for all columns.
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

/// Columns of a step.
const STEP: usize = 96;
/// Rows that one thread solves for.
const ROWS: usize = 128;

/// $R^{-1} A R^{-\top}$ on and below the diagonal.
pub(super) fn reduce(mut matrix: Mat<f64>, factor: MatRef<'_, f64>) -> Mat<f64> {
    let size = matrix.nrows();
    for start in (0..size).step_by(STEP) {
        let count = STEP.min(size - start);
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
        let beside = factor.submatrix(after, start, rest, count);
        let half = Mat::from_fn(count, count, |i, j| -0.5 * corner[(i, j)]);
        let mut below = copy(matrix.submatrix(after, start, rest, count));
        solve_right(own, below.as_mut());
        multiply(below.as_mut(), Accum::Add, beside, half.as_ref());
        subtract_rank_2k(matrix.submatrix_mut(after, after, rest, rest), beside, below.as_ref());
        multiply(below.as_mut(), Accum::Add, beside, half.as_ref());
        solve_lower(factor.submatrix(after, after, rest, rest), below.as_mut());
        matrix.submatrix_mut(after, start, rest, count).copy_from(&below);
    }
    matrix
}

/// `block = block R^-T`.
fn solve_right(factor: MatRef<'_, f64>, block: MatMut<'_, f64>) {
    block.par_row_chunks_mut(ROWS).for_each(|rows| {
        solve_lower_triangular_in_place(factor, rows.transpose_mut(), Par::Seq);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eigen::cholesky;
    use crate::krylov::tests::random;
    use crate::parallel::product;

    #[test]
    fn factors_around_the_reduced_matrix_give_the_matrix_back() {
        for size in [1, 40, STEP, STEP + 1, 3 * STEP + 7] {
            let (half, other) = (random(size, size, 1), random(size, size + 3, 2));
            let matrix = Mat::from_fn(size, size, |i, j| half[(i, j)] + half[(j, i)]);
            let factor = cholesky(product(other.as_ref(), other.transpose())).expect("definite");
            let lower = Mat::from_fn(size, size, |i, j| if i < j { 0.0 } else { factor[(i, j)] });
            // Only the lower half may be read.
            let mut reduced = reduce(
                Mat::from_fn(size, size, |i, j| if i < j { f64::NAN } else { matrix[(i, j)] }),
                factor.as_ref(),
            );
            mirror(&mut reduced);
            let back = product(product(lower.as_ref(), reduced.as_ref()).as_ref(), lower.transpose());
            assert!((back - &matrix).norm_max() < 1e-9 * matrix.norm_max(), "{size}");
        }
    }
}
