//! A good dataset folder, and one spoiled in every way.

use bidilel::dataset::{Metric, SplitKind};

use crate::support::{Sample, array};

/// What a folder says when one of its files is another one.
fn with(name: &str, content: impl AsRef<[u8]>) -> String {
    let sample = Sample::new();
    sample.put(name, content);
    sample.error().0
}

/// What a folder says when its `dataset.toml` is changed.
fn edited(old: &str, new: &str) -> String {
    Sample::new().edit(old, new).error().0
}

#[test]
fn opens_everything_in_file_order() {
    let sample = Sample::new();
    let opened = sample.open();
    let dataset = opened.dataset;
    assert_eq!(dataset.name, "sample");
    assert_eq!(dataset.classes, ["cat", "dog", "wolf"]);
    assert_eq!(dataset.labels, [0, 1, 1, 2]);
    let names: Vec<_> =
        dataset.visual.iter().map(|v| (v.name.as_str(), v.rows.count(), v.rows.dim())).collect();
    assert_eq!(names, [("zoom", 4, 2), ("area", 4, 1)]);
    let mut row = vec![0.0];
    dataset.visual[1].rows.read(2, &mut row);
    assert_eq!(row, [3.0]);

    assert_eq!(dataset.semantic.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["words", "attributes"]);
    assert_eq!(dataset.semantic[0].metric, Metric::Cosine);
    assert_eq!(dataset.semantic[0].vectors.col_as_slice(1), [-3.0, 4.0]);
    assert_eq!(dataset.semantic[1].dimension_names.as_ref().unwrap(), &["black", "big"]);

    let kinds: Vec<_> = dataset.splits.into_iter().map(|split| (split.name, split.kind)).collect();
    let wanted = [
        ("standard", SplitKind::Classes { unseen: vec![0], validation: vec![2] }),
        ("random", SplitKind::Family { trials: vec![vec![1], vec![0, 2]] }),
        (
            "proposed",
            SplitKind::Instances {
                train: vec![2, 1],
                test_seen: vec![3],
                test_unseen: vec![0],
                validation: vec![],
            },
        ),
    ];
    assert_eq!(kinds, wanted.map(|(name, kind)| (name.to_owned(), kind)));
}

#[test]
fn a_missing_attribute_is_zero_and_noted() {
    let opened = Sample::new().open();
    let attributes = &opened.dataset.semantic[1].vectors;
    assert_eq!(attributes.col_as_slice(1), [0.0, 3.0]);
    assert_eq!(attributes.col_as_slice(2), [4.0, 0.0]);
    // Word vectors have negative values of their own, so their -1 is one of them.
    assert_eq!(opened.dataset.semantic[0].vectors.col_as_slice(0), [-1.0, 2.0]);
    let [note] = &opened.notes[..] else { panic!("{:?}", opened.notes) };
    assert!(
        note.ends_with("attributes.npy`: 2 of 6 values are -1, the marker for missing, and are read as 0")
    );
    // Neither are signs markers.
    let sample = Sample::new();
    sample.put("attributes.npy", array(&[3, 2], &[-1.0_f64, 1.0, 1.0, -1.0, 1.0, 1.0]));
    let opened = sample.open();
    assert!(opened.notes.is_empty());
    assert_eq!(opened.dataset.semantic[1].vectors.col_as_slice(0), [-1.0, 1.0]);
}

#[test]
fn opens_by_the_path_of_the_manifest_too() {
    let sample = Sample::new();
    assert_eq!(bidilel_data::open(&sample.path().join("dataset.toml")).unwrap().dataset.labels.len(), 4);
}

#[test]
fn labels_may_be_names_or_count_from_one() {
    let sample = Sample::new();
    sample.put("labels.npy", "cat\r\ndog\r\ndog\r\nwolf");
    assert_eq!(sample.open().dataset.labels, [0, 1, 1, 2]);
    sample.put("labels.npy", array(&[4, 1], &[1.0_f64, 2.0, 2.0, 3.0]));
    let (message, hint) = sample.error();
    assert_eq!(message, "`labels.npy`: row 3: label 3 is not a class: there are 3, numbered from 0");
    assert_eq!(hint, "labels count from 0; if the file counts from 1, write `one_based = true`");
    for spelling in ["{ file = \"labels.npy\", one_based = true }", "\"labels.npy\"\none_based = true"] {
        sample.edit("\"labels.npy\"", spelling);
        assert_eq!(sample.open().dataset.labels, [0, 1, 1, 2]);
    }
}

