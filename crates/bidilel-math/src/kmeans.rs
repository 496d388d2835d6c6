//! k-means from given centres: Lloyd's iteration until no point changes its cluster.
//!
//! An empty cluster keeps its centre: here a centre stands for something (a class), so it must not be
//! moved to where the points happen to be.

use faer::{Mat, MatRef};
use rayon::prelude::*;

use crate::distance::squared;

/// The outcome of [`kmeans`].
#[derive(Debug, Clone, PartialEq)]
pub struct Clusters {
    /// Cluster centres, dimensions x clusters.
    pub centers: Mat<f64>,
    /// The cluster of every point.
    pub assignment: Vec<usize>,
    /// How often centres were moved.
    pub iterations: usize,
}

/// Clusters the columns of `points` from the columns of `centers`; ties go to the lower cluster.
pub fn kmeans(points: MatRef<'_, f64>, centers: Mat<f64>, max_iterations: usize) -> Clusters {
    let mut centers = centers;
    let mut assignment = nearest(points, centers.as_ref());
    for iteration in 1..=max_iterations {
        move_centers(points, &assignment, &mut centers);
        let next = nearest(points, centers.as_ref());
        if next == assignment {
            return Clusters { centers, assignment, iterations: iteration };
        }
        assignment = next;
    }
    Clusters { centers, assignment, iterations: max_iterations }
}

/// The nearest center of every point.
pub fn nearest(points: MatRef<'_, f64>, centers: MatRef<'_, f64>) -> Vec<usize> {
    let closest = |i: usize| {
        let distances = (0..centers.ncols()).map(|c| squared(points.col(i), centers.col(c)));
        distances.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(cluster, _)| cluster)
    };
    (0..points.ncols()).into_par_iter().map(closest).collect()
}

fn move_centers(points: MatRef<'_, f64>, assignment: &[usize], centers: &mut Mat<f64>) {
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
    fn at_the_end_each_point_is_with_its_nearest_center_and_centers_are_means() {
        let start = Mat::from_fn(2, 3, |_, c| c as f64);
        let found = kmeans(points().as_ref(), start, 100);
        assert_eq!(found.assignment, nearest(points().as_ref(), found.centers.as_ref()));
        let mut again = found.centers.clone();
        move_centers(points().as_ref(), &found.assignment, &mut again);
        assert!((again - &found.centers).norm_max() < 1e-12);
    }

    #[test]
    fn an_empty_cluster_keeps_its_center() {
        let start = Mat::from_fn(2, 2, |_, c| c as f64 * 1e6);
        let found = kmeans(points().as_ref(), start, 100);
        approx::assert_relative_eq!(found.centers[(0, 1)], 1e6);
        assert!(found.assignment.iter().all(|&cluster| cluster == 0));
    }
}
