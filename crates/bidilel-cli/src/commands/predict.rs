//! `bidilel predict MODEL FEATURES...`: labels for feature rows, from the model alone; or for pictures and videos, by the
//! network that the model records.
//!
//! Rows are read, projected and written in blocks, so that a file of any size takes constant memory. Only refiners
//! (`--post`) need all instances at once, and then only in the latent space.

use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, bail};
use bidilel::Candidates;
use bidilel::model::Model;
use bidilel::post::{Post, refined};
use bidilel::settings::Settings;
use bidilel_math::Observer;
use bidilel_report::{Format, IdKind};
use faer::Mat;

use super::block::Block;
use super::copies::Copies;
use super::features::Sources;
use super::predicted::{Renderer, Style, Writer};
use super::row_scan::Scan;
use crate::args::PredictArgs;
use crate::failure::usage;
use crate::progress::Progress;
use crate::{input, output, pictures};

/// Bytes of a line with a short name: a lower bound for the size of the output.
const MIN_LINE_BYTES: usize = 8;

/// What predictions can be written as.
const FORMATS: [Format; 5] = [Format::Csv, Format::Json, Format::JsonLines, Format::Parquet, Format::Text];

pub(super) fn run(args: &PredictArgs, format: Option<Format>, progress: &Progress) -> Result<()> {
    let format = output::format_for(args.out.as_deref(), format, &FORMATS, "predictions")?;
    let style = Style::of(format.unwrap_or(Format::Csv))?;
    let inputs = args.input.features.iter().filter(|file| is_stdin_of_view(file)).count();
    if inputs + usize::from(input::is_stdin(&args.input.model)) > 1 {
        return Err(usage("standard input can be read once: name a file for all but one"));
    }
    args.out.iter().try_for_each(|path| output::check_target(path))?;
    progress.stage("open");
    let model = open_model(&args.input.model)?;
    let instances = pictures::instances(&args.input, &model, args.skip_bad_rows, progress)?;
    let copies = Copies::new(args.copy_to.as_deref(), instances.files.as_deref())?;
    let mut sources = Sources::open(&instances.input, &model.views, progress)?;
    let post = refiners(args, &model, progress);
    if args.top > model.unseen.len() {
        progress.note(&format!("--top {}: there are only {} classes", args.top, model.unseen.len()));
    }
    progress.stage("recognize");
    let ids = sources.take_ids();
    let count = sources.count();
    let lines = count.saturating_mul(args.top.min(model.unseen.len()));
    args.out.iter().try_for_each(|path| output::check_room(path, lines.saturating_mul(MIN_LINE_BYTES)))?;
    let blocks = sources.blocks();
    let done = |block: &Range<usize>| progress.progress(block.end, count);
    let mut found = Scan::default();
    // Refiners need all instances at once, and may fail: before the first line is written.
    let whole = if post.is_empty() {
        None
    } else {
        let latent = model.latent()?;
        let mut points = Mat::<f64>::zeros(latent.space.dim(), count);
        let mut kept = Vec::new();
        for range in &blocks {
            let (placed, rows) = Block::read(&mut sources, range, args.skip_bad_rows, &mut found)?
                .with(|rows, range, _| model.project_views(rows, range))?;
            points.as_mut().subcols_mut(kept.len(), placed.ncols()).copy_from(&placed);
            kept.extend(rows);
            done(range);
        }
        check_any(&kept, count)?;
        points.truncate(latent.space.dim(), kept.len());
        let inductive = latent.nearest(points, Candidates::Unseen);
        Some((refined("inductive", inductive, &post, |_, _| ())?, kept))
    };
    output::write_to(args.out.as_deref(), |out| {
        let labels = copies.as_ref().map(|copies| &copies.labels);
        let renderer = Renderer { style, classes: &model.unseen, top: args.top, ids: ids.as_ref(), labels };
        let mut writer = Writer::new(out, style, ids.as_ref().map(IdKind::of))?;
        if let Some((recognition, kept)) = &whole {
            writer.write(renderer.block(kept, recognition))?;
            return writer.finish();
        }
        let mut any = false;
        for range in &blocks {
            let block = Block::read(&mut sources, range, args.skip_bad_rows, &mut found)?;
            let (rendered, kept) = block.with(|rows, range, numbers| {
                // Rendered rows take far less memory than the scores of all classes.
                model.recognize_views(rows, range, |first, recognition| {
                    renderer.block(&numbers[first..], &recognition)
                })
            })?;
            rendered.into_iter().try_for_each(|block| writer.write(block))?;
            any |= !kept.is_empty();
            done(range);
        }
        check_any(if any { &[0] } else { &[] }, count)?;
        writer.finish()
    })?;
    copies.map_or(Ok(()), |copies| copies.make(progress))?;
    report_rows(&found, count, &instances.skipped, args, progress)
}

