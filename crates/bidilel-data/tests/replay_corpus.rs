//! Replays the committed corpus of every fuzz target, without a fuzzer.

use std::fs;
use std::path::Path;

#[path = "../../../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "it is a crate of its own elsewhere")]
mod targets;

type Target = (&'static str, fn(&[u8]));

#[test]
fn every_seed_ends_in_values_or_errors() {
    let targets: [Target; 10] = [
        ("npy", targets::npy),
        ("npz", targets::npz),
        ("mat5", targets::mat5),
        ("safetensors", targets::safetensors),
        ("csv", targets::csv),
        ("hdf5", targets::hdf5),
        ("parquet", targets::parquet),
        ("words", targets::words),
        ("text_list", targets::text_list),
        ("manifest", targets::manifest),
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (name, target) in targets {
        let seeds: Vec<_> = fs::read_dir(root.join(name)).unwrap().map(|seed| seed.unwrap().path()).collect();
        assert!(seeds.len() > 1, "{name}");
        for seed in seeds {
            target(&fs::read(&seed).unwrap());
        }
    }
    assert_eq!(fs::read_dir(root).unwrap().count(), targets.len(), "a corpus has no target");
}
