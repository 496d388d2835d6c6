//! Exact nearest neighbours of every column among all the others.
//!
//! $\|x_i - x_j\|^2 = \|x_i\|^2 + \|x_j\|^2 - 2 x_i^\top x_j$: a block of queries at a time, the products
//! with all points come tile by tile from a matrix product in the features' own precision, and each query
//! keeps its best `k + SPARE` candidates. These are then ranked by exact `f64` distances. Where rounding in
//! the first pass could have hidden a true neighbour, the query is searched again in `f64`, so the result
//! is that of a brute-force search in double precision.
//!
//! A point is not its own neighbour: it is left out by index, not by rank, since real data has duplicates.
//! `k` is clipped to the number of other points; equal distances go to the lower index.

use std::sync::atomic::{AtomicUsize, Ordering};

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

use crate::distance::{norm, squared_slices};
use crate::{Observer, Scalar};

/// Queries, and points, in one tile of products.
const TILE: usize = 512;
/// Candidates beyond `k` that the first pass keeps, room for its rounding errors.
const SPARE: usize = 8;

/// The neighbours of every point, nearest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbors {
    lists: Vec<Vec<(usize, f64)>>,
}

impl Neighbors {
    /// `(index, distance)` of point `i`'s neighbours, nearest first.
    pub fn of(&self, i: usize) -> &[(usize, f64)] {
        &self.lists[i]
    }

    /// How many points there are.
    pub fn count(&self) -> usize {
        self.lists.len()
    }
}

/// The `k` nearest other columns of every column of `points`.
pub fn exact<T: Scalar>(points: MatRef<'_, T>, k: usize, watch: &dyn Observer) -> Neighbors {
    let count = points.ncols();
    let k = k.min(count.saturating_sub(1));
    // Slices need unit stride; a transposed view is copied once.
    let owned;
    let points = if points.row_stride() == 1 {
        points
    } else {
        owned = points.to_owned();
        owned.as_ref()
    };
    let search =
        Search { points, squared_norms: (0..count).map(|i| norm(column(points, i)).powi(2)).collect(), k };
    let blocks = count.div_ceil(TILE);
    let done = AtomicUsize::new(0);
    let lists = (0..blocks)
        .into_par_iter()
        .flat_map_iter(|block| {
            let lists = search.block(block * TILE, TILE.min(count - block * TILE));
            watch.progress(done.fetch_add(1, Ordering::Relaxed) + 1, blocks);
            lists
        })
        .collect();
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
        for (&i, list) in indices.iter().zip(found.lists) {
            lists[i] = list.into_iter().map(|(j, distance)| (indices[j], distance)).collect();
        }
        watch.progress(group + 1, groups);
    }
    Neighbors { lists }
}

fn column<T: Scalar>(points: MatRef<'_, T>, i: usize) -> &[T] {
    points.col(i).try_as_col_major().expect("columns were made contiguous").as_slice()
}

struct Search<'a, T> {
    points: MatRef<'a, T>,
    squared_norms: Vec<f64>,
    k: usize,
}

