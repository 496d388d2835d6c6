//! `bidilel report RUN.json… --out report.html`: results that other commands printed, as one page.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use bidilel_math::Observer;
use bidilel_report::{Format, Report, ReportError, WrittenReport};
use clap::{Args, ValueHint};

use crate::failure::{hinted, usage};
use crate::progress::Progress;
use crate::reported::PlotArgs;
use crate::{input, output};

#[derive(Debug, Args)]
pub(crate) struct ReportCommandArgs {
    /// Results as JSON: what evaluate, demo, tune, select and compare print with --format json, or what evaluate
    /// --run-data wrote, which has the points of the map as well; - is stdin
    #[arg(value_name = "RUN", value_hint = ValueHint::FilePath, required = true, num_args = 1..)]
    results: Vec<PathBuf>,
    /// The page to write; - is stdout
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, required_unless_present = "folder")]
    out: Option<PathBuf>,
    #[command(flatten)]
    plots: PlotArgs,
}

pub(super) fn run(args: &ReportCommandArgs, format: Format, progress: &Progress) -> Result<()> {
    output::text_or_json(format)?;
    if args.results.iter().filter(|path| input::is_stdin(path)).count() > 1 {
        return Err(usage("standard input can be read once"));
    }
    if let Some(path) = &args.out {
        output::check_ending(path, &["html", "htm"], "a page")?;
        output::check_target(path)?;
    }
    args.plots.check()?;
    progress.stage("report");
    let mut report = Report::default();
    args.results.iter().try_for_each(|path| add(&mut report, path))?;
    let page = report.html();
    if let Some(path) = &args.out {
        output::write_text(path, &page)?;
    }
    let plots = args.plots.write(&report, progress)?;
    progress.finish();
    if args.out.as_ref().is_some_and(|path| output::is_stdout(path)) {
        return Ok(());
    }
    let written =
        WrittenReport { report: args.out.clone(), bytes: page.len(), results: args.results.len(), plots };
    if format == Format::Json { output::print_json(&written) } else { output::print(&written.text()) }
}

fn add(report: &mut Report, path: &Path) -> Result<()> {
    let name = path.display();
    let value = serde_json::from_str(&input::text(path)?)
        .with_context(|| format!("`{name}`: is not JSON; results are printed with --format json"))?;
    report.add(value, None).map_err(|error| match error {
        ReportError::Unknown { .. } => hinted(
            format!("`{name}`: {error}"),
            "results are printed with --format json, or written by evaluate --run-data FILE",
        ),
        other @ ReportError::Malformed { .. } => anyhow!("`{name}`: {other}"),
    })
}
