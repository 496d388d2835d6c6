//! Arguments of `bidilel reproduce`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::args::parse_count;

/// Instances and features of a stand-in, as a share of the real ones, unless it is said otherwise.
pub(crate) const STAND_IN_SCALE: f64 = 0.05;

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct ReproduceArgs {
    /// Tables to make: names that --list has, all, or files of your own in the same form (.toml)
    #[arg(value_name = "TABLE", value_hint = ValueHint::FilePath)]
    pub(crate) tables: Vec<String>,
    /// List the tables and figures of the paper
    #[arg(long)]
    pub(crate) list: bool,
    /// Print the file of a table instead, as a start for one of your own
    #[arg(long, conflicts_with = "list")]
    pub(crate) show: bool,
    /// The folder with a folder per dataset: awa, cub, ucf101, hmdb51; cells whose data are missing say what to get
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Data")]
    pub(crate) data: Option<PathBuf>,
    /// Generated data of the sizes of the real ones, instead of these: to try a table before the data are there
    #[arg(long, conflicts_with = "data", help_heading = "Data")]
    pub(crate) stand_ins: bool,
    /// Instances and features of the stand-ins, as a share of the real ones, above 0 and up to 1 [default: 0.05]
    #[arg(long, value_name = "X", requires = "stand_ins", value_parser = parse_scale, help_heading = "Data")]
    pub(crate) scale: Option<f64>,
    /// The folder to write to: every table as .txt, .md, .tex, .csv and .json, curves as .csv, .svg and .png, and the journal
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Run")]
    pub(crate) out: Option<PathBuf>,
    /// Continue from the journal in the --out folder; tables that share computations share them there
    #[arg(long, requires = "out", help_heading = "Run")]
    pub(crate) resume: bool,
    /// At most so many divisions of the classes, instead of the paper's 30
    #[arg(long, value_name = "N", value_parser = parse_count, help_heading = "Run")]
    pub(crate) splits: Option<usize>,
    /// At most so many folds of the known classes, by which settings are chosen; with 0 there is no search, and every cell has the
    /// default settings
    #[arg(long, value_name = "N", help_heading = "Run")]
    pub(crate) folds: Option<usize>,
    /// At most so many random starts, instead of the paper's five
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Run")]
    pub(crate) starts: Option<u16>,
    /// Seed of folds, of divisions that are drawn, of stand-ins and of the first start
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Run")]
    pub(crate) seed: u64,
}

fn parse_scale(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(scale) if scale > 0.0 && scale <= 1.0 => Ok(scale),
        _ => Err("expected a share above 0 and up to 1".to_owned()),
    }
}
