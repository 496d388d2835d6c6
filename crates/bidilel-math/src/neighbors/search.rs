//! The exact search: a GEMM pass over all pairs of blocks in the features' own precision, then ranking in `f64`.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::candidates::{Candidates, truncate_to_best};
use crate::csr::Csr;
use crate::distance::{norm, squared_slices};
use crate::panels::{self, Panels, Product, Right};
use crate::parallel::zeros;
use crate::vector::column;
use crate::{Observer, Scalar};

/// Points of a block; a tile of products is a block by a block. Panels of any width divide it, and a tile in single
/// precision stays in the L2 cache together with its panels.
pub(super) const BLOCK_POINTS: usize = 192;
/// Bytes of the blocks that are packed at a time and multiplied by all others. All others are packed again for every
/// such group, so a group has at least a few blocks.
const GROUP_BYTES: usize = 16 << 20;
/// Blocks of a group, whatever their bytes.
const GROUP_BLOCKS: RangeInclusive<usize> = 6..=32;
/// Candidates beyond `k` that the first pass keeps, to absorb its rounding errors.
pub(super) const SPARE_CANDIDATES: usize = 8;
/// The binary exponent that the largest norm is scaled to in the first pass: its square, and a square of a millionth of
/// it, are far from both ends of the range of single precision.
const NORM_EXPONENT: i32 = 30;
/// The largest binary exponent of a scale: that of the range of single precision.
const MAX_SCALE_EXPONENT: i32 = 126;

/// A search for the `k` nearest other columns.
pub(super) struct Search<'a, T> {
    points: MatRef<'a, T>,
    squared_norms: Vec<f64>,
    /// The largest squared norm.
    pub(super) largest: f64,
    k: usize,
    /// The power of two that the first pass multiplies points by.
    pub(super) scale: f64,
    /// Queries that were searched again in `f64`.
    repeated: AtomicUsize,
}

impl<'a, T: Scalar> Search<'a, T> {
    /// Prepares a search among contiguous columns.
    pub(super) fn new(points: MatRef<'a, T>, k: usize) -> Self {
        let squared_norms: Vec<f64> =
            (0..points.ncols()).into_par_iter().map(|i| norm(column(points, i)).powi(2)).collect();
        let largest = squared_norms.iter().fold(0.0_f64, |a, &b| a.max(b));
        Self {
            points,
            squared_norms,
            largest,
            k,
            scale: scale(largest.sqrt()),
            repeated: AtomicUsize::new(0),
        }
    }

    /// The neighbor lists of all points.
    pub(super) fn all(&self, watch: &dyn Observer) -> Csr {
        let count = self.points.ncols();
        if self.k + SPARE_CANDIDATES >= count.saturating_sub(1) {
            // All points are candidates: a first pass would exclude nothing.
            return Csr::new(&vec![self.k; count], |query| self.in_full(query));
        }
        let found = self.candidates(watch);
        if watch.poll().is_break() {
            // Ranking lists that were never filled would search all of them again.
            return Csr::new(&vec![0; count], |_| Vec::new());
        }
        let rank = |query: usize| {
            if watch.poll().is_break() {
                // Nobody looks at the lists of a canceled search: only their lengths must be right.
                return vec![(query, 0.0); self.k];
            }
            let mut block = lock(&found[query / BLOCK_POINTS]);
            let best = std::mem::take(&mut block.best[query % BLOCK_POINTS]);
            drop(block);
            self.rank(query, best)
        };
        Csr::new(&vec![self.k; count], rank)
    }

    /// How many queries were searched again in `f64`.
    pub(super) fn repeated(&self) -> usize {
        self.repeated.load(Ordering::Relaxed)
    }

    /// The candidates of all queries, by block.
    fn candidates(&self, watch: &dyn Observer) -> Vec<Mutex<Candidates<T>>> {
        let blocks = self.points.ncols().div_ceil(BLOCK_POINTS);
        let all: Vec<_> =
            (0..blocks).map(|block| Mutex::new(self.empty_candidates(self.size(block)))).collect();
        let (done, pairs) = (AtomicUsize::new(0), blocks * (blocks + 1) / 2);
        let bytes = BLOCK_POINTS * self.points.nrows() * size_of::<T>();
        let group = (GROUP_BYTES / bytes.max(1)).clamp(*GROUP_BLOCKS.start(), *GROUP_BLOCKS.end());
        for first in (0..blocks).step_by(group) {
            let left_blocks: Vec<usize> = (first..blocks.min(first + group)).collect();
            let packed: Vec<_> = left_blocks.par_iter().map(|&one| self.pack(one)).collect();
            // One block per task: longer tasks would leave threads idle at the end.
            (first..blocks).into_par_iter().with_max_len(1).for_each_init(
                || (zeros::<T>(BLOCK_POINTS, BLOCK_POINTS), Panels::right(BLOCK_POINTS, self.points.nrows())),
                |(tile, right), other| {
                    right.pack_columns(self.block(other), T::from_f64(self.scale));
                    for (packed, &one) in packed.iter().zip(&left_blocks).filter(|&(_, &one)| one <= other) {
                        if watch.poll().is_break() {
                            return;
                        }
                        self.score(tile, (packed, right), &all, one, other);
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                },
            );
            watch.progress(done.load(Ordering::Relaxed), pairs);
            if watch.poll().is_break() {
                break;
            }
        }
        all
    }

    /// A block packed as a left operand, times the -2 of the formula.
    pub(super) fn pack(&self, block: usize) -> Panels<T> {
        let mut panels = Panels::left(self.size(block), self.points.nrows());
        panels.pack_columns(self.block(block), T::from_f64(-2.0 * self.scale));
        panels
    }

    /// Empty candidate lists for this many queries.
    pub(super) fn empty_candidates(&self, queries: usize) -> Candidates<T> {
        Candidates::new(queries, self.k + SPARE_CANDIDATES, self.points.ncols())
    }

    /// The points of a block.
    fn block(&self, block: usize) -> MatRef<'_, T> {
        self.points.subcols(block * BLOCK_POINTS, self.size(block))
    }

