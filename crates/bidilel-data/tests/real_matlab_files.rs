//! Published MATLAB files read as SciPy reads them.
//!
//! The files are not part of this project. Where they are at hand, the variable `BIDILEL_MATLAB_FILES` names their
//! folder; without it there is nothing to compare, and the fixtures of the other tests have to do.

#![expect(clippy::unwrap_used, reason = "a test that cannot make its files has failed")]

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use bidilel::dataset::SplitKind;
use bidilel_data::container::Container;
use safetensors::tensor::{Dtype, TensorView};

/// File, key, rows and columns, sum, smallest and largest value: as SciPy gives them.
type Expected = (&'static str, &'static str, (usize, usize), f64, f64, f64);

const NUMBERS: [Expected; 24] = [
    ("APY_att_splits.mat", "att", (64, 32), 101.089_591_465_2, 0.0, 0.635_429_008_585),
    ("APY_att_splits.mat", "original_att", (64, 32), 209.335_225_664_3, 0.0, 1.0),
    ("APY_att_splits.mat", "trainval_loc", (5932, 1), 49_844_466.0, f64::NAN, f64::NAN),
    ("AWA1_att_splits.mat", "att", (85, 50), 298.233_835_609_2, -0.003_753_581_678_553, 0.355_425_110_275_3),
    ("AWA1_att_splits.mat", "original_att", (85, 50), 88_370.22, -1.0, 100.0),
    ("AWA2_att_splits.mat", "trainval_loc", (23527, 1), 437_987_472.0, f64::NAN, f64::NAN),
    ("AWA2_att_splits.mat", "test_seen_loc", (5882, 1), 109_332_788.0, f64::NAN, f64::NAN),
    ("AWA2_att_splits.mat", "test_unseen_loc", (7913, 1), 149_164_243.0, f64::NAN, f64::NAN),
    ("AWA2_att_splits.mat", "train_loc", (20218, 1), 396_019_322.0, f64::NAN, f64::NAN),
    ("AWA2_att_splits.mat", "val_loc", (9191, 1), 151_300_938.0, f64::NAN, f64::NAN),
    ("CUB_att_splits.mat", "att", (312, 200), 1_735.702_879_779, 0.0, 0.292_715_218_249_9),
    ("CUB_att_splits.mat", "original_att", (312, 200), 710_593.746_715_1, 0.0, 100.0),
    ("FLO_att_splits.mat", "att", (1024, 102), 280.545_051_045_4, -0.171_246_757_856_2, 0.191_940_016_670_8),
    ("SUN_att_splits.mat", "att", (102, 717), 3_297.021_272_605, 0.0, 0.678_160_947_539_3),
    ("SUN_att_splits.mat", "original_att", (102, 717), 5917.1, 0.0, 1.0),
    ("hmdb51_zsl_splits_26_25.mat", "train_class_set", (30, 51), 780.0, 0.0, 1.0),
    ("ucf101_zsl_splits_51_50.mat", "test_class_set", (30, 101), 1500.0, 0.0, 1.0),
    ("ucf101_zsl_splits_81_20.mat", "train_class_set", (30, 101), 2430.0, 0.0, 1.0),
    (
        "ucf101-hmdb51-labels.mat",
        "VideoLabel.UCF101.WordVec",
        (101, 300),
        -63.884_098_171_58,
        f64::NAN,
        f64::NAN,
    ),
    (
        "ucf101-hmdb51-labels.mat",
        "VideoLabel.HMDB51.WordVec",
        (51, 300),
        -27.000_196_096_05,
        f64::NAN,
        f64::NAN,
    ),
    ("ucf101-hmdb51-labels.mat", "VideoLabel.UCF101.Label", (13320, 1), 671_788.0, 1.0, 101.0),
    ("ucf101-hmdb51-labels.mat", "VideoLabel.HMDB51.Label", (6766, 1), 190_832.0, 1.0, 51.0),
    ("ucf101-hmdb51-splits.mat", "Split.HMDB51.Train", (50, 26), 33_626.0, f64::NAN, f64::NAN),
    ("ucf101-hmdb51-splits.mat", "Split.UCF101.Test", (50, 50), 128_570.0, f64::NAN, f64::NAN),
];

