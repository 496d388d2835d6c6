//! The Fisher vector of a set of points: how it would change a mixture to fit it better.
//!
//! The gradient of the mean log-likelihood with respect to means and standard deviations, divided by the
//! square root of the Fisher information (which is nearly diagonal, $w_k/\sigma_{dk}^2$ and
//! $2 w_k/\sigma_{dk}^2$, when points come from one component each):
//!
//! $$\frac{1}{n\sqrt{w_k}} \sum_i \gamma_{ik} \frac{x_{id} - \mu_{dk}}{\sigma_{dk}}, \qquad
//! \frac{1}{n\sqrt{2 w_k}} \sum_i \gamma_{ik} \Big[\frac{(x_{id} - \mu_{dk})^2}{\sigma_{dk}^2} - 1\Big].$$
//!
//! All means come first, component after component, then all deviations. The gradient of the weights, which adds
//! little, is left out, as in the paper's descriptors (24,576 = 2 x 48 x 256 features).
//!
//! # References
//! J. Sánchez, F. Perronnin, T. Mensink and J. Verbeek, *Image classification with the Fisher vector: theory and
//! practice*, 2013.

use bidilel_math::mixture::{Mixture, Statistics};

/// The Fisher vector of the points behind `statistics`, of which there is at least one; not yet normalized.
pub fn vector(mixture: &Mixture, statistics: &Statistics) -> Vec<f64> {
    let (dim, components) = (mixture.dim(), mixture.count());
    let mut vector = vec![0.0; 2 * dim * components];
    let (means, deviations) = vector.split_at_mut(dim * components);
    for k in 0..components {
        let share = statistics.soft_counts[k];
        let scale = 1.0 / (statistics.count as f64 * mixture.weights[k].sqrt());
        for d in 0..dim {
            let mean = mixture.means[(d, k)] - statistics.origin[d];
            let variance = mixture.variances[(d, k)];
            let (squares, sum) = (statistics.sums[(d, k)], statistics.sums[(dim + d, k)]);
            means[k * dim + d] = scale * (sum - share * mean) / variance.sqrt();
            let around = squares - 2.0 * mean * sum + share * mean * mean;
            deviations[k * dim + d] = scale * (around / variance - share) / std::f64::consts::SQRT_2;
        }
    }
    vector
}

#[cfg(test)]
mod tests {
    use bidilel_math::mixture::Expectation;
    use faer::Mat;

    use super::*;
    use crate::encode::testing::normals;

    fn mixture() -> Mixture {
        Mixture {
            weights: vec![0.25, 0.6, 0.15],
            means: normals(4, 3, 1),
            variances: Mat::from_fn(4, 3, |d, k| 0.4 + (2 * d + k) as f64 / 5.0),
        }
    }

    /// Mean log-likelihood, straight from the definition.
    fn log_likelihood(mixture: &Mixture, points: &Mat<f64>) -> f64 {
        let density = |i: usize, k: usize| {
            let normal = |d: usize| {
                let variance = mixture.variances[(d, k)];
                let distance = points[(d, i)] - mixture.means[(d, k)];
                (-distance * distance / (2.0 * variance)).exp() / (std::f64::consts::TAU * variance).sqrt()
            };
            mixture.weights[k] * (0..4).map(normal).product::<f64>()
        };
        let logs = (0..points.ncols()).map(|i| (0..3).map(|k| density(i, k)).sum::<f64>().ln());
        logs.sum::<f64>() / points.ncols() as f64
    }

    fn found(points: &Mat<f64>) -> Vec<f64> {
        vector(&mixture(), &Expectation::new(&mixture()).of(points.as_ref()))
    }

    #[test]
    fn it_is_the_formula_written_out() {
        let (mixture, points) = (mixture(), normals(4, 60, 2));
        let mut expected = [0.0; 24];
        for i in 0..60 {
            let density = |k: usize| {
                let term = |d: usize| {
                    let variance = mixture.variances[(d, k)];
                    -0.5 * (points[(d, i)] - mixture.means[(d, k)]).powi(2) / variance - 0.5 * variance.ln()
                };
                mixture.weights[k] * (0..4).map(term).sum::<f64>().exp()
            };
            let all: f64 = (0..3).map(density).sum();
            for k in 0..3 {
                for d in 0..4 {
                    let u = (points[(d, i)] - mixture.means[(d, k)]) / mixture.variances[(d, k)].sqrt();
                    let share = density(k) / all / 60.0 / mixture.weights[k].sqrt();
                    expected[4 * k + d] += share * u;
                    expected[12 + 4 * k + d] += share * (u * u - 1.0) / 2.0_f64.sqrt();
                }
            }
        }
        for (found, expected) in found(&points).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
        }
    }

    #[test]
    fn it_is_the_gradient_of_the_likelihood_over_the_root_of_the_information() {
        let (base, points, step) = (mixture(), normals(4, 40, 3), 1e-5);
        let found = found(&points);
        let slope = |change: &dyn Fn(&mut Mixture, f64)| {
            let at = |step: f64| {
                let mut moved = base.clone();
                change(&mut moved, step);
                log_likelihood(&moved, &points)
            };
            (at(step) - at(-step)) / (2.0 * step)
        };
        for k in 0..3 {
            for d in 0..4 {
                let (weight, deviation) = (base.weights[k], base.variances[(d, k)].sqrt());
                let by_mean = slope(&|mixture, step| mixture.means[(d, k)] += step);
                let by_deviation =
                    slope(&|mixture, step| mixture.variances[(d, k)] = (deviation + step).powi(2));
                // Fisher information of a mean and of a deviation: w / s^2 and 2 w / s^2.
                let mean = by_mean * deviation / weight.sqrt();
                let spread = by_deviation * deviation / (2.0 * weight).sqrt();
                assert!((found[4 * k + d] - mean).abs() < 1e-8, "{} for {mean}", found[4 * k + d]);
                assert!(
                    (found[12 + 4 * k + d] - spread).abs() < 1e-8,
                    "{} for {spread}",
                    found[12 + 4 * k + d]
                );
            }
        }
    }

    #[test]
    fn points_of_the_mixture_itself_have_a_vector_near_zero() {
        let base = mixture();
        let noise = normals(4, 60_000, 4);
        let owner = |i: usize| [1, 0, 1, 2, 1, 0, 1, 1, 2, 1, 0, 1, 1, 0, 2, 1, 1, 0, 1, 1][i % 20];
        let points = Mat::from_fn(4, 60_000, |d, i| {
            base.means[(d, owner(i))] + base.variances[(d, owner(i))].sqrt() * noise[(d, i)]
        });
        assert!(found(&points).iter().all(|value| value.abs() < 0.02));
        let moved = Mat::from_fn(4, 500, |d, i| points[(d, i)] + 1.0);
        assert!(found(&moved).iter().any(|value| value.abs() > 0.3));
    }
}
