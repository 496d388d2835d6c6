//! Balanced refinement: soft k-means on the unit sphere from the embeddings, with class proportions that are held near
//! equal ones, or near those that the batch itself shows.
//!
//! Points `$y_i$` and centers `$c_k$` have unit norm. A round assigns with a temperature $\tau$ and class potentials
//! `$u_k$`, then moves the centers:
//! `$$ p_{ik} \propto u_k \exp(c_k^\top y_i / \tau), \qquad c_k \leftarrow \mathrm{unit}\left( \sum_i p_{ik}\, y_i + \mu
//! \frac nK\, b_k \right) $$` for $n$ points and $K$ classes, with a pull $\mu$ towards the embedding `$b_k$` that the class
//! came with. It weighs as much as $\mu$ times a class of the mean size, so that classes of which the batch has little stay
//! where they were. With free proportions a round never lowers `$\sum_{ik} p_{ik}\, c_k^\top y_i - \tau \sum_{ik} p_{ik} \log
//! p_{ik} + \mu \frac nK \sum_k c_k^\top b_k$`. The potentials are those of Sinkhorn scaling: with strength 1 every
//! class gets its share of the batch, `$\sum_i p_{ik} = n \pi_k$`; with strength 0 `$u_k = 1$` and proportions are
//! free; between them each potential is raised to that power in every scaling, which is the scaling of unbalanced
//! transport with a penalty on proportions. The shares `$\pi_k$` are equal, or those that the same refinement finds
//! with free proportions (`estimated`).
//!
//! The answer is the class of the largest `$p_{ik}$`. As a distance that is `$\sqrt{\|y_i - c_k\|^2 + 2 \tau \log(\max_l u_l
//! / u_k)}$`, which is the distance to the center where proportions are free.
//!
//! A batch that is not balanced (one class far more frequent than another) is divided wrongly by strength 1: choose it on
//! held-out known classes whose sizes are as uneven, as `tune` does.
//!
//! # References
//! M. Cuturi, *Sinkhorn distances: lightspeed computation of optimal transport*, 2013; L. Chizat et al., *Scaling algorithms
//! for unbalanced optimal transport problems*, 2018.

use faer::Mat;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use bidilel_math::distance::normalize_columns;
use bidilel_math::parallel::product;

use crate::error::Result;
use crate::recognize::{Latent, Recognition, Scores};
use crate::settings::{self, BalancedShares, Settings};

/// The most scalings of the proportions in one round; each brings them closer by a factor, and the next round goes on.
const SCALINGS: usize = 50;
/// Logarithms of potentials that changed less than this in a scaling have settled.
const SCALED: f64 = 1e-9;
/// Centers that moved less than this in a round have settled.
const SETTLED: f64 = 1e-6;
/// Instances whose assignments are summed together: the same sums for any number of threads.
const BLOCK: usize = 256;

/// Settings of balanced refinement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Balanced {
    /// Temperature of the assignment: $\tau$.
    pub balanced_temperature: f64,
    /// Pull towards the embedding that a class came with: $\mu$.
    pub balanced_pull: f64,
    /// From 0, free proportions, to 1, those of `balanced_shares`.
    pub balanced_strength: f64,
    /// The proportions that are aimed at: $\pi$.
    pub balanced_shares: BalancedShares,
    /// The most rounds.
    pub balanced_rounds: usize,
}

impl Default for Balanced {
    fn default() -> Self {
        Self {
            balanced_temperature: 0.05,
            balanced_pull: 0.3,
            balanced_strength: 0.5,
            balanced_shares: BalancedShares::default(),
            balanced_rounds: 40,
        }
    }
}

impl Balanced {
    pub(crate) fn from_settings(settings: &Settings) -> Self {
        let default = Self::default();
        Self {
            balanced_temperature: settings.balanced_temperature.unwrap_or(default.balanced_temperature),
            balanced_pull: settings.balanced_pull.unwrap_or(default.balanced_pull),
            balanced_strength: settings.balanced_strength.unwrap_or(default.balanced_strength),
            balanced_shares: settings.balanced_shares.unwrap_or(default.balanced_shares),
            balanced_rounds: settings.balanced_rounds.unwrap_or(default.balanced_rounds),
        }
    }

