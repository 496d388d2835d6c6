//! Exact nearest neighbours of every column among all the others.
//!
//! $\|x_i - x_j\|^2 = \|x_i\|^2 + \|x_j\|^2 - 2 x_i^\top x_j$: the products come tile by tile from a matrix
//! product in the features' own precision. A tile of two blocks of points serves both: its columns are scanned for
//! the one block's queries and its rows for the other's, so that only half of the products are computed. Each query
//! keeps its best `k + SPARE` candidates. These are then ranked by exact `f64` distances. Where rounding in the first
//! pass could have hidden a true neighbour, the query is searched again in `f64`, so the result is that of a
//! brute-force search in double precision.
//!
//! A block's candidates are the best of all scores by score and index, whatever the order in which blocks meet: threads
//! need only take turns at them, and the order is the one that finds most points in the cache.
//!
//! A point is not its own neighbour: it is left out by index, not by rank, since real data has duplicates.
//! `k` is clipped to the number of other points; equal distances go to the lower index.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use faer::{Mat, MatRef};
use rayon::prelude::*;

use crate::distance::{norm, squared_slices};
use crate::panels::{Panels, Product, Right};
use crate::parallel::zeros;
use crate::rows::{Row, Rows};
use crate::vector::column;
use crate::{Observer, Scalar};

mod approximate;
mod candidates;
mod restrict;
mod tree;

pub use approximate::approximate;
use candidates::{Candidates, cut_back};
pub use restrict::Restricted;

/// Points in a block; a tile of products is a block by a block. Panels of any width divide it, and a tile of single
/// precision stays in the second cache with the panels that it is made from.
const BLOCK: usize = 192;
/// Bytes of the blocks that are packed at a time, to meet all others. All others are packed anew for each such group, so
/// it has a few blocks at least.
const GROUP: usize = 16 << 20;
const BLOCKS: RangeInclusive<usize> = 6..=32;
/// Candidates beyond `k` that the first pass keeps, room for its rounding errors.
const SPARE: usize = 8;

/// The neighbours of every point, nearest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbors {
    lists: Rows,
}

impl Neighbors {
    /// `(index, distance)` of point `i`'s neighbours, nearest first.
    pub fn of(&self, i: usize) -> Row<'_> {
        self.lists.row(i)
    }

    /// How many points there are.
    pub fn count(&self) -> usize {
        self.lists.count()
    }
}

/// The `k` nearest other columns of every column of `points`.
pub fn exact<T: Scalar>(points: MatRef<'_, T>, k: usize, watch: &dyn Observer) -> Neighbors {
    let count = points.ncols();
    let k = k.min(count.saturating_sub(1));
    let copy = contiguous(points);
    let points = copy.as_ref().map_or(points, Mat::as_ref);
    let search = Search::new(points, k);
    let found = search.candidates(watch);
    let rank = |query: usize| {
        let best = std::mem::take(&mut lock(&found[query / BLOCK]).best[query % BLOCK]);
        search.rank(query, best)
    };
    Neighbors { lists: Rows::new(&vec![k; count], rank) }
}

/// The `k` nearest other columns **of the same label** of every column.
pub fn within_labels<T: Scalar>(
    points: MatRef<'_, T>,
    labels: &[usize],
    k: usize,
    watch: &dyn Observer,
) -> Neighbors {
    let groups = labels.iter().max().map_or(0, |&largest| largest + 1);
    let mut members = vec![Vec::new(); groups];
    for (i, &label) in labels.iter().enumerate() {
        members[label].push(i);
    }
    let mut lists = vec![Vec::new(); labels.len()];
    for (group, indices) in members.iter().enumerate() {
        let own = Mat::from_fn(points.nrows(), indices.len(), |row, i| points[(row, indices[i])]);
        let found = exact(own.as_ref(), k, &crate::Silent);
        for (place, &i) in indices.iter().enumerate() {
            lists[i] = found.of(place).iter().map(|(j, distance)| (indices[j], distance)).collect();
        }
        watch.progress(group + 1, groups);
    }
    Neighbors { lists: Rows::of_lists(&lists) }
}

