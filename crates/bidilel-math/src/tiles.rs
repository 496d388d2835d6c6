//! Sums of products $S^\top T$ that are symmetric: only the half below the diagonal is multiplied out, tile by tile.

use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

use crate::panels::{Panels, Product, Right};
use crate::vector::column;

/// Rows and columns of a tile: panels begin at its multiples, whatever the width of the registers.
pub(crate) const TILE: usize = 240;
/// Rows of a tile that one thread takes: small enough that none waits long for the others.
const SHARE: usize = 96;
/// Depths that one thread packs at a time.
const SLAB: usize = 24;

/// A product of which any tile can be added: the rows of both operands are its rows and its columns.
#[derive(Clone, Copy)]
pub(crate) struct Symmetric<'a> {
    pub(crate) left: &'a Panels<f64>,
    pub(crate) right: &'a Panels<f64>,
    pub(crate) depth: usize,
}

impl Symmetric<'_> {
    /// Adds the half on and below the diagonal. What is above it means nothing afterwards.
    pub(crate) fn add_lower(self, sum: &mut Mat<f64>) {
        let panels = sum.par_col_chunks_mut(TILE).enumerate();
        panels.for_each(|(index, panel)| self.add_lower_panel(panel, index));
    }

    /// The same for one panel of columns.
    pub(crate) fn add_lower_panel(self, panel: MatMut<'_, f64>, index: usize) {
        let (first, count) = (index * TILE, panel.ncols());
        let (square, below) = panel.split_at_row_mut(first).1.split_at_row_mut(count);
        rayon::join(|| self.add_diagonal(square, index), || self.add_tiles(below, first + count, first));
    }

    /// Adds to all rows of some columns, from the given row and column on, which begin tiles.
    pub(crate) fn add_tiles(self, sum: MatMut<'_, f64>, first_row: usize, first_column: usize) {
        sum.par_row_chunks_mut(SHARE).enumerate().for_each(|(index, part)| {
            self.product(first_row + index * SHARE, first_column, false).add_to(part);
        });
    }

    /// Adds to the tile on the diagonal, on and below it and a little above.
    pub(crate) fn add_diagonal(self, tile: MatMut<'_, f64>, index: usize) {
        self.product(index * TILE, index * TILE, true).add_to(tile);
    }

    fn product(&self, first_row: usize, first_column: usize, lower: bool) -> Product<'_, f64> {
        let right = Right::Packed(self.right, first_column);
        Product { left: self.left, first_row, right, depth: self.depth, lower }
    }
}

/// Takes $S T^\top + T S^\top$ from a square, on and below its diagonal and a little above.
///
/// # Panics
/// If columns are not contiguous.
pub(crate) fn subtract_both(square: MatMut<'_, f64>, one: MatRef<'_, f64>, other: MatRef<'_, f64>) {
    let (dim, depth) = (one.nrows(), one.ncols() + other.ncols());
    let (mut left, mut right) = (Panels::left(dim, depth), Panels::right(dim, depth));
    let pack = |panels: &mut Panels<f64>, (one, other): (MatRef<'_, f64>, MatRef<'_, f64>), sign: f64| {
        panels.slabs(SLAB).enumerate().for_each(|(index, mut slab)| {
            let mut values = vec![0.0; dim];
            for (place, depth) in (index * SLAB..depth.min((index + 1) * SLAB)).enumerate() {
                let from =
                    if depth < one.ncols() { column(one, depth) } else { column(other, depth - one.ncols()) };
                values.iter_mut().zip(from).for_each(|(value, from)| *value = sign * from);
                slab.put(place, &values);
            }
        });
    };
    pack(&mut left, (one, other), -1.0);
    pack(&mut right, (other, one), 1.0);
    square.par_col_chunks_mut(SHARE).enumerate().for_each(|(index, columns)| {
        let first = index * SHARE;
        let right = Right::Packed(&right, first);
        let below = columns.split_at_row_mut(first).1;
        Product { left: &left, first_row: first, right, depth, lower: true }.add_to(below);
    });
}

/// Writes a transposed matrix, block by block.
pub(crate) fn transpose_into(from: MatRef<'_, f64>, mut into: MatMut<'_, f64>) {
    const SIDE: usize = 16;
    for left in (0..from.ncols()).step_by(SIDE) {
        let columns = SIDE.min(from.ncols() - left);
        for top in (0..from.nrows()).step_by(SIDE) {
            let rows = SIDE.min(from.nrows() - top);
            let block = from.submatrix(top, left, rows, columns);
            into.as_mut().submatrix_mut(left, top, columns, rows).copy_from(block.transpose());
        }
    }
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
pub(crate) mod tests {
    use super::*;
    use crate::krylov::tests::random;
    use crate::parallel::{product, zeros};

    /// A matrix as both operands of its product with its transpose.
    pub(crate) fn packed(matrix: MatRef<'_, f64>) -> (Panels<f64>, Panels<f64>) {
        let (rows, depth) = (matrix.nrows(), matrix.ncols());
        let (mut left, mut right) = (Panels::left(rows, depth), Panels::right(rows, depth));
        left.pack_rows(matrix);
        right.pack_rows(matrix);
        (left, right)
    }

    #[test]
    fn two_products_and_their_mirror_images_are_taken_away() {
        for (dim, depth) in [(1, 1), (97, 30), (300, 96)] {
            let (one, other) = (random(dim, depth, 1), random(dim, depth, 2));
            let mut square = random(dim, dim, 3);
            let both = product(one.as_ref(), other.transpose()) + product(other.as_ref(), one.transpose());
            let expected = &square - both;
            subtract_both(square.as_mut(), one.as_ref(), other.as_ref());
            for j in 0..dim {
                assert!((j..dim).all(|i| (square[(i, j)] - expected[(i, j)]).abs() < 1e-11), "{dim}");
            }
        }
    }

    #[test]
    fn halves_mirrored_are_the_whole_product_at_any_size() {
        for dim in [1, 11, 59, 61, 120, 239, 240, 241, 700] {
            let factor = random(17, dim, 9);
            let mut sum = zeros(dim, dim);
            let (left, right) = packed(factor.transpose());
            Symmetric { left: &left, right: &right, depth: 17 }.add_lower(&mut sum);
            mirror(&mut sum);
            let whole = product(factor.transpose(), factor.as_ref());
            assert!((sum - whole).norm_max() < 1e-12, "{dim}");
        }
    }
}
