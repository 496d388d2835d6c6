//! "None of these": instances whose best class is not convincing.
//!
//! Two signals: the score of the best class, and its margin over the second. A threshold is the quantile of the signal over
//! held-out known classes that act as unseen ones, with their own class among the candidates: a share `rate` of them is
//! below, so that a share `rate` of instances of candidate classes is wrongly rejected, as far as unseen classes are like
//! them. Which signal tells more is measured there, too: every held-out instance counts once with its own class among the
//! candidates and once without, as an unknown, and the signal with the larger area under the ROC curve is taken.

use serde::{Deserialize, Serialize};

use super::sample::Sample;
use super::temperature::Labeled;
use crate::metrics::auroc;
use crate::recognize::Scores;

/// What an instance is accepted or rejected by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Signal {
    /// The score of the best class.
    Score,
    /// Its distance from the score of the second; 0 where there is one candidate only.
    Margin,
}

impl Signal {
    /// The signal of one instance by the scores of its candidates: the larger, the surer.
    pub fn of(self, column: &[f64]) -> f64 {
        let (mut best, mut second) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        for &score in column {
            if score > best {
                (best, second) = (score, best);
            } else if score > second {
                second = score;
            }
        }
        match self {
            Self::Score => best,
            Self::Margin if second.is_finite() => best - second,
            Self::Margin => 0.0,
        }
    }

    /// The signal of every instance.
    pub fn all(self, scores: &Scores) -> Vec<f64> {
        (0..scores.instances()).map(|instance| self.of(scores.values.col_as_slice(instance))).collect()
    }
}

/// The signals of held-out instances, and which of the two tells more.
#[derive(Debug, Clone, PartialEq)]
pub struct Rejection {
    /// The signal that is taken unless another is asked for.
    pub by: Signal,
    /// Area under the ROC curve by score, on held-out classes.
    pub score_auroc: f64,
    /// The same by margin.
    pub margin_auroc: f64,
    /// Minus the scores of the best classes.
    pub score: Sample,
    /// Minus the margins.
    pub margin: Sample,
}

/// A signal, and the least of it that is accepted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// The signal.
    pub by: Signal,
    /// Its least accepted value.
    pub least: f64,
}

impl Threshold {
    /// Whether an instance with these scores is none of the candidates.
    pub fn rejects(&self, column: &[f64]) -> bool {
        self.by.of(column) < self.least
    }
}

impl Rejection {
    /// Measures both signals on labeled scores.
    pub fn fit(sets: &[Labeled<'_>]) -> Self {
        let one = |signal: Signal| {
            let inside: Vec<f64> = sets.iter().flat_map(|(scores, _)| signal.all(scores)).collect();
            let unknown: Vec<f64> = sets.iter().flat_map(|set| without_own(*set, signal)).collect();
            let area = auroc(&inside, &unknown);
            (area, Sample::new(inside.into_iter().map(|value| -value).collect()))
        };
        let ((score_auroc, score), (margin_auroc, margin)) = (one(Signal::Score), one(Signal::Margin));
        let by = if margin_auroc > score_auroc { Signal::Margin } else { Signal::Score };
        Self { by, score_auroc, margin_auroc, score, margin }
    }

    /// The threshold that wrongly rejects a share `rate` of the instances of candidate classes at most, by a signal of
    /// one's own or by the one that tells more.
    pub fn threshold(&self, rate: f64, by: Option<Signal>) -> Threshold {
        let by = by.unwrap_or(self.by);
        let sample = match by {
            Signal::Score => &self.score,
            Signal::Margin => &self.margin,
        };
        Threshold { by, least: -sample.bound(1.0 - rate) }
    }
}

/// The signals of all instances as if their own class were no candidate.
fn without_own((scores, truth): Labeled<'_>, signal: Signal) -> Vec<f64> {
    let others = |(instance, &own): (usize, &usize)| {
        let column = scores.values.col_as_slice(instance).iter().enumerate();
        let others: Vec<f64> = column.filter(|(class, _)| *class != own).map(|(_, &score)| score).collect();
        // Without another candidate nothing can be measured.
        (!others.is_empty()).then(|| signal.of(&others))
    };
    truth.iter().enumerate().filter_map(others).collect()
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;
    use faer::Mat;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn noisy(instances: usize, seed: u64) -> (Scores, Vec<usize>) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let truth: Vec<usize> = (0..instances).map(|i| i % 5).collect();
        let value = |class, i: usize| random.random::<f64>() + if class == truth[i] { 0.5 } else { 0.0 };
        (Scores { values: Mat::from_fn(5, instances, value) }, truth)
    }

