//! `bidilel inspect DATASET`: what is there, and what is wrong with it.

use std::process::ExitCode;

use anyhow::Result;
use bidilel_math::Observer;
use bidilel_report::{Format, InspectionReport};

use crate::progress::Progress;
use crate::{output, source, terminal};

/// Prints the inspection; the status is 1 if a problem is an error.
pub(super) fn run(dataset: &str, format: Format, progress: &Progress) -> Result<ExitCode> {
    progress.stage("inspect");
    let found = source::inspect(dataset, progress)?;
    progress.finish();
    let report = InspectionReport::new(found);
    match format {
        Format::Json => output::print_json(&report)?,
        Format::Text => output::print(&report.text(terminal::width()))?,
        _ => output::print_table(&report.problems_table(), format)?,
    }
    Ok(if report.inspection.has_errors() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
