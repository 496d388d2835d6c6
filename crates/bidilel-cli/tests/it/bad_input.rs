//! Bad input: one `error:` line that names file and place, status 1, no panic, nothing half-written.

use crate::support::{Folder, Ran, bidilel};

fn evaluate(folder: &Folder, extra: &[&str]) -> Ran {
    bidilel(&[&["evaluate", &folder.data()], extra].concat())
}

/// Puts a number over the feature at a row and column of the 128-dimensional `cnn.npy`.
fn poke(folder: &Folder, row: usize, column: usize, value: f32) {
    folder.edit_bytes("cnn.npy", |bytes| {
        let place = 128 + 4 * (row * 128 + column);
        bytes[place..place + 4].copy_from_slice(&value.to_le_bytes());
    });
}

fn says(error: &str, parts: &[&str]) {
    assert!(parts.iter().all(|part| error.contains(part)), "{error} should say {parts:?}");
}

#[test]
fn features_that_are_not_finite() {
    for (value, name) in [(f32::NAN, "NaN"), (f32::INFINITY, "inf"), (f32::NEG_INFINITY, "-inf")] {
        let folder = Folder::generated();
        poke(&folder, 17, 5, value);
        says(evaluate(&folder, &[]).error(), &["cnn.npy", "row 17, column 5", name]);
    }
}

#[test]
fn features_that_are_not_finite_in_predict() {
    let folder = Folder::generated();
    let model = folder.beside("model.safetensors");
    assert_eq!(bidilel(&["fit", &folder.data(), "--out", &model]).status, 0);
    poke(&folder, 3, 9, f32::NAN);
    let out = folder.beside("predictions.csv");
    let features = folder.file("cnn.npy");
    let ran = bidilel(&["predict", &model, features.to_str().expect("plain"), "--out", &out]);
    says(ran.error(), &["cnn.npy", "row 3, column 9", "NaN"]);
    assert_eq!(folder.listing(), ["data", "model.safetensors"], "no half-written predictions");
}

#[test]
fn labels_out_of_range() {
    let folder = Folder::generated();
    folder.edit_bytes("labels.npy", |bytes| bytes[128..136].copy_from_slice(&25_i64.to_le_bytes()));
    let ran = evaluate(&folder, &[]);
    says(ran.error(), &["labels.npy", "25"]);
    assert!(ran.stderr.contains("hint: "), "{}", ran.stderr);
}

#[test]
fn negative_labels() {
    let folder = Folder::generated();
    folder.edit_bytes("labels.npy", |bytes| bytes[136..144].copy_from_slice(&(-1_i64).to_le_bytes()));
    says(evaluate(&folder, &[]).error(), &["labels.npy", "-1"]);
}

#[test]
fn a_known_class_without_instances() {
    let folder = Folder::generated();
    // All instances of class 0 become instances of another class on the same side.
    let result = bidilel(&["evaluate", &folder.data(), "--format", "json"]).json();
    let unseen: Vec<String> = result["classes"]
        .as_array()
        .expect("classes")
        .iter()
        .map(|class| class["name"].as_str().expect("a name").to_owned())
        .collect();
    let classes = std::fs::read_to_string(folder.file("classes.txt")).expect("classes");
    let known: Vec<usize> = classes
        .lines()
        .enumerate()
        .filter(|(_, name)| !unseen.iter().any(|u| u == name))
        .map(|(i, _)| i)
        .collect();
    let label = |class: usize| i64::try_from(class).expect("a small number");
    let (from, to) = (label(known[0]), label(known[1]));
    folder.edit_bytes("labels.npy", |bytes| {
        for label in bytes[128..].chunks_exact_mut(8) {
            if label == from.to_le_bytes() {
                label.copy_from_slice(&to.to_le_bytes());
            }
        }
    });
    let name = classes.lines().nth(known[0]).expect("a class").to_owned();
    let ran = evaluate(&folder, &[]);
    says(ran.error(), &["known class", &name, "no instances"]);
    says(&ran.stderr, &["hint: list it under `unseen`"]);
}

/// The features of a dataset as float64, with one of them changed.
fn widened(folder: &Folder, row: usize, column: usize, value: f64) {
    let array = bidilel_data::array::open(&folder.file("cnn.npy"), None).expect("features");
    let matrix = array.to_matrix();
    let mut values: Vec<f64> = (0..array.rows()).flat_map(|row| matrix.col_as_slice(row).to_vec()).collect();
    values[row * array.columns() + column] = value;
    let mut writer =
        bidilel_data::array::NpyWriter::new(Vec::new(), &[array.rows(), array.columns()]).expect("it");
    writer.write(&values).expect("memory");
    std::fs::write(folder.file("cnn.npy"), writer.finish().expect("memory")).expect("writable");
}