#[test]
fn says_which_file_is_missing_empty_or_a_folder() {
    let sample = Sample::new();
    let error = |path: &str| bidilel_data::open(&sample.path().join(path)).unwrap_err();
    assert!(error("nothing").to_string().ends_with("nothing`: no such file or folder"));
    std::fs::create_dir(sample.path().join("bare")).unwrap();
    assert!(
        error("bare")
            .to_string()
            .ends_with("bare`: expected a dataset, found a folder without `dataset.toml`")
    );
    assert!(error("bare").hint().is_some());
    assert_eq!(edited("zoom.npy", "gone.npy"), "`gone.npy`: no such file or folder");
    assert_eq!(edited("\"zoom.npy\"", "\"./\""), "`./`: expected a file, found a folder");
    assert_eq!(with("zoom.npy", ""), "`zoom.npy`: the file is empty");
    assert_eq!(with("dataset.toml", ""), "`dataset.toml`: the file is empty");
}

#[test]
fn says_what_is_wrong_in_the_manifest_and_where() {
    let line = |number: usize, problem: &str| format!("`dataset.toml`: line {number}: {problem}");
    assert_eq!(
        edited("metric = \"cosine\"", "metrik = \"cosine\""),
        line(
            15,
            "unknown key `metrik`, expected one of `file`, `key`, `transpose`, `metric`, `names`, `prompts`, `word_vectors`, `text`, \
             `network`, `tokenizer`, `layer`, `pooling`, `templates`, `max_tokens`, `description_column`, \
             `missing`, `columns`, `label_column`, `name_column`, `id_column`"
        ),
    );
    assert_eq!(
        edited("\"cosine\"", "\"l1\""),
        line(15, "unknown value `l1`, expected one of `euclidean`, `cosine`, `precomputed`"),
    );
    assert_eq!(
        edited("one_based = true", "base = 1"),
        line(
            31,
            "unknown key `base`, expected one of `file`, `key`, `label_column`, `id_column`, `one_based`, `transpose`"
        ),
    );
    let unknown = edited("name    =", "title =");
    assert!(
        unknown.starts_with(&line(2, "unknown key `title`, expected one of `name`, `classes`, ")),
        "{unknown}"
    );
    assert_eq!(edited("name    = \"sample\"", ""), line(1, "missing key `name`"));
    assert!(edited("\"cosine\"", "cosine").starts_with(&line(15, "")));
    assert!(edited("[visual.area]", "[visual.zoom]").starts_with(&line(9, "duplicate key")));
    assert!(
        edited("[visual.area]", "[visual.\"a,b\"]").contains("name \"a,b\" is empty or has a comma or colon")
    );
    assert!(edited("[\"cat\"]", "3").contains("expected a list of class names, or the path of a text file"));
    assert_eq!(with("dataset.toml", b"name = \"a\"\n# \xff\n"), "`dataset.toml`: line 2 is not UTF-8 text");
    assert_eq!(
        with("dataset.toml", array(&[1], &[1_i64])),
        "`dataset.toml`: expected text, found a NumPy array"
    );
    let keyed = edited("\"zoom.npy\"", "\"zoom.npy\"\nkey = \"x\"");
    assert_eq!(keyed, "`zoom.npy`: has no keys, so key `x` is not in it");
}

