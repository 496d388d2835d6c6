//! Hard spectra, scales and point sets, through the public interface: results are compared with the constructed solution, or with
//! plain loops in `f64`, at every SIMD level of the machine.

use bidilel_math::{Silent, eigen, neighbors, parallel::product, pca};
use faer::{Mat, MatRef};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Eigenvalues, largest first.
type Spectrum = (&'static str, fn(usize) -> Vec<f64>);

const SPECTRA: &[Spectrum] = &[
    ("geometric", |n| (0..n).map(|i| 0.98_f64.powf(i as f64)).collect()),
    ("slow", |n| (0..n).map(|i| 1.0 - 0.9 * i as f64 / n as f64).collect()),
    ("one cluster of 40 that agrees to 1e-8", |n| {
        let value = |i: usize| if (5..45).contains(&i) { 0.5 - 1e-8 * i as f64 / 40.0 } else { 0.0 };
        let rest = |i: usize| if i < 5 { 1.0 - 0.1 * i as f64 } else { 0.4 * 0.99_f64.powf(i as f64) };
        (0..n).map(|i| if (5..45).contains(&i) { value(i) } else { rest(i) }).collect()
    }),
    ("a value of multiplicity 38", |n| {
        (0..n)
            .map(|i| {
                if i < 3 {
                    2.0 - 0.2 * i as f64
                } else if i < 41 {
                    1.0
                } else {
                    0.9 * 0.99_f64.powf(i as f64)
                }
            })
            .collect()
    }),
    ("two values of multiplicity 60 and 20", |n| {
        (0..n)
            .map(|i| {
                if i < 60 {
                    1.0
                } else if i < 80 {
                    0.97
                } else {
                    0.5 * 0.995_f64.powf(i as f64)
                }
            })
            .collect()
    }),
    ("rank 12", |n| (0..n).map(|i| if i < 12 { 1.0 / (i + 1) as f64 } else { 0.0 }).collect()),
    ("sixteen orders of magnitude", |n| (0..n).map(|i| 10.0_f64.powf(-16.0 * i as f64 / n as f64)).collect()),
];

/// $H \operatorname{diag}(d) H$ with a Householder reflection $H$ in a random direction, whose columns are the eigenvectors.
fn reflected(values: &[f64], direction: &[f64]) -> Mat<f64> {
    let square: f64 = direction.iter().map(|v| v * v).sum();
    let along = direction.iter().zip(values).map(|(v, d)| v * v * d).sum::<f64>() / square;
    Mat::from_fn(values.len(), values.len(), |i, j| {
        let (one, other) = (direction[i.max(j)], direction[i.min(j)]);
        let diagonal = if i == j { values[i] } else { 0.0 };
        diagonal + one * other * (4.0 * along - 2.0 * (values[i] + values[j])) / square
    })
}

fn direction(size: usize) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(size as u64);
    (0..size).map(|_| random.random_range(-1.0..1.0)).collect()
}

/// Checks that values are as constructed, residuals are small, and vectors are orthonormal with respect to `right`.
fn check(name: &str, left: &Mat<f64>, right: Option<&Mat<f64>>, expected: &[f64], found: &eigen::Eigen) {
    let count = found.values.len();
    let largest = expected[0].abs();
    for (i, (found, expected)) in found.values.iter().zip(expected).enumerate() {
        assert!(
            (found - expected).abs() < 1e-9 * largest,
            "{name}: value {i} is {found:e}, not {expected:e}"
        );
    }
    let image =
        right.map_or_else(|| found.vectors.clone(), |right| product(right.as_ref(), found.vectors.as_ref()));
    let gram = product(found.vectors.transpose(), image.as_ref());
    let off = (gram - Mat::<f64>::identity(count, count)).norm_max();
    assert!(off < 1e-8, "{name}: off orthonormal by {off:e}");
    let along = product(left.as_ref(), found.vectors.as_ref());
    for j in 0..count {
        let size = image.col(j).norm_l2() * largest;
        let residual: f64 = (0..left.nrows())
            .map(|i| (along[(i, j)] - found.values[j] * image[(i, j)]).powi(2))
            .sum::<f64>()
            .sqrt();
        assert!(residual < 1e-8 * size, "{name}: pair {j} has a residual of {:e}", residual / size);
    }
}

