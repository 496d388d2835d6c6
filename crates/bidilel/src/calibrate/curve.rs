//! The seen-unseen curve: accuracy on known and on unseen classes as the bias of known classes grows.
//!
//! Where all classes compete, calibrated stacking subtracts a bias $\beta$ from the scores of known classes:
//! `$$ \hat c(x) = \arg\max_c \; s_c(x) - \beta\, [c \text{ is known}]. $$`
//! An instance is taken for a known class while $\beta$ is at most its margin, the best score of a known class minus the
//! best of an unseen one. Which class it then is does not depend on $\beta$, so that the two accuracies change at margins
//! only, and the curve has finitely many points. The area under it (AUSUC) is exact: it is the sum over these points.
//! Accuracies are means over classes.
//!
//! # References
//! W.-L. Chao, S. Changpinyo, B. Gong and F. Sha, *An empirical study and analysis of generalized zero-shot learning for
//! object recognition in the wild*, 2016. Y. Xian, B. Schiele and Z. Akata, *Zero-shot learning: the good, the bad and the
//! ugly*, 2017 (the harmonic mean of per-class accuracies).

use serde::{Deserialize, Serialize};

use crate::recognize::Scores;

/// Accuracy where known and unseen classes compete.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SeenUnseen {
    /// On test instances of unseen classes: the mean of the classes' accuracies.
    pub unseen: f64,
    /// On test instances of known classes, likewise.
    pub seen: f64,
    /// The harmonic mean of the two.
    pub harmonic: f64,
}

impl SeenUnseen {
    /// The two accuracies with their harmonic mean, which is 0 where one of them is.
    pub fn new(seen: f64, unseen: f64) -> Self {
        let sum = seen + unseen;
        Self { seen, unseen, harmonic: if sum > 0.0 { 2.0 * seen * unseen / sum } else { 0.0 } }
    }
}

/// The accuracies of one recognition for every bias.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Biases after which the accuracies are others, ascending.
    breakpoints: Vec<f64>,
    /// Before the first breakpoint, and after each.
    points: Vec<SeenUnseen>,
}

/// The best class of every instance on either side, which no bias changes, and the bias at which it changes sides.
#[derive(Debug, Clone)]
pub(crate) struct Sides {
    known: usize,
    classes: usize,
    /// The best known and the best unseen candidate, and by how much the score of the former is larger.
    best: Vec<(usize, usize, f64)>,
}

impl Sides {
    /// No instance yet, of this many candidates, the first `known` of which are known.
    pub(crate) fn new(known: usize, classes: usize) -> Self {
        Self { known, classes, best: Vec::new() }
    }

    /// Adds the instances of these scores.
    pub(crate) fn extend(&mut self, scores: &Scores) {
        self.best.extend((0..scores.instances()).map(|instance| {
            let (seen, unseen) = scores.values.col_as_slice(instance).split_at(self.known);
            let (seen, unseen) = (best(seen), best(unseen));
            (seen.0, self.known + unseen.0, seen.1 - unseen.1)
        }));
    }

    /// The best unseen class of every instance.
    pub(crate) fn unseen_labels(&self) -> Vec<usize> {
        self.best.iter().map(|&(_, unseen, _)| unseen - self.known).collect()
    }
}

/// What an instance that is recognized on its own side adds to the accuracy of that side.
struct Share {
    margin: f64,
    seen: f64,
    unseen: f64,
}

impl Curve {
    /// The curve of scores whose first `known` candidates are the known classes; `truth` are candidates.
    pub fn new(scores: &Scores, known: usize, truth: &[usize]) -> Self {
        let mut sides = Sides::new(known, scores.classes());
        sides.extend(scores);
        Self::of(&sides, truth)
    }

