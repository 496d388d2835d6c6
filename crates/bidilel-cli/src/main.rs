//! The `bidilel` program: see the library of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    bidilel_cli::main_with(std::env::args_os())
}
