//! Expectation maximization (EM): initialization by k-means, then steps that never decrease the likelihood.

use faer::{Mat, MatRef};

use super::{Expectation, Mixture, Statistics};
use crate::{Error, Observer, Result, kmeans, scatter};

/// k-means iterations of the initialization; more of them change little.
const INIT_ITERATIONS: usize = 20;
/// Added to the soft count of every component, so that an empty one is not a division by zero.
const MIN_SOFT_COUNT: f64 = 10.0 * f64::EPSILON;
/// Lower bound of the variance of a dimension, as a fraction of the largest, when the floor is derived from it: the floor must be
/// positive.
const MIN_VARIANCE_FRACTION: f64 = 1e-6;

/// Stopping criteria.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Maximum number of EM steps.
    pub max_iterations: usize,
    /// Stop when a step increases the mean log-likelihood by less.
    pub tolerance: f64,
}

/// A fitted mixture with its likelihoods.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The mixture.
    pub mixture: Mixture,
    /// Mean log-likelihood of the initial mixture and after every step; the last is that of the fitted mixture.
    pub log_likelihoods: Vec<f64>,
    /// Whether the last step was below the tolerance.
    pub converged: bool,
}

/// The smallest variance to allow per dimension: a fraction of the variance of all points.
pub fn variance_floor(points: MatRef<'_, f64>, fraction: f64) -> Vec<f64> {
    let variances = variances(points);
    let largest = variances.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    variances.iter().map(|variance| fraction * variance.max(MIN_VARIANCE_FRACTION * largest)).collect()
}

/// Initialization: the mixture of the clusters of k-means, itself initialized by k-means++ from `seed`.
///
/// # Errors
/// [`Error::Parameter`] where there are fewer distinct points than components.
pub fn init(
    points: MatRef<'_, f64>,
    components: usize,
    floor: &[f64],
    seed: u64,
    watch: &dyn Observer,
) -> Result<Mixture> {
    let centers = kmeans::plus_plus(points, components, seed, watch)?;
    let clusters = kmeans::kmeans(points, centers, INIT_ITERATIONS, watch)?;
    let dim = points.nrows();
    let mut sums = Statistics::zeros(scatter::mean(points), components);
    for (x, &cluster) in points.col_iter().zip(&clusters.assignment) {
        sums.soft_counts[cluster] += 1.0;
        for d in 0..dim {
            let x = x[d] - sums.origin[d];
            sums.sums[(d, cluster)] += x * x;
            sums.sums[(dim + d, cluster)] += x;
        }
    }
    sums.count = points.ncols();
    let mut mixture = maximize(&sums, floor);
    // An empty cluster keeps its center, and gets the variance of all points.
    let all = variances(points);
    for cluster in (0..components).filter(|&cluster| sums.soft_counts[cluster] < 0.5) {
        mixture.means.col_mut(cluster).copy_from(clusters.centers.col(cluster));
        for d in 0..dim {
            mixture.variances[(d, cluster)] = all[d].max(floor[d]);
        }
    }
    Ok(mixture)
}

/// Fits a mixture by EM, starting from `init`.
///
/// # Errors
/// [`Error::NotFinite`] where squares of points overflow.
pub fn fit(
    points: MatRef<'_, f64>,
    init: Mixture,
    floor: &[f64],
    settings: Settings,
    watch: &dyn Observer,
) -> Result<Fitted> {
    let mut mixture = init;
    let mut log_likelihoods: Vec<f64> = Vec::new();
    loop {
        let statistics = Expectation::new(&mixture).of(points);
        let value = statistics.log_likelihood / points.ncols() as f64;
        if !value.is_finite() {
            return Err(Error::NotFinite { what: "the likelihood of the mixture" });
        }
        let last = log_likelihoods.last().copied();
        watch.step(log_likelihoods.len(), value);
        log_likelihoods.push(value);
        let converged = last.is_some_and(|last| value - last < settings.tolerance);
        if converged || log_likelihoods.len() > settings.max_iterations {
            return Ok(Fitted { mixture, log_likelihoods, converged });
        }
        mixture = maximize(&statistics, floor);
    }
}

/// The M-step: the mixture of largest likelihood for given responsibilities.
fn maximize(statistics: &Statistics, floor: &[f64]) -> Mixture {
    let (dim, components) = (floor.len(), statistics.soft_counts.len());
    let counts: Vec<f64> = statistics.soft_counts.iter().map(|count| count + MIN_SOFT_COUNT).collect();
    let all: f64 = counts.iter().sum();
    let offset = |d: usize, k: usize| statistics.sums[(dim + d, k)] / counts[k];
    let means = Mat::from_fn(dim, components, |d, k| statistics.origin[d] + offset(d, k));
    let variances = Mat::from_fn(dim, components, |d, k| {
        (statistics.sums[(d, k)] / counts[k] - offset(d, k).powi(2)).max(floor[d])
    });
    Mixture { weights: counts.iter().map(|count| count / all).collect(), means, variances }
}

