//! How honest probabilities are: reliability diagram, expected calibration error, negative log-likelihood, Brier score.
//!
//! Probabilities are the softmax of scores at a temperature. A reliability diagram sorts instances by the probability of
//! their best class into $M$ bins of equal width and compares, in each, its mean with the share that was right. With
//! $n_m$ of $n$ instances in a bin the expected calibration error is
//! $\sum_m \frac{n_m}{n} \lvert \mathrm{acc}_m - \mathrm{conf}_m \rvert$.
//!
//! ```
//! use bidilel::{Mat, Scores, metrics};
//!
//! // Ten times the same two scores: the first class has a probability of 0.8, and is right half the time.
//! let scores = Scores { values: Mat::from_fn(2, 10, |class, _| if class == 0 { 4_f64.ln() } else { 0.0 }) };
//! let truth = [0, 1, 0, 1, 0, 1, 0, 1, 0, 1];
//! let bins = metrics::reliability(&scores, &truth, 1.0, 10);
//! assert!((metrics::calibration_error(&bins) - 0.3).abs() < 1e-12);
//! ```
//!
//! # References
//! M. Naeini, G. Cooper and M. Hauskrecht, *Obtaining well calibrated probabilities using Bayesian binning*, 2015.
//! C. Guo, G. Pleiss, Y. Sun and K. Weinberger, *On calibration of modern neural networks*, 2017.

use serde::{Deserialize, Serialize};

use crate::recognize::Scores;

/// Bins of a reliability diagram, by default.
pub const RELIABILITY_BINS: usize = 15;

/// The instances whose best class has a probability in an interval, open at its lower end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ReliabilityBin {
    /// Lower end of the interval.
    pub lower: f64,
    /// Upper end of the interval.
    pub upper: f64,
    /// How many instances there are.
    pub instances: usize,
    /// Mean probability of their best class; none without instances.
    pub confidence: Option<f64>,
    /// Share whose best class is right; none without instances.
    pub accuracy: Option<f64>,
}

/// The reliability diagram of the softmax at a temperature, in `bins` bins of equal width.
pub fn reliability(scores: &Scores, truth: &[usize], temperature: f64, bins: usize) -> Vec<ReliabilityBin> {
    let bins = bins.max(1);
    // Instances, sum of probabilities, and how many are right.
    let mut sums = vec![(0_usize, 0.0, 0_usize); bins];
    for (instance, (&truth, best)) in truth.iter().zip(scores.labels()).enumerate() {
        let confidence = scores.log_probability(best, instance, temperature).exp();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
        let bin = ((confidence * bins as f64).ceil() as usize).clamp(1, bins) - 1;
        sums[bin].0 += 1;
        sums[bin].1 += confidence;
        sums[bin].2 += usize::from(best == truth);
    }
    let bin = |(number, (instances, confidence, right)): (usize, (usize, f64, usize))| {
        let mean = |sum: f64| (instances > 0).then(|| sum / instances as f64);
        ReliabilityBin {
            lower: number as f64 / bins as f64,
            upper: (number + 1) as f64 / bins as f64,
            instances,
            confidence: mean(confidence),
            accuracy: mean(right as f64),
        }
    };
    sums.into_iter().enumerate().map(bin).collect()
}

/// The expected calibration error of a reliability diagram.
pub fn calibration_error(bins: &[ReliabilityBin]) -> f64 {
    let total: usize = bins.iter().map(|bin| bin.instances).sum();
    let gap = |bin: &ReliabilityBin| match (bin.accuracy, bin.confidence) {
        (Some(accuracy), Some(confidence)) => bin.instances as f64 * (accuracy - confidence).abs(),
        _ => 0.0,
    };
    bins.iter().map(gap).sum::<f64>() / total.max(1) as f64
}

/// Mean of $-\log p(c \mid x)$ of the right classes.
pub fn negative_log_likelihood(scores: &Scores, truth: &[usize], temperature: f64) -> f64 {
    let of = |(instance, &class): (usize, &usize)| -scores.log_probability(class, instance, temperature);
    truth.iter().enumerate().map(of).sum::<f64>() / truth.len().max(1) as f64
}

