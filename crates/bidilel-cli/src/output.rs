//! Where results go: stdout, or a file that appears whole or not at all.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};
use bidilel_data::write_atomically;

/// Runs `write` on stdout, or on a temporary file that is then renamed to `path`.
pub(crate) fn write_to(path: Option<&Path>, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let Some(path) = path else {
        let mut stdout = io::BufWriter::new(io::stdout().lock());
        write(&mut stdout)?;
        return stdout.flush().context("cannot write to standard output");
    };
    // The file's writer speaks of input and output only; what else goes wrong inside is carried around it.
    let mut failure = None;
    let written = write_atomically(path, |file| {
        write(file).map_err(|error| {
            failure = Some(error);
            io::Error::other("the results could not be made")
        })
    });
    match (failure, written) {
        (Some(error), _) if error.is::<io::Error>() => {
            Err(error.context(format!("`{}`: cannot be written", path.display())))
        }
        (Some(error), _) => Err(error),
        (None, written) => Ok(written?),
    }
}

/// Prints text on stdout.
pub(crate) fn print(text: &str) -> Result<()> {
    write_to(None, |out| Ok(out.write_all(text.as_bytes())?))
}

/// Prints one JSON value on stdout.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<()> {
    print(&(serde_json::to_string_pretty(value)? + "\n"))
}
