//! Columns of tables are chosen, never swept in.

use bidilel_data::Inspection;
use bidilel_data::check::inspect_dataset;
use bidilel_data::table::{self, Choice, Columns, Role, Wanted};
use bidilel_math::Silent;

use crate::support::{Sample, fixture, inspect};

const WIDE: &str = "id,f1,f2,label,code\n\
    11,0.5,1.5,0,7\n12,0.25,2.5,1,3\n13,0.75,3.5,1,3\n14,1,4.5,2,5\n15,0.125,5.5,0,7\n16,0.375,6,2,5\n";

/// Six instances of three classes with a wide table of features.
fn wide(keys: &str) -> Sample {
    let sample = Sample::new();
    sample.put("labels.npy", "cat\ndog\ndog\nwolf\ncat\nwolf\n");
    sample.put("zoom.csv", WIDE);
    sample.put(
        "dataset.toml",
        format!(
            "name = \"wide\"\nclasses = \"classes.txt\"\nlabels = \"labels.npy\"\n\
             [visual.zoom]\nfile = \"zoom.csv\"\n{keys}\n\
             [semantic.words]\nfile = \"words.npy\"\nmetric = \"cosine\"\n\
             [split.standard]\nunseen = [\"cat\"]\n"
        ),
    );
    sample
}

fn features(sample: &Sample) -> (usize, Vec<f32>) {
    let dataset = sample.open().dataset;
    let rows = &dataset.visual[0].rows;
    let mut row = vec![0.0; rows.dim()];
    rows.read(3, &mut row);
    (rows.count(), row)
}

#[test]
fn identifiers_and_labels_are_no_features() {
    let sample = wide("");
    assert_eq!(features(&sample), (6, vec![1.0, 4.5]));
    let notes = sample.open().notes.join("\n");
    for part in ["`label` (it is named like a label)", "`code` (it tells the label of every row)"] {
        assert!(notes.contains(part), "{notes}");
    }
    assert_eq!(sample.open().dataset.visual[0].rows.names().unwrap(), ["f1", "f2"]);
}

#[test]
fn row_numbers_are_no_features() {
    let sample = wide("");
    sample.put("zoom.csv", "a,b,n\n3,1,1\n4,2,2\n3,2,3\n2,4,4\n7,5,5\n6,5,6\n");
    assert_eq!(features(&sample), (6, vec![2.0, 4.0]));
    assert!(sample.open().notes[0].contains("`n` (it counts the rows)"));
    // As pandas writes a table.
    sample.put("zoom.csv", ",a,b\n0,3,1\n1,4,2\n2,3,2\n3,2,4\n4,7,5\n5,6,5\n");
    assert_eq!(features(&sample), (6, vec![2.0, 4.0]));
    sample.put("zoom.csv", "index,id\n0,3\n1,4\n2,3\n3,2\n4,7\n5,6\n");
    let (error, hint) = sample.error();
    assert!(error.starts_with("`zoom.csv`: has no column of features"), "{error}");
    assert!(hint.contains("columns"), "{hint}");
}

#[test]
fn columns_are_chosen_by_name_and_by_pattern() {
    for (keys, expected) in [
        ("columns = [\"f2\", \"f1\"]", vec![4.5, 1.0]),
        ("columns = \"f*\"", vec![1.0, 4.5]),
        ("columns = [\"f?\", \"id\"]", vec![1.0, 4.5, 14.0]),
        ("columns = \"f2\"\nid_column = \"id\"", vec![4.5]),
        ("key = \"f1\"", vec![1.0]),
        ("label_column = \"code\"\nid_column = \"f1\"", vec![4.5]),
    ] {
        assert_eq!(features(&wide(keys)).1, expected, "{keys}");
    }
    let leak = wide("columns = [\"f1\", \"code\"]");
    assert_eq!(features(&leak).1, [1.0, 5.0]);
    assert!(
        leak.open().notes[0].contains("`code` is used as a feature as asked for, but it tells the label")
    );
    for (keys, problem) in [
        ("columns = \"g*\"", "has no column `g*`: it has `id`, `f1`, `f2`, `label`, `code`"),
        ("columns = [\"f3\"]", "has no column `f3`: it has `id`, `f1`, `f2`, `label`, `code`"),
        ("columns = \"f*\"\nkey = \"f1\"", "`key` and `columns` are two ways to say the same: one is enough"),
    ] {
        assert_eq!(wide(keys).error().0, format!("`zoom.csv`: {problem}"), "{keys}");
    }
    let sample = wide("columns = \"f*\"");
    sample.put("zoom.csv", crate::support::array(&[6, 2], &[0.5_f32; 12]));
    assert_eq!(sample.error().0, "`zoom.csv`: has no columns to choose by `columns`: it is a NumPy array");
}

