//! Arguments of `bidilel describe`, and of `bidilel class add` in words.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueHint};

use crate::args::parse_count;
use crate::extraction::args::RuntimeArgs;

#[derive(Debug, Args)]
pub(crate) struct DescribeArgs {
    /// Names and descriptions of the classes: a table with columns name and description, or a .txt of names
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) classes: PathBuf,
    /// The text network, an ONNX file: a sentence encoder, or the text half of CLIP
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) network: PathBuf,
    /// The tokenizer.json that comes with the network
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tokenizer: PathBuf,
    /// The vectors to write: .npy, .npz with the names, or .csv with the names
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: PathBuf,
    /// A sentence with {} for the description, else the name; or {name} and {description}. Vectors of several are
    /// averaged (may be repeated); a file of templates, one per line, if there is no place in it
    #[arg(long, value_name = "TEXT")]
    pub(crate) template: Vec<String>,
    /// How the tokens of a text become one vector: their mean, the first, the last, or as the network does it
    #[arg(
        long,
        value_name = "POOLING",
        default_value = "auto",
        value_parser = PossibleValuesParser::new(["auto", "mean", "cls", "eos", "pooled"])
    )]
    pub(crate) pooling: String,
    /// The tensor to take [default: the one of sentences, else of tokens, else the first output]
    #[arg(long, value_name = "NAME")]
    pub(crate) layer: Option<String>,
    /// Normalization of the vectors: l2 or none
    #[arg(long, value_name = "NORM", default_value = "none", value_parser = PossibleValuesParser::new(["l2", "none"]))]
    pub(crate) normalize: String,
    /// Tokens after which a text is cut [default: what network or tokenizer say, else 512]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub(crate) max_tokens: Option<usize>,
    /// Texts that go through the network at a time
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(crate) batch: u16,
    /// Column that names the classes [default: one called so]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) name_column: Option<String>,
    /// Column that describes the classes [default: one called so, else the only other column of text]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) description_column: Option<String>,
    #[command(flatten)]
    pub(crate) runtime: RuntimeArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Description in words")]
pub(crate) struct SentenceArgs {
    /// The class in a sentence, for the text network that made the descriptions of the model; vectors of several sentences
    /// are averaged (may be repeated)
    #[arg(long, value_name = "SENTENCE")]
    pub(crate) text: Vec<String>,
    /// Sentences of many classes: a table with columns name and description, or a .txt of names
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "text")]
    pub(crate) texts: Option<PathBuf>,
    /// Where the text network or its tokenizer is now, if it was moved; another one is refused (may be repeated)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) network: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) runtime: RuntimeArgs,
}
