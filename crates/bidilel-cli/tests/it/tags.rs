//! Several labels per instance: files of tags, `tag`, `fit` and `predict --tags`.

use std::collections::HashSet;
use std::fs;

use bidilel::dataset::Rows;
use bidilel_data::array::NpyWriter;

use crate::support::{Folder, bidilel};

/// A generated dataset whose instances have their own label and, two of three, that of a partner whose features are added.
struct Tagged {
    folder: Folder,
    classes: Vec<String>,
    tags: Vec<Vec<usize>>,
}

fn tagged() -> Tagged {
    let folder = Folder::generated();
    let open = |name: &str| bidilel_data::array::open(&folder.file(name), None).expect("an array");
    let labels = open("labels.npy").to_indices(bidilel_data::array::Base::Zero).expect("labels");
    let features = open("cnn.npy");
    let rows: &dyn Rows = &features;
    let count = labels.len();
    let partner = |i: usize| (i * 7919 + 13) % count;
    let mut mixed = NpyWriter::new(Vec::new(), &[count, rows.dim()]).expect("a writer");
    let mut tags = Vec::new();
    for i in 0..count {
        let (mut own, mut other) = (vec![0.0_f32; rows.dim()], vec![0.0_f32; rows.dim()]);
        rows.read(i, &mut own);
        rows.read(partner(i), &mut other);
        let mut labels_of = vec![labels[i]];
        if i % 3 > 0 {
            own.iter_mut().zip(&other).for_each(|(own, other)| *own += other);
            labels_of.push(labels[partner(i)]);
        }
        labels_of.sort_unstable();
        labels_of.dedup();
        mixed.write(&own).expect("memory");
        tags.push(labels_of);
    }
    let mixed = mixed.finish().expect("memory");
    drop(features);
    folder.edit_bytes("cnn.npy", |bytes| *bytes = mixed);
    let classes = fs::read_to_string(folder.file("classes.txt")).expect("classes");
    let classes = classes.lines().map(str::to_owned).collect();
    folder.edit("dataset.toml", |text| text.replace("labels = \"labels.npy\"", "tags = \"tags.npy\""));
    let tagged = Tagged { folder, classes, tags };
    tagged.write_array();
    tagged
}

impl Tagged {
    fn write_array(&self) {
        let mut array = NpyWriter::new(Vec::new(), &[self.tags.len(), self.classes.len()]).expect("a writer");
        for own in &self.tags {
            let row: Vec<f32> =
                (0..self.classes.len()).map(|class| f32::from(u8::from(own.contains(&class)))).collect();
            array.write(&row).expect("memory");
        }
        fs::write(self.folder.file("tags.npy"), array.finish().expect("memory")).expect("writable");
    }

    /// Uses another file of tags.
    fn use_file(&self, name: &str, content: &str) {
        fs::write(self.folder.file(name), content).expect("writable");
        self.folder.edit("dataset.toml", |text| {
            let line = text.lines().find(|line| line.starts_with("tags = ")).expect("tags").to_owned();
            text.replace(&line, &format!("tags = \"{name}\""))
        });
    }

    fn names(&self, instance: usize) -> Vec<&str> {
        self.tags[instance].iter().map(|&class| self.classes[class].as_str()).collect()
    }

    fn evaluated(&self, options: &[&str]) -> serde_json::Value {
        let data = self.folder.data();
        let arguments = [&["tag", &data, "--visual", "cnn", "--format", "json"], options].concat();
        let mut result = bidilel(&arguments).json();
        result.as_object_mut().expect("an object").remove("timings");
        result
    }
}

#[test]
fn tags_of_unseen_labels_are_far_better_than_chance() {
    let tagged = tagged();
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    for options in [&["--method", "best"][..], &["--method", "eszsl"], &["--candidates", "all"]] {
        let result = tagged.evaluated(options);
        let precision = number(&result["mean_average_precision"]["per_class"]);
        assert!(precision > 1.3 * number(&result["chance"]), "{options:?}: {precision} {}", result["chance"]);
        for key in ["precision", "recall", "f1"] {
            assert!((0.0..=1.0).contains(&number(&result["micro"][key])));
            assert!((0.0..=1.0).contains(&number(&result["top"]["3"][key])));
        }
        assert!(number(&result["macro_f1"]) > 0.0);
        let classes = result["classes"].as_array().expect("labels");
        assert_eq!(
            classes.len() > tagged.classes.len() / 2,
            options[0] == "--candidates",
            "{}",
            classes.len()
        );
        // All unseen labels share a threshold; known ones have their own.
        let thresholds: HashSet<String> =
            classes.iter().map(|class| class["threshold"].to_string()).collect();
        assert_eq!(thresholds.len() > 1, options[0] == "--candidates", "{thresholds:?}");
    }
    let text = bidilel(&["tag", &tagged.folder.data(), "--visual", "cnn"]);
    assert!(text.stdout.contains("mean average precision"), "{}", text.stdout);
    assert!(text.stdout.contains("above thresholds"), "{}", text.stdout);
}

