//! Names and descriptions of classes to semantic vectors.
//!
//! ```text
//! class ──── templates ► sentences     "a photo of a {}", or the description as it is
//! sentence ─ tokenizer ► tokens        any tokenizer.json, cut where the network ends
//! tokens ─── network ──► tensor        any ONNX text encoder, by rten or by ONNX Runtime
//! tensor ─── pooling ──► vector        mean, first or last token, or the network's own pooled output
//! vectors ── mean ─────► description   of the unit vectors of all sentences of a class
//! ```
//!
//! [`Texts`] does this for a dataset whose `dataset.toml` names a text network, and keeps results in a cache beside it.

mod cache;
mod describe;
mod encoder;
mod error;
mod pooling;
mod template;
mod tokens;

pub use cache::Texts;
pub use describe::{Described, describe};
pub use encoder::{EncoderFiles, SentenceEncoder, TextSettings};
pub use error::{Error, Result};
pub use pooling::Pooling;
pub use template::Template;
