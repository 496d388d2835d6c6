//! The compared methods against NumPy, SciPy and scikit-learn (`data/methods.py`): scores of all classes.

use bidilel::settings::Settings;
use bidilel::task::{Samples, Task};
use bidilel::{Candidates, FittedMethod, Method, Silent, ZeroShotMethod};
use faer::Mat;

use crate::support::{Golden, close, task};

/// The golden task in single precision.
pub(crate) fn narrow() -> Task {
    let Task { split, views, train, test, test_seen: _, known, unseen, semantics, shared } = task("att");
    let narrow = |samples: Samples<f64>| {
        let Samples { features, labels } = samples;
        #[expect(clippy::cast_possible_truncation, reason = "that is the point")]
        let features = Mat::from_fn(features.nrows(), features.ncols(), |i, j| features[(i, j)] as f32);
        Samples { features, labels }
    };
    let (train, test) = (narrow(train), narrow(test));
    Task { split, views, train, test, test_seen: None, known, unseen, semantics, shared }
}

#[test]
fn scores_are_those_of_independent_implementations() {
    let golden = Golden::read("methods");
    let task = narrow();
    // Logistic regression ends where its gradient is small; the others are solved directly.
    for (text, tolerance) in [
        (r#"{"method": "eszsl", "eszsl_gamma": 0.3, "eszsl_lambda": 0.2}"#, 1e-9),
        (r#"{"method": "rr", "rr_ridge": 0.5}"#, 1e-9),
        (r#"{"method": "rr-reverse", "rr_ridge": 0.5}"#, 1e-9),
        (r#"{"method": "sae", "sae_lambda": 0.4}"#, 1e-9),
        (r#"{"method": "dap", "logistic_ridge": 0.1}"#, 1e-4),
        (r#"{"method": "iap", "logistic_ridge": 0.1}"#, 1e-4),
        (r#"{"method": "conse", "logistic_ridge": 0.1, "conse_classes": 3}"#, 1e-4),
    ] {
        let settings: Settings = serde_json::from_str(text).expect("settings");
        let method = Method::from_settings(&settings, 0);
        let fitted = method.fit(&task, &Silent).expect(text);
        let found = fitted.score(task.test.prepared(), Candidates::All).expect(text).values;
        let expected = golden.columns(&method.name().to_string());
        close(found.as_ref(), expected.as_ref(), tolerance, text);
    }
}
