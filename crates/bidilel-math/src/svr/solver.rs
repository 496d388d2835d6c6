//! Sequential minimal optimization (SMO) with second-order working set selection: one pair of multipliers per step.
//!
//! Write $r = y - K\beta$. A multiplier $\alpha_i$ puts sample $i$ on the upper edge of the tube, which
//! asks for the bias $r_i - \varepsilon$; `$\alpha^*_i$` puts it on the lower edge and asks for
//! $r_i + \varepsilon$. At the optimum no multiplier through which $\beta_i$ can still rise asks for more
//! than one through which some $\beta_j$ can still fall. The most violating riser $i$ is therefore paired
//! with the faller $j$ that lowers the objective most,
//!
//! $$ \max_j \frac{(g_i - g_j)^2}{K_{ii} + K_{jj} - 2 K_{ij}}, $$
//!
//! where $g$ are the biases asked for, and $\beta_i$ rises as $\beta_j$ falls by
//! $(g_i - g_j) / (K_{ii} + K_{jj} - 2 K_{ij})$, clipped to the box. In the nu form both sums
//! $\mathbf 1^\top \alpha$ and `$\mathbf 1^\top \alpha^*$` are fixed, so a pair stays on one edge; the two
//! edges have a bias each, and the machine's lies midway between them.
//!
//! Steps update $r$ incrementally, so that the rounding errors of large multipliers accumulate in it. When the updated residuals
//! satisfy the optimality conditions they are recomputed from scratch, and the iteration continues where these do not. A
//! tolerance below the rounding errors of the sums $K\beta$ cannot be reached: it is raised to them.
//!
//! # References
//!
//! - R.-E. Fan, P.-H. Chen, C.-J. Lin: Working set selection using second order information for training
//!   support vector machines. JMLR 6, 2005.

use super::{Form, Machine, Svr, gram::Gram};
use crate::{Error, Result};

/// An edge of the tube.
#[derive(Debug, Clone, Copy)]
enum Edge {
    Upper,
    Lower,
}

/// Edges whose multipliers may form pairs.
type Group = &'static [Edge];

const BOTH_EDGES: &[Group] = &[&[Edge::Upper, Edge::Lower]];
const SEPARATE_EDGES: &[Group] = &[&[Edge::Upper], &[Edge::Lower]];

/// Recomputing the residuals costs a few steps per sample; once in this many steps it is cheap.
const STEPS_BETWEEN_REFRESHES: usize = 1000;

/// One multiplier and the bias that it asks for.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    edge: Edge,
    sample: usize,
    multiplier: f64,
    bias: f64,
}

/// State of one machine's optimization.
pub(super) struct Solver<'a> {
    svr: &'a Svr,
    gram: &'a Gram,
    groups: &'static [Group],
    epsilon: f64,
    tolerance: f64,
    /// Multipliers of the upper edge, $\alpha$.
    upper: Vec<f64>,
    /// Multipliers of the lower edge, `$\alpha^*$`.
    lower: Vec<f64>,
    /// $y$.
    targets: Vec<f64>,
    /// Targets less the kernel expansion, $y - K\beta$.
    residual: Vec<f64>,
}

impl<'a> Solver<'a> {
    pub(super) fn new(svr: &'a Svr, gram: &'a Gram, targets: Vec<f64>) -> Self {
        let (groups, epsilon, multipliers) = match svr.form {
            Form::Epsilon { epsilon } => (BOTH_EDGES, epsilon, vec![0.0; targets.len()]),
            // Equal on both edges, so that the coefficients start at zero and the residual at the targets.
            Form::Nu { nu } => (SEPARATE_EDGES, 0.0, half_of_the_sum(nu, svr.c, targets.len())),
        };
        let (upper, lower) = (multipliers.clone(), multipliers);
        let residual = targets.clone();
        let mut solver = Self { svr, gram, groups, epsilon, tolerance: 0.0, upper, lower, targets, residual };
        solver.refresh();
        solver
    }

    pub(super) fn run(mut self) -> Result<Machine> {
        let mut updated = false;
        let often = STEPS_BETWEEN_REFRESHES.max(self.targets.len());
        for iteration in 1..=self.svr.max_iterations {
            // The multipliers may have grown so much that the old tolerance is below rounding.
            if iteration % often == 0 {
                self.refresh();
                updated = false;
            }
            match self.violating_pair() {
                Some((riser, faller)) => {
                    self.step(riser, faller);
                    updated = true;
                }
                None if updated => {
                    self.refresh();
                    updated = false;
                }
                None => return Ok(self.machine()),
            }
        }
        Err(Error::NoConvergence { what: "support vector regression", iterations: self.svr.max_iterations })
    }

    /// Recomputes the residuals from the multipliers, and the tolerance from their rounding errors.
    fn refresh(&mut self) {
        let mut sizes: Vec<f64> = self.targets.iter().map(|target| target.abs()).collect();
        self.residual.copy_from_slice(&self.targets);
        for (sample, (upper, lower)) in self.upper.iter().zip(&self.lower).enumerate() {
            let coefficient = upper - lower;
            if coefficient != 0.0 {
                for (i, &kernel) in self.gram.column(sample).iter().enumerate() {
                    self.residual[i] -= coefficient * kernel;
                    sizes[i] += (coefficient * kernel).abs();
                }
            }
        }
        let largest = sizes.into_iter().fold(self.epsilon, f64::max);
        // A sum of as many terms as there are samples.
        let roundings = (32 + self.targets.len()) as f64;
        self.tolerance = self.svr.tolerance.max(roundings * f64::EPSILON * largest);
    }