fn check_any(kept: &[usize], count: usize) -> Result<()> {
    if kept.is_empty() && count > 0 {
        bail!("all {count} rows have numbers that are not finite, so none is left to recognize");
    }
    Ok(())
}

/// Notes what was found in the rows, and writes the list of those that were skipped.
fn report_rows(
    found: &Scan,
    count: usize,
    pictures: &[(String, String)],
    args: &PredictArgs,
    watch: &dyn Observer,
) -> Result<()> {
    const MOST: usize = 5;
    if found.zero > 0 {
        let zero = found.zero;
        watch.note(&format!(
            "{zero} of {count} rows are all zero: they are as near to one class as to another"
        ));
    }
    if found.vanished > 0 {
        watch.note(&format!("{} numbers are too small for float32 and read as zero", found.vanished));
    }
    if !found.bad.is_empty() {
        let shown = |(row, problem): &(usize, String)| format!("row {row} ({problem})");
        let mut rows: Vec<String> = found.bad.iter().take(MOST).map(shown).collect();
        rows.extend((found.bad.len() > MOST).then(|| format!("{} more", found.bad.len() - MOST)));
        watch.note(&format!("{} of {count} rows are skipped: {}", found.bad.len(), rows.join(", ")));
    }
    let Some(out) = args.out.as_ref().filter(|_| args.skip_bad_rows) else { return Ok(()) };
    output::write_to(Some(&out.with_extension("skipped.csv")), |out| {
        let mut csv = csv::Writer::from_writer(out);
        if !pictures.is_empty() {
            csv.write_record(["path", "problem"])?;
            pictures.iter().try_for_each(|(path, problem)| {
                csv.write_record([output::csv_cell(path).as_ref(), problem])
            })?;
            return Ok(csv.flush()?);
        }
        csv.write_record(["index", "problem"])?;
        found.bad.iter().try_for_each(|(row, problem)| csv.write_record([&row.to_string(), problem]))?;
        Ok(csv.flush()?)
    })
}

/// The refiners to apply: those of the fit, unless others are typed.
fn refiners(args: &PredictArgs, model: &Model, watch: &dyn Observer) -> Vec<Post> {
    let fitted = model.method.post();
    let mut post = match &args.post {
        Some(names) => {
            // Settings that the model was fitted with stay in force.
            let of_fit = |wanted: &Post| fitted.iter().find(|post| post.name() == wanted.name()).cloned();
            let named = Settings { post: Some(names.clone()), ..Settings::default() }.post();
            named.into_iter().map(|post| of_fit(&post).unwrap_or(post)).collect()
        }
        None => fitted.to_vec(),
    };
    let mut used = false;
    for refiner in &mut post {
        if let Post::SelfTraining(settings) = refiner {
            used = true;
            settings.self_training_neighbors =
                args.self_training_neighbors.unwrap_or(settings.self_training_neighbors);
            settings.self_training_rounds =
                args.self_training_rounds.unwrap_or(settings.self_training_rounds);
        }
    }
    if !used && (args.self_training_neighbors.is_some() || args.self_training_rounds.is_some()) {
        watch.note("without self-training its settings have no effect: add --post self-training");
    }
    post
}

/// Whether the features of a view, `-` or `VIEW=-`, come from standard input.
fn is_stdin_of_view(file: &str) -> bool {
    file == "-" || file.ends_with("=-")
}

pub(super) fn open_model(path: &Path) -> Result<Model> {
    let bytes = input::bytes(path)?;
    Model::from_bytes(bytes.as_ref()).with_context(|| format!("`{}`", path.display()))
}
