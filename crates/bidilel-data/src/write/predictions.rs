//! Predictions as a Parquet table of `index`, `label`, `distance` and, where instances have one, an identifier.

use std::io::{self, Write};

use super::cells::{Cells, ColumnType};
use super::parquet::TableWriter;
use super::prediction::Prediction;

/// Writes a Parquet file whose row groups are the blocks that it is given.
pub struct PredictionTable {
    table: TableWriter,
    has_ids: bool,
}

impl PredictionTable {
    /// Begins a table; `id` is the name of the column of identifiers, where there is one.
    pub fn new(id: Option<&str>) -> io::Result<Self> {
        let columns =
            [("index", ColumnType::Integer), ("label", ColumnType::Text), ("distance", ColumnType::Float)];
        let table = TableWriter::new(columns.into_iter().chain(id.map(|name| (name, ColumnType::Text))))?;
        Ok(Self { table, has_ids: id.is_some() })
    }

    /// Writes one block.
    pub fn write(&mut self, predictions: &[Prediction<'_>], out: &mut dyn Write) -> io::Result<()> {
        let indices: Result<Vec<i64>, _> = predictions.iter().map(|p| i64::try_from(p.index)).collect();
        let mut cells = vec![
            Cells::Integers(indices.map_err(io::Error::other)?),
            Cells::Texts(predictions.iter().map(|p| p.label).collect()),
            Cells::Floats(predictions.iter().map(|p| p.distance).collect()),
        ];
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
