//! `evaluate`: the object that scripts read, the tables that people read.

use crate::support::{Folder, bidilel};

#[test]
fn json_has_every_key_of_the_interface_and_accuracies_are_fractions() {
    let folder = Folder::generated();
    let result = bidilel(&["evaluate", &folder.data(), "--format", "json"]).json();
    assert_eq!(result["dataset"], "small");
    assert_eq!(result["split"], "standard");
    assert_eq!(result["visual"][0], "cnn");
    assert_eq!(result["semantic"][0], "attributes");
    assert_eq!(result["method"]["bottom_up"]["kind"], "slpp");
    assert_eq!(result["method"]["bottom_up"]["alpha"], 10.0);
    assert_eq!(result["classes"].as_array().map(Vec::len), Some(5));
    assert_eq!(result["runs"].as_array().map(Vec::len), Some(1));
    for key in ["per_class", "per_image"] {
        let share = result["accuracy"][key].as_f64().expect("a number");
        assert!(share > 0.3 && share <= 1.0, "{key} {share}: better than the chance of 0.2");
    }
    for key in ["neighbors", "scatter", "eigen", "top_down", "recognize", "total"] {
        assert!(result["timings"][key].as_f64().expect("seconds") >= 0.0, "{key}");
    }
    assert!(result["stress"].as_f64().expect("a number") > 0.0);
    assert_eq!(result["summary"]["standard_error"], 0.0);
    assert_eq!(result["chance"], 0.2);
    assert_eq!(result["method"]["bottom_up"]["dim"], 100, "what was left open is given as it turned out");
    let confusion = result["runs"][0]["confusion"].as_array().expect("a matrix");
    let instances: u64 = confusion
        .iter()
        .flat_map(|row| row.as_array().expect("a row"))
        .filter_map(serde_json::Value::as_u64)
        .sum();
    let expected: u64 =
        result["classes"].as_array().expect("classes").iter().filter_map(|c| c["instances"].as_u64()).sum();
    assert_eq!((confusion.len(), instances), (5, expected));
    assert!(result["hubness"]["1"].is_number());
}