    /// The working set of the next step, or `None` at the optimum.
    fn violating_pair(&self) -> Option<(Candidate, Candidate)> {
        let (mut pair, mut best_gain) = (None, 0.0);
        for &group in self.groups {
            let (riser, lowest_faller) = self.extremes(group)?;
            if riser.bias - lowest_faller.bias < self.tolerance {
                continue;
            }
            let column = self.gram.column(riser.sample);
            self.for_each(group, |faller| {
                let gap = riser.bias - faller.bias;
                if gap > 0.0 && self.fall_room(faller) > 0.0 {
                    let gain = gap * gap / self.curvature(column, riser, faller);
                    if gain > best_gain {
                        (pair, best_gain) = (Some((riser, faller)), gain);
                    }
                }
            });
        }
        pair
    }

    /// The riser that asks for the highest bias and the faller that asks for the lowest.
    ///
    /// There always are both: the constraints on the sums keep a group's multipliers from all lying at
    /// the bounds that stop one direction.
    fn extremes(&self, group: Group) -> Option<(Candidate, Candidate)> {
        let (mut highest, mut lowest): (Option<Candidate>, Option<Candidate>) = (None, None);
        self.for_each(group, |candidate| {
            if self.rise_room(candidate) > 0.0 && highest.is_none_or(|best| candidate.bias > best.bias) {
                highest = Some(candidate);
            }
            if self.fall_room(candidate) > 0.0 && lowest.is_none_or(|best| candidate.bias < best.bias) {
                lowest = Some(candidate);
            }
        });
        highest.zip(lowest)
    }

    fn for_each(&self, group: Group, mut visit: impl FnMut(Candidate)) {
        for &edge in group {
            let (multipliers, shift) = match edge {
                Edge::Upper => (&self.upper, -self.epsilon),
                Edge::Lower => (&self.lower, self.epsilon),
            };
            for (sample, (&multiplier, &residual)) in multipliers.iter().zip(&self.residual).enumerate() {
                visit(Candidate { edge, sample, multiplier, bias: residual + shift });
            }
        }
    }

    /// How far the coefficient can rise through this multiplier.
    fn rise_room(&self, candidate: Candidate) -> f64 {
        match candidate.edge {
            Edge::Upper => self.svr.c - candidate.multiplier,
            Edge::Lower => candidate.multiplier,
        }
    }

    /// How far the coefficient can fall through this multiplier.
    fn fall_room(&self, candidate: Candidate) -> f64 {
        match candidate.edge {
            Edge::Upper => candidate.multiplier,
            Edge::Lower => self.svr.c - candidate.multiplier,
        }
    }

    /// Second derivative of the objective as the riser's coefficient grows at the faller's expense.
    fn curvature(&self, riser_column: &[f64], riser: Candidate, faller: Candidate) -> f64 {
        let diagonal = &self.gram.diagonal;
        let curvature = diagonal[riser.sample] + diagonal[faller.sample] - 2.0 * riser_column[faller.sample];
        curvature.max(self.gram.min_curvature)
    }

    fn step(&mut self, riser: Candidate, faller: Candidate) {
        let (rising, falling) = (self.gram.column(riser.sample), self.gram.column(faller.sample));
        let wanted = (riser.bias - faller.bias) / self.curvature(rising, riser, faller);
        let (rise_room, fall_room) = (self.rise_room(riser), self.fall_room(faller));
        let step = wanted.min(rise_room).min(fall_room);
        self.shift(riser, step, step >= rise_room);
        self.shift(faller, -step, step >= fall_room);
        for (residual, (up, down)) in self.residual.iter_mut().zip(rising.iter().zip(falling)) {
            *residual -= step * (up - down);
        }
    }

    /// Changes a coefficient through one multiplier.
    ///
    /// A multiplier that reaches its bound is set to the bound: rounding must not leave it just inside, where it would
    /// count as free.
    fn shift(&mut self, candidate: Candidate, change: f64, to_bound: bool) {
        let (multiplier, change) = match candidate.edge {
            Edge::Upper => (&mut self.upper[candidate.sample], change),
            Edge::Lower => (&mut self.lower[candidate.sample], -change),
        };
        *multiplier = match (to_bound, change > 0.0) {
            (false, _) => *multiplier + change,
            (true, true) => self.svr.c,
            (true, false) => 0.0,
        };
    }

    fn machine(&self) -> Machine {
        let coefficients = self.upper.iter().zip(&self.lower).map(|(upper, lower)| upper - lower).collect();
        let bias = self.groups.iter().map(|group| self.bias(group)).sum::<f64>() / self.groups.len() as f64;
        Machine { coefficients, bias }
    }

    /// The bias that a group's free multipliers agree on, up to the tolerance.
    fn bias(&self, group: Group) -> f64 {
        let (mut sum, mut free) = (0.0, 0_usize);
        self.for_each(group, |candidate| {
            if candidate.multiplier > 0.0 && candidate.multiplier < self.svr.c {
                sum += candidate.bias;
                free += 1;
            }
        });
        match self.extremes(group) {
            // Without a free one, every bias between the extremes is optimal.
            Some((riser, faller)) if free == 0 => f64::midpoint(riser.bias, faller.bias),
            _ => sum / free as f64,
        }
    }
}

/// Fills multipliers to their bound one by one until half of $C n \nu$ is reached.
fn half_of_the_sum(nu: f64, c: f64, samples: usize) -> Vec<f64> {
    let mut left = 0.5 * nu * c * samples as f64;
    let mut fill = || {
        let share = left.min(c);
        left -= share;
        share
    };
    (0..samples).map(|_| fill()).collect()
}