#[test]
fn inspect_tells_the_role_of_every_column() {
    let sample = wide("");
    sample.put("labels.npy", "id,class\n11,cat\n12,dog\n13,dog\n14,wolf\n15,cat\n16,wolf\n");
    let Inspection { tables, problems, .. } = inspect(sample.path());
    let found: Vec<_> = tables
        .iter()
        .map(|table| {
            let roles = table.columns.iter().map(|column| (column.column.as_str(), column.role));
            (table.part.as_str(), roles.collect::<Vec<_>>())
        })
        .collect();
    let visual = [
        ("id", Role::Id),
        ("f1", Role::Feature),
        ("f2", Role::Feature),
        ("label", Role::LeftOut),
        ("code", Role::LeftOut),
    ];
    let wanted =
        [("labels", vec![("id", Role::Id), ("class", Role::Label)]), ("visual.zoom", visual.to_vec())];
    assert_eq!(found, wanted);
    assert!(problems.iter().any(|problem| problem.message.contains("no features are made of `label`")));
    assert!(inspect_dataset(&sample.open().dataset, &Silent).expect("nobody stops it").tables.is_empty());
}

#[test]
fn the_only_line_of_names_is_not_lost() {
    // A first row of text and numbers, like the others, is a row.
    let sample = wide("");
    let rows = "a.jpg,0.5,7\nb.jpg,0.25,8\nc.jpg,1,9\nd.jpg,3,2\ne.jpg,4,4\nf.jpg,5,1\n";
    sample.put("zoom.csv", rows);
    assert_eq!(features(&sample), (6, vec![3.0, 2.0]));
}

#[test]
#[cfg(feature = "parquet")]
fn parquet_columns_are_chosen_too() {
    let open = |columns: Option<&str>| {
        let columns = columns.map(|pattern| Columns(vec![pattern.to_owned()]));
        let choice = Choice { columns, ..Choice::default() };
        table::open(&fixture("wide-snappy.parquet"), &choice, Wanted::default()).unwrap()
    };
    // The first column of this table counts its rows.
    let all = open(None);
    assert_eq!((all.features.array.rows(), all.features.array.columns()), (10, 3));
    assert_eq!(all.notes, ["no features are made of `f0` (it counts the rows)"]);
    // What repeats itself identifies nothing.
    assert_eq!(all.ids, None);
    assert_eq!(open(Some("f?")).features.array.columns(), 4);
    assert_eq!(open(Some("f1")).features.array.to_matrix().col_as_slice(9), [9.125]);
}

#[test]
fn features_of_a_model_are_found_by_name() {
    let sample = wide("");
    let wanted = ["f2", "f1"].map(String::from);
    let open = |wanted: &[String]| {
        let wanted = Wanted { names: Some(wanted), ..Wanted::default() };
        table::open(&sample.path().join("zoom.csv"), &Choice::default(), wanted)
    };
    let found = open(&wanted).unwrap().features;
    assert_eq!(found.array.to_matrix().col_as_slice(3), [4.5, 1.0]);
    let error = open(&["f1", "f3"].map(String::from)).unwrap_err();
    assert!(error.to_string().ends_with("zoom.csv`: has no column `f3`"), "{error}");
}