    /// The curve of instances of these classes.
    pub(crate) fn of(sides: &Sides, truth: &[usize]) -> Self {
        let mut shares = shares(sides, truth);
        shares.sort_by(|a, b| a.margin.total_cmp(&b.margin));
        let mut breakpoints: Vec<f64> = Vec::new();
        let mut changes: Vec<(f64, f64)> = Vec::new();
        for Share { margin, seen, unseen } in shares {
            match changes.last_mut() {
                Some(last) if breakpoints.last().is_some_and(|&before| before >= margin) => {
                    *last = (last.0 + seen, last.1 + unseen);
                }
                _ => {
                    breakpoints.push(margin);
                    changes.push((seen, unseen));
                }
            }
        }
        // Each accuracy is summed from the end at which it is zero, so that it is exactly zero there.
        let mut seen = vec![0.0; changes.len() + 1];
        (0..changes.len()).rev().for_each(|i| seen[i] = seen[i + 1] + changes[i].0);
        let mut unseen = 0.0;
        let after = |(i, seen): (usize, f64)| {
            unseen += if i == 0 { 0.0 } else { changes[i - 1].1 };
            SeenUnseen::new(seen, unseen)
        };
        let points = seen.into_iter().enumerate().map(after).collect();
        Self { breakpoints, points }
    }

    /// The biases after which the accuracies are others, ascending: at a breakpoint they are those before it.
    pub fn breakpoints(&self) -> &[f64] {
        &self.breakpoints
    }

    /// The accuracies before the first breakpoint and after each, in their order.
    pub fn points(&self) -> &[SeenUnseen] {
        &self.points
    }

    /// The accuracies with this bias.
    pub fn at(&self, bias: f64) -> SeenUnseen {
        self.points[self.breakpoints.partition_point(|&breakpoint| breakpoint < bias)]
    }

    /// The area under the curve.
    pub fn area(&self) -> f64 {
        let strip =
            |two: &[SeenUnseen]| (two[1].unseen - two[0].unseen) * f64::midpoint(two[0].seen, two[1].seen);
        self.points.windows(2).map(strip).sum()
    }

    /// The largest harmonic mean of all biases.
    pub fn best_harmonic(&self) -> f64 {
        self.points.iter().map(|point| point.harmonic).fold(0.0, f64::max)
    }
}

/// The shares of instances that are recognized on their own side: classes count the same, whatever their sizes.
fn shares(sides: &Sides, truth: &[usize]) -> Vec<Share> {
    let known = sides.known;
    let mut counts = vec![0_usize; sides.classes];
    truth.iter().for_each(|&class| counts[class] += 1);
    let populated = |side: &[usize]| side.iter().filter(|&&count| count > 0).count().max(1) as f64;
    let classes = (populated(&counts[..known]), populated(&counts[known..]));
    let share = |(&(seen, unseen, margin), &class): (&(usize, usize, f64), &usize)| {
        let worth = |classes: f64| 1.0 / (counts[class] as f64 * classes);
        if class < known {
            (seen == class).then(|| Share { margin, seen: worth(classes.0), unseen: 0.0 })
        } else {
            (unseen == class).then(|| Share { margin, seen: 0.0, unseen: worth(classes.1) })
        }
    };
    sides.best.iter().zip(truth).filter_map(share).collect()
}

