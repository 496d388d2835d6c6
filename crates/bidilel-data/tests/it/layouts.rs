//! Folders that open as they are.

use std::fs;
use std::path::{Path, PathBuf};

use bidilel::dataset::{Dataset, SplitKind};
use bidilel_data::check::Severity;
use bidilel_data::{WriteOptions, open, write};
use tempfile::TempDir;

use crate::support::{array, inspect};

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/layouts").join(name)
}

fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder
}

fn message(path: &Path) -> String {
    open(path).unwrap_err().to_string().replace(&format!("{}", path.display()), ".")
}

/// Writes a dataset as a native folder, and gives what is read from that.
fn converted(path: &Path) -> Dataset {
    let target = tempfile::tempdir().unwrap();
    let target = target.path().join("native");
    let before = open(path).unwrap().dataset;
    write(&before, &target, WriteOptions::default()).unwrap();
    let after = open(&target).unwrap().dataset;
    assert_eq!((&before.classes, &before.labels), (&after.classes, &after.labels));
    let kinds = |dataset: &Dataset| dataset.splits.iter().map(|split| split.kind.clone()).collect::<Vec<_>>();
    assert_eq!(kinds(&before), kinds(&after));
    for (old, new) in before.semantic.iter().zip(&after.semantic) {
        assert_eq!(
            (&old.name, &old.vectors, &old.dimension_names),
            (&new.name, &new.vectors, &new.dimension_names)
        );
    }
    let (mut old, mut new) = (vec![0.0; before.visual[0].rows.dim()], vec![0.0; after.visual[0].rows.dim()]);
    for row in 0..before.labels.len() {
        before.visual[0].rows.read(row, &mut old);
        after.visual[0].rows.read(row, &mut new);
        assert_eq!(old, new);
    }
    after
}

#[test]
fn the_proposed_splits_open_as_they_are() {
    let dataset = converted(&fixture("sound"));
    assert_eq!(dataset.name, "sound");
    assert_eq!(dataset.classes, ["antelope", "bat", "cow", "dolphin"]);
    assert_eq!(dataset.labels, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]);
    assert_eq!((dataset.visual[0].name.as_str(), dataset.visual[0].rows.dim()), ("res101", 5));
    let names: Vec<_> = dataset.semantic.iter().map(|semantic| semantic.name.as_str()).collect();
    assert_eq!(names, ["att", "original_att"]);
    assert_eq!(dataset.semantic[1].vectors.col_as_slice(0), [10.0, 0.0, 30.0]);
    let (train, test_seen, test_unseen) = (vec![7, 0, 1, 3, 4, 6], vec![8, 2, 5], vec![9, 10, 11]);
    let kinds: Vec<_> = dataset.splits.into_iter().map(|split| (split.name, split.kind)).collect();
    let classes = SplitKind::Classes { unseen: vec![3], validation: vec![2] };
    let proposed = SplitKind::Instances { train, test_seen, test_unseen, validation: vec![2] };
    assert_eq!(kinds, [("proposed".to_owned(), proposed), ("proposed-classes".to_owned(), classes)]);
}

#[test]
fn the_leak_of_2017_is_named_where_it_is() {
    let leaks = |name: &str| {
        let problems = inspect(&fixture(name)).problems;
        assert!(problems.iter().all(|problem| problem.severity == Severity::Warning), "{problems:?}");
        problems.into_iter().filter(|problem| problem.message.contains("leak")).collect::<Vec<_>>()
    };
    assert_eq!(leaks("sound"), []);
    let [leak] = &leaks("leaking")[..] else { panic!("not one leak") };
    assert!(
        leak.message.ends_with("`train_loc` and `val_loc` contain 3 of the 3 instances of `test_seen_loc`")
    );
    assert!(leak.place.ends_with("att_splits.mat"));
    assert!(leak.hint.as_ref().unwrap().contains("trainval_loc"));
    assert!(open(&fixture("leaking")).unwrap().notes.iter().any(|note| note.contains("leak")));
}

#[test]
fn half_of_the_proposed_layout_says_what_is_missing() {
    let splits = fs::read(fixture("sound").join("att_splits.mat")).unwrap();
    let half = folder(&[("att_splits.mat", &splits)]);
    assert_eq!(
        message(half.path()),
        "`.`: found `att_splits.mat`, but not `res101.mat`, which has the features"
    );
    let half = folder(&[("res101.mat", b"x")]);
    assert!(message(half.path()).contains("but not `att_splits.mat`"));
    assert!(message(folder(&[]).path()).contains("without `dataset.toml`"));
}

