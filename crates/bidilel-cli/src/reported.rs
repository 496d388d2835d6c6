//! `--report FILE` and `--plots DIR`: a result as one page, and its charts as files.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use bidilel::evaluate::Finished;
use bidilel_math::Observer;
use bidilel_report::{Chart, Report, RunData, Theme, VERSION};
use clap::{Args, ValueEnum, ValueHint};
use serde::Serialize;
use serde_json::Value;

use crate::output;
use crate::progress::Progress;

/// More than most pages take; one may have 5 MB.
const PAGE_BYTES: usize = 1 << 20;
/// Bytes of all pictures on one page; beyond them, some at equal steps are shown.
#[cfg(feature = "emoji")]
const MAX_PICTURE_BYTES: usize = 2 << 20;

/// Where a result is drawn, besides being printed.
#[derive(Debug, Default, Clone, Args)]
pub(crate) struct ReportArgs {
    /// Write the result as one HTML page with charts, tables, settings and the command line; it needs no network
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Report")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) plots: PlotArgs,
}

/// Where charts are written.
#[derive(Debug, Default, Clone, Args)]
pub(crate) struct PlotArgs {
    /// Write every chart of the result into a folder, as SVG and PNG
    #[arg(long = "plots", value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Report")]
    pub(crate) folder: Option<PathBuf>,
    /// Colors of the charts
    #[arg(
        long = "plot-theme",
        value_name = "NAME",
        default_value = "light",
        requires = "folder",
        help_heading = "Report"
    )]
    theme: PlotTheme,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum PlotTheme {
    /// Dark on white
    #[default]
    Light,
    /// Light on dark
    Dark,
    /// Dark without a background
    Transparent,
}

impl ReportArgs {
    /// Whether anything is to be drawn.
    pub(crate) fn is_wanted(&self) -> bool {
        self.report.is_some() || self.plots.folder.is_some()
    }

    /// Fails at once where nothing could be written after the work is done.
    pub(crate) fn check(&self) -> Result<()> {
        if let Some(path) = &self.report {
            output::check_ending(path, &["html", "htm"], "a page")?;
            output::check_room(path, PAGE_BYTES)?;
        }
        self.plots.check()
    }

    /// Writes what was asked for of one result; `extra` are keys that it does not print.
    pub(crate) fn write(
        &self,
        result: &impl Serialize,
        extra: &[(&str, Value)],
        progress: &Progress,
    ) -> Result<()> {
        if !self.is_wanted() {
            return Ok(());
        }
        let mut value = serde_json::to_value(result)?;
        if let Value::Object(entries) = &mut value {
            entries.insert("version".to_owned(), VERSION.into());
            entries.extend(extra.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        }
        let mut report = Report::default();
        report.add(value, Some(&command_line()))?;
        if let Some(path) = &self.report {
            output::write_text(path, &report.html())?;
        }
        self.plots.write(&report, progress).map(drop)
    }
}

impl PlotArgs {
    /// Fails at once where the folder could not be written to.
    pub(crate) fn check(&self) -> Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        output::need_name(folder, "a folder of charts")?;
        if folder.is_dir() {
            return output::check_room(&folder.join("classes.svg"), PAGE_BYTES);
        }
        if folder.exists() {
            bail!("`{}`: expected a folder for the charts, found a file", folder.display());
        }
        output::check_room(folder, PAGE_BYTES)
    }

    /// Writes the charts of a report and returns their files.
    pub(crate) fn write(&self, report: &Report, progress: &Progress) -> Result<Vec<PathBuf>> {
        let Some(folder) = &self.folder else { return Ok(Vec::new()) };
        std::fs::create_dir_all(folder).with_context(|| format!("`{}`: cannot be made", folder.display()))?;
        let theme = match self.theme {
            PlotTheme::Light => Theme::LIGHT,
            PlotTheme::Dark => Theme::DARK,
            PlotTheme::Transparent => Theme::TRANSPARENT,
        };
        let mut files = Vec::new();
        let charts = report.charts();
        for chart in &charts {
            files.extend(write_chart(folder, chart, theme)?);
        }
        note_boxes(&charts, progress);
        if files.is_empty() {
            progress.note("there is nothing to draw in this result");
        } else if !cfg!(feature = "png") {
            progress.note("this build draws SVG only: the feature `png` is switched off");
        }
        Ok(files)
    }
}

