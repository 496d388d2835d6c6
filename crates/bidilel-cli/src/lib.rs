//! The `bidilel` program as a library: zero-shot recognition from the command line, and what other front ends share with it.
//!
//! Arguments are parsed (`args`), resolved into what they mean (`method`), and run by one file per
//! subcommand (`commands`). Results go to stdout, everything else to stderr. [`main_with`] is the whole program; the
//! Python package installs the command `bidilel` by it, opens datasets by [`open_dataset`] and makes tables by [`reproduce`], so that names, messages and
//! notes are the same.

mod args;
mod commands;
mod confidence;
#[cfg(feature = "emoji")]
mod demonstration;
mod extraction;
mod failure;
mod hints;
mod input;
mod latent;
mod memory;
mod method;
mod networks;
mod options;
mod output;
mod pictures;
mod progress;
mod reported;
mod reproduction;
mod shares;
mod signals;
mod source;
mod splits;
mod terminal;
mod texts;
mod tuning;
mod version;

use std::ffi::OsString;
use std::process::ExitCode;

use bidilel::Dataset;
use bidilel_data::Inspection;
use bidilel_math::Observer;
use bidilel_report::Reproduction;
use clap::Parser;

pub use reproduction::{CellTrial, Host, ListedExperiment, Origin, ReproductionOptions};

/// Runs the program with these arguments, of which the first is its name, and gives its exit status.
pub fn main_with(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    memory::limit_retained();
    if let Some(version) = version::answer(arguments.iter().cloned()) {
        return output::print(&version).map_or_else(|error| failure::report(&error), |()| ExitCode::SUCCESS);
    }
    signals::install();
    let cli = match args::Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(answer) => return answered(&answer),
    };
    // Nothing is computed with other instructions than those that were asked for.
    if let Err(error) = bidilel_math::simd::Level::requested() {
        return failure::report(&failure::usage(error));
    }
    match commands::run(cli) {
        Ok(status) => status,
        Err(error) => failure::report(&error),
    }
}

/// Help and versions go to stdout, mistakes to stderr; the status is clap's.
fn answered(answer: &clap::Error) -> ExitCode {
    // A closed output is no reason to fail.
    let _ = answer.print();
    u8::try_from(answer.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Opens what a user names: a folder, `builtin:NAME` or `synthetic:PRESET`; `seed` is that of a synthetic dataset.
///
/// # Errors
/// Those that the program reports for such a dataset.
pub fn open_dataset(dataset: &str, seed: u64, watch: &dyn Observer) -> anyhow::Result<Dataset> {
    source::open(dataset, seed, watch)
}

/// Describes what a user names, and what is wrong with it.
///
/// # Errors
/// A built-in or synthetic dataset that does not exist, and that the observer cancelled; what is wrong with a folder is part of the
/// description.
pub fn inspect_dataset(dataset: &str, watch: &dyn Observer) -> anyhow::Result<Inspection> {
    source::inspect(dataset, watch)
}

/// Makes tables of the paper, by their names (`all` stands for all of them), or of files of the same form.
///
/// # Errors
/// Those that `bidilel reproduce` reports; a cell that fails is a cell that says so.
pub fn reproduce(
    tables: &[String],
    options: &ReproductionOptions,
    host: &dyn Host,
) -> anyhow::Result<Vec<Reproduction>> {
    reproduction::make(&reproduction::named(tables)?, options, host)
}

/// What to do about a failure of [`open_dataset`], [`inspect_dataset`] or [`reproduce`], where there is something to say.
pub fn hint(error: &anyhow::Error) -> Option<String> {
    failure::hint_of(error)
}
