//! `bidilel reproduce` over several divisions of the classes, with a part of the data, and with other data than published.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::reproduce::{cell, parent, written};
use crate::support::{Folder, bidilel};

/// Seven divisions that the dataset does not have, and a published number over thirty.
const DIVIDED: &str = r#"title = "Divided"
stub = ["label"]
head = ["dataset", "semantic"]

[searches.few]
settings = { method = "rr" }
grid = { rr_ridge = [0.1, 10.0] }

[datasets.data]
title = "Generated"
folds = 1

[datasets.data.splits.some]
title = "Generated (20/5)"
draw = { trials = 7, unseen = 5 }
get = "the divisions of somebody"

[[rows]]
label = "default"
settings = { method = "rr" }

[[rows]]
label = "searched"
settings = { method = "rr" }
search = "few"

[[columns]]
dataset = "data:some"
visual = "cnn"
semantic = "attributes"

[published]
trials = 30
columns = ["data:some/cnn/attributes"]
[published.rows]
"default" = ["99.0 ± 0.4"]
"#;

/// The first few of five candidates.
const SELECTED: &str = r#"title = "Selected"
stub = ["label"]
head = ["dataset", "semantic"]
settings = { method = "rr" }

[datasets.data]
title = "Generated"
folds = 1

[datasets.data.splits.some]
draw = { trials = 2, unseen = 5 }

[select]
neighbors = 3
most = 4
candidates = ["cnn", "motion", "still", "depth", "sound"]

[[rows]]
label = "1"
first = 1

[[rows]]
label = "3"
first = 3

[[rows]]
label = "4"
first = 4

[[columns]]
dataset = "data:some"
semantic = "attributes"

[curves]
of = "rows"
x = "visual representations"
"#;

fn notes(table: &Value) -> Vec<&str> {
    table["notes"].as_array().expect("notes").iter().map(|note| note.as_str().expect("a note")).collect()
}

