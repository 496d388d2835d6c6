//! Sinkhorn scaling: class proportions of a soft assignment that are brought near given shares.
//!
//! Affinities `$a_{ik}$` become assignments `$p_{ik} = u_k a_{ik} / \sum_l u_l a_{il}$`. Full strength alternates this with
//! `$u_k \leftarrow u_k\, n \pi_k / \sum_i p_{ik}$` until every class has its share of the $n$ instances; between none and full
//! strength each potential is raised to that power in every scaling, the proximal step of a penalty on proportions.
//!
//! # References
//! M. Cuturi, *Sinkhorn distances: lightspeed computation of optimal transport*, 2013; L. Chizat et al., *Scaling algorithms
//! for unbalanced optimal transport problems*, 2018.

use faer::Mat;
use rayon::prelude::*;

/// The most scalings of the proportions in one round; each brings them closer by a factor, and the next round goes on.
const SCALINGS: usize = 50;
/// Logarithms of potentials that changed less than this in a scaling have settled.
const SCALED: f64 = 1e-9;
/// Bound of the logarithm of a potential. At a low temperature a share may be out of reach, because most affinities are zero in
/// double precision; the potential would grow with every scaling until it is infinite or zero, and so would all sums with it.
const MOST_POTENTIAL: f64 = 300.0;
/// Instances whose assignments are summed together: the same sums for any number of threads.
const BLOCK: usize = 256;

/// Scales classes towards their shares of the batch, in turns with instances to 1; `potentials` are logarithms.
pub(super) fn scale(affinities: &Mat<f64>, potentials: &mut [f64], strength: f64, shares: &[f64]) {
    if strength <= 0.0 {
        return;
    }
    let instances = affinities.ncols() as f64;
    for _ in 0..SCALINGS {
        let sums = sums_under(affinities, potentials);
        let mut change: f64 = 0.0;
        for ((potential, sum), share) in potentials.iter_mut().zip(&sums).zip(shares) {
            // A class that nothing is near to keeps its potential: no finite one would help it.
            if *sum > 0.0 {
                // Proximal step of the penalty: the potential of free proportions is 1, its logarithm 0.
                let next = strength * (*potential + (instances * share / sum).ln());
                let next = next.clamp(-MOST_POTENTIAL, MOST_POTENTIAL);
                change = change.max((next - *potential).abs());
                *potential = next;
            }
        }
        if change < SCALED {
            break;
        }
    }
}

/// The class sums of the assignment under some potentials, block by block.
fn sums_under(affinities: &Mat<f64>, potentials: &[f64]) -> Vec<f64> {
    let weights: Vec<f64> = potentials.iter().map(|potential| potential.exp()).collect();
    let (classes, instances) = affinities.shape();
    let block = |first: usize| {
        let mut sums = vec![0.0; classes];
        for instance in first..(first + BLOCK).min(instances) {
            let column = affinities.col_as_slice(instance);
            let total: f64 = column.iter().zip(&weights).map(|(value, weight)| value * weight).sum();
            for ((sum, value), weight) in sums.iter_mut().zip(column).zip(&weights) {
                *sum += value * weight / total;
            }
        }
        sums
    };
    let blocks: Vec<Vec<f64>> =
        (0..instances.div_ceil(BLOCK)).into_par_iter().map(|b| block(b * BLOCK)).collect();
    (0..classes).map(|class| blocks.iter().map(|sums| sums[class]).sum()).collect()
}

/// The assignment of every instance, its columns summing to 1: classes x instances; and the sum over instances of
/// `$\log \sum_k u_k a_{ik}$`.
pub(super) fn assigned(mut affinities: Mat<f64>, potentials: &[f64]) -> (Mat<f64>, f64) {
    let weights: Vec<f64> = potentials.iter().map(|potential| potential.exp()).collect();
    let mut logs = 0.0;
    for instance in 0..affinities.ncols() {
        let column = affinities.col_as_slice_mut(instance);
        column.iter_mut().zip(&weights).for_each(|(value, weight)| *value *= weight);
        let total: f64 = column.iter().sum();
        logs += total.ln();
        column.iter_mut().for_each(|value| *value /= total);
    }
    (affinities, logs)
}

/// What the shares add to those logarithms in the dual problem, with $\rho = s / (1 - s)$:
/// `$\rho \sum_k n \pi_k (u_k^{-1/\rho} - 1)$`, and at full strength its limit `$-\sum_k n \pi_k \log u_k$`.
pub(super) fn penalty(potentials: &[f64], strength: f64, shares: &[f64], instances: f64) -> f64 {
    if strength <= 0.0 {
        return 0.0;
    }
    let weight = strength / (1.0 - strength);
    let of_class = |(potential, share): (&f64, &f64)| {
        let cost = if strength < 1.0 { weight * (-potential / weight).exp_m1() } else { -potential };
        instances * share * cost
    };
    potentials.iter().zip(shares).map(of_class).sum()
}

