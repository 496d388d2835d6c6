//! Simplex codes, `sse`, `jlse` and `kdica` against NumPy, SciPy and scikit-learn (`data/methods_similarity.py`).

use bidilel::settings::Settings;
use bidilel::{Candidates, FittedMethod, Method, Silent, ZeroShotMethod};
use bidilel_math::simplex;

use crate::methods::narrow;
use crate::support::{Golden, close};

#[test]
fn simplex_codes_are_those_of_quadratic_programming() {
    let task = narrow();
    let all = task.semantics.vectors().expect("vectors");
    let found = simplex::codes(all.subcols(0, task.known.len()), all, 0.05, &Silent).expect("codes");
    close(found.as_ref(), Golden::read("methods_similarity").columns("codes").as_ref(), 1e-6, "codes");
}

#[test]
fn scores_are_those_of_independent_implementations() {
    let golden = Golden::read("methods_similarity");
    let task = narrow();
    // Weights of `sse` come from similarities in single precision and end where their gradient is small, as logistic
    // regression does; `jlse` is solved directly. The golden `kdica` is that of the dual form.
    for (name, text, tolerance) in [
        ("sse", r#"{"method": "sse", "sse_gamma": 0.05, "sse_lambda": 0.02}"#, 1e-3),
        (
            "sse-relu",
            r#"{"method": "sse", "sse_variant": "relu", "sse_gamma": 0.05, "sse_lambda": 0.02}"#,
            1e-3,
        ),
        (
            "jlse",
            r#"{"method": "jlse", "jlse_gamma": 0.05, "jlse_atoms": 4, "jlse_code_ridge": 0.3, "jlse_pairs": 0.5,
                "jlse_lambda": 0.7, "jlse_rounds": 4}"#,
            1e-6,
        ),
        (
            "kdica",
            r#"{"method": "kdica", "kdica_balance": 0.6, "kdica_ridge": 0.02, "kdica_dim": 4, "logistic_ridge": 0.1}"#,
            1e-4,
        ),
    ] {
        let settings: Settings = serde_json::from_str(text).expect("settings");
        let fitted = Method::from_settings(&settings, 0).fit(&task, &Silent).expect(text);
        let found = fitted.score(task.test.prepared(), Candidates::All).expect(text).values;
        close(found.as_ref(), golden.columns(name).as_ref(), tolerance, text);
    }
}
