//! k-means: Lloyd's algorithm from given centers, and k-means++ initialization.
//!
//! An empty cluster keeps its center: a center may stand for something (a class), and is never moved elsewhere.
//!
//! [`nearest`] compares `$\tfrac12\|c\|^2 - c^\top x$`, one matrix product for many points, and recomputes the distances
//! where rounding could have changed the order: its result is that of the exact distances.
//!
//! ```
//! use bidilel_math::{Silent, kmeans};
//!
//! let points = faer::mat![[0.0, 1.0, 10.0, 11.0]]; // four points on a line
//! let init = kmeans::plus_plus(points.as_ref(), 2, 1, &Silent)?;
//! let found = kmeans::kmeans(points.as_ref(), init, 100, &Silent)?;
//! assert_eq!(found.assignment[0], found.assignment[1]);
//! assert_ne!(found.assignment[1], found.assignment[2]);
//! # Ok::<(), bidilel_math::Error>(())
//! ```
//!
//! # References
//! S. Lloyd, *Least squares quantization in PCM*, 1982. D. Arthur and S. Vassilvitskii, *k-means++: the
//! advantages of careful seeding*, 2007.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::distance::squared;
use crate::{Error, Observer, Result};

/// Points that one thread compares with all centers at a time.
const BLOCK_POINTS: usize = 256;
/// Points whose squared distances one thread sums when a center is drawn.
const SUM_POINTS: usize = 4096;

/// The outcome of [`kmeans`].
#[derive(Debug, Clone, PartialEq)]
pub struct Clusters {
    /// Cluster centers, dimensions x clusters.
    pub centers: Mat<f64>,
    /// The cluster of every point.
    pub assignment: Vec<usize>,
    /// Iterations taken.
    pub iterations: usize,
}

/// Clusters the columns of `points`, starting from the columns of `centers`; ties go to the lower cluster index.
///
/// # Errors
/// [`Error::Cancelled`].
pub fn kmeans(
    points: MatRef<'_, f64>,
    centers: Mat<f64>,
    max_iterations: usize,
    watch: &dyn Observer,
) -> Result<Clusters> {
    let mut centers = centers;
    let mut assignment = nearest(points, centers.as_ref());
    for iteration in 1..=max_iterations {
        watch.go_on()?;
        update_centers(points, &assignment, &mut centers);
        let next = nearest(points, centers.as_ref());
        if next == assignment {
            return Ok(Clusters { centers, assignment, iterations: iteration });
        }
        assignment = next;
    }
    Ok(Clusters { centers, assignment, iterations: max_iterations })
}

/// The nearest center of every point.
pub fn nearest(points: MatRef<'_, f64>, centers: MatRef<'_, f64>) -> Vec<usize> {
    let norms: Vec<f64> = centers.col_iter().map(|center| center.norm_l2()).collect();
    let halves: Vec<f64> = norms.iter().map(|norm| norm * norm / 2.0).collect();
    let longest = norms.iter().copied().fold(0.0, f64::max);
    let blocks: Vec<Vec<usize>> = points
        .par_col_chunks(BLOCK_POINTS)
        .map(|block| {
            let mut scores = Mat::<f64>::zeros(centers.ncols(), block.ncols());
            matmul(scores.as_mut(), Accum::Replace, centers.transpose(), block, -1.0, Par::Seq);
            let closest = |(i, column): (usize, faer::ColRef<'_, f64>)| {
                let score = |c: usize| halves[c] + column[c];
                let best = (0..centers.ncols()).map(score).fold(f64::INFINITY, f64::min);
                // Bound of the rounding error of a score, and of a distance computed from differences.
                let reach = block.col(i).norm_l2() + longest;
                let margin = 8.0 * f64::EPSILON * (points.nrows() + 4) as f64 * reach * reach;
                let limit = best + margin;
                // Where squares overflow, all centers are compared.
                let within = |&c: &usize| score(c) <= limit || !limit.is_finite() || score(c).is_nan();
                let mut close = (0..centers.ncols()).filter(within);
                if let (Some(only), None) = (close.next(), close.next()) {
                    return only;
                }
                let distances =
                    (0..centers.ncols()).filter(within).map(|c| (c, squared(block.col(i), centers.col(c))));
                distances.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(cluster, _)| cluster)
            };
            scores.col_iter().enumerate().map(closest).collect()
        })
        .collect();
    blocks.concat()
}

