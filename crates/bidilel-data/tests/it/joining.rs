//! Rows of tables belong to the classes and instances that they name, wherever they stand.

use bidilel::dataset::{Dataset, Metric};

use crate::support::{MANIFEST, Sample};

/// A sample whose descriptions are a table.
fn with_table(table: &str) -> Sample {
    let sample = Sample::new();
    sample.put("attributes.csv", table);
    let manifest = MANIFEST.replace("file   = \"attributes.npy\"", "file   = \"attributes.csv\"");
    sample.put("dataset.toml", manifest.replace("names  = \"attribute-names.txt\"", ""));
    sample
}

fn described(dataset: &Dataset) -> [Vec<f64>; 3] {
    [0, 1, 2].map(|class| dataset.semantic[1].vectors.col_as_slice(class).to_vec())
}

/// What is wrong with a table.
fn message(table: &str) -> String {
    with_table(table).error().0
}

#[test]
fn descriptions_are_joined_by_name_in_any_order() {
    let expected = [vec![1.0, 10.0], vec![2.0, 20.0], vec![3.0, 30.0]];
    for table in [
        "class,black,big\ncat,1,10\ndog,2,20\nwolf,3,30\n",
        "class,black,big\nwolf,3,30\ndog,2,20\ncat,1,10\n",
        "black,class,big\n3,wolf,30\n1,cat,10\n2,dog,20\n",
        "name\tblack\tbig\n wolf \t3\t30\ncat\t1\t10\n\"dog\"\t2\t20\n",
        "black,big,x\n3,30,wolf\n1,10,cat\n2,20,dog\n",
        // The column that names classes, and not one that says something else of them.
        "group,what,black,big\npet,cat,1,10\nwild,wolf,3,30\npet,dog,2,20\n",
        // The first line is a row and no header.
        "wolf,3,30\ncat,1,10\ndog,2,20\n",
        "wolf;3;30\ndog;2;20\ncat;1;10\n",
    ] {
        let dataset = with_table(table).open().dataset;
        assert_eq!(described(&dataset), expected, "{table}");
    }
    let dataset = with_table("class,black,big\nwolf,3,30\ndog,2,20\ncat,1,10\n").open().dataset;
    assert_eq!(dataset.semantic[1].dimension_names.as_ref().unwrap(), &["black", "big"]);
    // Without names there is only the order, and that is said.
    let opened = with_table("black,big\n1,10\n2,20\n3,30\n").open();
    assert_eq!(described(&opened.dataset), expected);
    assert!(
        opened.notes.iter().any(|note| note.contains("no column names the classes")),
        "{:?}",
        opened.notes
    );
}

#[test]
fn a_header_that_counts_is_told_from_a_row_by_its_class() {
    let expected = [vec![0.5, 1.5], vec![2.0, 20.0], vec![0.0, 1.0]];
    let dataset = with_table("class,0,1\nwolf,0,1\ncat,0.5,1.5\ndog,2,20\n").open().dataset;
    assert_eq!(described(&dataset), expected);
    let dataset = with_table("wolf,0,1\ncat,0.5,1.5\ndog,2,20\n").open().dataset;
    assert_eq!(described(&dataset), expected);
}

#[test]
fn unknown_missing_and_repeated_names_are_all_listed() {
    assert_eq!(
        message("class,black\nwolf,3\nkat,1\ndog,2\ndog,4\nbear,5\n"),
        "`attributes.csv`: column `class` does not name every class once: \
         unknown `kat` (line 3, did you mean `cat`?), `bear` (line 6); missing `cat`; repeated `dog` (line 4 and line 5)"
    );
    assert_eq!(
        message("class,black\nwolf,3\ndog,2\n"),
        "`attributes.csv`: column `class` does not name every class once: missing `cat`"
    );
    // A column that the user names is believed, whatever is in it.
    let sample = with_table("class,kind,black\ncat,a,1\ndog,b,2\nwolf,c,3\n");
    let manifest = std::fs::read_to_string(sample.path().join("dataset.toml")).unwrap();
    let with = |key: &str| {
        sample.put(
            "dataset.toml",
            manifest.replace("\"attributes.csv\"", &format!("\"attributes.csv\"\n{key}")),
        );
    };
    with("name_column = \"kind\"");
    assert!(
        sample.error().0.contains("unknown `a` (line 2), `b` (line 3), `c` (line 4); missing `cat`, `dog`")
    );
    with("name_column = \"clas\"");
    let (error, hint) = sample.error();
    assert_eq!(error, "`attributes.csv`: has no column `clas`: it has `class`, `kind`, `black`");
    assert_eq!(hint, "did you mean `class`?");
}

#[test]
fn names_are_compared_in_one_unicode_form_and_may_have_commas() {
    let sample = with_table("class,black\n\"wolf, grey\",3\nBla\u{30a}mes,1\ndog,2\n");
    sample.put("classes.txt", "Bl\u{e5}mes\ndog\nwolf, grey\n");
    sample.put("validation.txt", "wolf, grey\n");
    sample.put("labels.npy", "Bla\u{30a}mes\ndog\nwolf, grey\ndog\n");
    let manifest = std::fs::read_to_string(sample.path().join("dataset.toml")).unwrap();
    sample.put("dataset.toml", manifest.replace("\"cat\"", "\"Bla\u{30a}mes\""));
    let dataset = sample.open().dataset;
    assert_eq!(described(&dataset), [[1.0], [2.0], [3.0]]);
    assert_eq!(dataset.labels, [0, 1, 2, 1]);
}

