//! `generate`: the folders that it writes.

use crate::support::{Folder, bidilel};

#[test]
fn the_same_seed_gives_the_same_files_and_another_seed_others() {
    let folder = Folder::generated();
    let again = folder.beside("again");
    let other = folder.beside("other");
    assert_eq!(bidilel(&["generate", "--scale", "0.3", "--seed", "4", &again]).status, 0);
    assert_eq!(bidilel(&["generate", "--scale", "0.3", "--seed", "5", &other]).status, 0);
    let read = |folder: &str| std::fs::read(format!("{folder}/cnn.npy")).expect("features");
    assert_eq!(read(&folder.data()), read(&again));
    assert_ne!(read(&again), read(&other));
}

#[test]
fn several_presets_and_seeds_become_subfolders() {
    let folder = Folder::generated();
    let out = folder.beside("many");
    let made = bidilel(&[
        "generate", "--preset", "small", "--seed", "1,2", "--scale", "0.1", &out, "--format", "json",
    ])
    .json();
    assert_eq!(made["datasets"].as_array().map(Vec::len), Some(2));
    for seed in [1, 2] {
        let result = bidilel(&["evaluate", &format!("{out}/small-{seed}"), "--format", "json"]).json();
        assert_eq!(result["dataset"], "small");
    }
}

#[test]
fn an_existing_dataset_is_kept_unless_told() {
    let folder = Folder::generated();
    let before = std::fs::read(folder.file("cnn.npy")).expect("features");
    let error = bidilel(&["generate", &folder.data()]).error().to_owned();
    assert!(error.contains("data"), "{error}");
    assert_eq!(std::fs::read(folder.file("cnn.npy")).expect("features"), before);
    assert_eq!(bidilel(&["generate", "--overwrite", "--scale", "0.2", &folder.data()]).status, 0);
    assert_ne!(std::fs::read(folder.file("cnn.npy")).expect("features"), before);
}

#[test]
fn few_known_classes_have_fewer_validation_classes_than_the_preset() {
    let folder = Folder::generated();
    let out = folder.beside("few");
    for known in ["4", "5", "6", "7"] {
        let made = bidilel(&["generate", "--known", known, "--scale", "0.1", "--overwrite", &out]);
        assert_eq!(made.status, 0, "{known}: {}", made.stderr);
        let tuned = bidilel(&["tune", &out, "--strategy", "grid", "--alpha", "1,10"]);
        assert_eq!(tuned.status, 0, "{known}: {}", tuned.stderr);
    }
}

#[test]
fn impossible_knobs_are_named_and_nothing_is_written() {
    let folder = Folder::generated();
    let out = folder.beside("new");
    for (knob, value) in
        [("--spread", "-1"), ("--scale", "0"), ("--semantic-gap", "2"), ("--preset", "imagenet")]
    {
        let error = bidilel(&["generate", knob, value, &out]).usage().to_owned();
        assert!(error.contains(value), "{error}");
        assert_eq!(folder.listing(), ["data"]);
    }
}
