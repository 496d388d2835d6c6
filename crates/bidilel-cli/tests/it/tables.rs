//! Tables from end to end: joined by name, columns chosen, identifiers carried through.

use std::fmt::Write as _;
use std::fs;

use crate::support::{Folder, Ran, bidilel};

/// The rows of a generated `.npy` file of float32 or float64 numbers.
fn rows(folder: &Folder, file: &str, dim: usize) -> Vec<Vec<f64>> {
    let array = bidilel_data::array::open(&folder.file(file), None).expect("an array");
    assert_eq!(array.columns(), dim, "{file}");
    let matrix = array.to_matrix();
    (0..array.rows()).map(|row| matrix.col_as_slice(row).to_vec()).collect()
}

fn classes(folder: &Folder) -> Vec<String> {
    let text = fs::read_to_string(folder.file("classes.txt")).expect("classes");
    text.lines().map(str::to_owned).collect()
}

fn per_class(ran: &Ran) -> f64 {
    ran.json()["accuracy"]["per_class"].as_f64().expect("a number")
}

fn evaluate(folder: &Folder) -> Ran {
    bidilel(&["evaluate", &folder.data(), "--visual", "cnn", "--semantic", "attributes", "--format", "json"])
}

#[test]
fn descriptions_in_reverse_order_give_the_same_result() {
    let folder = Folder::generated();
    let expected = per_class(&evaluate(&folder));
    let attributes = bidilel_data::array::open(&folder.file("attributes.npy"), None).expect("an array");
    let matrix = attributes.to_matrix();
    let names = classes(&folder);
    let mut table = "class".to_owned();
    (0..attributes.columns()).for_each(|column| _ = write!(table, ",a{column}"));
    for class in (0..names.len()).rev() {
        let _ = write!(table, "\n{}", names[class]);
        matrix.col_as_slice(class).iter().for_each(|value| _ = write!(table, ",{value}"));
    }
    fs::write(folder.file("attributes.csv"), table).expect("writable");
    folder.edit("dataset.toml", |text| text.replace("\"attributes.npy\"", "\"attributes.csv\""));
    assert!((per_class(&evaluate(&folder)) - expected).abs() < 1e-12);
    folder.edit("attributes.csv", |text| text.replacen(&names[3], "gryphon", 1));
    let error = evaluate(&folder).error().to_owned();
    assert!(
        error.contains("unknown `gryphon`") && error.contains(&format!("missing `{}`", names[3])),
        "{error}"
    );
}

/// The features as a table with an identifier and the label, in the given order of columns.
fn feature_table(folder: &Folder, order: &(impl Iterator<Item = usize> + Clone), labels: bool) -> String {
    let features = rows(folder, "cnn.npy", 128);
    let label = bidilel_data::array::open(&folder.file("labels.npy"), None).expect("labels").to_matrix();
    let mut table = "id".to_owned();
    if labels {
        table.push_str(",label");
    }
    order.clone().for_each(|column| _ = write!(table, ",f{column}"));
    for (row, values) in features.iter().enumerate() {
        let _ = write!(table, "\nimage-{row}");
        if labels {
            let _ = write!(table, ",{}", label[(0, row)]);
        }
        order.clone().for_each(|column| _ = write!(table, ",{}", values[column]));
    }
    table
}

