//! Reading golden files, and the task that they describe.

use bidilel::bottom_up::{BottomUp, Locality, Slpp};
use bidilel::dataset::Metric;
use bidilel::pipeline::Pipeline;
use bidilel::semantic::{ClassSemantics, Representation};
use bidilel::task::{Samples, Shared, Task};
use bidilel::visual::Views;
use bidilel_math::distance;
use faer::{Mat, MatRef};
use serde_json::Value;

/// One golden file.
pub(crate) struct Golden(pub(crate) Value);

impl Golden {
    pub(crate) fn read(stage: &str) -> Self {
        let path = format!("{}/tests/golden/data/{stage}.json", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).expect("a golden file");
        Self(serde_json::from_str(&text).expect("valid JSON"))
    }

    /// The value at a dotted path.
    pub(crate) fn at(&self, path: &str) -> &Value {
        path.split('.').fold(&self.0, |value, key| &value[key])
    }

    pub(crate) fn number(&self, path: &str) -> f64 {
        self.at(path).as_f64().unwrap_or_else(|| panic!("{path} is no number"))
    }

    pub(crate) fn vector(&self, path: &str) -> Vec<f64> {
        floats(self.at(path))
    }

    pub(crate) fn indices(&self, path: &str) -> Vec<usize> {
        self.at(path).as_array().expect(path).iter().map(index).collect()
    }

    /// A list of rows, as one column a row.
    pub(crate) fn columns(&self, path: &str) -> Mat<f64> {
        let rows: Vec<Vec<f64>> = self.at(path).as_array().expect(path).iter().map(floats).collect();
        Mat::from_fn(rows[0].len(), rows.len(), |i, j| rows[j][i])
    }
}

pub(crate) fn floats(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|v| v.as_f64().expect("a number")).collect()
}

pub(crate) fn index(value: &Value) -> usize {
    usize::try_from(value.as_u64().expect("an index")).expect("a small index")
}

pub(crate) fn inputs() -> Golden {
    Golden::read("inputs")
}

/// Unit vectors of all nine classes.
pub(crate) fn representation(key: &str, metric: Metric, weight: f64) -> Representation {
    Representation::new(key, weight, metric, inputs().columns(key))
}

/// `att`, `wv` or `fused`, as the golden files name them.
pub(crate) fn semantics(name: &str) -> ClassSemantics {
    let gamma = inputs().number("gamma");
    let (attributes, words) = match name {
        "att" => (1.0, 0.0),
        "wv" => (0.0, 1.0),
        _ => (1.0 - gamma, gamma),
    };
    let all =
        [representation("S", Metric::Euclidean, attributes), representation("WV", Metric::Cosine, words)];
    ClassSemantics::from_representations(all.into_iter().filter(|one| one.weight > 0.0).collect(), 6)
}

/// The golden task, in double precision and without normalization of features.
pub(crate) fn task(semantic: &str) -> Task<f64> {
    let inputs = inputs();
    Task {
        split: "golden".to_owned(),
        views: Views::single("Xl", 12),
        train: Samples { features: inputs.columns("Xl"), labels: inputs.indices("yl") },
        test: Samples { features: inputs.columns("Xu"), labels: inputs.indices("yu") },
        test_seen: None,
        known: (0..6).map(|c| format!("known {c}")).collect(),
        unseen: (6..9).map(|c| format!("unseen {c}")).collect(),
        semantics: semantics(semantic),
        shared: Shared::default(),
    }
}

pub(crate) fn locality() -> Locality {
    Locality { alpha: 0.1, dim: Some(4), neighbors: 5, ..Locality::default() }
}

pub(crate) fn pipeline() -> Pipeline {
    let slpp = Slpp { locality: locality(), ..Slpp::default() };
    Pipeline { bottom_up: BottomUp::Slpp(slpp), ..Pipeline::default() }
}

/// Fails unless the largest difference is within `tolerance`.
pub(crate) fn close(found: MatRef<'_, f64>, expected: MatRef<'_, f64>, tolerance: f64, what: &str) {
    assert_eq!(found.shape(), expected.shape(), "{what}");
    let worst = (found - expected).norm_max();
    assert!(worst <= tolerance, "{what}: off by {worst:e}, allowed {tolerance:e}");
}

/// The same for matrices whose rows (latent dimensions) may have the other sign.
pub(crate) fn close_up_to_sign(
    found: MatRef<'_, f64>,
    expected: MatRef<'_, f64>,
    tolerance: f64,
    what: &str,
) {
    let aligned = Mat::from_fn(found.nrows(), found.ncols(), |i, j| {
        let agreement: f64 = found.row(i).iter().zip(expected.row(i).iter()).map(|(a, b)| a * b).sum();
        found[(i, j)] * agreement.signum()
    });
    close(aligned.as_ref(), expected, tolerance, what);
}

pub(crate) fn all_pairs(points: &Mat<f64>) -> Mat<f64> {
    distance::pairwise(points.as_ref(), points.as_ref())
}
