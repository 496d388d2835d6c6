//! Files that were made to exhaust the program: one `error:` line, soon, and within a small share of memory.

use std::path::Path;
use std::time::Instant;

use crate::support::{Folder, bidilel};

/// KiB of address space, in which the program and its threads fit, but not what these files used to take.
const MOST_KIB: usize = 2_000_000;

#[cfg(target_os = "linux")]
#[test]
fn crafted_containers_end_in_an_error_wherever_they_are_named() {
    let folder = Folder::generated();
    let model = folder.beside("model");
    assert_eq!(bidilel(&["fit", &folder.data(), "--out", &model]).status, 0);
    let program = assert_cmd::cargo::cargo_bin("bidilel");
    for name in ["dag21.h5", "nest12000.parquet"] {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bidilel-data/tests/fixtures/hostile");
        let file = fixtures.join(name);
        let file = file.to_str().expect("plain");
        let manifest = std::fs::read_to_string(folder.file("dataset.toml")).expect("a manifest");
        folder
            .edit("dataset.toml", |text| text + &format!("\n[visual.bad]\nfile = \"{file}\"\nkey = \"x\"\n"));
        for words in [
            vec!["predict", &model, file],
            vec!["evaluate", &folder.data(), "--visual", "bad"],
            vec!["inspect", &folder.data()],
            vec!["encode", file, "--offsets", file, "--out", &folder.beside("rows.npy")],
        ] {
            let begun = Instant::now();
            let limited = format!("ulimit -v {MOST_KIB}; exec \"$0\" \"$@\"");
            let ran = std::process::Command::new("sh")
                .args(["-c", &limited])
                .arg(&program)
                .args(&words)
                .output()
                .expect("a shell");
            let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
            assert_eq!(ran.status.code(), Some(1), "{name} {words:?}: {said}");
            assert!(said.contains(name) && !said.contains("panicked"), "{name} {words:?}: {said}");
            assert!(begun.elapsed().as_secs_f64() < 5.0, "{name} {words:?}: {:?}", begun.elapsed());
        }
        std::fs::write(folder.file("dataset.toml"), manifest).expect("writable");
    }
}

#[test]
fn a_model_header_that_is_a_list_is_refused() {
    let folder = Folder::generated();
    let model = folder.beside("model");
    let header = r#"{"__metadata__":{"bidilel":"[1]"}}"#;
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    std::fs::write(&model, bytes).expect("writable");
    let features = folder.file("cnn.npy");
    let ran = bidilel(&["predict", &model, features.to_str().expect("plain")]);
    assert!(ran.error().contains("its header is not a JSON object"), "{}", ran.stderr);
}
