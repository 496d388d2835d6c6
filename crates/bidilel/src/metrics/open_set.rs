//! How well instances of no candidate class are told from the others, by a confidence per instance.
//!
//! Inside are instances whose class is a candidate, unknown are the others. At a threshold $t$ instances with a confidence of at least $t$ are
//! accepted. The area under the ROC curve is the probability that an inside instance has the higher confidence, ties
//! counting one half. The open-set curve (OSCR) sets the share of inside instances that are accepted *and* recognized
//! against the share of unknown ones that are accepted; its area is at most the accuracy without a threshold.
//!
//! ```
//! use bidilel::metrics;
//!
//! let (inside, unknown) = ([0.9, 0.8, 0.4], [0.5, 0.1]);
//! assert!((metrics::auroc(&inside, &unknown) - 5.0 / 6.0).abs() < 1e-12);
//! assert_eq!(metrics::false_positive_rate(&inside, &unknown, 0.95), 0.5);
//! let curve = metrics::open_set_curve(&inside, &[true, false, true], &unknown);
//! assert!((metrics::open_set_area(&curve) - 0.5).abs() < 1e-12);
//! ```
//!
//! # References
//! A. Dhamija, M. Günther and T. Boult, *Reducing network agnostophobia*, 2018.

use serde::{Deserialize, Serialize};

/// A point of the open-set curve: the shares at one threshold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OpenSetPoint {
    /// Share of unknown instances that are accepted.
    pub false_positive_rate: f64,
    /// Share of inside instances that are accepted and recognized.
    pub correct_rate: f64,
}

/// Area under the ROC curve: how likely an inside instance has a higher confidence than an unknown one. One half
/// where either is missing.
pub fn auroc(inside: &[f64], unknown: &[f64]) -> f64 {
    let curve = open_set_curve(inside, &vec![true; inside.len()], unknown);
    if inside.is_empty() || unknown.is_empty() { 0.5 } else { open_set_area(&curve) }
}

/// Share of unknown instances that are accepted at the highest threshold that accepts at least a share `recall` of the
/// inside ones.
pub fn false_positive_rate(inside: &[f64], unknown: &[f64], recall: f64) -> f64 {
    let mut sorted = inside.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
    let accepted = ((recall * sorted.len() as f64 - 1e-9).ceil() as usize).clamp(1, sorted.len().max(1));
    let Some(&threshold) = sorted.get(accepted - 1) else { return 0.0 };
    let above = unknown.iter().filter(|&&one| one >= threshold).count();
    above as f64 / unknown.len().max(1) as f64
}

/// The open-set curve at every threshold, from the highest to the lowest; `right` says which inside instances are
/// recognized.
pub fn open_set_curve(inside: &[f64], right: &[bool], unknown: &[f64]) -> Vec<OpenSetPoint> {
    // Confidence, and what accepting the instance adds to the numerators: recognized, unknown.
    let ours = inside.iter().zip(right).map(|(&one, &right)| (one, usize::from(right), 0));
    let mut all: Vec<(f64, usize, usize)> = ours.chain(unknown.iter().map(|&one| (one, 0, 1))).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut correct, mut accepted) = (0, 0);
    let mut curve = vec![OpenSetPoint { false_positive_rate: 0.0, correct_rate: 0.0 }];
    // Equal confidences are accepted together.
    for tied in all.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        correct += tied.iter().map(|one| one.1).sum::<usize>();
        accepted += tied.iter().map(|one| one.2).sum::<usize>();
        curve.push(OpenSetPoint {
            false_positive_rate: accepted as f64 / unknown.len().max(1) as f64,
            correct_rate: correct as f64 / inside.len().max(1) as f64,
        });
    }
    curve
}

/// Area under an open-set curve, by trapezoids between its points: exact, ties counting one half.
pub fn open_set_area(curve: &[OpenSetPoint]) -> f64 {
    let trapezoid = |pair: &[OpenSetPoint]| {
        let width = pair[1].false_positive_rate - pair[0].false_positive_rate;
        width * (pair[0].correct_rate + pair[1].correct_rate) / 2.0
    };
    curve.windows(2).map(trapezoid).sum()
}

