//! Files that NumPy, SciPy and a script have written hold what they put there.

use std::path::Path;

use bidilel::dataset::Rows;
use bidilel_data::array::{Array, Base, Element};
use bidilel_data::container::{Container, EntryKind};

use crate::support::{Sample, fixture, fixture_bytes};

const CLASSES: [&str; 10] =
    ["double", "single", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"];

fn open(name: &str) -> Container {
    Container::open(&fixture(name)).unwrap()
}

fn rows(array: &Array) -> Vec<Vec<f32>> {
    let read = |index| {
        let mut row = vec![0.0; array.dim()];
        array.read(index, &mut row);
        row
    };
    (0..array.count()).map(read).collect()
}

/// What every fixture holds under some key.
fn assert_grid(container: &Container, key: &str) {
    let grid = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]];
    assert_eq!(rows(&container.array(Some(key)).unwrap()), grid, "{container:?} {key}");
}

fn message(container: &Container, key: Option<&str>) -> String {
    container.array(key).unwrap_err().to_string()
}

#[test]
fn matlab_numbers_of_every_class_compressed_or_not() {
    for name in ["numbers.mat", "numbers-compressed.mat"] {
        let container = open(name);
        assert_eq!(container.format_name(), "a MATLAB file");
        for class in CLASSES {
            assert_grid(&container, class);
        }
        let mask = container.array(Some("mask")).unwrap();
        assert_eq!((mask.element(), rows(&mask)), (Element::Bool, vec![vec![1.0, 0.0, 1.0]]));
        let empty = container.array(Some("empty")).unwrap();
        assert_eq!(empty.to_indices(Base::One).unwrap(), [0_usize; 0]);
        assert_eq!(rows(&container.array(Some("sparse")).unwrap()), [[0.0, 1.5, 0.0], [2.5, 0.0, 0.0]]);
        let shapes = "expected numbers in 1 or 2 dimensions, found an array of";
        assert!(message(&container, Some("wide")).ends_with(&format!("{name}:wide`: {shapes} 0 x 3")));
        assert!(message(&container, Some("cube")).ends_with(&format!("{name}:cube`: {shapes} 2 x 2 x 2")));
        let complex = format!("{name}`: key `complex`: expected numbers, found something else");
        assert!(message(&container, Some("complex")).ends_with(&complex));
    }
}

#[test]
fn matlab_numbers_in_every_storage_type_and_byte_order() {
    for name in ["little.mat", "big.mat"] {
        let container = open(name);
        for kind in [1, 2, 3, 4, 5, 6, 7, 9, 12, 13] {
            assert_grid(&container, &format!("as{kind}"));
        }
        // Stored smaller than it is shown, and not copied.
        assert_eq!(container.array(Some("as2")).unwrap().element(), Element::U8);
        assert_eq!(rows(&container.array(Some("packed")).unwrap()), [[7.0, 8.0]]);
        assert_eq!(rows(&container.array(Some("last")).unwrap()), [[9.0]]);
        assert_eq!(rows(&container.array(Some("pair.in")).unwrap()), [[0.5]]);
        assert_eq!(container.array(Some("pair.out")).unwrap().rows(), 0);
        for (key, wanted) in [
            ("bytes", &["cox", "hat"][..]),
            ("units", &["cox", "hat"]),
            ("utf8", &["cox", "hat"]),
            ("utf16", &["🦉"]),
            ("utf32", &["🦉"]),
            ("latin", &["é"]),
        ] {
            assert_eq!(container.strings(key).unwrap(), wanted, "{name} {key}");
        }
        let entries = container.entries().unwrap();
        assert!(entries.iter().any(|entry| entry.key == "thing" && entry.kind == EntryKind::Other));
        assert!(entries.iter().all(|entry| !entry.key.is_empty()));
    }
}

#[test]
fn matlab_strings_cells_and_structures() {
    for name in ["texts.mat", "texts-compressed.mat"] {
        let container = open(name);
        let strings = |key: &str| container.strings(key).unwrap();
        assert_eq!(strings("line"), ["héllo 雪"]);
        assert_eq!(strings("rows"), ["cat", "horse"]);
        assert_eq!(strings("names"), ["killer+whale", "", "ox"]);
        assert_eq!(strings("names{3}"), ["ox"]);
        assert_eq!(strings("wrapped"), ["left", "right"]);
        assert_eq!(strings("mixed{1}"), ["text"]);
        assert_eq!(rows(&container.array(Some("mixed(2)")).unwrap()), [[7.0, 8.0]]);
        assert_grid(&container, "VideoLabel.UCF101.WordVec");
        assert_eq!(strings("VideoLabel.UCF101.ClassName"), ["Archery", "YoYo"]);
        assert_eq!(strings("trials(2).name"), ["second"]);
        assert_eq!(container.array(Some("trials(2).unseen")).unwrap().to_indices(Base::One).unwrap(), [2, 3]);
        let several = "`name` is a field of 2 structures: say which one, as in `(1).name`";
        assert!(container.strings("trials.name").unwrap_err().to_string().ends_with(several));
        for key in ["VideoLabel", "VideoLabel.UCF101", "trials(1).name", "mixed"] {
            assert!(container.has(key), "{key}");
        }
        for key in
            ["", "x", "VideoLabel.x", "VideoLabel.", "trials(3).name", "trials(0).name", "line.x", "names{4}"]
        {
            assert!(!container.has(key), "{key}");
        }
        let listed: Vec<_> = container.entries().unwrap();
        let found = listed.iter().find(|entry| entry.key == "VideoLabel.UCF101.WordVec").unwrap();
        assert_eq!((found.kind, &found.shape[..]), (EntryKind::Numbers, &[2, 3][..]));
    }
}

