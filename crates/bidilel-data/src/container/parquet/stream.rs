//! Rows of some columns, decoded a block at a time: one page of every column is held, whatever the file's size.
//!
//! Pages come from the file and not from a map, because what is read from a map stays in memory as long as it does.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::DataType;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::leaf::{Leaf, Shape, check_group};
use super::pages::Checked;
use super::{array, unreadable};
use crate::array::{Array, Element};
use crate::container::{RowStream, path_of};
use crate::error::{Error, Result};

/// Rows that are decoded at once.
const BATCH_ROWS: usize = 256;

pub(super) struct Stream {
    path: PathBuf,
    reader: SerializedFileReader<File>,
    size: usize,
    columns: Vec<Cursor>,
    rows: usize,
    width: usize,
    /// The next row, the next row group, and the rows that are left of the one before.
    next: usize,
    group: usize,
    left: usize,
}

/// One column, and how far it was read.
struct Cursor {
    leaf: Leaf,
    shape: Shape,
    pages: Option<ColumnReader>,
}

impl Stream {
    pub(super) fn open(path: &Path, leaves: Vec<Leaf>) -> Result<Self> {
        let read = |source| Error::Read { path: path.to_owned(), source };
        let file = File::open(path).map_err(read)?;
        let size = usize::try_from(file.metadata().map_err(read)?.len()).unwrap_or(usize::MAX);
        let reader = SerializedFileReader::new(file).map_err(|error| unreadable(path, &error))?;
        let rows = usize::try_from(reader.metadata().file_metadata().num_rows()).unwrap_or(0);
        let width = match &leaves[..] {
            [list] if list.is_list => list.values / rows.max(1),
            columns => columns.len(),
        };
        let cursor = |leaf| Cursor { leaf, shape: Shape::default(), pages: None };
        let columns = leaves.into_iter().map(cursor).collect();
        Ok(Self { path: path.to_owned(), reader, size, columns, rows, width, next: 0, group: 0, left: 0 })
    }

    /// Goes back to the first row.
    fn rewind(&mut self) {
        (self.next, self.group, self.left) = (0, 0, 0);
        self.columns.iter_mut().for_each(|cursor| cursor.shape = Shape::default());
    }

    /// Opens the next row group that has rows.
    fn next_group(&mut self) -> Result<()> {
        while self.left == 0 {
            self.end_group()?;
            let failed = |error| unreadable(&self.path, &error);
            if self.group == self.reader.num_row_groups() {
                let problem = format!("it says that it has {} rows, but has {}", self.rows, self.next);
                return Err(Error::Malformed { path: self.path.clone(), problem });
            }
            let group = self.reader.get_row_group(self.group).map_err(failed)?;
            self.left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            for cursor in &mut self.columns {
                let pages = group.get_column_page_reader(cursor.leaf.index).map_err(failed)?;
                let pages = Box::new(Checked::new(pages, self.size.saturating_mul(1032)));
                cursor.pages = Some(get_column_reader(cursor.leaf.column.clone(), pages));
            }
            self.group += 1;
        }
        Ok(())
    }

    /// Fails if a column goes on where its row group ends: those rows would be skipped.
    fn end_group(&mut self) -> Result<()> {
        let Some(group) = self.group.checked_sub(1) else { return Ok(()) };
        let metadata = self.reader.metadata();
        let claimed = usize::try_from(metadata.row_group(group).num_rows()).unwrap_or(0);
        for cursor in &mut self.columns {
            let path = path_of(&self.path, &cursor.leaf.key);
            if !cursor.read(&path, 1)?.is_empty() {
                check_group(&path, metadata, group, claimed + 1)?;
            }
        }
        Ok(())
    }

