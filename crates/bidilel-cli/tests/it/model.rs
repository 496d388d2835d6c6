//! `fit`, `predict` and `class list`: a model is all that prediction needs.

use crate::support::{Folder, bidilel};

fn fitted(folder: &Folder, extra: &[&str]) -> String {
    let model = folder.beside("model.safetensors");
    let ran = bidilel(&[&["fit", &folder.data(), "--out", &model], extra].concat());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    model
}

#[test]
fn predictions_from_the_model_are_those_of_evaluate() {
    let folder = Folder::generated();
    let model = fitted(&folder, &[]);
    let features = folder.file("cnn.npy");
    let features = features.to_str().expect("a plain path");
    let ran = bidilel(&["predict", &model, features]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let labels: Vec<&str> =
        ran.stdout.lines().skip(1).map(|line| line.split(',').nth(1).expect("a label")).collect();
    // Evaluate's confusion is not printed, but its accuracy follows from the same labels.
    let classes: Vec<String> = std::fs::read_to_string(folder.file("classes.txt"))
        .expect("classes")
        .lines()
        .map(str::to_owned)
        .collect();
    let truth: Vec<usize> = std::fs::read(folder.file("labels.npy")).expect("labels")[128..]
        .chunks_exact(8)
        .map(|bytes| {
            usize::try_from(i64::from_le_bytes(bytes.try_into().expect("eight bytes"))).expect("a class")
        })
        .collect();
    assert_eq!(labels.len(), truth.len());
    let result = bidilel(&["evaluate", &folder.data(), "--format", "json"]).json();
    let unseen: Vec<&str> = result["classes"]
        .as_array()
        .expect("classes")
        .iter()
        .filter_map(|class| class["name"].as_str())
        .collect();
    let (mut right, mut all) = (0.0, 0.0);
    for (label, &class) in
        labels.iter().zip(&truth).filter(|(_, class)| unseen.contains(&classes[**class].as_str()))
    {
        all += 1.0;
        right += f64::from(u8::from(*label == classes[class]));
    }
    let accuracy = right / all;
    assert!((accuracy - result["accuracy"]["per_image"].as_f64().expect("a number")).abs() < 1e-12);
}

#[test]
fn the_same_data_and_seed_give_the_same_model_bytes_for_any_number_of_threads() {
    let folder = Folder::generated();
    let bytes = |threads: &str| std::fs::read(fitted(&folder, &["--threads", threads])).expect("a model");
    assert_eq!(bytes("1"), bytes("2"));
}

#[test]
fn top_gives_several_classes_nearest_first_in_csv_and_json() {
    let folder = Folder::generated();
    let model = fitted(&folder, &[]);
    let features = folder.file("cnn.npy");
    let features = features.to_str().expect("a plain path");
    let out = folder.beside("predictions.json");
    let ran = bidilel(&["predict", &model, features, "--top", "3", "--format", "json", "--out", &out]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
    let rows: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&out).expect("predictions")).expect("JSON");
    let rows = rows.as_array().expect("rows");
    assert_eq!(
        (rows[0]["index"].as_u64(), rows[2]["index"].as_u64(), rows[3]["index"].as_u64()),
        (Some(0), Some(0), Some(1))
    );
    let distance = |i: usize| rows[i]["distance"].as_f64().expect("a number");
    assert!(distance(0) <= distance(1) && distance(1) <= distance(2));
    let csv = bidilel(&["predict", &model, features, "--top", "3"]).stdout;
    assert_eq!(csv.lines().count(), rows.len() + 1);
    assert_eq!(csv.lines().next(), Some("index,label,distance"));
}

#[test]
fn a_file_that_is_mapped_anew_on_the_way_is_read_to_its_end() {
    let folder = Folder::generated();
    let model = fitted(&folder, &[]);
    // The features once, then nothing but zeros: a sparse file of 80 MB.
    let rows = 160_000;
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, 128), }}");
    let features = std::fs::read(folder.file("cnn.npy")).expect("features");
    let large = folder.beside("large.npy");
    std::fs::write(
        &large,
        [&features[..10], format!("{header:<117}\n").as_bytes(), &features[128..]].concat(),
    )
    .expect("writable");
    let file = std::fs::File::options().write(true).open(&large).expect("there");
    file.set_len(128 + rows * 128 * 4).expect("room for a sparse file");
    let ran = bidilel(&["predict", &model, &large]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len() as u64, rows + 1);
    let small = folder.file("cnn.npy");
    let expected = bidilel(&["predict", &model, small.to_str().expect("a plain path")]).stdout;
    assert!(ran.stdout.starts_with(&expected));
    let rest = |line: &str| line.split_once(',').map(|(_, rest)| rest.to_owned());
    assert_eq!(rest(lines[lines.len() - 1]), rest(lines[lines.len() / 2]), "equal rows, equal labels");
}

