//! `--random-splits`: the same random divisions of the classes for every command and method.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::{Folder, bidilel};

/// The unseen classes of every trial of an evaluation.
fn unseen(result: &Value) -> Vec<BTreeSet<String>> {
    let names = |run: &Value| {
        let names = run["unseen"].as_array().expect("names").iter();
        names.map(|name| name.as_str().expect("a name").to_owned()).collect()
    };
    result["runs"].as_array().expect("runs").iter().map(names).collect()
}

#[test]
fn trials_are_named_counted_and_summarized_and_fewer_are_the_first_of_more() {
    let folder = Folder::generated();
    let run = |extra: &[&str]| {
        bidilel(&[&["evaluate", &folder.data(), "--method", "rr", "--format", "json"], extra].concat()).json()
    };
    let ten = run(&["--random-splits", "10", "--seed", "3"]);
    assert_eq!(ten["split"], "random");
    let drawn = serde_json::json!({"count": 10, "unseen": 5, "classes": 25, "seed": 3});
    assert_eq!(ten["random_splits"], drawn);
    assert_eq!(
        (ten["runs"][0]["split"].as_str(), ten["runs"][9]["split"].as_str()),
        (Some("random:0"), Some("random:9"))
    );
    let sets = unseen(&ten);
    assert!(sets.iter().all(|names| names.len() == 5), "as many as in the dataset's first split");
    assert_eq!(sets.iter().collect::<BTreeSet<_>>().len(), 10);
    assert!(ten["summary"]["standard_error"].as_f64().expect("a number") > 0.0);
    let three = run(&["--random-splits", "3", "--seed", "3"]);
    assert_eq!(unseen(&three)[..], sets[..3]);
    assert_eq!(three["runs"][2]["per_class"], ten["runs"][2]["per_class"]);
    assert_ne!(unseen(&run(&["--random-splits", "3", "--seed", "4"])), sets[..3]);
    let half = run(&["--random-splits", "2", "--random-unseen", "0.5"]);
    assert!(unseen(&half).iter().all(|names| names.len() == 13), "of 25, rounded");
    let text = bidilel(&["evaluate", &folder.data(), "--method", "rr", "--random-splits", "2"]).stdout;
    assert!(text.contains("split random (2 drawn with seed 0, 5 of 25 classes unseen)"), "{text}");
    let table =
        bidilel(&["evaluate", &folder.data(), "--method", "rr", "--random-splits", "2", "--format", "csv"]);
    assert!(table.stdout.contains("random:1"), "{}", table.stdout);
    // The dataset's own family has the same name, and is another one.
    let own = run(&["--split", "random"]);
    assert!(own.get("random_splits").is_none());
}

#[test]
fn every_command_has_the_same_divisions() {
    let folder = Folder::generated();
    let data = folder.data();
    let drawn = ["--random-splits", "6", "--format", "json"];
    let evaluated = bidilel(&[&["evaluate", &data, "--method", "rr"], &drawn[..]].concat()).json();
    let compared = bidilel(&[&["compare", &data, "--methods", "rr,eszsl"], &drawn[..]].concat()).json();
    assert_eq!((&compared["over"], &compared["pairs"]), (&"splits".into(), &6.into()));
    assert_eq!(compared["random_splits"], evaluated["random_splits"]);
    for row in compared["results"].as_array().expect("rows") {
        let runs = row["runs"].as_array().expect("runs").iter();
        let sets: Vec<BTreeSet<String>> =
            runs.map(|run| run["classes"].as_object().expect("classes").keys().cloned().collect()).collect();
        assert_eq!(sets, unseen(&evaluated), "{}", row["method"]);
    }
    let selected = ["select", &data, "--visual", "cnn,motion", "--random-splits", "2", "--trials", "1"];
    let selected = bidilel(&[&selected[..], &["--format", "json"]].concat()).json();
    assert_eq!(selected["trials"][1]["split"], "random:1");

    let model = folder.beside("model");
    let one = ["--random-splits", "1", "--format", "json"];
    let fitted = bidilel(&[&["fit", &data, "--out", &model], &one[..]].concat()).json();
    assert_eq!((&fitted["split"], &fitted["random_splits"]["count"]), (&"random:0".into(), &1.into()));
    let listed = bidilel(&["class", "list", &model, "--format", "json"]).json();
    let classes = listed["classes"].as_array().expect("classes").iter();
    let names: BTreeSet<String> = classes
        .filter(|class| class["role"] == "unseen")
        .map(|class| class["name"].as_str().expect("a name").to_owned())
        .collect();
    assert_eq!(names, unseen(&evaluated)[0]);

    let tuned = ["tune", &data, "--method", "rr", "--trials", "1", "--random-unseen", "6", "--seed", "2"];
    let tuned = bidilel(&[&tuned[..], &one[..]].concat()).json();
    assert_eq!((&tuned["split"], &tuned["random_splits"]["unseen"]), (&"random:0".into(), &6.into()));
    let command = tuned["commands"][0].as_str().expect("a command");
    assert!(
        command.contains("--random-splits 1 --random-unseen 6") && command.contains("--seed 2"),
        "{command}"
    );
}

