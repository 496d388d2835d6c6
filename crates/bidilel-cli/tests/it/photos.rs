//! Pictures to names by a model that records its networks.

use std::fs;

use crate::support::{Ran, bidilel_in};
use crate::wildlife::{Camera, SPECIES, camera};

const EXTRACT: &str = "extract photos --network net.onnx --out features.npy --dataset data --describe species.csv --text-network text.onnx \
                       --tokenizer tokenizer.json --runtime rten";

fn run(camera: &Camera, line: &str) -> Ran {
    bidilel_in(camera.folder(), &line.split_whitespace().collect::<Vec<_>>())
}

fn done(camera: &Camera, line: &str) -> Ran {
    let ran = run(camera, line);
    assert_eq!(ran.status, 0, "{line}: {}", ran.stderr);
    ran
}

/// A fitted camera with new pictures of the unseen species.
fn fitted(more: &str) -> Camera {
    let camera = camera();
    done(&camera, EXTRACT);
    done(&camera, &format!("fit data --method best --out m.safetensors {more}"));
    for (kind, (name, description, known)) in (0_u32..).zip(SPECIES) {
        if !known {
            camera.shoot(
                &format!("new/{}", name.replace(' ', "-")),
                description,
                5000 + 10 * kind..5000 + 10 * kind + 4,
            );
        }
    }
    camera
}

fn rows(ran: &Ran) -> Vec<serde_json::Value> {
    ran.json().as_array().expect("a list").clone()
}

#[test]
fn a_folder_of_pictures_and_a_table_of_descriptions_are_a_dataset() {
    let camera = camera();
    let ran = done(&camera, EXTRACT);
    assert!(ran.stdout.contains("data: a dataset of 13 classes; described in words"), "{}", ran.stdout);
    let dataset = bidilel_data::open(&camera.path("data")).expect("a dataset").dataset;
    let unseen = dataset.trials(None).expect("a split")[0].unseen.clone();
    let names: Vec<&str> = unseen.iter().map(|&class| dataset.classes[class].as_str()).collect();
    assert_eq!(names, ["snow leopard", "bongo"]);
    assert_eq!(dataset.labels.len(), 11 * 8);
    let record = &dataset.networks.visual["features"];
    assert_eq!(record.layer, "looks");
    assert_eq!(
        record.network.sha256,
        bidilel_data::sha256(&fs::read(camera.path("net.onnx")).expect("a file"))
    );
    assert!(dataset.networks.semantic["words"].tokenizer.is_some());

    camera.put("few.csv", "name,description\nfox,a small red animal\n");
    let ran = run(
        &camera,
        &EXTRACT.replace("species.csv", "few.csv").replace("data ", "other ").replace("features", "others"),
    );
    assert!(ran.error().contains("does not describe `"), "{}", ran.stderr);
    assert!(!camera.path("others.npy").exists(), "it is said before the work is done");
    assert_eq!(
        run(&camera, "extract photos --network net.onnx --out f.npy --describe species.csv").status,
        2
    );
}

#[test]
fn pictures_are_recognized_by_the_network_of_the_model() {
    let camera = fitted("");
    let predicted = rows(&done(&camera, "predict m.safetensors new --format json"));
    assert_eq!(predicted.len(), 8);
    let right = |row: &&serde_json::Value| {
        let (path, label) = (row["path"].as_str().expect("a path"), row["label"].as_str().expect("a label"));
        path.contains(&label.replace(' ', "-"))
    };
    assert_eq!(predicted.iter().filter(right).count(), 8, "{predicted:?}");
    assert_eq!(predicted[0]["path"], "new/bongo/5120.jpg");
    // The same numbers as by extracting first.
    done(&camera, "extract new --network net.onnx --out new.npy --runtime rten");
    let by_rows = rows(&done(&camera, "predict m.safetensors new.npy --format json"));
    for (one, other) in predicted.iter().zip(&by_rows) {
        assert_eq!((&one["label"], &one["distance"]), (&other["label"], &other["distance"]));
    }
    let single = rows(&done(
        &camera,
        "predict m.safetensors new/bongo/5121.jpg new/snow-leopard --top 2 --format json",
    ));
    assert_eq!(single.len(), 10);
    assert_eq!(
        (&single[0]["path"], &single[0]["distance"]),
        (&"new/bongo/5121.jpg".into(), &predicted[1]["distance"])
    );
    done(&camera, "embed m.safetensors new --out points.npy");
    assert!(fs::read_to_string(camera.path("points.csv")).expect("a list").contains("new/bongo/5120.jpg"));
}

