//! Support vector regression predicts what scikit-learn's does.
//!
//! `golden/make_svr.py` writes the expected numbers.

use bidilel_math::svr::{Form, Kernel, ResolvedKernel, Svr};
use faer::Mat;
use serde_json::Value;

fn index_u32(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn rows(value: &Value) -> Vec<Vec<f64>> {
    serde_json::from_value(value.clone()).expect("rows of numbers")
}

/// Rows of the file as rows of a matrix.
fn matrix(value: &Value) -> Mat<f64> {
    let rows = rows(value);
    Mat::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j])
}

#[test]
fn predictions_agree_in_both_forms_and_kernels() {
    let golden: Value = serde_json::from_str(include_str!("golden/svr-sklearn.json")).expect("valid JSON");
    let (points, tests) = (matrix(&golden["points"]), matrix(&golden["tests"]));
    let targets = matrix(&golden["targets"]);
    let mut worst = 0.0_f64;
    for case in golden["cases"].as_array().expect("a list") {
        let kernel = if case["kernel"] == "rbf" { Kernel::default() } else { Kernel::Linear };
        let kernel = kernel.resolve(points.transpose()).expect("finite points");
        if let ResolvedKernel::Rbf { gamma } = kernel {
            approx::assert_relative_eq!(gamma, index_u32(&golden["gamma"]), max_relative = 1e-12);
        }
        let value = index_u32(&case["value"]);
        let form =
            if case["form"] == "nu" { Form::Nu { nu: value } } else { Form::Epsilon { epsilon: value } };
        let svr = Svr { form, c: index_u32(&case["c"]), ..Svr::default() };
        let train = kernel.matrix(points.transpose(), points.transpose());
        let columns = kernel.matrix(points.transpose(), tests.transpose());
        let machines = svr.fit_all(train.as_ref(), targets.as_ref()).expect("a valid problem");
        for (machine, expected) in machines.iter().zip(rows(&case["predictions"])) {
            for (column, expected) in columns.col_iter().zip(expected) {
                worst = worst.max((machine.predict(column.iter().copied()) - expected).abs());
            }
        }
    }
    assert!(worst < 1e-4, "largest difference {worst:e}");
}