#[test]
fn numpy_archives_stored_and_deflated() {
    use EntryKind::{Numbers, Other, Strings};
    for name in ["stored.npz", "deflated.npz"] {
        let container = open(name);
        for key in ["features", "features.npy", "columns"] {
            assert_grid(&container, key);
        }
        assert_eq!(container.array(Some("labels")).unwrap().to_indices(Base::Zero).unwrap(), [1, 0]);
        assert_eq!(container.strings("names").unwrap(), ["cat", "雪"]);
        assert_eq!(container.strings("ascii").unwrap(), ["cat", "ox"]);
        let entries = container.entries().unwrap();
        let kinds: Vec<_> = entries.iter().map(|entry| (entry.key.as_str(), entry.kind)).collect();
        let wanted = [
            ("features", Numbers),
            ("labels", Numbers),
            ("columns", Numbers),
            ("names", Strings),
            ("ascii", Strings),
            ("complex", Other),
        ];
        assert_eq!(kinds, wanted);
        assert!(message(&container, None).ends_with(&format!(
            "{name}`: expected one entry of numbers, found `features`, `labels`, `columns`"
        )));
        let error = container.array(Some("feature")).unwrap_err();
        assert_eq!(error.hint().unwrap(), "did you mean `features`?");
        assert!(error.to_string().contains("has no key `feature`: it has `features`, `labels`, "));
    }
}

#[test]
fn safetensors_of_every_type() {
    let container = open("tensors.safetensors");
    for key in ["f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"] {
        assert_grid(&container, key);
    }
    assert_eq!(container.array(Some("mask")).unwrap().element(), Element::Bool);
    assert!(container.array(Some("eighth")).is_err());
    assert!(
        container
            .strings("f32")
            .unwrap_err()
            .to_string()
            .ends_with("key `f32`: expected strings, found numbers")
    );
}

#[test]
fn a_file_is_known_by_its_content() {
    let sample = Sample::new();
    for name in ["numbers.mat", "big.mat", "stored.npz", "tensors.safetensors"] {
        let path = sample.put("features.txt", fixture_bytes(name));
        assert_eq!(Container::open(&path).unwrap().format_name(), open(name).format_name());
    }
    assert!(Container::open(Path::new("nowhere")).is_err());
}

#[test]
fn a_dataset_takes_names_labels_and_arrays_from_containers() {
    let sample = Sample::new();
    for name in ["texts-compressed.mat", "stored.npz"] {
        sample.put(name, fixture_bytes(name));
    }
    sample.put(
        "dataset.toml",
        r#"
        name = "keys"
        classes = { file = "texts-compressed.mat", key = "VideoLabel.UCF101.ClassName" }
        labels = { file = "stored.npz", key = "labels" }
        visual.features = { file = "texts-compressed.mat", key = "VideoLabel.UCF101.WordVec" }
        semantic.words = { file = "stored.npz", key = "columns", metric = "cosine", names = { file = "texts-compressed.mat", key = "names{3}" } }
        split.standard = { unseen = { file = "texts-compressed.mat", key = "VideoLabel.UCF101.ClassName{2}" } }
        split.proposed = { one_based = true, train = { file = "texts-compressed.mat", key = "trials(1).unseen" }, test_seen = { file = "texts-compressed.mat", key = "trials(1).unseen" }, test_unseen = { file = "texts-compressed.mat", key = "trials(2).unseen" } }
        "#,
    );
    let (error, _) = sample.error();
    assert_eq!(error, "`texts-compressed.mat`: expected 3 lines (one per dimension), found 1");
    let text = std::fs::read_to_string(sample.path().join("dataset.toml")).unwrap();
    let text = text.replace(r#", names = { file = "texts-compressed.mat", key = "names{3}" }"#, "");
    sample.put("dataset.toml", &text);
    let (error, _) = sample.error();
    assert_eq!(
        error,
        "`texts-compressed.mat:trials(2).unseen`: row 0: expected the index of one of 2 instances, found 3"
    );
    sample.put("dataset.toml", text.replace("trials(2)", "trials(1)"));
    let dataset = sample.open().dataset;
    assert_eq!(dataset.classes, ["Archery", "YoYo"]);
    assert_eq!(dataset.labels, [1, 0]);
    assert_eq!(dataset.visual[0].rows.dim(), 3);
    assert_eq!(
        dataset.splits[0].kind,
        bidilel::dataset::SplitKind::Classes { unseen: vec![1], validation: vec![] }
    );

    let by_name = r#"labels = { file = "texts-compressed.mat", key = "VideoLabel.UCF101.ClassName" }"#;
    let text = text.replace("trials(2)", "trials(1)");
    sample.put("dataset.toml", text.replace(r#"labels = { file = "stored.npz", key = "labels" }"#, by_name));
    assert_eq!(sample.open().dataset.labels, [0, 1]);
    sample.put("dataset.toml", text.replace("ClassName\" }\n        labels", "WordVec\" }\n        labels"));
    assert_eq!(
        sample.error().0,
        "`texts-compressed.mat`: key `VideoLabel.UCF101.WordVec`: expected strings, found numbers"
    );
    sample.put(
        "dataset.toml",
        text.replace("VideoLabel.UCF101.ClassName\" }\n        labels", "names\" }\n        labels"),
    );
    assert_eq!(sample.error().0, "`texts-compressed.mat`: item 2 of `names` is blank");
}
