//! `bidilel predict MODEL FEATURES...`: labels for feature rows, from the model alone.
//!
//! Rows are read, projected and written in blocks, so that a file of any size takes constant memory. Only
//! corrections by the batch (`--post`) need all instances at once, and then only in the latent space.

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, bail};
use bidilel::model::Model;
use bidilel::pipeline::Pipeline;
use bidilel::post::Post;
use bidilel::recognize::Recognition;
use bidilel_data::{Prediction, PredictionTable};
use bidilel_math::Observer;
use bidilel_report::{Format, visible};
use faer::Mat;

use super::features::Sources;
use crate::args::PredictArgs;
use crate::failure::usage;
use crate::progress::Progress;
use crate::{input, method, output};

/// Bytes of a line with a short name, for a guess at the size of the output.
const SHORTEST_LINE: usize = 8;
/// Rows that are read and recognised before they are written.
const GROUP: usize = 16_384;

/// What predictions can be written as.
const FORMATS: [Format; 5] = [Format::Csv, Format::Json, Format::JsonLines, Format::Parquet, Format::Text];

pub(super) fn run(args: &PredictArgs, format: Option<Format>, progress: &Progress) -> Result<()> {
    let format = output::format_for(args.out.as_deref(), format, &FORMATS, "predictions")?;
    let style = Style::of(format.unwrap_or(Format::Csv))?;
    let inputs = args.features.iter().filter(|file| is_stdin_of_view(file)).count();
    if inputs + usize::from(input::is_stdin(&args.model)) > 1 {
        return Err(usage("standard input can be read once: name a file for all but one"));
    }
    args.out.iter().try_for_each(|path| output::check_target(path))?;
    progress.stage("open");
    let model = open_model(&args.model)?;
    let mut sources = Sources::open(args, &model.header.visual)?;
    let pipeline = Pipeline { post: corrections(args, &model, progress), ..model.header.method.clone() };
    progress.stage("recognize");
    let count = sources.count();
    let lines = count.saturating_mul(args.top.min(model.header.unseen.len()));
    args.out.iter().try_for_each(|path| output::check_room(path, lines.saturating_mul(SHORTEST_LINE)))?;
    let groups = (0..count).step_by(GROUP).map(|first| first..count.min(first + GROUP));
    let done = |group: &Range<usize>| progress.progress(group.end, count);
    // Corrections by the batch need all instances at once, and may fail: before the first line is written.
    let whole = if pipeline.post.is_empty() {
        None
    } else {
        let mut points = Mat::<f64>::zeros(model.fitted.space.dim(), count);
        for group in groups.clone() {
            let placed = model.project_views(&sources.rows_for(&group)?, group.clone())?;
            points.as_mut().subcols_mut(group.start, group.len()).copy_from(&placed);
            done(&group);
        }
        Some(pipeline.recognize_points(&model.fitted, points, |_, _| ())?)
    };
    output::write_to(args.out.as_deref(), |out| {
        let lines = Lines { style: &style, classes: &model.header.unseen, top: args.top };
        let mut writer = Writer::new(out, &style)?;
        match &whole {
            Some(recognition) => writer.write(lines.of(0, recognition)?)?,
            None => {
                for group in groups {
                    let rows = sources.rows_for(&group)?;
                    let made = |first, recognition| lines.of(first, &recognition);
                    for lines in model.recognize_views(&rows, group.clone(), made)? {
                        writer.write(lines?)?;
                    }
                    done(&group);
                }
            }
        }
        writer.end(&style)
    })
}