/// A copy where columns are not contiguous, as those of a transposed view: slices need unit stride.
fn contiguous<T: Scalar>(points: MatRef<'_, T>) -> Option<Mat<T>> {
    (points.row_stride() != 1).then(|| points.to_owned())
}

struct Search<'a, T> {
    points: MatRef<'a, T>,
    squared_norms: Vec<f64>,
    largest: f64,
    k: usize,
}

impl<'a, T: Scalar> Search<'a, T> {
    /// A search of columns that are contiguous.
    fn new(points: MatRef<'a, T>, k: usize) -> Self {
        let squared_norms: Vec<f64> =
            (0..points.ncols()).into_par_iter().map(|i| norm(column(points, i)).powi(2)).collect();
        let largest = squared_norms.iter().fold(0.0_f64, |a, &b| a.max(b));
        Self { points, squared_norms, largest, k }
    }

    /// The candidates of every block's queries.
    fn candidates(&self, watch: &dyn Observer) -> Vec<Mutex<Candidates<T>>> {
        let blocks = self.points.ncols().div_ceil(BLOCK);
        let all: Vec<_> =
            (0..blocks).map(|block| Mutex::new(Candidates::new(self.size(block), self.k + SPARE))).collect();
        let (done, pairs) = (AtomicUsize::new(0), blocks * (blocks + 1) / 2);
        let bytes = BLOCK * self.points.nrows() * size_of::<T>();
        let side = (GROUP / bytes.max(1)).clamp(*BLOCKS.start(), *BLOCKS.end());
        for first in (0..blocks).step_by(side) {
            let ones: Vec<usize> = (first..blocks.min(first + side)).collect();
            let packed: Vec<_> = ones.par_iter().map(|&one| self.pack(one)).collect();
            // One block a task: a thread that has a stretch of them to itself keeps the others waiting at its end.
            (first..blocks).into_par_iter().with_max_len(1).for_each_init(
                || (zeros::<T>(BLOCK, BLOCK), Panels::right(BLOCK, self.points.nrows())),
                |(tile, right), other| {
                    right.pack_columns(self.block(other), T::from_f64(1.0));
                    for (packed, &one) in packed.iter().zip(&ones).filter(|&(_, &one)| one <= other) {
                        self.meet(tile, (packed, right), &all, one, other);
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                },
            );
            watch.progress(done.load(Ordering::Relaxed), pairs);
        }
        all
    }

    /// A block as a product takes it on the left, times the -2 of the formula.
    fn pack(&self, block: usize) -> Panels<T> {
        let mut panels = Panels::left(self.size(block), self.points.nrows());
        panels.pack_columns(self.block(block), T::from_f64(-2.0));
        panels
    }

    fn block(&self, block: usize) -> MatRef<'_, T> {
        self.points.subcols(block * BLOCK, self.size(block))
    }

    fn size(&self, block: usize) -> usize {
        BLOCK.min(self.points.ncols() - block * BLOCK)
    }

    /// Scores two blocks against each other, or one against itself.
    fn meet(
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
        // Queries of the other block look down the columns; to those of the one each column is a point on offer.
        let (row_norms, start) = (self.norms(one), one * BLOCK);
        let mut looking = lock(&all[other]);
        for query in 0..columns {
            let skip = (one == other).then_some(query);
            looking.scan(query, products(query), &row_norms, start, skip);
        }
        drop(looking);
        if one != other {
            let column_norms = self.norms(other);
            let mut looking = lock(&all[one]);
            for (point, &norm) in column_norms.iter().enumerate() {
                looking.offer(other * BLOCK + point, norm, products(point));
            }
        }
    }

    fn norms(&self, block: usize) -> Vec<T> {
        self.squared_norms[block * BLOCK..][..self.size(block)]
            .iter()
            .map(|&norm| T::from_f64(norm))
            .collect()
    }