fn animals() -> TempDir {
    folder(&[
        ("classes.txt", b"     2\tbat\n     1\tantelope\n     3\tgiant+panda\n"),
        ("predicates.txt", b" 1\tblack\n 2\tbig\n"),
        ("predicate-matrix-continuous.txt", b"  -1.00  12.34\n 20.00 0.00\n 4 5\n"),
        ("predicate-matrix-binary.txt", b"0 1\n1 0\n1 1\n"),
        ("trainclasses.txt", b"bat\nantelope\n"),
        ("testclasses.txt", b"giant+panda\n"),
        ("AwA2-features.txt", b"1 2\n3 4\n5 6\n7 9\n"),
        ("AwA2-labels.txt", b"1\n2\n2\n3\n"),
    ])
}

#[test]
fn animals_with_attributes_open_as_they_are() {
    let folder = animals();
    let opened = open(folder.path()).unwrap();
    assert!(opened.notes[0].contains("1 of 6 values are -1"));
    let dataset = converted(folder.path());
    assert_eq!(dataset.classes, ["antelope", "bat", "giant+panda"]);
    assert_eq!(dataset.labels, [0, 1, 1, 2]);
    assert_eq!(dataset.semantic[0].vectors.col_as_slice(0), [0.0, 12.34]);
    assert_eq!(dataset.semantic[0].dimension_names.as_ref().unwrap(), &["black", "big"]);
    assert_eq!(dataset.semantic[1].name, "binary");
    assert_eq!(dataset.splits[0].kind, SplitKind::Classes { unseen: vec![2], validation: vec![] });

    fs::write(folder.path().join("trainclasses.txt"), "bat\ngiant panda\n").unwrap();
    assert!(message(folder.path()).ends_with("split `standard`: class `giant+panda` is unseen too"));
    fs::write(folder.path().join("trainclasses.txt"), "bat\n").unwrap();
    assert!(open(folder.path()).unwrap().notes[1].contains("1 classes are neither known nor unseen"));
    fs::write(folder.path().join("AwA2-labels.txt"), "1\n2\n2\n4\n").unwrap();
    assert!(message(folder.path()).contains("row 3: label 3 is not a class"));
    fs::remove_file(folder.path().join("AwA2-labels.txt")).unwrap();
    fs::write(folder.path().join("labels.npy"), array(&[4], &[0_i64, 1, 1, 2])).unwrap();
    assert_eq!(open(folder.path()).unwrap().dataset.labels, [0, 1, 1, 2]);
    fs::remove_file(folder.path().join("AwA2-features.txt")).unwrap();
    assert!(message(folder.path()).ends_with("but not `AwA2-features.txt` or `features.npy`"));
}

