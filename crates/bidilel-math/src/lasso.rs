//! Lasso over many columns with one Gram matrix, by FISTA with restarts.
//!
//! For every column $b$ of the linear terms
//! `$$ \min_z \tfrac12 z^\top G z - b^\top z + \lambda \|z\|_1 $$`
//! with a positive definite $G$. Columns are independent. Blocks of columns iterate together, so that the gradient is a GEMM,
//! and each block ends by itself: where no subgradient is further from zero than the tolerance. The momentum restarts where
//! it points uphill, which keeps the rate linear in the square root of the condition number.
//!
//! ```
//! use bidilel_math::{Silent, lasso};
//! use faer::mat;
//!
//! // With the identity as the Gram matrix the solution is the soft threshold.
//! let found = lasso::solve(mat![[1.0, 0.0], [0.0, 1.0]].as_ref(), mat![[3.0], [-0.5]].as_ref(), 1.0, None, &Silent)?;
//! assert!((found[(0, 0)] - 2.0).abs() < 1e-6 && found[(1, 0)] == 0.0);
//! # Ok::<(), bidilel_math::Error>(())
//! ```
//!
//! # References
//! A. Beck and M. Teboulle, *A fast iterative shrinkage-thresholding algorithm for linear inverse problems*, 2009.
//! B. O'Donoghue and E. Candès, *Adaptive restart for accelerated gradient schemes*, 2015.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use crate::{Error, Observer, Result, eigen};

/// Columns that iterate together.
const BLOCK_COLUMNS: usize = 128;
/// Distance of the subgradients from zero at which a block ends, relative to its largest linear term.
const TOLERANCE: f64 = 1e-7;
const MAX_ITERATIONS: usize = 20_000;
/// The leading eigenvalue is rounded; a step may not be longer than its inverse.
const STEP_MARGIN: f64 = 1.0 + 1e-9;

/// The solutions, one column per column of the linear terms; they begin at `init`, or at zero.
///
/// # Errors
/// [`Error::Parameter`] for a negative penalty; [`Error::Shape`]; [`Error::NoConvergence`]; [`Error::Cancelled`]; and those
/// of the eigensolver.
pub fn solve(
    gram: MatRef<'_, f64>,
    linear: MatRef<'_, f64>,
    penalty: f64,
    init: Option<Mat<f64>>,
    watch: &dyn Observer,
) -> Result<Mat<f64>> {
    if !(penalty >= 0.0 && penalty.is_finite()) {
        let (parameter, expected) = ("the penalty of a lasso", "finite and not negative");
        return Err(Error::Parameter { parameter, expected, found: penalty });
    }
    let mut codes = init.unwrap_or_else(|| Mat::zeros(linear.nrows(), linear.ncols()));
    for (what, expected, found) in [
        ("the order of the Gram matrix", linear.nrows(), gram.nrows()),
        ("the initial rows", linear.nrows(), codes.nrows()),
        ("the initial columns", linear.ncols(), codes.ncols()),
    ] {
        if expected != found {
            return Err(Error::Shape { what, expected, found });
        }
    }
    if gram.nrows() == 0 || linear.ncols() == 0 {
        return Ok(codes);
    }
    let largest = eigen::symmetric(gram, 1, watch)?.values[0] * STEP_MARGIN;
    if largest <= 0.0 {
        return Err(Error::NotPositiveDefinite { matrix: "Gram matrix of a lasso", pivot: 0 });
    }
    let blocks = codes.as_mut().par_col_chunks_mut(BLOCK_COLUMNS).enumerate();
    let outcomes: Vec<Result<()>> = blocks
        .map(|(block, codes)| {
            let linear = linear.subcols(block * BLOCK_COLUMNS, codes.ncols());
            Block { gram, linear, penalty, step: largest.recip() }.solve(codes, watch)
        })
        .collect();
    outcomes.into_iter().collect::<Result<()>>()?;
    Ok(codes)
}

/// The largest distance of a subgradient of the objective from zero: that of the optimality conditions.
pub fn violation(
    gram: MatRef<'_, f64>,
    linear: MatRef<'_, f64>,
    penalty: f64,
    codes: MatRef<'_, f64>,
) -> f64 {
    let mut gradient = Mat::<f64>::zeros(codes.nrows(), codes.ncols());
    let problem = Block { gram, linear, penalty, step: 0.0 };
    problem.gradient(codes, &mut gradient);
    problem.violation(&gradient, codes)
}

/// Some columns of the problem.
struct Block<'a> {
    gram: MatRef<'a, f64>,
    linear: MatRef<'a, f64>,
    penalty: f64,
    step: f64,
}

