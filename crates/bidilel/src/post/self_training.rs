//! Self-training: every embedding moves halfway to the mean of its nearest instances.
//!
//! $b \leftarrow \frac12 \left(b + \frac1k \sum_{y \in N_k(b)} y\right)$ (Wang & Chen 2017, eq. 10 and the
//! average after it).
//!
//! # References
//! X. Xu, T. Hospedales, S. Gong, *Zero-shot action recognition by word-vector embedding*, 2015.

use faer::Mat;
use serde::{Deserialize, Serialize};

use super::LatentRefiner;
use crate::error::Result;
use crate::recognize::{Latent, Scores};
use crate::settings::{self, Settings};

/// Settings of self-training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SelfTraining {
    /// Nearest instances of a class: $k_{ST}$; clipped to the number of instances.
    pub self_training_neighbors: usize,
    /// How often; the paper does it once.
    pub self_training_rounds: usize,
}

impl Default for SelfTraining {
    fn default() -> Self {
        Self { self_training_neighbors: 100, self_training_rounds: 1 }
    }
}

impl LatentRefiner for SelfTraining {
    fn refine(&self, before: Latent, scores: &Scores) -> Result<Latent> {
        settings::check("self_training_neighbors", self.self_training_neighbors as f64)?;
        let mut now = before;
        for round in 0..self.self_training_rounds {
            let moved = if round == 0 { self.moved(&now, scores) } else { self.moved(&now, &now.scores()) };
            if moved == now.embedding {
                break;
            }
            now.embedding = moved;
        }
        Ok(now)
    }
}

impl SelfTraining {
    pub(crate) fn from_settings(settings: &Settings) -> Self {
        let default = Self::default();
        Self {
            self_training_neighbors: settings
                .self_training_neighbors
                .unwrap_or(default.self_training_neighbors),
            self_training_rounds: settings.self_training_rounds.unwrap_or(default.self_training_rounds),
        }
    }

    fn moved(&self, now: &Latent, scores: &Scores) -> Mat<f64> {
        let (classes, instances) = (scores.classes(), scores.instances());
        let k = self.self_training_neighbors.min(instances);
        let mut moved = now.embedding.clone();
        if k == 0 {
            return moved;
        }
        for class in 0..classes {
            let mut order: Vec<usize> = (0..instances).collect();
            let nearest_first = |&a: &usize, &b: &usize| {
                scores.values[(class, b)].total_cmp(&scores.values[(class, a)]).then(a.cmp(&b))
            };
            order.select_nth_unstable_by(k - 1, nearest_first);
            // Sums in index order, so that the order of the selection does not matter.
            order.truncate(k);
            order.sort_unstable();
            for row in 0..moved.nrows() {
                let sum: f64 = order.iter().map(|&instance| now.points[(row, instance)]).sum();
                moved[(row, class)] = f64::midpoint(moved[(row, class)], sum / k as f64);
            }
        }
        moved
    }
}
