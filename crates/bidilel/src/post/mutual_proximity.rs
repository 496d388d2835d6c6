//! Mutual proximity: how likely it is that instance and class are nearer to each other than either is to others.
//!
//! $$ s'(x, c) = \log P(S_x < s(x, c)) + \log P(S_c < s(x, c)), $$
//! where `$S_x$` is the score of instance $x$ for a random class and `$S_c$` the score of class $c$ for a random instance of the
//! batch. A hub has high scores everywhere, so that one of them is nothing special: its `$P(S_c < s)$` is small.
//!
//! `gaussian`, the default: both are normal, `$P(S < s) = \Phi((s - \mu) / \sigma)$` with the mean and the standard deviation
//! of the list. `empirical`: the share of the list that is smaller, ties counted half, with half a place at either end so that
//! no logarithm is infinite: `$(|\{S < s\}| + \frac12 |\{S = s\}|) / n$`, in which $s$ itself is one of the $n$. With few classes the
//! empirical form of an instance has few values; the normal one has no such steps, and is the one that the paper
//! recommends for speed.
//!
//! The paper takes both distributions over the same objects and can count them jointly. Here one is over classes and the
//! other over instances, so that they are independent by construction: the product that the paper approximates with. A
//! list without spread (one class, one instance, equal scores) says nothing: its probability is 1/2.
//!
//! # References
//! D. Schnitzer, A. Flexer, M. Schedl and G. Widmer, *Local and global scaling reduce hubs in space*, 2012.

use faer::Mat;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use bidilel_math::statistics::ln_normal_cdf;

use super::ScoreRefiner;
use crate::error::Result;
use crate::recognize::Scores;
use crate::settings::{Proximity, Settings};

/// Settings of mutual proximity.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MutualProximity {
    /// How the distribution of a list is modeled.
    pub proximity: Proximity,
}

impl MutualProximity {
    pub(crate) fn from_settings(settings: &Settings) -> Self {
        Self { proximity: settings.proximity.unwrap_or_default() }
    }
}

impl ScoreRefiner for MutualProximity {
    fn refine(&self, scores: &Scores) -> Result<Scores> {
        let (classes, instances) = (scores.classes(), scores.instances());
        let logs = match self.proximity {
            Proximity::Gaussian => gaussian,
            Proximity::Empirical => empirical,
        };
        let of_class = |class| logs(&scores.of_class(class));
        let by_class: Vec<Vec<f64>> = (0..classes).into_par_iter().map(of_class).collect();
        let of_instance = |instance| logs(scores.values.col_as_slice(instance));
        let by_instance: Vec<Vec<f64>> = (0..instances).into_par_iter().map(of_instance).collect();
        let sum = |class: usize, instance: usize| by_class[class][instance] + by_instance[instance][class];
        Ok(Scores { values: Mat::from_fn(classes, instances, sum) })
    }
}

/// $\log \Phi((s - \mu) / \sigma)$ of every value of a list.
fn gaussian(list: &[f64]) -> Vec<f64> {
    let count = list.len() as f64;
    let mean = list.iter().sum::<f64>() / count;
    let deviation = (list.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
    let (low, high) = list
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| (low.min(value), high.max(value)));
    // The deviation of equal values is that of their rounded mean, which would be blown up to one.
    let standardized = |value: &f64| if low < high { (value - mean) / deviation } else { 0.0 };
    list.iter().map(|value| ln_normal_cdf(standardized(value))).collect()
}

/// The logarithm of the share of a list that is smaller than each of its values, ties counted half.
fn empirical(list: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..list.len()).collect();
    order.sort_unstable_by(|&a, &b| list[a].total_cmp(&list[b]));
    let (mut logs, mut below) = (vec![0.0; list.len()], 0.0);
    for equal in order.chunk_by(|&a, &b| list[a].total_cmp(&list[b]).is_eq()) {
        let share = (below + 0.5 * equal.len() as f64) / list.len() as f64;
        equal.iter().for_each(|&place| logs[place] = share.ln());
        below += equal.len() as f64;
    }
    logs
}

#[cfg(test)]
mod tests {
    use super::super::score_laws::{degenerate, keeps_order_of_instances, random_scores};
    use super::*;

    /// The normal distribution by Simpson's rule.
    fn normal_cdf(z: f64) -> f64 {
        let (steps, low) = (4000, -12.0);
        let width = (z - low) / f64::from(steps);
        let density = |t: f64| (-0.5 * t * t).exp() / std::f64::consts::TAU.sqrt();
        let term = |i: i32| {
            let weight = if i == 0 || i == steps { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
            weight * density(low + width * f64::from(i))
        };
        (0..=steps).map(term).sum::<f64>() * width / 3.0
    }

    #[test]
    fn the_gaussian_form_is_the_formula() {
        let scores = random_scores(5, 30, 4);
        let s = &scores.values;
        let probability = |list: Vec<f64>, value: f64| {
            let n = list.len() as f64;
            let mean = list.iter().sum::<f64>() / n;
            let variance = list.iter().map(|v| v * v).sum::<f64>() / n - mean * mean;
            normal_cdf((value - mean) / variance.sqrt())
        };
        let found = MutualProximity::default().refine(&scores).expect("scores");
        for x in 0..30 {
            for c in 0..5 {
                let of_instance = probability((0..5).map(|l| s[(l, x)]).collect(), s[(c, x)]);
                let of_class = probability((0..30).map(|i| s[(c, i)]).collect(), s[(c, x)]);
                let difference = found.values[(c, x)].exp() - of_instance * of_class;
                assert!(difference.abs() < 1e-10, "{difference}");
            }
        }
    }

    #[test]
    fn the_empirical_form_is_the_formula() {
        let mut scores = random_scores(5, 30, 4);
        scores.values[(1, 2)] = scores.values[(1, 7)];
        let s = &scores.values;
        let share = |list: Vec<f64>, value: f64| {
            let count = |of: &dyn Fn(f64) -> bool| list.iter().filter(|&&v| of(v)).count() as f64;
            (count(&|v| v < value) + 0.5 * count(&|v| v.total_cmp(&value).is_eq())) / list.len() as f64
        };
        let found = MutualProximity { proximity: Proximity::Empirical }.refine(&scores).expect("scores");
        for x in 0..30 {
            for c in 0..5 {
                let of_instance = share((0..5).map(|l| s[(l, x)]).collect(), s[(c, x)]);
                let of_class = share((0..30).map(|i| s[(c, i)]).collect(), s[(c, x)]);
                assert!((found.values[(c, x)] - (of_instance * of_class).ln()).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn it_keeps_the_laws_of_score_refiners() {
        for proximity in [Proximity::Gaussian, Proximity::Empirical] {
            keeps_order_of_instances(&MutualProximity { proximity });
            degenerate(&MutualProximity { proximity });
        }
    }

    #[test]
    fn the_gaussian_form_has_no_unit() {
        // Scores that are scaled and moved, all together, have the same proximities.
        let scores = random_scores(6, 25, 8);
        let moved = Scores { values: Mat::from_fn(6, 25, |c, x| 7.0 * scores.values[(c, x)] - 30.0) };
        let [one, other] =
            [&scores, &moved].map(|scores| MutualProximity::default().refine(scores).expect("scores").values);
        assert!((one - other).norm_max() < 1e-10);
    }
}
