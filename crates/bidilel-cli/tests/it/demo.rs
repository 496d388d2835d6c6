//! `bidilel` alone, and `builtin:` wherever a dataset is named.

use assert_cmd::Command;
use tempfile::TempDir;

use crate::support::bidilel;

/// The program in an empty folder, with a locale.
fn in_folder(folder: &TempDir, arguments: &[&str], locale: &str) -> (i32, String, String) {
    let mut command = Command::cargo_bin("bidilel").expect("the program");
    command.args(arguments).current_dir(folder.path());
    command.env_remove("LC_ALL").env_remove("LC_CTYPE").env("LANG", locale).env("TERM", "xterm");
    let output = command.output().expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

fn listing(folder: &TempDir) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path()).expect("the folder");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn without_a_command_it_tells_a_person_what_it_recognized_and_writes_a_page() {
    let folder = TempDir::new().expect("a folder");
    let (status, told, complaints) = in_folder(&folder, &[], "en_US.UTF-8");
    assert_eq!(status, 0, "{complaints}");
    for part in [
        "known animals",
        "by guessing",
        "5.0 %",
        "inductive",
        "self-training",
        "structured",
        "balanced",
        "What was taken for what",
        "the three nearest animals, and why",
        "near the known",
        "bidilel extract",
        "bidilel predict",
        "bidilel-demo.html",
    ] {
        assert!(told.contains(part), "`{part}` is missing in\n{told}");
    }
    assert!(told.contains('\u{1f986}'), "a duck as a character");
    let page = std::fs::read_to_string(folder.path().join("bidilel-demo.html")).expect("a page");
    assert!(page.matches("data:image/webp;base64,").count() > 100 && !page.contains("src=\"http"));
    // Again: a page of its own is replaced.
    assert_eq!(in_folder(&folder, &["demo"], "en_US.UTF-8").0, 0);
}

#[test]
fn names_replace_characters_where_the_terminal_has_none() {
    let folder = TempDir::new().expect("a folder");
    let (_, by_locale, _) = in_folder(&folder, &["demo", "--no-page"], "C");
    let (_, by_flag, _) = in_folder(&folder, &["demo", "--no-page", "--plain"], "en_US.UTF-8");
    for told in [&by_locale, &by_flag] {
        assert!(told.is_ascii() && told.contains("peacock"), "{told}");
    }
    let (_, forced, _) = in_folder(&folder, &["demo", "--no-page", "--emoji"], "C");
    assert!(forced.contains('\u{1f99a}'), "a peacock as a character");
    assert!(listing(&folder).is_empty(), "--no-page writes nothing");
}

#[test]
fn a_foreign_file_is_never_replaced() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("bidilel-demo.html");
    std::fs::write(&path, "my own page").expect("writable");
    let (status, told, _) = in_folder(&folder, &["demo"], "C");
    assert_eq!(status, 0);
    assert!(told.contains("No page: ") && told.contains("--page FILE"), "{told}");
    let (_, _, complaints) = in_folder(&folder, &["demo"], "C");
    assert!(complaints.contains("no page will be written: "), "known before the work: {complaints}");
    let (status, told, complaints) = in_folder(&folder, &["demo", "--page", "bidilel-demo.html"], "C");
    assert_eq!((status, told.as_str()), (1, ""));
    assert!(complaints.starts_with("error: `bidilel-demo.html`"), "{complaints}");
    assert_eq!(std::fs::read_to_string(&path).expect("still there"), "my own page");
    let (status, ..) = in_folder(&folder, &["demo", "--page", "other.html"], "C");
    assert_eq!((status, listing(&folder).len()), (0, 2));
}

#[test]
fn json_is_the_object_of_evaluate_with_the_same_settings() {
    let folder = TempDir::new().expect("a folder");
    let (status, told, complaints) = in_folder(&folder, &["demo", "--format", "json"], "C");
    assert_eq!(status, 0, "{complaints}");
    let demo: serde_json::Value = serde_json::from_str(&told).expect("one object");
    assert!(listing(&folder).is_empty(), "a script asked for no page");
    let settings = concat!(env!("CARGO_MANIFEST_DIR"), "/../../datasets/emoji/demo.toml");
    let evaluated =
        bidilel(&["evaluate", "builtin:emoji", "--settings", settings, "--top", "1,3,5", "--format", "json"])
            .json();
    for key in [
        "dataset", "split", "visual", "semantic", "method", "accuracy", "classes", "runs", "summary",
        "chance",
    ] {
        assert_eq!(demo[key], evaluated[key], "{key}");
    }
    let share = demo["accuracy"]["per_class"].as_f64().expect("a number");
    assert!(share > 5.0 * demo["chance"].as_f64().expect("a number"), "{share} is far above chance");
}

#[test]
fn builtin_datasets_go_wherever_a_dataset_goes() {
    let folder = TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a plain path").to_owned();
    for (name, expected) in [("builtin:emoji", 1), ("builtin:emoji-things", 0)] {
        let found = bidilel(&["inspect", name, "--format", "json"]).json();
        // Euclidean distances of attributes are larger than cosine ones of sentences, and `inspect` says so.
        let scales = |problem: &serde_json::Value| {
            problem["severity"] == "warning"
                && problem["message"].as_str().is_some_and(|text| text.contains("apart in `attributes`"))
        };
        let problems = found["problems"].as_array().expect("a list");
        assert_eq!(problems.len(), expected, "{name}: {}", found["problems"]);
        assert!(problems.iter().all(scales), "{name}: {}", found["problems"]);
    }
    let (copy, model, features) = (path("copy"), path("m.model"), path("copy/efficientnet-lite0.npy"));
    bidilel(&["convert", "builtin:emoji", &copy, "--format", "json"]).json();
    let one = bidilel(&["evaluate", &copy, "--split", "random:3", "--format", "json"]).json();
    let other = bidilel(&["evaluate", "builtin:emoji", "--split", "random:3", "--format", "json"]).json();
    assert_eq!(one["accuracy"], other["accuracy"], "a converted copy is the same data");
    bidilel(&["fit", "builtin:emoji", "--out", &model, "--format", "json"]).json();
    let rows = bidilel(&["predict", &model, &features, "--format", "json"]).json();
    assert_eq!(rows.as_array().map(Vec::len), Some(575));
    bidilel(&[
        "tune",
        "builtin:emoji",
        "--alpha",
        "1,10",
        "--dim",
        "50",
        "--trials",
        "1",
        "--format",
        "json",
    ])
    .json();
    let unknown = bidilel(&["evaluate", "builtin:birds"]);
    assert!(unknown.error().contains("builtin:emoji and builtin:emoji-things"), "{}", unknown.stderr);
}
