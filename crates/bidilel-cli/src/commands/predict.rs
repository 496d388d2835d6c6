//! `bidilel predict MODEL FEATURES...`: labels for feature rows, from the model alone; or for pictures and videos, by the
//! network that the model records.
//!
//! Rows are read, projected and written in blocks, so that a file of any size takes constant memory. Only refiners
//! (`--post`) need all instances at once, and then only in the latent space, or their scores where there is none.

use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, bail};
use bidilel::Candidates;
use bidilel::model::Model;
use bidilel::post::Post;
use bidilel::settings::Settings;
use bidilel_math::Observer;
use bidilel_report::Format;

use super::balance;
use super::batch::Batch;
use super::block::Block;
use super::copies::Copies;
use super::features::Sources;
use super::predicted::{Renderer, Style, Writer};
use super::row_scan::Scan;
use crate::args::PredictArgs;
use crate::failure::{hinted, usage};
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
    let mut post = refiners(args, &model, progress);
    balance::apply(args, &model, &mut post, progress)?;
    let answering = args.asked.answering(&model, &post, progress)?;
    let thresholds = if args.tags { Some(thresholds(&model)?) } else { None };
    let classes: Vec<String> = model.names(model.candidates()).into_iter().map(str::to_owned).collect();
    if args.top > classes.len() {
        progress.note(&format!("--top {}: there are only {} classes", args.top, classes.len()));
    }
    progress.stage("recognize");
    let ids = sources.take_ids();
    let count = sources.count();
    let lines = count.saturating_mul(args.top.min(classes.len()));
    args.out.iter().try_for_each(|path| output::check_room(path, lines.saturating_mul(MIN_LINE_BYTES)))?;
    let blocks = sources.blocks();
    let done = |block: &Range<usize>| progress.progress(block.end, count);
    let mut found = Scan::default();
    // Refiners need all instances at once, and may fail: before the first line is written.
    let whole = if post.is_empty() {
        None
    } else {
        let batch = Batch { model: &model, count, skip_bad_rows: args.skip_bad_rows };
        let (inductive, kept) = batch.recognize(&mut sources, &blocks, &post, &mut found, done)?;
        check_any(&kept, count)?;
        Some((model.refined(inductive, &post, progress)?, kept))
    };
    output::write_to(args.out.as_deref(), |out| {
        let (thresholds, ids) = (thresholds.as_deref(), ids.as_ref());
        let labels = copies.as_ref().map(|copies| &copies.labels);
        let renderer =
            Renderer { style, classes: &classes, top: args.top, thresholds, ids, answering, labels };
        let mut writer = Writer::new(out, style, &renderer.columns())?;
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

/// The least score of a tag, for every class.
fn thresholds(model: &Model) -> Result<Vec<f64>> {
    let found = model.thresholds.as_ref();
    let found = found.and_then(|thresholds| thresholds.of(Candidates::Unseen, model.unseen.len()));
    found.ok_or_else(|| {
        let error = anyhow::anyhow!(
            "the model was fitted to one label per instance: it has no thresholds for --tags"
        );
        hinted(error, "fit it to a dataset with `tags`, or take the K best classes with --top K")
    })
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
    let (mut trained, mut scaled) = (false, false);
    for refiner in &mut post {
        match refiner {
            Post::SelfTraining(settings) => {
                trained = true;
                settings.self_training_neighbors =
                    args.self_training_neighbors.unwrap_or(settings.self_training_neighbors);
                settings.self_training_rounds =
                    args.self_training_rounds.unwrap_or(settings.self_training_rounds);
            }
            Post::Csls(settings) => {
                scaled = true;
                settings.csls_neighbors = args.csls_neighbors.unwrap_or(settings.csls_neighbors);
            }
            _ => {}
        }
    }
    if !trained && (args.self_training_neighbors.is_some() || args.self_training_rounds.is_some()) {
        watch.note("without self-training its settings have no effect: add --post self-training");
    }
    if !scaled && args.csls_neighbors.is_some() {
        watch.note("without csls --csls-neighbors has no effect: add --post csls");
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
