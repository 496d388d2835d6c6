//! Data at which solvers fail: every learner against the equations of its problem, solved by plain loops in `f64` and by
//! Jacobi's rotations; and the same features in any unit.

use bidilel::bottom_up::{BottomUp, Cca, LatentSpaceLearner, Lda, Locality, Lpp, Pca, Slpp, Weights};
use bidilel::reference::project_unnormalized;
use bidilel::task::Training;
use bidilel::visual::Views;
use bidilel_math::Silent;
use faer::Mat;

use crate::support::random;

const CLASSES: usize = 6;
const COUNT: usize = 96;
const NEIGHBORS: usize = 5;
const RIDGE: f64 = 0.5;

const KINDS: &[&str] =
    &["plain", "duplicates", "constant features", "one dominant feature", "rank 7", "two values"];

/// Features of some kind: dimensions x instances.
fn features(kind: &str) -> Mat<f64> {
    let noise = random(20, COUNT, 5);
    Mat::from_fn(20, COUNT, |i, j| {
        let class = ((i * CLASSES + j % CLASSES) as f64).powi(2).sin();
        match kind {
            "duplicates" => class + 0.5 * noise[(i, j % CLASSES + j / 18 * 6)],
            "constant features" if i % 5 == 2 => 3.0,
            "one dominant feature" if i == 4 => 300.0 * noise[(i, j)],
            "rank 7" => (0..7)
                .map(|t| {
                    (noise[(t, j)] + ((t * CLASSES + j % CLASSES) as f64).cos()) * ((i * 7 + t) as f64).sin()
                })
                .sum(),
            "two values" => (class + noise[(i, j)]).signum(),
            _ => class + 0.5 * noise[(i, j)],
        }
    })
}

fn labels() -> Vec<usize> {
    (0..COUNT).map(|j| j % CLASSES).collect()
}

fn semantics() -> Mat<f64> {
    let mut vectors = random(9, CLASSES, 8);
    for class in 0..CLASSES {
        let norm = vectors.col(class).norm_l2();
        vectors.col_mut(class).iter_mut().for_each(|value| *value /= norm);
    }
    vectors
}

