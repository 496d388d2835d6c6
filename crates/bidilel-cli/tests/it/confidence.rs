//! `fit --calibrate`, `predict --reject` and `--coverage`, `evaluate --calibrate` and `--open-set`.

use std::collections::BTreeMap;

use crate::support::{Folder, bidilel};

fn fitted(folder: &Folder, extra: &[&str]) -> String {
    let model = folder.beside("model.safetensors");
    let ran = bidilel(&[&["fit", &folder.data(), "--dim", "20", "--out", &model], extra].concat());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    model
}

fn features(folder: &Folder) -> String {
    folder.file("cnn.npy").to_str().expect("a plain path").to_owned()
}

fn rows(arguments: &[&str]) -> Vec<serde_json::Value> {
    let ran = bidilel(&[&["predict"], arguments, &["--format", "json"]].concat()).json();
    ran.as_array().expect("rows").clone()
}

#[test]
fn a_calibrated_model_predicts_the_same_labels_with_probabilities() {
    let folder = Folder::generated();
    let features = features(&folder);
    let plain = bidilel(&["predict", &fitted(&folder, &[]), &features]).stdout;
    assert_eq!(plain.lines().next(), Some("index,label,distance"));
    let model = fitted(&folder, &["--calibrate=2"]);
    let sure = bidilel(&["predict", &model, &features]).stdout;
    assert_eq!(sure.lines().next(), Some("index,label,distance,probability"));
    for (plain, sure) in plain.lines().zip(sure.lines()).skip(1) {
        let (before, probability) = sure.rsplit_once(',').expect("cells");
        assert_eq!(before, plain);
        let probability: f64 = probability.parse().expect("a number");
        assert!((0.2..=1.0).contains(&probability), "of the best of five classes: {probability}");
    }
    // All classes of an instance share one probability.
    let mut sums = BTreeMap::new();
    for row in rows(&[&model, &features, "--top", "5"]) {
        let probability = row["probability"].as_f64().expect("a number");
        *sums.entry(row["index"].as_u64().expect("an index")).or_insert(0.0) += probability;
    }
    assert!(sums.values().all(|sum: &f64| (sum - 1.0).abs() < 1e-9));
    let text = bidilel(&["predict", &model, &features, "--format", "text"]).stdout;
    assert_eq!(text.lines().next(), Some("   index   distance  probability  label"));
}

#[test]
fn the_same_calibration_for_any_number_of_threads() {
    let folder = Folder::generated();
    let bytes = |threads: &str| {
        std::fs::read(fitted(&folder, &["--calibrate", "--threads", threads])).expect("a model")
    };
    assert_eq!(bytes("1"), bytes("2"));
}

