//! Files that are named on the command line and read whole; `-` is standard input.

use std::io;
use std::path::Path;

use anyhow::{Context, Result};
use bidilel::settings::{TABLE, setting};
use bidilel_data::{FileBytes, closest};
use serde_json::{Map, Value};

use crate::failure::hinted;

/// Whether a file name means standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// What standard input is called in messages.
pub(crate) const STDIN: &str = "standard input";

/// The bytes of a file.
pub(crate) fn bytes(path: &Path) -> Result<FileBytes> {
    if is_stdin(path) {
        Ok(bidilel_data::read_all(Path::new(STDIN), io::stdin().lock())?)
    } else {
        Ok(bidilel_data::map(path)?)
    }
}

/// The text of a file.
pub(crate) fn text(path: &Path) -> Result<String> {
    let bytes = bytes(path)?;
    let text =
        std::str::from_utf8(&bytes).with_context(|| format!("`{}`: is not UTF-8 text", path.display()))?;
    Ok(text.to_owned())
}

/// A table of settings by name, in TOML, or in JSON by the file's ending; names may have `-` for `_`.
pub(crate) fn table_of_settings(path: &Path, what: &str) -> Result<Map<String, Value>> {
    let name = path.display();
    let text = match text(path) {
        // An empty file is a table without settings.
        Err(error) if is_empty(&error) => String::new(),
        text => text?,
    };
    let json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    let table: Map<String, Value> = if json {
        serde_json::from_str(&text).with_context(|| format!("`{name}`: not {what}"))?
    } else {
        toml::from_str(&text).with_context(|| format!("`{name}`: not {what}"))?
    };
    let table: Map<String, Value> =
        table.into_iter().map(|(key, value)| (key.replace('-', "_"), value)).collect();
    let is_known = |key: &str| setting(key).is_some() || key == "normalize_embedding";
    match table.keys().find(|key| !is_known(key)) {
        Some(key) => {
            let message = format!("`{name}`: there is no setting `{key}`");
            let known: Vec<String> = TABLE.iter().map(|row| row.name.to_owned()).collect();
            let near = closest(key, &known).map(|near| format!("did you mean `{near}`?"));
            Err(hinted(message, near.unwrap_or_else(|| format!("settings are {}", known.join(", ")))))
        }
        None => Ok(table),
    }
}

fn is_empty(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(bidilel_data::Error::Empty { .. }))
}
