//! Zero-shot visual recognition by bidirectional latent embedding.
pub mod dataset;
pub mod error;

pub use error::{Error, Result};
