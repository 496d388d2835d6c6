//! The `bidilel` program: zero-shot recognition from the command line.
//!
//! Arguments are parsed ([`args`]), resolved into what they mean ([`method`]), and handed to one file a
//! subcommand ([`commands`]). Results go to stdout, everything else to stderr.

mod args;
mod commands;
mod demonstration;
mod extraction;
mod failure;
mod latent;
mod memory;
mod method;
mod output;
mod progress;
mod source;
mod tuning;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    memory::keep_little();
    let cli = args::Cli::parse();
    match commands::run(cli) {
        Ok(status) => status,
        Err(error) => failure::report(&error),
    }
}
