//! Rows of a dataset in chunks, of which a band is decompressed at a time.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::content::Content;
use super::raw::Bands;
use super::{Hdf5, unreadable};
use crate::array::{Array, ByteOrder, Element, Layout, Order};
use crate::container::RowStream;
use crate::error::{Error, Result};
use crate::{file, room};

/// A band of chunks beyond this is more than may be held beside a block of rows.
const MAX_BAND_BYTES: u64 = 48 << 20;
/// Decompressed bytes after which the file is mapped anew: pages that were read stay with a mapping for as long as it lives.
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
    bands: Bands,
    /// The last band that was read, by its rows.
    band: Option<(Range<usize>, Vec<u8>)>,
    /// Bytes that were decompressed since the file was mapped.
    read: usize,
}

impl Stream {
    /// The rows of a matrix in chunks, or, with `transpose`, the columns of one that MATLAB wrote: these are rows of the file.
    ///
    /// None for what is mapped, and for what is not in the order of the file.
    pub(super) fn open(file: &Hdf5, key: &str, transpose: bool) -> Result<Option<Self>> {
        let (dataset, name) = file.dataset(key)?;
        let node = file.node(key).map(|node| &node.object);
        let described = node.map(|object| file.describe(object)).transpose();
        let described = described.map_err(|error| unreadable(&name, &error))?;
        let Some((Content::Numbers(element, byte_order), shape)) = described else { return Ok(None) };
        let [mut rows, mut columns] = shape[..] else { return Ok(None) };
        if transpose {
            (rows, columns) = (columns, rows);
        }
        if file.matlab != transpose || !dataset.is_chunked() || rows == 0 || columns == 0 {
            return Ok(None);
        }
        file.check_size(dataset, &name)?;
        // Chunks that reach over very many rows would be decompressed again for every block.
        let bands = Bands::of(dataset).map_err(|error| unreadable(&name, &error))?;
        let Some(bands) = bands.filter(|bands| bands.bytes() <= MAX_BAND_BYTES) else { return Ok(None) };
        let (key, file) = (key.to_owned(), Hdf5::new(&file.path, file.bytes.clone())?);
        let band = None;
        Ok(Some(Self { name, key, file, rows, columns, element, byte_order, bands, band, read: 0 }))
    }

    /// The band that a row lies in.
    fn band(&mut self, row: usize) -> Result<(&Range<usize>, &[u8])> {
        if self.band.as_ref().is_none_or(|(rows, _)| !rows.contains(&row)) {
            // The band before makes room first.
            self.band = None;
            if self.read > REMAP_BYTES {
                let path = self.file.path.clone();
                self.file = Hdf5::new(&path, Arc::new(file::map(&path)?))?;
                self.read = 0;
            }
            let rows = self.bands.around(row as u64);
            let (dataset, _) = self.file.dataset(&self.key)?;
            let cells = dataset
                .read_raw_rows(rows.start, rows.end - rows.start)
                .map_err(|error| unreadable(&self.name, &error))?;
            let row = |row: u64| usize::try_from(row).unwrap_or(usize::MAX);
            let rows = row(rows.start)..row(rows.end);
            let expected = rows.len() * self.columns * self.element.size();
            if cells.len() != expected {
                let found = cells.len();
                return Err(Error::Truncated { path: self.name.clone(), expected, found });
            }
            self.read += expected;
            self.band = Some((rows, cells));
        }
        self.band.as_ref().map(|(rows, cells)| (rows, &cells[..])).ok_or_else(|| Error::Malformed {
            path: self.name.clone(),
            problem: "no rows could be read".to_owned(),
        })
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
        let row_bytes = self.columns * self.element.size();
        let mut cells = Vec::new();
        room::reserve(&self.name, &mut cells, rows.len() * row_bytes)?;
        let mut row = rows.start;
        while row < rows.end {
            let (band, decoded) = self.band(row)?;
            let end = rows.end.min(band.end);
            cells.extend_from_slice(&decoded[(row - band.start) * row_bytes..(end - band.start) * row_bytes]);
            row = end;
        }
        let (shape, element, byte_order) = (vec![rows.len(), self.columns], self.element, self.byte_order);
        let layout = Layout { offset: 0, shape, order: Order::C, element, byte_order };
        Array::new(&self.name, Arc::new(cells), &layout)
    }
}
