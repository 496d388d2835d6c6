//! Mixtures of Gaussians reach the likelihoods that scikit-learn's do.
//!
//! `golden/make_mixture.py` writes the expected numbers.

use bidilel_math::Silent;
use bidilel_math::mixture::{Mixture, Settings, fit, variance_floor};
use faer::Mat;
use serde_json::Value;

fn numbers(value: &Value) -> Vec<f64> {
    serde_json::from_value(value.clone()).expect("numbers")
}

/// Rows of the file as columns of a matrix.
fn columns(value: &Value) -> Mat<f64> {
    let rows: Vec<Vec<f64>> = serde_json::from_value(value.clone()).expect("rows of numbers");
    Mat::from_fn(rows[0].len(), rows.len(), |i, j| rows[j][i])
}

fn mixture(value: &Value) -> Mixture {
    Mixture {
        weights: numbers(&value["weights"]),
        means: columns(&value["means"]),
        variances: columns(&value["variances"]),
    }
}

#[test]
fn likelihoods_agree_for_given_mixtures_and_after_any_number_of_steps() {
    let golden: Value =
        serde_json::from_str(include_str!("golden/mixture-sklearn.json")).expect("valid JSON");
    let points = columns(&golden["points"]);
    // So low that no variance of these cases comes near it.
    let floor = variance_floor(points.as_ref(), 1e-9);
    let cases = golden["cases"].as_array().expect("a list");
    assert_eq!(cases.len(), 12);
    for case in cases {
        let expected = case["mean_log_likelihood"].as_f64().expect("a number");
        let theirs = mixture(case);
        let judged = theirs.mean_log_likelihood(points.as_ref());
        assert!((judged - expected).abs() < 1e-10, "{judged} for {expected}");

        let steps = usize::try_from(case["steps"].as_u64().expect("a count")).expect("a small count");
        let settings = Settings { max_iterations: steps, tolerance: f64::NEG_INFINITY };
        let ours =
            fit(points.as_ref(), mixture(&case["start"]), &floor, settings, &Silent).expect("finite points");
        let reached = ours.log_likelihoods.last().expect("at least the start");
        assert!((reached - expected).abs() < 1e-6, "{reached} after {steps} steps, expected {expected}");
        assert!((&ours.mixture.means - &theirs.means).norm_max() < 1e-6, "means after {steps} steps");
        assert!((&ours.mixture.variances - &theirs.variances).norm_max() < 1e-6, "after {steps} steps");
    }
}