/// The correct rate of an open-set curve at a false positive rate, linear between its points.
pub fn correct_rate_at(curve: &[OpenSetPoint], rate: f64) -> f64 {
    let after = curve.partition_point(|point| point.false_positive_rate <= rate);
    let Some(before) = after.checked_sub(1).map(|place| curve[place]) else { return 0.0 };
    let Some(next) = curve.get(after) else { return before.correct_rate };
    let share = (rate - before.false_positive_rate) / (next.false_positive_rate - before.false_positive_rate);
    before.correct_rate + share * (next.correct_rate - before.correct_rate)
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;
    use proptest::prelude::*;

    use super::*;

    /// Confidences on a coarse grid, so that there are ties.
    fn confidences() -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec((0..12_u8).prop_map(|value| f64::from(value) / 4.0), 1..40)
    }

    fn half(ours: f64, theirs: f64) -> f64 {
        if ours > theirs {
            1.0
        } else if ours < theirs {
            0.0
        } else {
            0.5
        }
    }

    proptest! {
        #[test]
        fn areas_are_means_over_all_pairs(inside in confidences(), unknown in confidences(), seed in any::<u64>()) {
            let right: Vec<bool> = (0..inside.len()).map(|i| (seed >> (i % 64)) & 1 == 1).collect();
            let pairs = (inside.len() * unknown.len()) as f64;
            let (mut ordered, mut recognized) = (0.0, 0.0);
            for (&ours, &right) in inside.iter().zip(&right) {
                for &theirs in &unknown {
                    ordered += half(ours, theirs) / pairs;
                    recognized += if right { half(ours, theirs) / pairs } else { 0.0 };
                }
            }
            prop_assert!((auroc(&inside, &unknown) - ordered).abs() < 1e-12);
            let curve = open_set_curve(&inside, &right, &unknown);
            prop_assert!((open_set_area(&curve) - recognized).abs() < 1e-12);
            let accuracy = right.iter().filter(|&&right| right).count() as f64 / inside.len() as f64;
            prop_assert!((curve[curve.len() - 1].correct_rate - accuracy).abs() < 1e-12);
            prop_assert!((correct_rate_at(&curve, 1.0) - accuracy).abs() < 1e-12);
        }

        #[test]
        fn the_false_positive_rate_is_that_of_the_best_threshold(inside in confidences(), unknown in confidences()) {
            for recall in [0.5, 0.95, 1.0] {
                let share = |of: &[f64], t: f64| of.iter().filter(|&&one| one >= t).count() as f64 / of.len() as f64;
                let allowed = inside.iter().filter(|&&t| share(&inside, t) >= recall - 1e-12);
                let least = allowed.map(|&t| share(&unknown, t)).fold(1.0, f64::min);
                prop_assert!((false_positive_rate(&inside, &unknown, recall) - least).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn confidences_that_say_nothing_have_an_area_of_one_half() {
        assert_relative_eq!(auroc(&[1.0; 5], &[1.0; 3]), 0.5);
        assert_relative_eq!(auroc(&[], &[1.0]), 0.5);
        assert_relative_eq!(auroc(&[2.0, 3.0], &[0.0, 1.0]), 1.0);
        assert_relative_eq!(auroc(&[0.0], &[1.0]), 0.0);
    }

    #[test]
    fn the_curve_is_read_between_its_points() {
        let curve = open_set_curve(&[0.9, 0.3], &[true, true], &[0.6, 0.1]);
        assert_relative_eq!(correct_rate_at(&curve, 0.0), 0.5);
        assert_relative_eq!(correct_rate_at(&curve, 0.25), 0.5);
        assert_relative_eq!(correct_rate_at(&curve, 0.5), 1.0);
        assert_relative_eq!(correct_rate_at(&curve, 2.0), 1.0);
    }
}
