//! Pairs by every way to find them: residuals, orthonormality, the same values and bits.

use super::*;
use crate::krylov::tests::random;

fn pencil(size: usize, rank: usize) -> (Mat<f64>, Mat<f64>) {
    let (a, b) = (random(size, rank, 1), random(size, size, 2));
    let mut right = product(b.as_ref(), b.transpose());
    (0..size).for_each(|i| right[(i, i)] += 1.0);
    (product(a.as_ref(), a.transpose()), right)
}

fn check(size: usize, rank: usize, count: usize) {
    let (left, right) = pencil(size, rank);
    let found = generalized(left.as_ref(), right.clone(), count, &Silent).expect("a definite pencil");
    let values = Mat::from_fn(count, count, |i, j| if i == j { found.values[i] } else { 0.0 });
    let image = product(right.as_ref(), found.vectors.as_ref());
    let residual = product(left.as_ref(), found.vectors.as_ref()) - product(image.as_ref(), values.as_ref());
    assert!(residual.norm_max() < 1e-8 * found.values[0] * image.norm_max(), "{}", residual.norm_max());
    let gram = product(found.vectors.transpose(), image.as_ref());
    assert!((gram - Mat::<f64>::identity(count, count)).norm_max() < 1e-9);
    assert!(found.values.windows(2).all(|pair| pair[0] >= pair[1]));
}

#[test]
fn residuals_vanish_and_vectors_are_b_orthonormal_by_divide_and_conquer() {
    check(40, 40, 7);
    check(40, 5, 12);
    check(200, 200, 190);
}

#[test]
fn residuals_vanish_and_vectors_are_b_orthonormal_by_bisection() {
    check(150, 150, 40);
    check(700, 700, 500);
    // Many eigenvalues are zero, to rounding.
    check(300, 20, 60);
}

#[test]
fn residuals_vanish_and_vectors_are_b_orthonormal_by_krylov() {
    check(MAX_DIRECT_ORDER + 60, 300, 30);
    check(MAX_DIRECT_ORDER + 60, 20, 40);
}

/// More than a twentieth of the pairs: the operator is formed.
#[test]
fn pairs_of_a_formed_operator_are_those_of_the_pencil() {
    let (size, count) = (MAX_DIRECT_ORDER + 60, 80);
    assert!(form_operator(size, count) && !solve_directly(size, count));
    let (left, right) = pencil(size, 300);
    let separate = generalized(left.as_ref(), right.clone(), count, &Silent).expect("a definite pencil");
    let factor = cholesky(right).expect("definite");
    let (found, back) = generalized_formed(left, factor.clone(), count, &Silent).expect("a definite pencil");
    for (one, other) in found.values.iter().zip(&separate.values) {
        approx::assert_relative_eq!(one, other, max_relative = 1e-9);
    }
    assert!((&found.vectors - &separate.vectors).norm_max() < 1e-6 * separate.vectors.norm_max());
    for j in 0..size {
        assert_eq!(back.col_as_slice(j)[j..], factor.col_as_slice(j)[j..]);
    }
}

#[test]
fn krylov_and_divide_and_conquer_find_the_same_values() {
    let (left, _) = pencil(MAX_DIRECT_ORDER + 10, 400);
    let all = full(left.as_ref(), 50).expect("symmetric");
    let some = symmetric(left.as_ref(), 50, &Silent).expect("symmetric");
    for (a, b) in all.values.iter().zip(&some.values) {
        approx::assert_relative_eq!(a, b, max_relative = 1e-10);
    }
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    for (size, count) in [(MAX_DIRECT_ORDER + 60, 30), (700, 200)] {
        let (left, right) = pencil(size, 300);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a small pool");
            pool.install(|| {
                generalized(left.as_ref(), right.clone(), count, &Silent).expect("a definite pencil")
            })
        };
        let one = with(1);
        assert_eq!(with(2), one, "{size}");
        assert_eq!(with(3), one, "{size}");
    }
}

#[test]
fn an_indefinite_right_side_is_an_error() {
    let right = Mat::from_fn(3, 3, |i, j| if i == j { -1.0 } else { 0.0 });
    let failure =
        generalized(Mat::<f64>::identity(3, 3).as_ref(), right, 1, &Silent).expect_err("indefinite");
    assert!(matches!(failure, Error::NotPositiveDefinite { pivot: 0, .. }), "{failure}");
}
