//! Least squares over the probability simplex: vectors as mixtures of given points.
//!
//! The codes of a target $t$ over points `$p_1, \dots, p_k$` (columns of $P$) are
//! `$$ \arg\min_a \tfrac12 \|t - P a\|^2 + \tfrac{\gamma}{2} \|a\|^2 \quad\text{over}\quad a \ge 0,\ \textstyle\sum_i a_i = 1. $$`
//! Accelerated projected gradient with adaptive restart, where the projection onto the simplex is exact (by sorting).
//! The iteration ends by the Frank-Wolfe gap `$a^\top \nabla - \min_i \nabla_i$`, which bounds the distance of the
//! objective from its minimum. Moving points and target together does not change the problem, because coefficients sum
//! to 1: the mean of the points is taken off, which removes the largest eigenvalue of the Gram matrix.
//!
//! ```
//! use bidilel_math::{Silent, simplex};
//!
//! let points = faer::mat![[0.0, 4.0]];
//! let codes = simplex::codes(points.as_ref(), faer::mat![[1.0, 9.0]].as_ref(), 1e-9, &Silent)?;
//! assert!((codes[(1, 0)] - 0.25).abs() < 1e-6 && (codes[(1, 1)] - 1.0).abs() < 1e-6);
//! # Ok::<(), bidilel_math::Error>(())
//! ```
//!
//! # References
//! J. Duchi et al., *Efficient projections onto the l1-ball for learning in high dimensions*, 2008 (projection);
//! B. O'Donoghue and E. Candès, *Adaptive restart for accelerated gradient schemes*, 2015.

use faer::{Mat, MatRef};
use rayon::prelude::*;

use crate::parallel::product;
use crate::{Error, Observer, Result, eigen, vector};

/// Frank-Wolfe gap at which the iteration stops, relative to the largest entry of the gradient at zero.
const GAP: f64 = 1e-14;
/// Gap with which a result is accepted after [`MAX_ITERATIONS`].
const ACCEPTED_GAP: f64 = 1e-7;
const MAX_ITERATIONS: usize = 20_000;
/// Iterations between two computations of the gap, which cost as much as an iteration.
const ITERATIONS_PER_GAP: usize = 8;

/// Projects onto the simplex: the nearest vector with entries of at least 0 that sum to 1.
///
/// It is $\max(v_i - \theta, 0)$ with the one $\theta$ that gives the sum; the sorted values show how many entries stay
/// positive.
pub fn project(values: &mut [f64]) {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut threshold) = (0.0, 0.0);
    for (count, value) in (1_i32..).zip(&sorted) {
        sum += value;
        let candidate = (sum - 1.0) / f64::from(count);
        if *value > candidate {
            threshold = candidate;
        }
    }
    values.iter_mut().for_each(|value| *value = (*value - threshold).max(0.0));
}

/// Codes of all targets (columns, as the points): points x targets.
///
/// # Errors
/// [`Error::Parameter`] unless `ridge` is positive, [`Error::Shape`] for targets of another dimension or without points,
/// [`Error::NoConvergence`], [`Error::Cancelled`].
pub fn codes(
    points: MatRef<'_, f64>,
    targets: MatRef<'_, f64>,
    ridge: f64,
    watch: &dyn Observer,
) -> Result<Mat<f64>> {
    if !(ridge > 0.0 && ridge.is_finite()) {
        return Err(Error::Parameter { parameter: "ridge", expected: "a positive number", found: ridge });
    }
    let (dim, count) = (points.nrows(), points.ncols());
    if targets.nrows() != dim || count == 0 {
        let what = "dimension of the targets of simplex codes";
        return Err(Error::Shape { what, expected: dim, found: targets.nrows() });
    }
    let mean: Vec<f64> = points.row_iter().map(|row| row.iter().sum::<f64>() / count as f64).collect();
    let centered =
        |matrix: MatRef<'_, f64>| Mat::from_fn(dim, matrix.ncols(), |i, j| matrix[(i, j)] - mean[i]);
    let (points, targets) = (centered(points), centered(targets));
    let mut gram = product(points.transpose(), points.as_ref());
    (0..count).for_each(|i| gram[(i, i)] += ridge);
    let cross = product(points.transpose(), targets.as_ref());
    let curvature = eigen::full(gram.as_ref(), 1)?.values.first().copied().unwrap_or(ridge);
    let problem = Problem { gram: gram.as_ref(), curvature };
    let mut found = Mat::from_fn(count, targets.ncols(), |_, _| 1.0 / count as f64);
    let outcomes: Vec<Result<()>> = found
        .par_col_iter_mut()
        .enumerate()
        .map(|(target, column)| {
            if watch.poll().is_break() {
                return Err(Error::Cancelled);
            }
            let solution = problem.solve(cross.col_as_slice(target))?;
            column.iter_mut().zip(solution).for_each(|(to, from)| *to = from);
            Ok(())
        })
        .collect();
    outcomes.into_iter().collect::<Result<()>>()?;
    Ok(found)
}