#[test]
fn classes_numbered_in_another_order_are_refused_without_names() {
    let (error, hint) = with_table("class_id,black\n2,3\n0,1\n1,2\n").error();
    assert_eq!(
        error,
        "`attributes.csv`: column `class_id` numbers the classes in another order than the rows"
    );
    assert!(hint.contains("names of the classes"));
    let opened = with_table("class_id,black\n0,1\n1,2\n2,3\n").open();
    assert_eq!(described(&opened.dataset), [[1.0], [2.0], [3.0]]);
}

#[test]
fn classes_that_are_called_by_numbers_are_joined_by_them() {
    let sample = with_table("class,black\n30,3\n10,1\n20,2\n");
    sample.put("classes.txt", "10\n20\n30\n");
    sample.put("validation.txt", "30\n");
    let manifest = std::fs::read_to_string(sample.path().join("dataset.toml")).unwrap();
    sample.put("dataset.toml", manifest.replace("\"cat\"", "\"10\""));
    assert_eq!(described(&sample.open().dataset), [[1.0], [2.0], [3.0]]);
}

#[test]
fn distances_are_joined_by_name_both_ways() {
    for table in [
        "class,wolf,cat,dog\ndog,3,1,0\nwolf,0,2,3\ncat,2,0,1\n",
        "class,a,b,c\nwolf,0,2,3\ncat,2,0,1\ndog,3,1,0\n",
    ] {
        let sample = with_table(table);
        let manifest = std::fs::read_to_string(sample.path().join("dataset.toml")).unwrap();
        sample.put("dataset.toml", manifest.replace("\"euclidean\"", "\"precomputed\""));
        let dataset = sample.open().dataset;
        assert_eq!(dataset.semantic[1].metric, Metric::Precomputed);
        assert_eq!(described(&dataset), [[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]], "{table}");
    }
}

#[test]
fn a_column_per_class_is_joined_by_the_header() {
    let sample = with_table("attribute,wolf,cat,dog\nblack,3,1,2\nbig,30,10,20\n");
    let manifest = std::fs::read_to_string(sample.path().join("dataset.toml")).unwrap();
    let manifest = manifest.replace("\"attributes.csv\"", "\"attributes.csv\"\ntranspose = true");
    sample.put("dataset.toml", &manifest);
    let dataset = sample.open().dataset;
    assert_eq!(described(&dataset), [[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]);
    assert_eq!(dataset.semantic[1].dimension_names.as_ref().unwrap(), &["black", "big"]);
    sample.put("attributes.csv", "attribute,wolf,cat,fox\nblack,3,1,2\n");
    assert!(sample.error().0.contains("unknown `fox` (column 4); missing `dog`"), "{}", sample.error().0);
}

/// The first number of every feature row.
fn first_features(dataset: &Dataset) -> Vec<f32> {
    let rows = &dataset.visual[0].rows;
    let mut row = vec![0.0; rows.dim()];
    let read = |index| {
        rows.read(index, &mut row);
        row[0]
    };
    (0..rows.count()).map(read).collect()
}

#[test]
fn instances_are_joined_by_their_identifiers() {
    let sample = Sample::new();
    sample.put("labels.npy", "id,label\nd,wolf\na,cat\nb,dog\nc,dog\n");
    sample.put("zoom.npy", "id,x,z\na,1,2\nb,3,4\nc,5,6.5\nd,7,8\n");
    sample.put("area.npy", "1,2,3,4\n");
    let dataset = sample.open().dataset;
    assert_eq!(dataset.labels, [2, 0, 1, 1]);
    assert_eq!(first_features(&dataset), [7.0, 1.0, 3.0, 5.0]);
    sample.put("zoom.npy", "id,x,z\na,1,2\nb,3,4\nc,5,6.5\ne,7,8\n");
    assert_eq!(
        sample.error().0,
        "`zoom.npy`: column `id` does not name every instance once: unknown `e` (line 5, did you mean `d`?); missing `d`"
    );
}

#[test]
fn labels_are_found_in_a_table() {
    let sample = Sample::new();
    let with = |labels: &str| sample.put("labels.npy", labels);
    for labels in [
        "path,label\na.jpg,cat\nb.jpg,dog\nc.jpg,dog\nd.jpg,wolf\n",
        "what,note\ncat,x\ndog,y\ndog,x\nwolf,x\n",
        "label\ncat\ndog\ndog\nwolf\n",
        "image_id,label\n4,0\n5,1\n6,1\n7,2\n",
    ] {
        with(labels);
        assert_eq!(sample.open().dataset.labels, [0, 1, 1, 2], "{labels}");
    }
    with("a,b\nx,y\nx,y\nz,y\nz,y\n");
    let (error, hint) = sample.error();
    assert_eq!(error, "`labels.npy`: expected one column for `label_column`, found `a`, `b`");
    assert_eq!(hint, "say which one: `label_column = \"…\"`");
}

#[test]
fn a_table_that_contradicts_the_labels_is_refused() {
    let sample = Sample::new();
    sample.put("zoom.npy", "label,x,z\ncat,1,2\nwolf,3,4\ndog,5,6.5\ndog,7,8\n");
    let (error, hint) = sample.error();
    assert_eq!(error, "`zoom.npy`: line 3: column `label` says `wolf`, but the label is `dog`");
    assert!(hint.contains("different orders"));
}
