//! `bidilel predict MODEL FEATURES`: labels for feature rows, from the model alone.
//!
//! Rows are read, projected and written in blocks, so that a file of any size takes constant memory. Only
//! corrections by the batch (`--post`) need all instances at once, and then only in the latent space.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use bidilel::dataset::Rows;
use bidilel::model::Model;
use bidilel::post::{Post, Refiner};
use bidilel::recognize::Recognition;
use bidilel::task::Normalize;
use bidilel_data::array::{self, Array};
use bidilel_math::{Observer, distance};
use bidilel_report::Format;
use faer::Mat;

use crate::args::PredictArgs;
use crate::method;
use crate::output;
use crate::progress::Progress;

/// Rows that are read and recognised at a time.
const BLOCK: usize = 4096;

pub(super) fn run(args: &PredictArgs, format: Format, progress: &Progress) -> Result<()> {
    let style = Style::of(format)?;
    if args.top == 0 {
        bail!("top must be at least 1, found 0");
    }
    progress.stage("open");
    let model = open_model(&args.model)?;
    let rows = array::open(&args.features, args.key.as_deref())?;
    let rows = if args.transpose { rows.transposed() } else { rows };
    let (expected, found) = (model.fitted.space.visual_dim(), rows.dim());
    if expected != found {
        let transposed = rows.count() == expected && !args.transpose;
        let hint = if transposed { "; its rows fit: try --transpose" } else { "" };
        bail!(
            "`{}`: feature rows do not match the model: expected {expected} dimensions, found {found}{hint}",
            args.features.display()
        );
    }
    let post = match &args.post {
        Some(names) => method::refiners(names, args.self_training_neighbors, None),
        None => with_neighbors(model.header.method.post.clone(), args.self_training_neighbors),
    };
    progress.stage("recognize");
    output::write_to(args.out.as_deref(), |out| {
        let mut writer = Predictions {
            out,
            style,
            classes: &model.header.unseen,
            top: args.top,
            index: 0,
            started: false,
        };
        writer.begin()?;
        if post.is_empty() {
            for first in (0..rows.count()).step_by(BLOCK) {
                let points = project(&model, &rows, &args.features, first)?;
                let embedding = model.fitted.embedding.points.clone();
                writer.write(&Recognition::nearest(Arc::new(points), embedding))?;
                progress.progress(first / BLOCK + 1, rows.count().div_ceil(BLOCK));
            }
        } else {
            writer.write(&corrected(&model, &rows, &args.features, &post, progress)?)?;
        }
        writer.end()
    })
}

pub(super) fn open_model(path: &Path) -> Result<Model> {
    let bytes = bidilel_data::map(path)?;
    Model::from_bytes(bytes.as_ref()).with_context(|| format!("`{}`", path.display()))
}

fn with_neighbors(mut post: Vec<Post>, neighbors: Option<usize>) -> Vec<Post> {
    for refiner in &mut post {
        if let (Post::SelfTraining(settings), Some(neighbors)) = (refiner, neighbors) {
            settings.self_training_neighbors = neighbors;
        }
    }
    post
}

/// One block of rows in the latent space.
fn project(model: &Model, rows: &Array, path: &Path, first: usize) -> Result<Mat<f64>> {
    let count = BLOCK.min(rows.count() - first);
    let mut block = Mat::<f32>::zeros(rows.dim(), count);
    for i in 0..count {
        let column = block.col_as_slice_mut(i);
        rows.read(first + i, column);
        if let Some(bad) = column.iter().position(|value| !value.is_finite()) {
            return Err(bidilel::Error::NotFinite {
                origin: format!("`{}`", path.display()),
                row: first + i,
                column: bad,
                value: f64::from(column[bad]),
            }
            .into());
        }
    }
    if model.header.normalize == Normalize::L2 {
        distance::normalize_columns(block.as_mut());
    }
    Ok(model.fitted.space.project(block.as_ref())?)
}

/// All rows, corrected by each other.
fn corrected(
    model: &Model,
    rows: &Array,
    path: &Path,
    post: &[Post],
    progress: &Progress,
) -> Result<Recognition> {
    let mut points = Mat::<f64>::zeros(model.fitted.space.dim(), rows.count());
    for first in (0..rows.count()).step_by(BLOCK) {
        let block = project(model, rows, path, first)?;
        points.as_mut().subcols_mut(first, block.ncols()).copy_from(&block);
        progress.progress(first / BLOCK + 1, rows.count().div_ceil(BLOCK));
    }
    let first = Recognition::nearest(Arc::new(points), model.fitted.embedding.points.clone());
    Ok(post.iter().try_fold(first, |recognition, refiner| refiner.refine(recognition))?)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Csv,
    Json,
    Text,
}

impl Style {
    fn of(format: Format) -> Result<Self> {
        match format {
            Format::Csv => Ok(Self::Csv),
            Format::Json => Ok(Self::Json),
            Format::Text => Ok(Self::Text),
            Format::Markdown | Format::Latex => {
                bail!("predictions come as csv, json or text, not as {format}")
            }
        }
    }
}

/// Writes `index,label,distance` rows as they come.
struct Predictions<'a> {
    out: &'a mut dyn Write,
    style: Style,
    classes: &'a [String],
    top: usize,
    /// The instance that is written next.
    index: usize,
    /// Whether a JSON list has its first element.
    started: bool,
}

impl Predictions<'_> {
    fn begin(&mut self) -> Result<()> {
        match self.style {
            Style::Csv => writeln!(self.out, "index,label,distance")?,
            Style::Json => write!(self.out, "[")?,
            Style::Text => writeln!(self.out, "{:>8}  {:>9}  label", "index", "distance")?,
        }
        Ok(())
    }

    fn write(&mut self, recognition: &Recognition) -> Result<()> {
        for instance in 0..recognition.distances.ncols() {
            for (class, distance) in recognition.top(instance, self.top) {
                self.row(&self.classes[class], distance)?;
            }
            self.index += 1;
        }
        Ok(())
    }

    fn row(&mut self, label: &str, distance: f64) -> Result<()> {
        let index = self.index;
        match self.style {
            Style::Csv => {
                let mut line = csv::Writer::from_writer(&mut self.out);
                line.write_record([&index.to_string(), label, &distance.to_string()])?;
                line.flush()?;
            }
            Style::Json => {
                let separator = if self.started { "," } else { "" };
                let object = serde_json::json!({"index": index, "label": label, "distance": distance});
                write!(self.out, "{separator}\n  {object}")?;
                self.started = true;
            }
            Style::Text => writeln!(self.out, "{index:>8}  {distance:>9.6}  {label}")?,
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        if self.style == Style::Json {
            writeln!(self.out, "\n]")?;
        }
        Ok(())
    }
}