#[test]
fn a_comparison_goes_on_with_more_divisions_of_the_same_draw_only() {
    let folder = Folder::generated();
    let (data, journal) = (folder.data(), folder.beside("journal.jsonl"));
    let run = |drawn: &[&str], resume: &[&str]| {
        let base = ["compare", &data, "--methods", "rr", "--format", "json", "--journal", &journal];
        bidilel(&[&base[..], drawn, resume].concat())
    };
    let first = run(&["--random-splits", "2"], &[]).json();
    let more = run(&["--random-splits", "4"], &["--resume"]).json();
    let runs = |result: &Value| result["results"][0]["runs"].as_array().expect("runs").clone();
    assert_eq!(runs(&more)[..2], runs(&first)[..], "not a second of it was run again");
    assert_eq!(runs(&more).len(), 4);
    for other in [&["--random-splits", "2", "--random-unseen", "6"][..], &["--split", "random"]] {
        assert!(run(other, &["--resume"]).error().contains("other data or settings"), "{other:?}");
    }
}

#[test]
fn a_dataset_without_splits_is_divided_all_the_same_and_empty_classes_are_left_out() {
    let folder = Folder::generated();
    folder.edit("dataset.toml", |text| text.split("[split.").next().expect("the rest").to_owned());
    let without = bidilel(&["evaluate", &folder.data()]);
    assert!(without.error().contains("no split"), "{}", without.stderr);
    assert!(without.stderr.contains("--random-splits"), "{}", without.stderr);
    let drawn = ["evaluate", &folder.data(), "--method", "rr", "--random-splits", "2", "--format", "json"];
    let result = bidilel(&drawn);
    assert_eq!(result.json()["random_splits"]["unseen"], 5, "a fifth of 25");
    assert!(!result.stderr.contains("leave out"), "{}", result.stderr);

    // One more class at the end, with a description and no instance.
    let described = Folder::generated();
    described.edit("classes.txt", |text| text + "nobody\n");
    described.edit("dataset.toml", |text| {
        let mut kept = text.split("[semantic.").next().expect("the rest").to_owned();
        kept += "[semantic.attributes]\nfile = \"classes.csv\"\nmetric = \"euclidean\"\n";
        kept
    });
    let names = std::fs::read_to_string(described.file("classes.txt")).expect("names");
    let rows = names
        .lines()
        .enumerate()
        .map(|(i, name)| format!("{name},{},{},{}\n", i % 7, (3 * i) % 11, 1 + i % 5));
    std::fs::write(described.file("classes.csv"), "class,a,b,c\n".to_owned() + &rows.collect::<String>())
        .expect("writable");
    let ran = bidilel(&[
        "evaluate",
        &described.data(),
        "--method",
        "rr",
        "--random-splits",
        "2",
        "--format",
        "json",
    ]);
    assert_eq!(ran.json()["random_splits"]["classes"], 25);
    assert!(ran.stderr.contains("leave out classes without instances: `nobody`\n"), "{}", ran.stderr);
}