fn variances(points: MatRef<'_, f64>) -> Vec<f64> {
    let mean = scatter::mean(points);
    let mut sums = vec![0.0; points.nrows()];
    for x in points.col_iter() {
        for ((sum, x), mean) in sums.iter_mut().zip(x.iter()).zip(&mean) {
            *sum += (x - mean).powi(2);
        }
    }
    sums.iter().map(|sum| sum / points.ncols() as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;
    use crate::krylov::tests::random;

    /// Three clouds, one of them very flat.
    fn clouds() -> Mat<f64> {
        let noise = random(3, 600, 9);
        Mat::from_fn(3, 600, |d, i| {
            let spread = if i % 3 == 0 && d == 1 { 1e-7 } else { 0.5 };
            (i % 3 * (d + 1)) as f64 * 2.0 + spread * noise[(d, i)]
        })
    }

    fn run(components: usize, share: f64, max_iterations: usize) -> Fitted {
        let points = clouds();
        let floor = variance_floor(points.as_ref(), share);
        let init = init(points.as_ref(), components, &floor, 1, &Silent).expect("distinct points");
        let settings = Settings { max_iterations, tolerance: 0.0 };
        fit(points.as_ref(), init, &floor, settings, &Silent).expect("finite")
    }

    #[test]
    fn no_step_decreases_the_likelihood_even_at_the_floor() {
        for (components, share) in [(1, 1e-4), (3, 1e-4), (8, 0.3), (40, 1e-2)] {
            let found = run(components, share, 40);
            for pair in found.log_likelihoods.windows(2) {
                assert!(pair[1] >= pair[0] - 1e-10, "{components} components: {} then {}", pair[0], pair[1]);
            }
            let all: f64 = found.mixture.weights.iter().sum();
            approx::assert_relative_eq!(all, 1.0, max_relative = 1e-12);
        }
    }

    #[test]
    fn no_variance_is_below_its_floor() {
        let points = clouds();
        let floor = variance_floor(points.as_ref(), 1e-3);
        let found = run(3, 1e-3, 30).mixture;
        assert!((0..3).all(|k| (0..3).all(|d| found.variances[(d, k)] >= floor[d])));
        assert!((0..3).any(|k| found.variances[(1, k)] <= floor[1]), "the flat cloud rests on the floor");
    }

    #[test]
    fn separate_clouds_are_found() {
        let mut means: Vec<f64> = run(3, 1e-6, 50).mixture.means.row(2).iter().copied().collect();
        means.sort_by(f64::total_cmp);
        for (found, expected) in means.iter().zip([0.0, 6.0, 12.0]) {
            assert!((found - expected).abs() < 0.15, "{means:?}");
        }
    }

    /// EM is invariant to translation.
    #[test]
    fn points_far_from_zero_have_the_translated_mixture() {
        let near = run(3, 1e-4, 30).mixture;
        for shift in [1e6, -1e9] {
            let points = clouds();
            let points = Mat::from_fn(3, 600, |d, i| points[(d, i)] + shift);
            let floor = variance_floor(points.as_ref(), 1e-4);
            let init = init(points.as_ref(), 3, &floor, 1, &Silent).expect("distinct points");
            let settings = Settings { max_iterations: 30, tolerance: 0.0 };
            let far = fit(points.as_ref(), init, &floor, settings, &Silent).expect("finite").mixture;
            // The translated points themselves are rounded.
            let rounding = 1e3 * shift.abs() * f64::EPSILON;
            for k in 0..3 {
                assert!((far.weights[k] - near.weights[k]).abs() < rounding);
                for d in 0..3 {
                    assert!((far.means[(d, k)] - shift - near.means[(d, k)]).abs() < rounding);
                    assert!((far.variances[(d, k)] - near.variances[(d, k)]).abs() < rounding);
                }
            }
        }
    }

    #[test]
    fn a_constant_dimension_has_a_positive_floor() {
        let points = Mat::from_fn(2, 20, |d, i| if d == 0 { 5.0 } else { i as f64 });
        let floor = variance_floor(points.as_ref(), 1e-4);
        assert!(floor[0] > 0.0 && floor[0] < floor[1]);
        let init = init(points.as_ref(), 2, &floor, 0, &Silent).expect("distinct points");
        let settings = Settings { max_iterations: 20, tolerance: 1e-6 };
        assert!(fit(points.as_ref(), init, &floor, settings, &Silent).is_ok());
    }
}