#[test]
fn rejected_instances_have_no_label_and_more_are_rejected_at_a_higher_rate() {
    let folder = Folder::generated();
    let features = features(&folder);
    let model = fitted(&folder, &["--calibrate"]);
    let rejected = |rate: &str, by: &[&str]| {
        let rows = rows(&[&[model.as_str(), &features, "--reject", rate, "--top", "2"], by].concat());
        let is_out = |row: &&serde_json::Value| row["label"].is_null();
        let out = rows.iter().filter(is_out).count();
        let indices: std::collections::BTreeSet<u64> =
            rows.iter().map(|row| row["index"].as_u64().expect("an index")).collect();
        assert_eq!(rows.len(), 2 * indices.len() - out, "one row where it is none of these");
        out
    };
    assert_eq!(rejected("0", &[]), 0);
    for by in [&[][..], &["--reject-by", "score"], &["--reject-by", "margin"]] {
        let counts = ["0.05", "0.3", "0.9"].map(|rate| rejected(rate, by));
        assert!(counts.is_sorted() && counts[2] > counts[0], "{by:?} {counts:?}");
    }
    let csv = bidilel(&["predict", &model, &features, "--reject", "0.9"]).stdout;
    assert!(csv.lines().any(|line| line.split(',').nth(1) == Some("")), "an empty label");
    let text = bidilel(&["predict", &model, &features, "--reject", "0.9", "--format", "text"]).stdout;
    assert!(text.contains("(none of these)"), "{text}");
    let out = folder.beside("rejected.parquet");
    let ran = bidilel(&["predict", &model, &features, "--reject", "0.9", "--coverage", "0.8", "--out", &out]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let table = bidilel_data::container::Container::open(out.as_ref()).expect("a Parquet file");
    let probabilities = table.array(Some("probability")).expect("probabilities").to_matrix();
    assert!(probabilities.col_as_slice(0).iter().all(|p| *p > 0.0));
}

#[test]
fn prediction_sets_are_the_best_classes_and_grow_with_the_coverage() {
    let folder = Folder::generated();
    let features = features(&folder);
    let model = fitted(&folder, &["--calibrate"]);
    let best: Vec<String> = rows(&[&model, &features]).iter().map(|row| row["label"].to_string()).collect();
    let mut before = 0;
    for coverage in ["0.3", "0.9", "0.99"] {
        let rows = rows(&[&model, &features, "--coverage", coverage]);
        assert!(rows.iter().all(|row| row["in_set"] == true));
        assert!(rows.len() >= best.len() && rows.len() >= before, "{coverage}");
        before = rows.len();
        let mut firsts = rows.iter().filter({
            let mut last = None;
            move |row| last.replace(row["index"].clone()) != Some(row["index"].clone())
        });
        assert!(
            best.iter().all(|label| format!("{}", firsts.next().expect("an instance")["label"]) == *label)
        );
    }
    let more = rows(&[&model, &features, "--coverage", "0.3", "--top", "5"]);
    assert_eq!(more.len(), 5 * best.len());
    assert!(more.iter().any(|row| row["in_set"] == false) && more[0]["in_set"] == true);
}

#[test]
fn what_only_a_calibrated_model_can_answer_says_how_to_get_one() {
    let folder = Folder::generated();
    let features = features(&folder);
    let plain = fitted(&folder, &[]);
    for option in [["--reject", "0.1"], ["--coverage", "0.9"]] {
        let ran = bidilel(&[&["predict", &plain, &features], &option[..]].concat());
        assert!(ran.error().contains("calibrated model"), "{}", ran.stderr);
        assert!(ran.stderr.contains("hint: fit it again with `fit --calibrate`"), "{}", ran.stderr);
    }
    let model = fitted(&folder, &["--calibrate"]);
    let other = ["--post", "structured"];
    let ran = bidilel(&[&["predict", &model, &features, "--reject", "0.1"], &other[..]].concat());
    assert!(ran.error().contains("refiners"), "{}", ran.stderr);
    let ran = bidilel(&[&["predict", &model, &features], &other[..]].concat());
    assert_eq!(ran.stdout.lines().next(), Some("index,label,distance"));
    assert!(ran.stderr.contains("calibrated with other refiners"), "{}", ran.stderr);
    for wrong in [["--reject", "1"], ["--reject", "-0.1"], ["--coverage", "0"], ["--coverage", "1.5"]] {
        let ran = bidilel(&[&["predict", &model, &features], &wrong[..]].concat());
        assert!(ran.usage().contains("expected a share"), "{}", ran.stderr);
    }
    let ran = bidilel(&["predict", &model, &features, "--reject-by", "score"]);
    assert!(ran.usage().contains("required") && ran.stderr.contains("--reject <RATE>"), "{}", ran.stderr);
}

#[test]
fn a_model_with_refiners_is_calibrated_with_them() {
    let folder = Folder::generated();
    let model = fitted(&folder, &["--calibrate", "--post", "self-training"]);
    let ran = bidilel(&["predict", &model, &features(&folder), "--reject", "0.5"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(ran.stdout.lines().next(), Some("index,label,distance,probability"));
}

#[test]
fn evaluate_measures_calibration_coverage_and_unknowns() {
    let folder = Folder::generated();
    let data = folder.data();
    let plain = bidilel(&["evaluate", &data, "--format", "json"]).json();
    assert!(["calibration", "coverage", "open_set"].iter().all(|key| plain.get(key).is_none()));
    let all =
        ["--calibrate=2", "--coverage", "0.8", "--open-set", "--open-set-draws", "3", "--reject", "0.2"];
    let found = bidilel(&[&["evaluate", &data, "--format", "json"], &all[..]].concat()).json();
    assert_eq!(found["accuracy"], plain["accuracy"]);
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    let calibration = &found["calibration"];
    assert_eq!(calibration["folds"], 2);
    assert!(number(&calibration["temperature"]) > 0.0);
    assert!(number(&calibration["nll"]["after"]) < number(&calibration["nll"]["before"]));
    for bins in ["bins", "bins_before"] {
        let bins = calibration[bins].as_array().expect("bins");
        let instances: u64 = bins.iter().map(|bin| bin["instances"].as_u64().expect("a count")).sum();
        let tested = found["classes"].as_array().expect("classes").iter();
        assert_eq!(bins.len(), 15);
        assert_eq!(instances, tested.map(|class| class["instances"].as_u64().expect("a count")).sum::<u64>());
    }
    let coverage = &found["coverage"];
    assert_eq!((number(&coverage["wanted"]), number(&coverage["candidates"])), (0.8, 5.0));
    assert!((1.0..=5.0).contains(&number(&coverage["mean_size"])));
    let open = &found["open_set"];
    assert_eq!((open["draws"].as_u64(), number(&open["rejection"]["rate"])), (Some(3), 0.2));
    for key in ["auroc", "fpr95", "area", "accuracy"] {
        assert!((0.0..=1.0).contains(&number(&open[key])), "{key}");
    }
    let by = open["by"].as_str().expect("a signal");
    assert_eq!(open["auroc"], open[by]["auroc"]);
    let curve = open["curve"].as_array().expect("a curve");
    let rates: Vec<f64> = curve.iter().map(|point| number(&point["correct_rate"])).collect();
    assert!(curve.len() == 101 && rates.is_sorted());
    assert!((rates[100] - number(&open["accuracy"])).abs() < 1e-9, "everything accepted");
    let text = bidilel(&[&["evaluate", &data], &all[..]].concat()).stdout;
    for part in
        ["calibration error", "probability %", "for 80 % coverage", "AUROC", "for 20.0 % false alarms"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    let other =
        bidilel(&["evaluate", &data, "--method", "eszsl", "--coverage", "0.9", "--format", "json"]).json();
    assert_eq!(other["calibration"]["folds"], 3, "coverage implies calibration, for any method");
    let refused = bidilel(&["evaluate", &data, "--reject", "0.1"]);
    assert!(
        refused.usage().contains("required") && refused.stderr.contains("--open-set"),
        "{}",
        refused.stderr
    );
}