/// Writes a chart as SVG and, where the program can, as PNG; returns the files.
pub(crate) fn write_chart(folder: &Path, chart: &Chart, theme: Theme) -> Result<Vec<PathBuf>> {
    let path = folder.join(format!("{}.svg", chart.name));
    output::write_text(&path, &chart.svg(theme))?;
    Ok(std::iter::once(path).chain(pixels(folder, chart, theme)?).collect())
}

#[cfg(feature = "png")]
fn pixels(folder: &Path, chart: &Chart, theme: Theme) -> Result<Option<PathBuf>> {
    let path = folder.join(format!("{}.png", chart.name));
    let bytes = chart
        .png(theme)
        .map_err(|problem| anyhow::anyhow!("`{}`: cannot be drawn: {problem}", path.display()))?;
    output::write_to(Some(&path), |out| Ok(out.write_all(&bytes)?))?;
    Ok(Some(path))
}

/// Names in letters that the PNG files do not have are not lost silently.
#[cfg(feature = "png")]
fn note_boxes(charts: &[Chart], progress: &Progress) {
    let boxes: std::collections::BTreeSet<char> = charts.iter().flat_map(Chart::boxes).collect();
    let Some(first) = boxes.first() else { return };
    // A letter by itself is read; marks that combine with letters are not.
    let example = boxes.iter().find(|character| character.is_alphabetic()).unwrap_or(first);
    progress.note(&format!(
        "the PNG files have boxes instead of {} characters that their font does not have, such as {example}; the SVG files show them",
        boxes.len()
    ));
}

#[cfg(not(feature = "png"))]
fn note_boxes(_: &[Chart], _: &Progress) {}

#[cfg(not(feature = "png"))]
#[expect(clippy::unnecessary_wraps, reason = "as with the feature")]
fn pixels(_: &Path, _: &Chart, _: Theme) -> Result<Option<PathBuf>> {
    Ok(None)
}

/// The points of a run for a page, with the names of instances; a map that cannot be made is no reason to lose the run.
pub(crate) fn run_data(
    run: &Finished<'_>,
    top: &[usize],
    dataset: &str,
    names: Option<&[String]>,
    progress: &Progress,
) -> bidilel::Result<Option<RunData>> {
    match RunData::of(run, top, progress) {
        Ok(mut data) => {
            let own = |names: &[String]| data.instances.iter().map(|&index| names[index].clone()).collect();
            data.names = names.map_or(Vec::new(), own);
            Ok(Some(with_pictures(data, dataset)))
        }
        Err(error @ bidilel::Error::Cancelled) => Err(error),
        Err(error) => {
            progress.note(&format!("the report has no points: {error}"));
            Ok(None)
        }
    }
}

/// The same data with the command line, and with the iterations of the mapping that were seen.
pub(crate) fn completed(data: Option<RunData>, progress: &Progress) -> Option<RunData> {
    data.map(|data| RunData { command: Some(command_line()), convergence: progress.steps(), ..data })
}

/// Pictures of instances that are inside the program.
#[cfg(feature = "emoji")]
fn with_pictures(mut data: RunData, dataset: &str) -> RunData {
    let Some(Ok(collection)) = dataset.strip_prefix("builtin:").map(crate::source::collection) else {
        return data;
    };
    let pictures: Vec<Vec<u8>> =
        data.instances.iter().map(|&instance| collection.thumbnail(instance).unwrap_or_default()).collect();
    let bytes = pictures.iter().map(Vec::len).sum::<usize>();
    let every = (4 * bytes / 3).div_ceil(MAX_PICTURE_BYTES).max(1);
    let picture = |(index, bytes): (usize, &Vec<u8>)| match index % every {
        0 if !bytes.is_empty() => bidilel_report::data_address("image/webp", bytes),
        _ => String::new(),
    };
    data.pictures = pictures.iter().enumerate().map(picture).collect();
    data.names =
        data.instances.iter().map(|&instance| format!("drawn by {}", collection.style(instance))).collect();
    data
}

#[cfg(not(feature = "emoji"))]
fn with_pictures(data: RunData, _: &str) -> RunData {
    data
}

/// What was typed, quoted for a shell; the program by its name, wherever it lies.
pub(crate) fn command_line() -> String {
    let words = std::env::args_os().skip(1).map(|word| crate::tuning::text::quoted(&word.to_string_lossy()));
    std::iter::once("bidilel".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}
