//! Majorisation of the Sammon cost with fixed landmarks.
//!
//! With pair weights $w = $ (weight of the pair in the cost) $/ \delta$, the cost is
//! $\sum w (d - \delta)^2$, and at the present places $\tilde b$ it lies below the quadratic whose minimum
//! solves, for every unseen class $j$,
//! $$\Big(\sum_i w_{ij} + \sum_k w_{jk}\Big) b_j - \sum_k w_{jk} b_k = \sum_i w_{ij} \Big(l_i +
//!   \delta_{ij} \frac{\tilde b_j - l_i}{\tilde d_{ij}}\Big) + \sum_k w_{jk} \delta_{jk}
//!   \frac{\tilde b_j - \tilde b_k}{\tilde d_{jk}}$$
//! over landmarks $l_i$ and other unseen classes $k$. The matrix (unseen x unseen) is factored once.
//!
//! # References
//! I. Borg and P. Groenen, *Modern Multidimensional Scaling*, 2nd ed., 2005, chapter 8.

use faer::Mat;

use bidilel_math::distance::squared_slices;
use bidilel_math::lbfgs::{Minimum, Objective, Stopping};
use bidilel_math::{Observer, Result, eigen};

use super::Sammon;

/// A relative decrease of the cost below this, a hundred times running, ends the iteration.
const STALL: f64 = 1e-13;

pub(super) fn smacof(
    cost: &Sammon,
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
        let steepest = gradient.iter().fold(0.0_f64, |largest, g| largest.max(g.abs()));
        if steepest <= goal || stalled >= 100 {
            return Ok(Minimum { point, value, iterations: iteration, converged: true });
        }
        let next = majorizer.step(&point);
        let below = cost.evaluate(&next, &mut gradient);
        if below > value {
            // Only rounding can do that: this is as low as it gets.
            return Ok(Minimum { point, value, iterations: iteration, converged: true });
        }
        stalled = if value - below <= STALL * value { stalled + 1 } else { 0 };
        (point, value) = (next, below);
    }
    Ok(Minimum { point, value, iterations: stopping.max_iterations, converged: false })
}

pub(super) struct Majorizer<'a> {
    cost: &'a Sammon<'a>,
    factor: Mat<f64>,
}

impl<'a> Majorizer<'a> {
    pub(super) fn new(cost: &'a Sammon<'a>) -> Result<Self> {
        let unseen = cost.unseen();
        let mut system = Mat::zeros(unseen, unseen);
        for j in 0..unseen {
            for i in 0..cost.known() {
                system[(j, j)] += cost.outer_weight() / cost.outer(i, j);
            }
            for k in (0..unseen).filter(|&k| k != j) {
                let weight = cost.inner_weight() / cost.inner(k, j);
                system[(j, j)] += weight;
                system[(k, j)] -= weight;
            }
        }
        Ok(Self { cost, factor: eigen::cholesky(system)? })
    }

    /// The minimum of the quadratic that touches the cost at `point`.
    pub(super) fn step(&self, point: &[f64]) -> Vec<f64> {
        let (cost, dim) = (self.cost, self.cost.dim());
        let class = |j: usize| &point[j * dim..][..dim];
        let mut right = Mat::<f64>::zeros(cost.unseen(), dim);
        for j in 0..cost.unseen() {
            let own = class(j);
            for i in 0..cost.known() {
                let landmark = cost.landmarks.col_as_slice(i);
                let pull = cost.outer_weight() / squared_slices(own, landmark).sqrt().max(f64::MIN_POSITIVE);
                let rest = cost.outer_weight() / cost.outer(i, j);
                for row in 0..dim {
                    right[(j, row)] += rest * landmark[row] + pull * (own[row] - landmark[row]);
                }
            }
            for k in (0..cost.unseen()).filter(|&k| k != j) {
                let other = class(k);
                let pull = cost.inner_weight() / squared_slices(own, other).sqrt().max(f64::MIN_POSITIVE);
                for row in 0..dim {
                    right[(j, row)] += pull * (own[row] - other[row]);
                }
            }
        }
        eigen::solve(self.factor.as_ref(), right.as_mut());
        eigen::solve_transposed(self.factor.as_ref(), right.as_mut());
        (0..cost.unseen()).flat_map(|j| (0..dim).map(move |row| (j, row))).map(|at| right[at]).collect()
    }
}
