//! `class add`, `remove`, `rename`, `describe` and `promote`: classes of a model come and go without another fit.

use std::fs;

use crate::support::{Folder, bidilel};

/// Attributes of the generated classes, called `attribute_1` and so on.
const ATTRIBUTES: usize = 40;

/// A dataset whose attributes have names, and a model of it.
fn fitted(extra: &[&str]) -> (Folder, String) {
    let folder = Folder::generated();
    let model = folder.beside("model.safetensors");
    let ran = bidilel(&[&["fit", &folder.data(), "--out", &model], extra].concat());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    (folder, model)
}

/// The attributes of all classes, row by row.
fn attributes(folder: &Folder) -> Vec<Vec<f64>> {
    let bytes = fs::read(folder.file("attributes.npy")).expect("attributes");
    assert_eq!(bytes.len(), 128 + 25 * ATTRIBUTES * 8);
    let values: Vec<f64> = bytes[128..].as_chunks().0.iter().map(|&cell| f64::from_le_bytes(cell)).collect();
    values.chunks(ATTRIBUTES).map(<[f64]>::to_vec).collect()
}

/// A table with named columns.
fn table(folder: &Folder, name: &str, rows: &[(&str, &[Option<f64>])]) -> String {
    let head: Vec<String> = (1..=ATTRIBUTES).map(|i| format!("attribute_{i}")).collect();
    let mut lines = vec![format!("class,{}", head.join(","))];
    for (class, values) in rows {
        let cells: Vec<String> =
            values.iter().map(|value| value.map_or(String::new(), |value| value.to_string())).collect();
        lines.push(format!("{class},{}", cells.join(",")));
    }
    let path = folder.beside(name);
    fs::write(&path, lines.join("\n") + "\n").expect("writable");
    path
}

fn unseen_names(model: &str) -> Vec<String> {
    let list = bidilel(&["class", "list", model, "--format", "json"]).json();
    let classes = list["classes"].as_array().expect("classes").iter();
    classes
        .filter(|class| class["role"] == "unseen")
        .map(|class| class["name"].as_str().expect("a name").to_owned())
        .collect()
}

#[test]
fn a_class_that_is_added_and_removed_leaves_the_same_bytes() {
    let (folder, model) = fitted(&[]);
    let before = fs::read(&model).expect("a model");
    let rows = attributes(&folder);
    let mixed: Vec<Option<f64>> = rows[0].iter().zip(&rows[3]).map(|(a, b)| Some(0.5 * (a + b))).collect();
    let file = table(&folder, "new.csv", &[("unicorn", &mixed)]);
    let other = folder.beside("more.safetensors");
    let semantic = format!("attributes={file}");
    let ran = bidilel(&[
        "class",
        "add",
        &model,
        "unicorn",
        "--semantic",
        &semantic,
        "--out",
        &other,
        "--format",
        "json",
    ]);
    let result = ran.json();
    assert_eq!((result["known"].as_u64(), result["unseen"].as_u64()), (Some(20), Some(6)));
    assert_eq!(result["added"][0]["name"], "unicorn");
    assert_eq!(result["added"][0]["role"], "unseen");
    assert!(result["added"][0]["filled"].is_null(), "{result}");
    assert!(result["seconds"].as_f64().is_some());
    assert_eq!(fs::read(&model).expect("a model"), before, "--out leaves the model alone");
    assert_eq!(unseen_names(&other).last().map(String::as_str), Some("unicorn"));
    let features = folder.file("cnn.npy");
    let predicted = bidilel(&["predict", &other, features.to_str().unwrap(), "--top", "6"]);
    assert!(predicted.stdout.contains(",unicorn,"), "{}", predicted.stderr);
    let removed = bidilel(&["class", "remove", &other, "unicorn", "--in-place", "--format", "json"]).json();
    assert_eq!((removed["removed"][0].as_str(), removed["unseen"].as_u64()), (Some("unicorn"), Some(5)));
    assert!(fs::read(&other).expect("a model") == before);
}

#[test]
fn what_is_not_given_is_filled_in_from_similar_classes_and_said() {
    let (folder, model) = fitted(&[]);
    let rows = attributes(&folder);
    let few = (format!("attribute_1={}", rows[2][0]), format!("attribute_2={}", rows[2][1]));
    let arguments =
        ["class", "add", &model, "unicorn", "--attribute", &few.0, "--attribute", &few.1, "--in-place"];
    let ran = bidilel(&[&arguments[..], &["--format", "json"]].concat());
    let result = ran.json();
    assert!(
        ran.stderr.contains("38 of 40 attributes are not given and are filled in from"),
        "{}",
        ran.stderr
    );
    assert_eq!(result["added"][0]["filled"].as_array().map(Vec::len), Some(38));
    assert_eq!(result["added"][0]["filled_from"].as_array().map(Vec::len), Some(5));
    let again = bidilel(&arguments);
    assert!(again.error().contains("has a class `unicorn` already; it is unseen"), "{}", again.stderr);
    let wrong = bidilel(&["class", "add", &model, "x", "--attribute", "atribute_7=1", "--in-place"]);
    assert!(wrong.error().contains("no attribute `atribute_7`"));
    assert!(wrong.stderr.contains("did you mean `attribute_7`?"), "{}", wrong.stderr);
    let ran = bidilel(&["class", "add", &model, "y", "--attribute", "attribute_1=999", "--in-place"]);
    assert!(ran.status == 0 && ran.stderr.contains("beyond what any other class has"), "{}", ran.stderr);
    let missing = bidilel(&["class", "add", &model, "z", "--in-place"]);
    assert!(missing.usage().contains("nothing describes the class"));
}

