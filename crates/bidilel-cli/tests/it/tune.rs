//! `tune`: what scripts read, files that it writes and takes, kills and resumptions, bad requests.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Folder, bidilel};

/// A folder whose split names no validation classes, with 30 % of the instances.
fn folder() -> Folder {
    let folder = Folder::generated();
    folder.edit("dataset.toml", |text| {
        text.lines().filter(|line| !line.starts_with("validation")).collect::<Vec<_>>().join("\n")
    });
    folder
}

#[test]
fn json_has_the_best_and_every_trial_and_the_command_gives_the_same_settings() {
    let folder = folder();
    let (settings, data) = (folder.beside("chosen.toml"), folder.data());
    let (svg, page) = (folder.beside("curves.svg"), folder.beside("page.html"));
    let found = bidilel(&[
        "tune", &data, "--trials", "2", "--out", &settings, "--curves", &svg, "--report", &page, "--format",
        "json",
    ])
    .json();
    let trials = found["trials"].as_array().expect("trials");
    assert!(trials.len() > 15, "{}", trials.len());
    for trial in trials {
        let mean = trial["mean"].as_f64().expect("a mean");
        assert!(
            (0.0..=1.0).contains(&mean) && trial["standard_error"].is_f64() && trial["settings"].is_object()
        );
        assert_eq!(trial["scores"].as_array().map(Vec::len), Some(2));
    }
    assert_eq!(found["best"]["alpha"], found["best"]["settings"]["alpha"]);
    assert!(found["best"]["alpha"].is_f64() && found["best"]["mean"].is_f64());
    let by_file = bidilel(&["evaluate", &data, "--settings", &settings, "--format", "json"]).json();
    let command = found["commands"][0].as_str().expect("a command");
    let words: Vec<&str> = command.split(' ').skip(1).chain(["--format", "json"]).collect();
    let by_command = bidilel(&words).json();
    assert_eq!(by_file["accuracy"], by_command["accuracy"]);
    assert_eq!(by_file["method"]["bottom_up"], by_command["method"]["bottom_up"]);
    let model = folder.beside("model");
    assert_eq!(bidilel(&["fit", &data, "--settings", &settings, "--out", &model]).status, 0);
    let typed =
        bidilel(&["evaluate", &data, "--settings", &settings, "--alpha", "7", "--format", "json"]).json();
    assert_eq!(typed["method"]["bottom_up"]["alpha"], 7.0, "what is typed comes first");
    let (svg, page) = (std::fs::read_to_string(svg).unwrap(), std::fs::read_to_string(page).unwrap());
    assert!(svg.contains(">alpha</text>") && svg.contains(">self-training-neighbors</text>"));
    assert!(page.contains("<svg") && page.contains("bidilel evaluate"));
}

#[test]
fn the_splits_validation_classes_are_one_fold_of_five_or_the_only_one() {
    let with = Folder::generated();
    let tune = |folder: &Folder, more: &[&str]| {
        let data = folder.data();
        let words = ["tune", &data, "--strategy", "grid", "--alpha", "1,10", "--format", "json"];
        bidilel(&[&words[..], more].concat())
    };
    let (all, alone) = (tune(&with, &[]).json(), tune(&with, &["--holdout", "split"]).json());
    assert_eq!(all["trials"][0]["scores"].as_array().map(Vec::len), Some(5));
    assert_eq!(alone["trials"][0]["scores"].as_array().map(Vec::len), Some(1));
    assert_eq!(alone["trials"].as_array().map(Vec::len), Some(2));
    assert_eq!(alone["trials"][0]["scores"][0], all["trials"][0]["scores"][0], "the first of the five");
    let twice = tune(&with, &["--holdout", "split", "--trials", "3"]);
    assert!(twice.usage().contains("leave out --trials"), "{}", twice.stderr);
    let none = tune(&folder(), &["--holdout", "split"]);
    assert!(none.error().contains("names no validation classes"), "{}", none.stderr);
}

