//! Conjugate gradients for several right-hand sides at once, one per row.
//!
//! The systems are those of label propagation, $(I - \alpha M) F = (1 - \alpha) Y$ with labels in rows: symmetric, with
//! eigenvalues between $1 - \alpha$ and $1 + \alpha$. Sums run in the order of the columns, so that the result is the same
//! for any number of threads.

use faer::Mat;
use rayon::prelude::*;

use crate::csr::{Csr, CsrRow};
use crate::parallel::zeros;
use crate::vector::{add_scaled, column};
use crate::{Error, Observer, Result};

/// Residual at which the iteration stops, relative to the right-hand side, per row.
pub(crate) const TOLERANCE: f64 = 1e-12;
/// Enough for $\alpha$ up to about 0.9999.
const MAX_ITERATIONS: usize = 2000;

/// The solution of `system`(F) = `start`, row by row; `what` is solved.
///
/// # Errors
/// [`Error::NoConvergence`]; [`Error::Cancelled`].
pub(crate) fn solve(
    start: Mat<f64>,
    system: impl Fn(&Mat<f64>) -> Mat<f64>,
    what: &'static str,
    watch: &dyn Observer,
) -> Result<Mat<f64>> {
    let mut solution = Mat::<f64>::zeros(start.nrows(), start.ncols());
    let mut residual = start;
    let mut direction = residual.clone();
    let mut squares = dots(&residual, &residual);
    let goal: Vec<f64> = squares.iter().map(|square| square * TOLERANCE * TOLERANCE).collect();
    for _ in 0..MAX_ITERATIONS {
        if squares.iter().zip(&goal).all(|(square, goal)| square <= goal) {
            return Ok(solution);
        }
        if watch.poll().is_break() {
            return Err(Error::Cancelled);
        }
        let image = system(&direction);
        let curvatures = dots(&direction, &image);
        // A row that has converged stays as it is.
        let step = |i: usize| if squares[i] > goal[i] { squares[i] / curvatures[i] } else { 0.0 };
        let steps: Vec<f64> = (0..squares.len()).map(step).collect();
        add_rows(&mut solution, &steps, &direction);
        let back: Vec<f64> = steps.iter().map(|step| -step).collect();
        add_rows(&mut residual, &back, &image);
        let next = dots(&residual, &residual);
        for j in 0..direction.ncols() {
            let both = direction.col_as_slice_mut(j).iter_mut().zip(residual.col_as_slice(j));
            for (i, (along, rest)) in both.enumerate() {
                let ratio = if squares[i] > goal[i] { next[i] / squares[i] } else { 0.0 };
                *along = rest + ratio * *along;
            }
        }
        squares = next;
    }
    Err(Error::NoConvergence { what, iterations: MAX_ITERATIONS })
}

/// Column `i` is the sum of the columns of `values` that row `i` of `rows` names, each times its entry.
pub(crate) fn gather(rows: &Csr, values: &Mat<f64>) -> Mat<f64> {
    let mut sums = zeros(values.nrows(), rows.nrows());
    sums.par_col_iter_mut().enumerate().for_each(|(i, sum)| {
        // Always: the matrix was allocated here.
        let Some(sum) = sum.try_as_col_major_mut() else { return };
        let sum = sum.as_slice_mut();
        let row: CsrRow<'_> = rows.row(i);
        row.iter().for_each(|(j, factor)| add_scaled(sum, factor, column(values.as_ref(), j)));
    });
    sums
}

/// Row by row, the inner product of two matrices.
fn dots(left: &Mat<f64>, right: &Mat<f64>) -> Vec<f64> {
    let mut sums = vec![0.0; left.nrows()];
    for j in 0..left.ncols() {
        let both = left.col_as_slice(j).iter().zip(right.col_as_slice(j));
        sums.iter_mut().zip(both).for_each(|(sum, (l, r))| *sum += l * r);
    }
    sums
}

/// Adds `other` to `target`, every row times its own factor.
fn add_rows(target: &mut Mat<f64>, factors: &[f64], other: &Mat<f64>) {
    for j in 0..target.ncols() {
        let both = target.col_as_slice_mut(j).iter_mut().zip(other.col_as_slice(j));
        both.zip(factors).for_each(|((value, other), factor)| *value += factor * other);
    }
}