    /// Orders the candidates by exact distance and keeps `k`.
    fn rank(&self, query: usize, mut best: Vec<(T, u32)>) -> Vec<(usize, f64)> {
        cut_back(&mut best, self.k + SPARE);
        // What was left out, now or before, has a score of at least this.
        let whole = best.len() == self.points.ncols() - 1;
        let cut = best.iter().map(|(score, _)| score.to_f64()).max_by(f64::total_cmp).filter(|_| !whole);
        let mut list = self.distances(query, best.iter().map(|&(_, j)| j as usize));
        if list.len() < self.k || !T::from_f64(4.0 * self.largest).to_f64().is_finite() {
            // The first pass ran over in its own precision, and its scores mean nothing.
            return self.in_full(query);
        } else if let (Some(cut), Some(&(_, kth))) = (cut, list.get(self.k.wrapping_sub(1))) {
            // The first pass computes ||j||^2 - 2<i,j>; its rounding error grows like the square root of the
            // dimension. If a point beyond the cut could be nearer than the k-th, search again exactly.
            let own = self.squared_norms[query];
            let unit = T::epsilon_impl().to_f64();
            let size = self.largest + (own * self.largest).sqrt();
            let slack = 8.0 * unit * (self.points.nrows() as f64).sqrt() * size;
            if kth * kth + slack >= cut + own {
                return self.in_full(query);
            }
        }
        list.truncate(self.k);
        list
    }

    /// The neighbours of one point from its exact distances to all others.
    fn in_full(&self, query: usize) -> Vec<(usize, f64)> {
        let mut list = self.distances(query, (0..self.points.ncols()).filter(|&j| j != query));
        list.truncate(self.k);
        list
    }

    fn distances(&self, query: usize, others: impl Iterator<Item = usize>) -> Vec<(usize, f64)> {
        let own = column(self.points, query);
        let mut list: Vec<_> =
            others.map(|j| (j, squared_slices(own, column(self.points, j)).sqrt())).collect();
        list.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        list
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Silent;

    fn brute(points: MatRef<'_, f64>, k: usize) -> Vec<Vec<(usize, f64)>> {
        let search = Search { points, squared_norms: Vec::new(), largest: 0.0, k };
        (0..points.ncols())
            .map(|i| {
                let mut list = search.distances(i, (0..points.ncols()).filter(|&j| j != i));
                list.truncate(k);
                list
            })
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn single_precision_finds_what_double_precision_brute_force_finds(
            count in 1..1100_usize, dim in 1..6_usize, k in 0..30_usize, levels in 2..50_u32, seed in 0..1000_u64
        ) {
            // A coarse grid of values makes duplicates and ties common.
            let mut state = seed;
            let points = Mat::<f32>::from_fn(dim, count, |_, _| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                ((state >> 33) % u64::from(levels)) as f32 / 4.0
            });
            let wide = Mat::from_fn(dim, count, |i, j| f64::from(points[(i, j)]));
            let found = exact(points.as_ref(), k, &Silent);
            prop_assert_eq!(found.lists, Rows::of_lists(&brute(wide.as_ref(), k.min(count - 1))));
        }
    }

    #[test]
    fn features_whose_squares_overflow_are_searched_in_double_precision() {
        let points = Mat::<f32>::from_fn(3, 40, |i, j| 1e25 * ((j * 7 + i * 5) % 23) as f32);
        let wide = Mat::from_fn(3, 40, |i, j| f64::from(points[(i, j)]));
        assert_eq!(exact(points.as_ref(), 6, &Silent).lists, Rows::of_lists(&brute(wide.as_ref(), 6)));
    }

    #[test]
    fn neighbors_within_labels_never_leave_the_label() {
        let labels: Vec<usize> = (0..40).map(|i| i % 3).collect();
        let points = Mat::from_fn(2, 40, |i, j| ((j * 7 + i * 3) % 11) as f64);
        let found = within_labels(points.as_ref(), &labels, 50, &Silent);
        for i in 0..40 {
            assert!(found.of(i).iter().all(|(j, _)| labels[j] == labels[i] && j != i));
            assert_eq!(found.of(i).len(), labels.iter().filter(|&&l| l == labels[i]).count() - 1);
        }
    }
}
