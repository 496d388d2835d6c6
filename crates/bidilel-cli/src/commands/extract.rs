//! `bidilel extract FOLDER --network NET --out FEATURES`: pictures and videos to feature rows.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use bidilel_data::Precision;
use bidilel_math::Observer;
use bidilel_report::Format;
use bidilel_vision::{ExtractOptions, Extracted, Layer, Network, NetworkFile, discover};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use crate::extraction::args::ExtractArgs;
use crate::extraction::described::Described;
use crate::extraction::finished::finished;
use crate::extraction::{dataset, settings};
use crate::output;
use crate::progress::{Progress, Verbosity};

/// Skipped files that are named on the terminal; the list has all of them.
const MAX_NAMED: usize = 5;

/// The object that `extract --format json` prints.
#[derive(Serialize)]
struct Extraction<'a> {
    rows: usize,
    dimensions: usize,
    features: &'a Path,
    list: &'a Path,
    skipped: Vec<Skipped<'a>>,
    skipped_list: &'a Path,
    network_record: &'a Path,
    other_files: usize,
    /// Files that an earlier run had done.
    resumed: usize,
    network: &'a Path,
    layer: &'a str,
    runtime: &'a str,
    runtime_version: &'a str,
    preset: &'a str,
    settings: &'a ExtractOptions,
    seconds: f64,
    /// The dataset folder that was written, and its number of classes.
    dataset: Option<&'a Path>,
    classes: Option<usize>,
}

/// A file without a row.
#[derive(Serialize)]
struct Skipped<'a> {
    path: &'a str,
    problem: &'a str,
}

/// The object that `extract --list-layers --format json` prints.
#[derive(Serialize)]
struct Layers<'a> {
    layers: &'a [Layer],
}