impl<T: Scalar> Search<'_, T> {
    /// Neighbour lists of the queries `first .. first + queries`.
    fn block(&self, first: usize, queries: usize) -> Vec<Vec<(usize, f64)>> {
        let count = self.points.ncols();
        let mut candidates: Vec<Candidates<T>> =
            (0..queries).map(|_| Candidates::new(self.k + SPARE)).collect();
        let mut tile = Mat::<T>::zeros(TILE.min(count), queries);
        for start in (0..count).step_by(TILE) {
            let size = TILE.min(count - start);
            let mut tile = tile.as_mut().subrows_mut(0, size);
            let (left, right) = (self.points.subcols(start, size), self.points.subcols(first, queries));
            matmul(tile.as_mut(), Accum::Replace, left.transpose(), right, T::from_f64(-2.0), Par::Seq);
            let norms: Vec<T> =
                self.squared_norms[start..start + size].iter().map(|&n| T::from_f64(n)).collect();
            for (query, candidates) in candidates.iter_mut().enumerate() {
                let products = tile.as_ref().col(query).try_as_col_major().expect("an owned tile").as_slice();
                candidates.scan(products, &norms, start, first + query);
            }
        }
        candidates.into_iter().enumerate().map(|(query, found)| self.rank(first + query, found)).collect()
    }

    /// Orders the candidates by exact distance and keeps `k`.
    fn rank(&self, query: usize, mut candidates: Candidates<T>) -> Vec<(usize, f64)> {
        candidates.compact();
        let cut = candidates.worst();
        let mut list = self.distances(query, candidates.best.iter().map(|&(_, j)| j as usize));
        if let (Some(cut), Some(&(_, kth))) = (cut, list.get(self.k.wrapping_sub(1))) {
            // The first pass computes ||j||^2 - 2<i,j>; its rounding error grows like the square root of the
            // dimension. If a point beyond the cut could be nearer than the k-th, search again exactly.
            let own = self.squared_norms[query];
            let largest = self.squared_norms.iter().fold(0.0_f64, |a, &b| a.max(b));
            let unit = T::epsilon_impl().to_f64();
            let slack = 8.0 * unit * (self.points.nrows() as f64).sqrt() * (largest + (own * largest).sqrt());
            if kth * kth + slack >= cut.to_f64() + own {
                list = self.distances(query, (0..self.points.ncols()).filter(|&j| j != query));
            }
        }
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

/// The best candidates of one query so far, unsorted, cut back when the buffer is full.
struct Candidates<T> {
    keep: usize,
    best: Vec<(T, u32)>,
    /// Scores at or above this are no use: `keep` better ones are known.
    threshold: Option<T>,
}

impl<T: Scalar> Candidates<T> {
    fn new(keep: usize) -> Self {
        Self { keep, best: Vec::with_capacity(4 * keep), threshold: None }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "2^32 points of one feature would be 16 GiB of indices"
    )]
    fn scan(&mut self, products: &[T], norms: &[T], start: usize, query: usize) {
        for (offset, (&product, &norm)) in products.iter().zip(norms).enumerate() {
            let score = norm + product;
            if self.threshold.is_some_and(|threshold| score >= threshold) || start + offset == query {
                continue;
            }
            self.best.push((score, (start + offset) as u32));
            if self.best.len() == 4 * self.keep {
                self.compact();
            }
        }
    }

    fn compact(&mut self) {
        if self.best.len() > self.keep {
            let order =
                |a: &(T, u32), b: &(T, u32)| a.0.to_f64().total_cmp(&b.0.to_f64()).then(a.1.cmp(&b.1));
            self.best.select_nth_unstable_by(self.keep - 1, order);
            self.best.truncate(self.keep);
            self.threshold = Some(self.best[self.keep - 1].0);
        }
    }

    /// The score above which candidates were dropped, if any were.
    fn worst(&self) -> Option<T> {
        self.threshold
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Silent;

    fn brute(points: MatRef<'_, f64>, k: usize) -> Vec<Vec<(usize, f64)>> {
        let search = Search { points, squared_norms: Vec::new(), k };
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
            prop_assert_eq!(found.lists, brute(wide.as_ref(), k.min(count - 1)));
        }
    }

    #[test]
    fn neighbors_within_labels_never_leave_the_label() {
        let labels: Vec<usize> = (0..40).map(|i| i % 3).collect();
        let points = Mat::from_fn(2, 40, |i, j| ((j * 7 + i * 3) % 11) as f64);
        let found = within_labels(points.as_ref(), &labels, 50, &Silent);
        for i in 0..40 {
            assert!(found.of(i).iter().all(|&(j, _)| labels[j] == labels[i] && j != i));
            assert_eq!(found.of(i).len(), labels.iter().filter(|&&l| l == labels[i]).count() - 1);
        }
    }
}