/// The class sums of an assignment.
pub(super) fn class_sums(assigned: &Mat<f64>) -> Vec<f64> {
    sums_under(assigned, &vec![0.0; assigned.nrows()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(i: usize, j: usize) -> f64 {
        ((i * 29 + j * 13) as f64 * 0.517).sin()
    }

    #[test]
    fn full_strength_gives_every_class_its_share_and_none_leaves_them_free() {
        let affinities = Mat::from_fn(3, 40, |k, i| (2.0 * wave(k, i)).exp());
        let shares = [0.5, 0.3, 0.2];
        let mut potentials = vec![0.0; 3];
        (0..20).for_each(|_| scale(&affinities, &mut potentials, 1.0, &shares));
        let held = class_sums(&assigned(affinities.clone(), &potentials).0);
        held.iter().zip(shares).for_each(|(sum, share)| assert!((sum - 40.0 * share).abs() < 1e-6, "{sum}"));
        let mut potentials = vec![0.0; 3];
        scale(&affinities, &mut potentials, 0.0, &shares);
        assert_eq!(potentials, [0.0; 3]);
    }

    /// The fixed point of Sinkhorn scaling, by alternating plain divisions.
    #[test]
    fn scaling_is_that_of_alternating_divisions() {
        for shares in [[1.0 / 3.0; 3], [0.5, 0.3, 0.2]] {
            let start = Mat::from_fn(3, 20, |k, i| (1.5 * wave(k, i)).exp());
            let mut brute = start.clone();
            for _ in 0..2000 {
                for (k, share) in shares.iter().enumerate() {
                    let sum: f64 = (0..20).map(|i| brute[(k, i)]).sum();
                    (0..20).for_each(|i| brute[(k, i)] *= 20.0 * share / sum);
                }
                for i in 0..20 {
                    let sum: f64 = (0..3).map(|k| brute[(k, i)]).sum();
                    (0..3).for_each(|k| brute[(k, i)] /= sum);
                }
            }
            let mut potentials = vec![0.0; 3];
            scale(&start, &mut potentials, 1.0, &shares);
            assert!((assigned(start, &potentials).0 - brute).norm_max() < 1e-6);
        }
    }

    /// Between none and full strength: the minimum of `$\sum_i \log \sum_k a_{ik} e^{f_k} + \rho \sum_k n \pi_k e^{-f_k / \rho}$`
    /// with $\rho = s / (1 - s)$, the dual of a penalty of weight $\rho$ on proportions, by plain descent.
    #[test]
    fn scaling_of_some_strength_is_the_minimum_of_the_penalized_problem() {
        let affinities = Mat::from_fn(3, 20, |k, i| (1.5 * wave(k, i)).exp());
        let shares = [0.6, 0.3, 0.1];
        for strength in [0.2, 0.5, 0.9] {
            let weight = strength / (1.0 - strength);
            let mut brute = [0.0_f64; 3];
            for _ in 0..20_000 {
                let mut slope = [0, 1, 2].map(|k| -20.0 * shares[k] * (-brute[k] / weight).exp());
                for i in 0..20 {
                    let all: f64 = (0..3).map(|k| affinities[(k, i)] * brute[k].exp()).sum();
                    (0..3).for_each(|k| slope[k] += affinities[(k, i)] * brute[k].exp() / all);
                }
                (0..3).for_each(|k| brute[k] -= 0.005 * slope[k]);
            }
            let mut potentials = vec![0.0; 3];
            (0..20).for_each(|_| scale(&affinities, &mut potentials, strength, &shares));
            let apart = potentials.iter().zip(brute).map(|(one, other)| (one - other).abs());
            assert!(apart.clone().fold(0.0, f64::max) < 1e-6, "{strength}: {potentials:?} {brute:?}");
        }
    }

    /// At a very low temperature an instance has one class, and no potential changes that.
    #[test]
    fn shares_that_are_out_of_reach_leave_the_assignment_finite() {
        let hard = |k: usize, i: usize| if k == usize::from(i >= 38) { 1.0 } else { 0.0 };
        // The smallest numbers that there are: their logarithm is below that of the largest.
        let tiny = |k: usize, i: usize| f64::max(hard(k, i), 5e-324);
        for affinities in [Mat::from_fn(2, 40, hard), Mat::from_fn(2, 40, tiny)] {
            let mut potentials = vec![0.0; 2];
            (0..40).for_each(|_| scale(&affinities, &mut potentials, 1.0, &[0.5; 2]));
            let found = assigned(affinities.clone(), &potentials).0;
            assert!((0..40).all(|i| (found[(0, i)] + found[(1, i)] - 1.0).abs() < 1e-12), "{potentials:?}");
            assert!((0..40).all(|i| found[(usize::from(i >= 38), i)] > 0.5), "{potentials:?}");
        }
    }
}
