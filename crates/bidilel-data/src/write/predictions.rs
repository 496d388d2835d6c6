//! Predictions as a Parquet table of `index`, `label` and `distance`, written block by block.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

const SCHEMA: &str = "message predictions {
    required int64 index;
    required binary label (UTF8);
    required double distance;
}";

/// One prediction: instance, class, distance.
pub type Prediction<'a> = (usize, &'a str, f64);

/// Writes a Parquet file whose row groups are the blocks that it is given.
pub struct PredictionTable {
    /// Writes into memory, which is emptied into the output after every block.
    writer: SerializedFileWriter<Vec<u8>>,
}

impl PredictionTable {
    /// Begins a table.
    pub fn new() -> io::Result<Self> {
        let schema = Arc::new(parse_message_type(SCHEMA).map_err(other)?);
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        Ok(Self {
            writer: SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).map_err(other)?,
        })
    }

    /// Writes one block.
    pub fn write(&mut self, predictions: &[Prediction<'_>], out: &mut dyn Write) -> io::Result<()> {
        let indices: Vec<i64> = predictions
            .iter()
            .map(|p| i64::try_from(p.0))
            .collect::<Result<_, _>>()
            .map_err(io::Error::other)?;
        let labels: Vec<ByteArray> = predictions.iter().map(|p| ByteArray::from(p.1)).collect();
        let distances: Vec<f64> = predictions.iter().map(|p| p.2).collect();
        let mut group = self.writer.next_row_group().map_err(other)?;
        let mut place = 0;
        while let Some(mut column) = group.next_column().map_err(other)? {
            match place {
                0 => column.typed::<Int64Type>().write_batch(&indices, None, None),
                1 => column.typed::<ByteArrayType>().write_batch(&labels, None, None),
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
