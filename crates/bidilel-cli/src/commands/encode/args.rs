//! Arguments of `bidilel encode`.

use std::ops::Range;
use std::path::PathBuf;

use bidilel::encode::{Method, Norm, Reduction};
use clap::{Args, ValueEnum, ValueHint};

use crate::args::parse_count;

#[derive(Debug, Args)]
pub(crate) struct EncodeArgs {
    /// A folder with a file of descriptors for every item (subfolders are labels), a text file that lists such
    /// files, or, with --items or --offsets, one array of all descriptors
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) descriptors: PathBuf,
    /// The feature rows to write; names and labels go to a .csv of the same name
    #[arg(long, value_name = "FILE.npy", value_hint = ValueHint::FilePath)]
    pub(crate) out: PathBuf,
    /// How descriptors become a feature row
    #[arg(long, value_enum, default_value_t = MethodName::Fisher, conflicts_with = "encoder")]
    pub(crate) method: MethodName,

    /// The array in files that have several
    #[arg(long, value_name = "KEY", help_heading = "Descriptors")]
    pub(crate) key: Option<String>,
    /// Files have one descriptor per column
    #[arg(long, help_heading = "Descriptors")]
    pub(crate) transpose: bool,
    /// The columns to use, counted from 0, without the last: 40..136 is the HOG of improved trajectories
    #[arg(long, value_name = "FROM..TO", value_parser = parse_columns, help_heading = "Descriptors")]
    pub(crate) columns: Option<Range<usize>>,
    /// The item of every row of one array, in any order: an array of numbers from 0
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Descriptors")]
    pub(crate) items: Option<PathBuf>,
    /// The numbers of --items count from 1
    #[arg(long, requires = "items", help_heading = "Descriptors")]
    pub(crate) one_based: bool,
    /// The first row of every item in one array, from 0; the number of rows may stand at the end
    #[arg(
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        conflicts_with = "items",
        help_heading = "Descriptors"
    )]
    pub(crate) offsets: Option<PathBuf>,
    /// Names of the items, one per line [default: file names, or numbers]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Descriptors")]
    pub(crate) names: Option<PathBuf>,
    /// Labels of the items: a file, one per line, or `none` [default: subfolders, where all items lie in one]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Descriptors")]
    pub(crate) labels: Option<PathBuf>,
    /// What becomes of an item without descriptors
    #[arg(long, value_enum, default_value_t = EmptyName::Error, help_heading = "Descriptors")]
    pub(crate) empty: EmptyName,

    #[command(flatten)]
    pub(crate) learning: LearningArgs,

    /// Use an encoder that was saved, and learn nothing
    #[arg(
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        conflicts_with_all = ["save_encoder", "learning"],
        help_heading = "Encoder"
    )]
    pub(crate) encoder: Option<PathBuf>,
    /// Save the encoder, to encode further items with
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Encoder")]
    pub(crate) save_encoder: Option<PathBuf>,
}

/// What is learned, and how.
#[derive(Debug, Args)]
#[group(id = "learning", multiple = true)]
#[command(next_help_heading = "Learning")]
pub(crate) struct LearningArgs {
    /// Dimensions to reduce descriptors to: half, none or a number [default: half]
    #[arg(long, value_name = "DIM")]
    pub(crate) pca: Option<Reduction>,
    /// Components of the mixture, or words of the bag [default: 256, or 4000]
    #[arg(long, alias = "words", value_name = "N", value_parser = parse_count)]
    pub(crate) components: Option<usize>,
    /// Descriptors to learn from, drawn evenly from all [default: 256000]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub(crate) sample: Option<usize>,
    /// Most iterations of learning [default: 100]
    #[arg(long, value_name = "N")]
    pub(crate) iterations: Option<usize>,
    /// The mixture has converged when an iteration raises its mean log-likelihood by less [default: 0.0001]
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = parse_not_negative)]
    pub(crate) tolerance: Option<f64>,
    /// Smallest variance in the mixture, as a share of that of all descriptors [default: 0.0001]
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = parse_positive_share)]
    pub(crate) variance_floor: Option<f64>,
    /// Power of every entry, sign kept: 1 for none [default: 0.5]
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = parse_positive_share)]
    pub(crate) power: Option<f64>,
    /// What a row is divided by, after the power [default: l2]
    #[arg(long, value_enum, value_name = "NORM")]
    pub(crate) normalize: Option<NormName>,
    /// Dimensions to reduce feature rows to by PCA, as 3000 [default: not reduced]
    #[arg(long, value_name = "DIM", value_parser = parse_count)]
    pub(crate) reduce: Option<usize>,
    /// How that PCA is done [default: exact up to 8192 items or dimensions, whichever are fewer]
    #[arg(long, value_enum, value_name = "WAY", requires = "reduce")]
    pub(crate) reduce_by: Option<ReduceBy>,
    /// Seed of the sample and of the initialization [default: 0]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodName {
    /// How they differ from a mixture of Gaussians
    Fisher,
    /// How many fall to each word of a codebook
    Bag,
}

impl From<MethodName> for Method {
    fn from(name: MethodName) -> Self {
        match name {
            MethodName::Fisher => Self::Fisher,
            MethodName::Bag => Self::Bag,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum NormName {
    /// The root of its sum of squares
    L2,
    /// The sum of its magnitudes
    L1,
    /// Nothing
    None,
}

impl From<NormName> for Norm {
    fn from(name: NormName) -> Self {
        match name {
            NormName::L2 => Self::L2,
            NormName::L1 => Self::L1,
            NormName::None => Self::None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EmptyName {
    /// An error
    Error,
    /// A row of zeros
    Zero,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReduceBy {
    /// From the whole scatter or Gram matrix
    Exact,
    /// By iteration on a random subspace: less memory, nearly as good
    Randomized,
}

fn parse_not_negative(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value >= 0.0 && value.is_finite() => Ok(value),
        _ => Err("expected a number of at least 0".to_owned()),
    }
}

fn parse_positive_share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 1.0 => Ok(value),
        _ => Err("expected a number above 0 and at most 1".to_owned()),
    }
}

fn parse_columns(text: &str) -> Result<Range<usize>, String> {
    let wrong = || "expected two numbers such as 40..136, the first below the second".to_owned();
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    match (from.parse(), to.parse()) {
        (Ok(from), Ok(to)) if from < to => Ok(from..to),
        _ => Err(wrong()),
    }
}
