//! The GEMM loop nest and its micro-kernel.
//!
//! Three loops of cache blocking (depth, rows, columns) around a register tile of two vector registers by six columns.

use std::ops::Range;

use faer::{MatMut, MatRef};
use pulp::bytemuck::cast_slice;
use pulp::{Simd, WithSimd};

use super::{MICRO_COLUMNS, Panels};
use crate::Scalar;
use crate::lanes::Lanes;
use crate::simd;
use crate::vector::column;

/// Bytes of a right panel that stay in the L1 cache while left panels stream by.
const L1_TILE_BYTES: usize = 48 << 10;
/// Bytes of left panels that stay in the L2 cache while right panels stream by.
const L2_TILE_BYTES: usize = 192 << 10;

/// The number of roundings behind one entry of a product: accumulators sum a block of the depth in registers, and the sums of the
/// blocks are added up. With unit roundoff $u$ and $c$ roundings the error of an entry is at most
/// `$\frac{c u}{1 - c u} \|l\| \|r\|$` (Higham 2002, section 3.1, and the Cauchy-Schwarz inequality), at any register width.
pub(crate) fn roundings<T: Scalar>(depth: usize) -> usize {
    let step = depth_step::<T>(depth);
    // One more where multiplication and addition are not fused.
    step + depth.div_ceil(step) + 1
}

/// Depth of a cache block: how many terms are summed in registers at a time.
fn depth_step<T: Scalar>(depth: usize) -> usize {
    (L1_TILE_BYTES / (MICRO_COLUMNS * size_of::<T>())).clamp(1, depth.max(1))
}

/// The right operand of a product.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Right<'a, T> {
    /// An unpacked matrix with contiguous columns.
    Columns(MatRef<'a, T>),
    /// Packed panels, from this column on, which must be the first of a panel.
    Packed(&'a Panels<T>, usize),
}

/// A product of packed operands, to be written to a matrix or added to it.
pub(crate) struct Product<'a, T> {
    /// The left operand.
    pub(crate) left: &'a Panels<T>,
    /// Its first row in the product, which must be the first of a panel.
    pub(crate) first_row: usize,
    /// The right operand.
    pub(crate) right: Right<'a, T>,
    /// The depth of the product: the number of terms in each sum.
    pub(crate) depth: usize,
    /// Whether only entries on and below the diagonal are needed. Some entries just above it are computed too.
    pub(crate) lower: bool,
}

impl<T: Scalar> Product<'_, T> {
    /// Adds the product to a matrix whose columns are contiguous.
    pub(crate) fn add_to(&self, sum: MatMut<'_, T>) {
        simd::run_kernel(Run { product: self, sum, replace: false });
    }

    /// Writes the product into a matrix whose columns are contiguous.
    pub(crate) fn write_to(&self, sum: MatMut<'_, T>) {
        simd::run_kernel(Run { product: self, sum, replace: true });
    }
}

struct Run<'a, T> {
    product: &'a Product<'a, T>,
    sum: MatMut<'a, T>,
    /// Whether the product replaces the entries of `sum`.
    replace: bool,
}

