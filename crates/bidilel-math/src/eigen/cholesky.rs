//! In-place tiled Cholesky factorization of the lower triangle: $B = R R^\top$.
//!
//! Right-looking, one column of tiles at a time: the tile on the diagonal is factored, the tiles below it become
//! $B_{21} R_{11}^{-\top}$, and the trailing tiles get a symmetric rank-k update. Tiles above the diagonal are neither read nor
//! written, so that another matrix can be stored there (`pencil`). faer's own factorization does not guarantee that: it
//! writes up to one vector register above the diagonal. It therefore factors copies of the tiles on the diagonal, and only the
//! lower triangles of these are copied back.
//!
//! # References
//! G. Golub and C. Van Loan, *Matrix Computations*, 4th ed., 2013, section 4.2.9.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Mat, Par};
use rayon::prelude::*;

use crate::panels::Panels;
use crate::parallel::{copy, zeros};
use crate::tiles::{RankUpdate, TILE};
use crate::{Error, Observer, Result, Silent};

/// Rows of a triangular solve per task.
const ROWS_PER_TASK: usize = 64;

/// The lower triangular Cholesky factor, in place; only tiles on and below the diagonal are read or written.
///
/// # Errors
/// [`Error::NotPositiveDefinite`] where there is none, [`Error::NotFinite`] where an entry is not finite.
pub fn cholesky(matrix: Mat<f64>) -> Result<Mat<f64>> {
    cholesky_watched(matrix, &Silent)
}

/// The same, which an observer can cancel.
pub(crate) fn cholesky_watched(matrix: Mat<f64>, watch: &dyn Observer) -> Result<Mat<f64>> {
    by_tiles(matrix, factor, watch)
}

/// The same with a given factorization of a tile, which may write anything above its diagonal.
pub(crate) fn by_tiles(
    mut matrix: Mat<f64>,
    factor: impl Fn(Mat<f64>) -> Result<Mat<f64>>,
    watch: &dyn Observer,
) -> Result<Mat<f64>> {
    let size = matrix.nrows();
    for start in (0..size).step_by(TILE) {
        watch.go_on()?;
        let count = TILE.min(size - start);
        let (after, rest) = (start + count, size - start - count);
        let own =
            factor(copy(matrix.submatrix(start, start, count, count))).map_err(|error| match error {
                Error::NotPositiveDefinite { matrix, pivot } => {
                    Error::NotPositiveDefinite { matrix, pivot: start + pivot }
                }
                other => other,
            })?;
        for j in 0..count {
            let column = &mut matrix.col_as_slice_mut(start + j)[start + j..after];
            column.copy_from_slice(&own.col_as_slice(j)[j..]);
        }
        if rest == 0 {
            break;
        }
        let below = matrix.as_mut().submatrix_mut(after, start, rest, count);
        below.par_row_chunks_mut(ROWS_PER_TASK).for_each(|rows| {
            solve_lower_triangular_in_place(own.as_ref(), rows.transpose_mut(), Par::Seq);
        });
        let below = matrix.submatrix(after, start, rest, count);
        let (mut left, mut right) = (Panels::left(rest, count), Panels::right(rest, count));
        right.pack_rows(below);
        let mut negative = zeros(rest, count);
        for j in 0..count {
            let from = crate::vector::column(below, j);
            negative.col_as_slice_mut(j).iter_mut().zip(from).for_each(|(to, from)| *to = -from);
        }
        left.pack_rows(negative.as_ref());
        let update = RankUpdate { left: &left, right: &right, depth: count };
        let trailing = matrix.as_mut().submatrix_mut(after, after, rest, rest);
        let panels = trailing.par_col_chunks_mut(TILE).enumerate();
        panels.for_each(|(index, panel)| {
            if watch.poll().is_continue() {
                update.add_lower_panel(panel, index);
            }
        });
    }
    watch.go_on()?;
    Ok(matrix)
}

