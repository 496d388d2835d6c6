//! Balanced refinement: soft k-means on the unit sphere from the embeddings, with class proportions that are held near
//! equal ones, near given ones, or near those that the batch itself shows.
//!
//! Points `$y_i$` and centers `$c_k$` have unit norm. A round assigns with a temperature $\tau$ and class potentials
//! `$u_k$`, then moves the centers:
//! `$$ p_{ik} \propto u_k \exp(c_k^\top y_i / \tau), \qquad c_k \leftarrow \mathrm{unit}\left( \sum_i p_{ik}\, y_i + \mu
//! \frac nK\, b_k \right) $$` for $n$ points and $K$ classes, with a pull $\mu$ towards the embedding `$b_k$` that the class
//! came with. It weighs as much as $\mu$ times a class of the mean size, so that classes of which the batch has little stay
//! where they were. The potentials are those of Sinkhorn scaling: with strength 1 every
//! class gets its share of the batch, `$\sum_i p_{ik} = n \pi_k$`; with strength 0 `$u_k = 1$` and proportions are
//! free; between them each potential is raised to that power in every scaling (`sinkhorn.rs`). The shares `$\pi_k$` are
//! equal, given by class name, or those that the same refinement finds with free proportions (`estimated`).
//!
//! With `$m_k = \sum_i p_{ik}$` and $\rho = s / (1 - s)$ for a strength $s$, a round never lowers the objective
//! `$$ \sum_{ik} p_{ik} \left( c_k^\top y_i - \tau \log p_{ik} \right) - \tau \rho \sum_k \left( m_k \log \frac{m_k}{n \pi_k} -
//! m_k + n \pi_k \right) + \mu \frac nK \sum_k c_k^\top b_k, $$` because the assignment is its maximum for some centers, and
//! the centers that for some assignment. The penalty on shares is none for $s = 0$, and for $s = 1$ a constraint. This holds as far as
//! Sinkhorn scaling has settled within the round. The value comes with the assignment, by its dual:
//! `$\tau \sum_i \log \sum_k u_k e^{c_k^\top y_i / \tau}$`, with what `sinkhorn.rs` adds for the shares. Rounds end where one
//! changes it by less than a ten-billionth of it, or at their limit, which is noted.
//!
//! The answer is the class of the largest `$p_{ik}$`. As a distance that is `$\sqrt{\|y_i - c_k\|^2 + 2 \tau \log(\max_l u_l
//! / u_k)}$`, which is the distance to the center where proportions are free.
//!
//! A batch may be too small for this, or its classes not at all equally frequent. Then it is refined with more caution, and
//! a note says so (`trust.rs`).

#[cfg(test)]
mod laws;

use faer::Mat;
use serde::{Deserialize, Serialize};

use bidilel_math::distance::{normalize_columns, pairwise};
use bidilel_math::parallel::product;

use super::sinkhorn::{assigned, class_sums, penalty, scale};
use super::trust::{self, Doubt};
use super::{Batch, Prior};
use crate::error::Result;
use crate::recognize::{Latent, Recognition, Scores};
use crate::settings::{self, BalancedShares, Settings};

/// Refinement has settled where a round changed the objective by less than this part of it. Centers move by about its root, and
/// of some thousand instances hardly one changes its class afterwards (`docs/decisions/2026-11-19-rounds-of-balanced.md`).
const SETTLED: f64 = 1e-10;

/// What rounds end with.
struct Clusters {
    centers: Mat<f64>,
    /// The logarithms of the potentials.
    potentials: Vec<f64>,
    /// Whether the rounds ended before their limit.
    settled: bool,
}

