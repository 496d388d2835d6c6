//! The command line: declarations only.

use std::path::PathBuf;

use bidilel::settings::PostName;
use bidilel_report::Format;
use clap::{Args, Parser, Subcommand, ValueHint};
use clap_complete::Shell;

use crate::commands::class::args::ClassCommand;
use crate::commands::encode::args::EncodeArgs;
use crate::commands::report::ReportCommandArgs;
use crate::confidence::{AskedArgs, ConfidenceArgs, DEFAULT_FOLDS};
use crate::extraction::args::ExtractArgs;
use crate::method::MethodArgs;
use crate::options::named;
use crate::pictures::args::PictureArgs;
use crate::reported::ReportArgs;
use crate::reproduction::args::ReproduceArgs;
use crate::texts::args::DescribeArgs;
use crate::tuning::args::{HeldOut, TuneArgs};
use crate::tuning::host::Budget;

/// Recognize pictures and videos of classes for which there is no labeled example, only a description.
#[derive(Debug, Parser)]
#[command(name = "bidilel", version, propagate_version = true, max_term_width = 110)]
#[cfg_attr(
    feature = "emoji",
    command(
        after_help = "Without a command: the demonstration on pictures of animals that are inside the program"
    )
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Options of every command.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Format of the result: text, json, jsonl, csv, markdown or latex; for predictions csv, json, jsonl, parquet or text
    #[arg(long, global = true, value_name = "FORMAT", value_parser = parse_format)]
    pub(crate) format: Option<Format>,
    /// Threads to use; as many as the machine has if not given
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: Option<u16>,
    /// Keep spreadsheets from running names as formulas: an apostrophe before text in CSV that begins with = + - or @
    #[arg(long, global = true)]
    pub(crate) csv_safe: bool,
    /// Say nothing but results and errors
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say what each stage took
    #[arg(long, short, global = true)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Recognize pictures of animals that were never shown, from the data inside the program
    #[cfg_attr(not(feature = "emoji"), command(hide = true))]
    Demo(DemoArgs),
    /// Fit on the known classes, recognize the unseen ones, and say how well that went
    Evaluate(EvaluateArgs),
    /// Fit on the known classes and write a model file
    Fit(FitArgs),
    /// Choose settings by cross-validation on known classes
    Tune(Box<TuneArgs>),
    /// Run several methods on the same trials and compare them
    Compare(Box<CompareArgs>),
    /// Order visual representations by what each adds to the others
    Select(Box<SelectArgs>),
    /// Make one page of results, with charts and tables
    Report(ReportCommandArgs),
    /// Recognize feature rows with a model
    Predict(PredictArgs),
    /// Say why a model gives the answers that it gives: near classes, attributes, similar training instances
    Explain(ExplainArgs),
    /// Tag instances that have several labels, of which some are unseen, and say how well that went
    Tag(Box<TagArgs>),
    /// Project feature rows into the latent space of a model
    Embed(EmbedArgs),
    /// Say what is in a dataset and what is wrong with it
    Inspect {
        /// A dataset folder, builtin:emoji, builtin:emoji-things, or synthetic:NAME (small, awa, cub, ucf101, hmdb51)
        #[arg(value_hint = ValueHint::AnyPath)]
        dataset: String,
    },
    /// Write any readable dataset as a folder of arrays and text files
    Convert(ConvertArgs),
    /// Make feature rows of local descriptors: Fisher vectors or bags of features
    Encode(Box<EncodeArgs>),
    /// Turn a folder of pictures or videos into features, by a network in ONNX format
    #[cfg_attr(not(feature = "vision"), command(hide = true))]
    Extract(Box<ExtractArgs>),
    /// Turn names and descriptions of classes into semantic vectors, by a text network in ONNX format
    #[cfg_attr(not(feature = "text"), command(hide = true))]
    Describe(Box<DescribeArgs>),
    /// Make a synthetic dataset
    Generate(GenerateArgs),
    /// List, describe, add, remove and rename the classes of a model, or make one known
    #[command(subcommand)]
    Class(ClassCommand),
    /// Make the tables and figures of the paper again, from your copy of the data
    Reproduce(ReproduceArgs),
    /// List the zero-shot methods with their settings and references
    Methods,
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

