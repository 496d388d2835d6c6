//! The program itself, for the command that the package installs.

use std::ffi::OsString;
use std::process::ExitCode;

use pyo3::prelude::*;

/// Runs the program `bidilel` with these arguments, of which the first is its name, and returns its exit status.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    let status = py.detach(|| bidilel_cli::main_with(arguments));
    // A status does not say its number.
    (0..=u8::MAX).find(|&number| ExitCode::from(number) == status).unwrap_or(1)
}
