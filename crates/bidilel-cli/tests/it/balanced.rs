//! Shares of classes that are given to balanced refinement, by `evaluate`, `fit`, `predict` and `tune`.

use crate::support::{Folder, Ran, bidilel};

/// The names of the unseen classes of a generated dataset.
fn unseen(folder: &Folder) -> Vec<String> {
    let result = bidilel(&["evaluate", &folder.data(), "--format", "json"]).json();
    let classes = result["classes"].as_array().expect("classes").iter();
    classes.map(|class| class["name"].as_str().expect("a name").to_owned()).collect()
}

fn evaluate(folder: &Folder, options: &[&str]) -> Ran {
    let data = folder.data();
    bidilel(&[&["evaluate", &data, "--post", "balanced", "--format", "json"], options].concat())
}

/// How often each class is predicted.
fn counts(predictions: &str, classes: &[String]) -> Vec<usize> {
    let is = |line: &&str, class: &String| line.split(',').nth(1) == Some(class);
    classes.iter().map(|class| predictions.lines().filter(|line| is(line, class)).count()).collect()
}

#[test]
fn lists_tables_and_objects_of_the_same_shares_give_the_same_result_whatever_their_order_and_sum() {
    let folder = Folder::generated();
    let names = unseen(&folder);
    let shares: Vec<(String, usize)> = names.iter().cloned().zip(1..).collect();
    let typed = shares.iter().map(|(name, share)| format!("{name}={share}")).collect::<Vec<_>>().join(",");
    let (table, object) = (folder.beside("shares.csv"), folder.beside("shares.json"));
    let lines = shares.iter().rev().map(|(name, share)| format!("{name},{}\n", 10 * share));
    std::fs::write(&table, "class,share\n".to_owned() + &lines.collect::<String>()).expect("a file");
    let map: serde_json::Map<String, serde_json::Value> =
        shares.iter().map(|(name, share)| (name.clone(), (*share).into())).collect();
    std::fs::write(&object, serde_json::Value::Object(map).to_string()).expect("a file");
    let accuracies = |prior: &str| evaluate(&folder, &["--balanced-prior", prior]).json()["accuracy"].clone();
    let expected = accuracies(&typed);
    assert_eq!(accuracies(&table), expected);
    assert_eq!(accuracies(&object), expected);
    let equal = names.iter().map(|name| format!("{name}=2")).collect::<Vec<_>>().join(",");
    // What speaks against the shares is part of the result.
    let other = names.iter().enumerate().map(|(k, name)| format!("{name}={}", if k == 0 { 50 } else { 1 }));
    let other = other.collect::<Vec<_>>().join(",");
    let notes = evaluate(&folder, &["--balanced-prior", &other]).json()["runs"][0]["notes"].clone();
    assert!(notes[0].as_str().is_some_and(|note| note.contains("as the given shares say")), "{notes}");
    assert_eq!(accuracies(&equal), evaluate(&folder, &[]).json()["accuracy"], "equal shares are the default");
}

#[test]
fn prediction_takes_the_shares_of_the_batch_instead_of_those_of_the_fit() {
    let folder = Folder::generated();
    let (names, model) = (unseen(&folder), folder.beside("model.safetensors"));
    let prior = |large: usize| {
        let share = |k: usize| if k == large { 50 } else { 1 };
        names.iter().enumerate().map(|(k, name)| format!("{name}={}", share(k))).collect::<Vec<_>>().join(",")
    };
    let fit = ["fit", &folder.data(), "--out", &model, "--post", "balanced", "--balanced-prior", &prior(0)];
    assert_eq!(bidilel(&fit).status, 0);
    let features = folder.file("cnn.npy");
    let features = features.to_str().expect("a plain path");
    let predicted = |options: &[&str]| {
        let held = ["predict", &model, features, "--balanced-strength", "1"];
        let ran = bidilel(&[&held[..], options].concat());
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        counts(&ran.stdout, &names)
    };
    let (fitted, typed) = (predicted(&[]), predicted(&["--balanced-prior", &prior(1)]));
    assert!(fitted[0] > 10 * fitted[1].max(1), "{fitted:?}");
    assert!(typed[1] > 10 * typed[0].max(1), "{typed:?}");
    let free = ["predict", &model, features, "--balanced-strength", "0", "--balanced-prior", &prior(1)];
    let free = bidilel(&free);
    assert!(free.stderr.contains("--balanced-prior has no effect"), "{}", free.stderr);
    assert!(!free.stderr.contains("these shares"), "{}", free.stderr);
    let unused = bidilel(&["predict", &model, features, "--post", "none", "--balanced-strength", "1"]);
    assert!(unused.stderr.contains("--post balanced"), "{}", unused.stderr);
}