#[test]
fn a_cell_over_many_divisions_is_what_evaluate_has_over_the_same_ones() {
    let folder = Folder::generated();
    let (mine, data) = (written(&folder, DIVIDED), parent(&folder));
    let words = ["reproduce", &mine, "--data", &data, "--seed", "3"];
    let table = bidilel(&[&words[..], &["--format", "json"]].concat()).json();
    let drawn = ["--random-splits", "7", "--random-unseen", "5", "--seed", "3", "--format", "json"];
    let alone = bidilel(&[&["evaluate", &folder.data(), "--method", "rr"], &drawn[..]].concat()).json();
    let default = cell(&table, 0, 0);
    let runs = |result: &Value, name: &str| -> Vec<(String, f64)> {
        let run = |run: &Value| {
            (run[name].as_str().expect("a trial").to_owned(), run["per_class"].as_f64().expect("accuracy"))
        };
        result["runs"].as_array().expect("runs").iter().map(run).collect()
    };
    let ours = runs(default, "trial");
    assert_eq!((ours.len(), &ours[6].0[..]), (7, "random:6"));
    assert_eq!(ours, runs(&alone, "split"));
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value}"));
    assert!((number(&default["value"]) - number(&alone["summary"]["mean"])).abs() < 1e-12);
    assert!((number(&default["spread"]) - number(&alone["summary"]["standard_error"])).abs() < 1e-12);
    assert!(number(&default["spread"]) > 0.0);
    assert_eq!((&default["over"], &default["published"]["trials"]), (&"trials".into(), &30.into()));
    assert!(number(&default["p_value"]) < 0.05);
    let choices = cell(&table, 1, 0)["choices"].as_array().expect("choices");
    assert_eq!(choices.len(), 7);
    assert!((0..7).all(|i| choices[i]["trial"] == ours[i].0[..]), "each division has its own choice");
    assert!(choices.iter().all(|choice| choice["settings"]["rr_ridge"].is_number() && choice["folds"] == 1));
    let text = bidilel(&words).stdout;
    for line in [
        "± standard error over trials",
        "Welch's test over trials",
        "Generated (20/5): 7 divisions drawn with seed 3",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn of_a_few_divisions_nothing_is_tested() {
    let folder = Folder::generated();
    let mine = written(&folder, DIVIDED);
    let words = ["reproduce", &mine, "--data", &parent(&folder), "--format", "json", "--splits"];
    for (count, over) in [("1", Value::from("classes")), ("5", Value::Null), ("6", Value::from("trials"))] {
        let table = bidilel(&[&words[..], &[count]].concat()).json();
        let default = cell(&table, 0, 0);
        assert_eq!((&default["over"], default["p_value"].is_number()), (&over, !over.is_null()), "{count}");
        assert!(default["difference"].is_number(), "{default}");
    }
}

#[test]
fn stopped_within_a_trial_it_goes_on_to_the_same_bytes() {
    let folder = Folder::generated();
    let (mine, data) = (written(&folder, DIVIDED), parent(&folder));
    let make = |out: &str, resume: &[&str]| {
        bidilel(&[&["reproduce", &mine, "--data", &data, "--out", out, "--format", "json"], resume].concat())
    };
    let whole = folder.beside("whole");
    let first = make(&whole, &[]);
    assert_eq!(first.status, 0, "{}", first.stderr);
    let journal = fs::read_to_string(Path::new(&whole).join("journal.jsonl")).expect("a journal");
    let lines: Vec<&str> = journal.lines().collect();
    // Head and machine; in each trial a choice that is given, 2 scores with their choice, and 2 runs.
    assert_eq!(lines.len(), 2 + 7 * 6, "{journal}");
    for kept in [2 + 6 + 1, 2 + 6 + 3, 2 + 3 * 6 + 5] {
        let part = folder.beside(&format!("part-{kept}"));
        fs::create_dir(&part).expect("a folder");
        fs::write(Path::new(&part).join("journal.jsonl"), lines[..kept].join("\n") + "\n").expect("a file");
        assert_eq!(make(&part, &["--resume"]).stdout, first.stdout, "after {kept} lines");
    }
}

#[test]
fn divisions_that_are_not_those_of_the_experiment_are_told() {
    let folder = Folder::generated();
    let mine = written(&folder, DIVIDED);
    let words = ["reproduce", &mine, "--data", &parent(&folder), "--splits", "2", "--folds", "0"];
    let made = || bidilel(&[&words[..], &["--format", "json"]].concat()).json();
    let drawn = made();
    let note = notes(&drawn).into_iter().find(|note| note.starts_with("Generated (20/5)")).expect("a note");
    assert!(note.contains("7 divisions drawn with seed 0, not those that the experiment asks for"), "{note}");
    assert!(note.contains("get the divisions of somebody") && note.contains("[split.some]"), "{note}");
    // The same name with another number of trials.
    folder.edit("dataset.toml", |text| text + "\n[split.some]\nfile = \"random-splits.npy\"\n");
    let other = made();
    let note = notes(&other).into_iter().find(|note| note.starts_with("Generated (20/5)")).expect("a note");
    assert!(note.contains("the dataset has") && note.ends_with("the experiment asks for 7"), "{note}");
    let there =
        note.split_once("the dataset has ").and_then(|(_, rest)| rest.split(' ').next()).expect("a number");
    fs::write(&mine, DIVIDED.replace("trials = 7", &format!("trials = {there}"))).expect("a file");
    let same = made();
    assert!(!notes(&same).iter().any(|note| note.starts_with("Generated (20/5)")), "{:?}", notes(&same));
}

#[test]
fn candidates_that_are_not_there_are_named_and_what_needs_them_is_missing() {
    let folder = Folder::generated();
    folder.edit("dataset.toml", |text| text + "\n[visual.still]\nfile = \"cnn.npy\"\n");
    let mine = written(&folder, SELECTED);
    let words = ["reproduce", &mine, "--data", &parent(&folder), "--format", "json"];
    let table = bidilel(&words).json();
    for row in [0, 1] {
        let there = cell(&table, row, 0);
        assert_eq!((&there["status"], &there["substitute"]), (&"measured".into(), &true.into()), "{there}");
        assert_eq!(there["runs"].as_array().map(Vec::len), Some(2), "{there}");
    }
    assert_eq!(cell(&table, 2, 0)["status"], "missing", "{}", cell(&table, 2, 0));
    let missing = table["missing"].to_string();
    assert!(missing.contains("[visual.depth]") && missing.contains("[visual.sound]"), "{missing}");
    assert!(!missing.contains("[visual.motion]"), "{missing}");
    assert!(notes(&table).contains(&"§ Generated: selected from 3 of 5 candidates"), "{:?}", notes(&table));
    let order = notes(&table).into_iter().find_map(|note| note.split_once("order in the first trial: "));
    let mut order: Vec<&str> = order.expect("an order").1.split(", ").collect();
    assert_eq!(order.len(), 3, "{order:?}");
    order.sort_unstable();
    assert_eq!(order, ["cnn", "motion", "still"]);
    // Where all are there, nothing is marked; more than all are the file's mistake.
    fs::write(&mine, SELECTED.replace(", \"depth\", \"sound\"", "")).expect("a file");
    let table = bidilel(&words).json();
    assert_eq!(
        (&cell(&table, 1, 0)["substitute"], &cell(&table, 2, 0)["status"]),
        (&false.into(), &"failed".into())
    );
    assert!(!notes(&table).iter().any(|note| note.contains("selected from")), "{:?}", notes(&table));
}

#[test]
fn representations_of_another_size_than_the_published_ones_are_marked() {
    let folder = Folder::generated();
    let sized = |visual: &str, semantic: &str| {
        let catalog = format!(
            "[datasets.data.visual.cnn]\ntitle = \"GoogLeNet\"\ndim = {visual}\n\n\
             [datasets.data.semantic.attributes]\ntitle = \"WV\"\ndim = {semantic}\n\n[[rows]]"
        );
        let mine = written(&folder, &DIVIDED.replacen("[[rows]]", &catalog, 1));
        let words = ["reproduce", &mine, "--data", &parent(&folder), "--splits", "1", "--folds", "0"];
        bidilel(&[&words[..], &["--format", "json"]].concat()).json()
    };
    let table = sized("1024", "300000");
    assert_eq!(cell(&table, 0, 0)["substitute"], true);
    let size = |name: &str, published: &str| {
        let begin = format!("§ Generated: `{name}` has ");
        let note = notes(&table).into_iter().find_map(|note| note.strip_prefix(&begin)).expect("a note");
        assert!(note.ends_with(&format!(" features, the published {published}")), "{note}");
        note.split(' ').next().expect("a number").replace(',', "")
    };
    let (visual, semantic) = (size("cnn", "GoogLeNet 1,024"), size("attributes", "WV 300,000"));
    let same = sized(&visual, &semantic);
    assert_eq!(cell(&same, 0, 0)["substitute"], false, "{:?}", notes(&same));
}

#[test]
fn every_dataset_of_the_paper_has_a_stand_in_with_its_divisions() {
    let folder = Folder::generated();
    let text = "title = \"All\"\nstub = [\"label\"]\nhead = [\"dataset\"]\n\n\
        [[rows]]\nlabel = \"rr\"\nsettings = { method = \"rr\" }\n\n\
        [[columns]]\ndataset = \"cub\"\nvisual = \"vgg19\"\nsemantic = \"att\"\n\n\
        [[columns]]\ndataset = \"ucf101:51-50\"\nvisual = \"c3d\"\nsemantic = \"att\"\n\n\
        [[columns]]\ndataset = \"ucf101:81-20\"\nvisual = \"mbh\"\nsemantic = \"wv\"\n\n\
        [[columns]]\ndataset = \"hmdb51:26-25\"\nvisual = \"gist3d\"\nsemantic = \"wv\"\n";
    let mine = written(&folder, text);
    let small = ["--stand-ins", "--scale", "0.02", "--folds", "0", "--splits", "2"];
    let table = bidilel(&[&["reproduce", &mine, "--format", "json"], &small[..]].concat()).json();
    let runs = |column: usize| cell(&table, 0, column)["runs"].as_array().map_or(0, Vec::len);
    assert_eq!([0, 1, 2, 3].map(runs), [1, 2, 2, 2], "{}", table["rows"]);
    let data = table["manifest"]["data"].as_array().expect("datasets");
    let sizes: Vec<_> = data.iter().map(|one| (one["name"].as_str(), one["classes"].as_u64())).collect();
    assert_eq!(
        sizes,
        [("cub", 200), ("hmdb51", 51), ("ucf101", 101)].map(|(name, count)| (Some(name), Some(count)))
    );
    assert!(notes(&table)[0].contains("stand-ins"), "{:?}", notes(&table));
    assert!(
        !notes(&table).iter().any(|note| note.contains("drawn with") || note.contains('§')),
        "{:?}",
        notes(&table)
    );
}

#[test]
fn values_that_are_only_drawn_are_in_the_curve_and_not_chosen() {
    let folder = Folder::generated();
    let curves = "[curves]\nof = \"search\"\nsettings = [\"rr_ridge\"]\n\n[[rows]]";
    let text = DIVIDED.replacen("[[rows]]", curves, 1);
    let made = |grid: &str| {
        let mine = written(&folder, &text.replace("grid = { rr_ridge = [0.1, 10.0] }", grid));
        let words = ["reproduce", &mine, "--data", &parent(&folder), "--splits", "1", "--format", "json"];
        bidilel(&words).json()
    };
    let chosen =
        |table: &Value| cell(table, 1, 0)["choices"][0]["settings"]["rr_ridge"].as_f64().expect("a number");
    let all = made("grid = { rr_ridge = [1e-3, 10.0, 1e9] }");
    let best = chosen(&all);
    let others = [1e-3_f64, 10.0, 1e9].into_iter().filter(|value| value.to_bits() != best.to_bits());
    let others =
        others.map(|value| format!("{value:e}").replacen('e', ".0e", 1)).collect::<Vec<_>>().join(", ");
    let drawn = made(&format!("grid = {{ rr_ridge = [{others}] }}\ndrawn = {{ rr_ridge = [{best:?}] }}"));
    assert!((chosen(&drawn) - best).abs() > 1e-6, "the best of all is only drawn");
    assert_eq!(drawn["figures"], all["figures"], "the same points");
    assert_eq!(drawn["figures"][0]["series"][0]["points"].as_array().map(Vec::len), Some(3));
}
