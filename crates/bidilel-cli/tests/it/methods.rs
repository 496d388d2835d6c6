//! Methods other than the paper's go through the same commands, and older model files still open.

use std::path::Path;

use crate::support::{Folder, bidilel};

/// `index,label,distance` lines.
fn predictions(text: &str) -> Vec<(String, String, f64)> {
    let line = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        (cells[0].to_owned(), cells[1].to_owned(), cells[2].parse().expect("a distance"))
    };
    text.lines().skip(1).map(line).collect()
}

#[test]
fn model_files_of_older_formats_open_and_predict_what_they_did() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/data");
    let file = |name: String| data.join(name).to_str().expect("a plain path").to_owned();
    for format in [3, 4] {
        let model = file(format!("format-{format}.safetensors"));
        let features = file(format!("format-{format}-features.npy"));
        let ran = bidilel(&["predict", &model, &features, "--post", "none", "--top", "2"]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let expected = std::fs::read_to_string(data.join(format!("format-{format}.csv"))).expect("predictions");
        let (expected, found) = (predictions(&expected), predictions(&ran.stdout));
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!((&found.0, &found.1), (&expected.0, &expected.1));
            assert!((found.2 - expected.2).abs() < 1e-9, "format {format}: {found:?} is not {expected:?}");
        }
        // Refiners and descriptions are still there.
        assert_eq!(bidilel(&["predict", &model, &features]).status, 0);
        assert_eq!(bidilel(&["class", "list", &model]).status, 0);
    }
}

#[test]
fn a_compared_method_is_evaluated_tuned_saved_and_used_for_prediction() {
    let folder = Folder::generated();
    let data = folder.data();
    let result = bidilel(&["evaluate", &data, "--method", "eszsl", "--format", "json"]).json();
    assert_eq!(result["method"]["name"], "eszsl");
    assert_eq!(result["method"]["eszsl_gamma"], 1.0);
    assert!(result["method"].get("bottom_up").is_none() && result["stress"].is_null(), "{result}");
    let accuracy = result["accuracy"]["per_class"].as_f64().expect("a number");
    assert!(accuracy > 1.3 * result["chance"].as_f64().expect("a number"), "{accuracy}");
    assert!(result["checks"].as_array().expect("checks").iter().any(|check| check["stage"] == "solve"));

    let (best, model) = (folder.beside("best.toml"), folder.beside("model.safetensors"));
    let grid = ["--eszsl-gamma", "0.1,10", "--eszsl-lambda", "0.1,10", "--strategy", "grid"];
    let tuned = bidilel(
        &[&["tune", &data, "--method", "eszsl", "--out", &best, "--format", "json"], &grid[..]].concat(),
    )
    .json();
    assert_eq!(tuned["trials"].as_array().expect("trials").len(), 4);
    assert!(tuned["trials"][0]["settings"]["eszsl_gamma"].is_number(), "{tuned}");
    let saved = std::fs::read_to_string(&best).expect("settings");
    assert!(saved.contains("eszsl_gamma") && saved.contains("eszsl_lambda"), "{saved}");
    assert!(!saved.contains("alpha") && !saved.contains("neighbors"), "{saved}");

    let ran = bidilel(&["fit", &data, "--settings", &best, "--out", &model]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let exported = folder.beside("predictions.csv");
    let ran = bidilel(&["evaluate", &data, "--settings", &best, "--predictions", &exported]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let features = folder.file("cnn.npy");
    let ran = bidilel(&["predict", &model, features.to_str().expect("a plain path")]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let found = predictions(&ran.stdout);
    let exported = std::fs::read_to_string(&exported).expect("predictions");
    assert!(exported.lines().count() > 1);
    for line in exported.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let instance: usize = cells[2].parse().expect("an instance");
        assert_eq!(found[instance].1, cells[4], "{line}");
    }
    // Classes are listed by their descriptions alone; what needs a latent space says so.
    let list = bidilel(&["class", "list", &model, "--format", "json"]).json();
    let near = &list["classes"][0]["nearest_known"][0];
    assert!(near["semantic_distance"].is_number() && near["latent_distance"].is_null(), "{list}");
    let points = folder.beside("points.npy");
    let error = bidilel(&["embed", &model, features.to_str().expect("a plain path"), "--out", &points]);
    assert!(error.error().contains("no latent space"), "{}", error.stderr);
}

#[test]
fn a_transductive_method_is_evaluated_and_tuned_but_not_saved() {
    let folder = Folder::generated();
    let data = folder.data();
    let model = folder.beside("model.safetensors");
    for method in ["mr", "uda", "tmv-hlp"] {
        let result = bidilel(&["evaluate", &data, "--method", method, "--format", "json"]).json();
        assert_eq!(result["method"]["name"], method);
        let accuracy = result["accuracy"]["per_class"].as_f64().expect("a number");
        assert!(accuracy > 1.3 * result["chance"].as_f64().expect("a number"), "{method}: {accuracy}");
        let ran = bidilel(&["fit", &data, "--method", method, "--out", &model]);
        assert!(ran.error().contains(&format!("method `{method}` is transductive")), "{}", ran.stderr);
        assert!(ran.stderr.contains("hint: `evaluate` and `compare` run it"), "{}", ran.stderr);
        assert!(!Path::new(&model).exists(), "{method}");
    }
    let grid = ["--tmv-spread", "0.5,0.9", "--tmv-power", "4", "--tmv-ridge", "0.1", "--strategy", "grid"];
    let tuned =
        bidilel(&[&["tune", &data, "--method", "tmv-hlp", "--format", "json"], &grid[..]].concat()).json();
    assert_eq!(tuned["trials"].as_array().expect("trials").len(), 2, "{tuned}");
}
