//! Results as pages and charts.

use std::path::Path;

use serde_json::Value;

use crate::support::{Folder, bidilel};

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn names(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn run_data_make_the_same_page_as_the_run_itself() {
    let folder = Folder::generated();
    let [run, page, again, plots] =
        ["run.json", "page.html", "again.html", "plots"].map(|name| folder.beside(name));
    let data = folder.data();
    let ran = bidilel(&[
        "evaluate",
        &data,
        "--run-data",
        &run,
        "--report",
        &page,
        "--plots",
        &plots,
        "--format",
        "json",
    ]);
    let result = ran.json();
    let saved: Value = serde_json::from_str(&read(&run)).expect("JSON");
    for key in ["accuracy", "classes", "runs", "method", "timings"] {
        assert_eq!(saved[key], result[key], "run data have what evaluate prints: {key}");
    }
    assert!(result.get("run_data").is_none(), "points are not printed");
    let command = saved["run_data"]["command"].as_str().expect("a command line");
    assert!(command.starts_with("bidilel evaluate ") && command.contains("--run-data"), "{command}");
    let steps = saved["run_data"]["convergence"][0].as_array().expect("iterations");
    let cost = |step: &Value| step[1].as_f64().expect("a cost");
    assert!(
        steps.len() > 3 && steps.windows(2).all(|pair| cost(&pair[1]) <= cost(&pair[0])),
        "the cost never rises"
    );
    let written = bidilel(&["report", &run, "--out", &again, "--format", "json"]).json();
    assert_eq!(written["results"], 1);
    assert!(read(&page) == read(&again), "the same page from the file");
    assert!(
        read(&page).contains("<canvas data-map=\"0\"")
            && read(&page).contains("Semantic and latent distances")
    );
    let charts = names(&plots);
    for chart in ["classes", "confusion", "convergence", "distances", "hubs-1", "map"] {
        assert!(
            charts.contains(&format!("{chart}.svg")) && charts.contains(&format!("{chart}.png")),
            "{charts:?}"
        );
    }
    let png = std::fs::read(Path::new(&plots).join("map.png")).expect("a picture");
    assert_eq!(&png[1..4], b"PNG");
    assert!(read(&format!("{plots}/map.svg")).contains("#ffffff"), "light by default");
}

/// The run data of an evaluation of generated data.
fn run_data(folder: &Folder, options: &[&str]) -> Value {
    let (path, data) = (folder.beside("run.json"), folder.data());
    let ran = bidilel(&[&["evaluate", &data, "--run-data", &path][..], options].concat());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let saved: Value = serde_json::from_str(&read(&path)).expect("JSON");
    saved["run_data"].clone()
}

#[test]
fn the_convergence_is_that_of_the_first_run_alone() {
    let folder = Folder::generated();
    let once = |options: &[&str]| {
        let all = run_data(&folder, options)["convergence"].clone();
        assert_eq!(all.as_array().map(Vec::len), Some(1), "{options:?}");
        all
    };
    let alone = once(&[]);
    assert_eq!(once(&["--open-set"]), alone, "mappings without some classes");
    assert_eq!(once(&["--repeat", "3"]), alone);
    once(&["--random-splits", "3"]);
    let several = run_data(&folder, &["--starts", "3"])["convergence"].clone();
    assert_eq!(several.as_array().map(Vec::len), Some(3), "several minimizations of one run");
    assert_eq!(several[0], alone[0]);
}

#[test]
fn instances_have_their_paths_on_the_map() {
    let folder = Folder::generated();
    let unnamed = run_data(&folder, &[]);
    assert!(unnamed.get("names").is_none(), "there is no list");
    let header = std::fs::read(folder.file("cnn.npy")).expect("features")[..128].to_vec();
    let shape = String::from_utf8_lossy(&header).split_once("'shape': (").expect("a shape").1.to_owned();
    let count: usize = shape.split(',').next().and_then(|rows| rows.parse().ok()).expect("rows");
    let rows = (0..count).map(|row| format!("{row},sea/picture {row}.jpg,sea\n"));
    let list = std::iter::once("index,path,label\n".to_owned()).chain(rows).collect::<String>();
    std::fs::write(folder.file("cnn.csv"), list).expect("writable");
    let named = run_data(&folder, &[]);
    let instances = named["instances"].as_array().expect("instances");
    assert_eq!(named["instances"], unnamed["instances"]);
    for (instance, name) in instances.iter().zip(named["names"].as_array().expect("names")) {
        assert_eq!(name.as_str(), Some(&format!("sea/picture {instance}.jpg")[..]));
    }
    assert_eq!(named["names"].as_array().map(Vec::len), Some(instances.len()));
    let page = folder.beside("page.html");
    let ran = bidilel(&["evaluate", &folder.data(), "--report", &page]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(read(&page).contains(&format!("\"sea/picture {}.jpg\"", instances[0])));
}

#[test]
fn a_map_is_the_same_for_any_number_of_threads() {
    let folder = Folder::generated();
    let map = |threads: &str| {
        let path = folder.beside("run.json");
        let data = folder.data();
        let ran = bidilel(&["evaluate", &data, "--run-data", &path, "--threads", threads]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let saved: Value = serde_json::from_str(&read(&path)).expect("JSON");
        saved["run_data"]["map"].clone()
    };
    assert_eq!(map("1"), map("4"));
}

#[test]
fn the_demonstration_has_its_pictures_on_the_map() {
    let folder = Folder::generated();
    let page = folder.beside("demo.html");
    let ran = bidilel(&["demo", "--no-page", "--report", &page]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let page = read(&page);
    assert!(page.matches("data:image/webp;base64,").count() > 100 && page.contains("drawn by noto"));
    assert!(page.contains("<h1>bidilel on emoji</h1>") && page.len() < 2_000_000, "{}", page.len());
}

#[test]
fn methods_without_a_latent_space_have_a_page_without_a_map() {
    let folder = Folder::generated();
    let (data, page) = (folder.data(), folder.beside("page.html"));
    let ran = bidilel(&["evaluate", &data, "--method", "eszsl", "--report", &page]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let page = read(&page);
    assert!(!page.contains("<canvas data-map") && page.contains("The map: this method has no latent space."));
    assert!(page.contains("<canvas data-confusion=\"0\"") && page.contains("Hubs, k = 1"));
}

#[test]
fn every_command_with_a_result_has_a_page_and_all_go_onto_one() {
    let folder = Folder::generated();
    let data = folder.data();
    let commands: [(&str, &[&str], &str); 4] = [
        ("evaluate", &[], "Every class"),
        ("tune", &["--alpha", "1,10", "--dim", "5", "--trials", "2"], "Everything that was tried"),
        ("select", &["--visual", "cnn,motion", "--trials", "2", "--evaluate"], "What each view adds"),
        ("compare", &["--methods", "rr,eszsl"], "Every method"),
    ];
    let mut files = Vec::new();
    for (command, options, section) in commands {
        let page = folder.beside(&format!("{command}.html"));
        let arguments = [&[command, &data][..], options, &["--report", &page, "--format", "json"]].concat();
        let ran = bidilel(&arguments);
        let file = folder.beside(&format!("{command}.json"));
        assert_eq!(ran.json()["dataset"], "small", "{command}");
        std::fs::write(&file, &ran.stdout).expect("writable");
        let page = read(&page);
        assert!(page.contains(&format!(">{section}</h2>")), "{command}: {section}");
        assert!(page.contains(&format!("bidilel {command} ")), "the command line of {command}");
        files.push(file);
    }
    let (out, plots) = (folder.beside("all.html"), folder.beside("plots"));
    let mut arguments = vec!["report"];
    arguments.extend(files.iter().map(String::as_str));
    let told =
        bidilel(&[&arguments[..], &["--out", &out, "--plots", &plots, "--plot-theme", "dark"]].concat());
    assert_eq!(told.status, 0, "{}", told.stderr);
    assert!(told.stdout.contains("4 results"), "{}", told.stdout);
    let page = read(&out);
    assert!(page.contains("<h1>4 results</h1>") && page.contains("Against the best compared method"));
    assert!(
        page.contains(">Settings for small</h2>") && page.contains(">Views of small</h2>"),
        "by their data"
    );
    let charts = names(&plots);
    assert!(
        charts.contains(&"4-comparison.svg".to_owned()) && charts.contains(&"2-tuning-alpha.png".to_owned()),
        "{charts:?}"
    );
    assert!(read(&format!("{plots}/1-classes.svg")).contains("#141820"), "dark as asked for");
}
