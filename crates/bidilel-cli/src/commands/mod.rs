//! One file a subcommand.

mod class;
mod completions;
mod convert;
mod demo;
pub(crate) mod encode;
mod evaluate;
mod extract;
mod fit;
mod generate;
mod inspect;
mod predict;
mod tune;

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use bidilel_report::Format;

use crate::args::{ClassCommand, Cli, Command, Common, DemoArgs};
use crate::progress::{Progress, Talk};

/// Does what was asked.
pub(crate) fn run(cli: Cli) -> Result<ExitCode> {
    let Cli { command, common } = cli;
    let command = command.unwrap_or_else(|| Command::Demo(DemoArgs::default()));
    if let Some(threads) = common.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(usize::from(threads))
            .build_global()
            .context("cannot start the threads")?;
    }
    let progress = Progress::new(common.talk());
    let format = common.format;
    if format == Some(Format::Parquet) && !matches!(command, Command::Predict(_)) {
        bail!("only predictions come as parquet: use --format text, json, csv, markdown or latex");
    }
    match command {
        Command::Demo(args) => demo::run(&args, format.unwrap_or_default(), &progress),
        Command::Evaluate(args) => evaluate::run(&args, format.unwrap_or_default(), &progress),
        Command::Fit(args) => fit::run(&args, format.unwrap_or_default(), &progress),
        Command::Tune(args) => tune::run(&args, format.unwrap_or_default(), &progress),
        Command::Predict(args) => predict::run(&args, format.unwrap_or(Format::Csv), &progress),
        Command::Inspect { dataset } => return inspect::run(&dataset, format.unwrap_or_default(), &progress),
        Command::Convert(args) => convert::run(&args, format.unwrap_or_default(), &progress),
        Command::Encode(args) => encode::run(&args, format.unwrap_or_default(), &progress),
        Command::Extract(args) => return extract::run(&args, format.unwrap_or_default(), &progress),
        Command::Generate(args) => generate::run(&args, format.unwrap_or_default(), &progress),
        Command::Class(ClassCommand::List { model, nearest }) => {
            class::list(&model, nearest, format.unwrap_or_default())
        }
        Command::Completions { shell } => completions::run(shell),
    }?;
    Ok(ExitCode::SUCCESS)
}

impl Common {
    fn talk(&self) -> Talk {
        match (self.quiet, self.verbose) {
            (true, _) => Talk::Quiet,
            (_, true) => Talk::Verbose,
            _ => Talk::Normal,
        }
    }
}
