//! Parquet tables: a column of lists, or many columns of numbers.
//!
//! A key is the name of a column; fields of nested records have dots in theirs. A column of lists of one length is a
//! matrix. Without a key the array is the only column of lists or, where there is none, all columns of numbers.

mod content;
mod footer;
mod leaf;
mod pages;
mod stream;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::{Column, Entry, EntryKind, Reader, RowStream, Tabular, path_of};
use crate::array::{Array, ByteOrder, Bytes, Element, Layout, Order};
use crate::container::{Format, sandbox};
use crate::error::{Error, Result};
use crate::room;
use leaf::Leaf;

pub(super) struct Parquet {
    path: PathBuf,
    reader: SerializedFileReader<bytes::Bytes>,
    leaves: Vec<Leaf>,
    columns: Vec<Column>,
    rows: usize,
    /// Bytes of the file.
    size: usize,
}

impl Parquet {
    pub(super) fn new(path: &Path, bytes: Bytes) -> Result<Self> {
        let size = (*bytes).as_ref().len();
        footer::check(path, (*bytes).as_ref())?;
        let reader = SerializedFileReader::new(bytes::Bytes::from_owner(Owner(bytes)))
            .map_err(|error| unreadable(path, &error))?;
        let metadata = reader.metadata();
        let rows = rows(path, metadata)?;
        let leaves = Leaf::all(metadata);
        let column =
            |leaf: &Leaf| Column { name: leaf.key.clone(), kind: leaf.kind(), is_list: leaf.is_list };
        let columns = leaves.iter().map(column).collect();
        Ok(Self { path: path.to_owned(), reader, leaves, columns, rows, size })
    }

    fn leaf(&self, key: &str) -> Result<&Leaf> {
        self.leaves.iter().find(|leaf| leaf.key == key).ok_or_else(|| Error::NoSuchKey {
            path: self.path.clone(),
            key: key.to_owned(),
            keys: self.leaves.iter().map(|leaf| leaf.key.clone()).collect(),
        })
    }

    /// The columns that make up the array that has no key.
    fn features(&self) -> Vec<&Leaf> {
        let numbers = || self.leaves.iter().filter(|leaf| leaf.kind() == EntryKind::Numbers);
        match numbers().filter(|leaf| leaf.is_list).count() {
            0 => numbers().collect(),
            1 => numbers().filter(|leaf| leaf.is_list).collect(),
            // Which of them is meant, only a key can say.
            _ => Vec::new(),
        }
    }

    fn shape(&self, leaf: &Leaf) -> Vec<usize> {
        if leaf.is_list { vec![self.rows, leaf.values / self.rows.max(1)] } else { vec![self.rows] }
    }

    /// The elements of one column, and how many there are in a row.
    fn column(&self, leaf: &Leaf) -> Result<(Vec<u8>, usize)> {
        let path = path_of(&self.path, &leaf.key);
        leaf.numbers(&path, &self.reader, self.size)
    }

    /// Several columns as one matrix of 64-bit floats.
    fn matrix(&self, leaves: &[&Leaf]) -> Result<Array> {
        let columns = leaves.len();
        let mut cells = Vec::new();
        for (index, leaf) in leaves.iter().enumerate() {
            let (column, width) = self.column(leaf)?;
            let path = path_of(&self.path, &leaf.key);
            let column = array(&path, column, vec![self.rows, width], leaf.element())?.to_matrix();
            if index == 0 {
                // Not before a column has shown that there are that many rows.
                cells = room::zeros(&self.path, columns.saturating_mul(self.rows).saturating_mul(8))?;
            }
            let values = (0..self.rows).map(|row| column[(0, row)]);
            let (cells, _) = cells.as_chunks_mut::<8>();
            for (cell, value) in cells.iter_mut().skip(index).step_by(columns).zip(values) {
                *cell = value.to_le_bytes();
            }
        }
        array(&self.path, cells, vec![self.rows, columns], Element::F64)
    }
}

