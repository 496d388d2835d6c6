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
use bidilel_report::Format;
use faer::Mat;

use super::features::Sources;
use crate::args::PredictArgs;
use crate::method;
use crate::output;
use crate::progress::Progress;

/// Rows that are read and recognised at a time.
const BLOCK: usize = 4096;

pub(super) fn run(args: &PredictArgs, format: Format, progress: &Progress) -> Result<()> {
    let style = Style::of(format)?;
    args.out.iter().try_for_each(|path| output::check_target(path))?;
    progress.stage("open");
    let model = open_model(&args.model)?;
    let mut sources = Sources::open(args, &model.header.visual)?;
    let pipeline = Pipeline { post: corrections(args, &model, progress), ..model.header.method.clone() };
    progress.stage("recognize");
    let count = sources.count();
    let blocks = (0..count).step_by(BLOCK).map(|first| first..count.min(first + BLOCK));
    let mut project = |block: Range<usize>| -> Result<Mat<f64>> {
        let points = model.project_views(&sources.rows_for(&block)?, block.clone())?;
        progress.progress(block.end.div_ceil(BLOCK), count.div_ceil(BLOCK));
        Ok(points)
    };
    // Corrections by the batch need all instances at once, and may fail: before the first line is written.
    let whole = if pipeline.post.is_empty() {
        None
    } else {
        let mut points = Mat::<f64>::zeros(model.fitted.space.dim(), count);
        for block in blocks.clone() {
            points.as_mut().subcols_mut(block.start, block.len()).copy_from(&project(block)?);
        }
        Some(pipeline.recognize_points(&model.fitted, points, |_, _| ())?)
    };
    output::write_to(args.out.as_deref(), |out| {
        let classes = &model.header.unseen;
        let mut writer = Predictions { out, style, classes, top: args.top, index: 0 };
        writer.begin()?;
        match &whole {
            Some(recognition) => writer.write(recognition)?,
            None => {
                for block in blocks {
                    writer.write(&pipeline.recognize_points(&model.fitted, project(block)?, |_, _| ())?)?;
                }
            }
        }
        writer.end()
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

/// Writes `index,label,distance` rows as they come.
struct Predictions<'a> {
    out: &'a mut dyn Write,
    style: Style,
    classes: &'a [String],
    top: usize,
    /// The instance that is written next.
    index: usize,
}

enum Style {
    Csv,
    Json {
        /// Whether the list has its first element.
        started: bool,
    },
    Text,
    Parquet(Box<PredictionTable>),
}

impl Style {
    fn of(format: Format) -> Result<Self> {
        match format {
            Format::Csv => Ok(Self::Csv),
            Format::Json => Ok(Self::Json { started: false }),
            Format::Text => Ok(Self::Text),
            Format::Parquet => Ok(Self::Parquet(Box::new(PredictionTable::new()?))),
            Format::Markdown | Format::Latex => {
                bail!("predictions come as csv, json, parquet or text, not as {format}")
            }
        }
    }
}

impl Predictions<'_> {
    fn begin(&mut self) -> Result<()> {
        match self.style {
            Style::Csv => writeln!(self.out, "index,label,distance")?,
            Style::Json { .. } => write!(self.out, "[")?,
            Style::Text => writeln!(self.out, "{:>8}  {:>9}  label", "index", "distance")?,
            Style::Parquet(_) => {}
        }
        Ok(())
    }

    /// Writes a block of instances.
    fn write(&mut self, recognition: &Recognition) -> Result<()> {
        let mut rows: Vec<Prediction<'_>> = Vec::new();
        for instance in 0..recognition.distances.ncols() {
            let nearest = recognition.top(instance, self.top);
            let row = |(class, distance): (usize, f64)| (self.index, self.classes[class].as_str(), distance);
            rows.extend(nearest.into_iter().map(row));
            self.index += 1;
        }
        match &mut self.style {
            Style::Csv => {
                let mut csv = csv::Writer::from_writer(&mut self.out);
                for (index, label, distance) in rows {
                    csv.write_record([&index.to_string(), label, &distance.to_string()])?;
                }
                csv.flush()?;
            }
            Style::Json { started } => {
                for (index, label, distance) in rows {
                    let object = serde_json::json!({"index": index, "label": label, "distance": distance});
                    write!(self.out, "{}\n  {object}", if *started { "," } else { "" })?;
                    *started = true;
                }
            }
            Style::Text => {
                for (index, label, distance) in rows {
                    writeln!(self.out, "{index:>8}  {distance:>9.6}  {label}")?;
                }
            }
            Style::Parquet(table) => table.write(&rows, self.out)?,
        }
        Ok(())
    }

    fn end(self) -> Result<()> {
        match self.style {
            Style::Json { .. } => writeln!(self.out, "\n]")?,
            Style::Parquet(table) => table.finish(self.out)?,
            Style::Csv | Style::Text => {}
        }
        Ok(())
    }
}