/// Settings of balanced refinement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Balanced {
    /// Temperature of the assignment: $\tau$.
    pub balanced_temperature: f64,
    /// Pull towards the embedding that a class came with: $\mu$.
    pub balanced_pull: f64,
    /// From 0, free proportions, to 1, those that are aimed at.
    pub balanced_strength: f64,
    /// The proportions that are aimed at, $\pi$, where none are given.
    pub balanced_shares: BalancedShares,
    /// The proportions by class name, as [`Prior::parse`] reads them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub balanced_prior: Option<Vec<String>>,
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
            balanced_prior: None,
            balanced_rounds: 500,
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
            balanced_prior: settings.balanced_prior.clone(),
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
    pub(super) fn refine(&self, before: Latent, batch: &Batch<'_>) -> Result<Recognition> {
        if before.points.ncols() == 0 || before.embedding.ncols() == 0 {
            self.check()?;
            return Ok(before.into());
        }
        let (centers, prices) = self.clustered(&before, batch)?;
        let mut points = Mat::clone(&before.points);
        normalize_columns(points.as_mut());
        let latent = Latent { points: points.into(), embedding: centers, spaces: before.spaces };
        let scores = self.priced(&latent, &prices);
        Ok(Recognition { scores, latent: Some(latent) })
    }

    /// The unit centers of a batch, of which there is at least one class and one instance, and what each costs: the
    /// logarithm of the largest potential over its own.
    pub(super) fn clustered(&self, before: &Latent, batch: &Batch<'_>) -> Result<(Mat<f64>, Vec<f64>)> {
        self.check()?;
        let mut points = Mat::clone(&before.points);
        normalize_columns(points.as_mut());
        let mut start = before.embedding.clone();
        normalize_columns(start.as_mut());
        let given = self.given(batch, start.ncols())?;
        let (found, doubt) = self.trusted(&points, &start, given.as_deref());
        if let Some((watch, doubt)) = batch.watch.zip(doubt) {
            watch.note(&doubt.to_string());
        }
        let Clusters { centers, potentials, settled } = found;
        if let Some(watch) = batch.watch.filter(|_| !settled) {
            watch.note(&format!("balanced refinement had not settled after {} rounds", self.balanced_rounds));
        }
        let most = potentials.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Ok((centers, potentials.iter().map(|potential| most - potential).collect()))
    }

    /// The shares of the classes that are given, in their order; none where shares are free, and nothing holds to them.
    fn given(&self, batch: &Batch<'_>, classes: usize) -> Result<Option<Vec<f64>>> {
        let Some(texts) = self.balanced_prior.as_ref().filter(|_| self.balanced_strength > 0.0) else {
            return Ok(None);
        };
        let prior = Prior::parse(texts)?;
        if batch.counts.is_empty() {
            return prior.of(batch.classes, classes).map(Some);
        }
        Ok(Some(Prior::counted(batch.counts)))
    }

    /// The clusters with the shares that are aimed at, as far as the batch can be trusted with them, and what speaks against
    /// it.
    fn trusted(
        &self,
        points: &Mat<f64>,
        start: &Mat<f64>,
        given: Option<&[f64]>,
    ) -> (Clusters, Option<Doubt>) {
        let (instances, classes) = (points.ncols(), start.ncols());
        let equal = vec![1.0 / classes as f64; classes];
        let few = Doubt::few(instances, classes);
        // Nothing tells instances that are all equal apart: divided among classes, their answer would be left to rounding.
        let first = points.col(0);
        let distinct = if points.col_iter().all(|point| point == first) { 1 } else { instances };
        let strength = self.balanced_strength * trust::weight(distinct, classes);
        let aimed = |pull: f64, strength: f64, shares: &[f64]| {
            self.clusters(points, start, pull * trust::class_weight(instances, classes), strength, shares)
        };
        let free = aimed(self.balanced_pull, 0.0, &equal);
        let sums = class_sums(&self.assignment(&free, points));
        if let Some(shares) = given {
            let doubt = few.or(Doubt::uneven(shares, &sums, true));
            return (aimed(self.balanced_pull, strength, shares), doubt);
        }
        if let Some(uneven) = Doubt::uneven(&equal, &sums, false) {
            let cautious = aimed(self.balanced_pull.max(trust::CAUTIOUS_PULL), 0.0, &equal);
            return (cautious, few.or(Some(uneven)));
        }
        let found = match self.balanced_shares {
            _ if strength <= 0.0 => free,
            BalancedShares::Equal => aimed(self.balanced_pull, strength, &equal),
            BalancedShares::Estimated => {
                // One instance more for every class: no class is ruled out.
                let all = (instances + classes) as f64;
                let shares: Vec<f64> = sums.iter().map(|sum| (sum + 1.0) / all).collect();
                aimed(self.balanced_pull, strength, &shares)
            }
        };
        (found, few)
    }

    /// The centers of the clusters, and the logarithms of their potentials; `pull` is in instances.
    fn clusters(
        &self,
        points: &Mat<f64>,
        start: &Mat<f64>,
        pull: f64,
        strength: f64,
        shares: &[f64],
    ) -> Clusters {
        let mut centers = start.clone();
        let mut potentials = vec![0.0; start.ncols()];
        let mut objective = f64::NEG_INFINITY;
        let instances = points.ncols() as f64;
        let mut rounds = 0;
        loop {
            let (affinities, nearest) = self.affinities(&centers, points);
            scale(&affinities, &mut potentials, strength, shares);
            let (assigned, logs) = assigned(affinities, &potentials);
            let held: f64 = centers.col_iter().zip(start.col_iter()).map(|(c, b)| c.transpose() * b).sum();
            let next = nearest
                + self.balanced_temperature * (logs + penalty(&potentials, strength, shares, instances))
                + pull * held;
            let settled = (next - objective).abs() <= SETTLED * next.abs();
            if settled || rounds == self.balanced_rounds {
                return Clusters { centers, potentials, settled };
            }
            rounds += 1;
            objective = next;
            let mut moved = product(points.as_ref(), assigned.transpose());
            for class in 0..moved.ncols() {
                let (sum, own) = (moved.col_as_slice_mut(class), start.col_as_slice(class));
                sum.iter_mut().zip(own).for_each(|(value, own)| *value += pull * own);
            }
            normalize_columns(moved.as_mut());
            centers = moved;
        }
    }

    /// The assignment by some clusters: classes x instances.
    fn assignment(&self, clusters: &Clusters, points: &Mat<f64>) -> Mat<f64> {
        assigned(self.affinities(&clusters.centers, points).0, &clusters.potentials).0
    }

    /// $\exp(c_k^\top y_i / \tau)$ over the largest of an instance: classes x instances; and the sum of the largest
    /// `$c_k^\top y_i$`.
    fn affinities(&self, centers: &Mat<f64>, points: &Mat<f64>) -> (Mat<f64>, f64) {
        let mut affinities = product(centers.transpose(), points.as_ref());
        let mut nearest = 0.0;
        for instance in 0..affinities.ncols() {
            let column = affinities.col_as_slice_mut(instance);
            let most = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            nearest += most;
            column.iter_mut().for_each(|value| *value = ((*value - most) / self.balanced_temperature).exp());
        }
        (affinities, nearest)
    }

    /// Minus the distances to the centers, with their prices. Points of several spaces are compared by all their coordinates,
    /// as they were assigned: potentials are of that distance.
    pub(super) fn priced(&self, latent: &Latent, prices: &[f64]) -> Scores {
        let mut distances = pairwise(latent.embedding.as_ref(), latent.points.as_ref().as_ref());
        for instance in 0..distances.ncols() {
            for (value, price) in distances.col_as_slice_mut(instance).iter_mut().zip(prices) {
                *value = (*value * *value + 2.0 * self.balanced_temperature * price).sqrt();
            }
        }
        Scores::from_distances(distances)
    }
}
