//! Predictions as a Parquet table of `index`, `label`, `distance` and, where instances have one, an identifier, written
//! block by block.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::Prediction;

/// Writes a Parquet file whose row groups are the blocks that it is given.
pub struct PredictionTable {
    /// Writes into memory, which is emptied into the output after every block.
    writer: SerializedFileWriter<Vec<u8>>,
}

impl PredictionTable {
    /// Begins a table; `id` is the name of the column of identifiers, where there is one.
    pub fn new(id: Option<&str>) -> io::Result<Self> {
        let id = id.map_or(String::new(), |name| format!("required binary {name} (UTF8);"));
        let schema = format!(
            "message predictions {{
                required int64 index;
                required binary label (UTF8);
                required double distance;
                {id}
            }}"
        );
        let schema = Arc::new(parse_message_type(&schema).map_err(other)?);
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        Ok(Self {
            writer: SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).map_err(other)?,
        })
    }

    /// Writes one block.
    pub fn write(&mut self, predictions: &[Prediction<'_>], out: &mut dyn Write) -> io::Result<()> {
        let indices: Vec<i64> = predictions
            .iter()
            .map(|p| i64::try_from(p.index))
            .collect::<Result<_, _>>()
            .map_err(io::Error::other)?;
        let labels: Vec<ByteArray> = predictions.iter().map(|p| ByteArray::from(p.label)).collect();
        let distances: Vec<f64> = predictions.iter().map(|p| p.distance).collect();
        let ids: Vec<ByteArray> =
            predictions.iter().map(|p| ByteArray::from(p.id.unwrap_or_default())).collect();
        let mut group = self.writer.next_row_group().map_err(other)?;
        let mut place = 0;
        while let Some(mut column) = group.next_column().map_err(other)? {
            match place {
                0 => column.typed::<Int64Type>().write_batch(&indices, None, None),
                1 => column.typed::<ByteArrayType>().write_batch(&labels, None, None),
                3 => column.typed::<ByteArrayType>().write_batch(&ids, None, None),
                _ => column.typed::<DoubleType>().write_batch(&distances, None, None),
            }
            .map_err(other)?;
            column.close().map_err(other)?;
            place += 1;
        }
        group.close().map_err(other)?;
        self.writer.flush()?;
        let bytes = self.writer.inner_mut();
        out.write_all(bytes)?;
        bytes.clear();
        Ok(())
    }

    /// Ends the table.
    pub fn finish(mut self, out: &mut dyn Write) -> io::Result<()> {
        self.writer.finish().map_err(other)?;
        self.writer.flush()?;
        out.write_all(self.writer.inner_mut())
    }
}

fn other(error: ParquetError) -> io::Error {
    io::Error::other(error)
}
