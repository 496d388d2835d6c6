//! What can stop an extraction, and what to do about it.
//!
//! A picture that cannot be read stops nothing: it is listed with its reason, a text.

use std::path::PathBuf;

use crate::preprocess::{Layout, Size};

/// A folder, network, runtime or setting that nothing can be extracted with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "every variant is described, and its fields are the words of its message")]
pub enum Error {
    /// A file that cannot be read or written.
    #[error(transparent)]
    Data(#[from] bidilel_data::Error),
    /// A folder without anything to look at.
    #[error("`{}`: found no picture or video among {files} files", path.display())]
    NothingThere { path: PathBuf, files: usize },
    /// Pictures, but not one that can be read.
    #[error("`{}`: none of the {count} pictures can be read; the first, `{first}`, {problem}", path.display())]
    NothingReadable { path: PathBuf, count: usize, first: String, problem: String },
    /// A file that is no network, or one that cannot be used here.
    #[error("`{}`: is no network that can be used: {problem}", path.display())]
    Network { path: PathBuf, problem: String },
    /// A tensor that the network has not.
    #[error("`{}`: has no layer `{layer}`", path.display())]
    NoLayer { path: PathBuf, layer: String, closest: Option<String> },
    /// A network that takes something else than one picture.
    #[error("`{}`: {problem}", path.display())]
    Input { path: PathBuf, problem: String },
    /// A network that fails when it is run.
    #[error("`{}`: fails in {runtime}: {problem}", path.display())]
    Run { path: PathBuf, runtime: &'static str, problem: String },
    /// A shared library that cannot be used.
    #[error("ONNX Runtime cannot be used: {problem}")]
    Library { problem: String },
    /// ONNX Runtime was asked for, but switched off when the program was built.
    #[error("ONNX Runtime cannot be used: this program was built without the feature `ort`")]
    WithoutOrt,
    /// Settings that contradict each other or the network.
    #[error(transparent)]
    Settings(#[from] Contradiction),
    /// Settings that cannot be recorded.
    #[error("the settings cannot be serialized")]
    Record(#[source] serde_json::Error),
    /// A record of settings that this program does not understand.
    #[error("the record of the network `{network}` cannot be understood")]
    Recorded {
        network: String,
        #[source]
        source: serde_json::Error,
    },
    /// Videos, but nothing that takes them apart.
    #[error("`{}` is a video, and the program `{program}` that takes videos apart cannot be started: {problem}", path.display())]
    NoFfmpeg { path: PathBuf, program: String, problem: String },
    /// The rest of a run that was stopped.
    #[error("`{}`: {state}", path.display())]
    Unfinished { path: PathBuf, state: Unfinished },
    /// A picture that cannot be read, where all of them are needed.
    #[error("`{picture}` {problem}")]
    Unreadable { picture: String, problem: String },
    /// A value that float16 cannot hold.
    #[error("picture `{picture}`: dimension {dimension} is {value}, and float16 holds at most 65504")]
    Overflow { picture: String, dimension: usize, value: f32 },
}

/// Settings that contradict each other or the network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "every variant is described, and its fields are the words of its message")]
pub enum Contradiction {
    /// A picture that is smaller than what is to be cut from it.
    #[error("a picture resized to {resize} cannot be cut to {size}")]
    Resize { resize: Size, size: Size },
    /// Numbers that would be divided by zero.
    #[error("the standard deviation of every color channel must be a number other than 0")]
    StandardDeviation,
    /// Ten crops that would all be the same.
    #[error("ten crops need pictures that are resized to more than the size of the input, and no padding")]
    TenCrops,
    /// Another size than the network takes.
    #[error("the network takes pictures of {expected}, not of {found}")]
    PictureSize { expected: Size, found: Size },
    /// Another order of the axes than the network takes.
    #[error("the network takes channels {}", if *expected == Layout::Nchw { "first (nchw)" } else { "last (nhwc)" })]
    ChannelOrder { expected: Layout },
    /// Clips of another length than the network takes.
    #[error("the network takes clips of {expected} frames, not of {found}")]
    ClipFrames { expected: usize, found: usize },
    /// Clips that do not move on.
    #[error("clips of {frames} frames cannot share {overlap}")]
    ClipOverlap { frames: usize, overlap: usize },
    /// More numbers than an input can have.
    #[error("a batch of {} numbers is too large", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" x "))]
    Batch { shape: Vec<usize> },
    /// A file of rows whose name says that it is something else.
    #[error("`{}`: the file to write must end in .npy", path.display())]
    Ending { path: PathBuf },
}

/// What is known of the rest of a run that was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unfinished {
    /// It could be continued, which was not asked for.
    #[error("an extraction into this file was begun and not finished")]
    Begun,
    /// It is another file.
    #[error("is no record of an unfinished extraction")]
    Foreign,
    /// It cannot be continued with these files and settings.
    #[error("is of another network, other settings or other files")]
    Different,
}

/// Of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// What to do about it, where that can be said.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Data(error) => error.hint(),
            Self::NothingThere { .. } => Some(
                "JPEG, PNG, WebP, GIF, BMP, TIFF and SVG pictures are read, and videos that ffmpeg knows".to_owned(),
            ),
            Self::NoLayer { closest: Some(closest), .. } => Some(format!("is it `{closest}`?")),
            Self::Run { runtime: "rten", .. } => Some(
                "if the network is sound, ONNX Runtime may know more operations: `pip install onnxruntime`"
                    .to_owned(),
            ),
            Self::Library { .. } => Some(
                "ORT_DYLIB_PATH names the shared library (libonnxruntime.so.1.x, onnxruntime.dll, \
                 libonnxruntime.dylib) of version 1.17 or newer, as in the PyPI package onnxruntime; rten needs none"
                    .to_owned(),
            ),
            Self::WithoutOrt => Some(
                "build it with the feature `ort`, which is on by default, or let rten run the network".to_owned(),
            ),
            Self::NoFfmpeg { .. } => Some(
                "install it: `apt install ffmpeg`, `brew install ffmpeg`, `winget install ffmpeg`".to_owned(),
            ),
            Self::Unfinished { state: Unfinished::Begun, .. } => {
                Some("continue it, or delete the file to begin anew".to_owned())
            }
            Self::Unfinished { state: Unfinished::Foreign, .. } => {
                Some("write to a file of another name".to_owned())
            }
            Self::Unfinished { state: Unfinished::Different, .. } => Some(
                "use the settings that it was begun with, or delete the file to begin anew".to_owned(),
            ),
            Self::Overflow { .. } => Some("write float32, which is the default".to_owned()),
            _ => None,
        }
    }
}
