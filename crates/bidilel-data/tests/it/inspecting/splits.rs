//! Problems of the division into known and unseen.

use super::{SOUND, ZOOM, assert_problem, assert_problem_with, problems, sound};
use crate::support::{array, inspect};

#[test]
fn instances_and_classes_on_the_wrong_side() {
    let sample = sound();
    sample.put("train.npy", array(&[4], &[0_i64, 2, 3, 4]));
    assert_problem(
        &sample,
        "error | split `proposed` | 1 unseen class has instances for training: 1 instance of `wolf`",
        "remove them from `train`",
    );
    assert_problem(
        &sample,
        "error | split `proposed` | 1 instance is in both `train` and `test_seen`, first instance 3: the test leaks",
        "remove them from `train`",
    );
    assert_problem_with(
        "seen.npy",
        array(&[2], &[3_i64, 4]),
        "error | split `proposed` | 1 instance is in both `test_seen` and `test_unseen`, first instance 4",
        "",
    );
    assert_problem_with(
        "train.npy",
        array(&[1], &[0_i64]),
        "error | split `proposed` | `test_seen` has classes that are not in `train`: `dog`",
        "move",
    );
}

#[test]
fn class_wise_splits_without_a_side() {
    let sample = sound();
    sample.put("dataset.toml", SOUND.replace(r#"["wolf"], validation = ["dog"]"#, "[]"));
    assert_problem(&sample, "error | split `standard` | no class is unseen", "some of them");
    assert_problem_with(
        "random.npy",
        array(&[3, 3], &[1_u8, 1, 1, 0, 0, 1, 0, 0, 1]),
        "error | split `random`, trial 0 | no class is known",
        "",
    );
    let family = array(&[3, 3], &[0_u8, 1, 1, 0, 0, 1, 0, 0, 1]);
    assert_problem_with(
        "random.npy",
        &family,
        "warning | split `random` | trial 0 has 2 unseen classes, but trial 1 has 1",
        "",
    );
    assert_problem_with(
        "random.npy",
        &family,
        "warning | split `random` | 1 trial repeats another one",
        "twice",
    );
}

#[test]
fn classes_without_instances() {
    let labels = array(&[6], &[0_i64, 0, 1, 1, 1, 1]);
    // In the family of splits the class is known, so that one cannot be learned from.
    assert_problem_with(
        "labels.npy",
        &labels,
        "error | labels | class `wolf` has no instances",
        "cannot be learned",
    );
    let sample = sound();
    sample.put("labels.npy", &labels);
    sample.put("dataset.toml", SOUND.replace("split.random        = { file = \"random.npy\" }", ""));
    assert_problem(
        &sample,
        "warning | labels | class `wolf` has no instances",
        "needs none to be recognized",
    );
    let labels = array(&[6], &[1_i64, 1, 1, 2, 2, 2]);
    assert_problem_with(
        "labels.npy",
        labels,
        "error | labels | class `cat` has no instances",
        "one_based = true",
    );
}

#[test]
fn equal_rows_on_two_sides() {
    let mut zoom = ZOOM;
    zoom.copy_within(2..4, 8);
    let sample = sound();
    sample.put("zoom.npy", array(&[6, 2], &zoom));
    assert_problem(
        &sample,
        "warning | zoom.npy, split `standard` | rows 1 and 4 are equal, but one is in `train` and the other in `test_unseen`",
        "same picture twice",
    );
    assert_problem(
        &sample,
        "warning | zoom.npy, split `proposed` | rows 1 and 4 are equal, but one is in `test_seen`",
        "",
    );
    assert_problem(
        &sample,
        "warning | zoom.npy, split `random` | rows 1 and 4 are equal, but on different sides in 1 trial",
        "",
    );
    let visual = inspect(sample.path()).visual;
    assert_eq!(visual.get("zoom").unwrap().duplicates, 1);

    // Equal rows on one side are counted and no problem; nearly equal ones are counted apart.
    let mut zoom = ZOOM;
    zoom.copy_within(8..10, 10);
    let sample = sound();
    sample.put("zoom.npy", array(&[6, 2], &zoom));
    assert_eq!(problems(&sample), [""; 0]);
    zoom[11] += 1e-4;
    sample.put("zoom.npy", array(&[6, 2], &zoom));
    let visual = inspect(sample.path()).visual;
    assert_eq!((visual.get("zoom").unwrap().duplicates, visual.get("zoom").unwrap().near_duplicates), (0, 1));
}
