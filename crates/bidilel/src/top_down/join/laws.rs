//! Laws of classes that join an embedding.

use bidilel_math::Silent;
use bidilel_math::lbfgs::Objective;
use bidilel_math::symmetric::Symmetric;

use super::*;
use crate::dataset::Metric;
use crate::semantic::{Representation, SemanticDistances};

/// Landmarks on a sphere and descriptions of `known + unseen` classes, by a small generator.
fn problem(dim: usize, known: usize, unseen: usize) -> (Landmarks, ClassSemantics) {
    let mut state = 11_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut points = Mat::from_fn(dim, known, |_, _| next() - 0.5);
    distance::normalize_columns(points.as_mut());
    let raw = Mat::from_fn(6, known + unseen, |_, _| next());
    let one = Representation::new("attributes", 1.0, Metric::Euclidean, raw);
    (Landmarks { points }, ClassSemantics::from_representations(vec![one], known))
}

fn settled(landmarks: &Landmarks, semantics: &ClassSemantics, before: usize) -> Embedding {
    let order: Vec<usize> = (0..semantics.known + before).collect();
    Lsm::default().embed(landmarks, &semantics.select(&order, semantics.known), &Silent).expect("a mapping")
}

/// The part of the cost, pair by pair, and its slope by central differences.
fn slope(landmarks: &Landmarks, all: &Mat<f64>, distances: &SemanticDistances, first: usize) -> f64 {
    let at = |points: &Mat<f64>| stress_from(landmarks.points.as_ref(), points.as_ref(), distances, first);
    let mut steepest = 0.0_f64;
    for j in first..all.ncols() {
        for i in 0..all.nrows() {
            let moved = |step: f64| {
                let mut points = all.clone();
                points[(i, j)] += step;
                at(&points)
            };
            steepest = steepest.max(((moved(1e-5) - moved(-1e-5)) / 2e-5).abs());
        }
    }
    steepest
}

#[test]
fn the_gradient_of_the_part_is_that_of_the_formula() {
    let (landmarks, semantics) = problem(4, 7, 9);
    let before = settled(&landmarks, &semantics, 6).points;
    let cost = Joining::new(landmarks.points.as_ref(), before.as_ref(), &semantics);
    let point: Vec<f64> = (0..12).map(|i| (f64::from(i) * 0.7).sin()).collect();
    let mut gradient = vec![f64::NAN; 12];
    let value = cost.evaluate(&point, &mut gradient);
    let at = |point: &[f64]| {
        let all = joined(before.as_ref(), MatRef::from_column_major_slice(point, 4, 3));
        stress_from(landmarks.points.as_ref(), all.as_ref(), &semantics.distances, 6)
    };
    approx::assert_relative_eq!(value, at(&point), max_relative = 1e-12);
    for (i, found) in gradient.iter().enumerate() {
        let moved = |step: f64| {
            let mut point = point.clone();
            point[i] += step;
            at(&point)
        };
        let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }
}

/// In a space that the landmarks span, and in one of which they span a part only, where nothing leaves the hull.
#[test]
fn classes_that_join_are_at_a_minimum_and_nobody_else_moves() {
    for (dim, added) in [(4, 1), (4, 3), (12, 1), (12, 2)] {
        let (landmarks, semantics) = problem(dim, 9, 8 + added);
        let before = settled(&landmarks, &semantics, 8);
        let found = TopDown::default().join(&landmarks, &before, &semantics, &Silent).expect("a minimum");
        assert!(found.converged && found.points.ncols() == added);
        let all = joined(before.points.as_ref(), found.points.as_ref());
        if dim < 9 {
            let slope = slope(&landmarks, &all, &semantics.distances, 8);
            assert!(slope < 1e-6, "{dim} dimensions, {added} classes: {slope}");
        }
        // Another minimizer, from the same place: plain descent on the formula, with steps that only ever go down.
        let at = |points: &Mat<f64>| {
            stress_from(landmarks.points.as_ref(), points.as_ref(), &semantics.distances, 8)
        };
        let mut other = all.clone();
        let start = semantics.arrived(8);
        let alone = Sammon::new(landmarks.points.as_ref(), &start.distances);
        let start = Lsm::default().initial_points(&alone).expect("distances are enough");
        for j in 0..added {
            other.col_as_slice_mut(8 + j).copy_from_slice(&start[j * dim..][..dim]);
        }
        let mut step = 1.0;
        for _ in 0..4000 {
            let here = at(&other);
            let mut next = other.clone();
            for j in 8..8 + added {
                for i in 0..dim {
                    let mut moved = |by: f64| {
                        other[(i, j)] += by;
                        let value = at(&other);
                        other[(i, j)] -= by;
                        value
                    };
                    next[(i, j)] -= step * (moved(1e-6) - moved(-1e-6)) / 2e-6;
                }
            }
            if at(&next) < here {
                other = next;
                step *= 1.2;
            } else {
                step *= 0.5;
            }
        }
        assert!((at(&all) - at(&other)).abs() < 1e-8, "{} and {}", at(&all), at(&other));
        assert!((&all - &other).norm_max() < 1e-3, "{}", (&all - &other).norm_max());
    }
}

