//! Matrix products of operands that lie as the processor wants them.
//!
//! A library's product copies both operands into panels, every time. Here most operands meet many others, or are
//! made for the product: they are written into panels once. A panel of the left operand has as many rows as two vector
//! registers hold, the depth running slowest; a step of the kernel multiplies it by one number each of six columns. That
//! is twelve running sums in registers, which two loads and six broadcasts a step keep busy (Goto and van de Geijn 2008).
//!
//! Where all rows of a left panel begin with zeros, as those of a triangular matrix do, its sums begin behind them.
//!
//! Every entry is summed in the order of the depth, so its bits do not depend on how a product is cut.

use std::ops::Range;

use faer::{Mat, MatMut, MatRef};
use pulp::bytemuck::cast_slice;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use crate::Scalar;
use crate::lanes::Lanes;
use crate::parallel::zeros;
use crate::simd;
use crate::vector::column;

/// Columns that the kernel takes at a time.
pub const SIX: usize = 6;
/// Bytes of six columns that stay in the nearest cache while panels pass by.
const NEAREST: usize = 48 << 10;
/// Bytes of left panels that stay in the second cache while columns pass by.
const SECOND: usize = 192 << 10;
/// Depths that are packed at a time.
const PIECE: usize = 64;

/// An operand in panels of a few rows, all entries of one depth side by side.
#[derive(Debug)]
pub struct Panels<T> {
    width: usize,
    /// A column a panel.
    packed: Mat<T>,
    /// The depth from which on a panel has entries other than zero: products begin there.
    begins: Vec<usize>,
}

impl<T: Scalar> Panels<T> {
    /// Room for a left operand.
    pub fn left(rows: usize, depth: usize) -> Self {
        Self::of_width(left_width::<T>(), rows, depth)
    }

    /// Room for a right operand; rows are its columns then.
    pub fn right(columns: usize, depth: usize) -> Self {
        Self::of_width(SIX, columns, depth)
    }

    fn of_width(width: usize, rows: usize, depth: usize) -> Self {
        let panels = rows.div_ceil(width);
        Self { width, packed: zeros(width * depth, panels), begins: vec![0; panels] }
    }

    /// So many depths of all panels at a time, to be written side by side.
    pub fn slabs(&mut self, depths: usize) -> impl IndexedParallelIterator<Item = Slab<'_, T>> {
        let width = self.width;
        self.begins.fill(0);
        self.packed.par_row_chunks_mut(depths * width).map(move |panels| Slab { width, panels })
    }

    /// Makes the columns of a matrix the rows, each times `scale`; rows beyond the last column keep what they had.
    ///
    /// # Panics
    /// If columns are not contiguous, or there are more of them than rows.
    pub fn pack_columns(&mut self, columns: MatRef<'_, T>, scale: T) {
        let width = self.width;
        for (panel, first) in (0..columns.ncols()).step_by(width).enumerate() {
            let own = (first..columns.ncols().min(first + width)).map(|index| column(columns, index));
            let zeros = |column: &[T]| column.iter().take_while(|&&value| value == T::zeroed()).count();
            // Nothing is known of the rows that a last panel keeps.
            let whole = first + width <= columns.ncols();
            self.begins[panel] = if whole { own.map(zeros).min().unwrap_or(0) } else { 0 };
            let panel = self.packed.col_as_slice_mut(panel);
            // A piece of the panel stays in the nearest cache until all of its rows are there.
            for (piece, start) in panel.chunks_mut(PIECE * width).zip((0..columns.nrows()).step_by(PIECE)) {
                for place in 0..width.min(columns.ncols() - first) {
                    let places = piece[place..].iter_mut().step_by(width);
                    places
                        .zip(&column(columns, first + place)[start..])
                        .for_each(|(place, &value)| *place = scale * value);
                }
            }
        }
    }
}

impl<T: Scalar> Panels<T> {
    /// Makes the rows of a matrix the rows, its columns the depths.
    pub fn pack_rows(&mut self, matrix: MatRef<'_, T>) {
        self.slabs(PIECE).enumerate().for_each(|(index, mut slab)| {
            let columns = matrix.col_iter().skip(index * PIECE).take(PIECE);
            columns.enumerate().for_each(|(depth, column)| match column.try_as_col_major() {
                Some(column) => slab.put(depth, column.as_slice()),
                None => slab.put(depth, &column.iter().copied().collect::<Vec<_>>()),
            });
        });
    }
}

/// All panels over a few depths.
#[derive(Debug)]
pub struct Slab<'a, T> {
    width: usize,
    panels: MatMut<'a, T>,
}