/// Orders around the largest direct problem, and numbers of pairs around a quarter of the order.
#[test]
fn leading_pairs_are_those_constructed() {
    for (name, spectrum) in SPECTRA {
        for (size, count) in [(50, 12), (200, 90), (1280, 40), (1281, 90), (1284, 321), (1284, 322)] {
            if count > 300 && !name.starts_with("geometric") {
                continue;
            }
            let expected = spectrum(size);
            let matrix = reflected(&expected, &direction(size));
            let found = eigen::symmetric(matrix.as_ref(), count, &Silent).expect("symmetric");
            check(&format!("{name}, {count} of {size}"), &matrix, None, &expected, &found);
        }
    }
}

#[test]
fn generalized_leading_pairs_are_those_constructed_at_any_scale() {
    for (name, spectrum) in SPECTRA {
        for (size, count) in [(70, 20), (1290, 60)] {
            for (left_scale, right_scale) in [(1.0, 1.0), (1e90, 1e-90), (1e-90, 1e90), (1e-90, 1e-90)] {
                if size > 1000 && left_scale > right_scale {
                    continue;
                }
                let values = spectrum(size);
                let weights: Vec<f64> = (0..size).map(|i| 0.5 + (i * 7 % 13) as f64).collect();
                let both: Vec<f64> = values.iter().zip(&weights).map(|(v, w)| left_scale * v * w).collect();
                let scaled: Vec<f64> = weights.iter().map(|w| right_scale * w).collect();
                let direction = direction(size);
                let (left, right) = (reflected(&both, &direction), reflected(&scaled, &direction));
                let expected: Vec<f64> = values.iter().map(|v| v * left_scale / right_scale).collect();
                let found =
                    eigen::generalized(left.as_ref(), right.clone(), count, &Silent).expect("definite");
                let name = format!("{name}, {count} of {size}, {left_scale:e} and {right_scale:e}");
                check(&name, &left, Some(&right), &expected, &found);
            }
        }
    }
}

#[test]
fn all_pairs_are_those_constructed_at_any_scale() {
    for (name, spectrum) in SPECTRA {
        for scale in [1.0, 1e-90, 1e90, 1e-300, 1e12] {
            let expected: Vec<f64> = spectrum(120).iter().map(|value| scale * value).collect();
            let matrix = reflected(&expected, &direction(120));
            let found = eigen::full(matrix.as_ref(), 120).expect("symmetric");
            check(&format!("{name} at {scale:e}"), &matrix, None, &expected, &found);
        }
    }
}

/// Points of some kind: dimensions x points.
fn points(kind: &str) -> Mat<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(17);
    let (dim, count) = if kind == "wide" { (700, 230) } else { (40, 450) };
    let noise = Mat::<f64>::from_fn(dim, count, |_, _| random.random_range(-1.0..1.0));
    Mat::from_fn(dim, count, |i, j| match kind {
        "duplicates" => noise[(i, j / 3)],
        "constant features" if i % 4 == 1 => 2.5,
        "one dominant feature" if i == 7 => 1e4 * noise[(i, j)],
        "far from zero" => 1e5 + noise[(i, j)],
        "two values" => noise[(i, j)].signum(),
        "rank 5" => (0..5).map(|t| noise[(t, j)] * ((i * 5 + t) as f64).sin()).sum(),
        _ => noise[(i, j)],
    })
}

const KINDS: &[&str] = &[
    "plain",
    "wide",
    "duplicates",
    "constant features",
    "one dominant feature",
    "far from zero",
    "two values",
    "rank 5",
];

fn brute_force(points: MatRef<'_, f64>, query: usize) -> Vec<(usize, f64)> {
    let distance = |j: usize| {
        let squares = (0..points.nrows()).map(|i| (points[(i, query)] - points[(i, j)]).powi(2));
        squares.sum::<f64>().sqrt()
    };
    let mut all: Vec<_> = (0..points.ncols()).filter(|&j| j != query).map(|j| (j, distance(j))).collect();
    all.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    all
}

