//! `bidilel reproduce`: tables of the paper and of users, from data, stand-ins and journals.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::{Folder, bidilel};

/// Two cells with data and one whose data are missing.
const MINE: &str = r#"title = "Mine"
stub = ["label"]
head = ["dataset", "visual"]

[searches.few]
grid = { alpha = [0.1, 10.0], dim = [5, 10] }

[datasets.data]
title = "Generated"
folds = 2

[datasets.elsewhere]
title = "Elsewhere"
get = "the data of somebody else"

[[rows]]
label = "searched"
search = "few"
settings = { init = "random" }
starts = 3

[[rows]]
label = "fixed"
settings = { alpha = 3.0, dim = 8 }

[[columns]]
dataset = "data"
visual = "cnn"
semantic = "attributes"

[[columns]]
dataset = "elsewhere"
visual = "cnn"
semantic = "attributes"

[published]
columns = ["data/cnn/attributes", "elsewhere/cnn/attributes"]
[published.rows]
"fixed" = ["99.0", "70.0 ± 0.1"]
"#;

pub(crate) fn parent(folder: &Folder) -> String {
    Path::new(&folder.data()).parent().expect("a folder").display().to_string()
}

pub(crate) fn written(folder: &Folder, text: &str) -> String {
    let path = folder.beside("mine.toml");
    fs::write(&path, text).expect("a file");
    path
}

pub(crate) fn cell(table: &Value, row: usize, column: usize) -> &Value {
    &table["rows"][row]["cells"][column]
}

#[test]
fn a_table_has_our_numbers_beside_the_published_ones_and_says_what_is_missing() {
    let folder = Folder::generated();
    let mine = written(&folder, MINE);
    let ran = bidilel(&["reproduce", &mine, "--data", &parent(&folder), "--format", "json"]);
    let table = ran.json();
    assert_eq!((&table["experiment"], &table["title"]), (&"mine".into(), &"Mine".into()));
    // The same numbers as `evaluate` has.
    let settings = ["--alpha", "3", "--dim", "8"];
    let alone =
        bidilel(&[&["evaluate", &folder.data()], &settings[..], &["--format", "json"]].concat()).json();
    let fixed = cell(&table, 1, 0);
    assert_eq!(fixed["value"], alone["accuracy"]["per_class"]);
    assert_eq!((&fixed["status"], &fixed["published"]["value"]), (&"measured".into(), &0.99.into()));
    let difference = fixed["value"].as_f64().unwrap() - 0.99;
    assert!((fixed["difference"].as_f64().unwrap() - difference).abs() < 1e-12);
    assert_eq!(fixed["over"], "classes");
    assert!(fixed["p_value"].as_f64().unwrap() < 0.05);
    // Three random starts of what a search chose.
    let searched = cell(&table, 0, 0);
    let runs = searched["runs"].as_array().unwrap();
    assert_eq!(runs.iter().map(|run| run["seed"].as_u64().unwrap()).collect::<Vec<_>>(), [0, 1, 2]);
    assert!([0.1, 10.0].contains(&runs[0]["settings"]["alpha"].as_f64().unwrap()), "{searched}");
    // What is missing is named, with what to get and where to put it.
    let missing = cell(&table, 1, 1);
    assert_eq!((&missing["status"], &missing["published"]["spread"]), (&"missing".into(), &0.001.into()));
    assert_eq!(missing["published"]["value"], 0.7, "0.01 times 70 is another number");
    let needed = &table["missing"][0];
    assert_eq!((&needed["what"], &needed["get"]), (&"Elsewhere".into(), &"the data of somebody else".into()));
    assert!(needed["put"].as_str().unwrap().contains("elsewhere (a folder with a dataset.toml)"), "{needed}");
    let parts: Vec<&str> =
        table["missing"].as_array().unwrap()[1..].iter().map(|part| part["put"].as_str().unwrap()).collect();
    for key in ["[visual.cnn]", "[semantic.attributes]"] {
        assert!(parts.iter().any(|put| put.contains(key)), "what it must have is named, too: {parts:?}");
    }
    // What was chosen, and how sure that is, is there for every trial.
    let choices = searched["choices"].as_array().unwrap();
    assert_eq!(choices.len(), 1);
    assert_eq!(choices[0]["settings"]["alpha"], runs[0]["settings"]["alpha"]);
    assert!(choices[0]["mean"].as_f64().unwrap() > 0.1 && choices[0]["folds"].as_u64().unwrap() > 1);
    assert!(ran.stderr.contains("2 of 4 cells have data"), "{}", ran.stderr);
}

