//! What a build says of the parts that were switched off. It holds for any set of features, the smallest among them.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::fs;
use std::path::Path;

use assert_cmd::Command;

/// What a run in a folder says, and whether it succeeded.
fn run(folder: &Path, arguments: &[&str]) -> (bool, String) {
    let output = Command::cargo_bin("bidilel").unwrap().current_dir(folder).args(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

#[test]
fn the_main_job_needs_no_feature() {
    let folder = tempfile::tempdir().unwrap();
    let (success, said) = run(folder.path(), &["evaluate", "synthetic:small", "--format", "json"]);
    assert!(success && said.contains("\"per_class\""), "{said}");
}

#[test]
fn commands_that_were_left_out_name_their_feature_and_are_not_listed() {
    let folder = tempfile::tempdir().unwrap();
    let (_, help) = run(folder.path(), &["--help"]);
    let extract = ["extract", "pictures", "--network", "n.onnx", "--out", "f.npy"];
    let parquet = ["predict", "m.model", "f.npy", "--format", "parquet"];
    let cases: [(&[&str], bool, &str); 5] = [
        (&["demo", "--no-page"], cfg!(feature = "emoji"), "emoji"),
        (&["--quiet"], cfg!(feature = "emoji"), "emoji"),
        (&["inspect", "builtin:emoji"], cfg!(feature = "emoji"), "emoji"),
        (&extract, cfg!(feature = "vision"), "vision"),
        (&parquet, cfg!(feature = "parquet"), "parquet"),
    ];
    for (arguments, on, feature) in cases {
        let (success, said) = run(folder.path(), arguments);
        let left_out = said.contains("error: this bidilel was built without")
            && said.contains(&format!("build it with the feature `{feature}`"));
        assert_eq!(left_out, !on, "{arguments:?}: {said}");
        assert!(on || !success, "{arguments:?}");
    }
    assert_eq!(help.contains("\n  demo "), cfg!(feature = "emoji"), "{help}");
    assert_eq!(help.contains("\n  extract "), cfg!(feature = "vision"), "{help}");
}

#[test]
fn files_whose_format_was_left_out_name_its_feature() {
    let folder = tempfile::tempdir().unwrap();
    let (success, said) = run(folder.path(), &["fit", "synthetic:small", "--out", "m.model"]);
    assert!(success, "{said}");
    let files = [
        ("f.parquet", &b"PAR1 and what is no table"[..], cfg!(feature = "parquet"), "parquet"),
        ("f.h5", b"\x89HDF\r\n\x1a\n and what is no array", cfg!(feature = "hdf5"), "hdf5"),
    ];
    for (name, bytes, on, feature) in files {
        fs::write(folder.path().join(name), bytes).unwrap();
        let (success, said) = run(folder.path(), &["predict", "m.model", name]);
        assert!(!success, "{name}");
        assert_eq!(said.contains(&format!("was built without the feature `{feature}`")), !on, "{said}");
    }
}
