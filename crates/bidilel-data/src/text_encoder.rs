//! The seam between a dataset and what turns texts into vectors.
//!
//! A `dataset.toml` may name a text network instead of a file of vectors. This crate reads the texts and joins them to the
//! classes; running a network is for whoever opens the dataset.

use std::path::PathBuf;

use bidilel::networks::NetworkRecord;
use faer::Mat;

use crate::class_texts::ClassText;

/// What a `dataset.toml` says of a text network.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextRequest {
    /// The ONNX file.
    pub network: PathBuf,
    /// The `tokenizer.json`.
    pub tokenizer: PathBuf,
    /// The tensor to take.
    pub layer: Option<String>,
    /// How tokens become one vector, by its name.
    pub pooling: Option<String>,
    /// Sentences with a place for the text; their vectors are averaged.
    pub templates: Vec<String>,
    /// Tokens after which a text is cut.
    pub max_tokens: Option<usize>,
    /// The classes, in the order of the dataset.
    pub classes: Vec<ClassText>,
    /// A folder for results that are worth keeping.
    pub cache: PathBuf,
}

/// Vectors of classes, and what made them.
#[derive(Debug, Clone, PartialEq)]
pub struct TextVectors {
    /// Dimensions x classes.
    pub vectors: Mat<f64>,
    /// What made them.
    pub record: NetworkRecord,
    /// Things that the user should know.
    pub notes: Vec<String>,
}

/// An error of a crate that this one does not know.
pub type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// Turns texts of classes into vectors.
pub trait TextEncoder {
    /// Encodes all classes of a request.
    ///
    /// # Errors
    /// Those of the network and the tokenizer.
    fn encode(&self, request: &TextRequest) -> Result<TextVectors, AnyError>;
}
