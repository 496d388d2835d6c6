//! The same data gives the same result, byte for byte, whatever container it lies in.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::support::bidilel;

/// A dataset folder whose features lie in `file` under `key`.
fn folder(file: &str, key: Option<&str>) -> TempDir {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/formats");
    let folder = TempDir::new().expect("a temporary folder");
    for name in [file, "labels.npy", "attributes.npy", "classes.txt"] {
        fs::copy(fixtures.join(name), folder.path().join(name)).expect("a fixture");
    }
    let key = key.map_or(String::new(), |key| format!("key = \"{key}\"\n"));
    let manifest = format!(
        "name = \"same\"\nclasses = \"classes.txt\"\nlabels = \"labels.npy\"\n\
         [visual.x]\nfile = \"{file}\"\n{key}\
         [semantic.attributes]\nfile = \"attributes.npy\"\nmetric = \"euclidean\"\n\
         [split.standard]\nunseen = [\"class_2\", \"class_5\", \"class_7\"]\n"
    );
    fs::write(folder.path().join("dataset.toml"), manifest).expect("writable");
    folder
}

fn result(file: &str, key: Option<&str>) -> String {
    let folder = folder(file, key);
    let path = folder.path().to_str().expect("a plain path");
    let mut result =
        bidilel(&["evaluate", path, "--neighbors", "5", "--dim", "5", "--format", "json"]).json();
    result["timings"].take();
    result.to_string()
}

#[test]
fn results_do_not_depend_on_the_container() {
    let expected = result("features.npy", None);
    for file in [
        "features.npz",
        "features-v5.mat",
        "features-v73.mat",
        "features.h5",
        "features.safetensors",
        "features.parquet",
    ] {
        assert_eq!(result(file, Some("x")), expected, "{file}");
        assert_eq!(result(file, None), expected, "{file}: the only array needs no key");
    }
    assert_eq!(result("features.csv", None), expected, "features.csv");
}

#[test]
fn a_key_that_is_not_there_lists_those_that_are() {
    for file in
        ["features.npz", "features-v5.mat", "features-v73.mat", "features.safetensors", "features.parquet"]
    {
        let folder = folder(file, Some("y"));
        let error = bidilel(&["evaluate", folder.path().to_str().expect("plain")]).error().to_owned();
        assert!(error.contains(file) && error.contains("`y`") && error.contains("`x`"), "{error}");
    }
}

#[test]
fn a_converted_dataset_gives_the_same_result() {
    let source = folder("features-v5.mat", Some("x"));
    let target = source.path().join("native");
    let (from, to) = (source.path().to_str().expect("plain"), target.to_str().expect("plain"));
    let made = bidilel(&["convert", from, to, "--format", "json"]).json();
    assert_eq!((made["instances"].as_u64(), made["classes"].as_u64()), (Some(72), Some(9)));
    let run = |path: &str| {
        let mut result = bidilel(&["evaluate", path, "--dim", "5", "--format", "json"]).json();
        result["timings"].take();
        result.to_string()
    };
    assert_eq!(run(from), run(to));
}

#[test]
fn inspect_describes_and_finds_nothing_wrong_with_sound_data() {
    let folder = folder("features.npy", None);
    let path = folder.path().to_str().expect("plain");
    let found = bidilel(&["inspect", path, "--format", "json"]).json();
    assert_eq!((found["instances"].as_u64(), found["classes"].as_u64()), (Some(72), Some(9)));
    assert_eq!(found["visual"]["x"]["dimensions"], 12);
    assert_eq!(found["splits"]["standard"]["unseen"], 3);
    let errors =
        found["problems"].as_array().expect("a list").iter().filter(|p| p["severity"] == "error").count();
    assert_eq!(errors, 0, "{found}");
    let text = bidilel(&["inspect", path]).stdout;
    assert!(text.contains("norms of the rows of x") && text.contains("0 errors"), "{text}");
}

#[test]
fn inspect_exits_with_one_on_errors_and_still_describes_the_rest() {
    let folder = folder("features.npy", None);
    fs::write(folder.path().join("attributes.npy"), b"nothing of the kind").expect("writable");
    let ran = bidilel(&["inspect", folder.path().to_str().expect("plain"), "--format", "json"]);
    assert_eq!(ran.status, 1);
    let found: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON all the same");
    assert_eq!(found["visual"]["x"]["dimensions"], 12);
    let problem = &found["problems"][0];
    assert_eq!(problem["severity"], "error");
    assert!(problem["where"].as_str().expect("a place").contains("attributes.npy"), "{problem}");
}

#[test]
fn predict_reads_any_container() {
    let source = folder("features.npy", None);
    let path = source.path().to_str().expect("plain");
    let model = source.path().join("model");
    let model = model.to_str().expect("plain");
    assert_eq!(bidilel(&["fit", path, "--dim", "5", "--out", model]).status, 0);
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/formats");
    let predict = |file: &str| {
        let ran = bidilel(&["predict", model, fixtures.join(file).to_str().expect("plain")]);
        assert_eq!(ran.status, 0, "{file}: {}", ran.stderr);
        ran.stdout
    };
    let expected = predict("features.npy");
    for file in ["features.npz", "features-v5.mat", "features-v73.mat", "features.parquet", "features.csv"] {
        assert_eq!(predict(file), expected, "{file}");
    }
}
