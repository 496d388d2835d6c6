//! Output: stdout, or a file that is written atomically.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, bail};
use bidilel_data::text::spreadsheet_safe;
use bidilel_data::write_atomically;
use bidilel_report::{Format, SCHEMA_VERSION, Table, VERSION, visible_lines};

use crate::failure::usage;
use crate::terminal;

/// Whether text cells of CSV files are escaped against spreadsheets: one option for all of them.
static CSV_SAFE: AtomicBool = AtomicBool::new(false);

/// Extensions of formats that are neither a table nor a JSON object.
const OTHER_ENDINGS: [&str; 16] = [
    "png",
    "jpg",
    "jpeg",
    "gif",
    "pdf",
    "svg",
    "html",
    "htm",
    "toml",
    "yaml",
    "yml",
    "npy",
    "npz",
    "xlsx",
    "tsv",
    "safetensors",
];

/// From here on text cells of CSV files that begin like a formula get an apostrophe.
pub(crate) fn make_csv_safe() {
    CSV_SAFE.store(true, Ordering::Relaxed);
}

/// Whether [`make_csv_safe`] was asked for.
pub(crate) fn is_csv_safe() -> bool {
    CSV_SAFE.load(Ordering::Relaxed)
}

/// A text cell of a CSV file.
pub(crate) fn csv_cell(cell: &str) -> Cow<'_, str> {
    if is_csv_safe() { spreadsheet_safe(cell) } else { Cow::Borrowed(cell) }
}

/// Runs `write` on stdout, which `-` stands for too, or on a temporary file that is then renamed to `path`.
pub(crate) fn write_to(path: Option<&Path>, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    // What was read may have changed until the last byte was computed.
    let write = |out: &mut dyn Write| write(out).and_then(|()| Ok(bidilel_data::check_unchanged()?));
    let Some(path) = path.filter(|path| !is_stdout(path)) else {
        let mut stdout = io::BufWriter::new(io::stdout().lock());
        let written = write(&mut stdout).and_then(|()| Ok(stdout.flush()?));
        let name = |error: anyhow::Error| error.context("cannot write to standard output");
        return written.map_err(|error| if error.is::<io::Error>() { name(error) } else { error });
    };
    // `write_atomically` takes I/O errors only; other failures are carried around it.
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

/// Writes text to a file.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<()> {
    write_to(Some(path), |out| Ok(out.write_all(text.as_bytes())?))
}

/// Prints text for a person on stdout: names in it may hold anything, but do nothing to a terminal.
pub(crate) fn print(text: &str) -> Result<()> {
    print_as_is(&terminal::shown(&visible_lines(text)))
}

/// A result with the version that made it.
#[derive(serde::Serialize)]
struct Versioned<'a, T> {
    #[serde(flatten)]
    result: &'a T,
    version: &'static str,
    schema_version: u32,
}

impl<'a, T: serde::Serialize> Versioned<'a, T> {
    fn new(result: &'a T) -> Self {
        Self { result, version: VERSION, schema_version: SCHEMA_VERSION }
    }
}

/// One JSON object with the program's version and that of its keys, as text.
pub(crate) fn json(result: &impl serde::Serialize) -> Result<String> {
    Ok(serde_json::to_string_pretty(&Versioned::new(result))? + "\n")
}

/// The same on one line.
pub(crate) fn json_line(result: &impl serde::Serialize) -> Result<String> {
    Ok(serde_json::to_string(&Versioned::new(result))? + "\n")
}

/// A result with the dataset that it is about.
#[derive(serde::Serialize)]
struct About<'a, T> {
    dataset: &'a str,
    #[serde(flatten)]
    result: &'a T,
}

/// Prints one JSON object on stdout that begins with the name of its dataset.
pub(crate) fn print_json_about(dataset: &str, result: &impl serde::Serialize) -> Result<()> {
    print_json(&About { dataset, result })
}

/// Prints one JSON object on stdout.
pub(crate) fn print_json(result: &impl serde::Serialize) -> Result<()> {
    print_as_is(&json(result)?)
}