#[derive(Debug, Default, Args)]
pub(crate) struct DemoArgs {
    /// Names instead of emoji characters [default: where the terminal or its locale has no emoji]
    #[arg(long)]
    pub(crate) plain: bool,
    /// Emoji characters, whatever the terminal says of itself
    #[arg(long, conflicts_with = "plain")]
    pub(crate) emoji: bool,
    /// Write the page with the pictures to this file [default: bidilel-demo.html, with --format text]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) page: Option<PathBuf>,
    /// Write no page
    #[arg(long, conflicts_with = "page")]
    pub(crate) no_page: bool,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

#[derive(Debug, Args)]
pub(crate) struct EvaluateArgs {
    /// A dataset folder, builtin:emoji, builtin:emoji-things, or synthetic:NAME (small, awa, cub, ucf101, hmdb51)
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) dataset: String,
    #[command(flatten)]
    pub(crate) method: MethodArgs,
    #[command(flatten)]
    pub(crate) confidence: ConfidenceArgs,
    /// Runs of every trial, with seeds counting up from --seed
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..),
        help_heading = "Run"
    )]
    pub(crate) repeat: u16,
    /// Also score the right class among the K nearest, and count hubs among them (several: 1,5)
    #[arg(
        long,
        value_name = "K",
        value_delimiter = ',',
        default_value = "1,5",
        value_parser = parse_count,
        help_heading = "Run"
    )]
    pub(crate) top: Vec<usize>,
    /// Write the prediction of every test instance, with its distance to every class: .csv, .json or .parquet
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Run")]
    pub(crate) predictions: Option<PathBuf>,
    /// Write the latent coordinates of the test instances: .npy with a .csv that lists its rows, or one .csv
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Run")]
    pub(crate) latent: Option<PathBuf>,
    /// Write the whole result to a file, too: as its ending says (.json, .csv, .md, .tex, .txt), else as JSON; - is stdout
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Run")]
    pub(crate) out: Option<PathBuf>,
    /// Write the result with the points of the first run as JSON, for `bidilel report`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Report")]
    pub(crate) run_data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TagArgs {
    /// A dataset folder whose `dataset.toml` names `tags`; any other dataset has one label per instance
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) dataset: String,
    #[command(flatten)]
    pub(crate) method: MethodArgs,
    /// Labels that compete: unseen, or all
    #[arg(long, value_enum, value_name = "WHICH", default_value_t = TagCandidates::Unseen, help_heading = "Run")]
    pub(crate) candidates: TagCandidates,
    /// Also score the K best labels of every instance (several: 3,5)
    #[arg(
        long,
        value_name = "K",
        value_delimiter = ',',
        default_value = "3,5",
        value_parser = parse_count,
        help_heading = "Run"
    )]
    pub(crate) top: Vec<usize>,
    /// Make up instances with up to N labels: the features of N instances of one label, averaged, by --seed
    #[arg(long, value_name = "N", value_parser = parse_count, help_heading = "Run")]
    pub(crate) collage: Option<usize>,
}

/// Labels that compete for an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TagCandidates {
    /// Those without training instances
    Unseen,
    /// Known and unseen ones
    All,
}

