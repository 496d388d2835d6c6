//! The `bidilel` program: zero-shot recognition from the command line.
//!
//! Arguments are parsed ([`args`]), resolved into what they mean ([`method`]), and run by one file per
//! subcommand ([`commands`]). Results go to stdout, everything else to stderr.

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

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    memory::limit_retained();
    if let Some(version) = version::answer(std::env::args_os()) {
        return output::print(&version).map_or_else(|error| failure::report(&error), |()| ExitCode::SUCCESS);
    }
    signals::install();
    let cli = args::Cli::parse();
    // Nothing is computed with other instructions than those that were asked for.
    if let Err(error) = bidilel_math::simd::Level::requested() {
        return failure::report(&failure::usage(error));
    }
    match commands::run(cli) {
        Ok(status) => status,
        Err(error) => failure::report(&error),
    }
}
