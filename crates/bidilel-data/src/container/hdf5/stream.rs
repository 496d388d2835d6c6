//! Rows of a dataset in chunks, of which a block is unpacked at a time.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::content::Content;
use super::{Hdf5, unreadable};
use crate::array::{Array, ByteOrder, Element, Layout, Order};
use crate::container::RowStream;
use crate::error::{Error, Result};
use crate::file;

/// Unpacked bytes after which the file is mapped anew: pages that were read stay with a mapping for as long as it lives.
const REMAP_BYTES: usize = 64 << 20;

pub(super) struct Stream {
    /// The path with the key, for messages.
    name: PathBuf,
    key: String,
    file: Hdf5,
    rows: usize,
    columns: usize,
    element: Element,
    byte_order: ByteOrder,
    /// Bytes that were unpacked since the file was mapped.
    read: usize,
}

impl Stream {
    /// The rows of a matrix in chunks; none for what is mapped, and for MATLAB's, whose rows are columns in the file.
    pub(super) fn open(file: &Hdf5, key: &str) -> Result<Option<Self>> {
        let (dataset, name) = file.dataset(key)?;
        let node = file.node(key).map(|node| &node.object);
        let described = node.map(|object| file.describe(object)).transpose();
        let described = described.map_err(|error| unreadable(&name, &error))?;
        let Some((Content::Numbers(element, byte_order), shape)) = described else { return Ok(None) };
        let [rows, columns] = shape[..] else { return Ok(None) };
        if file.matlab || !dataset.is_chunked() || rows == 0 || columns == 0 {
            return Ok(None);
        }
        file.check_size(dataset, &name)?;
        let (key, file) = (key.to_owned(), Hdf5::new(&file.path, file.bytes.clone())?);
        Ok(Some(Self { name, key, file, rows, columns, element, byte_order, read: 0 }))
    }
}

impl RowStream for Stream {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn read(&mut self, rows: Range<usize>) -> Result<Array> {
        if self.read > REMAP_BYTES {
            let path = self.file.path.clone();
            self.file = Hdf5::new(&path, Arc::new(file::map(&path)?))?;
            self.read = 0;
        }
        let (dataset, _) = self.file.dataset(&self.key)?;
        let cells = dataset
            .read_raw_rows(rows.start as u64, rows.len() as u64)
            .map_err(|error| unreadable(&self.name, &error))?;
        let expected = rows.len() * self.columns * self.element.size();
        if cells.len() != expected {
            let found = cells.len();
            return Err(Error::Truncated { path: self.name.clone(), expected, found });
        }
        self.read += expected;
        let (shape, element, byte_order) = (vec![rows.len(), self.columns], self.element, self.byte_order);
        let layout = Layout { offset: 0, shape, order: Order::C, element, byte_order };
        Array::new(&self.name, Arc::new(cells), &layout)
    }
}