#[test]
fn a_split_that_a_dataset_does_not_have_is_named() {
    let folder = Folder::generated();
    let with_split = MINE.replace(
        "folds = 2",
        "folds = 2\n\n[datasets.data.splits.zoo]\nnames = [\"zoo\"]\nget = \"the division of the zoo\"",
    );
    let mine = written(&folder, &with_split);
    let table = bidilel(&["reproduce", &mine, "--data", &parent(&folder), "--format", "json"]).json();
    assert_eq!(cell(&table, 1, 0)["status"], "missing");
    let missing = table["missing"].as_array().unwrap();
    let split = missing.iter().find(|one| one["get"] == "the division of the zoo").expect("it is named");
    assert!(split["put"].as_str().unwrap().contains("[split.zoo]"), "{split}");
}

#[test]
fn every_number_can_be_traced() {
    let folder = Folder::generated();
    let mine = written(&folder, MINE);
    let arguments = ["reproduce", &mine, "--data", &parent(&folder), "--seed", "7", "--format", "json"];
    let table = bidilel(&arguments).json();
    let manifest = &table["manifest"];
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!((&manifest["seed"], &manifest["reduced"]), (&7.into(), &Value::Null));
    let data = &manifest["data"][0];
    assert_eq!((&data["name"], &data["classes"]), (&"data".into(), &25.into()));
    assert!(data["source"].as_str().unwrap().ends_with("data") && data["instances"].as_u64().unwrap() > 100);
    for hash in
        [&manifest["experiment"], &data["fingerprint"]["labels"], &data["fingerprint"]["visual"]["cnn"]]
    {
        assert_eq!(hash.as_str().map(str::len), Some(32), "{manifest}");
    }
    assert!(manifest["machines"][0]["processor"].as_str().unwrap().contains("with"));
    let run = &cell(&table, 1, 0)["runs"][0];
    assert_eq!(
        (&run["seed"], &run["trial"], &run["settings"]["dim"]),
        (&7.into(), &"standard".into(), &8.into())
    );
    let fewer = bidilel(&[&arguments[..], &["--starts", "2", "--folds", "1"]].concat()).json();
    assert_eq!(fewer["manifest"]["reduced"]["starts"], 2);
    assert_eq!(cell(&fewer, 0, 0)["runs"].as_array().unwrap().len(), 2);
}

#[test]
fn a_run_that_was_stopped_anywhere_goes_on_to_the_same_bytes() {
    let folder = Folder::generated();
    let (mine, data) = (written(&folder, MINE), parent(&folder));
    let make = |out: &str, resume: &[&str]| {
        bidilel(&[&["reproduce", &mine, "--data", &data, "--out", out, "--format", "csv"], resume].concat())
    };
    let whole = folder.beside("whole");
    let first = make(&whole, &[]);
    assert_eq!(first.status, 0, "{}", first.stderr);
    let journal = fs::read_to_string(Path::new(&whole).join("journal.jsonl")).expect("a journal");
    let lines: Vec<&str> = journal.lines().collect();
    // The machine, 4 settings on 2 folds, their choice, one that is given, 3 and 1 runs.
    assert_eq!(lines.len(), 1 + 1 + 8 + 2 + 4, "{journal}");
    for kept in [1, 4, 10, lines.len()] {
        let part = folder.beside(&format!("part-{kept}"));
        fs::create_dir(&part).expect("a folder");
        // The last line is unfinished, as a kill leaves it.
        let text = lines[..kept].join("\n") + "\n" + &journal[..20];
        fs::write(Path::new(&part).join("journal.jsonl"), text).expect("a file");
        assert!(make(&part, &[]).error().contains("continue it with --resume"));
        let second = make(&part, &["--resume"]);
        assert_eq!(second.stdout, first.stdout);
        for ending in ["txt", "md", "tex", "csv", "json"] {
            let read = |out: &str| fs::read(Path::new(out).join(format!("mine.{ending}"))).expect(ending);
            assert_eq!(read(&part), read(&whole), "{ending} after {kept} lines");
        }
    }
}

#[test]
fn killed_while_it_runs_it_resumes_to_the_same_bytes() {
    let folder = Folder::generated();
    let (mine, data) = (written(&folder, MINE), parent(&folder));
    let words = ["reproduce", &mine, "--data", &data, "--format", "json"];
    let whole = bidilel(&words).stdout;
    let out = folder.beside("killed");
    let journal = Path::new(&out).join("journal.jsonl");
    let resumed = [&words[..], &["--out", &out, "--resume"]].concat();
    // Each is killed as soon as the journal has grown by some lines: wherever it then is.
    for lines in [2, 6, 9] {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("bidilel"))
            .args(&resumed)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let written = || fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
        while written() < lines && child.try_wait().expect("a process").is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = child.kill();
        child.wait().expect("it ends");
    }
    assert_eq!(bidilel(&resumed).stdout, whole);
}

