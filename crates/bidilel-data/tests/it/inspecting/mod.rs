//! A sound dataset, and every kind of problem that one can have.

mod splits;

use bidilel_data::Inspection;
use bidilel_data::check::{Problem, Severity};

use crate::support::{Sample, array, inspect};

/// A folder without problems: three classes, one unseen, and a sound instance-level split.
fn sound() -> Sample {
    let sample = Sample::new();
    sample.put("dataset.toml", SOUND);
    sample.put("labels.npy", array(&[6], &[0_i64, 0, 1, 1, 2, 2]));
    sample.put("zoom.npy", array(&[6, 2], &ZOOM));
    sample.put("attributes.npy", array(&[3, 2], &[0.0_f64, 12.5, 1.0, 3.0, 4.0, 2.0]));
    sample.put("random.npy", array(&[2, 3], &[0_u8, 1, 0, 1, 0, 0]));
    sample.put("train.npy", array(&[2], &[0_i64, 2]));
    sample.put("seen.npy", array(&[2], &[1_i64, 3]));
    sample.put("unseen.npy", array(&[2], &[4_i64, 5]));
    sample
}

const ZOOM: [f32; 12] = [1.0, 2.0, 3.0, 5.0, 5.0, 0.0, 7.0, 8.0, 9.0, 11.0, 12.0, 10.0];

const SOUND: &str = r#"
name    = "sound"
classes = "classes.txt"
labels  = "labels.npy"
visual.zoom         = { file = "zoom.npy" }
semantic.attributes = { file = "attributes.npy", metric = "euclidean", names = "attribute-names.txt" }
split.standard      = { unseen = ["wolf"], validation = ["dog"] }
split.random        = { file = "random.npy" }
split.proposed      = { train = "train.npy", test_seen = "seen.npy", test_unseen = "unseen.npy" }
"#;

/// The problems of a folder as `severity | where | message | hint`, without the name of the temporary folder.
fn problems(sample: &Sample) -> Vec<String> {
    let folder = format!("{}/", sample.path().display());
    let line = |Problem { severity, place, message, hint }: Problem| {
        let severity = if severity == Severity::Error { "error" } else { "warning" };
        let hint = hint.unwrap_or_default();
        format!("{severity} | {place} | {message} | {hint}").replace(&folder, "")
    };
    inspect(sample.path()).problems.into_iter().map(line).collect()
}

/// Whether one of the problems starts and goes on like this.
#[track_caller]
fn assert_problem(sample: &Sample, start: &str, hint: &str) {
    let problems = problems(sample);
    let found = problems.iter().any(|problem| problem.starts_with(start) && problem.contains(hint));
    assert!(found, "{start:?} ... {hint:?} is not in {problems:#?}");
}

#[track_caller]
fn assert_problem_with(name: &str, content: impl AsRef<[u8]>, start: &str, hint: &str) {
    let sample = sound();
    sample.put(name, content);
    assert_problem(&sample, start, hint);
}

#[test]
fn a_sound_dataset_has_no_problems_and_is_described() {
    let sample = sound();
    assert_eq!(problems(&sample), [""; 0]);
    let inspection = inspect(sample.path());
    let Inspection { name, instances, classes, .. } = &inspection;
    assert_eq!((name.as_str(), *instances, *classes), ("sound", 6, 3));
    let visual = inspection.visual.get("zoom").unwrap();
    assert_eq!((visual.element, visual.instances, visual.dimensions), ("float32", 6, 2));
    assert_eq!((visual.minimum, visual.maximum), (Some(0.0), Some(12.0)));
    assert!((visual.sparsity - 1.0 / 12.0).abs() < 1e-12);
    assert!((visual.norms.unwrap().maximum - 244.0_f64.sqrt()).abs() < 1e-9);
    assert_eq!(visual.norm_histogram.as_ref().unwrap().counts.iter().sum::<usize>(), 6);
    assert_eq!(inspection.balance.counts.get("dog"), Some(&2));
    assert!(!inspection.has_errors());
}

