//! The regression against its formulas, written out: kernels entry by entry, weights by a dense solver.

use bidilel_math::Silent;
use faer::prelude::Solve;

use super::*;
use crate::dataset::Metric;
use crate::semantic::Representation;

const KNOWN: usize = 7;
const ALL: usize = 10;
const RIDGE: f64 = 0.3;
const WIDTH: f64 = 0.4;

fn wave(i: usize, j: usize) -> f64 {
    ((i * 31 + j * 17) as f64 * 0.613).sin()
}

/// Their weights, and descriptions whose norms differ.
fn descriptions() -> [(f64, Mat<f64>); 2] {
    let of = |dim, shift| Mat::from_fn(dim, ALL, |i, j| (1.0 + j as f64) * wave(i + shift, j));
    [(0.7, of(5, 0)), (0.3, of(3, 9))]
}

/// `$\sum_m w_m \exp(-w\, d_m^2 / \overline{d_m^2})$` of a known class with any.
fn kernel(i: usize, j: usize) -> f64 {
    let of = |(weight, raw): (f64, Mat<f64>)| {
        let squared = |a: usize, b: usize| {
            let unit = |row: usize, class: usize| raw[(row, class)] / raw.col(class).norm_l2();
            (0..raw.nrows()).map(|row| (unit(row, a) - unit(row, b)).powi(2)).sum::<f64>()
        };
        let pairs: Vec<f64> =
            (0..KNOWN).flat_map(|a| (0..a).map(move |b| (a, b))).map(|(a, b)| squared(a, b)).collect();
        let mean = pairs.iter().sum::<f64>() / pairs.len() as f64;
        weight * (-WIDTH * squared(i, j) / mean).exp()
    };
    descriptions().into_iter().map(of).sum()
}

fn semantics() -> ClassSemantics {
    let named = ["attributes", "words"].into_iter().zip(descriptions());
    let each = named.map(|(name, (weight, raw))| Representation::new(name, weight, Metric::Euclidean, raw));
    ClassSemantics::from_representations(each.collect(), KNOWN)
}

fn settings() -> Krr {
    Krr { krr_ridge: Some(RIDGE), krr_width: Some(WIDTH), unit_embedding: false }
}

#[test]
fn kernels_of_two_representations_are_those_of_the_formula() {
    let squares = Squares::of(&semantics());
    let found = Kernel::new(&squares, WIDTH).expect("a kernel");
    let expected = |first: usize, count: usize| Mat::from_fn(KNOWN, count, |i, j| kernel(i, first + j));
    assert!((found.unseen(&squares) - expected(KNOWN, ALL - KNOWN)).norm_max() < 1e-12);
    assert!((found.known - expected(0, KNOWN)).norm_max() < 1e-12);
}

/// Weights $A$ and intercept $m$ by one system of equations: $A (K + \rho I) + m 1^\top = B$ and $A 1 = 0$.
#[test]
fn unseen_classes_are_embedded_as_the_system_of_equations_says() {
    let landmarks = Mat::from_fn(4, KNOWN, |i, j| wave(i + 50, j));
    let system = Mat::from_fn(KNOWN + 1, KNOWN + 1, |i, j| match (i < KNOWN, j < KNOWN) {
        (true, true) => kernel(i, j) + if i == j { RIDGE } else { 0.0 },
        (false, false) => 0.0,
        _ => 1.0,
    });
    let sides = Mat::from_fn(KNOWN + 1, 4, |i, row| if i < KNOWN { landmarks[(row, i)] } else { 0.0 });
    let solved = system.partial_piv_lu().solve(&sides);
    let values =
        Mat::from_fn(KNOWN + 1, ALL - KNOWN, |i, j| if i < KNOWN { kernel(i, KNOWN + j) } else { 1.0 });
    let expected = solved.transpose() * values;
    let found =
        settings().embed(&Landmarks { points: landmarks }, &semantics(), &Silent).expect("points").points;
    assert!((found - expected).norm_max() < 1e-11);
}
