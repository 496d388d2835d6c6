//! Tables of results as Parquet, written block by block.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::cells::{Cells, ColumnType};

/// Writes a Parquet file whose row groups are the blocks that it is given.
pub struct TableWriter {
    /// Writes into memory, which is emptied into the output after every block.
    writer: SerializedFileWriter<Vec<u8>>,
}

impl TableWriter {
    /// Begins a table of columns that have these names, whatever letters are in them.
    pub fn new<'n>(columns: impl IntoIterator<Item = (&'n str, ColumnType)>) -> io::Result<Self> {
        let fields = columns.into_iter().map(|(name, kind)| field(name, kind).map(Arc::new));
        let fields = fields.collect::<Result<_, _>>().map_err(other)?;
        let schema = Type::group_type_builder("results").with_fields(fields).build().map_err(other)?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties));
        Ok(Self { writer: writer.map_err(other)? })
    }

    /// Writes one block: the cells of every column, in the order of the columns.
    ///
    /// # Errors
    /// If the output fails, or if cells are not of the type of their column.
    pub fn write(&mut self, block: &[Cells<'_>], out: &mut dyn Write) -> io::Result<()> {
        let mut group = self.writer.next_row_group().map_err(other)?;
        for cells in block {
            let Some(mut column) = group.next_column().map_err(other)? else {
                return Err(io::Error::other("more cells than columns"));
            };
            match cells {
                Cells::Integers(values) => column.typed::<Int64Type>().write_batch(values, None, None),
                Cells::Texts(values) => {
                    let values: Vec<ByteArray> = values.iter().map(|&text| ByteArray::from(text)).collect();
                    column.typed::<ByteArrayType>().write_batch(&values, None, None)
                }
                Cells::Floats(values) => column.typed::<DoubleType>().write_batch(values, None, None),
                Cells::OptionalFloats(values) => {
                    let present: Vec<f64> = values.iter().flatten().copied().collect();
                    let levels: Vec<i16> = values.iter().map(|value| value.is_some().into()).collect();
                    column.typed::<DoubleType>().write_batch(&present, Some(&levels), None)
                }
                Cells::OptionalTexts(values) => {
                    let present: Vec<ByteArray> =
                        values.iter().flatten().map(|&text| ByteArray::from(text)).collect();
                    let levels: Vec<i16> = values.iter().map(|value| value.is_some().into()).collect();
                    column.typed::<ByteArrayType>().write_batch(&present, Some(&levels), None)
                }
                Cells::Booleans(values) => column.typed::<BoolType>().write_batch(values, None, None),
            }
            .map_err(other)?;
            column.close().map_err(other)?;
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

fn field(name: &str, kind: ColumnType) -> Result<Type, ParquetError> {
    let (physical, converted) = match kind {
        ColumnType::Integer => (Physical::INT64, ConvertedType::NONE),
        ColumnType::Text | ColumnType::OptionalText => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
        ColumnType::Boolean => (Physical::BOOLEAN, ConvertedType::NONE),
        ColumnType::Float | ColumnType::OptionalFloat => (Physical::DOUBLE, ConvertedType::NONE),
    };
    let repetition = match kind {
        ColumnType::OptionalFloat | ColumnType::OptionalText => Repetition::OPTIONAL,
        _ => Repetition::REQUIRED,
    };
    Type::primitive_type_builder(name, physical)
        .with_converted_type(converted)
        .with_repetition(repetition)
        .build()
}

fn other(error: ParquetError) -> io::Error {
    io::Error::other(error)
}
