//! `bidilel compare`: methods on the same trials.

use serde_json::Value;

use crate::support::{Folder, bidilel};

fn rows(result: &Value) -> &Vec<Value> {
    result["results"].as_array().expect("rows")
}

fn row<'a>(result: &'a Value, method: &str) -> &'a Value {
    rows(result).iter().find(|row| row["method"] == method).unwrap_or_else(|| panic!("no {method}: {result}"))
}

#[test]
fn rows_come_best_first_with_how_sure_they_are_and_what_they_cost() {
    let folder = Folder::generated();
    let methods = "rr,eszsl,eszsl:eszsl-center,bidilel,bidilel+structured";
    let result = bidilel(&["compare", &folder.data(), "--methods", methods, "--format", "json"]).json();
    let accuracies: Vec<f64> =
        rows(&result).iter().map(|row| row["per_class"].as_f64().expect("a number")).collect();
    assert_eq!(accuracies.len(), 5);
    assert!(accuracies.is_sorted_by(|a, b| a >= b), "{accuracies:?}");
    let refined = row(&result, "bidilel+structured");
    assert_eq!(refined["kind"], "transductive");
    assert_eq!(refined["settings"]["post"], serde_json::json!(["structured"]));
    for row in rows(&result) {
        let number = |key: &str| row[key].as_f64().unwrap_or_else(|| panic!("{key} in {row}"));
        let (low, high) = (row["interval"][0].as_f64().unwrap(), row["interval"][1].as_f64().unwrap());
        assert!(low <= number("per_class") && number("per_class") <= high, "{row}");
        assert!(number("seconds") > 0.0 && number("standard_error") > 0.0 && number("peak_memory") > 1e6);
    }
    // One of each kind is the best, and has nothing to be tested against.
    let untested = |kind: &str| {
        rows(&result).iter().filter(|row| row["kind"] == kind && row["p_corrected"].is_null()).count()
    };
    assert_eq!((untested("inductive"), untested("transductive")), (1, 1));
    assert_eq!((&result["over"], &result["tuned"]), (&"classes".into(), &false.into()));
    // What `evaluate` says of one of them.
    let alone = bidilel(&["evaluate", &folder.data(), "--method", "eszsl", "--format", "json"]).json();
    assert_eq!(alone["accuracy"]["per_class"], row(&result, "eszsl")["per_class"]);
}

#[test]
fn a_method_that_fails_is_one_row_and_only_all_of_them_are_a_failure() {
    let folder = Folder::generated();
    // Features and descriptions are not of one space.
    let ran = bidilel(&["compare", &folder.data(), "--methods", "cosine,rr", "--format", "json"]);
    let result = ran.json();
    let failed = rows(&result).last().expect("two rows");
    assert_eq!(failed["method"], "cosine");
    assert!(failed["error"].as_str().expect("a reason").contains("dimensions"), "{failed}");
    assert!(failed["per_class"].is_null() && row(&result, "rr")["per_class"].is_number());
    let text = bidilel(&["compare", &folder.data(), "--methods", "cosine,rr"]);
    assert!(text.stdout.contains("failed"), "{}", text.stdout);
    let alone = bidilel(&["compare", &folder.data(), "--methods", "cosine"]);
    assert!(alone.error().contains("no method could be run"), "{}", alone.stderr);
}

#[test]
fn every_trial_of_a_family_counts_and_six_of_them_are_what_tests_are_over() {
    let folder = Folder::generated();
    let result = bidilel(&[
        "compare",
        &folder.data(),
        "--methods",
        "rr,rr-reverse",
        "--split",
        "random",
        "--format",
        "json",
    ])
    .json();
    let trials = row(&result, "rr")["runs"].as_array().expect("runs").len();
    assert!(trials > 1, "{result}");
    assert_eq!(result["over"], if trials >= 6 { "splits" } else { "classes" });
}

