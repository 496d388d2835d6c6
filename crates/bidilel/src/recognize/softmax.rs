//! Scores as probabilities: the softmax at a temperature.
//!
//! $p(c \mid x) = \exp(s_c / T) / \sum_j \exp(s_j / T)$. A small $T$ is sure of the best class, a large one of none; the
//! order of the classes does not change. [`crate::calibrate::temperature`] finds the $T$ that fits labeled instances.

use super::Scores;

impl Scores {
    /// Probabilities of the candidates for an instance; they sum to 1.
    pub fn probabilities(&self, instance: usize, temperature: f64) -> Vec<f64> {
        let column = self.values.col_as_slice(instance);
        let log_sum = log_sum(column, temperature);
        column.iter().map(|score| (score / temperature - log_sum).exp()).collect()
    }

    /// The logarithm of the probability of one candidate, which is finite where the probability underflows.
    pub fn log_probability(&self, class: usize, instance: usize, temperature: f64) -> f64 {
        let column = self.values.col_as_slice(instance);
        column[class] / temperature - log_sum(column, temperature)
    }
}

/// $\log \sum_j \exp(s_j / T)$, with the largest term taken out, so that no exponential overflows.
pub(crate) fn log_sum(column: &[f64], temperature: f64) -> f64 {
    let best = column.iter().copied().fold(f64::NEG_INFINITY, f64::max) / temperature;
    best + column.iter().map(|score| (score / temperature - best).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;
    use faer::Mat;

    use super::*;

    #[test]
    fn probabilities_sum_to_one_in_the_order_of_the_scores_at_any_scale() {
        for scale in [1e-3, 1.0, 1e6] {
            let scores =
                Scores { values: Mat::from_fn(4, 1, |class, _| scale * [0.3, -2.0, 0.1, 0.2][class]) };
            for temperature in [0.01, 1.0, 100.0] {
                let found = scores.probabilities(0, temperature);
                assert_relative_eq!(found.iter().sum::<f64>(), 1.0, epsilon = 1e-12);
                assert!(found[0] >= found[3] && found[3] >= found[2] && found[2] >= found[1], "{found:?}");
                for (class, &one) in found.iter().enumerate() {
                    assert_relative_eq!(
                        scores.log_probability(class, 0, temperature).exp(),
                        one,
                        epsilon = 1e-12
                    );
                }
            }
        }
    }

    #[test]
    fn it_is_the_formula_where_the_formula_can_be_computed() {
        let scores = Scores { values: Mat::from_fn(3, 1, |class, _| [1.0, 2.0, -0.5][class]) };
        let terms = [1.0_f64, 2.0, -0.5].map(|score| (score / 0.7).exp());
        let found = scores.probabilities(0, 0.7);
        for (term, one) in terms.iter().zip(found) {
            assert_relative_eq!(one, term / terms.iter().sum::<f64>(), epsilon = 1e-14);
        }
    }
}
