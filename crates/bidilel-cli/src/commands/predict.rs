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
use bidilel_data::table::Ids;
use bidilel_data::{Prediction, PredictionTable};
use bidilel_math::Observer;
use bidilel_report::Format;
use faer::Mat;

use super::features::Sources;
use crate::args::PredictArgs;
use crate::method;
use crate::output;
use crate::progress::Progress;

/// Rows that are read and recognised before they are written.
const GROUP: usize = 16_384;

pub(super) fn run(args: &PredictArgs, format: Format, progress: &Progress) -> Result<()> {
    let style = Style::of(format)?;
    args.out.iter().try_for_each(|path| output::check_target(path))?;
    progress.stage("open");
    let model = open_model(&args.model)?;
    let mut sources = Sources::open(args, &model.header.visual, progress)?;
    let pipeline = Pipeline { post: corrections(args, &model, progress), ..model.header.method.clone() };
    if args.top > model.header.unseen.len() {
        progress.note(&format!("--top {}: there are only {} classes", args.top, model.header.unseen.len()));
    }
    progress.stage("recognize");
    let count = sources.count();
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
    let ids = sources.take_ids();
    output::write_to(args.out.as_deref(), |out| {
        let lines = Lines { style: &style, classes: &model.header.unseen, top: args.top, ids: ids.as_ref() };
        let mut writer = Writer::new(out, &style, ids.as_ref().map(id_name))?;
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

pub(super) fn open_model(path: &Path) -> Result<Model> {
    let bytes = bidilel_data::map(path)?;
    Model::from_bytes(bytes.as_ref()).with_context(|| format!("`{}`", path.display()))
}

/// What the column of identifiers is called in predictions.
fn id_name(ids: &Ids) -> &'static str {
    if ids.column.eq_ignore_ascii_case("path") { "path" } else { "id" }
}

enum Style {
    Csv,
    Json,
    Text,
    Parquet,
}

impl Style {
    fn of(format: Format) -> Result<Self> {
        match format {
            Format::Csv => Ok(Self::Csv),
            Format::Json => Ok(Self::Json),
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
    ids: Option<&'a Ids>,
}

/// Some lines, ready to be written.
enum Block<'a> {
    Text(Vec<u8>),
    Rows(Vec<Prediction<'a>>),
}

impl<'a> Lines<'a> {
    /// The lines of a block of instances, of which the first is number `first` of all.
    fn of(&self, first: usize, recognition: &Recognition) -> Result<Block<'a>> {
        let (classes, ids) = (self.classes, self.ids);
        let rows = (0..recognition.distances.ncols()).flat_map(|instance| {
            let index = first + instance;
            let id = ids.map(|ids| ids.values[index].as_str());
            let row = move |(class, distance): (usize, f64)| -> Prediction<'a> {
                Prediction { index, label: classes[class].as_str(), distance, id }
            };
            recognition.top(instance, self.top).into_iter().map(row)
        });
        let mut text = Vec::new();
        match self.style {
            Style::Parquet => return Ok(Block::Rows(rows.collect())),
            Style::Csv => {
                let mut csv = csv::Writer::from_writer(&mut text);
                for Prediction { index, label, distance, id } in rows {
                    csv.write_field(index.to_string())?;
                    csv.write_field(label)?;
                    csv.write_field(distance.to_string())?;
                    id.iter().try_for_each(|id| csv.write_field(id))?;
                    csv.write_record(None::<&[u8]>)?;
                }
                csv.flush()?;
            }
            Style::Json => {
                for (place, Prediction { index, label, distance, id }) in rows.enumerate() {
                    let mut object =
                        serde_json::json!({"index": index, "label": label, "distance": distance});
                    if let (Some(id), Some(ids)) = (id, ids) {
                        object[id_name(ids)] = id.into();
                    }
                    let comma = if first == 0 && place == 0 { "" } else { "," };
                    write!(text, "{comma}\n  {object}")?;
                }
            }
            Style::Text => {
                for Prediction { index, label, distance, id } in rows {
                    let id = id.map_or(String::new(), |id| format!("  {id}"));
                    writeln!(text, "{index:>8}  {distance:>9.6}  {label}{id}")?;
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
    fn new(out: &'a mut dyn Write, style: &Style, id: Option<&str>) -> Result<Self> {
        match style {
            Style::Csv => {
                writeln!(out, "index,label,distance{}", id.map_or(String::new(), |id| format!(",{id}")))?;
            }
            Style::Json => write!(out, "[")?,
            Style::Text => writeln!(out, "{:>8}  {:>9}  label", "index", "distance")?,
            Style::Parquet => return Ok(Self { out, table: Some(PredictionTable::new(id)?) }),
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
