//! Predictions as rows of text or of a Parquet table, written in blocks.

use std::io::Write;

use anyhow::{Result, bail};
use bidilel::calibrate::Answering;
use bidilel::recognize::Recognition;
use bidilel_data::table::Ids;
use bidilel_data::{Prediction, PredictionColumns, PredictionTable};
use bidilel_report::{Format, IdKind, RowFormat, prediction_rows, tag_rows};

use super::copies::Labels;
use crate::failure::left_out;
use crate::output;

/// The folder of copies of instances that are rejected.
const NONE_OF_THESE: &str = "none-of-these";

/// How predictions are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Rows(RowFormat),
    Parquet,
}

impl Style {
    pub(super) fn of(format: Format) -> Result<Self> {
        match format {
            Format::Csv if output::is_csv_safe() => Ok(Self::Rows(RowFormat::SafeCsv)),
            Format::Csv => Ok(Self::Rows(RowFormat::Csv)),
            Format::Json => Ok(Self::Rows(RowFormat::Json)),
            Format::JsonLines => Ok(Self::Rows(RowFormat::JsonLines)),
            Format::Text => Ok(Self::Rows(RowFormat::Text)),
            Format::Parquet if cfg!(feature = "parquet") => Ok(Self::Parquet),
            Format::Parquet => Err(left_out("Parquet tables", "parquet")),
            Format::Markdown | Format::Latex => {
                bail!("predictions come as csv, json, parquet or text, not as {format}")
            }
        }
    }
}

/// Renders blocks of recognized instances.
pub(super) struct Renderer<'a> {
    pub(super) style: Style,
    pub(super) classes: &'a [String],
    pub(super) top: usize,
    /// The least scores of tags, which are all given, instead of the best.
    pub(super) thresholds: Option<&'a [f64]>,
    pub(super) ids: Option<&'a Ids>,
    pub(super) answering: Option<Answering>,
    /// Gets the best label of every instance.
    pub(super) labels: Option<&'a Labels>,
}

/// A block, ready to be written.
pub(super) enum Rendered<'a> {
    Text(String),
    Rows(Vec<Prediction<'a>>),
}

impl<'a> Renderer<'a> {
    /// The columns of its rows.
    pub(super) fn columns(&self) -> PredictionColumns<'static> {
        PredictionColumns {
            rejects: self.thresholds.is_some() || self.answering.is_some_and(|one| one.reject.is_some()),
            probability: self.answering.is_some(),
            in_set: self.answering.is_some_and(|one| one.set_bound.is_some()),
            id: self.ids.map(|ids| IdKind::of(ids).name()),
        }
    }

    /// Renders the rows of a block; `numbers` are the instances' indices.
    pub(super) fn block(&self, numbers: &[usize], recognition: &Recognition) -> Rendered<'a> {
        let (scores, answering) = (&recognition.scores, self.answering.as_ref());
        match self.thresholds {
            Some(least) => self.rendered(tag_rows(scores, numbers, self.classes, least, self.ids)),
            None => {
                self.rendered(prediction_rows(scores, numbers, self.classes, self.top, self.ids, answering))
            }
        }
    }

    fn rendered(&self, rows: impl Iterator<Item = Prediction<'a>>) -> Rendered<'a> {
        let rows = rows.inspect(|row| {
            self.labels
                .into_iter()
                .for_each(|labels| labels.put(row.index, row.label.unwrap_or(NONE_OF_THESE)));
        });
        match self.style {
            Style::Parquet => Rendered::Rows(rows.collect()),
            Style::Rows(format) => Rendered::Text(format.rows(rows, self.ids.map(IdKind::of))),
        }
    }
}

/// Writes blocks in order.
pub(super) struct Writer<'a> {
    out: &'a mut dyn Write,
    sink: Sink,
}

enum Sink {
    /// The head is written with the first block, so that a run that fails before it prints nothing.
    Rows {
        format: RowFormat,
        head: Option<String>,
        /// Whether a row has been written.
        any: bool,
    },
    Parquet(Box<PredictionTable>),
}

impl<'a> Writer<'a> {
    pub(super) fn new(out: &'a mut dyn Write, style: Style, columns: &PredictionColumns<'_>) -> Result<Self> {
        let sink = match style {
            Style::Rows(format) => Sink::Rows { format, head: Some(format.head(columns)), any: false },
            Style::Parquet => Sink::Parquet(Box::new(PredictionTable::new(columns)?)),
        };
        Ok(Self { out, sink })
    }

    pub(super) fn write(&mut self, block: Rendered<'_>) -> Result<()> {
        match (block, &mut self.sink) {
            (Rendered::Rows(rows), Sink::Parquet(table)) => table.write(&rows, self.out)?,
            (Rendered::Text(text), Sink::Rows { format, head, any }) => {
                self.out.write_all(head.take().unwrap_or_default().as_bytes())?;
                if *any && !text.is_empty() {
                    self.out.write_all(format.separator().as_bytes())?;
                }
                *any |= !text.is_empty();
                self.out.write_all(text.as_bytes())?;
            }
            _ => bail!("a block and the file that it is written to have different formats"),
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<()> {
        match self.sink {
            Sink::Parquet(table) => Ok(table.finish(self.out)?),
            Sink::Rows { format, head, .. } => {
                self.out.write_all(head.unwrap_or_default().as_bytes())?;
                Ok(self.out.write_all(format.tail().as_bytes())?)
            }
        }
    }
}
