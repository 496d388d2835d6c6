//! How good tags are: average precision of rankings, F1 of the first few and of those above thresholds.
//!
//! The average precision of a ranking is `$\sum_n (R_n - R_{n-1}) P_n$` over its different scores, with precision `$P_n$` and recall
//! `$R_n$` of everything that scores at least as high: the mean of the precisions at the relevant places, where no two
//! scores are equal. Its mean over labels says how well instances are found by a label, its mean over instances how well labels are
//! found for an instance. Labels and instances without anything relevant do not count.

use serde::{Deserialize, Serialize};

use crate::recognize::Scores;

/// Which candidate labels every instance has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relevance {
    /// Instances x labels, by instance.
    values: Vec<bool>,
    labels: usize,
}

impl Relevance {
    /// From a rule.
    pub fn new(labels: usize, instances: usize, has: impl Fn(usize, usize) -> bool) -> Self {
        let pairs = (0..instances).flat_map(|one| (0..labels).map(move |label| (label, one)));
        Self { values: pairs.map(|(label, one)| has(label, one)).collect(), labels }
    }

    /// Whether an instance has a label.
    pub fn has(&self, label: usize, instance: usize) -> bool {
        self.values[instance * self.labels + label]
    }

    /// How many labels there are.
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// How many instances there are.
    pub fn instances(&self) -> usize {
        self.values.len().checked_div(self.labels).unwrap_or(0)
    }

    /// The instances that have a label.
    pub fn of_label(&self, label: usize) -> Vec<bool> {
        (0..self.instances()).map(|instance| self.has(label, instance)).collect()
    }

    /// The labels that an instance has.
    pub fn of_instance(&self, instance: usize) -> &[bool] {
        &self.values[instance * self.labels..][..self.labels]
    }

    /// Share of the pairs that are relevant: the mean average precision of random scores.
    pub fn share(&self) -> f64 {
        let relevant = self.values.iter().filter(|&&relevant| relevant).count();
        relevant as f64 / self.values.len().max(1) as f64
    }
}

/// Precision, recall and their harmonic mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PrecisionRecall {
    /// Share of the tags that are right.
    pub precision: f64,
    /// Share of the labels that are among the tags.
    pub recall: f64,
    /// Their harmonic mean.
    pub f1: f64,
}

impl PrecisionRecall {
    /// From counts: right tags, tags, labels.
    pub fn of(right: usize, tags: usize, labels: usize) -> Self {
        let share = |of: usize| if of == 0 { 0.0 } else { right as f64 / of as f64 };
        let f1 = if tags + labels == 0 { 0.0 } else { 2.0 * right as f64 / (tags + labels) as f64 };
        Self { precision: share(tags), recall: share(labels), f1 }
    }
}

/// Mean average precision, over labels and over instances.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct MeanPrecision {
    /// Over labels: rankings of instances.
    pub per_class: f64,
    /// Over instances: rankings of labels.
    pub per_instance: f64,
}

/// Average precision of one ranking; none where nothing is relevant.
pub fn average_precision(scores: &[f64], relevant: &[bool]) -> Option<f64> {
    let total = relevant.iter().filter(|&&relevant| relevant).count();
    if total == 0 {
        return None;
    }
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_unstable_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let (mut found, mut seen, mut sum) = (0, 0, 0.0);
    for equal in order.chunk_by(|&a, &b| scores[a].total_cmp(&scores[b]).is_eq()) {
        let hits = equal.iter().filter(|&&place| relevant[place]).count();
        (found, seen) = (found + hits, seen + equal.len());
        sum += hits as f64 * found as f64 / seen as f64;
    }
    Some(sum / total as f64)
}

/// Mean average precision of scores.
pub fn mean_average_precision(scores: &Scores, truth: &Relevance) -> MeanPrecision {
    let mean = |all: Vec<f64>| all.iter().sum::<f64>() / all.len().max(1) as f64;
    let of_label = |label| average_precision(&scores.of_class(label), &truth.of_label(label));
    let of_instance = |one| average_precision(scores.values.col_as_slice(one), truth.of_instance(one));
    MeanPrecision {
        per_class: mean((0..truth.labels()).filter_map(of_label).collect()),
        per_instance: mean((0..truth.instances()).filter_map(of_instance).collect()),
    }
}

/// Precision, recall and F1 where every instance gets its `k` best labels, over all pairs together.
pub fn f1_at(scores: &Scores, truth: &Relevance, k: usize) -> PrecisionRecall {
    let mut right = 0;
    for instance in 0..truth.instances() {
        right += scores.top(instance, k).iter().filter(|&&(label, _)| truth.has(label, instance)).count();
    }
    let labels = truth.values.iter().filter(|&&relevant| relevant).count();
    PrecisionRecall::of(right, truth.instances() * k.min(truth.labels()), labels)
}

/// Precision, recall and F1 of one label whose tags are the instances that reach a threshold.
pub fn at_threshold(scores: &[f64], relevant: &[bool], threshold: f64) -> PrecisionRecall {
    let (right, tags, labels) = counts(scores, relevant, threshold);
    PrecisionRecall::of(right, tags, labels)
}

/// Right tags, tags, and labels of one label at a threshold.
pub(super) fn counts(scores: &[f64], relevant: &[bool], threshold: f64) -> (usize, usize, usize) {
    let each = scores.iter().zip(relevant);
    each.fold((0, 0, 0), |(right, tags, labels), (&score, &relevant)| {
        let tag = score >= threshold;
        (right + usize::from(tag && relevant), tags + usize::from(tag), labels + usize::from(relevant))
    })
}

