//! The transductive methods against NumPy, SciPy and scikit-learn (`data/methods_transductive.py`): scores of all classes.

use bidilel::settings::Settings;
use bidilel::{Candidates, FittedMethod, Method, Silent, ZeroShotMethod};
use bidilel_math::hypergraph::Hypergraph;

use crate::methods::narrow;
use crate::support::{Golden, close, floats, index};

#[test]
fn scores_are_those_of_independent_implementations() {
    let golden = Golden::read("methods_transductive");
    let task = narrow();
    // The golden `mr` is the kernel form, with one coefficient per instance. The lasso of `uda` ends where its optimality
    // conditions hold to seven digits.
    for (name, text, tolerance) in [
        (
            "mr",
            r#"{"method": "mr", "mr_ridge": 0.5, "mr_manifold": 0.7, "mr_neighbors": 5, "mr_self_training": 6}"#,
            1e-8,
        ),
        (
            "mr-plain",
            r#"{"method": "mr", "mr_ridge": 0.5, "mr_manifold": 2.0, "mr_neighbors": 5, "mr_self_training": 0}"#,
            1e-8,
        ),
        (
            "uda",
            r#"{"method": "uda", "uda_ridge": 0.5, "uda_sparsity": 0.05, "uda_dictionary": 0.4, "uda_prototypes": 0.3,
                "uda_rounds": 4}"#,
            1e-6,
        ),
        (
            "tmv-hlp",
            r#"{"method": "tmv-hlp", "tmv_ridge": 0.2, "tmv_power": 2.0, "tmv_neighbors": 4, "tmv_spread": 0.8,
                "tmv_self_training": 5}"#,
            1e-8,
        ),
    ] {
        let settings: Settings = serde_json::from_str(text).expect("settings");
        let fitted = Method::from_settings(&settings, 0).fit(&task, &Silent).expect(name);
        let found = fitted.score(task.test.prepared(), Candidates::All).expect(name).values;
        close(found.as_ref(), golden.columns(name).as_ref(), tolerance, name);
    }
}

#[test]
fn labels_spread_as_the_direct_solution_says() {
    let golden = Golden::read("methods_transductive");
    let edges = golden.at("hypergraph.edges").as_array().expect("edges");
    let edges = edges.iter().map(|edge| edge.as_array().expect("vertices").iter().map(index).collect());
    let weights = floats(golden.at("hypergraph.weights"));
    let edges: Vec<(Vec<usize>, f64)> = edges.zip(weights).collect();
    let labels = golden.columns("hypergraph.labels");
    let graph = Hypergraph::new(labels.ncols(), &edges).expect("a hypergraph");
    let found = graph.propagate(labels.as_ref(), 0.97, &Silent).expect("a solution");
    let expected = golden.columns("hypergraph.propagated");
    close(found.as_ref(), expected.as_ref(), 1e-10, "label propagation");
}