impl<T: Scalar> WithSimd for Run<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let Product { left, depth, right, .. } = *self.product;
        if self.replace && depth == 0 {
            self.sum.fill(T::zeroed());
        }
        let step = depth_step::<T>(depth);
        let group = (L2_TILE_BYTES / (step * size_of::<T>()) / left.width).max(1) * left.width;
        for start in (0..depth).step_by(step) {
            let depths = start..(start + step).min(depth);
            for first in (0..self.sum.nrows()).step_by(group) {
                let rows = first..(first + group).min(self.sum.nrows());
                for first_column in (0..self.sum.ncols()).step_by(MICRO_COLUMNS) {
                    match right {
                        Right::Packed(right, first) => {
                            let panel = right.packed.col_as_slice((first + first_column) / MICRO_COLUMNS);
                            self.micro_columns(
                                simd,
                                rows.clone(),
                                first_column,
                                depths.clone(),
                                #[inline(always)]
                                |depths| {
                                    panel[depths.start * MICRO_COLUMNS..depths.end * MICRO_COLUMNS]
                                        .as_chunks()
                                        .0
                                        .iter()
                                },
                            );
                        }
                        Right::Columns(right) => {
                            // In a partial last panel, copies of the last column pad it to full width.
                            let slice =
                                |offset: usize| column(right, (first_column + offset).min(right.ncols() - 1));
                            let columns: [&[T]; MICRO_COLUMNS] = std::array::from_fn(slice);
                            self.micro_columns(
                                simd,
                                rows.clone(),
                                first_column,
                                depths.clone(),
                                #[inline(always)]
                                |depths| {
                                    let count = depths.len();
                                    let [a, b, c, d, e, f] = columns.map(|column| &column[depths.clone()]);
                                    let (a, b, c) = (&a[..count], &b[..count], &c[..count]);
                                    let (d, e, f) = (&d[..count], &e[..count], &f[..count]);
                                    (0..count).map(
                                        #[inline(always)]
                                        move |k| [a[k], b[k], c[k], d[k], e[k], f[k]],
                                    )
                                },
                            );
                        }
                    }
                }
            }
        }
    }
}

impl<T: Scalar> Run<'_, T> {
    /// A range of rows of up to [`MICRO_COLUMNS`] columns; `right` yields the columns over a range of depths.
    #[inline(always)]
    fn micro_columns<S: Simd, I: Iterator<Item: Step<T>>>(
        &mut self,
        simd: S,
        rows: Range<usize>,
        column: usize,
        depths: Range<usize>,
        right: impl Fn(Range<usize>) -> I,
    ) {
        let Product { left, first_row, lower, .. } = *self.product;
        let width = left.width;
        let begin = if lower { rows.start.max(column / width * width) } else { rows.start };
        for row in (begin..rows.end).step_by(width) {
            let index = (first_row + row) / width;
            let from = left.leading_zeros[index].clamp(depths.start, depths.end);
            let panel = &left.packed.col_as_slice(index)[from * width..depths.end * width];
            let right = right(from..depths.end);
            // The last rows may fit into the first of the two registers.
            let vectors = T::vectors::<S>(panel);
            let sums = if (rows.end - row) * 2 > width {
                register_tile::<T, S, 2>(simd, vectors, right)
            } else {
                register_tile::<T, S, 1>(simd, vectors, right)
            };
            for (index, sums) in (column..self.sum.ncols()).zip(&sums) {
                let values: &[T] = cast_slice(sums);
                let column =
                    self.sum.as_mut().col_mut(index).try_as_col_major_mut().expect("contiguous columns");
                let into = &mut column.as_slice_mut()[row..rows.end.min(row + width)];
                let fresh = self.replace && depths.start == 0;
                // The length of a whole panel is known at compile time.
                if into.len() == values.len() {
                    store(&mut into[..values.len()], values, fresh);
                } else {
                    store(into, values, fresh);
                }
            }
        }
    }
}

/// Writes values (`fresh`), or adds them to those already there.
#[inline(always)]
fn store<T: Scalar>(into: &mut [T], values: &[T], fresh: bool) {
    if fresh {
        into.iter_mut().zip(values).for_each(|(sum, &value)| *sum = value);
    } else {
        into.iter_mut().zip(values).for_each(|(sum, &value)| *sum += value);
    }
}

/// One row of a right panel: the entries of all its columns at one depth.
trait Step<T> {
    fn at(&self, column: usize) -> T;
}

impl<T: Scalar> Step<T> for [T; MICRO_COLUMNS] {
    #[inline(always)]
    fn at(&self, column: usize) -> T {
        self[column]
    }
}

/// By reference: a copy of all six entries would occupy registers that the accumulators need.
impl<T: Scalar> Step<T> for &[T; MICRO_COLUMNS] {
    #[inline(always)]
    fn at(&self, column: usize) -> T {
        self[column]
    }
}

