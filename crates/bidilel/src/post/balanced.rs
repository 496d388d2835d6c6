//! Balanced refinement: soft k-means on the unit sphere from the embeddings, with class proportions that are held near a
//! prior.
//!
//! Points `$y_i$` and centers `$c_k$` have unit norm. A round assigns with a temperature $\tau$ and class potentials
//! `$u_k$`, then moves the centers:
//! `$$ p_{ik} \propto u_k \exp(c_k^\top y_i / \tau), \qquad c_k \leftarrow \mathrm{unit}\left( \bar y_k + \mu\, b_k \right), $$`
//! with the mean `$\bar y_k$` of all points weighted by `$p_{ik}$`, and a pull $\mu$ towards the embedding `$b_k$` that the
//! class came with. The potentials are those of Sinkhorn scaling: with strength 1 every class gets its prior share of the
//! batch, `$\sum_i p_{ik} = n \pi_k$`; with strength 0 `$u_k = 1$` and proportions are free; between them each potential is
//! raised to that power in every scaling, which is the scaling of unbalanced transport with a penalty on proportions.
//!
//! A batch that is not balanced (one class far more frequent than another) is divided wrongly by strength 1: choose it on
//! held-out known classes whose sizes are as uneven. Answers are those of the nearest center.
//!
//! # References
//! M. Cuturi, *Sinkhorn distances: lightspeed computation of optimal transport*, 2013; L. Chizat et al., *Scaling algorithms
//! for unbalanced optimal transport problems*, 2018.

use faer::Mat;
use serde::{Deserialize, Serialize};

use bidilel_math::distance::normalize_columns;
use bidilel_math::parallel::product;

use super::LatentRefiner;
use crate::error::Result;
use crate::recognize::{Latent, Scores};
use crate::settings::{self, Settings};

/// Scalings of the proportions in one round; each brings them closer by a factor.
const SCALINGS: usize = 30;
/// Centers that moved less than this in a round have settled.
const SETTLED: f64 = 1e-6;

/// Settings of balanced refinement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Balanced {
    /// Temperature of the assignment: $\tau$.
    pub balanced_temperature: f64,
    /// Pull towards the embedding that a class came with: $\mu$.
    pub balanced_pull: f64,
    /// From 0, free proportions, to 1, equal ones.
    pub balanced_strength: f64,
    /// The most rounds.
    pub balanced_rounds: usize,
}

impl Default for Balanced {
    fn default() -> Self {
        Self { balanced_temperature: 0.05, balanced_pull: 1.0, balanced_strength: 0.5, balanced_rounds: 40 }
    }
}

impl Balanced {
    pub(crate) fn from_settings(settings: &Settings) -> Self {
        let default = Self::default();
        Self {
            balanced_temperature: settings.balanced_temperature.unwrap_or(default.balanced_temperature),
            balanced_pull: settings.balanced_pull.unwrap_or(default.balanced_pull),
            balanced_strength: settings.balanced_strength.unwrap_or(default.balanced_strength),
            balanced_rounds: settings.balanced_rounds.unwrap_or(default.balanced_rounds),
        }
    }

    fn check(&self) -> Result<()> {
        settings::check("balanced_temperature", self.balanced_temperature)?;
        settings::check("balanced_pull", self.balanced_pull)?;
        settings::check("balanced_strength", self.balanced_strength)?;
        settings::check("balanced_rounds", self.balanced_rounds as f64)
    }

    /// The assignment of every point (classes x instances), its columns summing to 1.
    fn assign(&self, centers: &Mat<f64>, points: &Mat<f64>) -> Mat<f64> {
        let mut shares = product(centers.transpose(), points.as_ref());
        for instance in 0..shares.ncols() {
            let column = shares.col_as_slice_mut(instance);
            let most = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            column.iter_mut().for_each(|value| *value = ((*value - most) / self.balanced_temperature).exp());
        }
        scale(&mut shares, self.balanced_strength);
        shares
    }
}

/// Scales classes towards equal shares of the batch, and instances to 1, in turns; instances last.
fn scale(shares: &mut Mat<f64>, strength: f64) {
    let (classes, instances) = (shares.nrows(), shares.ncols());
    let equal = instances as f64 / classes as f64;
    let mut potentials = vec![1.0; classes];
    // The class sums of the shares under these potentials, instance by instance in order.
    let sums = |shares: &Mat<f64>, potentials: &[f64]| {
        let mut sums = vec![0.0; classes];
        for instance in 0..instances {
            let column = shares.col_as_slice(instance);
            let total: f64 = column.iter().zip(potentials).map(|(share, u)| share * u).sum();
            for ((sum, share), u) in sums.iter_mut().zip(column).zip(potentials) {
                *sum += share * u / total;
            }
        }
        sums
    };
    if strength > 0.0 {
        for _ in 0..SCALINGS {
            let sums = sums(shares, &potentials);
            for (potential, sum) in potentials.iter_mut().zip(&sums) {
                // A class that nothing is near to keeps its potential: no finite one would help it.
                if *sum > 0.0 {
                    // Proximal step of the penalty: the potential of free proportions is 1.
                    *potential = (*potential * equal / sum).powf(strength);
                }
            }
        }
    }
    for instance in 0..instances {
        let column = shares.col_as_slice_mut(instance);
        column.iter_mut().zip(&potentials).for_each(|(share, u)| *share *= u);
        let total: f64 = column.iter().sum();
        column.iter_mut().for_each(|share| *share /= total);
    }
}

