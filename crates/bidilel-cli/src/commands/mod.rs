//! The subcommands, one file each, and the dispatch to them.

mod balance;
mod batch;
mod block;
pub(crate) mod class;
mod compare;
mod completions;
mod convert;
mod copies;
#[cfg(feature = "emoji")]
mod demo;
#[cfg(feature = "text")]
mod describe;
mod embed;
pub(crate) mod encode;
mod evaluate;
mod explain;
mod exported;
#[cfg(feature = "vision")]
mod extract;
mod feature_files;
mod features;
mod fit;
mod generate;
mod inspect;
mod methods;
mod predict;
mod predicted;
pub(crate) mod report;
mod reproduce;
mod row_scan;
mod select;
mod shards;
mod sidecar_ids;
mod tag;
mod tune;

#[cfg(feature = "vision")]
pub(crate) use shards::expanded;

use std::process::ExitCode;

use anyhow::{Context, Result};
use bidilel_report::Format;

use crate::args::{Cli, Command, Common, DemoArgs};
use crate::failure::{hinted, usage};
use crate::output;
use crate::progress::{Progress, Verbosity};

/// Runs the command.
pub(crate) fn run(cli: Cli) -> Result<ExitCode> {
    let Cli { command, common } = cli;
    let command = command.unwrap_or_else(|| Command::Demo(DemoArgs::default()));
    if let Some(threads) = common.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(usize::from(threads))
            .build_global()
            .context("cannot start the threads")?;
    }
    if common.csv_safe {
        output::make_csv_safe();
    }
    let progress = Progress::new(common.verbosity());
    let format = common.format;
    if format == Some(Format::Parquet) && !matches!(command, Command::Predict(_)) {
        let formats = "text, json, jsonl, csv, markdown or latex";
        return Err(usage(format!("only predictions come as parquet: use --format {formats}")));
    }
    match command {
        #[cfg(feature = "emoji")]
        Command::Demo(args) => demo::run(&args, format.unwrap_or_default(), &progress),
        #[cfg(not(feature = "emoji"))]
        Command::Demo(_) => Err(crate::failure::left_out("the data of the demonstration", "emoji")),
        Command::Evaluate(args) => evaluate::run(&args, format.unwrap_or_default(), &progress),
        Command::Fit(args) => fit::run(&args, format.unwrap_or_default(), &progress),
        Command::Tune(args) => tune::run(&args, format.unwrap_or_default(), &progress),
        Command::Compare(args) => compare::run(&args, format.unwrap_or_default(), &progress),
        Command::Select(args) => select::run(&args, format.unwrap_or_default(), &progress),
        Command::Report(args) => report::run(&args, format.unwrap_or_default(), &progress),
        Command::Predict(args) => predict::run(&args, format, &progress),
        Command::Explain(args) => explain::run(&args, format, &progress),
        Command::Tag(args) => tag::run(&args, format.unwrap_or_default(), &progress),
        Command::Embed(args) => embed::run(&args, format.unwrap_or_default(), &progress),
        Command::Inspect { dataset } => return inspect::run(&dataset, format.unwrap_or_default(), &progress),
        Command::Convert(args) => convert::run(&args, format.unwrap_or_default(), &progress),
        Command::Encode(args) => encode::run(&args, format.unwrap_or_default(), &progress),
        #[cfg(feature = "vision")]
        Command::Extract(args) => return extract::run(&args, format.unwrap_or_default(), &progress),
        #[cfg(not(feature = "vision"))]
        Command::Extract(_) => Err(crate::failure::left_out("readers of pictures and videos", "vision")),
        #[cfg(feature = "text")]
        Command::Describe(args) => describe::run(&args, format.unwrap_or_default(), &progress),
        #[cfg(not(feature = "text"))]
        Command::Describe(_) => Err(crate::failure::left_out("text networks", "text")),
        Command::Generate(args) => generate::run(&args, format.unwrap_or_default(), &progress),
        Command::Class(command) => class::run(&command, format.unwrap_or_default(), &progress),
        Command::Reproduce(args) => reproduce::run(&args, format.unwrap_or_default(), &progress),
        Command::Methods => methods::run(format.unwrap_or_default()),
        Command::Completions { shell } => completions::run(shell),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// The error of a folder that is there, for commands that can replace it.
fn replaceable(error: bidilel_data::Error) -> anyhow::Error {
    match error {
        bidilel_data::Error::Exists { .. } => {
            hinted(error, "choose another name, or replace it with `--overwrite`")
        }
        other => other.into(),
    }
}

impl Common {
    fn verbosity(&self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        }
    }
}