#[test]
fn predictions_as_parquet_are_those_of_csv() {
    let folder = Folder::generated();
    let model = fitted(&folder, &[]);
    let features = folder.file("cnn.npy");
    let features = features.to_str().expect("a plain path");
    let out = folder.beside("predictions.parquet");
    let ran = bidilel(&["predict", &model, features, "--format", "parquet", "--out", &out]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let table = bidilel_data::container::Container::open(out.as_ref()).expect("a Parquet file");
    let labels = table.strings("label").expect("labels");
    let distances = table.array(Some("distance")).expect("distances").to_matrix();
    let csv = bidilel(&["predict", &model, features]).stdout;
    for (row, line) in csv.lines().skip(1).enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!((cells[0], cells[1]), (row.to_string().as_str(), labels[row].as_str()));
        assert_eq!(cells[2].parse::<f64>().expect("a number").to_bits(), distances[(0, row)].to_bits());
    }
    let refused = bidilel(&["evaluate", &folder.data(), "--format", "parquet"]).usage().to_owned();
    assert!(refused.contains("only predictions"), "{refused}");
}

#[test]
fn corrections_are_those_of_the_fit_unless_told_otherwise() {
    let folder = Folder::generated();
    let features = folder.file("cnn.npy");
    let features = features.to_str().expect("a plain path");
    let plain = fitted(&folder, &[]);
    let inductive = bidilel(&["predict", &plain, features]).stdout;
    let corrected =
        bidilel(&["predict", &plain, features, "--post", "self-training", "--self-training-neighbors", "9"]);
    assert_ne!(corrected.stdout, inductive);
    let model = fitted(&folder, &["--post", "self-training", "--self-training-neighbors", "9"]);
    assert_eq!(bidilel(&["predict", &model, features]).stdout, corrected.stdout);
    assert_eq!(bidilel(&["predict", &model, features, "--post", "none"]).stdout, inductive);
}

#[test]
fn classes_are_listed_with_their_neighbors() {
    let folder = Folder::generated();
    let model = fitted(&folder, &[]);
    let list = bidilel(&["class", "list", &model, "--nearest", "2", "--format", "json"]).json();
    let classes = list["classes"].as_array().expect("classes");
    assert_eq!(classes.len(), 25);
    assert_eq!(classes.iter().filter(|class| class["role"] == "unseen").count(), 5);
    assert!(classes.iter().all(|class| class["nearest_known"].as_array().map(Vec::len) == Some(2)));
    let text = bidilel(&["class", "list", &model]).stdout;
    assert!(text.contains("nearest known classes"), "{text}");
}

#[test]
fn unseen_classes_need_no_instances_to_be_fitted() {
    let folder = Folder::generated();
    // A class that nobody has a picture of: a name, a description, no instance.
    folder.edit("classes.txt", |text| text + "unicorn\n");
    for name in ["attributes.npy", "words.npy"] {
        folder.edit_bytes(name, |bytes| {
            let header = 128;
            let row = (bytes.len() - header) / 25;
            let copy = bytes[header + row..header + 2 * row].to_vec();
            bytes.extend(copy);
        });
        folder.relabel_rows(name, 25, 26);
    }
    folder.edit("dataset.toml", |text| {
        let kept = text.split("[split").next().expect("what precedes splits").to_owned();
        kept + "[split.new]\nunseen = [\"unicorn\"]\n"
    });
    let model = fitted(&folder, &[]);
    let list = bidilel(&["class", "list", &model, "--format", "json"]).json();
    assert_eq!(list["classes"][0]["name"], "unicorn");
    let error = bidilel(&["evaluate", &folder.data()]).error().to_owned();
    assert!(error.contains("unseen class `unicorn` has no instances"), "{error}");
}

#[test]
fn completions_are_printed_for_shells() {
    for shell in ["bash", "zsh", "fish"] {
        let ran = bidilel(&["completions", shell]);
        assert!(ran.status == 0 && ran.stdout.contains("evaluate"), "{shell}");
    }
}
