//! Predictions as a Parquet table of `index`, `label`, `distance` and, where rows have them, `probability`, `in_set` and
//! an identifier. Where instances may be rejected, `label` is null for those that are.

use std::io::{self, Write};

use super::cells::{Cells, ColumnType};
use super::parquet::TableWriter;
use super::prediction::{Prediction, PredictionColumns};

/// Writes a Parquet file whose row groups are the blocks that it is given.
pub struct PredictionTable {
    table: TableWriter,
    /// Without the name of the identifiers.
    columns: PredictionColumns<'static>,
    has_ids: bool,
}

impl PredictionTable {
    /// Begins a table of these columns.
    pub fn new(columns: &PredictionColumns<'_>) -> io::Result<Self> {
        let kind = |name: &str| match name {
            "index" => ColumnType::Integer,
            "label" if columns.rejects => ColumnType::OptionalText,
            "distance" | "probability" => ColumnType::Float,
            "in_set" => ColumnType::Boolean,
            _ => ColumnType::Text,
        };
        let table = TableWriter::new(columns.names().into_iter().map(|name| (name, kind(name))))?;
        let PredictionColumns { rejects, probability, in_set, id } = *columns;
        let columns = PredictionColumns { rejects, probability, in_set, id: None };
        Ok(Self { table, columns, has_ids: id.is_some() })
    }

    /// Writes one block.
    pub fn write(&mut self, predictions: &[Prediction<'_>], out: &mut dyn Write) -> io::Result<()> {
        let indices: Result<Vec<i64>, _> = predictions.iter().map(|p| i64::try_from(p.index)).collect();
        let labels = predictions.iter().map(|p| p.label);
        let mut cells = vec![
            Cells::Integers(indices.map_err(io::Error::other)?),
            if self.columns.rejects {
                Cells::OptionalTexts(labels.collect())
            } else {
                Cells::Texts(labels.map(Option::unwrap_or_default).collect())
            },
            Cells::Floats(predictions.iter().map(|p| p.distance).collect()),
        ];
        if self.columns.probability {
            cells
                .push(Cells::Floats(predictions.iter().map(|p| p.probability.unwrap_or(f64::NAN)).collect()));
        }
        if self.columns.in_set {
            cells.push(Cells::Booleans(predictions.iter().map(|p| p.in_set.unwrap_or_default()).collect()));
        }
        if self.has_ids {
            cells.push(Cells::Texts(predictions.iter().map(|p| p.id.unwrap_or_default()).collect()));
        }
        self.table.write(&cells, out)
    }

    /// Ends the table.
    pub fn finish(self, out: &mut dyn Write) -> io::Result<()> {
        self.table.finish(out)
    }
}
