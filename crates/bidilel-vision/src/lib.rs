//! Pictures and videos to rows of features.
//!
//! ```text
//! folder ── discover ──► items          pictures and videos by content, in a fixed order, subfolders as labels
//! item ──── decode ────► pixels         upright, over a background, within a memory limit; drawings stay drawings
//! pixels ── preprocess ► views          resized as Pillow does it, cut or filled up, numbers as the network was trained
//! views ─── network ───► tensor         any tensor of an ONNX file, by rten or by ONNX Runtime
//! tensor ── pool ──────► row            the mean over places, views, frames and clips
//! rows ──── extract ───► features.npy   and two lists: what each row is, and what was skipped and why
//! ```
//!
//! Nothing that a file can contain stops an extraction: what cannot be read is listed with its reason.

mod decode;
mod discover;
mod error;
mod extract;
mod guard;
mod kind;
mod network;
mod onnx;
mod picture;
mod preprocess;
mod preset;
mod resample;
mod video;

pub use discover::{Found, Item, LabelFrom, Only, discover, is_visual};
pub use error::{Contradiction, Error, Result, Unfinished};
pub use extract::{ExtractOptions, Extracted, VideoOptions, extract};
pub use guard::guarded;
pub use network::{
    Input, Layer, Network, NetworkFile, NetworkOptions, Output, Pool, Runtime, TokenBatch, TokenInput,
    TokenNetwork, TokenOutput,
};
pub use picture::Picture;
pub use preprocess::{Channels, Crops, Fit, Layout, Preprocess, Range, Size};
pub use preset::Preset;
pub use resample::Filter;
