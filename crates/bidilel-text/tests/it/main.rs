//! Texts through tiny networks, held against Python's `tokenizers` and `onnxruntime` (`fixtures/make.py`).

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod cached;
mod encoding;
mod support;