#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// A dataset folder, builtin:emoji, builtin:emoji-things, or synthetic:NAME (small, awa, cub, ucf101, hmdb51)
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) dataset: String,
    #[command(flatten)]
    pub(crate) method: MethodArgs,
    /// Measure how sure predictions may be, on held-out known classes: for probabilities, --reject and --coverage of
    /// `predict`. FOLDS more fits [default: 3]
    #[arg(
        long,
        value_name = "FOLDS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = DEFAULT_FOLDS,
        value_parser = parse_count,
        help_heading = "Run"
    )]
    pub(crate) calibrate: Option<usize>,
    /// The model file to write
    #[arg(long, value_name = "MODEL", value_hint = ValueHint::FilePath, help_heading = "Run")]
    pub(crate) out: PathBuf,
    /// Write the latent coordinates of the training instances: .npy with a .csv that lists its rows, or one .csv
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Run")]
    pub(crate) latent: Option<PathBuf>,
    /// Keep training instances of every known class in the model, for `explain` to show similar ones: this many, or all
    #[arg(long, value_name = "N", value_parser = parse_kept, help_heading = "Run")]
    pub(crate) keep_instances: Option<usize>,
    /// Put the networks that made features and descriptions into the model, so that it can be moved alone
    #[arg(long, help_heading = "Run")]
    pub(crate) embed_network: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// A dataset folder, builtin:emoji, builtin:emoji-things, or synthetic:NAME (small, awa, cub, ucf101, hmdb51)
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) dataset: String,
    /// Methods, comma-separated: all, inductive, transductive, or names as `bidilel methods` lists them, with settings
    /// and refiners of their own as in eszsl:eszsl-gamma=10 and bidilel:bottom-up=cca+structured
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "all",
        help_heading = "Comparison"
    )]
    pub(crate) methods: Vec<String>,
    /// Choose the settings of every method that are not given, on held-out known classes
    #[arg(long, help_heading = "Comparison")]
    pub(crate) tune: bool,
    /// Times that random known classes are held out [default: 5 in all, of which one is the split's validation classes]
    #[arg(long, value_name = "N", value_parser = parse_count, requires = "tune", help_heading = "Comparison")]
    pub(crate) trials: Option<usize>,
    /// Share of the known classes that is held out, or split: only the split's validation classes [default: 0.2]
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = HeldOut::parse, requires = "tune", help_heading = "Comparison")]
    pub(crate) holdout: Option<HeldOut>,
    /// Stop the choice of each method's settings after a time (30s, 5m, 2h) or a number of evaluations
    #[arg(long, value_name = "BUDGET", value_parser = Budget::parse, requires = "tune", help_heading = "Comparison")]
    pub(crate) budget: Option<Budget>,
    /// Write every finished evaluation to a file as it happens
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Comparison")]
    pub(crate) journal: Option<PathBuf>,
    /// Continue from the journal
    #[arg(long, requires = "journal", help_heading = "Comparison")]
    pub(crate) resume: bool,
    /// Draw the accuracies with their confidence intervals into an SVG file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Comparison")]
    pub(crate) plot: Option<PathBuf>,
    /// Write the whole result to a file, too: as its ending says (.json, .csv, .md, .tex, .txt), else as JSON; - is stdout
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Comparison")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) method: MethodArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SelectArgs {
    /// A dataset folder, or synthetic:NAME (small, awa, cub, ucf101, hmdb51)
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) dataset: String,
    /// Stop after this many views
    #[arg(long, value_name = "N", value_parser = parse_count, help_heading = "Selection")]
    pub(crate) most: Option<usize>,
    /// Stop where no view is left with at least this complementarity, 0 to 0.5
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = parse_threshold, help_heading = "Selection")]
    pub(crate) threshold: Option<f64>,
    /// Also recognize the unseen classes after each addition
    #[arg(long, help_heading = "Selection")]
    pub(crate) evaluate: bool,
    /// Times that random known classes are held out to find the first view [default: 5 in all, of which one is the split's validation classes]
    #[arg(long, value_name = "N", value_parser = parse_count, help_heading = "Selection")]
    pub(crate) trials: Option<usize>,
    /// Share of the known classes that is held out, or split: only the split's validation classes [default: 0.2]
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = HeldOut::parse, help_heading = "Selection")]
    pub(crate) holdout: Option<HeldOut>,
    /// Draw complementarity and accuracy after each addition into an SVG file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Selection")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) method: MethodArgs,
}

/// A model, and what it is asked about.
#[derive(Debug, Clone, Args)]
pub(crate) struct InputArgs {
    /// A model file that `fit` wrote
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) model: PathBuf,
    /// Feature rows: files or patterns such as 'part-*.parquet', whose rows follow each other; for a model of several
    /// views one for each, in its order, or VIEW=FILE in any; - is stdin. Or pictures, videos and folders of them, for a
    /// model that records its network
    #[arg(value_hint = ValueHint::FilePath, required = true, num_args = 1..)]
    pub(crate) features: Vec<String>,
    /// The array in a file that has several; VIEW=KEY for one of several files (may be repeated)
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Vec<String>,
    /// The files have one instance per column
    #[arg(long)]
    pub(crate) transpose: bool,
    /// Columns of a table that are features: names or patterns such as 'f*', comma-separated; VIEW=COLUMNS for one
    /// of several tables (may be repeated) [default: the names that the model was fitted to, else all columns of
    /// numbers that look like features]
    #[arg(long, value_name = "COLUMNS")]
    pub(crate) columns: Vec<String>,
    /// Column of a table that identifies its rows; it is written with every prediction [default: one called so]
    #[arg(long, value_name = "COLUMN", visible_alias = "name-column")]
    pub(crate) id_column: Option<String>,
    /// Column of a table that has labels, and is no feature [default: one called so]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label_column: Option<String>,
    #[command(flatten)]
    pub(crate) pictures: PictureArgs,
}