/// Prints a table on stdout.
pub(crate) fn print_table(table: &Table, format: Format) -> Result<()> {
    match format {
        Format::Text => print(&table.text(terminal::width())),
        _ => print_as_is(&rendered(table, format)),
    }
}

/// A table in a format, its text cells escaped against spreadsheets where that was asked for.
pub(crate) fn rendered(table: &Table, format: Format) -> String {
    if format != Format::Csv || !is_csv_safe() {
        return table.render(format);
    }
    let mut safe = table.clone();
    safe.rows.iter_mut().flatten().for_each(|cell| *cell = csv_cell(cell).into_owned());
    safe.render(format)
}

/// Prints what programs read.
pub(crate) fn print_as_is(text: &str) -> Result<()> {
    write_to(None, |out| Ok(out.write_all(text.as_bytes())?))
}

/// Whether a file's name stands for stdout.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Fails for `-` where several files are written, or one that is read again: `what` needs a name.
pub(crate) fn need_name(path: &Path, what: &str) -> Result<()> {
    if is_stdout(path) {
        Err(usage(format!("{what} cannot go to standard output: give it a name")))
    } else {
        Ok(())
    }
}

/// Fails at once where a file could not be written after the work is done.
pub(crate) fn check_target(path: &Path) -> Result<()> {
    check_room(path, 0)
}

/// As [`check_target`], for a file of about this many bytes.
pub(crate) fn check_room(path: &Path, bytes: usize) -> Result<()> {
    if is_stdout(path) { Ok(()) } else { Ok(bidilel_data::probe(path, bytes as u64)?) }
}

/// Fails unless a file has one of these endings, or none that is known: `what` is written to it.
pub(crate) fn check_ending(path: &Path, endings: &[&str], what: &str) -> Result<()> {
    let Some(ending) = ending(path) else { return Ok(()) };
    let known = OTHER_ENDINGS.contains(&ending.as_str()) || Format::of_ending(&ending).is_some();
    if known && !endings.contains(&ending.as_str()) {
        let allowed = endings.iter().map(|ending| format!(".{ending}")).collect::<Vec<_>>();
        let allowed =
            if allowed.is_empty() { "under another ending".to_owned() } else { allowed.join(" or ") };
        return Err(usage(format!("`{}`: {what} is written as {allowed}, not as .{ending}", path.display())));
    }
    Ok(())
}

/// The format of a file: that of its ending, which must not contradict the one that was typed.
pub(crate) fn format_for(
    path: Option<&Path>,
    typed: Option<Format>,
    allowed: &[Format],
    what: &str,
) -> Result<Option<Format>> {
    let list = |formats: &[Format]| formats.iter().map(Format::to_string).collect::<Vec<_>>().join(", ");
    if let Some(format) = typed.filter(|format| !allowed.contains(format)) {
        return Err(usage(format!("{what} come as {}, not as {format}", list(allowed))));
    }
    let Some((path, ending)) = path.and_then(|path| Some((path, ending(path)?))) else { return Ok(typed) };
    let by_ending = Format::of_ending(&ending);
    match (by_ending, typed) {
        (Some(format), _) if !allowed.contains(&format) => {
            Err(usage(format!("`{}`: {what} come as {}, not as {format}", path.display(), list(allowed))))
        }
        (Some(format), Some(typed)) if format != typed => Err(usage(format!(
            "`{}`: the ending asks for {format}, --format for {typed}: give one of them",
            path.display()
        ))),
        (None, None) if OTHER_ENDINGS.contains(&ending.as_str()) => {
            Err(usage(format!("`{}`: {what} come as {}, not as {ending}", path.display(), list(allowed))))
        }
        (by_ending, typed) => Ok(by_ending.or(typed)),
    }
}

fn ending(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

/// Fails unless the format is text or JSON, for results that are no table.
pub(crate) fn text_or_json(format: Format) -> Result<()> {
    match format {
        Format::Text | Format::Json => Ok(()),
        other => bail!(usage(format!("this result comes as text or json, not as {other}"))),
    }
}
