//! Words to semantic vectors, as a user types it.

use std::fs;

use crate::support::{Ran, bidilel_in};
use crate::wildlife::Camera;

const TABLE: &str = "name,description\nelk,a large brown deer with horns\nsnow leopard,\"a large, white cat with spots\"\njay,\n";

fn camera() -> Camera {
    let camera = Camera::new();
    camera.put("species.csv", TABLE);
    camera
}

fn describe(camera: &Camera, more: &[&str]) -> Ran {
    let fixed = [
        "describe",
        "species.csv",
        "--network",
        "text.onnx",
        "--tokenizer",
        "tokenizer.json",
        "--runtime",
        "rten",
    ];
    bidilel_in(camera.folder(), &[&fixed[..], more].concat())
}

#[test]
fn vectors_come_with_their_names_in_every_format() {
    let camera = camera();
    let ran = describe(&camera, &["--out", "words.npy", "--format", "json"]);
    let result = ran.json();
    assert_eq!(
        (&result["classes"], &result["dimensions"], &result["sentences"]),
        (&3.into(), &8.into(), &3.into())
    );
    assert_eq!(
        (&result["layer"], &result["settings"]["pooling"]),
        (&"last_hidden_state".into(), &"mean".into())
    );
    assert!(ran.stderr.contains("1 classes have no description, and their names are used"), "{}", ran.stderr);
    let record: serde_json::Value =
        serde_json::from_slice(&fs::read(camera.path("words.network.json")).expect("a record"))
            .expect("JSON");
    assert_eq!(record["names"], serde_json::json!(["elk", "snow leopard", "jay"]));
    let hash = bidilel_data::sha256(&fs::read(camera.path("text.onnx")).expect("the network"));
    assert_eq!(record["network"]["sha256"], hash.as_str());
    let array = bidilel_data::array::open(&camera.path("words.npy"), None).expect("an array").to_matrix();
    for (name, key) in [("words.npz", Some("vectors")), ("words.csv", None)] {
        let ran = describe(&camera, &["--out", name]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert!(ran.stdout.contains("3 classes x 8 dimensions"), "{}", ran.stdout);
        let container = bidilel_data::container::Container::open(&camera.path(name)).expect("a file");
        if key.is_some() {
            assert_eq!(container.array(key).expect("vectors").to_matrix(), array);
            assert_eq!(container.strings("names").expect("names"), ["elk", "snow leopard", "jay"]);
        } else {
            assert_eq!(container.strings("name").expect("names"), ["elk", "snow leopard", "jay"]);
        }
    }
}

#[test]
fn templates_pooling_and_norms_are_options() {
    let camera = camera();
    camera.put("templates.txt", "a photo of a {}\nthe {name}\n");
    let settings = |more: &[&str]| {
        let ran = describe(&camera, &[&["--out", "w.npy", "--format", "json"], more].concat());
        let vectors = bidilel_data::array::open(&camera.path("w.npy"), None).expect("an array").to_matrix();
        (ran.json(), vectors)
    };
    let (one, _) = settings(&["--template", "templates.txt", "--template", "{}"]);
    assert_eq!((&one["sentences"], &one["settings"]["unit"]), (&9.into(), &true.into()));
    assert_eq!(one["settings"]["templates"], serde_json::json!(["a photo of a {}", "the {name}", "{}"]));
    let (_, unit) = settings(&["--normalize", "l2"]);
    (0..3).for_each(|class| assert!((unit.col(class).norm_l2() - 1.0).abs() < 1e-6));
    let (cls, first) = settings(&["--pooling", "cls"]);
    assert_eq!(cls["settings"]["pooling"], "cls");
    let (pooled, last) = settings(&["--pooling", "pooled"]);
    assert_eq!(pooled["layer"], "pooler_output");
    assert_ne!(first, last);
    let (cut, _) = settings(&["--max-tokens", "4"]);
    assert!(
        cut["notes"][0].as_str().expect("a note").contains("3 of 3 texts have more than 4 tokens"),
        "{cut}"
    );
    let threads = |n: &str| settings(&["--threads", n, "--batch", n]).1;
    assert_eq!(threads("1"), threads("1"));
}

#[test]
fn mistakes_are_answered() {
    let camera = camera();
    let error = |more: &[&str]| {
        let ran = describe(&camera, more);
        (ran.status, ran.stderr)
    };
    for (arguments, status, words) in [
        (&["--out", "w.mat"][..], 2, ".npy, .npz or .csv"),
        (&["--out", "-"], 2, "cannot go to standard output"),
        (&["--out", "w.npy", "--template", "a photo"], 1, "no place for the text"),
        (&["--out", "w.npy", "--layer", "last_hidden"], 1, "is it `last_hidden_state`?"),
        (&["--out", "w.npy", "--pooling", "max"], 2, "mean"),
        (&["--out", "w.npy", "--description-column", "habits"], 1, "has no column `habits`"),
    ] {
        let (found, said) = error(arguments);
        assert!(found == status && said.contains(words), "{arguments:?}: {found} {said}");
        assert!(!camera.path("w.npy").exists());
    }
    let swapped =
        ["describe", "species.csv", "--network", "text.onnx", "--tokenizer", "text.onnx", "--out", "w.npy"];
    assert!(bidilel_in(camera.folder(), &swapped).error().contains("is no tokenizer that can be used"));
    let picture = [
        "describe",
        "species.csv",
        "--network",
        "net.onnx",
        "--tokenizer",
        "tokenizer.json",
        "--out",
        "w.npy",
    ];
    assert!(bidilel_in(camera.folder(), &picture).error().contains("expected a text network"));
}

/// Rows of an array are joined by the names that its record has, and another order of the class list changes nothing.
#[test]
fn a_dataset_takes_the_vectors_by_name() {
    let camera = camera();
    assert_eq!(describe(&camera, &["--out", "data/words.npy"]).status, 1, "the folder is not there");
    camera.put("data/classes.txt", "jay\nelk\nsnow leopard\n");
    camera.put("data/labels.txt", "jay\nelk\nelk\n");
    camera.put("data/features.csv", "f0,f1\n1,2\n3,4\n5,7\n");
    let toml = "name = \"d\"\nclasses = \"classes.txt\"\nlabels = \"labels.txt\"\n[visual.v]\nfile = \"features.csv\"\n\
                [semantic.words]\nfile = \"words.npy\"\nmetric = \"cosine\"\n[split.s]\nunseen = [\"snow leopard\"]\n";
    camera.put("data/dataset.toml", toml);
    assert_eq!(describe(&camera, &["--out", "data/words.npy"]).status, 0);
    let vectors = |data: &str| {
        bidilel_data::open(&camera.path(data)).expect("a dataset").dataset.semantic[0].vectors.clone()
    };
    let array =
        bidilel_data::array::open(&camera.path("data/words.npy"), None).expect("an array").to_matrix();
    let found = vectors("data");
    for (class, row) in [2, 0, 1].into_iter().enumerate() {
        assert_eq!(found.col(class).to_owned(), array.col(row).to_owned());
    }
    let ran = bidilel_in(camera.folder(), &["convert", "data", "copy"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let copy = bidilel_data::open(&camera.path("copy")).expect("a dataset").dataset;
    assert_eq!(copy.semantic[0].vectors, found);
    assert!(copy.networks.semantic.contains_key("words"), "the record is converted, too");
    // Another array under the same name: the record is not believed.
    fs::write(camera.path("data/words.npy"), fs::read(camera.path("copy/words.npy")).expect("a file"))
        .expect("writable");
    let opened = bidilel_data::open(&camera.path("data")).expect("a dataset");
    assert!(
        opened.notes.iter().any(|note| note.contains("is a record of another array")),
        "{:?}",
        opened.notes
    );
    assert!(opened.dataset.networks.semantic.is_empty());
}
