//! GEMM on packed operands: $L R$ with both operands packed once and multiplied many times.
//!
//! A library's GEMM packs both operands in every call. Most operands here take part in many products, or are created for
//! one, so they are packed once, at the point where they are computed. A left panel holds as many rows as two vector
//! registers have lanes, depth-major; a right panel holds six columns. The micro-kernel (`product.rs`) keeps a
//! register tile of twelve accumulators, which two loads and six broadcasts per depth step keep busy.
//!
//! Leading zeros that all rows of a left panel share, as in a triangular matrix, are skipped.
//!
//! Every entry is summed in the order of the depth, so its bits do not depend on how a product is blocked.
//!
//! # References
//! K. Goto and R. van de Geijn, *Anatomy of high-performance matrix multiplication*, 2008.

mod product;

use faer::{Mat, MatMut, MatRef};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

pub(crate) use self::product::{Product, Right, roundings};
use crate::Scalar;
use crate::lanes::Lanes;
use crate::parallel::zeros;
use crate::simd;
use crate::vector::column;

/// Columns of a right panel, and of the micro-kernel's register tile.
const MICRO_COLUMNS: usize = 6;
/// Depths that are packed at a time, so that the part of a panel being written stays in the L1 cache.
const PACK_DEPTHS: usize = 64;

/// A packed operand: panels of a few rows, with the entries of one depth contiguous.
#[derive(Debug)]
pub(crate) struct Panels<T> {
    width: usize,
    /// One panel per column.
    packed: Mat<T>,
    /// Leading depths at which all rows of a panel are zero, per panel: products skip them.
    leading_zeros: Vec<usize>,
}

impl<T: Scalar> Panels<T> {
    /// Allocates a left operand.
    pub(crate) fn left(rows: usize, depth: usize) -> Self {
        Self::of_width(left_width::<T>(), rows, depth)
    }

    /// Allocates a right operand, whose columns are packed as rows.
    pub(crate) fn right(columns: usize, depth: usize) -> Self {
        Self::of_width(MICRO_COLUMNS, columns, depth)
    }

    fn of_width(width: usize, rows: usize, depth: usize) -> Self {
        let panels = rows.div_ceil(width);
        Self { width, packed: zeros(width * depth, panels), leading_zeros: vec![0; panels] }
    }

    /// All panels in slabs of `depths` depths, to be packed in parallel.
    pub(crate) fn slabs(&mut self, depths: usize) -> impl IndexedParallelIterator<Item = Slab<'_, T>> {
        let width = self.width;
        self.leading_zeros.fill(0);
        self.packed.par_row_chunks_mut(depths * width).map(move |panels| Slab { width, panels })
    }

    /// Packs the columns of a matrix as rows, multiplied by `scale`; rows beyond the last column keep their entries.
    ///
    /// # Panics
    /// If columns are not contiguous, or there are more of them than rows.
    pub(crate) fn pack_columns(&mut self, columns: MatRef<'_, T>, scale: T) {
        let width = self.width;
        for (panel, first) in (0..columns.ncols()).step_by(width).enumerate() {
            let own = (first..columns.ncols().min(first + width)).map(|index| column(columns, index));
            let zeros = |column: &[T]| column.iter().take_while(|&&value| value == T::zeroed()).count();
            // The rows that a partial last panel keeps may have any entries.
            let whole = first + width <= columns.ncols();
            self.leading_zeros[panel] = if whole { own.map(zeros).min().unwrap_or(0) } else { 0 };
            let panel = self.packed.col_as_slice_mut(panel);
            // Cache blocking: a piece of the panel stays in the L1 cache until all of its rows are written.
            for (piece, start) in
                panel.chunks_mut(PACK_DEPTHS * width).zip((0..columns.nrows()).step_by(PACK_DEPTHS))
            {
                for row in 0..width.min(columns.ncols() - first) {
                    let entries = piece[row..].iter_mut().step_by(width);
                    entries
                        .zip(&column(columns, first + row)[start..])
                        .for_each(|(entry, &value)| *entry = scale * value);
                }
            }
        }
    }
}

impl<T: Scalar> Panels<T> {
    /// Packs the rows of a matrix as rows, with its columns as depths.
    pub(crate) fn pack_rows(&mut self, matrix: MatRef<'_, T>) {
        self.slabs(PACK_DEPTHS).enumerate().for_each(|(index, mut slab)| {
            let columns = matrix.col_iter().skip(index * PACK_DEPTHS).take(PACK_DEPTHS);
            columns.enumerate().for_each(|(depth, column)| match column.try_as_col_major() {
                Some(column) => slab.put(depth, column.as_slice()),
                None => slab.put(depth, &column.iter().copied().collect::<Vec<_>>()),
            });
        });
    }
}

/// All panels over a range of depths.
#[derive(Debug)]
pub(crate) struct Slab<'a, T> {
    width: usize,
    panels: MatMut<'a, T>,
}

impl<T: Scalar> Slab<'_, T> {
    /// Writes the entries of all rows at one depth, counted from the first of the slab.
    pub(crate) fn put(&mut self, depth: usize, values: &[T]) {
        // A width that is known at compile time turns the copy of a piece into one or two register moves.
        match self.width {
            MICRO_COLUMNS => self.put_pieces::<MICRO_COLUMNS>(depth, values),
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

/// Rows of a left panel at the SIMD level in use: two registers.
fn left_width<T: Scalar>() -> usize {
    struct Width<T>(std::marker::PhantomData<T>);
    impl<T: Lanes> WithSimd for Width<T> {
        type Output = usize;

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> usize {
            2 * T::lanes::<S>()
        }
    }
    simd::run_kernel(Width::<T>(std::marker::PhantomData))
}