impl LatentRefiner for Balanced {
    fn refine(&self, before: Latent, _scores: &Scores) -> Result<Latent> {
        self.check()?;
        let mut points = Mat::clone(&before.points);
        normalize_columns(points.as_mut());
        let mut start = before.embedding.clone();
        normalize_columns(start.as_mut());
        if points.ncols() == 0 || start.ncols() == 0 {
            return Ok(before);
        }
        let mut centers = start.clone();
        for _ in 0..self.balanced_rounds {
            let shares = self.assign(&centers, &points);
            let mut moved = product(points.as_ref(), shares.transpose());
            for class in 0..moved.ncols() {
                let weight: f64 = (0..shares.ncols()).map(|instance| shares[(class, instance)]).sum();
                let (mean, own) = (moved.col_as_slice_mut(class), start.col_as_slice(class));
                for (value, own) in mean.iter_mut().zip(own) {
                    *value = *value / weight.max(f64::MIN_POSITIVE) + self.balanced_pull * own;
                }
            }
            normalize_columns(moved.as_mut());
            let change = (&moved - &centers).norm_max();
            centers = moved;
            if change < SETTLED {
                break;
            }
        }
        Ok(Latent { points: points.into(), embedding: centers, spaces: before.spaces })
    }
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

    fn refine(settings: &Balanced, latent: Latent) -> Latent {
        let scores = latent.scores();
        settings.refine(latent, &scores).expect("refined")
    }

    #[test]
    fn full_strength_gives_every_class_its_share_and_none_leaves_them_free() {
        let mut free = Mat::from_fn(3, 40, |k, i| (2.0 * wave(k, i)).exp());
        let mut equal = free.clone();
        scale(&mut equal, 1.0);
        let sum = |shares: &Mat<f64>, k: usize| (0..40).map(|i| shares[(k, i)]).sum::<f64>();
        (0..3).for_each(|k| assert!((sum(&equal, k) - 40.0 / 3.0).abs() < 1e-6, "{}", sum(&equal, k)));
        let expected = Mat::from_fn(3, 40, |k, i| {
            let total: f64 = (0..3).map(|k| free[(k, i)]).sum();
            free[(k, i)] / total
        });
        scale(&mut free, 0.0);
        assert!((free - expected).norm_max() < 1e-12);
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
        let mut found = start;
        scale(&mut found, 1.0);
        assert!((found - brute).norm_max() < 1e-6);
    }

    #[test]
    fn the_order_of_instances_makes_no_difference() {
        let forward = latent(30);
        let backward = Latent {
            points: Mat::from_fn(4, 30, |i, j| forward.points[(i, 29 - j)]).into(),
            embedding: forward.embedding.clone(),
            spaces: 1,
        };
        let settings = Balanced::default();
        let [one, other] = [forward, backward].map(|latent| refine(&settings, latent).embedding);
        assert!((one - other).norm_max() < 1e-9);
    }

    #[test]
    fn batches_of_one_of_equal_instances_and_of_one_class_stay_finite_and_near_the_start() {
        let one = latent(1);
        let equal = Latent {
            points: Mat::from_fn(4, 12, |i, _| one.points[(i, 0)]).into(),
            embedding: one.embedding.clone(),
            spaces: 1,
        };
        let single = Latent {
            points: Mat::from_fn(4, 12, |i, j| one.embedding[(i, 0)] + 0.01 * wave(i, j)).into(),
            embedding: one.embedding.clone(),
            spaces: 1,
        };
        for strength in [0.0, 0.5, 1.0] {
            for before in [&one, &equal, &single] {
                let settings = Balanced { balanced_strength: strength, ..Balanced::default() };
                let after = refine(&settings, before.clone());
                assert!(after.embedding.norm_max().is_finite());
                let zero = after.embedding.col_iter().any(|center| center.norm_l2() < 0.99);
                assert!(!zero, "centers stay on the sphere");
            }
        }
        // A strong pull keeps the classes where they were.
        let settings = Balanced { balanced_pull: 1e9, ..Balanced::default() };
        let mut start = one.embedding.clone();
        normalize_columns(start.as_mut());
        assert!((refine(&settings, one).embedding - start).norm_max() < 1e-6);
    }
}
