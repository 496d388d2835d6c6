//! CSLS, cross-domain similarity local scaling: a score counts by how far it is above those of the neighbors on both sides.
//!
//! $$ s'(x, c) = 2 s(x, c) - r(x) - r(c), $$
//! where $r(x)$ is the mean score of the $k$ best classes of instance $x$, and $r(c)$ that of the $k$ best instances of class
//! $c$ in the batch. A hub has a large $r(c)$: what it wins everywhere, it loses. $r(x)$ changes no answer, but makes scores
//! of different instances comparable. It works on any scores, cosines as in the paper or minus distances; $k$ is clipped
//! to the number of classes and of instances.
//!
//! # References
//! A. Conneau, G. Lample, M. Ranzato, L. Denoyer and H. Jégou, *Word translation without parallel data*, 2018.

use faer::Mat;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::ScoreRefiner;
use crate::error::Result;
use crate::recognize::Scores;
use crate::settings::{self, Settings};

/// Settings of CSLS.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Csls {
    /// Neighbors on either side: $k$.
    pub csls_neighbors: usize,
}

impl Default for Csls {
    fn default() -> Self {
        Self { csls_neighbors: 10 }
    }
}

impl Csls {
    pub(crate) fn from_settings(settings: &Settings) -> Self {
        Self { csls_neighbors: settings.csls_neighbors.unwrap_or(Self::default().csls_neighbors) }
    }
}

impl ScoreRefiner for Csls {
    fn refine(&self, scores: &Scores) -> Result<Scores> {
        settings::check("csls_neighbors", self.csls_neighbors as f64)?;
        let (classes, instances) = (scores.classes(), scores.instances());
        let mean = |list: Vec<f64>| best_mean(list, self.csls_neighbors);
        let of_instances: Vec<f64> = (0..instances)
            .into_par_iter()
            .map(|instance| mean(scores.values.col_as_slice(instance).to_vec()))
            .collect();
        let of_classes: Vec<f64> =
            (0..classes).into_par_iter().map(|class| mean(scores.of_class(class))).collect();
        let scaled = |class, instance| {
            2.0 * scores.values[(class, instance)] - of_instances[instance] - of_classes[class]
        };
        Ok(Scores { values: Mat::from_fn(classes, instances, scaled) })
    }
}

/// The mean of the `k` largest values; all of them where there are fewer, 0 where there are none.
fn best_mean(mut values: Vec<f64>, k: usize) -> f64 {
    if k < values.len() {
        values.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a));
        values.truncate(k);
    }
    // Summed by size, so that the order of the batch makes no difference, not even by rounding.
    values.sort_unstable_by(f64::total_cmp);
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::super::score_laws::{degenerate, keeps_order_of_instances, random_scores};
    use super::*;

    /// The formula, with whole lists sorted.
    fn direct(scores: &Scores, k: usize) -> Mat<f64> {
        let mean = |mut list: Vec<f64>| {
            list.sort_by(|a, b| b.total_cmp(a));
            let best = &list[..k.min(list.len())];
            best.iter().sum::<f64>() / best.len() as f64
        };
        let (classes, instances) = (scores.classes(), scores.instances());
        Mat::from_fn(classes, instances, |c, x| {
            let of_instance = mean((0..classes).map(|class| scores.values[(class, x)]).collect());
            let of_class = mean((0..instances).map(|instance| scores.values[(c, instance)]).collect());
            2.0 * scores.values[(c, x)] - of_instance - of_class
        })
    }

    #[test]
    fn it_is_the_formula() {
        for (classes, instances, k) in [(5, 30, 1), (5, 30, 3), (12, 7, 10), (1, 4, 2), (4, 1, 2)] {
            let scores = random_scores(classes, instances, 3);
            let found = Csls { csls_neighbors: k }.refine(&scores).expect("scores");
            assert!((found.values - direct(&scores, k)).norm_max() < 1e-12, "{classes} x {instances}, {k}");
        }
    }

    #[test]
    fn it_keeps_the_laws_of_score_refiners() {
        keeps_order_of_instances(&Csls { csls_neighbors: 3 });
        degenerate(&Csls::default());
        assert!(Csls { csls_neighbors: 0 }.refine(&random_scores(2, 2, 0)).is_err());
    }

    #[test]
    fn half_of_what_a_class_gains_everywhere_is_taken_from_it() {
        let scores = random_scores(6, 40, 5);
        let mut hub = scores.clone();
        (0..40).for_each(|instance| hub.values[(2, instance)] += 3.0);
        let [plain, hub] =
            [&scores, &hub].map(|scores| Csls::default().refine(scores).expect("scores").values);
        for instance in 0..40 {
            let lead = |values: &Mat<f64>| values[(2, instance)] - values[(0, instance)];
            assert!((lead(&hub) - lead(&plain) - 3.0).abs() < 1e-12, "2 * 3 of its score less 3 of its mean");
        }
    }
}