pub(super) fn run(args: &ExtractArgs, format: Format, progress: &Progress) -> Result<ExitCode> {
    output::text_or_json(format)?;
    args.out.iter().try_for_each(|out| output::need_name(out, "an array with sidecar files"))?;
    args.out.iter().try_for_each(|out| output::check_ending(out, &["npy"], "an array of features"))?;
    let file = NetworkFile::open(&args.network)?;
    if args.list_layers {
        list_layers(args, &file, format)?;
        return Ok(ExitCode::SUCCESS);
    }
    let folder = args.folder.as_deref().context("expected a folder of pictures")?;
    let out = args.out.as_deref().context("expected a file to write, --out")?;
    output::check_target(out)?;
    progress.stage("open");
    let only = args.files.only.unwrap_or_default();
    let found = discover(folder, only, args.files.label_from)?;
    if let Some(target) = &args.dataset {
        dataset::check(target, &found)?;
    }
    if found.others > 0 {
        progress.note(&format!("{} files are neither pictures nor videos, and are left out", found.others));
    }
    if args.resume
        && let Some((rows, skipped)) = finished(out, found.items.len())?
    {
        progress.note(&format!(
            "`{}` is finished: {rows} rows, {skipped} files skipped; without --resume it is extracted anew",
            out.display()
        ));
        return Ok(ExitCode::SUCCESS);
    }
    let described = Described::of(args, &found, progress)?;
    let is_described = described.is_some();
    let options = settings::options(args, &file.input()?, out);
    let mut network = file.load(&settings::network(args))?;
    progress.stage("extract");
    let bar = bar(progress, found.items.len());
    let started = Instant::now();
    let extracted = bidilel_vision::extract(&found, &file, &mut network, &options, &|done, skipped| {
        if skipped > 0 {
            bar.set_message(format!(", {skipped} skipped"));
        }
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    let extracted = extracted?;
    let seconds = started.elapsed().as_secs_f64();
    progress.finish();
    if progress.verbosity() != Verbosity::Quiet {
        for (path, problem) in extracted.skipped.iter().take(MAX_NAMED) {
            progress.note(&format!("skipped `{path}`: {problem}"));
        }
        if extracted.skipped.len() > MAX_NAMED {
            let more = extracted.skipped.len() - MAX_NAMED;
            progress.note(&format!("and {more} more: `{}` lists them", extracted.skipped_list.display()));
        }
    }
    let classes = match &args.dataset {
        Some(target) => Some(dataset::write(target, out, &extracted.list, args.dtype, described)?),
        None => None,
    };
    if format == Format::Json {
        let skipped = extracted.skipped.iter().map(|(path, problem)| Skipped { path, problem });
        output::print_json(&Extraction {
            rows: extracted.rows,
            dimensions: extracted.dimensions,
            features: out,
            list: &extracted.list,
            skipped: skipped.collect(),
            skipped_list: &extracted.skipped_list,
            network_record: &extracted.network_record,
            other_files: found.others,
            resumed: extracted.resumed,
            network: &args.network,
            layer: network.layer(),
            runtime: network.runtime(),
            runtime_version: network.runtime_version(),
            preset: args.preprocess.preset.name(),
            settings: &options,
            seconds,
            dataset: args.dataset.as_deref(),
            classes,
        })?;
    } else {
        output::print(&summary(
            args,
            &extracted,
            &network,
            seconds,
            classes.map(|classes| (classes, is_described)),
        ))?;
    }
    let failed = args.strict && !extracted.skipped.is_empty();
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn summary(
    args: &ExtractArgs,
    extracted: &Extracted,
    network: &Network,
    seconds: f64,
    classes: Option<(usize, bool)>,
) -> String {
    let Extracted { rows, dimensions, skipped, resumed, list, skipped_list, .. } = extracted;
    let out = args.out.as_deref().unwrap_or(list).display();
    let kind = if args.dtype == Precision::Float16 { "float16" } else { "float32" };
    let mut text = format!(
        "{out}: {rows} rows of {dimensions} features, {kind}; paths and labels in {}\n",
        list.display()
    );
    let new = rows + skipped.len() - resumed;
    let rate = new as f64 / seconds.max(1e-9);
    let _ = writeln!(
        text,
        "layer `{}`, preset {}, {} {}: {new} files in {seconds:.1} s, {rate:.1} per second",
        network.layer(),
        args.preprocess.preset.name(),
        network.runtime(),
        network.runtime_version(),
    );
    if *resumed > 0 {
        let _ = writeln!(text, "{resumed} files were done by the run before");
    }
    if !skipped.is_empty() {
        let all = rows + skipped.len();
        let _ = writeln!(
            text,
            "{} of {all} files could not be read: see {}",
            skipped.len(),
            skipped_list.display()
        );
    }
    if let (Some((classes, is_described)), Some(folder)) = (classes, &args.dataset) {
        let next = if is_described {
            "described in words"
        } else {
            "describe them in its dataset.toml ([semantic.…], [split.…])"
        };
        let _ = writeln!(text, "{}: a dataset of {classes} classes; {next}", folder.display());
    }
    text
}

fn list_layers(args: &ExtractArgs, file: &NetworkFile, format: Format) -> Result<()> {
    let input = file.input()?;
    let preprocess = settings::preprocess(&args.preprocess, &input);
    let layers = file.layers(&settings::network(args), &preprocess, settings::clip(args, &input).0)?;
    if format == Format::Json {
        return output::print_json(&Layers { layers: &layers });
    }
    let shape = |layer: &Layer| layer.shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
    let widest = layers.iter().map(|layer| shape(layer).len()).max().unwrap_or(0);
    let operator = layers.iter().map(|layer| layer.operator.len()).max().unwrap_or(0);
    let mut text = String::new();
    for layer in &layers {
        let mark = if layer.output { "  (output)" } else { "" };
        let (shape, kind) = (shape(layer), &layer.operator);
        let _ = writeln!(text, "{shape:<widest$}  {kind:<operator$}  {}{mark}", layer.name);
    }
    output::print(&text)
}

fn bar(progress: &Progress, total: usize) -> ProgressBar {
    if progress.verbosity() != Verbosity::Normal || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::stderr());
    let template = "{spinner} [{bar:32}] {pos} of {len} pictures, {per_sec:.1} per second, {eta} left{msg}";
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let rate = |state: &indicatif::ProgressState, out: &mut dyn std::fmt::Write| {
        let _ = write!(out, "{:.1}", state.per_sec());
    };
    bar.set_style(style.with_key("per_sec", rate).progress_chars("=> "));
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}
