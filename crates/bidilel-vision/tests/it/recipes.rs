//! Networks made by recipes of the fuzz targets are loaded or refused.

#[path = "../../../../fuzz/src/crafted.rs"]
#[expect(unreachable_pub, dead_code, reason = "it is part of a crate of its own elsewhere")]
mod crafted;
#[path = "../../../../fuzz/src/onnx.rs"]
#[expect(unreachable_pub, reason = "it is part of a crate of its own elsewhere")]
mod onnx;

use bidilel_vision::{NetworkFile, NetworkOptions, Runtime};

#[test]
fn graphs_of_any_recipe_are_loaded_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.onnx");
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut byte = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    };
    let mut loaded = 0;
    for round in 0..300 {
        let recipe: Vec<u8> = (0..usize::from(byte())).map(|_| byte()).collect();
        std::fs::write(&path, onnx::onnx_graph(&mut crafted::Recipe::new(&recipe))).unwrap();
        let begun = std::time::Instant::now();
        if let Ok(file) = NetworkFile::open(&path) {
            let options = NetworkOptions { runtime: Runtime::Rten, library: None, layer: None, threads: 1 };
            loaded += usize::from(file.input().is_ok());
            let _ = file.load(&options).map(drop);
        }
        assert!(begun.elapsed().as_secs() < 5, "round {round}: {:?}", begun.elapsed());
    }
    assert!(loaded > 0, "some of them are networks");
}