impl Block<'_> {
    fn solve(&self, mut codes: MatMut<'_, f64>, watch: &dyn Observer) -> Result<()> {
        let goal = TOLERANCE * self.linear.norm_max().max(f64::MIN_POSITIVE);
        let mut gradient = Mat::<f64>::zeros(codes.nrows(), codes.ncols());
        let (mut ahead, mut momentum) = (codes.to_owned(), 1.0_f64);
        for _ in 0..MAX_ITERATIONS {
            if watch.poll().is_break() {
                return Err(Error::Cancelled);
            }
            self.gradient(ahead.as_ref(), &mut gradient);
            // At the extrapolated point: where it satisfies the conditions, it is a solution itself.
            if self.violation(&gradient, ahead.as_ref()) <= goal {
                codes.copy_from(&ahead);
                return Ok(());
            }
            let threshold = self.penalty * self.step;
            let mut uphill = 0.0;
            for j in 0..ahead.ncols() {
                let column = ahead.col_as_slice_mut(j).iter_mut().zip(gradient.col_as_slice_mut(j));
                for (i, (ahead, gradient)) in column.enumerate() {
                    let new = soft(*ahead - self.step * *gradient, threshold);
                    let moved = new - codes[(i, j)];
                    uphill += (*ahead - new) * moved;
                    codes[(i, j)] = new;
                    *ahead = new;
                    *gradient = moved;
                }
            }
            if uphill > 0.0 {
                momentum = 1.0;
                continue;
            }
            let next = f64::midpoint(1.0, (1.0 + 4.0 * momentum * momentum).sqrt());
            let share = (momentum - 1.0) / next;
            momentum = next;
            for j in 0..ahead.ncols() {
                let both = ahead.col_as_slice_mut(j).iter_mut().zip(gradient.col_as_slice(j));
                both.for_each(|(ahead, moved)| *ahead += share * moved);
            }
        }
        Err(Error::NoConvergence { what: "the lasso", iterations: MAX_ITERATIONS })
    }

    /// $G z - b$ into `gradient`.
    fn gradient(&self, codes: MatRef<'_, f64>, gradient: &mut Mat<f64>) {
        matmul(gradient.as_mut(), Accum::Replace, self.gram, codes, 1.0, Par::Seq);
        for j in 0..gradient.ncols() {
            let column = gradient.col_as_slice_mut(j).iter_mut();
            column.zip(self.linear.col(j).iter()).for_each(|(value, linear)| *value -= linear);
        }
    }

    fn violation(&self, gradient: &Mat<f64>, codes: MatRef<'_, f64>) -> f64 {
        let mut worst = 0.0_f64;
        for j in 0..codes.ncols() {
            for (slope, &code) in gradient.col_as_slice(j).iter().zip(codes.col(j).iter()) {
                let distance = if code == 0.0 {
                    (slope.abs() - self.penalty).max(0.0)
                } else {
                    (slope + self.penalty * code.signum()).abs()
                };
                worst = worst.max(distance);
            }
        }
        worst
    }
}

fn soft(value: f64, threshold: f64) -> f64 {
    value.signum() * (value.abs() - threshold).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;
    use crate::parallel::product;

    fn problem(size: usize, columns: usize) -> (Mat<f64>, Mat<f64>) {
        let factor = Mat::from_fn(size, size + 3, |i, j| ((i * 7 + j * 13 + 1) as f64).powi(2).sin());
        let mut gram = &factor * factor.transpose();
        (0..size).for_each(|i| gram[(i, i)] += 0.05);
        (gram, Mat::from_fn(size, columns, |i, j| ((i * 5 + j * 3) as f64).cos()))
    }

    #[test]
    fn every_column_satisfies_the_optimality_conditions() {
        let (gram, linear) = problem(20, 300);
        for penalty in [0.0, 0.1, 0.5] {
            let found = solve(gram.as_ref(), linear.as_ref(), penalty, None, &Silent).expect("a solution");
            assert!(violation(gram.as_ref(), linear.as_ref(), penalty, found.as_ref()) < 2e-7);
            let zeros =
                (0..300).flat_map(|j| (0..20).map(move |i| (i, j))).filter(|&at| found[at] == 0.0).count();
            assert_eq!(zeros > 0, penalty > 0.0, "{penalty}: {zeros} zeros");
        }
    }

    #[test]
    fn without_a_penalty_it_is_the_linear_system() {
        let (gram, linear) = problem(12, 5);
        let found = solve(gram.as_ref(), linear.as_ref(), 0.0, None, &Silent).expect("a solution");
        assert!((product(gram.as_ref(), found.as_ref()) - &linear).norm_max() < 2e-7);
    }

    #[test]
    fn a_large_penalty_leaves_nothing_and_a_solution_stays_where_it_is() {
        let (gram, linear) = problem(12, 5);
        let none = solve(gram.as_ref(), linear.as_ref(), 2.0, None, &Silent).expect("a solution");
        assert!(none.norm_max() == 0.0);
        let found = solve(gram.as_ref(), linear.as_ref(), 0.2, None, &Silent).expect("a solution");
        let again =
            solve(gram.as_ref(), linear.as_ref(), 0.2, Some(found.clone()), &Silent).expect("a solution");
        assert_eq!(found, again);
        assert!(solve(gram.as_ref(), linear.as_ref(), -1.0, None, &Silent).is_err());
    }
}