#[test]
fn the_json_is_as_scripts_expect_it() {
    let json = serde_json::to_value(inspect(sound().path())).unwrap();
    assert_eq!(json["instances"], 6);
    assert_eq!(json["classes"], 3);
    assert_eq!(json["visual"]["zoom"]["dimensions"], 2);
    assert_eq!(json["semantic"]["attributes"]["metric"], "euclidean");
    assert_eq!(json["splits"]["standard"]["unseen"], 1);
    assert_eq!(json["splits"]["standard"]["validation"], 1);
    assert_eq!(json["splits"]["random"]["trials"], 2);
    assert_eq!(json["splits"]["proposed"]["test_seen"], 2);
    assert_eq!(json["problems"].as_array().unwrap().len(), 0);

    let sample = sound();
    sample.put("unseen.npy", array(&[2], &[4_i64, 1]));
    let json = serde_json::to_value(inspect(sample.path())).unwrap();
    assert_eq!(json["problems"][0]["severity"], "error");
    assert_eq!(json["problems"][0]["where"], "split `proposed`");
}

#[test]
fn labels_that_count_from_the_wrong_number() {
    let sample = sound();
    sample.put("labels.npy", array(&[6], &[1_i64, 1, 2, 2, 3, 3]));
    assert_problem(&sample, "error | labels.npy | row 4: label 3 is not a class", "one_based = true");
    // The rest is looked at as if they had been read right.
    assert_eq!(problems(&sample).len(), 1);
    assert_eq!(inspect(sample.path()).balance.counts.get("wolf"), Some(&2));
    let sample = sound();
    sample.put("dataset.toml", format!("one_based = true\n{SOUND}"));
    assert_problem(
        &sample,
        "error | labels.npy | row 0: expected an integer from 1, found 0",
        "remove `one_based`",
    );
    assert_eq!(inspect(sample.path()).instances, 6);
}

#[test]
fn numbers_that_are_not_finite() {
    let mut zoom = ZOOM;
    (zoom[5], zoom[8]) = (f32::NAN, f32::INFINITY);
    assert_problem_with(
        "zoom.npy",
        array(&[6, 2], &zoom),
        "error | zoom.npy, row 2, column 1 | the value is NaN, the first of 2 that are not finite",
        "remove the instances",
    );
    assert_problem_with(
        "attributes.npy",
        array(&[3, 2], &[0.0, 1.0, f64::NAN, 1.0, f64::NAN, 2.0]),
        "error | attributes.npy | row 1, column 0: expected a finite number, found NaN, one of 2 such values",
        "repair",
    );
}

#[test]
fn features_that_tell_nothing() {
    let mut zoom = ZOOM;
    for row in 0..6 {
        zoom[2 * row] = 4.0;
    }
    assert_problem_with(
        "zoom.npy",
        array(&[6, 2], &zoom),
        "warning | zoom.npy | of 2 dimensions 1 is constant",
        "dropped",
    );
    let mut zoom = ZOOM;
    zoom[..2].fill(0.0);
    assert_problem_with(
        "zoom.npy",
        array(&[6, 2], &zoom),
        "warning | zoom.npy | 1 row is all zero",
        "direction",
    );
    let far = ZOOM.map(|value| 100.0 * value);
    assert_problem_with(
        "zoom.npy",
        array(&[6, 2], &far),
        "warning | zoom.npy | raw rows lie about",
        "for raw rows use heat weights",
    );
}

#[test]
fn arrays_that_lie_the_other_way_round() {
    assert_problem_with(
        "zoom.npy",
        array(&[2, 6], &ZOOM),
        "error | zoom.npy | expected 6 rows (one per instance), found 2 rows and 6 columns",
        "write `transpose = true`",
    );
    assert_problem_with(
        "attributes.npy",
        array(&[2, 3], &[1.0_f64, 2.0, 3.0, 4.0, 5.0, 7.0]),
        "error | attributes.npy | expected 3 rows (one per class), found 2 rows and 3 columns",
        "write `transpose = true`",
    );
}

