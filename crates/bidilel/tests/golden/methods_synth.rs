//! `sync`, `exem`, `exem-1nn` and `hat` against NumPy, SciPy and scikit-learn (`data/methods_synth.py`): scores of all
//! classes.

use bidilel::settings::Settings;
use bidilel::{Candidates, FittedMethod, Method, Silent, ZeroShotMethod};
use bidilel_math::distance::pairwise;
use bidilel_math::hierarchy::average_linkage;
use bidilel_math::svm::{Classes, one_versus_other};
use faer::Mat;

use crate::methods::narrow;
use crate::support::{Golden, close};

#[test]
fn scores_are_those_of_independent_implementations() {
    let golden = Golden::read("methods_synth");
    let task = narrow();
    let sync = r#""sync_lambda": 0.2, "sync_width": 0.1"#;
    let exem = r#""exem_gamma": 0.5, "exem_c": 2, "exem_nu": 0.6"#;
    // Machines stop early: one versus other at a gradient that is small enough for recognition (the solver itself is
    // compared below), those with margins between classes at a duality gap of 0.1 %, which by strong convexity leaves
    // weights within sqrt(2 gap / lambda), here 0.2, of the optimum.
    for (name, text, tolerance) in [
        ("sync", format!(r#"{{"method": "sync", {sync}}}"#), 2e-2),
        (
            "sync-crammer-singer",
            r#"{"method": "sync", "sync_loss": "crammer-singer", "sync_lambda": 5, "sync_width": 0.1}"#
                .to_owned(),
            2e-2,
        ),
        (
            "sync-structured",
            r#"{"method": "sync", "sync_loss": "structured", "sync_lambda": 5, "sync_width": 0.1}"#
                .to_owned(),
            5e-2,
        ),
        ("exem", format!(r#"{{"method": "exem", {sync}, {exem}}}"#), 2e-2),
        ("exem-1nn", format!(r#"{{"method": "exem-1nn", "exem_distance": "euclidean", {exem}}}"#), 1e-4),
        (
            "exem-1nn-standardized",
            format!(r#"{{"method": "exem-1nn", "exem_distance": "standardized", {exem}}}"#),
            1e-3,
        ),
        ("hat", r#"{"method": "hat", "logistic_ridge": 0.1, "hat_discount": 0.5}"#.to_owned(), 5e-4),
    ] {
        let settings: Settings = serde_json::from_str(&text).expect("settings");
        let fitted = Method::from_settings(&settings, 0).fit(&task, &Silent).expect(name);
        let found = fitted.score(task.test.prepared(), Candidates::All).expect(name).values;
        close(found.as_ref(), golden.columns(name).as_ref(), tolerance, name);
    }
}

#[test]
fn the_hierarchy_is_that_of_scipy() {
    let vectors = narrow().semantics.vectors().expect("vectors").to_owned();
    let merges = average_linkage(pairwise(vectors.as_ref(), vectors.as_ref()).as_ref());
    let expected = Golden::read("methods_synth").columns("linkage");
    assert_eq!(merges.len(), expected.ncols());
    for (merge, expected) in merges.iter().zip(expected.col_iter()) {
        let found = [merge.left as f64, merge.right as f64, merge.height, merge.size as f64];
        for (found, expected) in found.iter().zip(expected.iter()) {
            assert!((found - expected).abs() < 1e-9, "{merge:?}");
        }
    }
}

#[test]
fn machines_of_one_class_versus_the_others_are_those_of_scikit_learn() {
    // A line search on values finds no decrease below a gradient of about the root of rounding.
    let task = narrow();
    let features = task.train.features.as_ref();
    let wide = Mat::from_fn(features.nrows(), features.ncols(), |i, j| f64::from(features[(i, j)]));
    let classes = Classes { labels: &task.train.labels, count: 6, basis: None };
    let found =
        one_versus_other(features, classes, &wide * wide.transpose(), 0.2, 1e-9, &Silent).expect("a fit");
    assert!(found.converged);
    close(
        found.weights.as_ref(),
        Golden::read("methods_synth").columns("machines").as_ref(),
        1e-4,
        "weights",
    );
}
