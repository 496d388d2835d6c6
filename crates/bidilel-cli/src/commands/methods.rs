//! `bidilel methods`: the zero-shot methods that `--method` names.

use anyhow::Result;
use bidilel_report::{Format, MethodList};

use crate::output;

pub(super) fn run(format: Format) -> Result<()> {
    let methods = MethodList::new();
    match format {
        Format::Json => output::print_json(&methods),
        _ => output::print_table(&methods.table(), format),
    }
}
