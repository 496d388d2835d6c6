//! How good a recognition is: accuracies, confusions, hubness, stress; how honest its probabilities are, and how well
//! it tells instances of no candidate class.
//!
//! ```
//! use bidilel::{Mat, Scores, metrics};
//!
//! // Distances of three instances to two classes.
//! let distances = [[0.1, 0.2, 0.9], [0.5, 0.1, 0.3]];
//! let scores = Scores::from_distances(Mat::from_fn(2, 3, |class, i| distances[class][i]));
//! let truth = [0, 0, 1];
//! assert_eq!(scores.labels(), [0, 1, 1]);
//! let accuracy = metrics::accuracy(&scores.labels(), &truth, 2);
//! assert_eq!(accuracy.per_class, 0.75);
//! assert_eq!(metrics::top_k(&scores, &truth, 2).per_class, 1.0);
//! ```

mod confidence;
mod open_set;

use serde::{Deserialize, Serialize};

use bidilel_math::statistics::skewness;

pub use confidence::{
    RELIABILITY_BINS, ReliabilityBin, brier, calibration_error, negative_log_likelihood, reliability,
};
pub use open_set::{
    OpenSetPoint, auroc, correct_rate_at, false_positive_rate, open_set_area, open_set_curve,
};

use crate::recognize::Scores;
pub use crate::top_down::stress;

/// Share of instances recognized, all together and as the mean over classes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// Mean of the classes' own accuracies: every class counts the same. The paper's figure.
    pub per_class: f64,
    /// Share of all instances: every instance counts the same.
    pub per_image: f64,
}

/// Accuracy of predicted labels. Classes without an instance do not count.
pub fn accuracy(predicted: &[usize], truth: &[usize], classes: usize) -> Accuracy {
    let confusion = confusion(predicted, truth, classes);
    let shares: Vec<f64> = class_accuracies(&confusion).into_iter().flatten().collect();
    let right: usize = (0..classes).map(|class| confusion[class][class]).sum();
    Accuracy {
        per_class: shares.iter().sum::<f64>() / shares.len().max(1) as f64,
        per_image: right as f64 / truth.len().max(1) as f64,
    }
}

/// `confusion[truth][predicted]` counts instances.
pub fn confusion(predicted: &[usize], truth: &[usize], classes: usize) -> Vec<Vec<usize>> {
    let mut counts = vec![vec![0; classes]; classes];
    predicted.iter().zip(truth).for_each(|(&predicted, &truth)| counts[truth][predicted] += 1);
    counts
}

/// Accuracy within every class; `None` for a class without an instance.
pub fn class_accuracies(confusion: &[Vec<usize>]) -> Vec<Option<f64>> {
    let share = |(class, row): (usize, &Vec<usize>)| {
        let total: usize = row.iter().sum();
        (total > 0).then(|| row[class] as f64 / total as f64)
    };
    confusion.iter().enumerate().map(share).collect()
}

/// Accuracy when the right class may be anywhere among the `k` nearest; the nearest alone for a `k` of 0.
pub fn top_k(scores: &Scores, truth: &[usize], k: usize) -> Accuracy {
    let classes = scores.classes();
    // An instance whose class is among the first k counts as recognized, any other as its first guess.
    let predicted: Vec<usize> = truth
        .iter()
        .enumerate()
        .map(|(instance, &truth)| {
            let best = scores.top(instance, k.max(1));
            if best.iter().any(|&(class, _)| class == truth) {
                truth
            } else {
                best.first().map_or(truth, |b| b.0)
            }
        })
        .collect();
    accuracy(&predicted, truth, classes)
}

/// $N_k$ of every class: how many instances have it among their `k` nearest.
pub fn occurrences(scores: &Scores, k: usize) -> Vec<usize> {
    let mut counts = vec![0; scores.classes()];
    for instance in 0..scores.instances() {
        scores.top(instance, k).iter().for_each(|&(class, _)| counts[class] += 1);
    }
    counts
}

/// Skewness of $N_k$, the number of instances that have a class among their `k` nearest.
///
/// A large positive value means hubs: classes that are near to everything (Radovanović et al. 2010).
pub fn hubness(scores: &Scores, k: usize) -> f64 {
    let counts: Vec<f64> = occurrences(scores, k).into_iter().map(|count| count as f64).collect();
    skewness(&counts)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use faer::Mat;

    use approx::assert_relative_eq;

    use super::*;
    use crate::recognize::Latent;

    #[test]
    fn per_class_weighs_classes_and_per_image_weighs_images() {
        let scores = accuracy(&[0, 0, 0, 1], &[0, 0, 0, 1], 3);
        assert_relative_eq!(scores.per_class, 1.0);
        let scores = accuracy(&[0, 0, 0, 0], &[0, 0, 0, 1], 2);
        assert_relative_eq!(scores.per_class, 0.5);
        assert_relative_eq!(scores.per_image, 0.75);
    }

    #[test]
    fn top_k_never_falls_with_k_and_ends_at_one() {
        let points = Mat::from_fn(3, 40, |i, j| ((j * 7 + i * 11) % 13) as f64);
        let embedding = Mat::from_fn(3, 5, |i, j| ((j * 5 + i * 3) % 9) as f64);
        let scores = Latent { points: Arc::new(points), embedding, spaces: 1 }.scores();
        let truth: Vec<usize> = (0..40).map(|i| i % 5).collect();
        let all: Vec<f64> = (1..=5).map(|k| top_k(&scores, &truth, k).per_class).collect();
        assert!(all.windows(2).all(|pair| pair[0] <= pair[1]), "{all:?}");
        assert_relative_eq!(all[4], 1.0);
        assert_relative_eq!(all[0], accuracy(&scores.labels(), &truth, 5).per_class);
    }

    #[test]
    fn a_class_that_attracts_everything_is_a_hub() {
        let points = Mat::from_fn(1, 30, |_, j| j as f64 / 100.0);
        let hub = Mat::from_fn(1, 6, |_, c| if c == 0 { 0.1 } else { 10.0 + c as f64 });
        assert!(hubness(&Latent { points: Arc::new(points), embedding: hub, spaces: 1 }.scores(), 1) > 1.5);
    }
}
