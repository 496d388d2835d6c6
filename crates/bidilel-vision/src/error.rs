//! What can stop an extraction, and what to do about it.
//!
//! A picture that cannot be read stops nothing: it is listed with its reason, a text.

use std::path::PathBuf;

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
    #[error("{problem}")]
    Settings { problem: String },
    /// Videos, but nothing that takes them apart.
    #[error("`{}` is a video, and the program `{program}` that takes videos apart cannot be started: {problem}", path.display())]
    NoFfmpeg { path: PathBuf, program: String, problem: String },
    /// The rest of a run that was stopped.
    #[error("`{}`: {problem}", path.display())]
    Unfinished { path: PathBuf, problem: String, hint: &'static str },
    /// A value that float16 cannot hold.
    #[error("picture `{picture}`: dimension {dimension} is {value}, and float16 holds at most 65504")]
    Overflow { picture: String, dimension: usize, value: f32 },
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
            Self::NoLayer { closest: Some(closest), .. } => {
                Some(format!("is it `{closest}`? --list-layers shows all of them"))
            }
            Self::NoLayer { .. } => Some("--list-layers shows all of them".to_owned()),
            Self::Run { runtime: "rten", .. } => Some(
                "if the network is sound, ONNX Runtime may know more operations: `pip install onnxruntime` and \
                 --onnxruntime with the library in it"
                    .to_owned(),
            ),
            Self::Library { .. } => Some(
                "--onnxruntime FILE or ORT_DYLIB_PATH names the shared library (libonnxruntime.so.1.x, \
                 onnxruntime.dll, libonnxruntime.dylib) of version 1.17 or newer, as in the PyPI package onnxruntime; \
                 --runtime rten needs none"
                    .to_owned(),
            ),
            Self::WithoutOrt => Some(
                "build it with the feature `ort`, which is on by default, or let rten run the network".to_owned(),
            ),
            Self::NoFfmpeg { .. } => Some(
                "install it (`apt install ffmpeg`, `brew install ffmpeg`, `winget install ffmpeg`), name it with \
                 --ffmpeg, or leave videos out with --only pictures"
                    .to_owned(),
            ),
            Self::Unfinished { hint, .. } => Some((*hint).to_owned()),
            Self::Overflow { .. } => Some("write float32, which is the default".to_owned()),
            _ => None,
        }
    }
}
