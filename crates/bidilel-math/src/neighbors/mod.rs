//! Exact nearest neighbours of every column among all the others.
//!
//! `$\|x_i - x_j\|^2 = \|x_i\|^2 + \|x_j\|^2 - 2 x_i^\top x_j$`: the products come tile by tile from a matrix
//! product in the features' own precision. A tile of two blocks of points serves both: its columns are scanned for
//! the one block's queries and its rows for the other's, so that only half of the products are computed. Each query
//! keeps its best `k + SPARE` candidates. These are then ranked by exact `f64` distances. Where rounding in the first
//! pass could have hidden a true neighbour, the query is searched again in `f64`, so the result is that of a
//! brute-force search in double precision.
//!
//! # What rounding can hide
//! The first pass scores a point $j$ by `$s_j = \|j\|^2 - 2 i^\top j = d_{ij}^2 - \|i\|^2$`. A point that is nearer than the $k$-th
//! candidate, at distance $\delta$, has `$\|j\| \le t$` with `$t = \|i\| + \delta$`. For such a point the computed score is off by at most
//! `$$E = 2 u t^2 + (2 \gamma_c + 4 u) \|i\| t + d\,\omega,$$`
//! where $u$ is the unit roundoff of the features' precision, $\gamma_c = c u / (1 - c u)$ for the $c$ roundings of a product
//! ([`panels::roundings`]), and $\omega$ its smallest normal number, below which a product of two features may vanish: one
//! $u t^2$ is the rounding of `$\|j\|^2$`, the other terms with $u$ that of the last sum. What was left out has a computed score
//! of at least that of the worst candidate kept. Where the two leave room for a nearer point, the query is searched again.
//!
//! The first pass multiplies all points by a power of two, by which the longest has a norm of about $2^{30}$: squares of
//! features as small as 1e-30 would vanish in single precision, and those of 1e25 run over.
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
use crate::panels::{self, Panels, Product, Right};
use crate::parallel::zeros;
use crate::rows::{Row, Rows};
use crate::vector::column;
use crate::{Observer, Scalar};

mod approximate;
mod candidates;
mod restrict;
mod tree;
mod verify;

pub use approximate::approximate;
use candidates::{Candidates, cut_back};
pub use restrict::Restricted;
pub use verify::{recall, verify, verify_within_labels};

/// Points in a block; a tile of products is a block by a block. Panels of any width divide it, and a tile of single
/// precision stays in the second cache with the panels that it is made from.
const BLOCK: usize = 192;
/// Bytes of the blocks that are packed at a time, to meet all others. All others are packed anew for each such group, so
/// it has a few blocks at least.
const GROUP: usize = 16 << 20;
const BLOCKS: RangeInclusive<usize> = 6..=32;
/// Candidates beyond `k` that the first pass keeps, room for its rounding errors.
const SPARE: usize = 8;
/// One in so many queries may be searched again without a remark.
const NOTED_SHARE: usize = 10;
/// The power of two that the longest norm has in the first pass: its square, and a square of a millionth of it, are far
/// from the ends of single precision.
const NORM_EXPONENT: i32 = 30;
/// The largest power of two that single precision has room for.
const MOST_EXPONENT: i32 = 126;

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
    if k + SPARE >= count.saturating_sub(1) {
        // All points are candidates: there is nothing for a first pass to leave out.
        return Neighbors { lists: Rows::new(&vec![k; count], |query| search.in_full(query)) };
    }
    let found = search.candidates(watch);
    let rank = |query: usize| {
        let best = std::mem::take(&mut lock(&found[query / BLOCK]).best[query % BLOCK]);
        search.rank(query, best)
    };
    let lists = Rows::new(&vec![k; count], rank);
    let again = search.again.load(Ordering::Relaxed);
    if again > count / NOTED_SHARE {
        watch.note(&format!(
            "{again} of {count} rows were searched again in double precision, which takes long: what they have in \
             common is so large that single precision may hide their neighbours; subtract their mean first"
        ));
    }
    Neighbors { lists }
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
    /// What the first pass multiplies points by.
    scale: f64,
    /// Queries that were searched again.
    again: AtomicUsize,
}

impl<'a, T: Scalar> Search<'a, T> {
    /// A search of columns that are contiguous.
    fn new(points: MatRef<'a, T>, k: usize) -> Self {
        let squared_norms: Vec<f64> =
            (0..points.ncols()).into_par_iter().map(|i| norm(column(points, i)).powi(2)).collect();
        let largest = squared_norms.iter().fold(0.0_f64, |a, &b| a.max(b));
        Self { points, squared_norms, largest, k, scale: scale(largest.sqrt()), again: AtomicUsize::new(0) }
    }

