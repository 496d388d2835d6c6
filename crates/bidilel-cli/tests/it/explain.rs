//! `explain`: why a row is taken for what it is taken for.

use crate::support::{Folder, bidilel};

fn model(folder: &Folder, extra: &[&str]) -> String {
    let model = folder.beside("model.safetensors");
    let ran = bidilel(&[&["fit", &folder.data(), "--out", &model], extra].concat());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    model
}

#[test]
fn explanations_name_what_predictions_name() {
    let folder = Folder::generated();
    let model = model(&folder, &["--keep-instances", "all"]);
    let features = folder.file("cnn.npy");
    let features = features.to_str().expect("a plain path");
    let ran = bidilel(&["explain", &model, features, "--rows", "3,40..42", "--format", "json"]);
    let list = ran.json();
    let list = list.as_array().expect("a list with one object per instance");
    assert_eq!(list.iter().map(|one| one["index"].as_u64().unwrap()).collect::<Vec<_>>(), [3, 40, 41]);
    let predicted = bidilel(&["predict", &model, features, "--format", "json"]).json();
    for one in list {
        let row = usize::try_from(one["index"].as_u64().unwrap()).unwrap();
        assert_eq!(one["label"], predicted[row]["label"]);
        assert_eq!(one["candidates"].as_array().map(Vec::len), Some(3));
        assert_eq!(one["candidates"][0]["label"], one["label"]);
        assert_eq!(one["landmarks"].as_array().map(Vec::len), Some(3));
        assert_eq!(one["landmarks"][0]["kind"], "known");
        assert!(one["attributes"].is_array() && one["text"].is_string());
        assert_eq!(one["instances"].as_array().map(Vec::len), Some(3));
    }
    let text = bidilel(&["explain", &model, features, "--rows", "3"]).stdout;
    assert!(text.starts_with("row 3: ") && text.contains("most similar training instances"), "{text}");
}

#[test]
fn what_cannot_be_explained_is_said() {
    let folder = Folder::generated();
    let model = model(&folder, &["--method", "eszsl"]);
    let features = folder.file("cnn.npy");
    let features = features.to_str().expect("a plain path");
    let ran = bidilel(&["explain", &model, features, "--rows", "0..2", "--format", "json"]);
    assert_eq!(ran.json().as_array().map(Vec::len), Some(2));
    assert!(ran.stderr.contains("method `eszsl` has no latent space"), "{}", ran.stderr);
    assert!(
        ran.json()[0]["instances"].is_null() && !ran.json()[0]["landmarks"].as_array().unwrap().is_empty()
    );
    let wrong = bidilel(&["explain", &model, features, "--rows", "100000"]);
    assert!(wrong.error().contains("rows, counted from 0"), "{}", wrong.stderr);
    assert!(bidilel(&["explain", &model, features, "--rows", "first"]).usage().contains("--rows takes"));
    let out = folder.beside("why.json");
    assert_eq!(bidilel(&["explain", &model, features, "--rows", "1", "--out", &out]).status, 0);
    let written = std::fs::read_to_string(out).expect("a file");
    assert!(written.starts_with("[\n"), "{written}");
}

#[test]
fn instances_are_kept_on_request_alone() {
    let folder = Folder::generated();
    let size = |extra: &[&str]| std::fs::metadata(model(&folder, extra)).expect("a model").len();
    let (none, two, all) = (size(&[]), size(&["--keep-instances", "2"]), size(&["--keep-instances", "all"]));
    assert!(none < two && two < all, "{none}, {two}, {all}");
    let wrong = bidilel(&["fit", &folder.data(), "--out", "x", "--keep-instances", "0"]);
    assert!(wrong.status == 2 && wrong.stderr.contains("or all"), "{}", wrong.stderr);
    let method = bidilel(&[
        "fit",
        &folder.data(),
        "--out",
        &folder.beside("x"),
        "--keep-instances",
        "2",
        "--method",
        "rr",
    ]);
    assert!(method.error().contains("no latent space"), "{}", method.stderr);
}