impl<T: Scalar> Slab<'_, T> {
    /// Writes the numbers of all rows at one depth, counted from the slab's first.
    pub fn put(&mut self, depth: usize, values: &[T]) {
        // With a width that the compiler knows, a piece is copied in a register or two.
        match self.width {
            SIX => self.put_pieces::<SIX>(depth, values),
            8 => self.put_pieces::<8>(depth, values),
            16 => self.put_pieces::<16>(depth, values),
            32 => self.put_pieces::<32>(depth, values),
            width => self.put_rest(depth, values, 0, width),
        }
    }

    #[inline(always)]
    fn put_pieces<const WIDTH: usize>(&mut self, depth: usize, values: &[T]) {
        let (pieces, rest) = values.as_chunks::<WIDTH>();
        for (panel, piece) in self.panels.as_mut().col_iter_mut().zip(pieces) {
            let panel = panel.try_as_col_major_mut().expect("columns of an owned matrix").as_slice_mut();
            panel.as_chunks_mut::<WIDTH>().0[depth] = *piece;
        }
        self.put_rest(depth, rest, pieces.len(), WIDTH);
    }

    fn put_rest(&mut self, depth: usize, values: &[T], first: usize, width: usize) {
        for (panel, values) in self.panels.as_mut().col_iter_mut().skip(first).zip(values.chunks(width)) {
            let panel = panel.try_as_col_major_mut().expect("columns of an owned matrix").as_slice_mut();
            panel[depth * width..][..values.len()].copy_from_slice(values);
        }
    }
}

/// How many roundings an entry of a product goes through: sums run in registers for a stretch of the depth, and the sums of
/// stretches are added up. With unit roundoff $u$ and $c$ roundings an entry is off by at most
/// `$\frac{c u}{1 - c u} \|l\| \|r\|$` (Higham 2002, section 3.1, by Cauchy and Schwarz), at any width of the registers.
pub fn roundings<T: Scalar>(depth: usize) -> usize {
    let step = depth_step::<T>(depth);
    // One more for a product that is not fused with its sum.
    step + depth.div_ceil(step) + 1
}

/// Depths that are summed up in registers at a time.
fn depth_step<T: Scalar>(depth: usize) -> usize {
    (NEAREST / (SIX * size_of::<T>())).clamp(1, depth.max(1))
}

/// Rows of a panel on the left, on this machine.
fn left_width<T: Scalar>() -> usize {
    struct Width<T>(std::marker::PhantomData<T>);
    impl<T: Lanes> WithSimd for Width<T> {
        type Output = usize;

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> usize {
            2 * T::lanes::<S>()
        }
    }
    simd::dispatch(Width::<T>(std::marker::PhantomData))
}

/// What the left panels are multiplied by.
#[derive(Debug, Clone, Copy)]
pub enum Right<'a, T> {
    /// Columns as they are, contiguous.
    Columns(MatRef<'a, T>),
    /// Panels of six, from a column on that begins one.
    Packed(&'a Panels<T>, usize),
}

/// A product to add to a matrix.
pub struct Product<'a, T> {
    /// Left operand.
    pub left: &'a Panels<T>,
    /// The row of it that comes first; one that begins a panel.
    pub first_row: usize,
    /// Right operand.
    pub right: Right<'a, T>,
    /// How far to sum.
    pub depth: usize,
    /// Whether only entries on and below the diagonal are asked for; a little above it is added too then.
    pub lower: bool,
}

impl<T: Scalar> Product<'_, T> {
    /// Adds the product to a matrix whose columns are contiguous.
    pub fn add_to(&self, sum: MatMut<'_, T>) {
        simd::dispatch(Run { product: self, sum, replace: false });
    }

    /// Writes the product into a matrix whose columns are contiguous.
    pub fn write_to(&self, sum: MatMut<'_, T>) {
        simd::dispatch(Run { product: self, sum, replace: true });
    }
}