#[test]
fn another_network_is_refused_and_a_moved_one_is_found() {
    let camera = fitted("");
    fs::rename(camera.path("net.onnx"), camera.path("moved.onnx")).expect("it moves");
    let ran = run(&camera, "predict m.safetensors new");
    assert!(ran.error().contains("is not there") && ran.stderr.contains("--network FILE"), "{}", ran.stderr);
    let moved = done(&camera, "predict m.safetensors new --network moved.onnx");
    let mut other = fs::read(camera.path("moved.onnx")).expect("a file");
    other.extend([0x32, 0x00]);
    fs::write(camera.path("net.onnx"), other).expect("writable");
    for line in [
        "predict m.safetensors new",
        "predict m.safetensors new --network net.onnx",
        "embed m.safetensors new --out p.npy",
    ] {
        assert!(
            run(&camera, line).error().contains("is another network than the model was fitted with"),
            "{line}"
        );
    }
    fs::create_dir(camera.path("elsewhere")).expect("a folder");
    fs::rename(camera.path("moved.onnx"), camera.path("elsewhere/net.onnx")).expect("it moves");
    fs::rename(camera.path("m.safetensors"), camera.path("elsewhere/m.safetensors")).expect("it moves");
    fs::remove_file(camera.path("net.onnx")).expect("it goes");
    assert_eq!(
        done(&camera, "predict elsewhere/m.safetensors new").stdout,
        moved.stdout,
        "it lies beside the model"
    );
}

#[test]
fn an_embedded_network_needs_no_file() {
    let camera = fitted("--embed-network");
    let before = done(&camera, "predict m.safetensors new").stdout;
    for file in ["net.onnx", "text.onnx", "tokenizer.json"] {
        fs::remove_file(camera.path(file)).expect("it goes");
    }
    assert_eq!(done(&camera, "predict m.safetensors new").stdout, before);
    assert!(run(&camera, "fit data --out n.safetensors --embed-network").error().contains("is not there"));
    assert!(!camera.path("n.safetensors").exists());
    let ran = run(&camera, "fit synthetic:small --out n.safetensors --embed-network");
    assert!(ran.error().contains("does not say which network"), "{}", ran.stderr);
}

#[test]
fn pictures_that_cannot_be_read_stop_or_are_listed() {
    let camera = fitted("");
    camera.put("new/bongo/broken.jpg", b"\xff\xd8\xff\xe0 and no more");
    camera.put("new/notes.txt", "not a picture");
    let ran = run(&camera, "predict m.safetensors new");
    assert!(
        ran.error().contains("`new/bongo/broken.jpg`") && ran.stderr.contains("--skip-bad-rows"),
        "{}",
        ran.stderr
    );
    let ran = done(&camera, "predict m.safetensors new --skip-bad-rows --out p.csv");
    assert!(ran.stderr.contains("skipped `new/bongo/broken.jpg`"), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(camera.path("p.csv")).expect("predictions").lines().count(), 9);
    assert!(
        fs::read_to_string(camera.path("p.skipped.csv"))
            .expect("a list")
            .starts_with("path,problem\nnew/bongo/broken.jpg,")
    );
    for (line, words) in [
        ("predict m.safetensors nothing.jpg", "no such file or folder"),
        ("predict m.safetensors data", "found no picture or video"),
    ] {
        assert!(run(&camera, line).error().contains(words), "{line}: {}", run(&camera, line).stderr);
    }
    let mixed = run(&camera, "predict m.safetensors new/bongo features.npy");
    assert!(mixed.usage().contains("cannot be mixed"), "{}", mixed.stderr);
    done(&camera, "fit synthetic:small --out plain.safetensors");
    let ran = run(&camera, "predict plain.safetensors new/bongo");
    assert!(ran.error().contains("does not say which network made its features"), "{}", ran.stderr);
}

#[test]
fn copies_are_sorted_by_label_and_replace_nothing() {
    let camera = fitted("");
    camera.put("sorted/bongo/5120.jpg", "mine");
    let line = "predict m.safetensors new --top 2 --copy-to sorted";
    done(&camera, line);
    let list = |folder: &str| {
        let mut names: Vec<String> = fs::read_dir(camera.path(folder))
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    };
    assert_eq!(list("sorted"), ["bongo", "snow leopard"]);
    assert_eq!(list("sorted/bongo"), ["5120-2.jpg", "5120.jpg", "5121.jpg", "5122.jpg", "5123.jpg"]);
    assert_eq!(fs::read_to_string(camera.path("sorted/bongo/5120.jpg")).expect("a file"), "mine");
    let bytes = |path: &str| fs::read(camera.path(path)).expect("a file");
    assert_eq!(bytes("sorted/bongo/5120-2.jpg"), bytes("new/bongo/5120.jpg"));
    done(&camera, line);
    assert_eq!(list("sorted/bongo").len(), 5, "a second run copies nothing twice");
    let ran = run(&camera, "predict m.safetensors features.npy --copy-to sorted");
    assert!(ran.usage().contains("--copy-to is for pictures"), "{}", ran.stderr);
}