#[test]
fn features_beyond_the_range_of_single_precision() {
    let folder = Folder::generated();
    widened(&folder, 5, 7, 1e300);
    let ran = evaluate(&folder, &[]);
    says(ran.error(), &["cnn.npy", "row 5, column 7 is 1e300", "beyond the range of float32"]);
    says(&ran.stderr, &["hint: features are read as float32"]);
    widened(&folder, 5, 7, 1e-300);
    let ran = evaluate(&folder, &[]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    says(&ran.stderr, &["cnn.npy", "1 numbers are too small for float32 and read as zero"]);
}

#[test]
fn an_option_without_effect_is_mentioned() {
    let folder = Folder::generated();
    let ran = evaluate(&folder, &["--nystrom-rank", "10"]);
    says(&ran.stderr, &["--nystrom-rank has no effect"]);
    let model = folder.beside("model.safetensors");
    assert_eq!(bidilel(&["fit", &folder.data(), "--out", &model]).status, 0);
    let features = folder.file("cnn.npy");
    let ran = bidilel(&["predict", &model, features.to_str().expect("plain"), "--top", "99"]);
    says(&ran.stderr, &["--top 99", "only 5 classes"]);
}

#[test]
fn a_split_that_names_an_unknown_class() {
    let folder = Folder::generated();
    folder.edit("dataset.toml", |text| text + "\n[split.odd]\nunseen = [\"gryphon\"]\n");
    says(evaluate(&folder, &["--split", "odd"]).error(), &["odd", "gryphon"]);
}

#[test]
fn a_split_without_an_unseen_class() {
    let folder = Folder::generated();
    folder.edit("dataset.toml", |text| text + "\n[split.none]\nunseen = []\n");
    says(evaluate(&folder, &["--split", "none"]).error(), &["none", "no class is unseen"]);
}

#[test]
fn a_split_trial_or_representation_that_is_not_there() {
    let folder = Folder::generated();
    says(evaluate(&folder, &["--split", "later"]).error(), &["no split `later`", "standard", "random"]);
    says(evaluate(&folder, &["--split", "random:9"]).error(), &["random", "9"]);
    says(evaluate(&folder, &["--visual", "sound"]).error(), &["no visual representation `sound`", "cnn"]);
    says(
        evaluate(&folder, &["--semantic", "smell"]).error(),
        &["no semantic representation `smell`", "attributes"],
    );
}

#[test]
fn shapes_that_do_not_match() {
    let folder = Folder::generated();
    folder.edit("classes.txt", |text| text + "one_more\n");
    says(evaluate(&folder, &[]).error(), &["attributes.npy", "26", "25"]);
    let folder = Folder::generated();
    let labels = std::fs::read(folder.file("labels.npy")).expect("labels").len() / 8 - 16;
    folder.relabel_rows("labels.npy", labels, labels - 1);
    folder.edit_bytes("labels.npy", |bytes| bytes.truncate(bytes.len() - 8));
    says(evaluate(&folder, &[]).error(), &["cnn.npy"]);
}

#[test]
fn features_that_do_not_fit_the_model() {
    let folder = Folder::generated();
    let model = folder.beside("model.safetensors");
    assert_eq!(bidilel(&["fit", &folder.data(), "--out", &model]).status, 0);
    let features = folder.file("motion.npy");
    let ran = bidilel(&["predict", &model, features.to_str().expect("plain")]);
    says(ran.error(), &["motion.npy", "expected 128 dimensions, found 64"]);
}

#[test]
fn settings_outside_their_range() {
    let folder = Folder::generated();
    for (arguments, parts) in [
        (&["--alpha", "0"][..], &["alpha", "positive", "found 0"][..]),
        (&["--alpha", "-3"], &["alpha", "found -3"]),
        (&["--alpha", "nan"], &["alpha", "NaN"]),
        (&["--dim", "0"], &["dim", "found 0"]),
        (&["--neighbors", "0"], &["neighbors", "at least 1"]),
        (&["--bottom-up", "cca", "--ridge", "-1"], &["ridge", "-1"]),
        (&["--top-down", "svr", "--svr-c", "0"], &["svr-c must be a positive number, found 0"]),
        (&["--top-down", "svr", "--svr-nu", "1.5"], &["svr-nu", "1.5"]),
        (&["--top-down", "svr", "--svr-gamma", "-1"], &["svr-gamma", "-1"]),
        (&["--semantic", "attributes,words", "--gamma", "1.5"], &["gamma", "1.5"]),
        (&["--semantic", "attributes,words", "--semantic-weights", "0.5,0.6"], &["sum to 1"]),
        (&["--post", "self-training", "--self-training-neighbors", "0"], &["self-training-neighbors"]),
    ] {
        says(evaluate(&folder, arguments).usage(), parts);
    }
    // These are wrong for this dataset only.
    for (arguments, parts) in [
        (&["--dim", "100000"][..], &["dim", "100000"][..]),
        (&["--bottom-up", "lda", "--dim", "20"], &["dim", "between 1 and 19"]),
        (&["--semantic", "attributes", "--gamma", "0.5"], &["gamma", "two"]),
        (&["--semantic", "attributes,attributes"], &["attributes", "twice"]),
    ] {
        says(evaluate(&folder, arguments).error(), parts);
    }
}

#[test]
fn files_that_are_no_files() {
    let folder = Folder::generated();
    std::fs::write(folder.file("cnn.npy"), b"").expect("writable");
    says(evaluate(&folder, &[]).error(), &["cnn.npy", "empty"]);
    std::fs::remove_file(folder.file("cnn.npy")).expect("there");
    says(evaluate(&folder, &[]).error(), &["cnn.npy", "no such file"]);
    std::fs::create_dir(folder.file("cnn.npy")).expect("writable");
    says(evaluate(&folder, &[]).error(), &["cnn.npy", "folder"]);
    says(bidilel(&["evaluate", &folder.beside("nowhere")]).error(), &["nowhere", "no such file"]);
    says(bidilel(&["predict", &folder.beside("no.model"), &folder.beside("x.npy")]).error(), &["no.model"]);
    let features = folder.file("motion.npy");
    let features = features.to_str().expect("plain");
    says(bidilel(&["predict", features, features]).error(), &["motion.npy", "not a usable model"]);
}

#[test]
fn truncated_and_foreign_arrays() {
    let folder = Folder::generated();
    folder.edit_bytes("cnn.npy", |bytes| bytes.truncate(5000));
    says(evaluate(&folder, &[]).error(), &["cnn.npy"]);
    folder.edit_bytes("cnn.npy", |bytes| *bytes = b"not an array at all".to_vec());
    says(evaluate(&folder, &[]).error(), &["cnn.npy"]);
}

#[test]
fn a_manifest_with_mistakes() {
    let folder = Folder::generated();
    folder.edit("dataset.toml", |text| text + "\nthis is no toml\n");
    says(evaluate(&folder, &[]).error(), &["dataset.toml"]);
}

#[test]
fn outputs_that_cannot_be_written() {
    let folder = Folder::generated();
    let nowhere = folder.beside("missing/model.safetensors");
    says(bidilel(&["fit", &folder.data(), "--out", &nowhere]).error(), &["missing"]);
    says(bidilel(&["fit", &folder.data(), "--out", &folder.data()]).error(), &["data"]);
    says(evaluate(&folder, &["--out", &folder.beside("missing/r.json")]).error(), &["missing"]);
    assert_eq!(folder.listing(), ["data"]);
    let model = folder.beside("model.safetensors");
    assert_eq!(bidilel(&["fit", &folder.data(), "--out", &model]).status, 0);
    let features = folder.file("cnn.npy");
    let features = features.to_str().expect("plain");
    let nowhere = folder.beside("missing/p.csv");
    says(bidilel(&["predict", &model, features, "--out", &nowhere]).error(), &["missing"]);
    assert_eq!(folder.listing(), ["data", "model.safetensors"]);
}

#[test]
fn settings_of_predict_are_checked_before_the_first_line() {
    let folder = Folder::generated();
    let model = folder.beside("model.safetensors");
    assert_eq!(bidilel(&["fit", &folder.data(), "--out", &model]).status, 0);
    let features = folder.file("cnn.npy");
    let features = features.to_str().expect("plain");
    let post = ["--post", "self-training", "--self-training-neighbors", "0"];
    says(
        bidilel(&[&["predict", &model, features], &post[..]].concat()).usage(),
        &["self-training-neighbors"],
    );
    assert_eq!(bidilel(&["predict", &model, features, "--top", "0"]).status, 2);
    says(
        bidilel(&["predict", &model, features, "--format", "latex"]).usage(),
        &["csv, json, jsonl, parquet, text"],
    );
    says(bidilel(&["fit", &folder.data(), "--out", &model, "--format", "csv"]).usage(), &["text or json"]);
}

#[test]
fn a_dataset_without_a_split() {
    let folder = Folder::generated();
    folder.edit("dataset.toml", |text| text.split("[split").next().expect("what precedes splits").to_owned());
    says(evaluate(&folder, &[]).error(), &["no split"]);
}

#[test]
fn a_full_disk() {
    // Writing to /dev/full fails as a full disk does, on systems that have it.
    if std::path::Path::new("/dev/full").exists() {
        let folder = Folder::generated();
        says(bidilel(&["fit", &folder.data(), "--out", "/dev/full"]).error(), &["/dev/full"]);
    }
}

#[test]
fn a_wrong_command_line_is_status_two() {
    for arguments in [&["evaluate"][..], &["fly"], &["evaluate", "x", "--bottom-up", "magic"], &["demo", "x"]]
    {
        assert_eq!(bidilel(arguments).status, 2, "{arguments:?}");
    }
}

#[test]
fn one_of_several_trials_must_be_named_to_fit() {
    let folder = Folder::generated();
    let model = folder.beside("model");
    let ran = bidilel(&["fit", &folder.data(), "--split", "random", "--out", &model]);
    says(ran.error(), &["random", "5 trials", "random:0"]);
}
