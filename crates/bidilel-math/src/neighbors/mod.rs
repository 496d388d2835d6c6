//! k-nearest-neighbor search among the columns of a matrix, exact and approximate.
//!
//! [`exact`] is brute force by GEMM. `$\|x_i - x_j\|^2 = \|x_i\|^2 + \|x_j\|^2 - 2 x_i^\top x_j$`: the inner products come tile by
//! tile from a matrix product in the features' own precision. A tile of two blocks of points serves both blocks: its columns
//! are scanned for the queries of one block and its rows for those of the other, so that only half of the products are
//! computed. Each query keeps its best `k + SPARE_CANDIDATES` candidates, which are then ranked by exact `f64` distances. Where
//! rounding in the first pass could have hidden a true neighbor, the query is searched again in `f64`. The result is therefore
//! that of a brute-force search in double precision.
//!
//! # Rounding errors of the first pass
//! The first pass scores a point $j$ by `$s_j = \|j\|^2 - 2 i^\top j = d_{ij}^2 - \|i\|^2$`. A point that is nearer than the $k$-th
//! candidate, at distance $\delta$, has `$\|j\| \le t$` with `$t = \|i\| + \delta$`. For such a point the error of the computed score
//! is at most
//! `$$E = 2 u t^2 + (2 \gamma_c + 4 u) \|i\| t + d\,\omega,$$`
//! where $u$ is the unit roundoff of the features' precision, $\gamma_c = c u / (1 - c u)$ for the $c$ roundings of an inner
//! product (`panels::roundings`), and $\omega$ the smallest normal number, below which a product of two features may underflow.
//! One $u t^2$ is the rounding of `$\|j\|^2$`; the other terms with $u$ are that of the last sum. A point that was not kept has a
//! computed score of at least that of the worst candidate kept. Where the two bounds leave room for a nearer point, the query
//! is searched again.
//!
//! The first pass multiplies all points by a power of two that brings the largest norm to about $2^{30}$. Otherwise squares of
//! features as small as 1e-30 would underflow in single precision, and those of 1e25 overflow.
//!
//! The candidates of a block are the best of all scores by score and index, in whatever order blocks are multiplied. Threads
//! therefore only need to lock a block's candidates, and the schedule is the one with the best cache reuse.
//!
//! # Conventions
//! A point is not its own neighbor: it is excluded by index, not by rank, since real data has duplicates. `k` is clipped to the
//! number of other points. Equal distances are ordered by index.
//!
//! ```
//! use bidilel_math::{Silent, neighbors};
//!
//! // Four points on a line, one per column.
//! let points = faer::mat![[0.0_f32, 1.0, 3.0, 7.0]];
//! let found = neighbors::exact(points.as_ref(), 2, &Silent);
//! let nearest: Vec<(usize, f64)> = found.of(2).iter().collect();
//! assert_eq!(nearest, [(1, 2.0), (0, 3.0)]);
//! ```

use faer::{Mat, MatRef};

use crate::csr::{Csr, CsrRow};
use crate::{Observer, Scalar};

mod approximate;
mod candidates;
mod restrict;
mod search;
mod tree;
mod verify;

pub use approximate::approximate;
pub use restrict::Restricted;
use search::{Search, contiguous};
pub use verify::{recall, verify, verify_within_labels};

/// The observer is told when more than one in this many queries had to be searched again.
const NOTE_ABOVE_ONE_IN: usize = 10;

/// The neighbor lists of all points, nearest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbors {
    lists: Csr,
}

impl Neighbors {
    /// `(index, distance)` of point `i`'s neighbors, nearest first.
    pub fn of(&self, i: usize) -> CsrRow<'_> {
        self.lists.row(i)
    }

    /// The number of points.
    pub fn count(&self) -> usize {
        self.lists.nrows()
    }
}

/// The `k` nearest other columns of every column of `points`.
pub fn exact<T: Scalar>(points: MatRef<'_, T>, k: usize, watch: &dyn Observer) -> Neighbors {
    let count = points.ncols();
    let k = k.min(count.saturating_sub(1));
    let copy = contiguous(points);
    let points = copy.as_ref().map_or(points, Mat::as_ref);
    let search = Search::new(points, k);
    let lists = search.all(watch);
    let repeated = search.repeated();
    if repeated > count / NOTE_ABOVE_ONE_IN {
        watch.note(&format!(
            "{repeated} of {count} points were searched again in double precision, which takes long: their common offset is so \
             large that single precision may hide their neighbors; subtract their mean first"
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
        for (member, &i) in indices.iter().enumerate() {
            lists[i] = found.of(member).iter().map(|(j, distance)| (indices[j], distance)).collect();
        }
        watch.progress(group + 1, groups);
    }
    Neighbors { lists: Csr::from_lists(&lists) }
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
            prop_assert_eq!(found.lists, Csr::from_lists(&brute(wide.as_ref(), k.min(count - 1))));
        }
    }

    #[test]
    fn features_whose_squares_overflow_are_searched_in_double_precision() {
        let points = Mat::<f32>::from_fn(3, 40, |i, j| 1e25 * ((j * 7 + i * 5) % 23) as f32);
        let wide = Mat::from_fn(3, 40, |i, j| f64::from(points[(i, j)]));
        assert_eq!(exact(points.as_ref(), 6, &Silent).lists, Csr::from_lists(&brute(wide.as_ref(), 6)));
    }

    /// Features over the whole range of single precision, down to subnormal numbers with few digits.
    #[test]
    fn features_of_any_scale_have_the_neighbors_that_double_precision_finds() {
        let noise = crate::krylov::tests::random(20, 600, 3);
        for power in [-140, -126, -100, -78, -40, 0, 40, 62, 100, 120] {
            let points =
                Mat::<f32>::from_fn(20, 600, |i, j| f32::from_f64(noise[(i, j)] * 2.0_f64.powi(power)));
            let wide = Mat::from_fn(20, 600, |i, j| f64::from(points[(i, j)]));
            let found = exact(points.as_ref(), 7, &Silent).lists;
            assert_eq!(found, Csr::from_lists(&brute(wide.as_ref(), 7)), "2^{power}");
        }
    }

    /// One feature dominates every point, so that the rounding errors of the other products all have one sign.
    #[test]
    fn a_near_duplicate_is_found_despite_one_dominant_feature() {
        let noise = crate::krylov::tests::random(2048, 500, 4);
        for dominant in [1.0, 1e2, 1e4] {
            let at = |i: usize, j: usize| match i {
                0 => dominant * (30.0 + noise[(i, j / 2)].abs()),
                _ => 1e-2 * noise[(i, j / 2)].abs(),
            };
            let points = Mat::<f32>::from_fn(2048, 500, |i, j| f32::from_f64(at(i, j)));
            let wide = Mat::from_fn(2048, 500, |i, j| f64::from(points[(i, j)]));
            let found = exact(points.as_ref(), 3, &Silent).lists;
            assert_eq!(found, Csr::from_lists(&brute(wide.as_ref(), 3)), "{dominant}");
        }
    }

    #[test]
    fn all_others_are_neighbors_where_as_many_are_asked_for() {
        let points = Mat::<f32>::from_fn(3, 300, |i, j| ((j * 7 + i * 5) % 23) as f32);
        let wide = Mat::from_fn(3, 300, |i, j| f64::from(points[(i, j)]));
        for k in [150, 285, 291, 299, 1000] {
            let found = exact(points.as_ref(), k, &Silent).lists;
            assert_eq!(found, Csr::from_lists(&brute(wide.as_ref(), k.min(299))), "{k}");
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