#[test]
fn descriptions_that_do_not_describe() {
    let attributes = |values: [f64; 6]| array(&[3, 2], &values);
    assert_problem_with(
        "attributes.npy",
        attributes([1.0, 12.5, -1.0, 3.0, 4.0, 2.0]),
        "warning | attributes.npy | 1 of 6 values are -1, the marker for missing",
        "fill them in",
    );
    // Only the direction counts.
    assert_problem_with(
        "attributes.npy",
        attributes([1.0, 3.0, 4.0, 5.0, 0.1, 0.3]),
        "warning | attributes.npy | classes with the same description cannot be told apart: `cat` and `wolf`",
        "merge",
    );
    assert_problem_with(
        "attributes.npy",
        attributes([1.0, 3.0, 0.0, 0.0, 0.2, 0.3]),
        "error | attributes.npy | 1 vector is all zero: `dog`",
        "describe the class",
    );
    assert_problem_with(
        "attributes.npy",
        attributes([1.0, 3.0, 1.0, 4.0, 1.0, 5.0]),
        "warning | attributes.npy | of 2 dimensions 1 is the same for all classes",
        "",
    );
    let sample = sound();
    sample.put(
        "dataset.toml",
        SOUND.replace("\"euclidean\", names = \"attribute-names.txt\"", "\"precomputed\""),
    );
    sample.put("attributes.npy", array(&[3, 3], &[0.0_f64, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0]));
    assert_problem(
        &sample,
        "warning | attributes.npy | classes with the same description",
        "`cat` and `dog`",
    );
}

#[test]
fn a_folder_that_does_not_open_tells_all_its_errors() {
    let sample = sound();
    sample.put("zoom.npy", "PK\x03\x04");
    sample.put("attributes.npy", "");
    sample.put("random.npy", array(&[1, 3], &[0_u8, 7, 1]));
    let found = problems(&sample);
    let places: Vec<_> = found.iter().map(|line| line.split(" | ").nth(1).unwrap()).collect();
    assert_eq!(places, ["zoom.npy", "attributes.npy", "random.npy"]);
    let inspection = inspect(sample.path());
    assert_eq!((inspection.instances, inspection.classes), (6, 3));
    assert!(inspection.splits.get("standard").is_some() && inspection.has_errors());

    sample.put("dataset.toml", "name = 3");
    assert_problem(&sample, "error | dataset.toml | line 1: ", "");
    let inspection = inspect(&sample.path().join("nothing"));
    assert_eq!((inspection.name.as_str(), inspection.problems.len()), ("nothing", 1));
}

#[test]
fn parts_that_are_not_there() {
    let sample = sound();
    sample.put("dataset.toml", "name = \"x\"\nclasses = \"classes.txt\"\nlabels = \"labels.npy\"\n");
    for part in ["visual representation", "semantic representation", "split"] {
        assert_problem(&sample, &format!("error | x | there is no {part}"), "add a `[");
    }
}

#[test]
fn semantic_representations_on_other_scales_are_told_of() {
    let sample = sound();
    let with = |distances: [f64; 9]| {
        sample.put(
            "dataset.toml",
            SOUND.to_owned() + "semantic.tree = { file = \"tree.npy\", metric = \"precomputed\" }\n",
        );
        sample.put("tree.npy", array(&[3, 3], &distances));
    };
    // The attributes have a median distance of 0.785: unit vectors at 18, 45 and 63 degrees from each other.
    with([0.0, 1.5, 1.5, 1.5, 0.0, 1.5, 1.5, 1.5, 0.0]);
    assert!(problems(&sample).iter().all(|problem| !problem.contains("apart")), "less than twice as far");
    with([0.0, 4.0, 4.0, 4.0, 0.0, 4.0, 4.0, 4.0, 0.0]);
    let start = "warning | tree.npy | classes are 4.000 apart in `tree` (the median) and 0.7";
    assert_problem(&sample, start, "--semantic attributes=0.8,tree=0.2");
}
