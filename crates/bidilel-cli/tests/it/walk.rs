//! The walk in `docs/guide.md`: every command of its section on the wildlife camera is run, in order, in one folder.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use crate::support::{Ran, bidilel_in};
use crate::wildlife::{Camera, nothing};

const HEADING: &str = "## A wildlife camera, from pictures to names";

/// The fenced blocks of the section: their language and their text.
fn blocks() -> Vec<(String, String)> {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide.md");
    let guide = fs::read_to_string(guide).expect("the guide");
    let section = guide.split(HEADING).nth(1).expect("the section");
    let section = section.split("\n## ").next().expect("its text");
    let mut blocks = Vec::new();
    for block in section.split("\n```").skip(1).step_by(2) {
        let (language, text) = block.split_once('\n').expect("a block has lines");
        blocks.push((language.to_owned(), format!("{text}\n")));
    }
    blocks
}

/// The words of a command as a shell has them: double quotes hold words together, `#` begins a comment.
fn words(line: &str) -> Vec<String> {
    let line = line.split(" #").next().unwrap_or(line);
    let mut words = Vec::new();
    for (place, part) in line.split('"').enumerate() {
        if place % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// The species of the guide's table that have photos: all but the last two.
fn shoot(camera: &Camera, table: &str) -> HashMap<String, String> {
    let species: Vec<(String, String)> = table
        .lines()
        .skip(1)
        .map(|line| line.split_once(',').expect("a name and a description"))
        .map(|(name, description)| (name.to_owned(), description.to_owned()))
        .collect();
    for (kind, (name, description)) in (0_u32..).zip(&species) {
        if (kind as usize) < species.len() - 2 {
            camera.shoot(&format!("photos/{name}"), description, 100 * kind..100 * kind + 8);
        }
    }
    species.into_iter().collect()
}

#[test]
fn every_command_of_the_walk_runs_and_says_what_the_guide_says() {
    let camera = Camera::new();
    let blocks = blocks();
    let table = &blocks.iter().find(|(language, _)| language == "csv").expect("a table").1;
    camera.put("species.csv", table);
    let species = shoot(&camera, table);
    camera.shoot("new/unseen-a", &species["snow leopard"], 7000..7004);
    camera.shoot("new/unseen-b", &species["bongo"], 7100..7104);
    camera.shoot("new/unseen-c", "a large white animal with stripes", 7200..7204);
    camera.shoot("new/known-a", &species["fox"], 7300..7304);
    camera.shoot("new/known-b", &species["panther"], 7400..7404);
    (0..4).for_each(|number| camera.put(&format!("new/nothing/{number:04}.jpg"), nothing(number)));

    let mut ran: HashMap<String, Ran> = HashMap::new();
    for (_, text) in blocks.iter().filter(|(language, _)| language == "sh") {
        for line in text.replace("\\\n", " ").lines() {
            let words = words(line);
            assert_eq!(words[0], "bidilel", "{line}");
            let arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
            let result = bidilel_in(camera.folder(), &arguments);
            assert_eq!(result.status, 0, "{line}: {}", result.stderr);
            ran.insert(line.split_whitespace().collect::<Vec<_>>().join(" "), result);
        }
    }
    let rare = label_of_each(&ran["bidilel predict camera.safetensors new --top 3"].stdout);
    assert_eq!(named(&rare, "unseen-a", "snow leopard"), 4, "{rare:?}");
    assert_eq!(named(&rare, "unseen-b", "bongo"), 4, "{rare:?}");
    // Known classes are no candidates of that model.
    assert_eq!(named(&rare, "known-a", "fox"), 0, "{rare:?}");
    assert!(camera.path("sorted/snow leopard").is_dir() && camera.path("names.csv").is_file());

    let all = label_of_each(&ran["bidilel predict all.safetensors new --reject 0.1"].stdout);
    assert_eq!(named(&all, "nothing", ""), 4, "{all:?}");
    let right =
        [("known-a", "fox"), ("known-b", "panther"), ("unseen-a", "snow leopard"), ("unseen-b", "bongo")];
    for (folder, label) in right {
        assert!(named(&all, folder, label) >= 3, "{folder}: {all:?}");
    }

    let again = label_of_each(&fs::read_to_string(camera.path("again.csv")).expect("predictions"));
    assert_eq!(named(&all, "unseen-c", "zebra"), 0, "{all:?}");
    assert_eq!(named(&again, "unseen-c", "zebra"), 4, "{again:?}");
    let why = &ran["bidilel explain all.safetensors new/unseen-c"].stdout;
    assert!(
        why.contains("7200.jpg: zebra (") && why.contains("similar training instances: mountain goat/"),
        "{why}"
    );
}

/// How many pictures of a folder have a label.
fn named(labels: &[(String, String)], folder: &str, label: &str) -> usize {
    labels.iter().filter(|(path, found)| path.contains(folder) && found == label).count()
}

/// The first label of every path in a table of predictions.
fn label_of_each(table: &str) -> Vec<(String, String)> {
    let mut reader = csv_reader(table);
    let header = reader.remove(0);
    let column = |name: &str| header.iter().position(|cell| cell == name).expect("the column");
    let (label, path) = (column("label"), column("path"));
    let mut first: Vec<(String, String)> = Vec::new();
    for row in reader {
        if !first.iter().any(|(known, _)| *known == row[path]) {
            first.push((row[path].clone(), row[label].clone()));
        }
    }
    first
}

/// Rows of plain cells: neither paths nor labels of the walk have commas.
fn csv_reader(text: &str) -> Vec<Vec<String>> {
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}
