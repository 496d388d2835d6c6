//! Properties of the approximate search.

use super::*;
use crate::Silent;

/// Clusters of a few hundred points each, in 12 dimensions, far from the origin.
fn clusters(count: usize) -> Mat<f32> {
    let mut state = 11_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1_u64 << 24) as f32
    };
    let centers = Mat::<f32>::from_fn(12, 16, |_, _| 100.0 + 4.0 * next());
    Mat::from_fn(12, count, |row, i| centers[(row, i % 16)] + next() + next())
}

fn recall(found: &Neighbors, truth: &Neighbors) -> f64 {
    let shared =
        |i: usize| truth.of(i).iter().filter(|&pair| found.of(i).iter().any(|other| other == pair)).count();
    let all: usize = (0..truth.count()).map(|i| truth.of(i).len()).sum();
    (0..truth.count()).map(shared).sum::<usize>() as f64 / all as f64
}

#[test]
fn nearly_all_neighbors_are_found_with_their_exact_distances() {
    let points = clusters(4000);
    for k in [1, 10] {
        let (found, truth) = (approximate(points.as_ref(), k, &Silent), exact(points.as_ref(), k, &Silent));
        // Pairs are compared with their distances, so that these are the exact ones to the last bit.
        assert!(recall(&found, &truth) > 0.97, "{k}: {}", recall(&found, &truth));
    }
}

#[test]
fn lists_are_complete_sorted_and_without_self_or_duplicates() {
    // Every point three times, on a coarse grid: ties everywhere.
    let points = Mat::<f32>::from_fn(3, 3000, |row, i| ((i / 3) * (7 + 4 * row) % 23) as f32);
    let found = approximate(points.as_ref(), 7, &Silent);
    assert_eq!(found.count(), 3000);
    for i in 0..found.count() {
        let list: Vec<(usize, f64)> = found.of(i).iter().collect();
        assert_eq!(list.len(), 7);
        assert!(list.is_sorted_by(|a, b| (a.1, a.0) < (b.1, b.0)), "ties go to the lower index");
        assert!(list.iter().all(|&(j, _)| j != i));
        let mut others: Vec<usize> = list.iter().map(|&(j, _)| j).collect();
        others.sort_unstable();
        others.dedup();
        assert_eq!(others.len(), 7);
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads_and_any_stride() {
    let points = clusters(3000);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a small pool");
        pool.install(|| approximate(points.as_ref(), 10, &Silent))
    };
    let one = with(1);
    assert_eq!(with(2), one);
    assert_eq!(with(3), one);
    let transposed = points.transpose().to_owned();
    assert_eq!(approximate(transposed.transpose(), 10, &Silent), one);
}

#[test]
fn few_points_long_lists_and_extreme_features_are_searched_exactly() {
    let same = |points: &Mat<f32>, k| {
        assert_eq!(
            approximate(points.as_ref(), k, &Silent),
            exact(points.as_ref(), k, &Silent),
            "{} points, k = {k}",
            points.ncols()
        );
    };
    for count in [0, 1, 2, 50, 1024] {
        same(&clusters(count), 10);
    }
    let points = clusters(1100);
    same(&points, 0);
    same(&points, 2000);
    for scale in [1e20, 1e-21] {
        same(&Mat::from_fn(4, 1100, |row, i| scale * (points[(row, i)] - 100.0)), 3);
    }
    let long = approximate(clusters(3000).as_ref(), 300, &Silent);
    assert!((0..3000).all(|i| long.of(i).len() == 300));
}

#[test]
fn points_that_are_all_the_same_have_neighbors_at_distance_zero() {
    let found = approximate(Mat::<f64>::full(2, 1500, 3.0).as_ref(), 5, &Silent);
    assert!((0..1500).all(|i| found.of(i).len() == 5 && found.of(i).iter().all(|(_, d)| d == 0.0)));
}
