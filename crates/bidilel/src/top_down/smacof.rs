//! Majorization of the Sammon cost with fixed landmarks.
//!
//! With pair weights $w = $ (weight of the pair in the cost) $/ \delta$, the cost is
//! $\sum w (d - \delta)^2$, and at the current embeddings $\tilde b$ it is below the quadratic whose minimum
//! solves, for every unseen class $j$,
//! $$\Big(\sum_i w_{ij} + \sum_k w_{jk}\Big) b_j - \sum_k w_{jk} b_k = \sum_i w_{ij} \Big(l_i +
//!   \delta_{ij} \frac{\tilde b_j - l_i}{\tilde d_{ij}}\Big) + \sum_k w_{jk} \delta_{jk}
//!   \frac{\tilde b_j - \tilde b_k}{\tilde d_{jk}}$$
//! over landmarks $l_i$ and other unseen classes $k$. The matrix $V$ (unseen x unseen) is factored once. The quadratic has
//! the cost's own gradient $g$ at $\tilde b$ and the second derivative $2V$, so that the step is $b = \tilde b -
//! \frac12 V^{-1} g$, with a gradient that is known already.
//!
//! # References
//! I. Borg and P. Groenen, *Modern Multidimensional Scaling*, 2nd ed., 2005, chapter 8.

use faer::{Mat, MatRef};

use bidilel_math::lbfgs::{Minimum, Objective, Stopping};
use bidilel_math::{Observer, Result, eigen};

/// A cost of pairs of points that majorization can minimize.
pub(super) trait Majorized: Objective {
    /// $V$, classes that move x classes that move; only the lower half is read.
    fn system(&self) -> Mat<f64>;
}

/// A relative decrease of the cost below this counts as a stalled step.
const STALL_DECREASE: f64 = 1e-13;
/// Consecutive stalled steps that end the iteration.
const MAX_STALLED_STEPS: usize = 100;

pub(super) fn smacof(
    cost: &impl Majorized,
    start: Vec<f64>,
    stopping: Stopping,
    watch: &dyn Observer,
) -> Result<Minimum> {
    let majorizer = Majorizer::new(cost)?;
    let mut point = start;
    let mut gradient = vec![0.0; point.len()];
    let mut value = cost.evaluate(&point, &mut gradient);
    let goal = stopping.tolerance * value.max(f64::MIN_POSITIVE);
    let mut stalled = 0;
    for iteration in 0..stopping.max_iterations {
        watch.step(iteration, value);
        if watch.poll().is_break() {
            return Ok(Minimum { point, value, iterations: iteration, converged: false });
        }
        let steepest = gradient.iter().fold(0.0_f64, |largest, g| largest.max(g.abs()));
        if steepest <= goal || stalled >= MAX_STALLED_STEPS {
            return Ok(Minimum { point, value, iterations: iteration, converged: true });
        }
        let next = majorizer.step(&point, &gradient);
        let below = cost.evaluate(&next, &mut gradient);
        if below > value {
            // Only rounding can raise the cost: this is the minimum.
            return Ok(Minimum { point, value, iterations: iteration, converged: true });
        }
        stalled = if value - below <= STALL_DECREASE * value { stalled + 1 } else { 0 };
        (point, value) = (next, below);
    }
    Ok(Minimum { point, value, iterations: stopping.max_iterations, converged: false })
}

struct Majorizer {
    /// The lower triangular $R$ of $R R^\top = V$.
    factor: Mat<f64>,
}

impl Majorizer {
    fn new(cost: &impl Majorized) -> Result<Self> {
        Ok(Self { factor: eigen::cholesky(cost.system())? })
    }

    /// The minimum of the quadratic that touches the cost at `point`, where its gradient is `gradient`.
    fn step(&self, point: &[f64], gradient: &[f64]) -> Vec<f64> {
        let unseen = self.factor.ncols();
        let dim = point.len() / unseen;
        let mut right = MatRef::from_column_major_slice(gradient, dim, unseen).transpose().to_owned();
        eigen::solve_lower(self.factor.as_ref(), right.as_mut());
        eigen::solve_lower_transposed(self.factor.as_ref(), right.as_mut());
        let at = |(index, value): (usize, &f64)| value - 0.5 * right[(index / dim, index % dim)];
        point.iter().enumerate().map(at).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use bidilel_math::symmetric::Symmetric;

    use super::*;
    use crate::semantic::SemanticDistances;
    use crate::top_down::{Lsm, Sammon};

    /// Cancels when it has been asked so many times.
    struct Patience(AtomicUsize);

    impl Observer for Patience {
        fn poll(&self) -> ControlFlow<()> {
            let left = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
            if left.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        }
    }

    #[test]
    fn it_ends_at_the_iteration_in_which_it_is_canceled() {
        let landmarks = Mat::from_fn(3, 5, |i, j| ((i * 5 + j) as f64).sin());
        let mut unseen_unseen = Symmetric::zeros(4);
        (0..4).for_each(|j| (0..j).for_each(|i| unseen_unseen.set(i, j, 0.4 + 0.1 * (i + j) as f64)));
        let known_unseen = Mat::from_fn(5, 4, |i, j| 0.5 + ((i * 4 + j) as f64).cos().abs());
        let distances = SemanticDistances { known_unseen, unseen_unseen };
        let cost = Sammon::new(landmarks.as_ref(), &distances);
        let start = Lsm::default().initial_points(&cost).unwrap();
        let stopping = Stopping { tolerance: 1e-10, max_iterations: 10_000 };
        let found = smacof(&cost, start, stopping, &Patience(AtomicUsize::new(3))).unwrap();
        assert_eq!((found.iterations, found.converged), (3, false));
    }
}
