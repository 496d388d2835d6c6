//! Names that strangers chose: they reach terminals, logs, spreadsheets and pages as text, and do nothing there.

use crate::support::{Folder, bidilel};

const NASTY: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J";

/// A dataset whose first class has a name, and a model of it.
fn with_class(name: &str) -> (Folder, String) {
    let folder = Folder::generated();
    let text = std::fs::read_to_string(folder.file("classes.txt")).expect("classes");
    let first = text.lines().next().expect("a class").to_owned();
    for file in std::fs::read_dir(folder.data()).expect("a folder").flatten() {
        let file = file.file_name().into_string().expect("plain");
        if std::path::Path::new(&file).extension().is_some_and(|ending| ending == "txt") {
            folder.edit(&file, |text| text.replacen(&format!("{first}\n"), &format!("{name}\n"), 1));
        }
    }
    // It is to be an unseen one, because these are what is recognized.
    let quoted: Vec<String> = name.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    let quoted = quoted.concat();
    folder.edit("dataset.toml", |text| {
        let head = text.split("[split").next().expect("what precedes splits").to_owned();
        head + &format!("\n[split.only]\nunseen = [\"{quoted}\"]\n")
    });
    let model = folder.beside("model");
    let ran = bidilel(&["fit", &folder.data(), "--out", &model]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    (folder, model)
}

#[test]
fn escape_sequences_in_names_are_written_out() {
    let (folder, model) = with_class(NASTY);
    let features = folder.file("cnn.npy");
    let features = features.to_str().expect("plain");
    let strange = folder.beside("no\u{1b}[31m\nerror: fake");
    for words in [
        &["evaluate", &folder.data()][..],
        &["inspect", &folder.data()],
        &["class", "list", &model],
        &["predict", &model, features, "--format", "text"],
        &["evaluate", &strange],
        &["evaluate", &folder.data(), "--split", NASTY],
        &["evaluate", &folder.data(), "--verbose"],
    ] {
        let ran = bidilel(words);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!said.contains(['\u{1b}', '\u{7}']), "{words:?}: {said:?}");
        assert!(said.matches("\nerror: fake").count() == 0, "{said}");
    }
    let shown = bidilel(&["evaluate", &folder.data()]).stdout;
    assert!(shown.contains("\\u{1b}]0;owned\\u{7}"), "{shown}");
    // Programs get the name as it is.
    let json = bidilel(&["evaluate", &folder.data(), "--format", "json"]).json();
    assert_eq!(json["classes"][0]["name"], NASTY);
}

#[test]
fn formulas_in_names_are_text_where_that_is_asked_for() {
    let (folder, model) = with_class("=HYPERLINK(1)");
    let features = folder.file("cnn.npy");
    let features = features.to_str().expect("plain");
    let plain = bidilel(&["predict", &model, features]).stdout;
    assert!(plain.contains(",=HYPERLINK(1),"), "scripts join by name: {plain}");
    let safe = bidilel(&["predict", &model, features, "--csv-safe"]).stdout;
    assert!(safe.contains(",'=HYPERLINK(1),") && !safe.contains(",=HYPERLINK"), "{safe}");
    let table = bidilel(&["class", "list", &model, "--format", "csv", "--csv-safe"]).stdout;
    assert!(table.contains("'=HYPERLINK(1)"), "{table}");
}

#[test]
fn html_in_names_is_text_in_markdown() {
    let (_folder, model) = with_class("<img src=x onerror=alert(1)>");
    let table = bidilel(&["class", "list", &model, "--format", "markdown"]).stdout;
    assert!(table.contains("&lt;img src=x onerror=alert(1)&gt;") && !table.contains("<img"), "{table}");
}

#[test]
fn a_name_of_forty_kilobytes_is_refused_at_once() {
    let folder = Folder::generated();
    let long = "x".repeat(40_000);
    folder.edit("classes.txt", |text| text + &format!("{long}y\n"));
    folder.edit("dataset.toml", |text| {
        let head = text.split("[split").next().expect("what precedes splits").to_owned();
        head + &format!("\n[split.only]\nunseen = [\"{long}\"]\n")
    });
    let begun = std::time::Instant::now();
    let ran = bidilel(&["evaluate", &folder.data()]);
    assert_eq!(ran.status, 1);
    assert!(begun.elapsed().as_secs_f64() < 1.5, "{:?}", begun.elapsed());
}