    /// The number of points of a block.
    pub(super) fn size(&self, block: usize) -> usize {
        BLOCK_POINTS.min(self.points.ncols() - block * BLOCK_POINTS)
    }

    /// Scores two blocks against each other, or a block against itself.
    fn score(
        &self,
        tile: &mut Mat<T>,
        (left, right): (&Panels<T>, &Panels<T>),
        all: &[Mutex<Candidates<T>>],
        one: usize,
        other: usize,
    ) {
        let (rows, columns) = (self.size(one), self.size(other));
        let right = Right::Packed(right, 0);
        let product = Product { left, first_row: 0, right, depth: self.points.nrows(), lower: false };
        product.write_to(tile.as_mut().submatrix_mut(0, 0, rows, columns));
        let products = |column: usize| &tile.col_as_slice(column)[..rows];
        // A column of the tile has all scores of one query of the right block, and one score of every query of the left one.
        let (row_norms, start) = (self.norms(one), one * BLOCK_POINTS);
        let mut candidates = lock(&all[other]);
        for query in 0..columns {
            let skip = (one == other).then_some(query);
            candidates.scan(query, products(query), &row_norms, start, skip);
        }
        drop(candidates);
        if one != other {
            let column_norms = self.norms(other);
            let mut candidates = lock(&all[one]);
            for (point, &norm) in column_norms.iter().enumerate() {
                candidates.offer(other * BLOCK_POINTS + point, norm, products(point));
            }
        }
    }

    /// The scaled squared norms of the points of a block.
    pub(super) fn norms(&self, block: usize) -> Vec<T> {
        self.squared_norms[block * BLOCK_POINTS..][..self.size(block)]
            .iter()
            .map(|&norm| T::from_f64(norm * self.scale * self.scale))
            .collect()
    }

    /// Orders the candidates by exact distance and keeps `k`.
    pub(super) fn rank(&self, query: usize, mut best: Vec<(T, u32)>) -> Vec<(usize, f64)> {
        truncate_to_best(&mut best, self.k + SPARE_CANDIDATES);
        // Points that are not candidates have a score of at least this.
        let whole = best.len() == self.points.ncols() - 1;
        let cut = best.iter().map(|(score, _)| score.to_f64()).max_by(f64::total_cmp).filter(|_| !whole);
        let mut list = self.distances(query, best.iter().map(|&(_, j)| j as usize));
        if list.len() < self.k {
            // The first pass overflowed, and its scores are meaningless.
            return self.in_full(query);
        } else if let (Some(cut), Some(&(_, kth))) = (cut, list.get(self.k.wrapping_sub(1))) {
            let square = self.scale * self.scale;
            let sure =
                cut + square * self.squared_norms[query] > square * kth * kth + self.rounding(query, kth);
            if !sure {
                self.repeated.fetch_add(1, Ordering::Relaxed);
                return self.in_full(query);
            }
        }
        list.truncate(self.k);
        list
    }

    /// Bound of the first pass's error for a point within this distance: $E$ of the module documentation.
    fn rounding(&self, query: usize, distance: f64) -> f64 {
        let dim = self.points.nrows();
        let own = self.squared_norms[query].sqrt();
        let reach = (own + distance).min(self.largest.sqrt());
        let unit = 0.5 * T::epsilon_impl().to_f64();
        let products = panels::roundings::<T>(dim) as f64 * unit;
        if products >= 0.5 {
            return f64::INFINITY;
        }
        let product = products / (1.0 - products);
        let least = dim as f64 * T::min_positive_impl().to_f64();
        // Distances and norms are rounded in double precision themselves.
        let double = 4.0 * (dim + 4) as f64 * f64::EPSILON;
        let relative =
            (2.0 * unit + double) * reach * reach + (2.0 * product + 4.0 * unit + double) * own * reach;
        self.scale * self.scale * relative + least
    }

    /// The neighbors of one point from its exact distances to all others.
    fn in_full(&self, query: usize) -> Vec<(usize, f64)> {
        let mut list = self.distances(query, (0..self.points.ncols()).filter(|&j| j != query));
        list.truncate(self.k);
        list
    }

    /// The exact distances of one point to others, ascending.
    pub(super) fn distances(&self, query: usize, others: impl Iterator<Item = usize>) -> Vec<(usize, f64)> {
        let own = column(self.points, query);
        let mut list: Vec<_> =
            others.map(|j| (j, squared_slices(own, column(self.points, j)).sqrt())).collect();
        list.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        list
    }
}

/// The power of two that brings a norm to about 2 to the [`NORM_EXPONENT`].
#[expect(clippy::cast_possible_truncation, reason = "exponents of floats are small")]
fn scale(norm: f64) -> f64 {
    if norm == 0.0 || !norm.is_finite() {
        return 1.0;
    }
    2.0_f64.powi((NORM_EXPONENT - norm.log2().ceil() as i32).clamp(-MAX_SCALE_EXPONENT, MAX_SCALE_EXPONENT))
}

/// A copy of a matrix whose columns are not contiguous, such as a transposed view.
pub(super) fn contiguous<T: Scalar>(points: MatRef<'_, T>) -> Option<Mat<T>> {
    (points.row_stride() != 1).then(|| points.to_owned())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
