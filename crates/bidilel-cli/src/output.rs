//! Where results go: stdout, or a file that appears whole or not at all.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Result, bail};
use bidilel_data::write_atomically;
use bidilel_report::{Format, SCHEMA_VERSION, VERSION};

/// Runs `write` on stdout, or on a temporary file that is then renamed to `path`.
pub(crate) fn write_to(path: Option<&Path>, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let Some(path) = path else {
        let mut stdout = io::BufWriter::new(io::stdout().lock());
        let written = write(&mut stdout).and_then(|()| Ok(stdout.flush()?));
        let name = |error: anyhow::Error| error.context("cannot write to standard output");
        return written.map_err(|error| if error.is::<io::Error>() { name(error) } else { error });
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

/// A result with what made it.
#[derive(serde::Serialize)]
struct Versioned<'a, T> {
    #[serde(flatten)]
    result: &'a T,
    version: &'static str,
    schema_version: u32,
}

/// One JSON object with the program's version and that of its keys, as text.
pub(crate) fn json(result: &impl serde::Serialize) -> Result<String> {
    let versioned = Versioned { result, version: VERSION, schema_version: SCHEMA_VERSION };
    Ok(serde_json::to_string_pretty(&versioned)? + "\n")
}

/// Prints one JSON object on stdout.
pub(crate) fn print_json(result: &impl serde::Serialize) -> Result<()> {
    print(&json(result)?)
}

/// Fails at once where a file could not be written after the work is done.
pub(crate) fn check_target(path: &Path) -> Result<()> {
    if path.is_dir() {
        bail!("`{}`: expected a file to write, found a folder", path.display());
    }
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() && !parent.is_dir() => {
            bail!("`{}`: there is no folder `{}` to write it into", path.display(), parent.display())
        }
        _ => Ok(()),
    }
}

/// Fails unless the format is text or JSON, for results that are no table.
pub(crate) fn text_or_json(format: Format) -> Result<()> {
    match format {
        Format::Text | Format::Json => Ok(()),
        other => bail!("this result comes as text or json, not as {other}"),
    }
}
