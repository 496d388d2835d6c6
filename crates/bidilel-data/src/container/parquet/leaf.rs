//! One column as it is stored: values, and levels that say where lists begin and what is missing.

use std::collections::HashMap;
use std::path::Path;

use parquet::basic::Type;
use parquet::column::reader::{ColumnReaderImpl, get_column_reader, get_typed_column_reader};
use parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::FileReader;
use parquet::schema::types::ColumnDescPtr;

use super::content::{Content, content};
use super::pages::Checked;
use super::unreadable;
use crate::array::Element;
use crate::container::EntryKind;
use crate::container::inflate::check_claim;
use crate::error::{Error, Result};
use crate::room;

/// Rows that are decoded at once.
const BATCH: usize = 1024;

#[derive(Clone)]
pub(super) struct Leaf {
    pub(super) key: String,
    pub(super) is_list: bool,
    /// How many values the file says that it has.
    pub(super) values: usize,
    pub(super) index: usize,
    pub(super) column: ColumnDescPtr,
    content: Content,
}

impl Leaf {
    /// Every column of a table.
    pub(super) fn all(metadata: &ParquetMetaData) -> Vec<Self> {
        let columns = metadata.file_metadata().schema_descr().columns();
        // Counted once: comparing all with all would take hours of a table that is wide on purpose.
        let mut columns_of_root = HashMap::<&str, usize>::new();
        for column in columns {
            *columns_of_root.entry(&column.path().parts()[0]).or_default() += 1;
        }
        let leaf = |(index, column): (usize, &ColumnDescPtr)| {
            let alone = columns_of_root[column.path().parts()[0].as_str()] == 1;
            Self::new(index, column, alone, metadata)
        };
        columns.iter().enumerate().map(leaf).collect()
    }

    /// `alone`: no other column is a part of the same record.
    fn new(index: usize, column: &ColumnDescPtr, alone: bool, metadata: &ParquetMetaData) -> Self {
        let is_list = column.max_rep_level() == 1;
        let parts = column.path().parts();
        // Between the name of a list and its elements are two levels that every writer calls something else.
        let alone = column.max_rep_level() > 0 && alone;
        let key = if alone { parts[0].clone() } else { parts.join(".") };
        let content = if column.max_rep_level() > 1 { Content::Other } else { content(column) };
        let count = |group: usize| metadata.row_group(group).column(index).num_values();
        let values = (0..metadata.num_row_groups()).map(|group| usize::try_from(count(group)).unwrap_or(0));
        let values = values.fold(0, usize::saturating_add);
        Self { key, is_list, values, index, column: column.clone(), content }
    }

    pub(super) fn kind(&self) -> EntryKind {
        match self.content {
            Content::Numbers(_) => EntryKind::Numbers,
            Content::Strings if !self.is_list => EntryKind::Strings,
            _ => EntryKind::Other,
        }
    }

    pub(super) fn element(&self) -> Element {
        if let Content::Numbers(element) = self.content { element } else { Element::U8 }
    }

    /// All numbers, little-endian, and how many there are in a row.
    pub(super) fn numbers(
        &self,
        path: &Path,
        reader: &dyn FileReader,
        size: usize,
    ) -> Result<(Vec<u8>, usize)> {
        let mut out = Vec::new();
        // Memory is only taken when it is filled, so that a file that claims too much is no harm.
        room::reserve(path, &mut out, self.values.saturating_mul(self.element().size()))?;
        let bytes = &mut out;
        let width = match self.column.physical_type() {
            Type::BOOLEAN => self.read::<BoolType>(path, reader, size, |v| bytes.push(u8::from(*v))),
            Type::INT32 => self.read::<Int32Type>(path, reader, size, |v| bytes.extend(v.to_le_bytes())),
            Type::INT64 => self.read::<Int64Type>(path, reader, size, |v| bytes.extend(v.to_le_bytes())),
            Type::FLOAT => self.read::<FloatType>(path, reader, size, |v| bytes.extend(v.to_le_bytes())),
            Type::DOUBLE => self.read::<DoubleType>(path, reader, size, |v| bytes.extend(v.to_le_bytes())),
            Type::FIXED_LEN_BYTE_ARRAY => self.read::<FixedLenByteArrayType>(path, reader, size, |v| {
                bytes.extend(v.data().first_chunk::<2>().unwrap_or(&[0; 2]));
            }),
            other => {
                Err(Error::Unsupported { path: path.to_owned(), what: format!("a column of type {other}") })
            }
        };
        width.map(|width| (out, width))
    }

