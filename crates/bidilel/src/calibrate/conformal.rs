//! Prediction sets that hold the right class with a wanted probability: split conformal prediction.
//!
//! The nonconformity of a class for an instance is how far its score is behind the best: $\max_j s_j - s_c$. Over $n$
//! labeled instances that are exchangeable with a new one, its $\lceil (n + 1) q \rceil$-th smallest value at the right class
//! bounds that of the new one with probability at least $q$; the set has every class within the bound. It always has the
//! best class, grows where classes are close to each other, and needs no temperature.
//!
//! Unseen classes are not exchangeable with held-out known ones, and instances of one class are more alike than those of
//! two: the guarantee is one for mixtures, and what it is worth on a dataset must be measured there.
//!
//! # References
//! V. Vovk, A. Gammerman and G. Shafer, *Algorithmic learning in a random world*, 2005.
//! A. Angelopoulos and S. Bates, *A gentle introduction to conformal prediction*, 2021.

use super::sample::Sample;
use super::temperature::Labeled;
use crate::recognize::Scores;

/// How far the score of a class is behind the best of an instance.
pub fn nonconformity(column: &[f64], class: usize) -> f64 {
    column.iter().copied().fold(f64::NEG_INFINITY, f64::max) - column[class]
}

/// The nonconformities of the right classes of labeled scores.
pub fn nonconformities(sets: &[Labeled<'_>]) -> Sample {
    let of = |(scores, truth): &Labeled<'_>| -> Vec<f64> {
        let one = |(i, &class): (usize, &usize)| nonconformity(scores.values.col_as_slice(i), class);
        truth.iter().enumerate().map(one).collect()
    };
    Sample::new(sets.iter().flat_map(of).collect())
}

/// The prediction set of an instance, best first: the classes whose nonconformity is within the bound.
pub fn prediction_set(scores: &Scores, instance: usize, bound: f64) -> Vec<usize> {
    let best = scores.top(instance, scores.classes());
    let within =
        |&&(class, _): &&(usize, f64)| nonconformity(scores.values.col_as_slice(instance), class) <= bound;
    best.iter().take_while(within).map(|&(class, _)| class).collect()
}

#[cfg(test)]
mod tests {
    use faer::Mat;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Instances of one distribution, whose scores favor the right class by as much as noise does others.
    fn draws(instances: usize, random: &mut ChaCha8Rng) -> (Scores, Vec<usize>) {
        let truth: Vec<usize> = (0..instances).map(|_| random.random_range(0..8)).collect();
        let value = |class, i: usize| random.random::<f64>() + if class == truth[i] { 0.4 } else { 0.0 };
        (Scores { values: Mat::from_fn(8, instances, value) }, truth)
    }

    fn covered(scores: &Scores, truth: &[usize], bound: f64) -> usize {
        (0..truth.len()).filter(|&i| prediction_set(scores, i, bound).contains(&truth[i])).count()
    }

    #[test]
    fn new_instances_are_covered_as_often_as_was_asked_and_not_much_oftener() {
        // Each of the rounds calibrates anew on few instances: the law is one for the mean over calibrations.
        let mut random = ChaCha8Rng::seed_from_u64(11);
        for wanted in [0.5, 0.8, 0.9] {
            let (rounds, size, tested) = (400, 39, 25);
            let mut found = 0;
            for _ in 0..rounds {
                let (scores, truth) = draws(size, &mut random);
                let bound = nonconformities(&[(&scores, &truth)]).bound(wanted);
                let (scores, truth) = draws(tested, &mut random);
                found += covered(&scores, &truth, bound);
            }
            let share = f64::from(u32::try_from(found).unwrap()) / (rounds * tested) as f64;
            // Coverage is beta distributed given a calibration, with a variance of about q (1 - q) / (n + 2).
            let noise = (wanted * (1.0 - wanted) / (rounds as f64) * (1.0 / 41.0 + 1.0 / 25.0)).sqrt();
            assert!(share >= wanted - 4.0 * noise, "{wanted}: {share} {noise}");
            assert!(share <= wanted + 1.0 / 40.0 + 4.0 * noise + 0.01, "{wanted}: {share} {noise}");
        }
    }

    #[test]
    fn every_class_is_in_the_set_that_its_nonconformity_allows_and_no_other() {
        let mut random = ChaCha8Rng::seed_from_u64(12);
        let (scores, truth) = draws(60, &mut random);
        for bound in [0.0, 0.1, 0.3, 1.0, f64::INFINITY] {
            for instance in 0..truth.len() {
                let set = prediction_set(&scores, instance, bound);
                let column = scores.values.col_as_slice(instance);
                let best = column.iter().copied().fold(f64::MIN, f64::max);
                for (class, &score) in column.iter().enumerate() {
                    assert_eq!(set.contains(&class), best - score <= bound);
                }
                assert_eq!(set[0], scores.labels()[instance], "never empty, best first");
            }
        }
    }

    #[test]
    fn a_wider_coverage_never_has_smaller_sets() {
        let mut random = ChaCha8Rng::seed_from_u64(13);
        let (scores, truth) = draws(200, &mut random);
        let sample = nonconformities(&[(&scores, &truth)]);
        let sizes: Vec<usize> = (1..100)
            .map(|percent| prediction_set(&scores, 7, sample.bound(f64::from(percent) / 100.0)).len())
            .collect();
        assert!(sizes.is_sorted(), "{sizes:?}");
    }

    #[test]
    fn too_few_labeled_instances_give_the_set_of_all_classes() {
        let mut random = ChaCha8Rng::seed_from_u64(14);
        let (scores, truth) = draws(5, &mut random);
        let bound = nonconformities(&[(&scores, &truth)]).bound(0.9);
        assert_eq!(prediction_set(&scores, 0, bound).len(), 8);
    }
}
