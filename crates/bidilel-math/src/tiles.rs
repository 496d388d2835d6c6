//! Sums of products $S^\top T$ that are symmetric: only the half below the diagonal is multiplied out, tile by tile.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Rows and columns of a tile: a multiple of what the kernels of a product take at a time.
pub(crate) const TILE: usize = 240;
/// A tile on the diagonal is halved down to this size; what remains is multiplied out whole.
const LEAST: usize = 60;

/// Adds the lower half of `one' * other` to `sum`. What is above the diagonal means nothing afterwards.
pub(crate) fn add_lower(sum: &mut Mat<f64>, one: MatRef<'_, f64>, other: MatRef<'_, f64>) {
    sum.par_col_chunks_mut(TILE).enumerate().for_each(|(index, panel)| {
        add_lower_panel(panel, index, one, other);
    });
}

/// The same for one panel of columns.
pub(crate) fn add_lower_panel(
    panel: MatMut<'_, f64>,
    index: usize,
    one: MatRef<'_, f64>,
    other: MatRef<'_, f64>,
) {
    let (first, count) = (index * TILE, panel.ncols());
    let (square, below) = panel.split_at_row_mut(first).1.split_at_row_mut(count);
    let other = other.subcols(first, count);
    let after = first + count;
    rayon::join(
        || add_half(square, one.subcols(first, count), other),
        || add_tiles(below, one.subcols(after, one.ncols() - after), other),
    );
}

/// Adds `one' * other` tile by tile; the first columns of `one` belong to the first rows of `sum`.
pub(crate) fn add_tiles(sum: MatMut<'_, f64>, one: MatRef<'_, f64>, other: MatRef<'_, f64>) {
    sum.par_row_chunks_mut(TILE).enumerate().for_each(|(index, tile)| {
        let one = one.subcols(index * TILE, tile.nrows()).transpose();
        matmul(tile, Accum::Add, one, other, 1.0, Par::Seq);
    });
}

/// Adds `one' * other` on and below the diagonal of a square tile, and a little above it.
pub(crate) fn add_half(tile: MatMut<'_, f64>, one: MatRef<'_, f64>, other: MatRef<'_, f64>) {
    let size = tile.ncols();
    if size <= LEAST {
        return matmul(tile, Accum::Add, one.transpose(), other, 1.0, Par::Seq);
    }
    let half = (size / 2).next_multiple_of(12);
    let (above, _, below, rest) = tile.split_at_mut(half, half);
    add_half(above, one.subcols(0, half), other.subcols(0, half));
    let one = one.subcols(half, size - half);
    matmul(below, Accum::Add, one.transpose(), other.subcols(0, half), 1.0, Par::Seq);
    add_half(rest, one, other.subcols(half, size - half));
}

/// Copies the lower half to the upper one.
pub(crate) fn mirror(matrix: &mut Mat<f64>) {
    combine_halves(matrix, |below, _| below);
}

/// Puts what `combine` makes of an entry below the diagonal and its mirror image in the place of both, block by block:
/// whole rows would leave the cache at every step.
pub(crate) fn combine_halves(matrix: &mut Mat<f64>, combine: impl Fn(f64, f64) -> f64) {
    const SIDE: usize = 32;
    let dim = matrix.nrows();
    for left in (0..dim).step_by(SIDE) {
        for top in (left..dim).step_by(SIDE) {
            for column in left..dim.min(left + SIDE) {
                for row in top.max(column + 1)..dim.min(top + SIDE) {
                    let both = combine(matrix[(row, column)], matrix[(column, row)]);
                    (matrix[(row, column)], matrix[(column, row)]) = (both, both);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::krylov::tests::random;
    use crate::parallel::{product, zeros};

    #[test]
    fn halves_mirrored_are_the_whole_product_at_any_size() {
        for dim in [1, 11, 59, 61, 120, 239, 240, 241, 700] {
            let factor = random(17, dim, 9);
            let mut sum = zeros(dim, dim);
            add_lower(&mut sum, factor.as_ref(), factor.as_ref());
            mirror(&mut sum);
            let whole = product(factor.transpose(), factor.as_ref());
            assert!((sum - whole).norm_max() < 1e-12, "{dim}");
        }
    }
}
