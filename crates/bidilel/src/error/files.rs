//! Why model and encoder files cannot be used.

use safetensors::SafeTensorError;
use safetensors::tensor::Dtype;

use super::Error;

/// Why a safetensors file cannot be read or written, whatever it holds.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileProblem {
    /// Bytes that are no safetensors file.
    #[error("it is not a safetensors file, or it is damaged or cut short ({cause})")]
    NotSafetensors {
        /// Why not. It is part of the message, and so no source, here and below.
        cause: SafeTensorError,
    },
    /// A file of another program.
    #[error("it is a safetensors file, but bidilel did not write it")]
    Foreign,
    /// A file of a later version of the format.
    #[error(
        "it has format version {found}, and this program reads versions up to {newest}: use a newer bidilel"
    )]
    Newer {
        /// Its version.
        found: u32,
        /// The latest version that can be read.
        newest: u32,
    },
    /// A header that is a list, a number or the like.
    #[error("its header is not a JSON object")]
    HeaderNotObject,
    /// A header that lacks an entry, or has one of another type.
    #[error("{cause}")]
    Header {
        /// What is wrong with it.
        cause: serde_json::Error,
    },
    /// A tensor that is not there, or one that claims bytes that are not there.
    #[error("{cause}")]
    Tensors {
        /// What is wrong with them.
        cause: SafeTensorError,
    },
    /// A tensor that is no matrix.
    #[error("tensor `{name}` has {found} dimensions instead of 2")]
    NotMatrix {
        /// The tensor.
        name: String,
        /// How many dimensions it has.
        found: usize,
    },
    /// A tensor of another type of number.
    #[error("tensor `{name}` holds {found:?} instead of {expected:?}")]
    Element {
        /// The tensor.
        name: String,
        /// The type that it must have.
        expected: Dtype,
        /// The type that it has.
        found: Dtype,
    },
    /// A tensor of another shape.
    #[error(
        "tensor `{name}` has the shape {} x {}, expected {} x {}",
        .found[0], .found[1], any_or(.expected[0]), any_or(.expected[1])
    )]
    Shape {
        /// The tensor.
        name: String,
        /// The shape that it must have, where it must have one.
        expected: [Option<usize>; 2],
        /// The shape that it has.
        found: [usize; 2],
    },
    /// A NaN or infinite number.
    #[error("tensor `{name}` has a number that is not finite")]
    NotFinite {
        /// The tensor.
        name: String,
    },
    /// A tensor without numbers.
    #[error("tensor `{name}` is empty")]
    Empty {
        /// The tensor.
        name: String,
    },
    /// A file that cannot be written.
    #[error("{cause}")]
    Write {
        /// Why not.
        cause: std::io::Error,
    },
}

/// Why a model file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelProblem {
    /// Whatever a file may have wrong.
    #[error(transparent)]
    File(#[from] FileProblem),
    /// A model without something that every model has.
    #[error("it has no {what}")]
    Without {
        /// What it lacks.
        what: &'static str,
    },
    /// Views whose dimensions do not sum up to those of the model.
    #[error("its views do not have {expected} dimensions together")]
    ViewDims {
        /// Visual dimensions of the model.
        expected: usize,
    },
    /// A header without an entry that its method needs.
    #[error("its header has no `{key}`")]
    MissingKey {
        /// The entry.
        key: &'static str,
    },
    /// A kernel whose parameter was left open.
    #[error("the kernel of view `{view}` has no gamma")]
    NoGamma {
        /// The view.
        view: String,
    },
    /// A description that describes nothing.
    #[error("a vector of `{representation}` is all zero")]
    ZeroVector {
        /// The semantic representation.
        representation: String,
    },
    /// More or fewer names of dimensions than there are dimensions.
    #[error("`{representation}` has not one name for each of its dimensions")]
    NameCount {
        /// The semantic representation.
        representation: String,
    },
    /// More or fewer distances than there are pairs of unseen classes.
    #[error("wrong number of pairs of classes")]
    PairCount,
}

/// Why an encoder file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncoderProblem {
    /// Whatever a file may have wrong.
    #[error(transparent)]
    File(#[from] FileProblem),
    /// A model instead of an encoder.
    #[error("it is a model, not an encoder")]
    IsModel,
    /// A mixture of Gaussians that is none.
    #[error("a weight or variance of its mixture is not positive")]
    NotPositive,
    /// A header that says otherwise than the tensors.
    #[error("its header and its tensors differ on whether feature rows are reduced")]
    Reduction,
    /// A setting out of its range.
    #[error("{cause}")]
    Setting {
        /// Which one.
        cause: Box<Error>,
    },
}

impl From<ModelProblem> for Error {
    fn from(problem: ModelProblem) -> Self {
        Self::Model { problem }
    }
}

impl From<EncoderProblem> for Error {
    fn from(problem: EncoderProblem) -> Self {
        Self::Encoder { problem }
    }
}

fn any_or(count: Option<usize>) -> String {
    count.map_or("any".to_owned(), |count| count.to_string())
}