#[test]
fn mistakes_in_a_file_are_told_with_their_line() {
    let folder = Folder::generated();
    let ran = |text: String| bidilel(&["reproduce", &written(&folder, &text), "--data", &parent(&folder)]);
    let wrong = ran(MINE.replace("search = \"few\"", "search = \"many\""));
    assert!(
        wrong.error().contains("mine.toml`: line 18: a search of [searches] must be one of few"),
        "{}",
        wrong.stderr
    );
    assert!(wrong.stderr.contains("--show"), "{}", wrong.stderr);
    assert!(ran(MINE.replace("alpha = 3.0", "alfa = 3.0")).error().contains("line 24: setting `alfa`"));
    assert!(
        ran(MINE.replace("title = \"Mine\"", "titel = 1")).error().contains("line 1: unknown field `titel`")
    );
}

#[test]
fn what_cannot_be_meant_is_refused_before_anything_is_computed() {
    let folder = Folder::generated();
    let data = parent(&folder);
    for (arguments, words) in [
        (&["reproduce"][..], "--list names all"),
        (&["reproduce", "gamma"], "say where the data are: --data DIR"),
        (&["reproduce", "gama", "--data", &data], "did you mean `gamma`"),
        (&["reproduce", "gamma", "--data", "/nowhere/at/all"], "there is no such folder"),
        (&["reproduce", "gamma", "--data", &data, "--stand-ins"], "cannot be used with"),
        (&["reproduce", "gamma", "--data", &data, "--resume"], "--out"),
        (&["reproduce", "gamma", "--stand-ins", "--scale", "2"], "above 0 and up to 1"),
        (&["reproduce", "gamma", "--data", &data, "--format", "parquet"], "parquet"),
    ] {
        assert!(
            bidilel(arguments).usage().contains(words) || bidilel(arguments).stderr.contains(words),
            "{arguments:?}"
        );
    }
    assert!(bidilel(&["reproduce", "none.toml", "--data", &data]).error().contains("cannot be read"));
}