#[test]
fn neighbors_equal_brute_force_at_any_scale() {
    for kind in KINDS {
        for scale in [1.0, 1e-30, 1e30, 1e-36] {
            let points = points(kind);
            #[expect(clippy::cast_possible_truncation, reason = "single precision is what is searched")]
            let narrow =
                Mat::<f32>::from_fn(points.nrows(), points.ncols(), |i, j| (scale * points[(i, j)]) as f32);
            let wide = Mat::from_fn(points.nrows(), points.ncols(), |i, j| f64::from(narrow[(i, j)]));
            let found = neighbors::exact(narrow.as_ref(), 6, &Silent);
            neighbors::verify(narrow.as_ref(), &found, &Silent).expect("it agrees with itself");
            for query in (0..points.ncols()).step_by(7) {
                let expected = brute_force(wide.as_ref(), query);
                for ((_, distance), (_, nearest)) in found.of(query).iter().zip(&expected) {
                    assert!(
                        (distance - nearest).abs() <= 1e-12 * nearest,
                        "{kind} at {scale:e}, point {query}"
                    );
                }
            }
        }
    }
}

/// Jacobi's eigenvalue algorithm: rotations until the off-diagonal is zero. Slow, and reliable for any symmetric matrix.
fn jacobi(mut matrix: Mat<f64>) -> Vec<f64> {
    let size = matrix.nrows();
    for _ in 0..60 {
        let mut largest = 0.0_f64;
        for p in 0..size {
            for q in p + 1..size {
                let off = matrix[(p, q)];
                largest = largest.max(off.abs());
                if off == 0.0 {
                    continue;
                }
                let theta = (matrix[(q, q)] - matrix[(p, p)]) / (2.0 * off);
                let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let t = if theta == 0.0 { 1.0 } else { t };
                let (c, s) = (1.0 / t.hypot(1.0), t / t.hypot(1.0));
                for k in 0..size {
                    let (a, b) = (matrix[(k, p)], matrix[(k, q)]);
                    (matrix[(k, p)], matrix[(k, q)]) = (c * a - s * b, s * a + c * b);
                }
                for k in 0..size {
                    let (a, b) = (matrix[(p, k)], matrix[(q, k)]);
                    (matrix[(p, k)], matrix[(q, k)]) = (c * a - s * b, s * a + c * b);
                }
            }
        }
        if largest == 0.0 {
            break;
        }
    }
    let mut values: Vec<f64> = (0..size).map(|i| matrix[(i, i)]).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

#[test]
fn principal_directions_keep_the_variance_of_the_leading_eigenvalues_at_any_scale() {
    for kind in KINDS.iter().filter(|kind| **kind != "wide") {
        for scale in [1.0, 1e-90, 1e90, 3e3] {
            let points = points(kind) * faer::Scale(scale);
            let count = points.ncols() as f64;
            let mean: Vec<f64> =
                (0..points.nrows()).map(|i| points.row(i).iter().sum::<f64>() / count).collect();
            let centered = Mat::from_fn(points.nrows(), points.ncols(), |i, j| points[(i, j)] - mean[i]);
            let scatter = product(centered.as_ref(), centered.transpose());
            let values = jacobi(scatter);
            let expected = values[..4].iter().sum::<f64>() / values.iter().sum::<f64>();
            // Subspace iteration converges slowly for flat spectra such as these.
            for (method, off) in [(pca::Method::Exact, 1e-9), (pca::Method::Randomized { seed: 1 }, 1e-3)] {
                let found =
                    pca::principal_components(&points.as_ref(), 4, method, &Silent).expect("they vary");
                assert!(
                    (found.explained_variance_ratio - expected).abs() < off,
                    "{kind} at {scale:e}: {} not {expected}",
                    found.explained_variance_ratio
                );
            }
        }
    }
}

/// All of the above, again at each of the other SIMD levels.
#[test]
fn every_level_passes() {
    bidilel_math::simd::test_at_other_levels();
}