/// The micro-kernel: a register tile of one or both registers of a left panel times six columns.
#[inline(always)]
fn register_tile<T: Lanes, S: Simd, const REGISTERS: usize>(
    simd: S,
    left: &[T::Vector<S>],
    right: impl Iterator<Item: Step<T>>,
) -> [[T::Vector<S>; 2]; MICRO_COLUMNS] {
    let mut sums = [[T::splat(simd, T::zeroed()); 2]; MICRO_COLUMNS];
    for (&[upper, lower], right) in left.as_chunks().0.iter().zip(right) {
        for (column, sums) in sums.iter_mut().enumerate() {
            let value = T::splat(simd, right.at(column));
            sums[0] = T::multiply_add(simd, upper, value, sums[0]);
            if REGISTERS == 2 {
                sums[1] = T::multiply_add(simd, lower, value, sums[1]);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use faer::Mat;

    use super::*;
    use crate::krylov::tests::random;
    use crate::parallel::product;

    /// Shapes around the edges of left panels, right panels and depth blocks.
    #[test]
    fn products_of_any_shape_are_those_of_the_formula() {
        for (rows, columns, depth) in
            [(1, 1, 1), (7, 6, 3), (8, 5, 20), (33, 13, 511), (130, 64, 1100), (16, 1, 0)]
        {
            let (left, right) = (random(depth, rows, 1), random(depth, columns, 2));
            let expected = product(left.transpose(), right.as_ref());
            let mut panels = Panels::left(rows, depth);
            panels.pack_columns(left.as_ref(), 1.0);
            let mut packed = Panels::right(columns, depth);
            packed.pack_rows(right.transpose());
            for right in [Right::Columns(right.as_ref()), Right::Packed(&packed, 0)] {
                let product = Product { left: &panels, first_row: 0, right, depth, lower: false };
                let mut found = Mat::from_fn(rows, columns, |i, j| (i + j) as f64);
                product.add_to(found.as_mut());
                let added = Mat::from_fn(rows, columns, |i, j| expected[(i, j)] + (i + j) as f64);
                assert!((&found - added).norm_max() < 1e-11, "{rows} {columns} {depth}");
                product.write_to(found.as_mut());
                assert!((&found - &expected).norm_max() < 1e-11, "{rows} {columns} {depth}");
            }
        }
    }

    #[test]
    fn leading_zeros_change_nothing() {
        for depth in [7, 100, 1300] {
            // Column j has 3 j leading zeros; the last columns are zero.
            let left = Mat::from_fn(depth, 40, |i, j| if i < 3 * j { 0.0 } else { (i * 7 % 11 + j) as f64 });
            let right = random(depth, 13, 2);
            let expected = product(left.transpose(), right.as_ref());
            let mut panels = Panels::left(40, depth);
            panels.pack_columns(left.as_ref(), 1.0);
            assert!(panels.leading_zeros.iter().any(|&count| count > 0));
            let right = Right::Columns(right.as_ref());
            let product = Product { left: &panels, first_row: 0, right, depth, lower: false };
            let mut found = Mat::full(40, 13, f64::NAN);
            product.write_to(found.as_mut());
            assert!((&found - &expected).norm_max() < 1e-9, "{depth}");
            product.add_to(found.as_mut());
            assert!((found - 2.0 * expected).norm_max() < 1e-9, "{depth}");
        }
    }

    #[test]
    fn single_precision_agrees_with_double() {
        let (left, right) = (random(300, 40, 3), random(300, 17, 4));
        let narrow =
            |wide: &Mat<f64>| Mat::from_fn(wide.nrows(), wide.ncols(), |i, j| f32::from_f64(wide[(i, j)]));
        let (narrow_left, narrow_right) = (narrow(&left), narrow(&right));
        let mut panels = Panels::left(40, 300);
        panels.pack_columns(narrow_left.as_ref(), -2.0);
        let mut found = Mat::zeros(40, 17);
        let right_side = Right::Columns(narrow_right.as_ref());
        Product { left: &panels, first_row: 0, right: right_side, depth: 300, lower: false }
            .write_to(found.as_mut());
        let expected = product(left.transpose(), right.as_ref());
        let off = |i: usize, j: usize| (f64::from(found[(i, j)]) + 2.0 * expected[(i, j)]).abs();
        assert!((0..40).all(|i| (0..17).all(|j| off(i, j) < 1e-4)));
    }
}