#[test]
fn a_family_is_evaluated_trial_by_trial_and_summarised() {
    let folder = Folder::generated();
    let all = bidilel(&["evaluate", &folder.data(), "--split", "random", "--format", "json"]).json();
    let runs = all["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 5);
    assert_eq!(runs[3]["split"], "random:3");
    let one = bidilel(&["evaluate", &folder.data(), "--split", "random:3", "--format", "json"]).json();
    assert_eq!(one["accuracy"]["per_class"], runs[3]["per_class"]);
    let mean = runs.iter().map(|run| run["per_class"].as_f64().expect("a number")).sum::<f64>() / 5.0;
    assert_eq!(all["chance"], 0.2, "of five unseen classes, in every trial");
    assert!((mean - all["summary"]["mean"].as_f64().expect("a number")).abs() < 1e-12);
}

#[test]
fn every_method_and_refinement_runs() {
    let folder = Folder::generated();
    for bottom_up in ["slpp", "lpp", "pca", "lda", "cca", "none"] {
        for top_down in ["lsm", "svr", "lsm+svr"] {
            let post = "self-training,structured";
            let arguments = ["evaluate", &folder.data(), "--bottom-up", bottom_up, "--top-down", top_down];
            let result = bidilel(&[&arguments[..], &["--post", post, "--format", "json"]].concat()).json();
            let steps: Vec<&str> = result["steps"]
                .as_array()
                .expect("steps")
                .iter()
                .filter_map(|step| step["name"].as_str())
                .collect();
            assert_eq!(steps, ["inductive", "self-training", "structured"], "{bottom_up} {top_down}");
        }
    }
}

#[test]
fn gamma_weighs_the_second_semantic_representation() {
    let folder = Folder::generated();
    let with = |extra: &[&str]| {
        let result = bidilel(&[&["evaluate", &folder.data(), "--format", "json"], extra].concat()).json();
        result["stress"].as_f64().expect("a number")
    };
    let attributes = with(&["--semantic", "attributes"]);
    let words = with(&["--semantic", "words"]);
    let fused = |gamma: &str| with(&["--semantic", "attributes,words", "--gamma", gamma]);
    assert!((fused("0") - attributes).abs() < 1e-9 && (fused("1") - words).abs() < 1e-9);
    assert!((fused("0.5") - with(&["--semantic", "attributes,words"])).abs() < 1e-12);
}

#[test]
fn the_same_seed_gives_the_same_bytes_for_any_number_of_threads() {
    let folder = Folder::generated();
    let run = |threads: &str| {
        let mut result = bidilel(&[
            "evaluate",
            &folder.data(),
            "--init",
            "random",
            "--seed",
            "5",
            "--threads",
            threads,
            "--format",
            "json",
        ])
        .json();
        result["timings"].take();
        result.to_string()
    };
    assert_eq!(run("1"), run("2"));
}

#[test]
fn repeats_count_seeds_up() {
    let folder = Folder::generated();
    let result = bidilel(&[
        "evaluate",
        &folder.data(),
        "--init",
        "random",
        "--seed",
        "7",
        "--repeat",
        "3",
        "--format",
        "json",
    ])
    .json();
    let seeds: Vec<u64> =
        result["runs"].as_array().expect("runs").iter().filter_map(|run| run["seed"].as_u64()).collect();
    assert_eq!(seeds, [7, 8, 9]);
    let last = u64::MAX.to_string();
    assert_eq!(bidilel(&["evaluate", &folder.data(), "--seed", &last, "--repeat", "2"]).status, 0);
}

#[test]
fn every_format_prints_a_result_and_quiet_says_nothing_else() {
    let folder = Folder::generated();
    for (format, expected) in [
        ("text", "by chance"),
        ("json", "\"accuracy\""),
        ("csv", "dataset,split,visual,semantic,bottom_up,top_down,post,seed,per_class,per_image,stress"),
        ("markdown", "| Dataset | Split |"),
        ("latex", "\\begin{tabular}"),
    ] {
        let ran = bidilel(&["evaluate", &folder.data(), "--format", format, "--quiet"]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert!(ran.stdout.contains(expected), "{format}: {}", ran.stdout);
        assert!(ran.stderr.is_empty(), "{}", ran.stderr);
    }
}

#[test]
fn verbose_names_the_stages_and_options_without_effect_are_noted() {
    let folder = Folder::generated();
    let ran = bidilel(&["evaluate", &folder.data(), "--verbose", "--bottom-up", "pca", "--alpha", "3"]);
    assert!(ran.stderr.contains("scatter") && ran.stderr.contains("eigen"), "{}", ran.stderr);
    assert!(ran.stderr.contains("note: --alpha has no effect"), "{}", ran.stderr);
}

#[test]
fn synthetic_tasks_need_no_files() {
    let result = bidilel(&["evaluate", "synthetic:small", "--format", "json"]).json();
    assert_eq!(result["dataset"], "small");
}

#[test]
fn the_search_for_neighbors_is_a_setting_like_others() {
    let folder = Folder::generated();
    let run = |extra: &[&str]| bidilel(&[&["evaluate", &folder.data(), "--format", "json"], extra].concat());
    let default = run(&[]).json();
    assert_eq!(run(&["--search", "exact"]).json()["method"], default["method"]);
    let approximate = run(&["--search", "approximate"]).json();
    assert_eq!(approximate["method"]["bottom_up"]["search"], "approximate");
    assert_eq!(approximate["accuracy"], default["accuracy"], "so few are searched exactly");
    let file = folder.beside("settings.toml");
    std::fs::write(&file, "search = \"approximate\"\n").expect("a file");
    assert_eq!(run(&["--settings", &file]).json()["method"], approximate["method"]);
    let wrong = run(&["--search", "quick"]);
    assert_eq!(wrong.status, 2);
    assert!(wrong.stderr.contains("exact, approximate"), "{}", wrong.stderr);
    std::fs::write(&file, "search = \"quick\"\n").expect("a file");
    assert!(run(&["--settings", &file]).error().contains("not a settings file"));
    for idle in [&["--bottom-up", "pca"][..], &["--neighborhood", "within-class"]] {
        let ran = run(&[&["--search", "approximate"], idle].concat());
        assert!(ran.stderr.contains("--search has no effect"), "{}", ran.stderr);
    }
    let tuned = bidilel(&["tune", &folder.data(), "--search", "approximate"]);
    assert!(tuned.error().contains("search must be exact"), "{}", tuned.stderr);
    assert!(tuned.stderr.contains("hint: leave --search out"), "{}", tuned.stderr);
}
