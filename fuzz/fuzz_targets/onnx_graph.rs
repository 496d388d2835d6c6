#![no_main]

use bidilel_fuzz::crafted::{self, Recipe};
use bidilel_vision::{NetworkFile, NetworkOptions, Runtime};

#[path = "../src/onnx.rs"]
mod onnx;

// Networks are opened by their path: their weights may lie in files beside them.
libfuzzer_sys::fuzz_target!(init: bidilel_fuzz::report_own_panics(), |bytes: &[u8]| {
    let path = std::env::temp_dir().join(format!("bidilel-fuzz-{}.onnx", std::process::id()));
    std::fs::write(&path, onnx::onnx_graph(&mut Recipe::new(bytes))).expect("a temporary file");
    if let Ok(file) = NetworkFile::open(&path) {
        let options = NetworkOptions { runtime: Runtime::Rten, library: None, layer: None, threads: 1 };
        let _ = (file.input(), file.load(&options).map(drop));
    }
});
