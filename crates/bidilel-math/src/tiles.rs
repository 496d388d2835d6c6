//! Symmetric rank-k updates on packed operands, tile by tile: only the lower triangle is computed.

use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

use crate::Observer;
use crate::panels::{Panels, Product, Right};
use crate::parallel::zeros;
use crate::vector::column;

/// Rows and columns of a tile. A multiple of the panel width at every SIMD level, so that tiles begin with a panel.
pub(crate) const TILE: usize = 240;
/// Rows of a tile per task: small enough to balance the load of the threads.
const ROWS_PER_TASK: usize = 96;
/// Depths that one thread packs at a time.
const SLAB_DEPTHS: usize = 24;

/// A symmetric product $L R^\top$ of packed operands, any tile of which can be added to a matrix.
#[derive(Clone, Copy)]
pub(crate) struct RankUpdate<'a> {
    pub(crate) left: &'a Panels<f64>,
    pub(crate) right: &'a Panels<f64>,
    pub(crate) depth: usize,
}

impl RankUpdate<'_> {
    /// Adds the lower triangle. Entries above the diagonal are undefined afterwards.
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

    /// Adds a rectangular block whose first row and column are the first of a tile.
    pub(crate) fn add_tiles(self, sum: MatMut<'_, f64>, first_row: usize, first_column: usize) {
        sum.par_row_chunks_mut(ROWS_PER_TASK).enumerate().for_each(|(index, part)| {
            self.product(first_row + index * ROWS_PER_TASK, first_column, false).add_to(part);
        });
    }

    /// Adds a tile on the diagonal: its lower triangle and some entries just above it.
    pub(crate) fn add_diagonal(self, tile: MatMut<'_, f64>, index: usize) {
        self.product(index * TILE, index * TILE, true).add_to(tile);
    }

    fn product(&self, first_row: usize, first_column: usize, lower: bool) -> Product<'_, f64> {
        let right = Right::Packed(self.right, first_column);
        Product { left: self.left, first_row, right, depth: self.depth, lower }
    }
}

/// Symmetric rank-2k update: subtracts $S T^\top + T S^\top$ from the lower triangle of a square matrix, and from some entries just
/// above its diagonal. Of a canceled computation some columns stay as they are.
///
/// # Panics
/// If columns are not contiguous.
pub(crate) fn subtract_rank_2k(
    square: MatMut<'_, f64>,
    one: MatRef<'_, f64>,
    other: MatRef<'_, f64>,
    watch: &dyn Observer,
) {
    let (dim, depth) = (one.nrows(), one.ncols() + other.ncols());
    let (mut left, mut right) = (Panels::left(dim, depth), Panels::right(dim, depth));
    let pack = |panels: &mut Panels<f64>, (one, other): (MatRef<'_, f64>, MatRef<'_, f64>), sign: f64| {
        panels.slabs(SLAB_DEPTHS).enumerate().for_each(|(index, mut slab)| {
            let mut values = vec![0.0; dim];
            for (offset, depth) in (index * SLAB_DEPTHS..depth.min((index + 1) * SLAB_DEPTHS)).enumerate() {
                let from =
                    if depth < one.ncols() { column(one, depth) } else { column(other, depth - one.ncols()) };
                values.iter_mut().zip(from).for_each(|(value, from)| *value = sign * from);
                slab.put(offset, &values);
            }
        });
    };
    pack(&mut left, (one, other), -1.0);
    pack(&mut right, (other, one), 1.0);
    square.par_col_chunks_mut(ROWS_PER_TASK).enumerate().for_each(|(index, columns)| {
        if watch.poll().is_break() {
            return;
        }
        let first = index * ROWS_PER_TASK;
        let right = Right::Packed(&right, first);
        let below = columns.split_at_row_mut(first).1;
        Product { left: &left, first_row: first, right, depth, lower: true }.add_to(below);
    });
}

