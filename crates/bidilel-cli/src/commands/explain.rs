//! `bidilel explain MODEL FEATURES...`: why feature rows are taken for what they are taken for.

use std::ops::Range;

use anyhow::{Result, bail};
use bidilel::Candidates;
use bidilel::dataset::Rows;
use bidilel::explain::{Explainer, Extent};
use bidilel::model::Model;
use bidilel_data::table::Ids;
use bidilel_math::Observer;
use bidilel_report::{ExplainedInstance, Format, IdKind, InstanceName, wrap_lines};
use faer::Mat;

use super::block::Block;
use super::features::Sources;
use super::predict::open_model;
use super::row_scan::Scan;
use crate::args::ExplainArgs;
use crate::failure::usage;
use crate::progress::Progress;
use crate::{output, pictures, terminal};

/// Rows that are recognized at a time.
const BLOCK_ROWS: usize = 256;

pub(super) fn run(args: &ExplainArgs, format: Option<Format>, progress: &Progress) -> Result<()> {
    let formats = [Format::Text, Format::Json];
    let format =
        output::format_for(args.out.as_deref(), format, &formats, "explanations")?.unwrap_or_default();
    args.out.iter().try_for_each(|path| output::check_target(path))?;
    progress.stage("open");
    let model = open_model(&args.input.model)?;
    let instances = pictures::instances(&args.input, &model, false, progress)?;
    let mut sources = Sources::open(&instances.input, &model.views, progress)?;
    let ids = sources.take_ids();
    let rows = args.rows.as_deref().map(|typed| parse_rows(typed, sources.count())).transpose()?;
    let wanted = |row: usize| rows.as_ref().is_none_or(|rows| rows.iter().any(|range| range.contains(&row)));
    let extent = Extent {
        candidates: args.top,
        nearest: args.nearest,
        attributes: args.attributes,
        instances: args.instances,
    };
    let explainer = Explainer::new(&model, model.candidates(), extent);
    explainer.gaps().iter().for_each(|gap| progress.note(gap));
    progress.stage("recognize");
    let mut explained = Vec::new();
    for range in sources.blocks() {
        if !range.clone().any(wanted) {
            continue;
        }
        let block = Block::read(&mut sources, &range, false, &mut Scan::default())?;
        let (found, _) = block.with(|rows, _, numbers| {
            let chosen: Vec<usize> = (0..numbers.len()).filter(|&row| wanted(numbers[row])).collect();
            let mut found = Vec::new();
            for some in chosen.chunks(BLOCK_ROWS) {
                let recognition = model.recognize(stacked(&model, rows, some).as_ref(), Candidates::All)?;
                found.extend(
                    some.iter()
                        .enumerate()
                        .map(|(instance, &row)| (numbers[row], explainer.explain(&recognition, instance))),
                );
            }
            Ok(found)
        })?;
        explained.extend(found.into_iter().map(|(index, explanation)| {
            ExplainedInstance::new(index, ids.as_ref().map(|ids| name_of(ids, index)), explanation)
        }));
    }
    progress.finish();
    print(&explained, args, format)
}

fn name_of(ids: &Ids, index: usize) -> InstanceName {
    let value = ids.values[index].clone();
    match IdKind::of(ids) {
        IdKind::Id => InstanceName::Id(value),
        IdKind::Path => InstanceName::Path(value),
    }
}

fn print(explained: &[ExplainedInstance], args: &ExplainArgs, format: Format) -> Result<()> {
    let text = match format {
        Format::Json => serde_json::to_string_pretty(explained)? + "\n",
        _ => explained.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join("\n"),
    };
    match (&args.out, format) {
        (Some(path), _) if !output::is_stdout(path) => output::write_text(path, &text),
        (_, Format::Json) => output::print_as_is(&text),
        _ => output::print(&(wrap_lines(text.trim_end(), terminal::width()) + "\n")),
    }
}

/// Some rows of all views, stacked: one column per instance.
fn stacked(model: &Model, views: &[(&dyn Rows, &str)], rows: &[usize]) -> Mat<f32> {
    let mut raw = Mat::zeros(model.views.dim(), rows.len());
    for (column, &row) in rows.iter().enumerate() {
        let mut rest = raw.col_as_slice_mut(column);
        for (view, _) in views {
            let (own, after) = rest.split_at_mut(view.dim());
            view.read(row, own);
            rest = after;
        }
    }
    raw
}

/// `0,5,10..20`: numbers and ranges, of which the last is not part.
fn parse_rows(typed: &str, count: usize) -> Result<Vec<Range<usize>>> {
    let wrong = || usage(format!("--rows takes numbers and ranges such as 0,5,10..20, found `{typed}`"));
    let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
    let mut ranges = Vec::new();
    for part in typed.split(',') {
        let range = match part.split_once("..") {
            None => number(part).map(|row| row..row.saturating_add(1))?,
            Some((first, "")) => number(first)?..count,
            Some((first, last)) => number(first)?..number(last)?,
        };
        if range.is_empty() || range.end > count {
            bail!("--rows {typed}: there are {count} rows, counted from 0");
        }
        ranges.push(range);
    }
    Ok(ranges)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_numbers_and_ranges() {
        assert_eq!(parse_rows("0,5, 7..9,8..", 10).unwrap(), [0..1, 5..6, 7..9, 8..10]);
        for wrong in ["", "x", "3..2", "10", "0..11", "-1"] {
            assert!(parse_rows(wrong, 10).is_err(), "{wrong}");
        }
    }
}