#[test]
fn says_which_count_does_not_fit() {
    let sample = Sample::new();
    sample.put("attributes.npy", array(&[2, 3], &[1.0_f64; 6]));
    assert_eq!(
        sample.error().0,
        "`attributes.npy`: expected 3 rows (one per class), found 2 rows and 3 columns"
    );
    assert!(sample.error().1.contains("transpose = true"));
    assert_eq!(
        with("zoom.npy", array(&[3, 2], &[0.0_f32; 6])),
        "`zoom.npy`: expected 4 rows (one per instance), found 3"
    );
    let vector = with("zoom.npy", array(&[4], &[0.0_f32; 4]));
    assert_eq!(vector, "`zoom.npy`: expected a matrix of instances x dimensions, found an array of 4");
    let names = with("attribute-names.txt", "black\n");
    assert_eq!(names, "`attribute-names.txt`: expected 2 lines (one per dimension), found 1");
    let nan = with("words.npy", array(&[3, 2], &[0.0, 1.0, 2.0, f64::NAN, 4.0, 5.0]));
    assert_eq!(nan, "`words.npy`: row 1, column 1: expected a finite number, found NaN");
    assert_eq!(with("classes.txt", "cat\ndog\ncat\n"), "`classes.txt`: line 3 repeats `cat` of line 1");
    assert_eq!(
        with("labels.npy", array::<i64>(&[0], &[])),
        "`labels.npy`: expected a label for every instance, found an array of 0"
    );
    assert_eq!(with("labels.npy", "cat\nbat\n"), "`labels.npy`: line 2: no class is called `bat`");
}

#[test]
fn several_prompts_per_class_are_averaged_as_unit_vectors() {
    let sample = Sample::new();
    sample.edit("metric = \"cosine\"", "metric = \"cosine\"\nprompts = 2");
    // Of every class one long vector and a short one, at right angles.
    let rows = [3.0, 0.0, 0.0, 0.5, 0.0, 9.0, 0.1, 0.0, -2.0, 0.0, 0.0, 1.0];
    sample.put("words.npy", array(&[6, 2], &rows));
    let vectors = &sample.open().dataset.semantic[0].vectors;
    assert_eq!((vectors.nrows(), vectors.ncols()), (2, 3));
    for (class, mean) in [[0.5, 0.5], [0.5, 0.5], [-0.5, 0.5]].iter().enumerate() {
        let found = vectors.col_as_slice(class);
        assert!(found.iter().zip(mean).all(|(found, mean)| (found - mean).abs() < 1e-12), "{found:?}");
    }
    sample.put("words.npy", array(&[5, 2], &rows[..10]));
    assert_eq!(sample.error().0, "`words.npy`: expected 6 rows (`prompts` per class), found 5");
    sample.put("words.npy", array(&[6, 2], &[0.0; 12]));
    assert!(sample.error().0.contains("a vector that is not all zero"), "{}", sample.error().0);
    sample.edit("metric = \"cosine\"", "metric = \"precomputed\"\nprompts = 2");
    assert!(sample.error().0.contains("no distances"), "{}", sample.error().0);
}

#[test]
fn precomputed_distances_are_checked() {
    let sample = Sample::new();
    sample.edit("\"cosine\"", "\"precomputed\"");
    let put = |values: &[f64]| sample.put("words.npy", array(&[3, values.len() / 3], values));
    put(&[0.0, 1.0, 2.0, 1.0, 0.0, 3.0, 2.0, 3.0, 0.0]);
    assert_eq!(sample.open().dataset.semantic[0].metric, Metric::Precomputed);
    for (values, problem) in [
        (&[0.0, 1.0, 2.0, 1.0, 0.0, 3.0][..], "expected 3 columns (one per class), found 2"),
        (
            &[0.0, 1.0, 2.0, 1.0, 0.5, 3.0, 2.0, 3.0, 0.0],
            "row 1, column 1: expected distance 0 of a class to itself, found 0.5",
        ),
        (
            &[0.0, -1.0, 2.0, -1.0, 0.0, 3.0, 2.0, 3.0, 0.0],
            "row 1, column 0: expected a distance that is not negative, found -1",
        ),
        (
            &[0.0, 1.0, 2.0, 1.5, 0.0, 3.0, 2.0, 3.0, 0.0],
            "row 1, column 0: expected a symmetric matrix, so 1 as in row 0, column 1, found 1.5",
        ),
    ] {
        put(values);
        assert_eq!(sample.error().0, format!("`words.npy`: {problem}"));
    }
}

