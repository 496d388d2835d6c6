//! Both matrices in one square, and their leading pairs, against dense computations.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::Silent;
use crate::krylov::tests::random;
use crate::parallel::product;
use crate::tiles::tests::packed;

/// A pencil of random symmetric matrices, and both as full matrices.
fn example(dim: usize) -> (Pencil, Mat<f64>, Mat<f64>) {
    let (one, other) = (random(dim / 2, dim, 1), random(dim + 5, dim, 2));
    let mut pencil = Pencil::zeros(dim);
    let (first, second) = (packed(one.transpose()), packed(other.transpose()));
    pencil.add(
        RankUpdate { left: &first.0, right: &first.1, depth: dim / 2 },
        RankUpdate { left: &second.0, right: &second.1, depth: dim + 5 },
        &Silent,
    );
    (pencil, product(one.transpose(), one.as_ref()), product(other.transpose(), other.as_ref()))
}

/// The tiles of $A$ on the diagonal, as full matrices.
fn whole_diagonal(pencil: &Pencil) -> Vec<Mat<f64>> {
    let mut diagonal = pencil.diagonal.clone();
    diagonal.iter_mut().for_each(mirror);
    diagonal
}

#[test]
fn both_matrices_are_recovered_at_sizes_around_a_tile() {
    for dim in [2, TILE - 1, TILE, TILE + 1, 2 * TILE + 7] {
        let (pencil, left, right) = example(dim);
        assert!((pencil.left() - &left).norm_max() < 1e-10, "{dim}");
        assert!((pencil.right() - &right).norm_max() < 1e-10, "{dim}");
        let block = random(dim, 3, 4);
        let image = pencil.left_times(&whole_diagonal(&pencil), block.as_ref());
        assert!((image - product(left.as_ref(), block.as_ref())).norm_max() < 1e-9, "{dim}");
        let (one, other) = pencil.both_times(block.as_ref());
        assert!((one - product(left.as_ref(), block.as_ref())).norm_max() < 1e-9, "{dim}");
        assert!((other - product(right.as_ref(), block.as_ref())).norm_max() < 1e-9, "{dim}");
    }
}

#[test]
fn half_of_one_is_added_to_the_other_at_sizes_around_a_tile() {
    for dim in [1, TILE - 1, TILE + 1, 2 * TILE + 7] {
        let (mut pencil, left, right) = example(dim);
        pencil.add_half_of_right_to_left();
        let expected = Mat::from_fn(dim, dim, |i, j| left[(i, j)] + 0.5 * right[(i, j)]);
        assert!((pencil.left() - expected).norm_max() < 1e-10, "{dim}");
        assert!((pencil.right() - &right).norm_max() < 1e-10, "{dim}");
    }
}

#[test]
fn scaling_acts_on_rows_and_columns_of_both() {
    let (mut pencil, left, right) = example(TILE + 3);
    let scales: Vec<f64> = (0..TILE + 3).map(|i| 0.5 + (i % 5) as f64).collect();
    pencil.scale(&scales);
    for (whole, before) in [(pencil.left(), left), (pencil.right(), right)] {
        let expected = Mat::from_fn(TILE + 3, TILE + 3, |i, j| scales[i] * before[(i, j)] * scales[j]);
        assert!((whole - expected).norm_max() < 1e-9);
    }
}

/// A factorization that writes a register's width above the diagonal overwrites tiles of `A`.
#[test]
fn pairs_of_an_overwritten_matrix_are_refused() {
    let (pencil, ..) = example(1400);
    let check = pencil.residual_check(0.0);
    let mut factored = Pencil {
        square: eigen::cholesky(pencil.square.clone()).expect("definite"),
        diagonal: whole_diagonal(&pencil),
    };
    let solve = |factored: &Pencil| {
        let times = |block: MatRef<'_, f64>| factored.left_times(&factored.diagonal, block);
        let found = eigen::generalized_leading(&times, &factored.square, 12, &Silent)?;
        eigen::verify(&check, factored.square.as_ref(), &found, &Silent)
    };
    solve(&factored).expect("nothing was overwritten");
    for j in (TILE..1400).step_by(TILE).flat_map(|first| first..first + 16) {
        for i in j / TILE * TILE - 16..j / TILE * TILE {
            factored.square[(i, j)] += 100.0;
        }
    }
    let failure = solve(&factored).expect_err("pairs of another matrix");
    assert!(matches!(failure, crate::Error::Check { check } if check.stage == "eigen"), "{failure}");
}

/// Few and many pairs of large pencils, which are found with another form of the operator.
#[test]
fn few_pairs_are_the_first_of_many_and_an_owned_pencil_has_those_of_a_borrowed_one() {
    let (pencil, ..) = example(1400);
    let few = leading(Cow::Borrowed(&pencil), 0.5, 12, &Silent).expect("a definite pencil");
    let many = leading(Cow::Borrowed(&pencil), 0.5, 90, &Silent).expect("a definite pencil");
    for (one, other) in few.values.iter().zip(&many.values) {
        approx::assert_relative_eq!(one, other, max_relative = 1e-9);
    }
    assert!((few.vectors - many.vectors.subcols(0, 12)).norm_max() < 1e-6);
    assert_eq!(many, leading(Cow::Owned(pencil), 0.5, 90, &Silent).expect("the same pencil"));
}

/// Breaks at the poll with this number, and at all that follow.
struct BreaksAt {
    polls: AtomicUsize,
    at: usize,
}

impl Observer for BreaksAt {
    fn poll(&self) -> ControlFlow<()> {
        if self.polls.fetch_add(1, Ordering::Relaxed) < self.at {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}

/// Solved directly, with products by both factors, and with the operator formed.
#[test]
fn a_solution_that_was_canceled_is_an_error_at_whichever_point() {
    for (dim, count) in [(700, 30), (1400, 12), (1400, 90)] {
        let (pencil, ..) = example(dim);
        let watch = |at| BreaksAt { polls: AtomicUsize::new(0), at };
        let solve = |watch: &BreaksAt| leading(Cow::Borrowed(&pencil), 0.5, count, watch);
        let whole = watch(usize::MAX);
        let expected = leading(Cow::Borrowed(&pencil), 0.5, count, &Silent).expect("a definite pencil");
        assert_eq!(solve(&whole).expect("not canceled"), expected);
        // At least once per tile of columns of the factor, and once per panel of reflections.
        let polls = whole.polls.into_inner();
        assert!(polls > dim / TILE + 600 / 32, "{polls}");
        for at in (0..polls).step_by(polls / 9).chain([polls - 1]) {
            assert_eq!(
                solve(&watch(at)),
                Err(crate::Error::Cancelled),
                "{dim}, {count}: poll {at} of {polls}"
            );
        }
    }
}

#[test]
fn pairs_equal_those_of_the_two_full_matrices() {
    for dim in [50, 1400] {
        let (pencil, left, right) = example(dim);
        let separate = eigen::generalized(left.as_ref(), right, 12, &Silent).expect("a definite pencil");
        let found = pencil.leading(12, &Silent).expect("a definite pencil");
        for (one, other) in found.values.iter().zip(&separate.values) {
            approx::assert_relative_eq!(one, other, max_relative = 1e-9);
        }
        assert!((found.vectors - &separate.vectors).norm_max() < 1e-6, "{dim}");
        let (pencil, ..) = example(dim);
        let kept = leading(Cow::Borrowed(&pencil), 0.5, 12, &Silent).expect("a definite pencil");
        assert_eq!(kept, leading(Cow::Owned(pencil), 0.5, 12, &Silent).expect("the same pencil"));
    }
}