/// At the minimum of the whole cost every class is at the minimum of its part.
#[test]
fn a_class_that_leaves_and_joins_again_is_where_it_was() {
    let (landmarks, semantics) = problem(5, 9, 7);
    let whole = settled(&landmarks, &semantics, 7);
    let before = Embedding { points: whole.points.subcols(0, 6).to_owned(), ..whole.clone() };
    let again = TopDown::default().join(&landmarks, &before, &semantics, &Silent).expect("a minimum");
    assert!((again.points.col(0) - whole.points.col(6)).norm_max() < 1e-6);
}

#[test]
fn regressions_put_a_class_where_it_would_have_been_from_the_start() {
    let (landmarks, semantics) = problem(5, 9, 7);
    for embedder in
        [TopDown::Krr(crate::top_down::Krr::default()), TopDown::Svr(crate::top_down::Svr::default())]
    {
        let whole = embedder.embed(&landmarks, &semantics, &Silent).expect("an embedding");
        let before = Embedding { points: whole.points.subcols(0, 6).to_owned(), ..whole.clone() };
        let joined = embedder.join(&landmarks, &before, &semantics, &Silent).expect("an embedding");
        assert!((joined.points.col(0) - whole.points.col(6)).norm_max() < 1e-9);
    }
}

#[test]
fn means_join_by_the_points_of_their_mapping() {
    let (landmarks, semantics) = problem(5, 9, 7);
    for unit in [false, true] {
        let krr = crate::top_down::Krr { unit_embedding: unit, ..crate::top_down::Krr::default() };
        let both = TopDown::LsmKrr(crate::top_down::LsmKrr { lsm: Lsm::default(), krr });
        let whole = both.embed(&landmarks, &semantics, &Silent).expect("an embedding");
        let mapped = whole.mapped.as_ref().expect("a mapping");
        assert_eq!(
            both.mapped_again(&landmarks, &semantics, &Silent).expect("it again").as_ref(),
            Some(mapped)
        );
        let before = Embedding {
            points: whole.points.subcols(0, 6).to_owned(),
            mapped: Some(mapped.subcols(0, 6).to_owned()),
            converged: true,
        };
        let joined = both.join(&landmarks, &before, &semantics, &Silent).expect("an embedding");
        assert!((joined.points.col(0) - whole.points.col(6)).norm_max() < 1e-6);
    }
}

/// One-hot descriptions: the start of every class is the same mean of all landmarks.
#[test]
fn a_class_does_not_stick_to_one_that_it_starts_on() {
    let landmarks = Landmarks { points: Mat::from_fn(4, 5, |i, j| ((i * 5 + j) as f64).sin()) };
    let distances = SemanticDistances {
        known_unseen: Mat::full(5, 2, 1.0),
        unseen_unseen: Symmetric::from_matrix(Mat::full(2, 2, 1.0).as_ref()),
    };
    let given = Representation::new(
        "given",
        1.0,
        Metric::Precomputed,
        Mat::from_fn(7, 7, |i, j| if i == j { 0.0 } else { 1.0 }),
    );
    let semantics = ClassSemantics::with_distances(vec![given], 5, distances);
    let alone = semantics.arrived(1);
    let cost = Sammon::new(landmarks.points.as_ref(), &alone.distances);
    let start = Lsm::default().initial_points(&cost).expect("distances are enough");
    let on_start = MatRef::from_column_major_slice(&start, 4, 1).to_owned();
    let before = Embedding { points: on_start.clone(), converged: true, mapped: None };
    let found = TopDown::default().join(&landmarks, &before, &semantics, &Silent).expect("a minimum");
    assert!((found.points.col(0) - on_start.col(0)).norm_l2() > 0.1);
}