    /// The candidates of every block's queries.
    fn candidates(&self, watch: &dyn Observer) -> Vec<Mutex<Candidates<T>>> {
        let blocks = self.points.ncols().div_ceil(BLOCK);
        let all: Vec<_> = (0..blocks).map(|block| Mutex::new(self.room(self.size(block)))).collect();
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
                    right.pack_columns(self.block(other), T::from_f64(self.scale));
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
        panels.pack_columns(self.block(block), T::from_f64(-2.0 * self.scale));
        panels
    }

    /// Room for the candidates of so many queries: never more than there are points.
    fn room(&self, queries: usize) -> Candidates<T> {
        Candidates::new(queries, self.k + SPARE, self.points.ncols())
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
            .map(|&norm| T::from_f64(norm * self.scale * self.scale))
            .collect()
    }

    /// Orders the candidates by exact distance and keeps `k`.
    fn rank(&self, query: usize, mut best: Vec<(T, u32)>) -> Vec<(usize, f64)> {
        cut_back(&mut best, self.k + SPARE);
        // What was left out, now or before, has a score of at least this.
        let whole = best.len() == self.points.ncols() - 1;
        let cut = best.iter().map(|(score, _)| score.to_f64()).max_by(f64::total_cmp).filter(|_| !whole);
        let mut list = self.distances(query, best.iter().map(|&(_, j)| j as usize));
        if list.len() < self.k {
            // The first pass ran over in its own precision, and its scores mean nothing.
            return self.in_full(query);
        } else if let (Some(cut), Some(&(_, kth))) = (cut, list.get(self.k.wrapping_sub(1))) {
            let square = self.scale * self.scale;
            let sure =
                cut + square * self.squared_norms[query] > square * kth * kth + self.rounding(query, kth);
            if !sure {
                self.again.fetch_add(1, Ordering::Relaxed);
                return self.in_full(query);
            }
        }
        list.truncate(self.k);
        list
    }

    /// How far off, at most, the first pass may be for a point as near as this: see the head of this file.
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
        // Distances and norms are themselves sums in double precision.
        let double = 4.0 * (dim + 4) as f64 * f64::EPSILON;
        let relative =
            (2.0 * unit + double) * reach * reach + (2.0 * product + 4.0 * unit + double) * own * reach;
        self.scale * self.scale * relative + least
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

/// The power of two that brings a norm to about [`NORM_EXPONENT`].
#[expect(clippy::cast_possible_truncation, reason = "exponents of floats are small")]
fn scale(norm: f64) -> f64 {
    if norm == 0.0 || !norm.is_finite() {
        return 1.0;
    }
    2.0_f64.powi((NORM_EXPONENT - norm.log2().ceil() as i32).clamp(-MOST_EXPONENT, MOST_EXPONENT))
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
        let search = Search::new(points, k);
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

    /// Features of any size that single precision has, down to where they have few digits left.
    #[test]
    fn features_of_any_scale_have_the_neighbors_that_double_precision_finds() {
        let noise = crate::krylov::tests::random(20, 600, 3);
        for power in [-140, -126, -100, -78, -40, 0, 40, 62, 100, 120] {
            let points =
                Mat::<f32>::from_fn(20, 600, |i, j| f32::from_f64(noise[(i, j)] * 2.0_f64.powi(power)));
            let wide = Mat::from_fn(20, 600, |i, j| f64::from(points[(i, j)]));
            let found = exact(points.as_ref(), 7, &Silent).lists;
            assert_eq!(found, Rows::of_lists(&brute(wide.as_ref(), 7)), "2^{power}");
        }
    }

    /// One feature is nearly all of every point, so that rounding errors of the others' products all go one way.
    #[test]
    fn a_twin_is_found_beside_one_dominant_feature() {
        let noise = crate::krylov::tests::random(2048, 500, 4);
        for dominant in [1.0, 1e2, 1e4] {
            let at = |i: usize, j: usize| match i {
                0 => dominant * (30.0 + noise[(i, j / 2)].abs()),
                _ => 1e-2 * noise[(i, j / 2)].abs(),
            };
            let points = Mat::<f32>::from_fn(2048, 500, |i, j| f32::from_f64(at(i, j)));
            let wide = Mat::from_fn(2048, 500, |i, j| f64::from(points[(i, j)]));
            let found = exact(points.as_ref(), 3, &Silent).lists;
            assert_eq!(found, Rows::of_lists(&brute(wide.as_ref(), 3)), "{dominant}");
        }
    }

    #[test]
    fn all_others_are_neighbors_where_as_many_are_asked_for() {
        let points = Mat::<f32>::from_fn(3, 300, |i, j| ((j * 7 + i * 5) % 23) as f32);
        let wide = Mat::from_fn(3, 300, |i, j| f64::from(points[(i, j)]));
        for k in [150, 285, 291, 299, 1000] {
            let found = exact(points.as_ref(), k, &Silent).lists;
            assert_eq!(found, Rows::of_lists(&brute(wide.as_ref(), k.min(299))), "{k}");
        }
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