/// Eigenvalues and vectors by rotations, largest first.
fn jacobi(mut a: Mat<f64>) -> (Vec<f64>, Mat<f64>) {
    let size = a.nrows();
    let mut vectors = Mat::<f64>::identity(size, size);
    for _ in 0..60 {
        for p in 0..size {
            for q in p + 1..size {
                if a[(p, q)] == 0.0 {
                    continue;
                }
                let theta = (a[(q, q)] - a[(p, p)]) / (2.0 * a[(p, q)]);
                let t = if theta == 0.0 { 1.0 } else { theta.signum() / (theta.abs() + theta.hypot(1.0)) };
                let (c, s) = (1.0 / t.hypot(1.0), t / t.hypot(1.0));
                for k in 0..size {
                    let (x, y) = (a[(k, p)], a[(k, q)]);
                    (a[(k, p)], a[(k, q)]) = (c * x - s * y, s * x + c * y);
                    let (x, y) = (vectors[(k, p)], vectors[(k, q)]);
                    (vectors[(k, p)], vectors[(k, q)]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..size {
                    let (x, y) = (a[(p, k)], a[(q, k)]);
                    (a[(p, k)], a[(q, k)]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
    }
    let mut order: Vec<usize> = (0..size).collect();
    order.sort_by(|&i, &j| a[(j, j)].total_cmp(&a[(i, i)]));
    let sorted = Mat::from_fn(size, size, |i, j| vectors[(i, order[j])]);
    (order.iter().map(|&i| a[(i, i)]).collect(), sorted)
}

/// $A p = \lambda B p$ on the range of $B$, with $p^\top B p = 1$.
fn generalized(a: &Mat<f64>, b: &Mat<f64>) -> (Vec<f64>, Mat<f64>) {
    let (values, vectors) = jacobi(b.clone());
    let rank = values.iter().filter(|value| **value > 1e-12 * values[0]).count();
    let white = Mat::from_fn(a.nrows(), rank, |i, j| vectors[(i, j)] / values[j].sqrt());
    let (values, inner) = jacobi(white.transpose() * a * &white);
    (values, &white * inner)
}

/// The matrices of a learner's problem, as its documentation has them; none on the right where it is the identity.
fn problem(learner: &BottomUp, x: &Mat<f64>) -> (Mat<f64>, Option<Mat<f64>>) {
    let labels = labels();
    let mean = Mat::from_fn(x.nrows(), 1, |i, _| x.row(i).iter().sum::<f64>() / COUNT as f64);
    let centered = Mat::from_fn(x.nrows(), COUNT, |i, j| x[(i, j)] - mean[(i, 0)]);
    let total = &centered * centered.transpose();
    let class_sums = Mat::from_fn(x.nrows(), CLASSES, |i, c| {
        (0..COUNT).filter(|&j| labels[j] == c).map(|j| centered[(i, j)]).sum::<f64>()
    });
    let with = |mut matrix: Mat<f64>, ridge: f64| {
        (0..matrix.nrows()).for_each(|i| matrix[(i, i)] += ridge);
        matrix
    };
    let size = (COUNT / CLASSES) as f64;
    match learner {
        BottomUp::Slpp(Slpp { locality, .. }) => graph_problem(x, locality, true),
        BottomUp::Lpp(Lpp { locality }) => graph_problem(x, locality, false),
        BottomUp::Pca(_) => (total, None),
        BottomUp::Lda(_) => {
            (&class_sums * class_sums.transpose() * faer::Scale(1.0 / size), Some(with(total, RIDGE)))
        }
        _ => {
            let s = semantics();
            let mean = Mat::from_fn(9, 1, |i, _| s.row(i).iter().sum::<f64>() / CLASSES as f64);
            let s = Mat::from_fn(9, CLASSES, |i, c| s[(i, c)] - mean[(i, 0)]);
            let trace = |matrix: &Mat<f64>| (0..matrix.nrows()).map(|i| matrix[(i, i)]).sum::<f64>();
            let own = &s * s.transpose() * faer::Scale(size);
            let ridge = RIDGE * trace(&own) / 9.0;
            let (values, vectors) = jacobi(with(own, ridge));
            let inverse = Mat::from_fn(9, 9, |i, j| {
                (0..9).map(|t| vectors[(i, t)] * vectors[(j, t)] / values[t]).sum::<f64>()
            });
            let cross = &class_sums * s.transpose();
            // Features that do not vary are left out, and do not count for the mean eigenvalue.
            let varying = (0..x.nrows()).filter(|&i| total[(i, i)] > 1e-9).count() as f64;
            let ridge = RIDGE * trace(&total) / varying;
            (&cross * inverse * cross.transpose(), Some(with(total, ridge)))
        }
    }
}

/// $X D X^\top$ and $X L X^\top + \alpha I$.
fn graph_problem(x: &Mat<f64>, locality: &Locality, supervised: bool) -> (Mat<f64>, Option<Mat<f64>>) {
    let labels = labels();
    let distance =
        |i: usize, j: usize| (0..x.nrows()).map(|t| (x[(t, i)] - x[(t, j)]).powi(2)).sum::<f64>().sqrt();
    let mut edges = vec![vec![false; COUNT]; COUNT];
    for i in 0..COUNT {
        let mut others: Vec<(f64, usize)> =
            (0..COUNT).filter(|&j| j != i).map(|j| (distance(i, j), j)).collect();
        others.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for &(_, j) in others.iter().take(NEIGHBORS).filter(|(_, j)| !supervised || labels[i] == labels[*j]) {
            edges[i][j] = true;
            edges[j][i] = true;
        }
    }
    let binary = locality.weights == Weights::Binary;
    let weight = |i: usize, j: usize| match edges[i][j] {
        true if binary => 1.0,
        true => (-0.5 * distance(i, j)).exp(),
        false => 0.0,
    };
    let w = Mat::from_fn(COUNT, COUNT, weight);
    let degree: Vec<f64> = (0..COUNT).map(|i| w.row(i).iter().sum()).collect();
    let d = Mat::from_fn(COUNT, COUNT, |i, j| if i == j { degree[i] } else { 0.0 });
    let l = Mat::from_fn(COUNT, COUNT, |i, j| d[(i, j)] - w[(i, j)]);
    let mut right = x * l * x.transpose();
    (0..x.nrows()).for_each(|i| right[(i, i)] += locality.alpha);
    (x * d * x.transpose(), Some(right))
}

fn learners(dim: usize, alpha: f64, weights: Weights) -> Vec<BottomUp> {
    let locality = Locality { alpha, dim: Some(dim), neighbors: NEIGHBORS, weights, ..Locality::default() };
    vec![
        BottomUp::Slpp(Slpp { locality: locality.clone(), ..Slpp::default() }),
        BottomUp::Lpp(Lpp { locality }),
        BottomUp::Pca(Pca { dim: Some(dim) }),
        BottomUp::Lda(Lda { dim: Some(dim), ridge: RIDGE }),
        BottomUp::Cca(Cca { dim: Some(dim), ridge: RIDGE }),
    ]
}

/// Inner products of where the instances are placed: what no rotation or sign of the directions changes.
fn inner_products(learner: &BottomUp, x: &Mat<f64>) -> Mat<f64> {
    let (labels, semantics, views) = (labels(), semantics(), Views::single("features", x.nrows()));
    let training = Training {
        features: x.as_ref(),
        labels: &labels,
        classes: CLASSES,
        semantics: Some(semantics.as_ref()),
        views: &views,
        total: None,
    };
    let space = learner.fit(&training, &Silent).unwrap_or_else(|error| panic!("{learner:?}: {error}"));
    let placed = project_unnormalized(&space, x.as_ref()).expect("as many dimensions");
    placed.transpose() * &placed
}

#[test]
fn every_learner_solves_its_own_equations() {
    for kind in KINDS {
        let x = features(kind);
        let mean = Mat::from_fn(x.nrows(), 1, |i, _| x.row(i).iter().sum::<f64>() / COUNT as f64);
        let centered = Mat::from_fn(x.nrows(), COUNT, |i, j| x[(i, j)] - mean[(i, 0)]);
        // Constant features are left out, which matters to learners that do not center.
        let varying: Vec<usize> =
            (0..x.nrows()).filter(|&i| x.row(i).iter().any(|v| v.to_bits() != x[(i, 0)].to_bits())).collect();
        let used = Mat::from_fn(varying.len(), COUNT, |i, j| x[(varying[i], j)]);
        for place in 0..5 {
            let (left, right) = problem(&learners(1, 2.0, Weights::Exp)[place], &used);
            let (values, vectors) =
                right.map_or_else(|| jacobi(left.clone()), |right| generalized(&left, &right));
            // Where two eigenvalues agree, either direction is right: cut where they do not.
            let gap = |dim: &usize| values[*dim - 1] - values[*dim] > 1e-5 * values[0];
            let dim = (1..=5).rev().find(gap).expect("a gap");
            let learner = &learners(dim, 2.0, Weights::Exp)[place];
            let within = Mat::from_fn(varying.len(), COUNT, |i, j| centered[(varying[i], j)]);
            let placed = vectors.subcols(0, dim).transpose() * within;
            let expected = placed.transpose() * &placed;
            let off = (inner_products(learner, &x) - &expected).norm_max() / expected.norm_max();
            assert!(off < 1e-7, "{kind}, {learner:?}: off by {off:e}");
        }
    }
}

/// With weights that have no unit, features times a number and alpha times its square place instances as before.
#[test]
fn features_in_any_unit_are_placed_alike() {
    for kind in KINDS {
        let x = features(kind);
        for scale in [2.0_f64.powi(-300), 1e-90, 1e-15, 1e15, 1e90] {
            let scaled = &x * faer::Scale(scale);
            for (plain, other) in learners(3, 2.0, Weights::Binary).iter().zip(learners(
                3,
                2.0 * scale * scale,
                Weights::Binary,
            )) {
                // The ridge of LDA has the unit of a scatter matrix.
                let other = match other {
                    BottomUp::Lda(lda) => BottomUp::Lda(Lda { ridge: RIDGE * scale * scale, ..lda }),
                    other => other,
                };
                let expected = inner_products(plain, &x);
                let mut found = inner_products(&other, &scaled);
                // Principal directions have unit norm, so that places keep the unit.
                if matches!(plain, BottomUp::Pca(_)) {
                    found *= faer::Scale(1.0 / scale / scale);
                }
                let off = (found - &expected).norm_max() / expected.norm_max();
                assert!(off < 1e-6, "{kind} times {scale:e}, {plain:?}: off by {off:e}");
            }
        }
    }
}