/// k-means++ initialization: `count` of the points as centers. The first is drawn uniformly, each next one with a probability
/// proportional to its squared distance from the nearest center so far.
///
/// # Errors
/// [`Error::Parameter`] where there are fewer distinct points than centers.
pub fn plus_plus(points: MatRef<'_, f64>, count: usize, seed: u64, watch: &dyn Observer) -> Result<Mat<f64>> {
    let too_many = |found: usize| Error::Parameter {
        parameter: "the number of clusters",
        expected: "at most the number of distinct points",
        found: found as f64,
    };
    if count == 0 || count > points.ncols() {
        return Err(too_many(count));
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut chosen = random.random_range(0..points.ncols());
    let mut centers = Mat::zeros(points.nrows(), count);
    let mut distances = vec![f64::INFINITY; points.ncols()];
    for center in 0..count {
        centers.col_mut(center).copy_from(points.col(chosen));
        watch.progress(center + 1, count);
        if center + 1 == count {
            break;
        }
        distances.par_iter_mut().enumerate().for_each(|(i, distance)| {
            *distance = distance.min(squared(points.col(i), points.col(chosen)));
        });
        chosen = draw(&distances, random.random()).ok_or_else(|| too_many(count))?;
    }
    Ok(centers)
}

/// Inverse transform sampling: the index at which the cumulative sum of the weights passes `quantile` of the total; `None` if
/// all weights are zero.
fn draw(weights: &[f64], quantile: f64) -> Option<usize> {
    // Sums over blocks of fixed size, so that rounding does not depend on the number of threads.
    let sums: Vec<f64> = weights.par_chunks(SUM_POINTS).map(|block| block.iter().sum()).collect();
    let mut left = quantile * sums.iter().sum::<f64>();
    let mut last = None;
    for (block, &sum) in sums.iter().enumerate().filter(|&(_, &sum)| sum > 0.0) {
        let first = block * SUM_POINTS;
        let whole = left >= sum;
        for (i, &weight) in weights[first..].iter().take(SUM_POINTS).enumerate() {
            if weight > 0.0 {
                last = Some(first + i);
                if !whole && left < weight {
                    return last;
                }
            }
            if !whole {
                left -= weight;
            }
        }
        if whole {
            left -= sum;
        }
    }
    // Rounding may leave a remainder: then the last point with a positive weight is drawn.
    last
}

fn update_centers(points: MatRef<'_, f64>, assignment: &[usize], centers: &mut Mat<f64>) {
    let mut sums = Mat::<f64>::zeros(centers.nrows(), centers.ncols());
    let mut counts = vec![0_usize; centers.ncols()];
    for (i, &cluster) in assignment.iter().enumerate() {
        sums.col_mut(cluster).iter_mut().zip(points.col(i).iter()).for_each(|(sum, value)| *sum += value);
        counts[cluster] += 1;
    }
    for (cluster, &count) in counts.iter().enumerate().filter(|&(_, &count)| count > 0) {
        for row in 0..centers.nrows() {
            centers[(row, cluster)] = sums[(row, cluster)] / count as f64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points() -> Mat<f64> {
        Mat::from_fn(2, 60, |i, j| (j % 3 * 5) as f64 + ((j * 7 + i * 5) % 10) as f64 / 10.0)
    }

    #[test]
    fn an_observer_ends_it_between_iterations() {
        struct Cancelling;
        impl Observer for Cancelling {
            fn poll(&self) -> std::ops::ControlFlow<()> {
                std::ops::ControlFlow::Break(())
            }
        }
        let init = points().subcols(0, 3).to_owned();
        let found = kmeans(points().as_ref(), init, 100, &Cancelling);
        assert!(matches!(found, Err(Error::Cancelled)));
    }

    #[test]
    fn at_the_end_each_point_is_with_its_nearest_center_and_centers_are_means() {
        let init = Mat::from_fn(2, 3, |_, c| c as f64);
        let found = kmeans(points().as_ref(), init, 100, &crate::Silent).expect("nobody cancels");
        assert_eq!(found.assignment, nearest(points().as_ref(), found.centers.as_ref()));
        let mut again = found.centers.clone();
        update_centers(points().as_ref(), &found.assignment, &mut again);
        assert!((again - &found.centers).norm_max() < 1e-12);
    }

    #[test]
    fn the_nearest_center_is_the_one_of_least_distance_ties_included() {
        // Whole numbers, far from the origin: many exact ties, and products that round.
        let grid = |rows: usize, columns: usize, step: usize| {
            Mat::from_fn(rows, columns, |i, j| 1e7 + ((i * 7 + j * step) % 5) as f64)
        };
        let (points, centers) = (grid(3, 700, 3), grid(3, 40, 11));
        let direct: Vec<usize> = (0..points.ncols())
            .map(|i| {
                let distances = (0..40).map(|c| squared(points.col(i), centers.col(c)));
                distances.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).expect("centers").0
            })
            .collect();
        assert_eq!(nearest(points.as_ref(), centers.as_ref()), direct);
    }

    #[test]
    fn initial_centers_are_distinct_points_and_the_same_for_any_number_of_threads() {
        let points = Mat::from_fn(2, 9000, |i, j| ((j * 37 + i * 11) % 500) as f64);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a small pool");
            pool.install(|| plus_plus(points.as_ref(), 60, 3, &crate::Silent).expect("enough points"))
        };
        let centers = with(1);
        assert_eq!(centers, with(3));
        for a in 0..60 {
            assert!((0..a).all(|b| squared(centers.col(a), centers.col(b)) > 0.0), "center {a} is new");
            assert!(
                (0..9000).any(|i| squared(centers.col(a), points.col(i)) < 1e-300),
                "center {a} is a point"
            );
        }
    }

    #[test]
    fn more_centers_than_distinct_points_are_an_error() {
        let points = Mat::from_fn(1, 50, |_, j| (j % 4) as f64);
        assert!(plus_plus(points.as_ref(), 4, 0, &crate::Silent).is_ok());
        for count in [0, 5, 51] {
            assert!(plus_plus(points.as_ref(), count, 0, &crate::Silent).is_err());
        }
    }

    #[test]
    fn an_empty_cluster_keeps_its_center() {
        let init = Mat::from_fn(2, 2, |_, c| c as f64 * 1e6);
        let found = kmeans(points().as_ref(), init, 100, &crate::Silent).expect("nobody cancels");
        approx::assert_relative_eq!(found.centers[(0, 1)], 1e6);
        assert!(found.assignment.iter().all(|&cluster| cluster == 0));
    }
}
