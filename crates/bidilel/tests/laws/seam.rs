//! The stages that an accelerator would take over are reached through `bidilel_math::backend` alone.

use std::path::{Path, PathBuf};

/// Ways around the seam.
const FORBIDDEN: [&str; 6] = [
    "neighbors::exact(",
    "scatter::of_graph(",
    "scatter::of_graphs(",
    "projection::Projector",
    ".leading(",
    ".leading_regularized(",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn the_domain_reaches_the_numerical_stages_through_one_module() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    assert!(files.len() > 50, "{} files", files.len());
    for path in files {
        let text = std::fs::read_to_string(&path).expect("a source file");
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for line in code {
            for way in FORBIDDEN {
                assert!(!line.contains(way), "{}: {line}", path.display());
            }
        }
    }
}
