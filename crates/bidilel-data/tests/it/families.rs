//! MATLAB files that a `dataset.toml` points into: families of splits in every form, and a whole dataset.

use std::fs;

use bidilel::dataset::SplitKind;

use crate::layouts::fixture;
use crate::support::{Sample, array};

/// The trials of `split.random` when its table is this.
fn family(table: &str) -> Result<Vec<Vec<usize>>, String> {
    let sample = Sample::new();
    sample.put("classes.txt", "antelope\nbat\ncow\ndolphin\n");
    sample.put("videos.mat", fs::read(fixture("videos.mat")).unwrap());
    sample.put("class-sets.mat", fs::read(fixture("class-sets.mat")).unwrap());
    sample.put("lists.npy", array(&[2, 2], &[0_i64, 3, 2, 1]));
    sample.put(
        "dataset.toml",
        format!("name = \"x\"\nclasses = \"classes.txt\"\nlabels = \"labels.npy\"\nsplit.x = {table}\n"),
    );
    match bidilel_data::open(sample.path()) {
        Ok(opened) => match &opened.dataset.splits[0].kind {
            SplitKind::Family { trials } => Ok(trials.clone()),
            other => panic!("{other:?}"),
        },
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn families_are_masks_or_lists() {
    let mask = vec![vec![3], vec![0]];
    for key in ["", ", key = \"test_class_set\"", ", key = \"train_class_set\""] {
        assert_eq!(family(&format!("{{ file = \"class-sets.mat\"{key} }}")), Ok(mask.clone()));
    }
    let lists = "{ file = \"videos.mat\", key = \"Split.Zoo.Test\", one_based = true }";
    assert_eq!(family(lists), Ok(vec![vec![1, 3], vec![0, 2]]));
    let from_zero = "{ file = \"videos.mat\", key = \"Split.Zoo.Test\" }";
    assert!(family(from_zero).unwrap_err().ends_with("expected the number of a class, 0 to 3, found 4"));
    assert_eq!(family("{ file = \"lists.npy\" }"), Ok(vec![vec![0, 3], vec![1, 2]]));
}

#[test]
fn a_dataset_may_lie_in_one_matlab_file() {
    let sample = Sample::new();
    sample.put("videos.mat", fs::read(fixture("videos.mat")).unwrap());
    sample.put("motion.npy", array(&[5, 1], &[1.0_f32, 2.0, 3.0, 4.0, 5.0]));
    sample.put(
        "dataset.toml",
        r#"
        name = "videos"
        classes = { file = "videos.mat", key = "VideoLabel.Zoo.ClassName" }
        labels = { file = "videos.mat", key = "VideoLabel.Zoo.Label", one_based = true }
        visual.motion = { file = "motion.npy" }
        semantic.words = { file = "videos.mat", key = "VideoLabel.Zoo.WordVec", metric = "cosine" }
        split.random = { file = "videos.mat", key = "Split.Zoo.Test", one_based = true }
        "#,
    );
    let dataset = sample.open().dataset;
    assert_eq!(dataset.classes, ["antelope", "bat", "cow", "dolphin"]);
    assert_eq!(dataset.labels, [0, 1, 2, 3, 3]);
    assert_eq!(dataset.semantic[0].vectors.col_as_slice(1), [0.5, 1.5, 0.5, 0.5]);
}
