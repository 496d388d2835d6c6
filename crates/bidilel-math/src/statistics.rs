//! Means with their spread, and skewness.

/// Mean, spread and precision of repeated measurements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation (divisor $n - 1$); 0 for one value.
    pub standard_deviation: f64,
    /// Standard deviation over $\sqrt n$.
    pub standard_error: f64,
}

impl Summary {
    /// Summarizes `values`; all zeros for an empty slice.
    pub fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        if values.is_empty() {
            return Self { mean: 0.0, standard_deviation: 0.0, standard_error: 0.0 };
        }
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let standard_deviation = if values.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
        Self { mean, standard_deviation, standard_error: standard_deviation / count.sqrt() }
    }
}

/// Third standardized moment, with the population divisor $n$; 0 for constant values.
pub fn skewness(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let moment = |power| values.iter().map(|value| (value - mean).powi(power)).sum::<f64>() / count;
    let variance = moment(2);
    if variance > 0.0 { moment(3) / variance.powf(1.5) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;

    use super::*;

    #[test]
    fn summary_by_hand() {
        let summary = Summary::of(&[1.0, 2.0, 3.0, 4.0]);
        assert_relative_eq!(summary.mean, 2.5);
        assert_relative_eq!(summary.standard_deviation, (5.0_f64 / 3.0).sqrt());
        assert_relative_eq!(summary.standard_error, (5.0_f64 / 12.0).sqrt());
        assert_relative_eq!(Summary::of(&[7.0]).standard_error, 0.0);
    }

    #[test]
    fn skewness_is_odd_and_invariant_to_scale() {
        let values = [0.0, 1.0, 1.0, 5.0];
        let mirrored = values.map(|v| 3.0 - 2.0 * v);
        assert!(skewness(&values) > 0.5);
        assert_relative_eq!(skewness(&values), -skewness(&mirrored), epsilon = 1e-12);
        assert_relative_eq!(skewness(&[2.0, 2.0]), 0.0);
    }
}
