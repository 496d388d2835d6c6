//! `bidilel inspect DATASET`: what is there, and what is wrong with it.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use bidilel::synthetic::Synthetic;
use bidilel_data::Inspection;
use bidilel_data::check::{self, Distribution, Histogram, Severity};
use bidilel_data::table::{ColumnRole, TableRoles};
use bidilel_math::Observer;
use bidilel_report::{Align, Format, Table, visible};

use crate::progress::Progress;
use crate::{output, source};

/// Prints the inspection; the status is 1 if a problem is an error.
pub(super) fn run(dataset: &str, format: Format, progress: &Progress) -> Result<ExitCode> {
    progress.stage("inspect");
    let found = match dataset.split_once(':') {
        Some(("synthetic", preset)) => check::inspect_dataset(&Synthetic::preset(preset)?.generate(0)?),
        Some(("builtin", name)) => check::inspect_dataset(&source::builtin(name)?),
        _ => bidilel_data::inspect(Path::new(dataset)),
    };
    progress.finish();
    match format {
        Format::Json => output::print_json(&found)?,
        Format::Text => output::print(&text(&found))?,
        _ => output::print_table(&problems(&found), format)?,
    }
    Ok(if found.has_errors() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn text(found: &Inspection) -> String {
    let name = visible(&found.name);
    let mut text = format!("{name}: {} instances of {} classes\n", found.instances, found.classes);
    if let Some(histogram) = &found.balance.histogram {
        let _ = write!(text, "\ninstances of a class\n{}", bars(histogram, 0));
    }
    for table in [visual(found), semantic(found), splits(found)] {
        if !table.rows.is_empty() {
            let _ = write!(text, "\n{}", output::text_table(&table));
        }
    }
    for table in &found.tables {
        let _ = write!(text, "\ncolumns of {} ({})\n{}", table.file, table.part, columns(table));
    }
    for (name, summary) in &found.visual.0 {
        if let Some(histogram) = &summary.norm_histogram {
            let _ = write!(text, "\nnorms of the rows of {}\n{}", visible(name), bars(histogram, 2));
        }
    }
    text.push('\n');
    for problem in &found.problems {
        let (place, message) = (visible(&problem.place), visible(&problem.message));
        let line = format!("{}: {place}: {message}", severity(problem.severity));
        let _ = writeln!(text, "{}", output::wrapped(&line));
        if let Some(hint) = &problem.hint {
            let _ = writeln!(text, "  hint: {}", visible(hint));
        }
    }
    let count = |wanted| found.problems.iter().filter(|problem| problem.severity == wanted).count();
    let _ = writeln!(text, "{} errors, {} warnings", count(Severity::Error), count(Severity::Warning));
    text
}

fn visual(found: &Inspection) -> Table {
    let mut table = Table::new(&[
        ("visual", Align::Left),
        ("rows", Align::Right),
        ("dimensions", Align::Right),
        ("type", Align::Left),
        ("values", Align::Right),
        ("zeros", Align::Right),
        ("norms", Align::Right),
        ("constant", Align::Right),
    ]);
    for (name, summary) in &found.visual.0 {
        let value = |value: Option<f32>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
        table.push(vec![
            name.clone(),
            summary.instances.to_string(),
            summary.dimensions.to_string(),
            summary.element.to_owned(),
            format!("{} to {}", value(summary.minimum), value(summary.maximum)),
            percent(summary.sparsity),
            spread(summary.norms.as_ref()),
            summary.constant_dimensions.to_string(),
        ]);
    }
    table
}

fn semantic(found: &Inspection) -> Table {
    let mut table = Table::new(&[
        ("semantic", Align::Left),
        ("dimensions", Align::Right),
        ("metric", Align::Left),
        ("values", Align::Right),
        ("zeros", Align::Right),
        ("norms", Align::Right),
        ("distance", Align::Right),
    ]);
    for (name, summary) in &found.semantic.0 {
        table.push(vec![
            name.clone(),
            summary.dimensions.to_string(),
            format!("{:?}", summary.metric).to_lowercase(),
            format!("{:.3} to {:.3}", summary.minimum, summary.maximum),
            percent(summary.sparsity),
            spread(summary.norms.as_ref()),
            summary.median_distance.map_or("-".to_owned(), |distance| format!("{distance:.3}")),
        ]);
    }
    table
}

fn splits(found: &Inspection) -> Table {
    let mut table = Table::new(&[
        ("split", Align::Left),
        ("kind", Align::Left),
        ("trials", Align::Right),
        ("known", Align::Right),
        ("unseen", Align::Right),
        ("validation", Align::Right),
        ("training", Align::Right),
        ("test", Align::Right),
        ("test of known", Align::Right),
    ]);
    for (name, summary) in &found.splits.0 {
        table.push(vec![
            name.clone(),
            summary.kind.to_owned(),
            summary.trials.to_string(),
            summary.known.to_string(),
            summary.unseen.to_string(),
            summary.validation.to_string(),
            summary.train.to_string(),
            summary.test_unseen.to_string(),
            summary.test_seen.map_or("-".to_owned(), |count| count.to_string()),
        ]);
    }
    table
}

/// What every column was taken for; columns in a row that have the same role share a line.
fn columns(found: &TableRoles) -> String {
    let mut table = Table::new(&[("columns", Align::Left), ("role", Align::Left), ("", Align::Left)]);
    for run in found.columns.chunk_by(|one, next| (one.role, one.reason) == (next.role, next.reason)) {
        let name = |column: &ColumnRole| match column.column.as_str() {
            "" => "(no name)".to_owned(),
            name => name.to_owned(),
        };
        let names = match run {
            [one] => name(one),
            [first, last] => format!("{}, {}", name(first), name(last)),
            [first, .., last] => format!("{} ... {} ({})", name(first), name(last), run.len()),
            [] => continue,
        };
        let reason = run[0].reason.unwrap_or_default().to_owned();
        table.push(vec![names, run[0].role.name().to_owned(), reason]);
    }
    table.render(Format::Text)
}

fn problems(found: &Inspection) -> Table {
    let mut table = Table::new(&[
        ("severity", Align::Left),
        ("where", Align::Left),
        ("message", Align::Left),
        ("hint", Align::Left),
    ]);
    for problem in &found.problems {
        table.push(vec![
            severity(problem.severity).to_owned(),
            problem.place.clone(),
            problem.message.clone(),
            problem.hint.clone().unwrap_or_default(),
        ]);
    }
    table
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// A histogram as one bar a bin.
fn bars(histogram: &Histogram, decimals: usize) -> String {
    const WIDTH: usize = 40;
    let largest = histogram.counts.iter().copied().max().unwrap_or(0).max(1);
    let mut table =
        Table::new(&[("from", Align::Right), ("to", Align::Right), ("", Align::Left), ("", Align::Right)]);
    for (edges, &count) in histogram.edges.windows(2).zip(&histogram.counts) {
        // A bin with anything in it shows at least a sliver.
        let length = (count * WIDTH).div_ceil(largest);
        table.push(vec![
            format!("{:.decimals$}", edges[0]),
            format!("{:.decimals$}", edges[1]),
            "\u{2588}".repeat(length),
            count.to_string(),
        ]);
    }
    output::text_table(&table)
}

fn spread(norms: Option<&Distribution>) -> String {
    norms.map_or("-".to_owned(), |n| format!("{:.3} / {:.3} / {:.3}", n.minimum, n.median, n.maximum))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