/// The Cholesky factor of one tile.
fn factor(mut tile: Mat<f64>) -> Result<Mat<f64>> {
    let size = tile.nrows();
    let mut buffer =
        MemBuffer::new(llt::factor::cholesky_in_place_scratch::<f64>(size, Par::Seq, faer::Spec::default()));
    let outcome = llt::factor::cholesky_in_place(
        tile.as_mut(),
        llt::factor::LltRegularization::default(),
        Par::Seq,
        MemStack::new(&mut buffer),
        faer::Spec::default(),
    );
    // NaN in a row propagates to its pivot.
    let pivots = (0..size).map(|i| tile[(i, i)]);
    match outcome {
        _ if pivots.clone().any(|pivot| !pivot.is_finite()) => {
            Err(Error::NotFinite { what: "a scatter matrix" })
        }
        Ok(_) => Ok(tile),
        Err(llt::factor::LltError::NonPositivePivot { index }) => {
            Err(Error::NotPositiveDefinite { matrix: "right-hand matrix", pivot: index })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::krylov::tests::random;
    use crate::parallel::product;

    fn definite(size: usize) -> Mat<f64> {
        let half = random(size, size + 3, 5);
        product(half.as_ref(), half.transpose())
    }

    #[test]
    fn the_factor_times_its_transpose_is_the_matrix_at_sizes_around_a_tile() {
        for size in [1, 7, TILE - 1, TILE, TILE + 1, 2 * TILE + 33] {
            let matrix = definite(size);
            let found = cholesky(matrix.clone()).expect("definite");
            let lower = Mat::from_fn(size, size, |i, j| if i < j { 0.0 } else { found[(i, j)] });
            let back = product(lower.as_ref(), lower.transpose());
            assert!((back - &matrix).norm_max() < 1e-10 * matrix.norm_max(), "{size}");
        }
    }

    /// A factorization may write above the diagonal; some do, up to the width of a register.
    #[test]
    fn tiles_above_the_diagonal_stay_whatever_the_factorization_of_a_tile_leaves_there() {
        let scribbling = |tile: Mat<f64>| {
            let mut tile = factor(tile)?;
            for j in 0..tile.ncols() {
                tile.col_as_slice_mut(j)[..j].fill(f64::NAN);
            }
            Ok(tile)
        };
        for size in [TILE + 5, 3 * TILE + 50] {
            let marked = |mut matrix: Mat<f64>| {
                for j in 0..size {
                    let above = j / TILE * TILE;
                    matrix.col_as_slice_mut(j)[..above].fill(0.125);
                }
                matrix
            };
            let (plain, scribbled) =
                (cholesky(definite(size)), by_tiles(marked(definite(size)), scribbling, &Silent));
            let (plain, scribbled) = (plain.expect("definite"), scribbled.expect("definite"));
            for j in 0..size {
                assert_eq!(plain.col_as_slice(j)[j..], scribbled.col_as_slice(j)[j..]);
                let above = &scribbled.col_as_slice(j)[..j / TILE * TILE];
                assert!(above.iter().all(|value| value.to_bits() == 0.125_f64.to_bits()));
            }
        }
    }

    #[test]
    fn the_bad_pivot_is_counted_from_the_first_row_and_nan_is_told_apart() {
        let mut matrix = definite(TILE + 40);
        matrix[(TILE + 20, TILE + 20)] = -1.0;
        let failure = cholesky(matrix).expect_err("indefinite");
        assert_eq!(failure, Error::NotPositiveDefinite { matrix: "right-hand matrix", pivot: TILE + 20 });
        for (i, j) in [(3, 3), (TILE + 39, 2), (TILE + 39, TILE + 38)] {
            let mut matrix = definite(TILE + 40);
            matrix[(i, j)] = f64::NAN;
            assert!(matches!(cholesky(matrix), Err(Error::NotFinite { .. })), "{i} {j}");
        }
    }

    /// Triangular solves do not read above the diagonal either.
    #[test]
    fn triangular_solves_read_only_the_lower_triangle() {
        let size = 2 * TILE + 11;
        let factor = cholesky(definite(size)).expect("definite");
        let block = random(size, 40, 8);
        let mut holes = factor.clone();
        for j in 0..size {
            holes.col_as_slice_mut(j)[..j].fill(f64::NAN);
        }
        for columns in [1, 16, 40] {
            let solved = |factor: &Mat<f64>| {
                let (mut one, mut other) =
                    (block.subcols(0, columns).to_owned(), block.subcols(0, columns).to_owned());
                super::super::solve_lower(factor.as_ref(), one.as_mut());
                super::super::solve_lower_transposed(factor.as_ref(), other.as_mut());
                (one, other)
            };
            assert_eq!(solved(&holes), solved(&factor), "{columns}");
        }
    }
}
