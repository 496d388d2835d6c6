//! The fixtures.

use std::path::{Path, PathBuf};

use bidilel_data::ClassText;
use bidilel_text::{EncoderFiles, SentenceEncoder, TextSettings};
use bidilel_vision::{NetworkOptions, Runtime};

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

pub(crate) fn files(network: &str) -> EncoderFiles {
    EncoderFiles::open(&fixture(&format!("{network}.onnx")), &fixture("tokenizer.json")).unwrap()
}

/// The runtimes of this machine: rten, and ONNX Runtime where the environment names it.
pub(crate) fn runtimes() -> Vec<Runtime> {
    let named = std::env::var_os("ORT_DYLIB_PATH").is_some();
    std::iter::once(Runtime::Rten).chain(named.then_some(Runtime::Ort)).collect()
}

pub(crate) fn encoder(
    network: &str,
    settings: TextSettings,
    runtime: Runtime,
    batch: usize,
) -> SentenceEncoder {
    let options = NetworkOptions { runtime, threads: 1, ..NetworkOptions::default() };
    SentenceEncoder::load(&files(network), settings, &options, batch).unwrap()
}

pub(crate) fn class(name: &str, descriptions: &[&str]) -> ClassText {
    ClassText {
        name: name.to_owned(),
        descriptions: descriptions.iter().map(|&text| text.to_owned()).collect(),
    }
}