#[derive(Debug, Args)]
pub(crate) struct EmbedArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// The file to write: .npy with a .csv that lists its rows, or one .csv with everything
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct PredictArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Classes to give for every instance, nearest first
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = parse_count)]
    pub(crate) top: usize,
    /// Refine by the whole batch, comma-separated, in order [default: as fitted]
    #[arg(long, value_name = "POST", value_delimiter = ',', value_parser = named::<PostName>())]
    pub(crate) post: Option<Vec<PostName>>,
    /// Instances per class that self-training takes [default: as fitted]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub(crate) self_training_neighbors: Option<usize>,
    /// Rounds of self-training [default: as fitted]
    #[arg(long, value_name = "N")]
    pub(crate) self_training_rounds: Option<usize>,
    #[command(flatten)]
    pub(crate) asked: AskedArgs,
    /// Neighbors on either side in csls [default: as fitted]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub(crate) csls_neighbors: Option<usize>,
    /// Shares of the classes in this batch, for balanced: CLASS=SHARE, comma-separated, or a .csv or .json file of them
    /// [default: as fitted]
    #[arg(long, value_name = "SHARES", value_delimiter = ',')]
    pub(crate) balanced_prior: Option<Vec<String>>,
    /// How near balanced holds the shares of the classes: 0 free, 1 held [default: as fitted]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) balanced_strength: Option<f64>,
    /// Give every class whose score reaches its threshold, of a model that was fitted to `tags`; none: an empty label
    #[arg(long, conflicts_with = "top")]
    pub(crate) tags: bool,
    /// Leave out pictures that cannot be read and rows with numbers that are not finite, and say which; with --out they
    /// are listed in OUT.skipped.csv
    #[arg(long)]
    pub(crate) skip_bad_rows: bool,
    /// Copy every picture into a subfolder of this folder, called like its label; nothing is replaced
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) copy_to: Option<PathBuf>,
    /// Write to a file instead of standard output, in the format of its ending: .csv, .json, .jsonl, .parquet or .txt
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Rows to explain, counted from 0: numbers and ranges such as 0,5,10..20 [default: all]
    #[arg(long, value_name = "ROWS")]
    pub(crate) rows: Option<String>,
    /// Classes to give for every instance, nearest first
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = parse_count)]
    pub(crate) top: usize,
    /// Nearest known and unseen classes to name
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = parse_count)]
    pub(crate) nearest: usize,
    /// Attributes to name
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = parse_count)]
    pub(crate) attributes: usize,
    /// Similar training instances to name, of a model that keeps some (`fit --keep-instances`)
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = parse_count)]
    pub(crate) instances: usize,
    /// Write to a file instead of standard output: .json, or else text
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// A dataset folder in any readable layout
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) dataset: String,
    /// The folder to write
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,
    /// Write features as float16: half the size
    #[arg(long)]
    pub(crate) float16: bool,
    /// Replace a dataset that is already there
    #[arg(long)]
    pub(crate) overwrite: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    /// Where to write the dataset; several presets or seeds become subfolders of it
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,
    /// The size of the task: small, awa, cub, ucf101 or hmdb51 (several: awa,cub)
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "small")]
    pub(crate) preset: Vec<String>,
    /// Seed of the generator (several: 1,2,3)
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "0")]
    pub(crate) seed: Vec<u64>,
    /// Share of a class's appearance that its description does not explain, 0 to 1
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) semantic_gap: Option<f64>,
    /// How far unseen classes are displaced
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) domain_shift: Option<f64>,
    /// Spread within a class; between classes it is 1
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) spread: Option<f64>,
    /// Share of the instances to make, above 0 and up to 1
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) scale: Option<f64>,
    /// Known classes
    #[arg(long, value_name = "N")]
    pub(crate) known: Option<usize>,
    /// Unseen classes
    #[arg(long, value_name = "N")]
    pub(crate) unseen: Option<usize>,
    /// Write features as float16: half the size
    #[arg(long)]
    pub(crate) float16: bool,
    /// Replace a dataset that is already there
    #[arg(long)]
    pub(crate) overwrite: bool,
}

pub(crate) fn parse_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a whole number of at least 1".to_owned()),
        Ok(count) => Ok(count),
    }
}

/// A number of instances, or all of them.
fn parse_kept(text: &str) -> Result<usize, String> {
    if text == "all" { Ok(usize::MAX) } else { parse_count(text).map_err(|error| format!("{error}, or all")) }
}

fn parse_threshold(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(threshold) if (0.0..=0.5).contains(&threshold) => Ok(threshold),
        _ => Err("expected a number between 0 and 0.5, where complementarity lies".to_owned()),
    }
}

fn parse_format(name: &str) -> Result<Format, String> {
    name.parse()
}