    fn check(&self) -> Result<()> {
        settings::check("balanced_temperature", self.balanced_temperature)?;
        settings::check("balanced_pull", self.balanced_pull)?;
        settings::check("balanced_strength", self.balanced_strength)?;
        settings::check("balanced_rounds", self.balanced_rounds as f64)
    }

    /// The recognition after refinement.
    pub(super) fn refine(&self, before: Latent) -> Result<Recognition> {
        if before.points.ncols() == 0 || before.embedding.ncols() == 0 {
            self.check()?;
            return Ok(before.into());
        }
        let (centers, prices) = self.clustered(&before)?;
        let mut points = Mat::clone(&before.points);
        normalize_columns(points.as_mut());
        let latent = Latent { points: points.into(), embedding: centers, spaces: before.spaces };
        let scores = self.priced(&latent, &prices);
        Ok(Recognition { scores, latent: Some(latent) })
    }

    /// The unit centers of a batch, of which there is at least one class and one instance, and what each costs: the
    /// logarithm of the largest potential over its own.
    pub(super) fn clustered(&self, before: &Latent) -> Result<(Mat<f64>, Vec<f64>)> {
        self.check()?;
        let mut points = Mat::clone(&before.points);
        normalize_columns(points.as_mut());
        let mut start = before.embedding.clone();
        normalize_columns(start.as_mut());
        let classes = start.ncols();
        let equal = vec![1.0 / classes as f64; classes];
        let shares = match self.balanced_shares {
            BalancedShares::Equal => equal,
            BalancedShares::Estimated => {
                let (centers, _) = self.clusters(&points, &start, 0.0, &equal);
                let free = assigned(self.affinities(&centers, &points), &vec![0.0; classes]);
                let sums = class_sums(&free);
                // One instance more for every class: no class is ruled out.
                let all = (points.ncols() + classes) as f64;
                sums.iter().map(|sum| (sum + 1.0) / all).collect()
            }
        };
        let (centers, potentials) = self.clusters(&points, &start, self.balanced_strength, &shares);
        let most = potentials.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Ok((centers, potentials.iter().map(|potential| most - potential).collect()))
    }

    /// The centers of the clusters, and the logarithms of their potentials.
    fn clusters(
        &self,
        points: &Mat<f64>,
        start: &Mat<f64>,
        strength: f64,
        shares: &[f64],
    ) -> (Mat<f64>, Vec<f64>) {
        let mut centers = start.clone();
        let mut potentials = vec![0.0; start.ncols()];
        let pull = self.balanced_pull * points.ncols() as f64 / start.ncols() as f64;
        for _ in 0..self.balanced_rounds {
            let affinities = self.affinities(&centers, points);
            scale(&affinities, &mut potentials, strength, shares);
            let assigned = assigned(affinities, &potentials);
            let mut moved = product(points.as_ref(), assigned.transpose());
            for class in 0..moved.ncols() {
                let (sum, own) = (moved.col_as_slice_mut(class), start.col_as_slice(class));
                sum.iter_mut().zip(own).for_each(|(value, own)| *value += pull * own);
            }
            normalize_columns(moved.as_mut());
            let change = (&moved - &centers).norm_max();
            centers = moved;
            if change < SETTLED {
                break;
            }
        }
        // The prices of the answer are those of the centers of the answer.
        scale(&self.affinities(&centers, points), &mut potentials, strength, shares);
        (centers, potentials)
    }

    /// $\exp(c_k^\top y_i / \tau)$ over the largest of an instance: classes x instances.
    fn affinities(&self, centers: &Mat<f64>, points: &Mat<f64>) -> Mat<f64> {
        let mut affinities = product(centers.transpose(), points.as_ref());
        for instance in 0..affinities.ncols() {
            let column = affinities.col_as_slice_mut(instance);
            let most = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            column.iter_mut().for_each(|value| *value = ((*value - most) / self.balanced_temperature).exp());
        }
        affinities
    }

    /// Minus the distances to the centers, with their prices.
    pub(super) fn priced(&self, latent: &Latent, prices: &[f64]) -> Scores {
        let mut distances = latent.scores().distances();
        for instance in 0..distances.ncols() {
            for (value, price) in distances.col_as_slice_mut(instance).iter_mut().zip(prices) {
                *value = (*value * *value + 2.0 * self.balanced_temperature * price).sqrt();
            }
        }
        Scores::from_distances(distances)
    }
}