/// Brier score: the mean of $\sum_c (p(c \mid x) - [c = z])^2$, from 0 to 2.
pub fn brier(scores: &Scores, truth: &[usize], temperature: f64) -> f64 {
    let of = |(instance, &truth): (usize, &usize)| -> f64 {
        let all = scores.probabilities(instance, temperature).into_iter().enumerate();
        all.map(|(class, p)| (p - f64::from(u8::from(class == truth))).powi(2)).sum()
    };
    truth.iter().enumerate().map(of).sum::<f64>() / truth.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;
    use faer::Mat;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Scores of uniform noise, and labels drawn from the softmax at a temperature of 1.
    fn drawn(classes: usize, instances: usize, spread: f64) -> (Scores, Vec<usize>) {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let scores =
            Scores { values: Mat::from_fn(classes, instances, |_, _| spread * random.random::<f64>()) };
        let label = |instance| {
            let mut left: f64 = random.random();
            let probabilities = scores.probabilities(instance, 1.0);
            let taken = probabilities.iter().position(|p| {
                left -= p;
                left < 0.0
            });
            taken.unwrap_or(classes - 1)
        };
        let truth = (0..instances).map(label).collect();
        (scores, truth)
    }

    #[test]
    fn figures_are_those_of_sums_over_all_instances() {
        let (scores, truth) = drawn(5, 300, 6.0);
        let temperature = 0.4;
        let (mut likelihood, mut squares) = (0.0, 0.0);
        let mut by_bin = vec![Vec::new(); 7];
        for (i, &z) in truth.iter().enumerate() {
            let terms: Vec<f64> = (0..5).map(|c| (scores.values[(c, i)] / temperature).exp()).collect();
            let p: Vec<f64> = terms.iter().map(|term| term / terms.iter().sum::<f64>()).collect();
            likelihood -= p[z].ln() / 300.0;
            squares += (0..5).map(|c| (p[c] - if c == z { 1.0 } else { 0.0 }).powi(2)).sum::<f64>() / 300.0;
            let best = (0..5).max_by(|&a, &b| p[a].total_cmp(&p[b])).unwrap();
            let bin = (0..7).find(|&m| p[best] > m as f64 / 7.0 && p[best] <= (m + 1) as f64 / 7.0).unwrap();
            by_bin[bin].push((p[best], best == z));
        }
        assert_relative_eq!(
            negative_log_likelihood(&scores, &truth, temperature),
            likelihood,
            epsilon = 1e-10
        );
        assert_relative_eq!(brier(&scores, &truth, temperature), squares, epsilon = 1e-10);
        let bins = reliability(&scores, &truth, temperature, 7);
        let mut error = 0.0;
        for (bin, own) in bins.iter().zip(&by_bin) {
            assert_eq!(bin.instances, own.len());
            let sum: f64 = own.iter().map(|(p, right)| f64::from(u8::from(*right)) - p).sum();
            error += sum.abs() / 300.0;
        }
        assert_relative_eq!(calibration_error(&bins), error, epsilon = 1e-10);
    }

    #[test]
    fn labels_that_are_drawn_from_the_probabilities_leave_only_noise() {
        let (scores, truth) = drawn(4, 20_000, 8.0);
        let error = |temperature| calibration_error(&reliability(&scores, &truth, temperature, 15));
        // The standard error of a share over more than a thousand instances per bin is below 0.015.
        assert!(error(1.0) < 0.015, "{}", error(1.0));
        assert!(error(0.2) > 0.05 && error(5.0) > 0.05, "too sure, too unsure");
    }

    #[test]
    fn certainty_is_in_the_last_bin_and_nothing_is_an_error_of_zero() {
        let sure = Scores { values: Mat::from_fn(2, 1, |class, _| [1e9, 0.0][class]) };
        let bins = reliability(&sure, &[0], 1.0, RELIABILITY_BINS);
        assert_eq!(bins[RELIABILITY_BINS - 1].instances, 1);
        assert!(negative_log_likelihood(&sure, &[1], 1.0).is_finite());
        assert_relative_eq!(calibration_error(&[]), 0.0);
        assert_eq!(bins[0].accuracy, None);
    }
}
