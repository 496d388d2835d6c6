//! `bidilel class list MODEL`: the classes of a model and the known classes nearest to each.

use std::path::Path;

use anyhow::Result;
use bidilel_report::{ClassList, Format};

use super::predict::open_model;
use crate::output;

pub(super) fn list(path: &Path, nearest: usize, format: Format) -> Result<()> {
    let classes = ClassList::of(&open_model(path)?, nearest)?;
    match format {
        Format::Json => output::print_json(&classes),
        _ => output::print_table(&classes.table(), format),
    }
}