#[test]
fn a_comparison_that_was_interrupted_goes_on_where_it_was() {
    let folder = Folder::generated();
    let (data, journal) = (folder.data(), folder.beside("journal.jsonl"));
    let tuned = ["--tune", "--trials", "2", "--format", "json", "--journal", &journal];
    let run = |methods: &str, more: &[&str]| {
        bidilel(&[&["compare", &data, "--methods", methods], &tuned[..], more].concat())
    };
    let first = run("rr", &[]).json();
    assert!(row(&first, "rr")["tuning_seconds"].as_f64().expect("it was tuned") > 0.0);
    assert!(row(&first, "rr")["settings"]["rr_ridge"].is_number(), "{first}");
    assert!(run("rr", &[]).error().contains("is there already"));
    let second = run("rr,rr-reverse", &["--resume"]).json();
    // Not a second of it was run again.
    assert_eq!(row(&second, "rr")["runs"], row(&first, "rr")["runs"]);
    assert!(row(&second, "rr-reverse")["per_class"].is_number());
    // Without the row, the scores of its settings are still there.
    let text = std::fs::read_to_string(&journal).expect("a journal");
    let scores: Vec<&str> = text.lines().filter(|line| !line.contains("\"measurement\"")).collect();
    assert!(scores.len() > 14, "{} lines", scores.len());
    std::fs::write(&journal, scores.join("\n") + "\n").expect("writable");
    let third = run("rr,rr-reverse", &["--resume"]).json();
    assert_eq!(row(&third, "rr")["per_class"], row(&first, "rr")["per_class"]);
    assert_eq!(row(&third, "rr")["settings"], row(&first, "rr")["settings"]);
    let lines = std::fs::read_to_string(&journal).expect("a journal").lines().count();
    assert_eq!(lines, scores.len() + 2, "two rows, and no score again");
    let other =
        bidilel(&[&["compare", &data, "--methods", "rr", "--seed", "1"], &tuned[..], &["--resume"]].concat());
    assert!(other.error().contains("other data or settings"), "{}", other.stderr);
    let text = std::fs::read_to_string(&journal).expect("a journal");
    let (version, earlier) = (format!("\"{} ", env!("CARGO_PKG_VERSION")), "\"0.0.0 ");
    std::fs::write(&journal, text.replacen(&version, earlier, 1)).expect("writable");
    assert!(run("rr", &["--resume"]).error().contains("or of another version"));
}

#[test]
fn tables_and_a_drawing_are_written_in_every_format() {
    let folder = Folder::generated();
    let (plot, out) = (folder.beside("bars.svg"), folder.beside("table.tex"));
    let base = ["compare", &folder.data(), "--methods", "rr,sae", "--plot", &plot, "--out", &out];
    let csv = bidilel(&[&base[..], &["--format", "csv"]].concat());
    assert_eq!(csv.status, 0, "{}", csv.stderr);
    assert_eq!(csv.stdout.lines().count(), 3);
    assert!(csv.stdout.starts_with("dataset,split,method,kind,per_class"));
    let markdown = bidilel(&[&base[..], &["--format", "markdown"]].concat()).stdout;
    assert!(markdown.contains("| rr |") && markdown.contains("95 % interval"), "{markdown}");
    assert!(std::fs::read_to_string(&out).expect("a table").contains("\\begin{tabular}"));
    let drawing = std::fs::read_to_string(&plot).expect("a drawing");
    assert!(drawing.starts_with("<svg ") && drawing.contains(">sae</text>"));
}

#[test]
fn the_number_of_threads_makes_no_difference() {
    let folder = Folder::generated();
    let figures = |threads: &str| {
        let methods = ["--methods", "inductive", "--threads", threads, "--format", "json"];
        let result = bidilel(&[&["compare", &folder.data()], &methods[..]].concat()).json();
        let figure = |row: &Value| (row["method"].to_string(), row["runs"][0]["classes"].clone());
        rows(&result).iter().map(figure).collect::<Vec<_>>()
    };
    assert_eq!(figures("1"), figures("2"));
}