    /// Decodes the next rows, all of one row group: row after row.
    fn decode(&mut self, count: usize) -> Result<Vec<f64>> {
        let (columns, width) = (self.columns.len(), self.width);
        // A list may claim any length, so nothing is made ready for it.
        let mut cells = if columns == 1 { Vec::new() } else { vec![0.0; count * width] };
        for (place, cursor) in self.columns.iter_mut().enumerate() {
            let path = path_of(&self.path, &cursor.leaf.key);
            let values = cursor.read(&path, count)?;
            let each = if cursor.leaf.is_list { width } else { 1 };
            if Some(values.len()) != count.checked_mul(each) {
                let problem =
                    format!("expected {each} values in each of {count} rows, found {}", values.len());
                return Err(Error::Malformed { path, problem });
            }
            if columns == 1 {
                cells = values;
            } else {
                let column = cells.iter_mut().skip(place).step_by(columns);
                column.zip(values).for_each(|(cell, value)| *cell = value);
            }
        }
        Ok(cells)
    }
}

impl RowStream for Stream {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.width
    }

    fn read(&mut self, rows: Range<usize>) -> Result<Array> {
        if rows.start < self.next {
            self.rewind();
        }
        let too_large = || Error::TooLarge { path: self.path.clone(), shape: vec![rows.len(), self.width] };
        let length = rows.len().checked_mul(self.width).ok_or_else(too_large)?;
        let mut cells: Vec<u8> = Vec::new();
        cells.try_reserve_exact(length.saturating_mul(size_of::<f64>())).map_err(|_| too_large())?;
        while self.next < rows.end {
            self.next_group()?;
            // Up to the block, then up to its end.
            let end = if self.next < rows.start { rows.start } else { rows.end };
            let count = BATCH_ROWS.min(self.left).min(end - self.next);
            let batch = self.decode(count)?;
            if self.next >= rows.start {
                batch.iter().for_each(|value| cells.extend_from_slice(&value.to_le_bytes()));
            }
            (self.next, self.left) = (self.next + count, self.left - count);
            if self.next == self.rows {
                self.end_group()?;
            }
        }
        array(&self.path, cells, vec![rows.len(), self.width], Element::F64)
    }
}

impl Cursor {
    /// The values of the next rows.
    fn read(&mut self, path: &Path, count: usize) -> Result<Vec<f64>> {
        let unsigned = matches!(self.leaf.element(), Element::U32 | Element::U64);
        let Some(pages) = self.pages.as_mut() else { return Ok(Vec::new()) };
        let (leaf, shape) = (&self.leaf, &mut self.shape);
        match pages {
            ColumnReader::BoolColumnReader(reader) => {
                values(path, leaf, shape, reader, count, |&value| f64::from(u8::from(value)))
            }
            ColumnReader::Int32ColumnReader(reader) => values(path, leaf, shape, reader, count, |&value| {
                if unsigned { value.cast_unsigned().into() } else { value.into() }
            }),
            ColumnReader::Int64ColumnReader(reader) => values(path, leaf, shape, reader, count, |&value| {
                if unsigned { value.cast_unsigned() as f64 } else { value as f64 }
            }),
            ColumnReader::FloatColumnReader(reader) => {
                values(path, leaf, shape, reader, count, |&value| value.into())
            }
            ColumnReader::DoubleColumnReader(reader) => {
                values(path, leaf, shape, reader, count, |&value| value)
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                values(path, leaf, shape, reader, count, |value| {
                    let bytes = value.data().first_chunk::<2>().copied().unwrap_or_default();
                    half::f16::from_le_bytes(bytes).to_f64()
                })
            }
            _ => Err(Error::Unsupported { path: path.to_owned(), what: "a column of this type".to_owned() }),
        }
    }
}

/// The values of the next rows of one type, checked for gaps and for lists of other lengths.
fn values<T: DataType>(
    path: &Path,
    leaf: &Leaf,
    shape: &mut Shape,
    reader: &mut ColumnReaderImpl<T>,
    count: usize,
    widen: impl Fn(&T::T) -> f64,
) -> Result<Vec<f64>> {
    let (mut values, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
    let mut left = count;
    while left > 0 {
        let (records, ..) = reader
            .read_records(left, Some(&mut defined), Some(&mut repeated), &mut values)
            .map_err(|error| unreadable(path, &error))?;
        if records == 0 {
            break;
        }
        left -= records;
    }
    leaf.check_levels(path, shape, &defined, &repeated, values.len())?;
    Ok(values.iter().map(widen).collect())
}