/// The class of the best score, the first of equals, and the score; without classes, one that never wins.
fn best(scores: &[f64]) -> (usize, f64) {
    let better = |best: (usize, f64), (class, &score): (usize, &f64)| {
        if score.total_cmp(&best.1).is_gt() { (class, score) } else { best }
    };
    scores.iter().enumerate().fold((0, f64::NEG_INFINITY), better)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::float_cmp, reason = "the numbers are exact")]

    use faer::Mat;
    use proptest::prelude::*;

    use super::*;
    use crate::metrics::{class_accuracies, confusion};

    /// Accuracies by the definition: subtract, take the best class, count.
    fn counted(scores: &Scores, known: usize, truth: &[usize], bias: f64) -> SeenUnseen {
        let values = Mat::from_fn(scores.classes(), scores.instances(), |class, i| {
            scores.values[(class, i)] - if class < known { bias } else { 0.0 }
        });
        let labels = Scores { values }.labels();
        let shares = class_accuracies(&confusion(&labels, truth, scores.classes()));
        let mean = |side: &[Option<f64>]| {
            let all: Vec<f64> = side.iter().copied().flatten().collect();
            all.iter().sum::<f64>() / all.len().max(1) as f64
        };
        SeenUnseen::new(mean(&shares[..known]), mean(&shares[known..]))
    }

    /// Scores on a grid of eighths, so that margins repeat and sums with biases are exact.
    fn batch(seed: u64, known: usize, unseen: usize, instances: usize) -> (Scores, Vec<usize>) {
        let hash = |a: usize, b: usize| {
            let mixed =
                (a as u64 * 7919 + b as u64 * 104_729 + seed * 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (mixed >> 40) as usize
        };
        let truth: Vec<usize> = (0..instances).map(|i| hash(i, 1000) % (known + unseen)).collect();
        let values = Mat::from_fn(known + unseen, instances, |class, i| {
            let right = if truth[i] == class { 1.0 } else { 0.0 };
            right + f64::from(u32::try_from(hash(class, i) % 17).expect("a small number")) / 8.0
        });
        (Scores { values }, truth)
    }

    proptest! {
        #[test]
        fn the_curve_is_what_a_dense_sweep_counts(
            seed in 0_u64..1000, known in 1_usize..5, unseen in 1_usize..5, instances in 1_usize..40,
        ) {
            let (scores, truth) = batch(seed, known, unseen, instances);
            let curve = Curve::new(&scores, known, &truth);
            // Sixteenths: every margin, and a point between any two.
            let sweep: Vec<SeenUnseen> =
                (-64..=64).map(|step| counted(&scores, known, &truth, f64::from(step) / 16.0)).collect();
            for (step, counted) in (-64..=64).zip(&sweep) {
                let found = curve.at(f64::from(step) / 16.0);
                prop_assert!((found.seen - counted.seen).abs() < 1e-12);
                prop_assert!((found.unseen - counted.unseen).abs() < 1e-12);
                prop_assert!((found.harmonic - counted.harmonic).abs() < 1e-12);
            }
            let area: f64 = sweep
                .windows(2)
                .map(|two| (two[1].unseen - two[0].unseen) * (two[0].seen + two[1].seen) / 2.0)
                .sum();
            prop_assert!((curve.area() - area).abs() < 1e-12, "{} {area}", curve.area());
            let highest = sweep.iter().map(|point| point.harmonic).fold(0.0, f64::max);
            prop_assert!((curve.best_harmonic() - highest).abs() < 1e-12);
        }

        #[test]
        fn a_larger_bias_never_raises_the_accuracy_on_known_classes_nor_lowers_the_other(seed in 0_u64..1000) {
            let (scores, truth) = batch(seed, 4, 3, 30);
            let curve = Curve::new(&scores, 4, &truth);
            let falls = |two: &[SeenUnseen]| two[1].seen <= two[0].seen && two[1].unseen >= two[0].unseen;
            prop_assert!(curve.points().windows(2).all(falls));
            prop_assert!(curve.breakpoints().windows(2).all(|two| two[0] < two[1]));
            let (first, last) = (curve.points()[0], curve.points()[curve.points().len() - 1]);
            prop_assert_eq!((first.unseen.to_bits(), last.seen.to_bits()), (0, 0));
        }
    }

    #[test]
    fn the_harmonic_mean_is_that_of_the_two_accuracies() {
        let found = SeenUnseen::new(0.6, 0.3);
        assert!((1.0 / found.harmonic - f64::midpoint(1.0 / 0.6, 1.0 / 0.3)).abs() < 1e-12);
        assert_eq!(SeenUnseen::new(0.0, 0.0).harmonic, 0.0);
        assert_eq!(SeenUnseen::new(0.9, 0.0).harmonic, 0.0);
    }

    #[test]
    fn perfect_scores_have_the_whole_area_and_no_test_instances_none() {
        let scores = Scores { values: Mat::from_fn(4, 4, |class, i| if class == i { 1.0 } else { 0.0 }) };
        assert_eq!(Curve::new(&scores, 2, &[0, 1, 2, 3]).area(), 1.0);
        let empty = Scores { values: Mat::from_fn(4, 0, |_, _| 0.0) };
        let curve = Curve::new(&empty, 2, &[]);
        assert_eq!((curve.area(), curve.at(0.0)), (0.0, SeenUnseen::default()));
    }
}