/// File, key, how many strings, the first, the last.
const STRINGS: [(&str, &str, usize, &str, &str); 5] = [
    ("APY_att_splits.mat", "allclasses_names", 32, "aeroplane", "carriage"),
    ("AWA1_att_splits.mat", "allclasses_names", 50, "antelope", "dolphin"),
    ("CUB_att_splits.mat", "allclasses_names", 200, "002.Laysan_Albatross", "197.Marsh_Wren"),
    ("SUN_att_splits.mat", "allclasses_names", 717, "abbey", "zoo"),
    ("ucf101-hmdb51-labels.mat", "VideoLabel.UCF101.ClassName", 101, "ApplyEyeMakeup", "YoYo"),
];

fn folder() -> Option<PathBuf> {
    std::env::var_os("BIDILEL_MATLAB_FILES").map(PathBuf::from)
}

#[test]
fn numbers_agree_with_scipy() {
    let Some(folder) = folder() else { return };
    for (file, key, shape, sum, least, most) in NUMBERS {
        let array = Container::open(&folder.join(file)).unwrap().array(Some(key)).unwrap();
        assert_eq!((array.rows(), array.columns()), shape, "{file} {key}");
        let matrix = array.to_matrix();
        let values = || matrix.col_iter().flat_map(|column| column.iter().copied());
        let total: f64 = values().sum();
        assert!((total - sum).abs() <= 1e-9 * sum.abs(), "{file} {key}: the sum is {total}");
        let extremes = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, m), v| (l.min(v), m.max(v)));
        for (found, expected) in [(extremes.0, least), (extremes.1, most)] {
            // Not a number stands for what was not recorded.
            assert!(
                expected.is_nan() || (found - expected).abs() <= 1e-12 * expected.abs().max(1e-3),
                "{file} {key}"
            );
        }
    }
}

#[test]
fn strings_agree_with_scipy() {
    let Some(folder) = folder() else { return };
    for (file, key, count, first, last) in STRINGS {
        let strings = Container::open(&folder.join(file)).unwrap().strings(key).unwrap();
        assert_eq!(
            (strings.len(), strings[0].as_str(), strings[count - 1].as_str()),
            (count, first, last),
            "{file}"
        );
    }
}

/// The splits of a benchmark, with features that are made up: the published ones are too large to be at hand.
fn splits(file: &str, instances: usize, classes: usize) -> Vec<(String, SplitKind)> {
    let Some(folder) = folder() else { return Vec::new() };
    let target = tempfile::tempdir().unwrap();
    fs::copy(folder.join(file), target.path().join("att_splits.mat")).unwrap();
    let labels: Vec<u8> = (0..instances).flat_map(|row| ((row % classes) as u64 + 1).to_le_bytes()).collect();
    let features = vec![0; instances];
    let tensors = HashMap::from([
        ("labels", TensorView::new(Dtype::U64, vec![instances], &labels).unwrap()),
        ("features", TensorView::new(Dtype::U8, vec![1, instances], &features).unwrap()),
    ]);
    fs::write(target.path().join("res101.mat"), safetensors::serialize(tensors, None).unwrap()).unwrap();
    let dataset = bidilel_data::open(target.path()).unwrap().dataset;
    dataset.splits.into_iter().map(|split| (split.name, split.kind)).collect()
}

#[test]
fn the_standard_split_is_that_of_the_literature_or_none() {
    if folder().is_none() {
        return;
    }
    for (file, instances, classes, unseen) in [
        ("CUB_att_splits.mat", 11_788, 200, 50),
        ("AWA1_att_splits.mat", 30_475, 50, 10),
        ("AWA2_att_splits.mat", 37_322, 50, 10),
    ] {
        let found = splits(file, instances, classes);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["proposed", "proposed-classes", "standard"], "{file}");
        let SplitKind::Classes { unseen: found, .. } = &found[2].1 else { panic!("{file}") };
        assert_eq!(found.len(), unseen, "{file}");
    }
    for (file, instances, classes) in [("SUN_att_splits.mat", 14_340, 717), ("FLO_att_splits.mat", 8189, 102)]
    {
        let found = splits(file, instances, classes);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["proposed", "proposed-classes"], "{file}");
    }
}
