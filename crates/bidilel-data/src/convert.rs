//! Any dataset that can be opened, written as a native folder.

use std::path::Path;

use crate::error::Result;
use crate::reading::{Opened, open};
use crate::write::{WriteOptions, write};

/// Opens the dataset at `path`, in whatever layout, and writes it as a folder with a `dataset.toml` at `target`.
///
/// Features are copied row by row, so their size does not matter. The dataset comes back with its notes.
pub fn convert(path: &Path, target: &Path, options: WriteOptions) -> Result<Opened> {
    let opened = open(path)?;
    write(&opened.dataset, target, options)?;
    Ok(opened)
}