#[test]
fn many_classes_come_from_one_table_by_name() {
    let (folder, model) = fitted(&[]);
    let rows = attributes(&folder);
    let whole: Vec<Option<f64>> = rows[4].iter().map(|&value| Some(1.1 * value + 0.01)).collect();
    let gaps: Vec<Option<f64>> =
        rows[7].iter().enumerate().map(|(i, &value)| (i % 3 > 0).then_some(value)).collect();
    let file = table(&folder, "new.csv", &[("phoenix", &gaps), ("unicorn", &whole)]);
    let out = folder.beside("more.safetensors");
    let ran = bidilel(&["class", "add", &model, "--from", &file, "--out", &out, "--format", "json"]);
    let result = ran.json();
    assert_eq!(result["unseen"].as_u64(), Some(7));
    assert_eq!(result["added"][0]["filled"].as_array().map(Vec::len), Some(14));
    assert!(result["added"][1]["filled"].is_null());
    // By name: one of the two, in its own words.
    let one = folder.beside("one.safetensors");
    let result =
        bidilel(&["class", "add", &model, "unicorn", "--from", &file, "--out", &one, "--format", "json"])
            .json();
    assert_eq!((result["unseen"].as_u64(), result["added"][0]["name"].as_str()), (Some(6), Some("unicorn")));
    let wrong = bidilel(&["class", "add", &model, "unicron", "--from", &file, "--out", &one]);
    assert!(wrong.error().contains("no row is called `unicron`") && wrong.stderr.contains("`unicorn`?"));
}

#[test]
fn another_name_and_a_description() {
    let (_folder, model) = fitted(&[]);
    let name = unseen_names(&model)[0].clone();
    let result =
        bidilel(&["class", "rename", &model, &name, "zebra", "--in-place", "--format", "json"]).json();
    assert_eq!((result["old"].as_str(), result["new"].as_str()), (Some(name.as_str()), Some("zebra")));
    let described = bidilel(&["class", "describe", &model, "zebra", "--top", "2", "--format", "json"]).json();
    assert_eq!((described["name"].as_str(), described["role"].as_str()), (Some("zebra"), Some("unseen")));
    for list in ["attributes", "lacks", "nearest_known", "nearest_unseen"] {
        assert_eq!(described[list].as_array().map(Vec::len), Some(2), "{described}");
    }
    let text = bidilel(&["class", "describe", &model, "zebra"]).stdout;
    assert!(text.contains("has more than others of: attribute_"), "{text}");
    let wrong = bidilel(&["class", "describe", &model, "zebar"]);
    assert!(wrong.error().contains("no class `zebar`") && wrong.stderr.contains("did you mean `zebra`?"));
    let both = bidilel(&["class", "remove", &model, "zebra", "--in-place", "--out", "x"]);
    assert_eq!(both.status, 2, "one of the two");
}

#[test]
fn a_class_becomes_known_by_its_instances() {
    let (folder, model) = fitted(&["--keep-instances", "2"]);
    let name = unseen_names(&model)[1].clone();
    let features = folder.file("cnn.npy");
    let out = folder.beside("known.safetensors");
    for extra in [&[][..], &["--re-embed"]] {
        let arguments = ["class", "promote", &model, &name, features.to_str().unwrap(), "--out", &out];
        let result = bidilel(&[&arguments[..], extra, &["--format", "json"]].concat()).json();
        assert_eq!((result["known"].as_u64(), result["unseen"].as_u64()), (Some(21), Some(4)));
        assert_eq!(result["re_embedded"].as_bool(), Some(!extra.is_empty()));
        assert!(result["moved"].as_f64().is_some_and(|moved| moved > 0.0));
        assert!(!unseen_names(&out).contains(&name));
    }
    let again = bidilel(&["class", "promote", &out, &name, features.to_str().unwrap(), "--in-place"]);
    assert!(again.error().contains("is known already"), "{}", again.stderr);
}

#[test]
fn compared_methods_say_when_they_must_be_fitted_again() {
    let (folder, model) = fitted(&["--method", "dap"]);
    let rows = attributes(&folder);
    let vector: Vec<Option<f64>> = rows[0].iter().map(|&value| Some(value)).collect();
    let file = format!("attributes={}", table(&folder, "new.csv", &[("unicorn", &vector)]));
    let ran = bidilel(&["class", "add", &model, "unicorn", "--semantic", &file, "--in-place"]);
    assert!(ran.error().contains("method `dap` cannot add a class without another fit"), "{}", ran.stderr);
    assert!(ran.stderr.contains("bidilel fit"), "{}", ran.stderr);
}