struct Run<'a, T> {
    product: &'a Product<'a, T>,
    sum: MatMut<'a, T>,
    /// Whether what is there counts for nothing.
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
        let group = (SECOND / (step * size_of::<T>()) / left.width).max(1) * left.width;
        for start in (0..depth).step_by(step) {
            let depths = start..(start + step).min(depth);
            for first in (0..self.sum.nrows()).step_by(group) {
                let rows = first..(first + group).min(self.sum.nrows());
                for first_column in (0..self.sum.ncols()).step_by(SIX) {
                    match right {
                        Right::Packed(right, first) => {
                            let panel = right.packed.col_as_slice((first + first_column) / SIX);
                            self.six_columns(
                                simd,
                                rows.clone(),
                                first_column,
                                depths.clone(),
                                #[inline(always)]
                                |depths| panel[depths.start * SIX..depths.end * SIX].as_chunks().0.iter(),
                            );
                        }
                        Right::Columns(right) => {
                            // Where fewer than six are left, the last stands in for those that are not there.
                            let slice =
                                |place: usize| column(right, (first_column + place).min(right.ncols() - 1));
                            let columns: [&[T]; SIX] = std::array::from_fn(slice);
                            self.six_columns(
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
    /// Some rows of up to six columns, which `right` has for any depths.
    #[inline(always)]
    fn six_columns<S: Simd, I: Iterator<Item: Step<T>>>(
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
            let from = left.begins[index].clamp(depths.start, depths.end);
            let panel = &left.packed.col_as_slice(index)[from * width..depths.end * width];
            let right = right(from..depths.end);
            // The last rows may need the first of the two registers alone.
            let vectors = T::vectors::<S>(panel);
            let sums = if (rows.end - row) * 2 > width {
                register_tile::<T, S, 2>(simd, vectors, right)
            } else {
                register_tile::<T, S, 1>(simd, vectors, right)
            };
            for (place, sums) in (column..self.sum.ncols()).zip(&sums) {
                let values: &[T] = cast_slice(sums);
                let column =
                    self.sum.as_mut().col_mut(place).try_as_col_major_mut().expect("contiguous columns");
                let into = &mut column.as_slice_mut()[row..rows.end.min(row + width)];
                let fresh = self.replace && depths.start == 0;
                // A whole panel has a length that the compiler knows.
                if into.len() == values.len() {
                    put(&mut into[..values.len()], values, fresh);
                } else {
                    put(into, values, fresh);
                }
            }
        }
    }
}

/// Writes values, or adds them to what is there.
#[inline(always)]
fn put<T: Scalar>(into: &mut [T], values: &[T], fresh: bool) {
    if fresh {
        into.iter_mut().zip(values).for_each(|(sum, &value)| *sum = value);
    } else {
        into.iter_mut().zip(values).for_each(|(sum, &value)| *sum += value);
    }
}

/// One number each of six columns, at one depth.
trait Step<T> {
    fn at(&self, place: usize) -> T;
}

impl<T: Scalar> Step<T> for [T; SIX] {
    #[inline(always)]
    fn at(&self, place: usize) -> T {
        self[place]
    }
}

/// Read from where they lie: a copy of all six would be kept in registers that the sums need.
impl<T: Scalar> Step<T> for &[T; SIX] {
    #[inline(always)]
    fn at(&self, place: usize) -> T {
        self[place]
    }
}

/// The products of so many registers of one panel, one or both, and six columns.
#[inline(always)]
fn register_tile<T: Lanes, S: Simd, const REGISTERS: usize>(
    simd: S,
    left: &[T::Vector<S>],
    right: impl Iterator<Item: Step<T>>,
) -> [[T::Vector<S>; 2]; SIX] {
    let mut sums = [[T::splat(simd, T::zeroed()); 2]; SIX];
    for (&[upper, lower], right) in left.as_chunks().0.iter().zip(right) {
        for (place, sums) in sums.iter_mut().enumerate() {
            let value = T::splat(simd, right.at(place));
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
    use super::*;
    use crate::krylov::tests::random;
    use crate::parallel::product;

    /// Products of shapes around the edges of panels, sixes, and steps of the depth.
    #[test]
    fn products_of_any_shape_are_those_of_the_formula() {
        for (rows, columns, depth) in
            [(1, 1, 1), (7, 6, 3), (8, 5, 20), (33, 13, 511), (130, 64, 1100), (16, 1, 0)]
        {
            let (left, right) = (random(depth, rows, 1), random(depth, columns, 2));
            let expected = product(left.transpose(), right.as_ref());
            let mut panels = Panels::left(rows, depth);
            panels.pack_columns(left.as_ref(), 1.0);
            let mut sixes = Panels::right(columns, depth);
            sixes.pack_rows(right.transpose());
            for right in [Right::Columns(right.as_ref()), Right::Packed(&sixes, 0)] {
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
            // Column j begins at depth 3 j, the last ones are zero throughout.
            let left = Mat::from_fn(depth, 40, |i, j| if i < 3 * j { 0.0 } else { (i * 7 % 11 + j) as f64 });
            let right = random(depth, 13, 2);
            let expected = product(left.transpose(), right.as_ref());
            let mut panels = Panels::left(40, depth);
            panels.pack_columns(left.as_ref(), 1.0);
            assert!(panels.begins.iter().any(|&begin| begin > 0));
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
