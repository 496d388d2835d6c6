//! Text networks that a `dataset.toml` names, and what is kept of their results.

use std::cell::Cell;
use std::fs;
use std::path::Path;

use bidilel_data::array::NpyWriter;
use bidilel_data::{Opened, open_with};
use bidilel_text::Texts;
use bidilel_vision::{NetworkOptions, Runtime};
use tempfile::TempDir;

use crate::support::fixture;

const TABLE: &str = "name,description\nelk,a large deer with horns\nlynx,a spotted cat\njay,a blue bird\n";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("classes.txt"), "jay\nlynx\nelk\n").unwrap();
    fs::write(at("labels.txt"), "lynx\nelk\n").unwrap();
    let mut features = NpyWriter::new(Vec::new(), &[2, 2]).unwrap();
    features.write(&[1.0_f32, 0.0, 0.0, 1.0]).unwrap();
    fs::write(at("features.npy"), features.finish().unwrap()).unwrap();
    fs::write(at("species.csv"), TABLE).unwrap();
    fs::copy(fixture("tokens.onnx"), at("text.onnx")).unwrap();
    fs::copy(fixture("tokenizer.json"), at("tokenizer.json")).unwrap();
    manifest(folder.path(), "");
    folder
}

fn manifest(folder: &Path, more: &str) {
    let text = format!(
        "name = \"t\"\nclasses = \"classes.txt\"\nlabels = \"labels.txt\"\n[visual.v]\nfile = \"features.npy\"\n\
         [semantic.words]\ntext = \"species.csv\"\nnetwork = \"text.onnx\"\ntokenizer = \"tokenizer.json\"\n{more}\n\
         [split.s]\nunseen = [\"jay\"]\n"
    );
    fs::write(folder.join("dataset.toml"), text).unwrap();
}

/// Opens the dataset, and counts the texts that went through the network.
fn open(folder: &Path) -> (Result<Opened, bidilel_data::Error>, usize) {
    let encoded = Cell::new(0);
    let options = NetworkOptions { runtime: Runtime::Rten, threads: 1, ..NetworkOptions::default() };
    let opened = open_with(folder, &Texts { options, batch: 8, progress: &|done, _| encoded.set(done) });
    (opened, encoded.get())
}

#[test]
fn results_are_made_once_and_never_out_of_date() {
    let folder = folder();
    let (first, encoded) = open(folder.path());
    let first = first.unwrap().dataset;
    assert_eq!(encoded, 3);
    let record = &first.networks.semantic["words"];
    assert!(record.tokenizer.is_some() && record.network.path.ends_with("text.onnx"));
    // Rows are in the order of the class list, whatever that of the table is: jays are blue, the third attribute.
    let blue = |class: usize| first.semantic[0].vectors[(2, class)];
    assert!(blue(0) > blue(1) && blue(0) > blue(2));
    let (again, encoded) = open(folder.path());
    let again = again.unwrap().dataset;
    assert_eq!((encoded, &again.semantic[0].vectors), (0, &first.semantic[0].vectors), "it was kept");
    assert_eq!(again.networks, first.networks);

    fs::write(folder.path().join("species.csv"), TABLE.replace("blue", "red")).unwrap();
    let (other, encoded) = open(folder.path());
    assert_eq!(encoded, 3, "another text");
    assert_ne!(other.unwrap().dataset.semantic[0].vectors, first.semantic[0].vectors);
    fs::write(folder.path().join("species.csv"), TABLE).unwrap();
    assert_eq!(open(folder.path()).1, 0, "the first text again");
    for more in [
        "pooling = \"cls\"",
        "templates = [\"a photo of a {}\"]",
        "max_tokens = 4",
        "layer = \"pooler_output\"",
    ] {
        manifest(folder.path(), more);
        assert_eq!(open(folder.path()).1, 3, "{more}");
    }
    manifest(folder.path(), "");
    let mut network = fs::read(folder.path().join("text.onnx")).unwrap();
    // An empty documentation string: another file, the same network.
    network.extend([0x32, 0x00]);
    fs::write(folder.path().join("text.onnx"), network).unwrap();
    assert_eq!(open(folder.path()).1, 3, "another network");
    for entry in fs::read_dir(folder.path().join(".bidilel-cache")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "npy") {
            let mut bytes = fs::read(&path).unwrap();
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
            fs::write(path, bytes).unwrap();
        }
    }
    assert_eq!(open(folder.path()).1, 3, "a damaged file is made anew");
    assert_eq!(open(folder.path()).1, 0);
}

#[test]
fn mistakes_in_the_manifest_are_named() {
    let folder = folder();
    let error = |more: &str| {
        manifest(folder.path(), more);
        open(folder.path()).0.unwrap_err()
    };
    let text = error("key = \"x\"").to_string();
    assert!(text.contains("no other keys than"), "{text}");
    assert!(error("metric = \"precomputed\"").to_string().contains("no precomputed distances"));
    let nested = error("pooling = \"max\"");
    assert!(std::error::Error::source(&nested).unwrap().to_string().contains("no pooling `max`"), "{nested}");
    manifest(folder.path(), "");
    let without = bidilel_data::open(folder.path()).unwrap_err();
    assert!(without.hint().unwrap().contains("bidilel describe"), "{without}");
    fs::write(folder.path().join("species.csv"), "name,description\nelk,x\nlynx,y\n").unwrap();
    assert!(open(folder.path()).0.unwrap_err().to_string().contains("missing `jay`"));
}