/// The mean F1 of the labels that some instance has, each with its own threshold.
pub fn macro_f1(scores: &Scores, truth: &Relevance, thresholds: &[f64]) -> f64 {
    let own = |label: usize| {
        let relevant = truth.of_label(label);
        let used = relevant.iter().any(|&relevant| relevant);
        used.then(|| at_threshold(&scores.of_class(label), &relevant, thresholds[label]).f1)
    };
    let all: Vec<f64> = (0..truth.labels()).filter_map(own).collect();
    all.iter().sum::<f64>() / all.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;
    use faer::Mat;

    use super::*;

    /// Scores with ties, and labels that go with them in part.
    fn sample(labels: usize, instances: usize) -> (Scores, Relevance) {
        let number = |i: usize| (i.wrapping_mul(2_654_435_761) >> 7) % 97;
        let values = Mat::from_fn(labels, instances, |l, i| (number(l * 131 + i * 17 + 5) / 6) as f64);
        let relevant = |l: usize, i: usize| number(l * 7 + i * 31) as f64 + values[(l, i)] > 75.0;
        let truth = Relevance::new(labels, instances, relevant);
        (Scores { values }, truth)
    }

    /// The definition: at every threshold that changes anything, precision times the recall that is gained.
    fn by_thresholds(scores: &[f64], relevant: &[bool]) -> f64 {
        let mut levels = scores.to_vec();
        levels.sort_by(|a, b| b.total_cmp(a));
        levels.dedup();
        let total = relevant.iter().filter(|&&r| r).count() as f64;
        let (mut sum, mut before) = (0.0, 0.0);
        for level in levels {
            let above: Vec<bool> =
                scores.iter().zip(relevant).filter(|(s, _)| **s >= level).map(|(_, r)| *r).collect();
            let right = above.iter().filter(|&&r| r).count() as f64;
            sum += (right / total - before) * right / above.len() as f64;
            before = right / total;
        }
        sum
    }

    #[test]
    fn average_precision_is_its_definition() {
        let (scores, truth) = sample(6, 50);
        for label in 0..6 {
            let (own, relevant) = (scores.of_class(label), truth.of_label(label));
            let found = average_precision(&own, &relevant).expect("something relevant");
            assert_relative_eq!(found, by_thresholds(&own, &relevant), epsilon = 1e-12);
        }
        // Without ties: precisions 1, 2/3 and 3/5 at the relevant places.
        let found = average_precision(&[9.0, 8.0, 7.0, 6.0, 5.0], &[true, false, true, false, true]);
        assert_relative_eq!(found.expect("relevant"), (1.0 + 2.0 / 3.0 + 3.0 / 5.0) / 3.0, epsilon = 1e-15);
        assert_eq!(average_precision(&[1.0, 2.0], &[false, false]), None);
        assert_relative_eq!(average_precision(&[1.0, 1.0], &[true, false]).expect("relevant"), 0.5);
    }

    #[test]
    fn means_are_over_labels_and_over_instances() {
        let (scores, truth) = sample(5, 40);
        let found = mean_average_precision(&scores, &truth);
        let mean = |all: Vec<f64>| all.iter().sum::<f64>() / all.len() as f64;
        let of_label = |l: usize| {
            let relevant = truth.of_label(l);
            relevant.contains(&true).then(|| by_thresholds(&scores.of_class(l), &relevant))
        };
        assert_relative_eq!(found.per_class, mean((0..5).filter_map(of_label).collect()), epsilon = 1e-12);
        let of_instance = |i: usize| {
            let relevant = truth.of_instance(i);
            relevant.contains(&true).then(|| by_thresholds(scores.values.col_as_slice(i), relevant))
        };
        assert_relative_eq!(
            found.per_instance,
            mean((0..40).filter_map(of_instance).collect()),
            epsilon = 1e-12
        );
    }

    #[test]
    fn f1_counts_pairs() {
        let (scores, truth) = sample(5, 40);
        for k in [1, 3, 5, 9] {
            let (mut right, mut tags, mut labels) = (0.0, 0.0, 0.0);
            for i in 0..40 {
                let mut order: Vec<usize> = (0..5).collect();
                order.sort_by(|&a, &b| scores.values[(b, i)].total_cmp(&scores.values[(a, i)]));
                let chosen = &order[..k.min(5)];
                tags += chosen.len() as f64;
                right += chosen.iter().filter(|&&l| truth.has(l, i)).count() as f64;
                labels += (0..5).filter(|&l| truth.has(l, i)).count() as f64;
            }
            let found = f1_at(&scores, &truth, k);
            let (precision, recall) = (right / tags, right / labels);
            assert_relative_eq!(found.precision, precision, epsilon = 1e-12);
            assert_relative_eq!(found.recall, recall, epsilon = 1e-12);
            assert_relative_eq!(found.f1, 2.0 * precision * recall / (precision + recall), epsilon = 1e-12);
        }
    }

    #[test]
    fn thresholds_count_what_reaches_them() {
        let found = at_threshold(&[3.0, 2.0, 1.0, 0.0], &[true, false, true, false], 1.0);
        assert_relative_eq!(found.precision, 2.0 / 3.0);
        assert_relative_eq!(found.recall, 1.0);
        assert_eq!(at_threshold(&[1.0], &[false], 5.0), PrecisionRecall::default());
        let scores = Scores { values: faer::mat![[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]] };
        let truth = Relevance::new(3, 2, |label, instance| label == instance);
        // The third label has no instance and does not count.
        assert_relative_eq!(macro_f1(&scores, &truth, &[0.5, -1.0, 0.5]), f64::midpoint(1.0, 2.0 / 3.0));
        assert_relative_eq!(truth.share(), 2.0 / 6.0);
    }
}