#[test]
fn tables_are_listed_and_shown() {
    let list = bidilel(&["reproduce", "--list", "--format", "json"]).json();
    let names: Vec<&str> =
        list["experiments"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    let expected = [
        "hyper-parameters",
        "enabling-techniques",
        "joint-learners",
        "gamma",
        "object-recognition",
        "action-recognition",
        "representations",
    ];
    assert_eq!(names, expected);
    assert_eq!(list["experiments"][5]["datasets"], serde_json::json!(["ucf101", "hmdb51"]));
    assert_eq!(list["experiments"][0]["published"], "table_d, fig_hyperparameter");
    let text = bidilel(&["reproduce", "--list"]).stdout;
    assert!(expected.iter().all(|name| text.contains(name)), "{text}");
    // What is shown can be run.
    let folder = Folder::generated();
    let shown = bidilel(&["reproduce", "gamma", "--show"]);
    let path = written(&folder, &shown.stdout);
    let table = bidilel(&["reproduce", &path, "--data", &parent(&folder), "--format", "json"]).json();
    assert_eq!(table["rows"].as_array().unwrap().len(), 4, "no row for what the paper does not have");
    let missing = table["missing"].as_array().unwrap();
    let whole =
        missing.iter().filter(|one| one["put"].as_str().unwrap().ends_with("(a folder with a dataset.toml)"));
    assert_eq!(whole.count(), 2, "both datasets: {missing:?}");
}

/// Folders for the four datasets: few classes, and two sets of features under all names that the tables ask for.
fn four_datasets(folder: &Folder) -> String {
    const PICTURES: &[&str] = &["googlenet", "vgg19", "overfeat", "decaf"];
    const VIDEOS: &[&str] = &[
        "c3d", "mbh", "hog", "hof", "mbhx", "mbhy", "hog-bof", "hof-bof", "mbhx-bof", "mbhy-bof", "gist3d",
        "stlpc",
    ];
    let root = folder.beside("four");
    fs::create_dir(&root).expect("a folder");
    for (name, views) in [("awa", PICTURES), ("cub", PICTURES), ("ucf101", VIDEOS), ("hmdb51", VIDEOS)] {
        let path = Path::new(&root).join(name);
        let small = ["--scale", "0.1", "--known", "10", "--unseen", "4", "--seed", "4"];
        let ran = bidilel(&[&["generate", path.to_str().expect("UTF-8")], &small[..]].concat());
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let mut text = fs::read_to_string(path.join("dataset.toml")).expect("a file");
        for (view, file) in views.iter().zip(["cnn", "motion"].iter().cycle()) {
            text += &["\n[visual.", view, "]\nfile = \"", file, ".npy\"\n"].concat();
        }
        for split in ["51-50", "81-20", "26-25"] {
            text += &["\n[split.", split, "]\nfile = \"random-splits.npy\"\n"].concat();
        }
        fs::write(path.join("dataset.toml"), text).expect("a file");
    }
    root
}

#[test]
fn all_tables_are_made_of_small_datasets() {
    let folder = Folder::generated();
    let (data, out) = (four_datasets(&folder), folder.beside("out"));
    let few = ["--splits", "1", "--folds", "1", "--starts", "2"];
    let words = ["reproduce", "all", "--data", &data, "--out", &out, "--format", "json"];
    let tables = bidilel(&[&words[..], &few].concat()).json();
    let tables = tables["tables"].as_array().expect("tables");
    assert_eq!(tables.len(), 7);
    for table in tables {
        let name = table["experiment"].as_str().unwrap();
        assert_eq!(table["missing"], serde_json::json!([]), "{name}");
        for row in table["rows"].as_array().unwrap() {
            for cell in row["cells"].as_array().unwrap() {
                assert!(
                    ["measured", "empty"].contains(&cell["status"].as_str().unwrap()),
                    "{name} {}: {cell}",
                    row["id"]
                );
            }
        }
        let tex = fs::read_to_string(Path::new(&out).join(format!("{name}.tex"))).expect("LaTeX");
        assert_eq!(tex.matches("\\begin{").count(), tex.matches("\\end{").count());
        assert_eq!(tex.matches('{').count(), tex.matches('}').count(), "{tex}");
        let plain = |c: char| c.is_ascii();
        assert!(tex.chars().all(plain), "symbols are commands: {tex}");
        let curves = Path::new(&out).join(format!("{name}-curves.csv"));
        assert_eq!(
            curves.exists(),
            ["hyper-parameters", "gamma", "representations"].contains(&name),
            "{name}"
        );
    }
    let figure = &tables[0]["figures"][0];
    assert_eq!(
        (&figure["x_label"], figure["series"].as_array().unwrap().len()),
        (&"alpha".into(), 3),
        "{figure}"
    );
    assert!(figure["series"][0]["points"][0]["y"].as_f64().is_some());
    assert!(Path::new(&out).join("hyper-parameters-awa-googlenet-alpha.svg").exists());
}

#[test]
fn without_folds_nothing_is_searched_for_and_the_defaults_are_run() {
    let folder = Folder::generated();
    let mine = written(&folder, MINE);
    let words = ["reproduce", &mine, "--data", &parent(&folder), "--folds", "0", "--format", "json"];
    let table = bidilel(&words).json();
    let (searched, fixed) = (cell(&table, 0, 0), cell(&table, 1, 0));
    assert_eq!((&searched["status"], &fixed["status"]), (&"measured".into(), &"measured".into()));
    let run = &searched["runs"][0];
    assert!(run["settings"]["alpha"].is_null() && run["settings"]["dim"].is_null(), "{run}");
    let evaluated = bidilel(&["evaluate", &folder.data(), "--init", "random", "--format", "json"]).json();
    assert_eq!(run["per_class"], evaluated["accuracy"]["per_class"]);
    assert!(table["notes"][0].as_str().unwrap().contains("no search"), "{}", table["notes"]);
}

#[test]
fn stand_ins_have_the_classes_of_the_real_data_and_are_no_data_of_the_paper() {
    let folder = Folder::generated();
    let text = MINE
        .replace("dataset = \"data\"", "dataset = \"awa\"")
        .replace("visual = \"cnn\"", "visual = \"googlenet\"");
    let text = text
        .replace("\"attributes\"", "\"att\"")
        .replace("data/cnn/attributes\", \"", "awa/googlenet/att\", \"");
    let mine = written(&folder, &text);
    let words = ["reproduce", &mine, "--stand-ins", "--scale", "0.012", "--starts", "1", "--folds", "1"];
    let table = bidilel(&[&words[..], &["--format", "json"]].concat()).json();
    let (fixed, manifest) = (cell(&table, 1, 0), &table["manifest"]);
    assert_eq!((&fixed["status"], &fixed["published"]["value"]), (&"measured".into(), &0.99.into()));
    assert_eq!((&fixed["difference"], &fixed["p_value"]), (&Value::Null, &Value::Null), "generated data");
    assert!(table["notes"][0].as_str().unwrap().contains("stand-ins"), "{}", table["notes"]);
    assert!(table["notes"][1].as_str().unwrap().contains("folds 1, starts 1"), "{}", table["notes"]);
    assert_eq!(manifest["reduced"]["stand_ins"], 0.012);
    assert_eq!((&manifest["data"][0]["name"], &manifest["data"][0]["classes"]), (&"awa".into(), &50.into()));
}