#[test]
fn arrays_tables_and_lists_are_the_same_tags() {
    let tagged = tagged();
    let array = tagged.evaluated(&[]);
    let lines = |separator: &str| {
        let list = |instance: usize| tagged.names(instance).join(separator);
        (0..tagged.tags.len()).map(list).collect::<Vec<_>>()
    };
    let table = |separator: &str| {
        let row = |(instance, names): (usize, String)| format!("{instance},\"{names}\"\n");
        let rows: String = lines(separator).into_iter().enumerate().map(row).collect();
        format!("instance,tags\n{rows}")
    };
    // Columns in another order than the classes: they are joined by name.
    let reversed: Vec<usize> = (0..tagged.classes.len()).rev().collect();
    let head: Vec<&str> = reversed.iter().map(|&class| tagged.classes[class].as_str()).collect();
    let cells = |own: &Vec<usize>| {
        let cells: Vec<&str> =
            reversed.iter().map(|class| if own.contains(class) { "1" } else { "0" }).collect();
        cells.join(",") + "\n"
    };
    let wide = head.join(",") + "\n" + &tagged.tags.iter().map(cells).collect::<String>();
    for (name, content) in [
        ("semicolons.csv", table(";")),
        ("bars.csv", table("|")),
        ("commas.csv", table(", ")),
        ("lines.txt", lines("; ").join("\n") + "\n"),
        ("wide.csv", wide),
    ] {
        tagged.use_file(name, &content);
        assert_eq!(tagged.evaluated(&[]), array, "{name}");
    }
}

#[test]
fn a_model_of_tags_gives_every_label_above_its_threshold() {
    let tagged = tagged();
    let (data, model) = (tagged.folder.data(), tagged.folder.beside("model"));
    let ran = bidilel(&["fit", &data, "--visual", "cnn", "--method", "best", "--out", &model]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let features = tagged.folder.file("cnn.npy");
    let features = features.to_str().expect("a plain path");
    let predicted = bidilel(&["predict", &model, features, "--tags"]);
    assert_eq!(predicted.status, 0, "{}", predicted.stderr);
    let all = bidilel(&["predict", &model, features, "--top", "100"]);
    let threshold =
        tagged.evaluated(&["--method", "best"])["classes"][0]["threshold"].as_f64().expect("a number");
    // Every row that `--top` gives and that reaches the threshold, and one empty label for instances without.
    let cells = |text: &str| -> Vec<(usize, String, f64)> {
        let row = |line: &str| {
            let cells: Vec<&str> = line.split(',').collect();
            (cells[0].parse().expect("an index"), cells[1].to_owned(), cells[2].parse().expect("a distance"))
        };
        text.lines().skip(1).map(row).collect()
    };
    let (found, all) = (cells(&predicted.stdout), cells(&all.stdout));
    let expected: Vec<_> = all.iter().filter(|row| -row.2 >= threshold).cloned().collect();
    let named: Vec<_> = found.iter().filter(|row| !row.1.is_empty()).cloned().collect();
    assert_eq!(named, expected);
    assert!(!named.is_empty());
    let instances: HashSet<usize> = found.iter().map(|row| row.0).collect();
    assert_eq!(instances.len(), tagged.tags.len());
    let several = bidilel(&["predict", &model, features, "--tags", "--top", "3"]);
    assert!(several.usage().contains("--top"), "{}", several.stderr);
}

#[test]
fn what_needs_one_label_per_instance_says_so() {
    let tagged = tagged();
    let data = tagged.folder.data();
    for command in ["evaluate", "tune", "compare", "select"] {
        let ran = bidilel(&[command, &data]);
        assert!(ran.error().contains("several labels each"), "{}", ran.stderr);
        assert!(ran.stderr.contains("hint: `bidilel tag`"), "{}", ran.stderr);
    }
    let inspected = bidilel(&["inspect", &data, "--format", "json"]).json();
    assert_eq!(inspected["instances"], tagged.tags.len());
    let plain = Folder::generated();
    let model = plain.beside("model");
    assert_eq!(bidilel(&["fit", &plain.data(), "--out", &model]).status, 0);
    let features = plain.file("cnn.npy");
    let ran = bidilel(&["predict", &model, features.to_str().expect("a plain path"), "--tags"]);
    assert!(ran.error().contains("no thresholds"), "{}", ran.stderr);
}

#[test]
fn tags_that_make_no_sense_are_refused_with_their_place() {
    let tagged = tagged();
    let error = |name: &str, content: &str| {
        tagged.use_file(name, content);
        let ran = bidilel(&["tag", &tagged.folder.data(), "--visual", "cnn"]);
        ran.error().to_owned()
    };
    let first = &tagged.classes[0];
    let unknown = error("bad.txt", &format!("{first};no such class\n"));
    assert!(unknown.contains("no such class"), "{unknown}");
    let short = error("short.txt", &format!("{first}\n"));
    assert!(short.contains("short.txt"), "{short}");
    let missing = error("missing.csv", &format!("{first}\n1\n"));
    assert!(missing.contains(&tagged.classes[1]), "{missing}");
    let head = tagged.classes.join(",");
    let two = error("two.csv", &format!("{head}\n2{}\n", ",0".repeat(tagged.classes.len() - 1)));
    assert!(two.contains("expected 0 or 1, found 2"), "{two}");
    tagged.folder.edit("dataset.toml", |text| format!("labels = \"labels.npy\"\n{text}"));
    let both = bidilel(&["tag", &tagged.folder.data()]);
    assert!(both.error().contains("give one of them"), "{}", both.stderr);
}

#[test]
fn a_collage_of_single_labels_is_tagged() {
    let folder = Folder::generated();
    let result =
        bidilel(&["tag", &folder.data(), "--collage", "3", "--random-splits", "2", "--format", "json"])
            .json();
    assert_eq!(result["runs"].as_array().map(Vec::len), Some(2));
    assert!(result["mean_average_precision"]["per_class"].as_f64().expect("a number") > 0.0);
    let again =
        bidilel(&["tag", &folder.data(), "--collage", "3", "--random-splits", "2", "--format", "json"])
            .json();
    assert_eq!(again["runs"], result["runs"]);
    let single = bidilel(&["tag", &folder.data()]);
    assert!(single.stderr.contains("every instance has one label"), "{}", single.stderr);
}
