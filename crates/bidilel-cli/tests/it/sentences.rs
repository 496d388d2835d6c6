//! Classes that join a model by a sentence.

use std::fs;

use crate::support::{Ran, bidilel_in};
use crate::wildlife::{Camera, camera};

const SENTENCE: &str = "a large white animal with stripes";

fn run(camera: &Camera, arguments: &[&str]) -> Ran {
    bidilel_in(camera.folder(), arguments)
}

fn typed(camera: &Camera, line: &str) -> Ran {
    run(camera, &line.split_whitespace().collect::<Vec<_>>())
}

fn done(camera: &Camera, line: &str) -> Ran {
    let ran = typed(camera, line);
    assert_eq!(ran.status, 0, "{line}: {}", ran.stderr);
    ran
}

fn fitted() -> Camera {
    let camera = camera();
    done(
        &camera,
        "extract photos --network net.onnx --out features.npy --dataset data --describe species.csv --text-network text.onnx \
         --tokenizer tokenizer.json --runtime rten",
    );
    done(&camera, "fit data --method best --out m.safetensors");
    camera.shoot("new", SENTENCE, 8000..8004);
    camera
}

fn add(camera: &Camera, more: &[&str]) -> Ran {
    run(camera, &[&["class", "add", "m.safetensors"], more].concat())
}

/// Labels and distances of the new pictures.
fn answers(camera: &Camera, model: &str) -> Vec<(String, f64)> {
    let ran = done(camera, &format!("predict {model} new --format json"));
    let rows = ran.json().as_array().expect("a list").clone();
    let answer = |row: &serde_json::Value| {
        (row["label"].as_str().expect("a label").to_owned(), row["distance"].as_f64().expect("a distance"))
    };
    rows.iter().map(answer).collect()
}

#[test]
fn a_sentence_is_a_class_as_its_vector_is() {
    let camera = fitted();
    let ran = add(&camera, &["zebra", "--text", SENTENCE, "--out", "text.safetensors"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    camera.put("new.csv", format!("name,description\nquagga,a small brown animal\nzebra,{SENTENCE}\n"));
    done(&camera, "class add m.safetensors zebra --texts new.csv --out texts.safetensors");
    let described = "--network text.onnx --tokenizer tokenizer.json --out zebra.csv --runtime rten";
    camera.put("zebra-only.csv", format!("name,description\nzebra,{SENTENCE}\n"));
    done(&camera, &format!("describe zebra-only.csv {described}"));
    done(&camera, "class add m.safetensors zebra --semantic words=zebra.csv --out vector.safetensors");

    let by_text = answers(&camera, "text.safetensors");
    assert!(by_text.iter().all(|(label, _)| label == "zebra"), "{by_text:?}");
    assert_eq!(by_text, answers(&camera, "texts.safetensors"));
    // A file of vectors has single precision.
    for (text, vector) in by_text.iter().zip(answers(&camera, "vector.safetensors")) {
        assert_eq!(text.0, vector.0);
        assert!((text.1 - vector.1).abs() < 1e-5, "{text:?} {vector:?}");
    }
    done(&camera, "class add m.safetensors --texts new.csv --in-place");
    let list = done(&camera, "class list m.safetensors").stdout;
    assert!(list.contains("quagga") && list.contains("zebra"), "{list}");
}

#[test]
fn what_cannot_be_taken_in_words_is_said_and_changes_nothing() {
    let camera = fitted();
    let before = fs::read(camera.path("m.safetensors")).expect("a model");
    camera.put("new.csv", "name,description\nzebra,a large white animal with stripes\n");
    for (arguments, message) in [
        (vec!["zebra", "okapi", "--text", SENTENCE, "--in-place"], "--texts for several"),
        (vec!["zebra", "--text", " ", "--in-place"], "--text is empty"),
        (vec!["--text", SENTENCE, "--in-place"], "--texts for several"),
        (vec!["zebr", "--texts", "new.csv", "--in-place"], "did you mean `zebra`?"),
        (vec!["zebra", "--texts", "none.csv", "--in-place"], "none.csv"),
        (vec!["--from", "new.csv", "--in-place"], "--texts reads names and descriptions in words"),
        (vec!["wolf", "--text", SENTENCE, "--in-place"], "wolf"),
    ] {
        let ran = add(&camera, &arguments);
        assert_ne!(ran.status, 0, "{arguments:?}");
        assert!(ran.stderr.contains(message), "{arguments:?}: {}", ran.stderr);
    }
    let mut other = fs::read(camera.path("text.onnx")).expect("a network");
    other.extend([0x32, 0x00]);
    fs::rename(camera.path("text.onnx"), camera.path("moved.onnx")).expect("it moves");
    fs::write(camera.path("text.onnx"), other).expect("writable");
    let ran = add(&camera, &["zebra", "--text", SENTENCE, "--in-place"]);
    assert!(ran.error().contains("is another network than the model was fitted with"), "{}", ran.stderr);
    assert_eq!(fs::read(camera.path("m.safetensors")).expect("a model"), before);
    let found = add(&camera, &["zebra", "--text", SENTENCE, "--network", "moved.onnx", "--in-place"]);
    assert_eq!(found.status, 0, "{}", found.stderr);
}

#[test]
fn a_model_without_a_text_network_says_so() {
    let camera = Camera::new();
    done(&camera, "fit synthetic:small --out m.safetensors");
    let ran = add(&camera, &["zebra", "--text", SENTENCE, "--in-place"]);
    assert!(ran.error().contains("does not say which text network made its descriptions"), "{}", ran.stderr);
}