#[test]
fn the_choice_says_how_sure_it_is_and_the_defaults_are_what_is_typed_last() {
    let folder = Folder::generated();
    let data = folder.data();
    let grid = ["tune", &data, "--strategy", "grid", "--alpha", "1,10", "--dim", "5,100"];
    let found = bidilel(&[&grid[..], &["--format", "json"]].concat()).json();
    let choice = &found["choice"];
    assert_eq!(choice["default"], serde_json::json!({"alpha": 10.0, "dim": 100}));
    assert_eq!(found["trials"][0]["settings"], choice["default"], "scored before all others");
    assert_eq!(found["trials"][0]["stage"], "default");
    assert_eq!(choice["required_standard_errors"], 2.0);
    let (default, best) = (choice["default_mean"].as_f64().unwrap(), found["best"]["mean"].as_f64().unwrap());
    assert!(best >= default);
    assert_eq!(choice["kept_defaults"], found["best"]["settings"] == choice["default"]);
    if let Some(differences) = choice["differences"].as_array().filter(|all| !all.is_empty()) {
        let mean = differences.iter().filter_map(Value::as_f64).sum::<f64>() / differences.len() as f64;
        assert!((mean - choice["difference"].as_f64().unwrap()).abs() < 1e-12);
        assert_eq!((differences.len(), &choice["paired_over"]), (5, &"folds".into()));
    }
    let text = bidilel(&grid).stdout;
    assert!(text.contains("the defaults"), "{text}");
    // The highest mean on request, and where the values leave out the defaults.
    for more in [&["--choose", "highest"][..], &["--alpha", "1,100"]] {
        let grid = if more[0] == "--alpha" { &grid[..4] } else { &grid[..] };
        let found = bidilel(&[grid, more, &["--format", "json"]].concat()).json();
        assert!(found["choice"].is_null(), "{}", found["choice"]);
        let means = found["trials"].as_array().unwrap().iter().filter_map(|trial| trial["mean"].as_f64());
        assert_eq!(found["best"]["mean"].as_f64(), Some(means.fold(0.0, f64::max)));
    }
}

#[test]
fn a_grid_comes_from_a_file_and_other_strategies_take_parts_of_it() {
    let folder = folder();
    let (data, grid) = (folder.data(), folder.beside("grid.toml"));
    std::fs::write(
        &grid,
        "bottom-up = [\"slpp\", \"lda\"]\nalpha = [1, 10]\nridge = [0.1, 1.0]\ntop_down = [\"lsm\", \"svr\"]\npost = [\"none\", \"self-training+structured\"]\n",
    )
    .unwrap();
    let tune = |more: &[&str]| {
        let mut words = vec!["tune", &data, "--trials", "2", "--grid", &grid, "--format", "json"];
        words.extend(more);
        bidilel(&words).json()
    };
    let count = |found: &Value| found["trials"].as_array().map(Vec::len);
    assert_eq!(count(&tune(&["--strategy", "grid"])), Some(16), "two alphas or two ridges, two, two");
    assert_eq!(count(&tune(&["--strategy", "random", "--samples", "5"])), Some(5));
    assert_eq!(count(&tune(&["--strategy", "halving"])), Some(16));
    let cut = tune(&["--strategy", "grid", "--budget", "10"]);
    assert_eq!((count(&cut), &cut["stopped_by_budget"]), (Some(5), &Value::Bool(true)));
    let auto = bidilel(&["tune", &data, "--trials", "2", "--auto", "--format", "json"]).json();
    assert!(auto["best"]["bottom_up"].is_string() && auto["best"]["top_down"].is_string());
}

#[test]
fn killed_at_any_moment_it_resumes_to_the_same_answer() {
    let folder = folder();
    let (data, journal) = (folder.data(), folder.beside("journal.jsonl"));
    let grid = ["--strategy", "grid", "--alpha", "0.1,1,10", "--dim", "5,20", "--neighbors", "3,10"];
    let words = [&["tune", &data, "--trials", "3", "--format", "json"][..], &grid].concat();
    let answer = |ran: crate::support::Ran| {
        let found = ran.json();
        (found["best"].clone(), found["trials"].clone())
    };
    let begun = Instant::now();
    let whole = answer(bidilel(&words));
    let length = begun.elapsed();
    let program = assert_cmd::cargo::cargo_bin("bidilel");
    for round in 0..20_u32 {
        let _ = std::fs::remove_file(&journal);
        // Kills that are spread over the whole run, and a second one during the resumption of every other.
        for attempt in 0..=round % 2 {
            let mut child = Command::new(&program)
                .args(&words)
                .args(["--journal", &journal, "--resume"])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("it starts");
            let share = f64::from((round * 7 + attempt * 11) % 20) / 20.0;
            std::thread::sleep(Duration::from_secs_f64(length.as_secs_f64() * share));
            // SIGKILL; it may have finished already.
            let _ = child.kill();
            child.wait().expect("it ends");
        }
        let resumed = bidilel(&[&words[..], &["--journal", &journal, "--resume"]].concat());
        assert_eq!(answer(resumed), whole, "round {round}");
    }
}

