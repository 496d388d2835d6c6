//! Descriptions in words: the arguments of `bidilel describe`, and the text networks that datasets and models name.

#[cfg(feature = "text")]
pub(crate) mod args;
#[cfg(not(feature = "text"))]
#[path = "without_args.rs"]
pub(crate) mod args;
#[cfg(feature = "text")]
pub(crate) mod dataset;
#[cfg(not(feature = "text"))]
#[path = "without_dataset.rs"]
pub(crate) mod dataset;
#[cfg(feature = "text")]
pub(crate) mod sentences;
#[cfg(not(feature = "text"))]
#[path = "without_sentences.rs"]
pub(crate) mod sentences;
#[cfg(feature = "text")]
mod typed;

#[cfg(feature = "text")]
pub(crate) use typed::templates;