struct Problem<'a> {
    /// $P^\top P + \gamma I$.
    gram: MatRef<'a, f64>,
    /// Its largest eigenvalue.
    curvature: f64,
}

impl Problem<'_> {
    fn gradient(&self, at: &[f64], cross: &[f64]) -> Vec<f64> {
        let row = |i: usize| vector::dot(vector::column(self.gram, i), at) - cross[i];
        (0..at.len()).map(row).collect()
    }

    fn gap(&self, at: &[f64], cross: &[f64]) -> f64 {
        let gradient = self.gradient(at, cross);
        vector::dot(at, &gradient) - gradient.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn solve(&self, cross: &[f64]) -> Result<Vec<f64>> {
        let scale = vector::max_abs(cross).max(self.curvature);
        let mut here = vec![1.0 / cross.len() as f64; cross.len()];
        let (mut ahead, mut momentum) = (here.clone(), 1.0_f64);
        for iteration in 0..MAX_ITERATIONS {
            if iteration % ITERATIONS_PER_GAP == 0 && self.gap(&here, cross) <= GAP * scale {
                return Ok(here);
            }
            let slope = self.gradient(&ahead, cross);
            let mut next: Vec<f64> = ahead.iter().zip(&slope).map(|(a, g)| a - g / self.curvature).collect();
            project(&mut next);
            // The step goes back on the momentum: start over without it.
            let along: f64 = ahead
                .iter()
                .zip(&next)
                .zip(&here)
                .map(|((ahead, next), here)| (ahead - next) * (next - here))
                .sum();
            let grown =
                if along > 0.0 { 1.0 } else { f64::midpoint(1.0, (1.0 + 4.0 * momentum * momentum).sqrt()) };
            let share = if along > 0.0 { 0.0 } else { (momentum - 1.0) / grown };
            ahead = next.iter().zip(&here).map(|(next, here)| next + share * (next - here)).collect();
            (here, momentum) = (next, grown);
        }
        if self.gap(&here, cross) <= ACCEPTED_GAP * scale {
            return Ok(here);
        }
        Err(Error::NoConvergence { what: "least squares over the simplex", iterations: MAX_ITERATIONS })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;
    use crate::krylov::tests::random;

    #[test]
    fn a_projection_is_nearer_than_any_other_point_of_the_simplex() {
        let values = random(7, 20, 5);
        let others = random(7, 20, 6);
        for j in 0..20 {
            let original = values.col_as_slice(j);
            let mut projected = original.to_vec();
            project(&mut projected);
            assert!(
                (projected.iter().sum::<f64>() - 1.0).abs() < 1e-12 && projected.iter().all(|&v| v >= 0.0)
            );
            // Optimality: (v - p)'(q - p) <= 0 for all q of the simplex.
            for k in 0..20 {
                let sum: f64 = others.col_as_slice(k).iter().map(|v| v.abs()).sum();
                let other = others.col_as_slice(k).iter().map(|v| v.abs() / sum);
                let angle: f64 =
                    original.iter().zip(&projected).zip(other).map(|((v, p), q)| (v - p) * (q - p)).sum();
                assert!(angle <= 1e-12, "{angle}");
            }
            let once = projected.clone();
            project(&mut projected);
            assert!(once.iter().zip(&projected).all(|(a, b)| (a - b).abs() < 1e-15));
        }
    }

    #[test]
    fn codes_satisfy_the_conditions_of_karush_kuhn_and_tucker() {
        for (dim, count) in [(3, 8), (12, 5), (40, 60)] {
            for ridge in [1e-3, 0.1, 10.0] {
                let (points, targets) = (random(dim, count, 1), random(dim, 9, 2));
                let found = codes(points.as_ref(), targets.as_ref(), ridge, &Silent).expect("codes");
                // The gradient without any shift of the points.
                let gradient =
                    points.transpose() * (&points * &found - &targets) + &found * faer::Scale(ridge);
                for j in 0..9 {
                    let (code, slope) = (found.col_as_slice(j), gradient.col(j));
                    assert!((code.iter().sum::<f64>() - 1.0).abs() < 1e-12 && code.iter().all(|&a| a >= 0.0));
                    let level: f64 = code.iter().zip(slope.iter()).map(|(a, g)| a * g).sum();
                    for (a, g) in code.iter().zip(slope.iter()) {
                        assert!(g - level > -1e-6 && (g - level).abs() * a < 1e-6, "{a} {g} {level}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_point_is_the_code_of_itself_where_nothing_pulls_codes_together() {
        let points = random(6, 4, 3);
        let found = codes(points.as_ref(), points.as_ref(), 1e-8, &Silent).expect("codes");
        assert!((found - Mat::<f64>::identity(4, 4)).norm_max() < 1e-5);
    }
}
