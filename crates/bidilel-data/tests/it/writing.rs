//! What is written opens as it was, and nothing half-written is left.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use bidilel::dataset::{Dataset, Split, SplitKind, Visual};
use bidilel_data::check::inspect_dataset;
use bidilel_data::{Error, Precision, WriteOptions, open, write, write_watched};
use bidilel_math::Observer;
use faer::Mat;

use crate::support::Sample;

fn names(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(name).collect();
    names.sort();
    names
}

fn features(visual: &Visual) -> Vec<Vec<f32>> {
    let read = |index| {
        let mut row = vec![0.0; visual.rows.dim()];
        visual.rows.read(index, &mut row);
        row
    };
    (0..visual.rows.count()).map(read).collect()
}

fn assert_same(one: &Dataset, other: &Dataset) {
    assert_eq!((&one.name, &one.classes, &one.labels), (&other.name, &other.classes, &other.labels));
    assert_eq!(one.visual.len(), other.visual.len());
    for (one, other) in one.visual.iter().zip(&other.visual) {
        assert_eq!((&one.name, features(one)), (&other.name, features(other)));
    }
    assert_eq!(one.semantic.len(), other.semantic.len());
    for (one, other) in one.semantic.iter().zip(&other.semantic) {
        assert_eq!((&one.name, one.metric, &one.vectors), (&other.name, other.metric, &other.vectors));
        assert_eq!(one.dimension_names, other.dimension_names);
    }
    let kinds =
        |splits: &[Split]| splits.iter().map(|s| (s.name.clone(), s.kind.clone())).collect::<Vec<_>>();
    assert_eq!(kinds(&one.splits), kinds(&other.splits));
}

#[test]
fn a_written_dataset_opens_as_it_was() {
    let dataset = Sample::new().open().dataset;
    let folder = tempfile::tempdir().unwrap();
    for precision in [Precision::Float32, Precision::Float16] {
        let target = folder.path().join(format!("{precision:?}"));
        write(&dataset, &target, WriteOptions { precision, ..WriteOptions::default() }).unwrap();
        assert_same(&open(&target).unwrap().dataset, &dataset);
    }
    assert_eq!(names(folder.path()), ["Float16", "Float32"]);
}

/// Names that collide as files, or that no file may have, and lists too long for one line.
#[test]
fn awkward_names_and_long_lists_survive() {
    let mut dataset = Sample::new().open().dataset;
    dataset.classes = (0..30).map(|class| format!("class \"{class}\" ö")).collect();
    dataset.semantic.clear();
    for (visual, name) in dataset.visual.iter_mut().zip(["../Labels", "labels"]) {
        name.clone_into(&mut visual.name);
    }
    let long = SplitKind::Classes { unseen: (0..25).collect(), validation: vec![26] };
    dataset.splits = vec![
        Split { name: "a long one".to_owned(), origin: String::new(), kind: long },
        Split {
            name: "b".to_owned(),
            origin: String::new(),
            kind: SplitKind::Family { trials: vec![vec![3], vec![]] },
        },
    ];
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("x");
    write(&dataset, &target, WriteOptions::default()).unwrap();
    assert_same(&open(&target).unwrap().dataset, &dataset);
    assert!(target.join("a_long_one-unseen.txt").is_file());
    assert!(target.join("labels-2.npy").is_file());
}

#[test]
fn only_a_dataset_is_replaced_and_only_when_asked() {
    let dataset = Sample::new().open().dataset;
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("x");
    let message = |overwrite| {
        let options = WriteOptions { overwrite, ..WriteOptions::default() };
        write(&dataset, &target, options)
            .map_err(|error| error.to_string().rsplit('/').next().unwrap().to_owned())
    };
    fs::create_dir(&target).unwrap();
    message(false).unwrap();
    assert_eq!(message(false).unwrap_err(), "x`: already exists and is not empty");
    fs::write(target.join("stale.npy"), "old").unwrap();
    message(true).unwrap();
    assert!(!names(&target).contains(&"stale.npy".to_owned()));
    fs::remove_file(target.join("dataset.toml")).unwrap();
    assert_eq!(message(true).unwrap_err(), "x`: is not a dataset folder, so it is not replaced");
    fs::remove_dir_all(&target).unwrap();
    fs::write(&target, "a file").unwrap();
    assert_eq!(message(true).unwrap_err(), "x`: expected a folder, found a file");
    assert_eq!(names(folder.path()), ["x"]);
}

/// The old files are still mapped while the new ones take their place.
#[test]
fn a_dataset_can_replace_itself() {
    let sample = Sample::new();
    let target = sample.path().join("copy");
    write(&sample.open().dataset, &target, WriteOptions::default()).unwrap();
    let copy = open(&target).unwrap().dataset;
    write(&copy, &target, WriteOptions { overwrite: true, ..WriteOptions::default() }).unwrap();
    assert_same(&open(&target).unwrap().dataset, &sample.open().dataset);
}

#[test]
fn a_dataset_that_cannot_be_written_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("x");
    let message = |dataset: &Dataset, precision| {
        let options = WriteOptions { precision, ..WriteOptions::default() };
        let error = write(dataset, &target, options).unwrap_err().to_string();
        assert!(names(folder.path()).is_empty());
        error.rsplit('/').next().unwrap().to_owned()
    };
    let mut dataset = Sample::new().open().dataset;
    dataset.visual[0].rows =
        Arc::new(Mat::<f32>::from_fn(2, 4, |_, column| if column == 3 { 1e5 } else { 1.0 }));
    assert_eq!(
        message(&dataset, Precision::Float16),
        "zoom.npy`: row 3, column 0: expected at most 65504, which is all that float16 holds, found 100000",
    );
    dataset.splits[0].kind = SplitKind::Classes { unseen: vec![7], validation: vec![] };
    assert_eq!(
        message(&dataset, Precision::Float32),
        "x`: split `standard`: class 7 does not exist: there are 3",
    );
    dataset.classes[1] = "two\nlines".to_owned();
    assert_eq!(
        message(&dataset, Precision::Float32),
        "classes.txt`: name \"two\\nlines\" of class 1 cannot be written as a line of text",
    );
    let nowhere = folder.path().join("no/x");
    let error = write(&dataset, &nowhere, WriteOptions::default()).unwrap_err().to_string();
    assert!(error.ends_with("no`: no such file or folder"));
}

/// Asks to stop before anything begins.
struct Stop;

impl Observer for Stop {
    fn poll(&self) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

#[test]
fn what_is_cancelled_leaves_nothing() {
    let sample = Sample::new();
    let dataset = sample.open().dataset;
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("copy");
    let cancelled = write_watched(&dataset, &target, WriteOptions::default(), &Stop).unwrap_err();
    assert!(matches!(cancelled, Error::Cancelled), "{cancelled}");
    assert_eq!(names(folder.path()), [] as [&str; 0]);
    assert!(matches!(inspect_dataset(&dataset, &Stop), Err(Error::Cancelled)));
}