#[test]
fn a_journal_is_neither_overwritten_nor_mixed_with_another() {
    let folder = folder();
    let (data, journal) = (folder.data(), folder.beside("journal.jsonl"));
    let tune = |more: &[&str]| {
        let mut words =
            vec!["tune", &data, "--trials", "2", "--strategy", "grid", "--dim", "5", "--journal", &journal];
        words.extend(more);
        bidilel(&words)
    };
    assert_eq!(tune(&["--alpha", "1,10"]).status, 0);
    let before = std::fs::read_to_string(&journal).unwrap();
    assert_eq!(before.lines().count(), 1 + 2 * 2);
    assert!(tune(&["--alpha", "1,10"]).error().contains("--resume"));
    assert!(tune(&["--alpha", "1,100", "--resume"]).error().contains("other data or settings"));
    assert!(tune(&["--alpha", "1,10", "--seed", "9", "--resume"]).error().contains("other data or settings"));
    assert_eq!(std::fs::read_to_string(&journal).unwrap(), before, "nothing was written");
    let lines: Vec<&str> = before.lines().collect();
    std::fs::write(&journal, lines[..3].join("\n") + "\n{\"settings\": {\"al").unwrap();
    assert_eq!(tune(&["--alpha", "1,10", "--resume"]).status, 0);
    let after = std::fs::read_to_string(&journal).unwrap();
    let mut sorted: Vec<&str> = after.lines().collect();
    let mut expected = lines.clone();
    sorted.sort_unstable();
    expected.sort_unstable();
    assert_eq!(sorted, expected, "the corrupt line is gone, and what was lost is there again");
}

#[test]
fn requests_that_make_no_sense_are_refused_in_words() {
    let folder = folder();
    let data = folder.data();
    let empty = folder.beside("empty.toml");
    std::fs::write(&empty, "# nothing\n").unwrap();
    let error = |words: &[&str]| {
        let mut all = vec!["tune", &data];
        all.extend(words);
        bidilel(&all).error().to_owned()
    };
    assert!(error(&["--grid", &empty]).contains("the grid is empty"));
    std::fs::write(&empty, "alpha = []\n").unwrap();
    assert!(error(&["--grid", &empty]).contains("no value to try"));
    let usage = |words: &[&str]| {
        let mut all = vec!["tune", &data];
        all.extend(words);
        bidilel(&all).usage().to_owned()
    };
    assert!(usage(&["--alpha", "1,many"]).contains("alpha"));
    std::fs::write(&empty, "alfa = [1, 2]\n").unwrap();
    assert!(error(&["--grid", &empty]).contains("alfa"));
    assert!(usage(&["--trials", "0"]).contains("at least 1"));
    assert!(error(&["--holdout", "0.95"]).contains("20 known classes"));
    assert!(usage(&["--holdout", "1.5"]).contains("between 0 and 1"));
    assert!(error(&["--split", "random"]).contains("--split random:0"));
    assert!(usage(&["--strategy", "grid", "--alpha", "-1"]).contains("alpha must be"));
    for budget in ["0", "0s"] {
        let ran = bidilel(&["tune", &data, "--budget", budget]);
        assert_eq!(ran.status, 2);
        assert!(ran.stderr.contains("leaves nothing to do"), "{}", ran.stderr);
    }
    let wide = bidilel(&["tune", &data, "--strategy", "grid", "--dim", "5,5000", "--format", "json"]);
    assert!(wide.stderr.contains("no 5000 latent dimensions"), "{}", wide.stderr);
    assert_eq!(wide.json()["trials"][1]["settings"]["dim"], 128);
}

/// The rows of the table that a person sees, and the line that begins with `best: `.
fn shown(text: &str) -> (Vec<&str>, &str) {
    let rows = text.lines().skip(1).take_while(|line| !line.is_empty()).collect();
    let best = text.lines().find_map(|line| line.strip_prefix("best: ")).expect("the best");
    (rows, best)
}