    /// All strings of a column that has one in every row.
    pub(super) fn strings(&self, path: &Path, reader: &dyn FileReader, size: usize) -> Result<Vec<String>> {
        let (mut strings, mut damaged, mut room) = (Vec::new(), None, size.saturating_mul(1032));
        self.read::<ByteArrayType>(path, reader, size, |value| {
            // Rows that share a long text in the dictionary are how a small file holds a large one.
            room = room.saturating_sub(value.len());
            match value.as_utf8() {
                Ok(text) if damaged.is_none() && room > 0 => strings.push(text.to_owned()),
                _ => damaged = damaged.or(Some(strings.len())),
            }
        })?;
        match damaged {
            None => Ok(strings),
            Some(row) => Err(missing(path, row, "UTF-8 text", "other bytes")),
        }
    }

    /// Calls `take` with every value, and returns how many there are in a row: the same in each.
    fn read<T: DataType>(
        &self,
        path: &Path,
        reader: &dyn FileReader,
        size: usize,
        mut take: impl FnMut(&T::T),
    ) -> Result<usize> {
        let failed = |error: ParquetError| unreadable(path, &error);
        let mut shape = Shape { row: 0, width: None, length: 0 };
        for group in 0..reader.num_row_groups() {
            let before = shape.row;
            let pages =
                reader.get_row_group(group).and_then(|group| group.get_column_page_reader(self.index));
            let pages = Box::new(Checked::new(pages.map_err(failed)?, size.saturating_mul(1032)));
            let mut column: ColumnReaderImpl<T> =
                get_typed_column_reader(get_column_reader(self.column.clone(), pages));
            loop {
                let (mut values, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
                let (records, ..) = column
                    .read_records(BATCH, Some(&mut defined), Some(&mut repeated), &mut values)
                    .map_err(failed)?;
                if records == 0 {
                    break;
                }
                self.check_levels(path, &mut shape, &defined, &repeated, values.len())?;
                check_claim(path, size, shape.row.saturating_mul(shape.width.unwrap_or(1)))?;
                values.iter().for_each(&mut take);
            }
            // No list goes on in the next row group.
            shape.end_row(path)?;
            check_group(path, reader.metadata(), group, shape.row - before)?;
        }
        Ok(shape.width.unwrap_or(1))
    }

    /// Counts rows, and refuses lists of different lengths and values that are missing.
    pub(super) fn check_levels(
        &self,
        path: &Path,
        shape: &mut Shape,
        defined: &[i16],
        repeated: &[i16],
        values: usize,
    ) -> Result<()> {
        let most = self.column.max_def_level();
        if !self.is_list {
            if let Some(row) = defined.iter().position(|&level| level < most) {
                return Err(missing(path, shape.row + row, "a value", "none"));
            }
            shape.row += values;
            return Ok(());
        }
        for (index, &level) in repeated.iter().enumerate() {
            if level == 0 {
                shape.end_row(path)?;
            }
            // Lists that cannot be missing have no levels for it.
            if defined.get(index).is_some_and(|&level| level < most) {
                return Err(missing(path, shape.row, "a list of numbers", "one that is empty or has gaps"));
            }
            shape.length += 1;
        }
        Ok(())
    }
}

/// How long the lists are.
#[derive(Default)]
pub(super) struct Shape {
    pub(super) row: usize,
    width: Option<usize>,
    /// Of the list that is being read.
    length: usize,
}

impl Shape {
    pub(super) fn end_row(&mut self, path: &Path) -> Result<()> {
        if self.length == 0 {
            return Ok(());
        }
        let width = *self.width.get_or_insert(self.length);
        if self.length != width {
            let expected = format!("a list of {width}, as in the rows before");
            return Err(missing(path, self.row, &expected, &format!("one of {}", self.length)));
        }
        (self.row, self.length) = (self.row + 1, 0);
        Ok(())
    }
}

/// Fails if a column has other rows in a row group than the group says: whoever counts rows by groups would skip some.
pub(super) fn check_group(path: &Path, metadata: &ParquetMetaData, group: usize, found: usize) -> Result<()> {
    let claimed = usize::try_from(metadata.row_group(group).num_rows()).unwrap_or(0);
    if found == claimed {
        return Ok(());
    }
    // A stream knows no more than that.
    let found = if found > claimed { "more".to_owned() } else { found.to_string() };
    let problem = format!("row group {group} says that it has {claimed} rows, but this column has {found}");
    Err(Error::Malformed { path: path.to_owned(), problem })
}

fn missing(path: &Path, row: usize, expected: &str, found: &str) -> Error {
    let (expected, found) = (expected.to_owned(), found.to_owned());
    Error::Value { path: path.to_owned(), row, column: None, expected, found }
}