#[test]
fn wrong_shares_are_refused_with_what_is_wrong() {
    let folder = Folder::generated();
    let names = unseen(&folder);
    let all: Vec<String> = names.iter().map(|name| format!("{name}=1")).collect();
    let with = |more: &str| format!("{},{more}", all.join(","));
    let refused = |prior: &str| evaluate(&folder, &["--balanced-prior", prior]);
    let negative = refused(&with("x=-1"));
    assert!(negative.usage().contains("--balanced-prior must be CLASS=SHARE"), "{}", negative.stderr);
    let unknown = refused(&with("no such class=1"));
    assert!(unknown.error().ends_with("found a share of `no such class`"), "{}", unknown.stderr);
    let missing = refused(&format!("{}=1,{}=1", names[1], names[2]));
    assert!(missing.error().contains(&format!("found none for `{}`", names[0])), "{}", missing.stderr);
    assert!(missing.stderr.contains("hint: give every unseen class a share"), "{}", missing.stderr);
    assert!(refused("no-such-file.csv").error().contains("no-such-file.csv"));
    // Both say what the shares are.
    let both = evaluate(&folder, &["--balanced-prior", &all.join(","), "--balanced-shares", "equal"]);
    assert_eq!(both.status, 2, "{}", both.stderr);
}

/// Folds hold out known classes, whose shares are counted: those that are given are of the user's batch.
#[test]
fn tuning_and_calibration_take_given_shares_and_keep_them() {
    let folder = Folder::generated();
    let prior = unseen(&folder).iter().map(|name| format!("{name}=1")).collect::<Vec<_>>().join(",");
    let chosen = folder.beside("chosen.toml");
    let tune = ["tune", &folder.data(), "--post", "balanced", "--balanced-prior", &prior, "--budget", "3"];
    let tuned = bidilel(&[&tune[..], &["--out", &chosen]].concat());
    assert_eq!(tuned.status, 0, "{}", tuned.stderr);
    let written = std::fs::read_to_string(&chosen).expect("settings");
    assert!(written.contains("balanced_prior") || written.contains("balanced-prior"), "{written}");
    assert_eq!(bidilel(&["evaluate", &folder.data(), "--settings", &chosen]).status, 0);
    assert_eq!(evaluate(&folder, &["--balanced-prior", &prior, "--calibrate"]).status, 0);
}

#[test]
fn small_batches_are_noted() {
    let folder = Folder::generated();
    let (model, features) = (folder.beside("model.safetensors"), folder.beside("two.npy"));
    assert_eq!(bidilel(&["fit", &folder.data(), "--out", &model, "--post", "balanced"]).status, 0);
    let bytes = std::fs::read(folder.file("cnn.npy")).expect("features");
    let header = String::from_utf8_lossy(&bytes[10..128]).into_owned();
    let shape = header.split_once('(').and_then(|(_, rest)| rest.split_once(')')).expect("a shape").0;
    let (_, dim) = shape.split_once(", ").expect("two dimensions");
    let dim: usize = dim.parse().expect("a number");
    let two = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': (2, {dim}), }}");
    let two = [b"\x93NUMPY\x01\x00\x76\x00", format!("{two:<117}\n").as_bytes()].concat();
    std::fs::write(&features, [&two, &bytes[128..128 + 2 * 4 * dim]].concat()).expect("a file");
    let ran = bidilel(&["predict", &model, &features]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("balanced refinement by 2 instances of"), "{}", ran.stderr);
}
