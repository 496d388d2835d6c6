//! What can stop an encoding, and what to do about it.

use std::path::PathBuf;

/// A tokenizer, network or template that no text can be encoded with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "every variant is described, and its fields are the words of its message")]
pub enum Error {
    /// A file that cannot be read or written.
    #[error(transparent)]
    Data(#[from] bidilel_data::Error),
    /// A network that cannot be used.
    #[error(transparent)]
    Network(#[from] bidilel_vision::Error),
    /// A file that is no tokenizer, or one that cannot be used here.
    #[error("`{}`: is no tokenizer that can be used: {problem}", path.display())]
    Tokenizer { path: PathBuf, problem: String },
    /// A text that the tokenizer refuses, or makes nothing of.
    #[error("the text {text:?} has no tokens{}", problem.as_ref().map(|problem| format!(": {problem}")).unwrap_or_default())]
    NoTokens { text: String, problem: Option<String> },
    /// A limit that leaves no room for the text.
    #[error("a limit of {max_tokens} tokens leaves no room for the text: its ends take {ends}")]
    NoRoom { max_tokens: usize, ends: usize },
    /// A template without a place for the text.
    #[error("the template {template:?} has no place for the text")]
    Template { template: String },
    /// A description where a class has none.
    #[error("the template {template:?} needs a description, and class `{class}` has none")]
    NoDescription { template: String, class: String },
    /// A way of pooling that there is not.
    #[error("there is no pooling `{name}`, but {}", crate::Pooling::NAMES.join(", "))]
    NoPooling { name: String },
    /// A tensor that cannot be pooled that way.
    #[error("layer `{layer}` of the network is {found}, and pooling `{pooling}` needs {expected}")]
    Pooling { layer: String, pooling: &'static str, expected: &'static str, found: String },
    /// Numbers that are none.
    #[error("the network gives NaN or infinity for the text {text:?}")]
    NotFinite { text: String },
    /// A vector of zeros, which has no direction.
    #[error("the network gives zeros for the text {text:?}")]
    Zero { text: String },
    /// Settings that cannot be recorded, or a record that cannot be understood.
    #[error("the record of the text network cannot be understood")]
    Record(#[source] serde_json::Error),
    /// A record without a tokenizer.
    #[error("the record of the network `{network}` names no tokenizer: it is no text network")]
    NoTokenizer { network: String },
}

/// Of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// What to do about it, where that can be said.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Data(error) => return error.hint(),
            Self::Network(error) => return error.hint(),
            Self::Tokenizer { .. } => {
                "it is the file `tokenizer.json` that comes with the network; `AutoTokenizer.save_pretrained` writes one"
            }
            Self::Template { .. } => "write {} where the text goes, as in \"a photo of a {}\"",
            Self::NoDescription { .. } => "give every class a description, or use {} or {name} instead",
            Self::Pooling { .. } => {
                "mean, cls and eos are for batch x tokens x dimensions, pooled is for batch x dimensions"
            }
            Self::NoTokens { .. } => {
                "give the class a name or a description of words that the tokenizer knows"
            }
            _ => return None,
        };
        Some(text.to_owned())
    }
}
