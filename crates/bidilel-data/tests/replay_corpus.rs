//! Replays the committed corpus of every fuzz target, without a fuzzer.

use std::fs;
use std::path::Path;

#[path = "../../../fuzz/src/lib.rs"]
#[expect(unreachable_pub, dead_code, clippy::print_stderr, reason = "it is a crate of its own elsewhere")]
mod targets;

type Target = (&'static str, fn(&[u8]));

#[test]
fn every_seed_ends_in_values_or_errors() {
    let targets: [Target; 16] = [
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
        ("hdf5_graph", targets::hdf5_graph),
        ("hdf5_chunks", targets::hdf5_chunks),
        ("parquet_schema", targets::parquet_schema),
        ("matlab_nesting", targets::matlab_nesting),
        ("model_header", targets::model_header),
        ("encoder_header", targets::encoder_header),
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

#[test]
fn files_made_by_any_recipe_end_in_values_or_errors_soon() {
    let recipes: [Target; 6] = [
        ("hdf5_graph", targets::hdf5_graph),
        ("hdf5_chunks", targets::hdf5_chunks),
        ("parquet_schema", targets::parquet_schema),
        ("matlab_nesting", targets::matlab_nesting),
        ("model_header", targets::model_header),
        ("encoder_header", targets::encoder_header),
    ];
    for (name, target) in recipes {
        // A linear congruential generator: the same recipes in every run.
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        for round in 0..400_u64 {
            let mut byte = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state.to_be_bytes()[0]
            };
            let length = usize::from(byte()) * if round % 10 == 0 { 8 } else { 1 };
            let recipe: Vec<u8> = (0..length).map(|_| byte()).collect();
            let begun = std::time::Instant::now();
            target(&recipe);
            assert!(begun.elapsed().as_secs() < 5, "{name}, round {round}: {:?}", begun.elapsed());
        }
    }
}