/// The corrections to make: those of the fit, unless told otherwise.
fn corrections(args: &PredictArgs, model: &Model, watch: &dyn Observer) -> Vec<Post> {
    let fitted = &model.header.method.post;
    let mut post = match &args.post {
        Some(names) => {
            // Settings that the model was fitted with stay in force.
            let of_fit = |wanted: &Post| fitted.iter().find(|post| post.name() == wanted.name()).cloned();
            let named = method::refiners(names, None, None);
            named.into_iter().map(|post| of_fit(&post).unwrap_or(post)).collect()
        }
        None => fitted.clone(),
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

enum Style {
    Csv,
    Json,
    JsonLines,
    Text,
    Parquet,
}

impl Style {
    fn of(format: Format) -> Result<Self> {
        match format {
            Format::Csv => Ok(Self::Csv),
            Format::Json => Ok(Self::Json),
            Format::JsonLines => Ok(Self::JsonLines),
            Format::Text => Ok(Self::Text),
            Format::Parquet => Ok(Self::Parquet),
            Format::Markdown | Format::Latex => {
                bail!("predictions come as csv, json, parquet or text, not as {format}")
            }
        }
    }
}

/// Makes `index,label,distance` lines of recognised instances.
struct Lines<'a> {
    style: &'a Style,
    classes: &'a [String],
    top: usize,
}

/// Some lines, ready to be written.
enum Block<'a> {
    Text(Vec<u8>),
    Rows(Vec<Prediction<'a>>),
}

impl<'a> Lines<'a> {
    /// The lines of a block of instances, of which the first is number `first` of all.
    fn of(&self, first: usize, recognition: &Recognition) -> Result<Block<'a>> {
        let classes = self.classes;
        let rows = (0..recognition.distances.ncols()).flat_map(|instance| {
            let row = move |(class, distance): (usize, f64)| -> Prediction<'a> {
                (first + instance, classes[class].as_str(), distance)
            };
            recognition.top(instance, self.top).into_iter().map(row)
        });
        let mut text = Vec::new();
        match self.style {
            Style::Parquet => return Ok(Block::Rows(rows.collect())),
            Style::Csv => {
                let mut csv = csv::Writer::from_writer(&mut text);
                for (index, label, distance) in rows {
                    let label = output::csv_cell(label);
                    csv.write_record([&index.to_string(), &*label, &distance.to_string()])?;
                }
                csv.flush()?;
            }
            Style::Json => {
                for (place, (index, label, distance)) in rows.enumerate() {
                    let object = serde_json::json!({"index": index, "label": label, "distance": distance});
                    let comma = if first == 0 && place == 0 { "" } else { "," };
                    write!(text, "{comma}\n  {object}")?;
                }
            }
            Style::JsonLines => {
                for (index, label, distance) in rows {
                    let object = serde_json::json!({"index": index, "label": label, "distance": distance});
                    writeln!(text, "{object}")?;
                }
            }
            Style::Text => {
                for (index, label, distance) in rows {
                    writeln!(text, "{index:>8}  {distance:>9.6}  {}", visible(label))?;
                }
            }
        }
        Ok(Block::Text(text))
    }
}

/// Writes blocks as they come.
struct Writer<'a> {
    out: &'a mut dyn Write,
    table: Option<PredictionTable>,
}

impl<'a> Writer<'a> {
    fn new(out: &'a mut dyn Write, style: &Style) -> Result<Self> {
        match style {
            Style::Csv => writeln!(out, "index,label,distance")?,
            Style::Json => write!(out, "[")?,
            Style::JsonLines => {}
            Style::Text => writeln!(out, "{:>8}  {:>9}  label", "index", "distance")?,
            Style::Parquet => return Ok(Self { out, table: Some(PredictionTable::new()?) }),
        }
        Ok(Self { out, table: None })
    }

    fn write(&mut self, block: Block<'_>) -> Result<()> {
        match (block, &mut self.table) {
            (Block::Rows(rows), Some(table)) => table.write(&rows, self.out)?,
            (Block::Text(text), _) => self.out.write_all(&text)?,
            (Block::Rows(_), None) => bail!("rows without a table to write them to"),
        }
        Ok(())
    }

    fn end(self, style: &Style) -> Result<()> {
        if let Style::Json = style {
            writeln!(self.out, "\n]")?;
        }
        match self.table {
            Some(table) => Ok(table.finish(self.out)?),
            None => Ok(()),
        }
    }
}