    #[test]
    fn signals_are_the_first_and_the_lead_over_the_second() {
        let column = [0.5, 2.0, -1.0, 1.25];
        assert_relative_eq!(Signal::Score.of(&column), 2.0);
        assert_relative_eq!(Signal::Margin.of(&column), 0.75);
        assert_relative_eq!(Signal::Margin.of(&[1.0, 1.0, 0.0]), 0.0);
        assert_relative_eq!(Signal::Margin.of(&[3.0]), 0.0);
    }

    #[test]
    fn at_most_the_wanted_share_is_rejected_of_what_the_threshold_was_found_on() {
        let (scores, truth) = noisy(500, 1);
        let found = Rejection::fit(&[(&scores, &truth)]);
        for by in [Signal::Score, Signal::Margin] {
            for rate in [0.0, 0.01, 0.05, 0.2, 0.5, 1.0] {
                let threshold = found.threshold(rate, Some(by));
                let rejected = (0..500).filter(|&i| threshold.rejects(scores.values.col_as_slice(i))).count();
                let share = rejected as f64 / 500.0;
                assert!(share <= rate + 1e-12 && share >= rate - 0.01, "{by:?} {rate}: {share}");
            }
        }
    }

    #[test]
    fn new_instances_of_the_same_kind_are_rejected_as_often_as_was_asked() {
        let (held_out, truth) = noisy(2000, 2);
        let threshold = Rejection::fit(&[(&held_out, &truth)]).threshold(0.1, None);
        let (new, _) = noisy(20_000, 3);
        let rejected = (0..20_000).filter(|&i| threshold.rejects(new.values.col_as_slice(i))).count();
        // Four standard errors of both samples: 4 sqrt(0.09 (1/2000 + 1/20000)).
        assert!((rejected as f64 / 20_000.0 - 0.1).abs() < 0.028, "{rejected}");
    }

    #[test]
    fn the_signal_is_taken_that_tells_unknowns_better() {
        // Scores of any level, but the right class always leads: only the margin tells.
        let truth: Vec<usize> = (0..40).map(|i| i % 4).collect();
        let value = |class: usize, i: usize| {
            10.0 * (i % 7) as f64 + if class == truth[i] { 1.0 } else { 0.01 * class as f64 }
        };
        let scores = Scores { values: Mat::from_fn(4, 40, value) };
        let found = Rejection::fit(&[(&scores, &truth)]);
        assert_eq!(found.by, Signal::Margin);
        assert_relative_eq!(found.margin_auroc, 1.0);
        // All margins alike, but unknowns have lower scores.
        let value = |class: usize, i: usize| {
            if class == truth[i] {
                5.0
            } else if class == (truth[i] + 1) % 4 {
                4.0
            } else {
                3.0
            }
        };
        let scores = Scores { values: Mat::from_fn(4, 40, value) };
        let found = Rejection::fit(&[(&scores, &truth)]);
        assert_eq!(found.by, Signal::Score);
        assert_relative_eq!(found.margin_auroc, 0.5);
    }

    #[test]
    fn unknowns_are_the_same_instances_without_the_row_of_their_class() {
        let (scores, truth) = noisy(30, 4);
        let found = without_own((&scores, &truth), Signal::Margin);
        for (instance, &own) in truth.iter().enumerate() {
            let mut others: Vec<f64> =
                (0..5).filter(|&class| class != own).map(|class| scores.values[(class, instance)]).collect();
            others.sort_by(|a, b| b.total_cmp(a));
            assert_relative_eq!(found[instance], others[0] - others[1]);
        }
    }
}
