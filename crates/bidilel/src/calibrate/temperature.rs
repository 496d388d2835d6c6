//! The temperature of the softmax that fits labeled instances best.
//!
//! With $b = 1/T$ the negative log-likelihood $\sum_i \log \sum_c \exp(b s_{ci}) - b s_{z_i i}$ is convex: its first
//! derivative is `$\sum_i \mathrm{E}_b[s_i] - s_{z_i i}$`, its second `$\sum_i \mathrm{Var}_b[s_i]$`. Newton's method inside a
//! bracket that bisection shrinks finds the root of the first. The bracket is in units of the spread of the scores, so
//! that methods of any scale are fitted alike. Scores that say less than chance end at its lower end (nearly uniform
//! probabilities), scores that are never wrong at its upper end.
//!
//! # References
//! C. Guo, G. Pleiss, Y. Sun and K. Weinberger, *On calibration of modern neural networks*, 2017.

use crate::recognize::{Scores, log_sum};

/// The least and the largest $b$, times the standard deviation of an instance's scores.
const BRACKET: [f64; 2] = [1e-3, 1e3];
/// More than bisection needs to reach the precision of a number.
const MAX_ITERATIONS: usize = 200;
/// Relative width at which the iteration ends.
const TOLERANCE: f64 = 1e-12;

/// Labeled scores: the right candidate of every instance, by its row.
pub type Labeled<'a> = (&'a Scores, &'a [usize]);

/// The temperature with the least negative log-likelihood; 1 where no instance has different scores.
pub fn fit(sets: &[Labeled<'_>]) -> f64 {
    let Some(spread) = spread(sets) else { return 1.0 };
    let [mut lower, mut upper] = BRACKET.map(|bound| bound / spread);
    if slope(sets, lower).0 >= 0.0 {
        return 1.0 / lower;
    }
    if slope(sets, upper).0 <= 0.0 {
        return 1.0 / upper;
    }
    let mut inverse = (1.0 / spread).clamp(lower, upper);
    for _ in 0..MAX_ITERATIONS {
        let (first, second) = slope(sets, inverse);
        if first < 0.0 {
            lower = inverse;
        } else {
            upper = inverse;
        }
        let newton = inverse - first / second;
        // The root spans decades: the geometric mean halves them.
        let next = if newton > lower && newton < upper { newton } else { (lower * upper).sqrt() };
        let step = (next - inverse).abs();
        inverse = next;
        if step <= TOLERANCE * inverse || upper - lower <= TOLERANCE * upper {
            break;
        }
    }
    1.0 / inverse
}

/// Root of the mean variance of an instance's scores; none where it is no positive number.
fn spread(sets: &[Labeled<'_>]) -> Option<f64> {
    let (mut sum, mut instances) = (0.0, 0_usize);
    for (scores, truth) in sets {
        for instance in 0..truth.len() {
            let column = scores.values.col_as_slice(instance);
            let mean = column.iter().sum::<f64>() / column.len() as f64;
            sum += column.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / column.len() as f64;
        }
        instances += truth.len();
    }
    let spread = (sum / instances.max(1) as f64).sqrt();
    (spread > 0.0 && spread.is_finite()).then_some(spread)
}

/// The first and second derivative of the negative log-likelihood by the inverse temperature.
fn slope(sets: &[Labeled<'_>], inverse: f64) -> (f64, f64) {
    let (mut first, mut second) = (0.0, 0.0);
    for (scores, truth) in sets {
        for (instance, &class) in truth.iter().enumerate() {
            let column = scores.values.col_as_slice(instance);
            let log_sum = log_sum(column, 1.0 / inverse);
            // Differences from the right class keep their digits where scores are large and close.
            let (mut mean, mut square) = (0.0, 0.0);
            for score in column {
                let (p, gap) = ((inverse * score - log_sum).exp(), score - column[class]);
                mean += p * gap;
                square += p * gap * gap;
            }
            first += mean;
            second += square - mean * mean;
        }
    }
    (first, second)
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;
    use faer::Mat;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::metrics::negative_log_likelihood;

    /// Scores whose right class is `lift` higher on average, with this spread.
    fn noisy(instances: usize, lift: f64, scale: f64) -> (Scores, Vec<usize>) {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let truth: Vec<usize> = (0..instances).map(|i| i % 6).collect();
        let value = |class, i: usize| {
            scale * (5.0 + random.random::<f64>() + if class == truth[i] { lift } else { 0.0 })
        };
        (Scores { values: Mat::from_fn(6, instances, value) }, truth)
    }

    #[test]
    fn no_other_temperature_is_likelier_at_any_scale_of_the_scores() {
        let mut found = Vec::new();
        for scale in [1e-6, 1.0, 1e6] {
            let (scores, truth) = noisy(400, 0.3, scale);
            let best = fit(&[(&scores, &truth)]);
            let least = negative_log_likelihood(&scores, &truth, best);
            for step in -400..=400 {
                let other = best * 10_f64.powf(f64::from(step) / 100.0);
                assert!(least <= negative_log_likelihood(&scores, &truth, other) + 1e-12, "{best} {other}");
            }
            found.push(best / scale);
        }
        assert_relative_eq!(found[0], found[1], max_relative = 1e-6);
        assert_relative_eq!(found[2], found[1], max_relative = 1e-6);
    }

    #[test]
    fn several_sets_are_one() {
        let (scores, truth) = noisy(100, 0.3, 1.0);
        let part =
            |first: usize, count: usize| Scores { values: scores.values.subcols(first, count).to_owned() };
        let (left, right) = (part(0, 30), part(30, 70));
        let both = fit(&[(&left, &truth[..30]), (&right, &truth[30..])]);
        assert_relative_eq!(both, fit(&[(&scores, &truth)]), max_relative = 1e-9);
    }

    #[test]
    fn the_temperature_that_labels_were_drawn_with_is_found_again() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let scores = Scores { values: Mat::from_fn(5, 20_000, |_, _| random.random::<f64>()) };
        let label = |instance| {
            let mut left: f64 = random.random();
            let all = scores.probabilities(instance, 0.25);
            let taken = all.iter().position(|p| {
                left -= p;
                left < 0.0
            });
            taken.unwrap_or(4)
        };
        let truth: Vec<usize> = (0..20_000).map(label).collect();
        assert_relative_eq!(fit(&[(&scores, &truth)]), 0.25, max_relative = 0.03);
    }

    #[test]
    fn degenerate_scores_have_a_finite_temperature() {
        let flat = Scores { values: Mat::from_fn(3, 4, |_, _| 2.0) };
        assert_relative_eq!(fit(&[(&flat, &[0, 1, 2, 0])]), 1.0);
        assert_relative_eq!(fit(&[]), 1.0);
        let sure = Scores { values: Mat::from_fn(2, 2, |class, i| if class == i { 1.0 } else { 0.0 }) };
        let (never_wrong, always_wrong) = (fit(&[(&sure, &[0, 1])]), fit(&[(&sure, &[1, 0])]));
        assert!(never_wrong > 0.0 && never_wrong < 1e-2, "{never_wrong}");
        assert!(always_wrong.is_finite() && always_wrong > 1e2, "{always_wrong}");
        let probabilities = sure.probabilities(0, always_wrong);
        assert!((probabilities[0] - 0.5).abs() < 1e-2, "nearly uniform: {probabilities:?}");
    }
}
