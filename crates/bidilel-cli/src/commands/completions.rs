//! `bidilel completions SHELL`: a completion script on stdout.

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::output;

pub(super) fn run(shell: Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "bidilel", &mut script);
    output::write_to(None, |out| Ok(out.write_all(&script)?))
}