#[test]
fn birds_are_joined_by_number_and_name() {
    let features = array(&[3, 2], &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let folder = folder(&[
        ("classes.txt", b"2 002.Common_Raven\n1 001.Fish_Crow\n"),
        ("image_class_labels.txt", b"1 2\n3 1\n2 1\n"),
        ("images.txt", b"3 001.Fish_Crow/c.jpg\n1 002.Common_Raven/a.jpg\n2 001.Fish_Crow/b.jpg\n"),
        ("attributes/class_attribute_labels_continuous.txt", b"10 20 30\n0 50 1e1\n"),
        ("testclasses.txt", b"Common_Raven\n"),
        ("features.npy", &features),
    ]);
    let dataset = converted(folder.path());
    assert_eq!(dataset.classes, ["001.Fish_Crow", "002.Common_Raven"]);
    assert_eq!(dataset.labels, [1, 0, 0]);
    assert_eq!(dataset.semantic[0].vectors.col_as_slice(1), [0.0, 50.0, 10.0]);
    assert_eq!(dataset.splits[0].kind, SplitKind::Classes { unseen: vec![1], validation: vec![] });

    let images = folder.path().join("images.txt");
    fs::write(images, "1 001.Fish_Crow/a.jpg\n2 001.Fish_Crow/b.jpg\n3 001.Fish_Crow/c.jpg\n").unwrap();
    assert!(
        message(folder.path())
            .ends_with("image 1 is in `001.Fish_Crow`, but its class is `002.Common_Raven`")
    );
    fs::write(folder.path().join("image_class_labels.txt"), "1 2\n1 1\n2 1\n").unwrap();
    assert!(message(folder.path()).ends_with("line 2: expected every image from 1 on once, found `1 1`"));
}

#[test]
fn a_folder_for_every_class() {
    let (one, several) = (array(&[2], &[1.0_f32, 2.0]), array(&[2, 2], &[3.0_f32, 4.0, 5.0, 6.0]));
    let folder = folder(&[
        ("zebra/a.npy", &one),
        ("zebra/notes.txt", b"not features"),
        ("horse/b.npy", &several),
        ("horse/a.npy", &one),
        ("attributes.csv", b"class,stripes,tail\nmule,7,7\nZebra,1,0.5\nhorse,0,0.25\n"),
        ("unseen.txt", b"zebra\n"),
    ]);
    let dataset = converted(folder.path());
    assert_eq!(
        (dataset.classes, dataset.labels),
        (vec!["horse".to_owned(), "zebra".to_owned()], vec![0, 0, 0, 1])
    );
    assert_eq!(dataset.semantic[0].vectors.col_as_slice(0), [0.0, 0.25]);
    assert_eq!(dataset.semantic[0].vectors.col_as_slice(1), [1.0, 0.5]);
    assert_eq!(dataset.semantic[0].dimension_names.as_ref().unwrap(), &["stripes", "tail"]);
    let mut row = vec![0.0; 2];
    dataset.visual[0].rows.read(2, &mut row);
    assert_eq!(row, [5.0, 6.0]);

    fs::write(folder.path().join("attributes.csv"), "0,1\n1,0\n").unwrap();
    assert_eq!(open(folder.path()).unwrap().dataset.semantic[0].vectors.col_as_slice(0), [0.0, 1.0]);
    fs::write(folder.path().join("attributes.csv"), "horse,1\n").unwrap();
    assert!(message(folder.path()).ends_with("does not name every class once: missing `zebra`"));
    fs::write(folder.path().join("zebra/b.npy"), array(&[3], &[1.0_f32; 3])).unwrap();
    assert!(message(folder.path()).ends_with("expected 2 features as in the files before, found 3"));
}

#[test]
fn classes_that_are_only_described_are_unseen_by_themselves() {
    let features = array(&[2, 2], &[3.0_f32, 4.0, 5.0, 6.0]);
    let folder = folder(&[
        ("horse/a.npy", &features),
        // As macOS writes the name, while the table has it composed.
        ("bla\u{30a}mes/a.npy", &features),
        (
            "attributes.csv",
            "class,stripes,tail\nzebra,1,0.5\nbl\u{e5}mes,0.75,1\n\"ass, wild\",0.5,0.5\nHorse,0,0.25\n"
                .as_bytes(),
        ),
    ]);
    let opened = open(folder.path()).unwrap();
    assert_eq!(opened.notes, [""; 0]);
    let dataset = converted(folder.path());
    assert_eq!(dataset.classes, ["ass, wild", "bl\u{e5}mes", "horse", "zebra"]);
    assert_eq!(dataset.labels, [1, 1, 2, 2]);
    assert_eq!(dataset.semantic[0].vectors.col_as_slice(0), [0.5, 0.5]);
    assert_eq!(dataset.semantic[0].vectors.col_as_slice(1), [0.75, 1.0]);
    assert_eq!(dataset.semantic[0].vectors.col_as_slice(2), [0.0, 0.25]);
    let unseen = |path: &Path| open(path).unwrap().dataset.splits[0].kind.clone();
    assert_eq!(unseen(folder.path()), SplitKind::Classes { unseen: vec![0, 3], validation: vec![] });

    // A list is the whole truth, and says what it leaves out.
    fs::write(folder.path().join("unseen.txt"), "Zebra\nhorse\n").unwrap();
    let opened = open(folder.path()).unwrap();
    assert_eq!(opened.dataset.classes, ["bl\u{e5}mes", "horse", "zebra"]);
    assert_eq!(opened.dataset.splits[0].kind, SplitKind::Classes { unseen: vec![1, 2], validation: vec![] });
    assert!(opened.notes[0].contains("1 of the described classes have no features"), "{:?}", opened.notes);
}