#[test]
fn the_first_line_is_the_best_and_what_is_saved() {
    let folder = folder();
    let (data, out) = (folder.data(), folder.beside("best.toml"));
    for more in [&[][..], &["--trials", "2"], &["--auto"], &["--strategy", "halving", "--alpha", "1,10,100"]]
    {
        let ran = bidilel(&[&["tune", &data, "--out", &out], more].concat());
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let (rows, best) = shown(&ran.stdout);
        assert!(rows[0].ends_with(&format!("  {best}")), "{more:?}\n{}", ran.stdout);
        // A refiner is one of the settings: a file with its neighbors alone would leave it out.
        let saved = std::fs::read_to_string(&out).unwrap();
        assert_eq!(best.contains("post self-training"), saved.contains("\"self-training\""), "{saved}");
        let command = ran.stdout.lines().find(|line| line.starts_with("bidilel evaluate")).unwrap();
        assert_eq!(best.contains("post "), command.contains("--post"), "{command}");
    }
    // Where held-out classes speak for self-training, it is chosen.
    let few = Folder::generated();
    let few = few.data();
    for words in
        [&["tune", &few, "--holdout", "split", "--choose", "highest"][..], &["tune", "synthetic:small"]]
    {
        let found = bidilel(&[words, &["--format", "json"]].concat()).json();
        let trials = found["trials"].as_array().unwrap();
        let refined = trials.iter().filter(|trial| trial["settings"]["post"].is_array());
        let highest = refined.filter_map(|trial| trial["mean"].as_f64()).fold(0.0, f64::max);
        let plain = trials.iter().filter(|trial| trial["settings"]["post"].is_null());
        let plain = plain.filter_map(|trial| trial["mean"].as_f64()).fold(0.0, f64::max);
        assert!(highest > plain, "the data of this test gain by it: {highest} {plain}");
        assert_eq!(found["best"]["post"][0], "self-training");
        assert_eq!(found["commands"].as_array().map(Vec::len), Some(2));
    }
}

#[test]
fn settings_of_other_learners_are_neither_reported_nor_saved() {
    let folder = folder();
    let (data, out) = (folder.data(), folder.beside("best.toml"));
    let given = ["--auto", "--bottom-up", "cca", "--top-down", "lsm", "--svr-c", "3", "--trials", "2"];
    let ran = bidilel(&[&["tune", &data, "--out", &out, "--format", "json"], &given[..]].concat());
    let found = ran.json();
    let saved = std::fs::read_to_string(&out).unwrap();
    assert!(saved.contains("bottom_up = \"cca\"") && saved.contains("ridge"), "{saved}");
    let settings = found["trials"].as_array().unwrap().iter().map(|trial| &trial["settings"]);
    for settings in settings.chain([&found["best"], &found["best"]["settings"]]) {
        for other in ["alpha", "neighbors", "weights", "svr_c", "svr_epsilon"] {
            assert!(settings[other].is_null(), "{other} in {settings}");
            assert!(!saved.lines().any(|line| line.starts_with(&format!("{other} ="))), "{saved}");
        }
    }
}

#[test]
fn one_trial_has_no_standard_error_in_words() {
    let folder = Folder::generated();
    let grid = ["--strategy", "grid", "--alpha", "1,10"];
    let alone = ["--holdout", "split"];
    let ran = bidilel(&[&["tune", &folder.data()], &grid[..], &alone].concat());
    let line = ran.stdout.lines().find(|line| line.contains("(1 trial)")).expect("one trial");
    assert!(!line.contains('±'), "{}", ran.stdout);
    let json = bidilel(&[&["tune", &folder.data(), "--format", "json"], &grid[..], &alone].concat()).json();
    assert_eq!(json["best"]["standard_error"], 0.0, "programs find the same keys");
}

#[test]
fn a_budget_of_three_is_three_evaluations() {
    let folder = folder();
    for (budget, scores) in [("3", vec![3]), ("7", vec![5, 2])] {
        let ran = bidilel(&["tune", &folder.data(), "--budget", budget, "--format", "json"]);
        let found = ran.json();
        let counts: Vec<usize> = found["trials"]
            .as_array()
            .unwrap()
            .iter()
            .map(|trial| trial["scores"].as_array().map_or(0, Vec::len))
            .collect();
        assert_eq!(counts, scores, "one setting in one trial is an evaluation");
        assert_eq!(found["stopped_by_budget"], true);
    }
}

#[test]
fn a_setting_that_cannot_be_fitted_is_said_to_be_impossible() {
    let folder = folder();
    // A problem with a kernel that is not linear cannot be solved over dimensions.
    let grid = folder.beside("grid.toml");
    std::fs::write(&grid, "kernel_method = [\"primal\", \"n-space\"]\n").unwrap();
    let fixed = ["--kernel", "rbf", "--strategy", "grid", "--trials", "2", "--grid", &grid];
    let ran = bidilel(&[&["tune", &folder.data()], &fixed[..]].concat());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let (rows, _) = shown(&ran.stdout);
    assert!(rows[1].starts_with("not possible") && !rows[1].contains(" 0.0 "), "{}", ran.stdout);
    let found = bidilel(&[&["tune", &folder.data(), "--format", "json"], &fixed[..]].concat()).json();
    let primal =
        found["trials"].as_array().unwrap().iter().find(|trial| trial["problem"].is_string()).unwrap();
    assert!(primal["mean"].is_null() && primal["problem"].as_str().unwrap().contains("kernel-method"));
    assert_eq!(found["best"]["kernel_method"], "n-space");
}