#[test]
fn a_label_among_the_features_is_no_leak() {
    let folder = Folder::generated();
    let expected = per_class(&evaluate(&folder));
    fs::write(folder.file("cnn.csv"), feature_table(&folder, &(0..128), true)).expect("writable");
    folder.edit("dataset.toml", |text| text.replace("\"cnn.npy\"", "\"cnn.csv\""));
    let ran = evaluate(&folder);
    assert!((per_class(&ran) - expected).abs() < 1e-12);
    assert!(ran.stderr.contains("no features are made of `label`"), "{}", ran.stderr);
    let text = bidilel(&["inspect", &folder.data()]).stdout;
    for part in ["f0 ... f127 (128)  feature", "left out  it is named like a label"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_model_finds_its_features_by_name_and_carries_identifiers() {
    let folder = Folder::generated();
    fs::write(folder.file("cnn.csv"), feature_table(&folder, &(0..128), true)).expect("writable");
    folder.edit("dataset.toml", |text| text.replace("\"cnn.npy\"", "\"cnn.csv\""));
    let model = folder.beside("model");
    assert_eq!(bidilel(&["fit", &folder.data(), "--visual", "cnn", "--out", &model]).status, 0);
    let table = folder.beside("new.csv");
    let predict = |extra: &[&str]| bidilel(&[&["predict", &model, &table], extra].concat());
    fs::write(&table, feature_table(&folder, &(0..128), false)).expect("writable");
    let expected = predict(&[]);
    assert_eq!(expected.status, 0, "{}", expected.stderr);
    assert!(expected.stdout.starts_with("index,label,distance,id\n0,"), "{}", expected.stdout);
    assert!(expected.stdout.lines().nth(3).expect("a line").ends_with(",image-2"));
    // Another order of columns, and one more that is not wanted.
    fs::write(&table, feature_table(&folder, &(0..128).rev(), true)).expect("writable");
    assert_eq!(predict(&[]).stdout, expected.stdout);
    assert_eq!(predict(&["--columns", "f?,f??,f???"]).status, 0);
    assert_ne!(predict(&["--columns", "f?,f??,f???"]).stdout, expected.stdout);
    let json = predict(&["--format", "json"]).json();
    assert_eq!(json[5]["id"], "image-5");
    let out = folder.beside("out.parquet");
    assert_eq!(predict(&["--format", "parquet", "--out", &out]).status, 0);
    let written = bidilel_data::container::Container::open(out.as_ref()).expect("a table");
    assert_eq!(written.strings("id").expect("identifiers")[7], "image-7");
    fs::write(&table, feature_table(&folder, &(1..128), true)).expect("writable");
    let error = predict(&[]).error().to_owned();
    assert!(error.contains("has no column `f0`"), "{error}");
    assert!(predict(&["--columns", "g*"]).error().contains("has no column `g*`"));
}

#[test]
fn paths_beside_an_array_are_carried_through() {
    let folder = Folder::generated();
    let model = folder.beside("model");
    assert_eq!(bidilel(&["fit", &folder.data(), "--visual", "cnn", "--out", &model]).status, 0);
    let features = folder.file("cnn.npy");
    let count = rows(&folder, "cnn.npy", 128).len();
    let mut list = "index,path,label\n".to_owned();
    (0..count).for_each(|row| _ = writeln!(list, "{row},\"some, {row}.jpg\",x"));
    fs::write(folder.file("cnn.csv"), &list).expect("writable");
    let ran = bidilel(&["predict", &model, features.to_str().expect("plain")]);
    assert!(ran.stdout.starts_with("index,label,distance,path\n"), "{}", ran.stdout);
    assert!(ran.stdout.lines().nth(2).expect("a line").ends_with(",\"some, 1.jpg\""), "{}", ran.stdout);
    fs::write(folder.file("cnn.csv"), list.replacen("0,\"some, 0.jpg\",x\n", "", 1)).expect("writable");
    let ran = bidilel(&["predict", &model, features.to_str().expect("plain")]);
    assert!(ran.stdout.starts_with("index,label,distance\n"));
    assert!(ran.stderr.contains("so they have no paths"), "{}", ran.stderr);
}

#[test]
fn asking_for_the_standard_split_where_it_is_not_known_names_another() {
    let layout =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../bidilel-data/tests/fixtures/layouts/sound");
    let ran = bidilel(&["evaluate", layout.to_str().expect("plain"), "--split", "standard"]);
    assert!(
        ran.error().contains("no split `standard`: it has `proposed`, `proposed-classes`"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("hint: the literature's standard split of this benchmark is not known here"));
}

#[test]
fn tuning_holds_out_the_validation_classes_of_an_instance_level_split() {
    let folder = Folder::generated();
    let names = classes(&folder);
    let labels = bidilel_data::array::open(&folder.file("labels.npy"), None).expect("labels");
    let labels = labels.to_indices(bidilel_data::array::Base::Zero).expect("labels");
    let write = |name: &str, wanted: &dyn Fn(usize) -> bool| {
        let rows: Vec<i64> =
            (0..).zip(&labels).filter(|(_, label)| wanted(**label)).map(|(row, _)| row).collect();
        let mut writer = bidilel_data::array::NpyWriter::new(Vec::new(), &[rows.len()]).expect("a writer");
        writer.write(&rows).expect("memory");
        fs::write(folder.file(name), writer.finish().expect("memory")).expect("writable");
    };
    write("train.npy", &|label| label < 20);
    write("seen.npy", &|_| false);
    write("unseen.npy", &|label| label >= 20);
    folder.edit("dataset.toml", |text| {
        format!(
            "{text}\n[split.own]\ntrain = \"train.npy\"\ntest_seen = \"seen.npy\"\ntest_unseen = \"unseen.npy\"\n\
             validation = [\"{}\", \"{}\", \"{}\"]\n",
            names[0], names[1], names[2]
        )
    });
    let tune = |extra: &[&str]| {
        let base = [
            "tune",
            &folder.data(),
            "--split",
            "own",
            "--strategy",
            "grid",
            "--alpha",
            "1,10",
            "--dim",
            "10",
        ];
        bidilel(&[&base[..], extra, &["--format", "json"]].concat()).json()["trials"][0]["scores"].clone()
    };
    let (own, random) = (tune(&["--holdout", "split"]), tune(&["--trials", "5"]));
    assert_eq!(own.as_array().map(Vec::len), Some(1), "{own}");
    assert_eq!(random.as_array().map(Vec::len), Some(5), "{random}");
}