/// $C^\top M$ for a large matrix $C$ and a narrow block $M$; where $C$ is symmetric, their product.
///
/// It is computed as the transpose of $M^\top C$: the block is packed, and the columns of the large matrix are read in place.
///
/// # Panics
/// If columns are not contiguous.
pub(crate) fn transposed_times(matrix: MatRef<'_, f64>, block: MatRef<'_, f64>) -> Mat<f64> {
    let (depth, width, columns) = (block.nrows(), block.ncols(), matrix.ncols());
    let mut left = Panels::left(width, depth);
    left.pack_columns(block, 1.0);
    let mut transposed = zeros(width, columns);
    transposed.par_col_chunks_mut(ROWS_PER_TASK).enumerate().for_each(|(index, part)| {
        let right = Right::Columns(matrix.subcols(index * ROWS_PER_TASK, part.ncols()));
        Product { left: &left, first_row: 0, right, depth, lower: false }.write_to(part);
    });
    let mut image = zeros(columns, width);
    transpose_into(transposed.as_ref(), image.as_mut());
    image
}

/// Writes the transpose of a matrix, blocked for the cache.
pub(crate) fn transpose_into(from: MatRef<'_, f64>, mut into: MatMut<'_, f64>) {
    const BLOCK: usize = 16;
    for left in (0..from.ncols()).step_by(BLOCK) {
        let columns = BLOCK.min(from.ncols() - left);
        for top in (0..from.nrows()).step_by(BLOCK) {
            let rows = BLOCK.min(from.nrows() - top);
            let block = from.submatrix(top, left, rows, columns);
            into.as_mut().submatrix_mut(left, top, columns, rows).copy_from(block.transpose());
        }
    }
}

/// Copies the lower triangle to the upper one.
pub(crate) fn mirror(matrix: &mut Mat<f64>) {
    symmetrize_with(matrix, |below, _| below);
}

/// Replaces an entry below the diagonal and its mirror image by `combine` of the two. Blocked, since whole rows would not stay in
/// the cache.
pub(crate) fn symmetrize_with(matrix: &mut Mat<f64>, combine: impl Fn(f64, f64) -> f64) {
    const BLOCK: usize = 32;
    let dim = matrix.nrows();
    for left in (0..dim).step_by(BLOCK) {
        for top in (left..dim).step_by(BLOCK) {
            for column in left..dim.min(left + BLOCK) {
                for row in top.max(column + 1)..dim.min(top + BLOCK) {
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
    use crate::Silent;
    use crate::krylov::tests::random;
    use crate::parallel::product;

    /// A matrix packed as both operands of its product with its transpose.
    pub(crate) fn packed(matrix: MatRef<'_, f64>) -> (Panels<f64>, Panels<f64>) {
        let (rows, depth) = (matrix.nrows(), matrix.ncols());
        let (mut left, mut right) = (Panels::left(rows, depth), Panels::right(rows, depth));
        left.pack_rows(matrix);
        right.pack_rows(matrix);
        (left, right)
    }

    #[test]
    fn a_rank_2k_update_equals_the_product() {
        for (dim, depth) in [(1, 1), (97, 30), (300, 96)] {
            let (one, other) = (random(dim, depth, 1), random(dim, depth, 2));
            let mut square = random(dim, dim, 3);
            let both = product(one.as_ref(), other.transpose()) + product(other.as_ref(), one.transpose());
            let expected = &square - both;
            subtract_rank_2k(square.as_mut(), one.as_ref(), other.as_ref(), &Silent);
            for j in 0..dim {
                assert!((j..dim).all(|i| (square[(i, j)] - expected[(i, j)]).abs() < 1e-11), "{dim}");
            }
        }
    }

    #[test]
    fn a_transposed_matrix_times_a_block_equals_the_product_at_any_size() {
        for (rows, columns, width) in
            [(1, 1, 1), (95, 95, 16), (97, 97, 5), (97, 40, 16), (700, 700, 17), (300, 211, 33)]
        {
            let (matrix, block) = (random(rows, columns, 4), random(rows, width, 5));
            let image = transposed_times(matrix.as_ref(), block.as_ref());
            assert!((image - product(matrix.transpose(), block.as_ref())).norm_max() < 1e-11, "{rows}");
        }
    }

    #[test]
    fn a_mirrored_rank_k_update_equals_the_product_at_any_size() {
        for dim in [1, 11, 59, 61, 120, 239, 240, 241, 700] {
            let factor = random(17, dim, 9);
            let mut sum = zeros(dim, dim);
            let (left, right) = packed(factor.transpose());
            RankUpdate { left: &left, right: &right, depth: 17 }.add_lower(&mut sum);
            mirror(&mut sum);
            let whole = product(factor.transpose(), factor.as_ref());
            assert!((sum - whole).norm_max() < 1e-12, "{dim}");
        }
    }
}