impl Reader for Parquet {
    fn entries(&self) -> Result<Vec<Entry>> {
        let entry = |leaf: &Leaf| Entry { key: leaf.key.clone(), kind: leaf.kind(), shape: self.shape(leaf) };
        let whole = |shape: Vec<usize>| Entry { key: String::new(), kind: EntryKind::Numbers, shape };
        let whole = match self.features()[..] {
            [] => None,
            [list] if list.is_list => Some(whole(self.shape(list))),
            ref many => Some(whole(vec![self.rows, many.len()])),
        };
        Ok(whole.into_iter().chain(self.leaves.iter().map(entry)).collect())
    }

    fn array(&self, key: &str) -> Result<Array> {
        let leaf = match self.features()[..] {
            _ if !key.is_empty() => self.leaf(key)?,
            [list] if list.is_list => list,
            ref many => return self.matrix(many),
        };
        let (cells, width) = self.column(leaf)?;
        let shape = if leaf.is_list { vec![self.rows, width] } else { vec![self.rows] };
        array(&path_of(&self.path, key), cells, shape, leaf.element())
    }

    fn strings(&self, key: &str) -> Result<Vec<String>> {
        let path = path_of(&self.path, key);
        self.leaf(key)?.strings(&path, &self.reader, self.size)
    }

    fn table(&self) -> Option<&dyn Tabular> {
        Some(self)
    }

    fn stream(&self, _: &str, columns: &[usize], transpose: bool) -> Result<Option<Box<dyn RowStream>>> {
        if transpose {
            return Ok(None);
        }
        let leaves = columns.iter().map(|&column| self.leaves[column].clone()).collect();
        Ok(Some(Box::new(stream::Stream::open(&self.path, leaves)?)))
    }
}

impl Tabular for Parquet {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn has_header(&self) -> bool {
        true
    }

    fn select(&self, columns: &[usize]) -> Result<Array> {
        let leaves: Vec<&Leaf> = columns.iter().map(|&column| &self.leaves[column]).collect();
        sandbox::run(&self.path, Format::Parquet, || match leaves[..] {
            [list] if list.is_list => {
                let (cells, width) = self.column(list)?;
                array(&path_of(&self.path, &list.key), cells, vec![self.rows, width], list.element())
            }
            _ => self.matrix(&leaves),
        })
    }

    fn texts(&self, column: usize) -> Result<Vec<String>> {
        let leaf = &self.leaves[column];
        sandbox::run(&self.path, Format::Parquet, || {
            if leaf.kind() == EntryKind::Strings {
                return self.strings(&leaf.key);
            }
            let (cells, _) = self.column(leaf)?;
            let path = path_of(&self.path, &leaf.key);
            Ok(array(&path, cells, vec![self.rows], leaf.element())?.to_texts())
        })
    }
}

/// How many rows the file has, which its row groups must have together.
fn rows(path: &Path, metadata: &ParquetMetaData) -> Result<usize> {
    let malformed = |problem| Error::Malformed { path: path.to_owned(), problem };
    let size =
        |rows| usize::try_from(rows).map_err(|_| malformed("it has a negative count of rows".to_owned()));
    let rows = size(metadata.file_metadata().num_rows())?;
    let mut in_groups = 0_usize;
    for group in metadata.row_groups() {
        in_groups = in_groups.saturating_add(size(group.num_rows())?);
    }
    if in_groups == rows {
        return Ok(rows);
    }
    Err(malformed(format!("it says that it has {rows} rows, but its row groups have {in_groups}")))
}

fn array(path: &Path, cells: Vec<u8>, shape: Vec<usize>, element: Element) -> Result<Array> {
    let layout = Layout { offset: 0, shape, order: Order::C, element, byte_order: ByteOrder::Little };
    Array::new(path, Arc::new(cells), &layout)
}

/// Our bytes, in the shape that the library wants to share.
struct Owner(Bytes);

impl AsRef<[u8]> for Owner {
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

fn unreadable(path: &Path, error: &ParquetError) -> Error {
    let problem = match error {
        ParquetError::General(text) | ParquetError::EOF(text) => text.clone(),
        other => other.to_string(),
    };
    Error::Malformed { path: path.to_owned(), problem: format!("not readable as Parquet: {problem}") }
}
