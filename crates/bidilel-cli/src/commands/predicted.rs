//! Predictions as lines, objects or rows of a table, written as they come.

use std::io::Write;

use anyhow::{Result, bail};
use bidilel::recognize::Recognition;
use bidilel_data::table::Ids;
use bidilel_data::{Prediction, PredictionTable};
use bidilel_report::{Format, visible};

use crate::failure::left_out;
use crate::output;

/// What the column of identifiers is called in predictions.
pub(super) fn id_name(ids: &Ids) -> &'static str {
    if ids.column.eq_ignore_ascii_case("path") { "path" } else { "id" }
}

pub(super) enum Style {
    Csv,
    Json,
    JsonLines,
    Text,
    Parquet,
}

impl Style {
    pub(super) fn of(format: Format) -> Result<Self> {
        match format {
            Format::Csv => Ok(Self::Csv),
            Format::Json => Ok(Self::Json),
            Format::JsonLines => Ok(Self::JsonLines),
            Format::Text => Ok(Self::Text),
            Format::Parquet if cfg!(feature = "parquet") => Ok(Self::Parquet),
            Format::Parquet => Err(left_out("Parquet tables", "parquet")),
            Format::Markdown | Format::Latex => {
                bail!("predictions come as csv, json, parquet or text, not as {format}")
            }
        }
    }
}

/// Makes `index,label,distance` lines of recognised instances.
pub(super) struct Lines<'a> {
    pub(super) style: &'a Style,
    pub(super) classes: &'a [String],
    pub(super) top: usize,
    pub(super) ids: Option<&'a Ids>,
}

/// Some lines, ready to be written.
pub(super) enum Made<'a> {
    Text(Vec<u8>),
    Rows(Vec<Prediction<'a>>),
}

impl<'a> Lines<'a> {
    /// The lines of a block of instances, whose numbers these are.
    pub(super) fn of(&self, numbers: &[usize], recognition: &Recognition) -> Result<Made<'a>> {
        let (classes, ids) = (self.classes, self.ids);
        let rows = (0..recognition.scores.instances()).flat_map(|instance| {
            let index = numbers[instance];
            let id = ids.map(|ids| ids.values[index].as_str());
            let row = move |(class, score): (usize, f64)| -> Prediction<'a> {
                Prediction { index, label: classes[class].as_str(), distance: -score, id }
            };
            recognition.scores.top(instance, self.top).into_iter().map(row)
        });
        let mut text = Vec::new();
        match self.style {
            Style::Parquet => return Ok(Made::Rows(rows.collect())),
            Style::Csv => {
                let mut csv = csv::Writer::from_writer(&mut text);
                for Prediction { index, label, distance, id } in rows {
                    csv.write_field(index.to_string())?;
                    csv.write_field(&*output::csv_cell(label))?;
                    csv.write_field(distance.to_string())?;
                    id.iter().try_for_each(|id| csv.write_field(&*output::csv_cell(id)))?;
                    csv.write_record(None::<&[u8]>)?;
                }
                csv.flush()?;
            }
            Style::Json | Style::JsonLines => {
                for Prediction { index, label, distance, id } in rows {
                    let mut object =
                        serde_json::json!({"index": index, "label": label, "distance": distance});
                    if let (Some(id), Some(ids)) = (id, ids) {
                        object[id_name(ids)] = id.into();
                    }
                    match self.style {
                        Style::Json => write!(text, ",\n  {object}")?,
                        _ => writeln!(text, "{object}")?,
                    }
                }
            }
            Style::Text => {
                for Prediction { index, label, distance, id } in rows {
                    let id = id.map_or(String::new(), |id| format!("  {}", visible(id)));
                    writeln!(text, "{index:>8}  {distance:>9.6}  {}{id}", visible(label))?;
                }
            }
        }
        Ok(Made::Text(text))
    }
}

/// Writes blocks as they come.
pub(super) struct Writer<'a> {
    out: &'a mut dyn Write,
    head: Vec<u8>,
    table: Option<PredictionTable>,
    /// Whether the next object of a list is its first, which has no comma before it.
    first: bool,
}

impl<'a> Writer<'a> {
    /// Begins with nothing: a header is written with the first lines, so that a run that fails before these prints none.
    pub(super) fn new(out: &'a mut dyn Write, style: &Style, id: Option<&str>) -> Result<Self> {
        let (mut head, mut table) = (Vec::new(), None);
        match style {
            Style::Csv => {
                writeln!(head, "index,label,distance{}", id.map_or(String::new(), |id| format!(",{id}")))?;
            }
            Style::Json => write!(head, "[")?,
            Style::JsonLines => {}
            Style::Text => writeln!(head, "{:>8}  {:>9}  label", "index", "distance")?,
            Style::Parquet => table = Some(PredictionTable::new(id)?),
        }
        Ok(Self { out, head, table, first: matches!(style, Style::Json) })
    }

    pub(super) fn write(&mut self, block: Made<'_>) -> Result<()> {
        match (block, &mut self.table) {
            (Made::Rows(rows), Some(table)) => table.write(&rows, self.out)?,
            (Made::Text(text), _) => {
                let comma = usize::from(self.first && !text.is_empty());
                self.first &= text.is_empty();
                self.out.write_all(&std::mem::take(&mut self.head))?;
                self.out.write_all(&text[comma..])?;
            }
            (Made::Rows(_), None) => bail!("rows without a table to write them to"),
        }
        Ok(())
    }

    pub(super) fn end(self, style: &Style) -> Result<()> {
        self.out.write_all(&self.head)?;
        if let Style::Json = style {
            writeln!(self.out, "\n]")?;
        }
        match self.table {
            Some(table) => Ok(table.finish(self.out)?),
            None => Ok(()),
        }
    }
}