#[test]
fn splits_are_checked() {
    let sample = Sample::new();
    sample.edit("[\"cat\"]", "[\"dog\", \"wold\"]");
    let (message, hint) = sample.error();
    assert_eq!(message, "`dataset.toml`: item 2 of `split.standard.unseen`: no class is called `wold`");
    assert_eq!(hint, "did you mean `wolf`?");
    assert_eq!(
        edited("[\"cat\"]", "[\"cat\", \"cat\"]"),
        "`dataset.toml`: item 2 of `split.standard.unseen` repeats `cat` of item 1 of `split.standard.unseen`",
    );
    assert_eq!(with("validation.txt", "giraffe\n"), "`validation.txt`: line 1: no class is called `giraffe`");
    let split = |name: &str, problem: &str| format!("`dataset.toml`: split `{name}`: {problem}");
    assert_eq!(
        with("validation.txt", "cat\n"),
        split("standard", "class `cat` is both unseen and for validation")
    );
    let kinds = "expected `unseen`, or `file`, or `train`, `test_seen` and `test_unseen` (and `validation`, unless `file`)";
    assert_eq!(edited("file = \"random.npy\"", ""), split("random", kinds));
    assert_eq!(edited("file = \"random.npy\"", "file = \"random.npy\"\nunseen = []"), split("random", kinds));
    assert_eq!(edited("unseen     = [\"cat\"]", ""), split("standard", "`unseen` is missing"));
    assert_eq!(edited("train       = \"train.npy\"", ""), split("proposed", "`train` is missing"));

    let family = with("random.npy", array(&[1, 3], &[0_i64, 2, 1]));
    assert_eq!(family, "`random.npy`: row 0, column 1: expected 0 or 1, found 2");
    let family = with("random.npy", array(&[3, 2], &[0_i64; 6]));
    assert_eq!(family, "`random.npy`: expected 3 columns (one per class), found 2");

    let range = with("train.npy", array(&[2], &[0_i64, 4]));
    assert_eq!(range, "`train.npy`: row 1: expected the index of one of 4 instances, found 4");
    let range = with("seen.npy", array(&[1], &[5_i64]));
    assert_eq!(range, "`seen.npy`: row 0: expected the index of one of 4 instances, found 5");
    assert_eq!(with("train.npy", array(&[3], &[0_i64, 1, 0])), "`train.npy`: row 2 repeats `0` of row 0");
}

#[test]
fn labels_that_are_short_are_not_blamed_on_the_features() {
    let sample = Sample::new();
    sample.put("labels.npy", array(&[3], &[0_i64, 1, 2]));
    let folder = format!("{}/", sample.path().display());
    let error = bidilel_data::open(sample.path()).unwrap_err();
    assert_eq!(
        error.to_string().replace(&folder, ""),
        "`labels.npy`: has 3 labels, but `zoom.npy` has 4 rows"
    );
    assert_eq!(error.hint().unwrap(), "1 labels are missing, or 1 feature rows are too many");
    // One representation of two is the odd one out.
    assert_eq!(
        with("area.npy", array(&[1, 5], &[1.0_f64; 5])),
        "`area.npy`: expected 4 rows (one per instance), found 5"
    );
}

#[test]
fn features_outside_the_range_of_their_type_are_told() {
    let sample = Sample::new();
    sample.put("zoom.npy", array(&[4, 2], &[1.0_f64, 2.0, 3.0, 1e300, 5.0, 1e-300, 7.0, 8.0]));
    let problems = crate::support::inspect(sample.path()).problems;
    let find = |part: &str| {
        problems
            .iter()
            .find(|problem| problem.message.contains(part))
            .unwrap_or_else(|| panic!("{problems:?}"))
    };
    let large = find("the value is 1e300, beyond the range of float32");
    assert!(large.place.ends_with("zoom.npy, row 1, column 1"), "{}", large.place);
    assert!(find("1 value is too small for float32 and read as zero").place.ends_with("zoom.npy"));
}
