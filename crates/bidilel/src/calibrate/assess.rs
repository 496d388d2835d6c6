//! How good a calibration turns out to be on test instances.

use super::calibration::{Asked, Calibration};
use super::conformal::prediction_set;
use crate::error::Result;
use crate::metrics::{
    RELIABILITY_BINS, ReliabilityBin, brier, calibration_error, negative_log_likelihood, reliability,
};
use crate::recognize::Scores;

/// Coverage where nobody says.
pub const COVERAGE: f64 = 0.9;

/// The figures of probabilities at one temperature.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbabilityQuality {
    /// Temperature of the softmax.
    pub temperature: f64,
    /// Expected calibration error.
    pub calibration_error: f64,
    /// Negative log-likelihood.
    pub negative_log_likelihood: f64,
    /// Brier score.
    pub brier: f64,
    /// Reliability diagram.
    pub bins: Vec<ReliabilityBin>,
}

/// The figures of prediction sets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coverage {
    /// Share of the instances whose set was to hold the right class.
    pub wanted: f64,
    /// Share whose set does.
    pub measured: f64,
    /// The same as the mean over classes.
    pub per_class: f64,
    /// Mean number of classes in a set.
    pub mean_size: f64,
    /// How many classes there are to choose from.
    pub candidates: usize,
}

/// A calibration on test instances.
#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    /// How many folds the calibration was measured on.
    pub folds: usize,
    /// Probabilities of the scores as they are: at a temperature of 1.
    pub before: ProbabilityQuality,
    /// Probabilities at the temperature of the calibration.
    pub after: ProbabilityQuality,
    /// Prediction sets.
    pub coverage: Coverage,
}

impl ProbabilityQuality {
    /// The figures of the softmax at a temperature.
    pub fn of(scores: &Scores, truth: &[usize], temperature: f64) -> Self {
        let bins = reliability(scores, truth, temperature, RELIABILITY_BINS);
        Self {
            temperature,
            calibration_error: calibration_error(&bins),
            negative_log_likelihood: negative_log_likelihood(scores, truth, temperature),
            brier: brier(scores, truth, temperature),
            bins,
        }
    }
}

impl Calibration {
    /// Compares probabilities and prediction sets with the truth.
    ///
    /// # Errors
    /// [`Error::Setting`](crate::Error::Setting) for a coverage that is no share.
    pub fn assess(&self, scores: &Scores, truth: &[usize], coverage: f64) -> Result<Assessment> {
        let answering = self.answering(&Asked { coverage: Some(coverage), ..Asked::default() })?;
        Ok(Assessment {
            folds: self.folds,
            before: ProbabilityQuality::of(scores, truth, 1.0),
            after: ProbabilityQuality::of(scores, truth, self.temperature),
            coverage: Coverage::of(scores, truth, coverage, answering.set_bound.unwrap_or(f64::INFINITY)),
        })
    }
}

impl Coverage {
    /// The figures of the prediction sets within a bound.
    fn of(scores: &Scores, truth: &[usize], wanted: f64, bound: f64) -> Self {
        // Covered instances and all instances of every class.
        let mut counts = vec![(0_usize, 0_usize); scores.classes()];
        let mut size = 0;
        for (instance, &class) in truth.iter().enumerate() {
            let set = prediction_set(scores, instance, bound);
            counts[class].0 += usize::from(set.contains(&class));
            counts[class].1 += 1;
            size += set.len();
        }
        let covered: usize = counts.iter().map(|count| count.0).sum();
        let tested = counts.iter().filter(|count| count.1 > 0);
        let shares: Vec<f64> = tested.map(|&(covered, all)| covered as f64 / all as f64).collect();
        let instances = truth.len().max(1) as f64;
        Self {
            wanted,
            measured: covered as f64 / instances,
            per_class: shares.iter().sum::<f64>() / shares.len().max(1) as f64,
            mean_size: size as f64 / instances,
            candidates: scores.classes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;
    use faer::Mat;

    use super::*;
    use crate::calibrate::HeldOutScores;

    #[test]
    fn coverage_counts_instances_and_classes() {
        // Nonconformities of the right class: 0, 0, 0.5 for the first class, 2 for the second.
        let values = [[1.0, 1.0, 0.5, 2.0], [0.0, 0.0, 1.0, 0.0], [-5.0; 4]];
        let scores = Scores { values: Mat::from_fn(3, 4, |class, i| values[class][i]) };
        let found = Coverage::of(&scores, &[0, 0, 0, 1], 0.9, 1.0);
        assert_relative_eq!(found.measured, 0.75);
        assert_relative_eq!(found.per_class, 0.5);
        // Sets of 2, 2, 2 and 1 classes.
        assert_relative_eq!(found.mean_size, 7.0 / 4.0);
        assert_eq!(found.candidates, 3);
    }

    #[test]
    fn instances_that_were_calibrated_on_are_covered_and_likelier_than_before() {
        let truth: Vec<usize> = (0..100).map(|i| i % 4).collect();
        let value = |class: usize, i: usize| {
            let noise = ((i * 37 + class * 11) % 17) as f64 / 170.0;
            noise + if class == truth[i] { 0.05 } else { 0.0 }
        };
        let scores = Scores { values: Mat::from_fn(4, 100, value) };
        let fold = HeldOutScores {
            scores: scores.clone(),
            known: 0,
            truth: truth.clone(),
            classes: vec![0, 1, 2, 3],
        };
        let found = Calibration::of(&[fold]).assess(&scores, &truth, 0.9).expect("a share");
        assert!(found.coverage.measured >= 0.9, "{:?}", found.coverage);
        assert!(found.after.negative_log_likelihood < found.before.negative_log_likelihood);
        assert!(found.after.calibration_error < found.before.calibration_error);
        assert_relative_eq!(found.before.temperature, 1.0);
    }
}