/// Scales classes towards their shares of the batch, in turns with instances to 1; `potentials` are logarithms.
fn scale(affinities: &Mat<f64>, potentials: &mut [f64], strength: f64, shares: &[f64]) {
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

/// The assignment of every instance, its columns summing to 1: classes x instances.
fn assigned(mut affinities: Mat<f64>, potentials: &[f64]) -> Mat<f64> {
    let weights: Vec<f64> = potentials.iter().map(|potential| potential.exp()).collect();
    for instance in 0..affinities.ncols() {
        let column = affinities.col_as_slice_mut(instance);
        column.iter_mut().zip(&weights).for_each(|(value, weight)| *value *= weight);
        let total: f64 = column.iter().sum();
        column.iter_mut().for_each(|value| *value /= total);
    }
    affinities
}

fn class_sums(assigned: &Mat<f64>) -> Vec<f64> {
    sums_under(assigned, &vec![0.0; assigned.nrows()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(i: usize, j: usize) -> f64 {
        ((i * 29 + j * 13) as f64 * 0.517).sin()
    }

    fn latent(instances: usize) -> Latent {
        let embedding = Mat::from_fn(4, 3, |i, j| wave(i, j + 100));
        let points = Mat::from_fn(4, instances, |i, j| embedding[(i, j % 3)] + 0.6 * wave(i, j));
        Latent { points: points.into(), embedding, spaces: 1 }
    }

    fn with_points(latent: &Latent, points: Mat<f64>) -> Latent {
        Latent { points: points.into(), embedding: latent.embedding.clone(), spaces: 1 }
    }

    fn refine(settings: &Balanced, latent: &Latent) -> (Mat<f64>, Vec<usize>) {
        let refined = settings.refine(latent.clone()).expect("refined");
        let labels = refined.labels();
        (refined.latent.expect("points").embedding, labels)
    }

    #[test]
    fn full_strength_gives_every_class_its_share_and_none_leaves_them_free() {
        let affinities = Mat::from_fn(3, 40, |k, i| (2.0 * wave(k, i)).exp());
        let shares = [0.5, 0.3, 0.2];
        let mut potentials = vec![0.0; 3];
        (0..20).for_each(|_| scale(&affinities, &mut potentials, 1.0, &shares));
        let held = class_sums(&assigned(affinities.clone(), &potentials));
        held.iter().zip(shares).for_each(|(sum, share)| assert!((sum - 40.0 * share).abs() < 1e-6, "{sum}"));
        let mut potentials = vec![0.0; 3];
        scale(&affinities, &mut potentials, 0.0, &shares);
        assert_eq!(potentials, [0.0; 3]);
    }

    /// The fixed point of Sinkhorn scaling, by alternating plain divisions.
    #[test]
    fn scaling_is_that_of_alternating_divisions() {
        let start = Mat::from_fn(3, 20, |k, i| (1.5 * wave(k, i)).exp());
        let mut brute = start.clone();
        for _ in 0..2000 {
            for k in 0..3 {
                let sum: f64 = (0..20).map(|i| brute[(k, i)]).sum();
                (0..20).for_each(|i| brute[(k, i)] *= 20.0 / 3.0 / sum);
            }
            for i in 0..20 {
                let sum: f64 = (0..3).map(|k| brute[(k, i)]).sum();
                (0..3).for_each(|k| brute[(k, i)] /= sum);
            }
        }
        let mut potentials = vec![0.0; 3];
        scale(&start, &mut potentials, 1.0, &[1.0 / 3.0; 3]);
        assert!((assigned(start, &potentials) - brute).norm_max() < 1e-6);
    }

    #[test]
    fn answers_are_the_classes_of_the_largest_assignment() {
        let before = latent(60);
        for strength in [0.0, 0.5, 1.0] {
            let settings = Balanced { balanced_strength: strength, ..Balanced::default() };
            let refined = settings.refine(before.clone()).expect("refined");
            let found = refined.latent.as_ref().expect("points");
            let (_, potentials) = {
                let mut start = before.embedding.clone();
                normalize_columns(start.as_mut());
                settings.clusters(&found.points, &start, strength, &[1.0 / 3.0; 3])
            };
            let shares = assigned(settings.affinities(&found.embedding, &found.points), &potentials);
            assert_eq!(refined.labels(), Scores { values: shares }.labels());
        }
    }

    #[test]
    fn a_round_never_lowers_the_objective_of_free_proportions() {
        let before = latent(50);
        let [mut points, mut start] = [Mat::clone(&before.points), before.embedding.clone()];
        normalize_columns(points.as_mut());
        normalize_columns(start.as_mut());
        let value = |rounds: usize| {
            let settings =
                Balanced { balanced_rounds: rounds, balanced_strength: 0.0, ..Balanced::default() };
            let (centers, potentials) = settings.clusters(&points, &start, 0.0, &[1.0 / 3.0; 3]);
            let shares = assigned(settings.affinities(&centers, &points), &potentials);
            let near = centers.transpose() * &points;
            let mut sum = 0.0;
            for (i, k) in (0..50).flat_map(|i| (0..3).map(move |k| (i, k))) {
                let share: f64 = shares[(k, i)];
                let entropy = if share > 0.0 { share * share.ln() } else { 0.0 };
                sum += share * near[(k, i)] - settings.balanced_temperature * entropy;
            }
            let pulled: f64 = (0..3).map(|k| centers.col(k).transpose() * start.col(k)).sum();
            sum + settings.balanced_pull * 50.0 / 3.0 * pulled
        };
        let values: Vec<f64> = (1..12).map(value).collect();
        assert!(values.windows(2).all(|two| two[1] >= two[0] - 1e-9), "{values:?}");
        assert!(values[10] > values[0], "{values:?}");
    }

    #[test]
    fn the_order_of_instances_makes_no_difference() {
        let forward = latent(30);
        let backward = with_points(&forward, Mat::from_fn(4, 30, |i, j| forward.points[(i, 29 - j)]));
        for balanced_shares in [BalancedShares::Equal, BalancedShares::Estimated] {
            let settings = Balanced { balanced_shares, ..Balanced::default() };
            let [(one, labels), (other, mut turned)] =
                [forward.clone(), backward.clone()].map(|l| refine(&settings, &l));
            assert!((one - other).norm_max() < 1e-9);
            turned.reverse();
            assert_eq!(labels, turned);
        }
    }

    #[test]
    fn batches_of_one_of_equal_instances_and_of_one_class_stay_finite_and_near_the_start() {
        let one = latent(1);
        let equal = with_points(&one, Mat::from_fn(4, 12, |i, _| one.points[(i, 0)]));
        let single = with_points(&one, Mat::from_fn(4, 12, |i, j| one.embedding[(i, 0)] + 0.01 * wave(i, j)));
        for strength in [0.0, 0.5, 1.0] {
            for before in [&one, &equal, &single] {
                let settings = Balanced { balanced_strength: strength, ..Balanced::default() };
                let (centers, _) = refine(&settings, before);
                assert!(centers.norm_max().is_finite());
                assert!(centers.col_iter().all(|center| (center.norm_l2() - 1.0).abs() < 1e-9));
            }
        }
        // A strong pull keeps the classes where they were.
        let settings = Balanced { balanced_pull: 1e9, ..Balanced::default() };
        let mut start = one.embedding.clone();
        normalize_columns(start.as_mut());
        assert!((refine(&settings, &one).0 - start).norm_max() < 1e-6);
    }

    /// A hundred instances of one class to one of each other: its instances keep their name where proportions are free or
    /// estimated, and lose it where they are held equal.
    #[test]
    fn a_batch_of_a_hundred_to_one_keeps_its_names_unless_shares_are_held_equal() {
        let embedding = Mat::from_fn(4, 3, |i, j| if i == j { 1.0 } else { 0.2 });
        let base = Latent { embedding, ..latent(1) };
        let truth: Vec<usize> = (0..102_usize).map(|i| i.saturating_sub(99).min(2)).collect();
        let points = Mat::from_fn(4, 102, |i, j| base.embedding[(i, truth[j])] + 0.1 * wave(i, j));
        let uneven = with_points(&base, points);
        let named = |balanced_strength: f64, balanced_shares: BalancedShares| {
            let settings = Balanced { balanced_strength, balanced_shares, ..Balanced::default() };
            refine(&settings, &uneven).1.iter().filter(|&&class| class == 0).count()
        };
        assert!(named(0.0, BalancedShares::Equal) >= 100);
        assert!(named(1.0, BalancedShares::Estimated) >= 100);
        assert!(named(1.0, BalancedShares::Equal) < 70);
    }
}
