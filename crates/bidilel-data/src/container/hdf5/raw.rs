//! Elements of a dataset as they are stored, read in bands of whole chunks.
//!
//! The library allocates what a file claims, and an allocation that fails ends the program. So every claim is compared with
//! the length of the file before the library is asked, and results go into memory that is reserved here.

use std::ops::Range;
use std::path::Path;

use hdf5_pure::Dataset;

use super::{Hdf5, unreadable};
use crate::container::inflate::check_claim;
use crate::error::{Error, Result};
use crate::room;

/// Bytes of rows that are read at a time, where chunks are smaller.
const BAND_BYTES: u64 = 4 << 20;
/// Chunks of a small file, and how many bytes of a larger one each of them takes at least: an entry in an index.
const FREE_CHUNKS: u64 = 1 << 16;
const BYTES_PER_CHUNK: u64 = 8;

/// Whole chunks along the first dimension.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bands {
    rows: u64,
    row_bytes: u64,
    /// Rows of a band.
    pub(super) height: u64,
}

impl Bands {
    /// None for a single element.
    pub(super) fn of(dataset: &Dataset) -> Result<Option<Self>, hdf5_pure::Error> {
        let shape = dataset.shape()?;
        let [rows, inner @ ..] = &shape[..] else { return Ok(None) };
        let row_bytes = inner.iter().fold(dataset.element_size()?, |bytes, &size| bytes.saturating_mul(size));
        let chunk = dataset.chunk_shape()?.and_then(|chunk| chunk.first().copied()).unwrap_or(1).max(1);
        let chunks = (BAND_BYTES / row_bytes.saturating_mul(chunk).max(1)).max(1);
        Ok(Some(Self { rows: *rows, row_bytes, height: chunk.saturating_mul(chunks).min(*rows).max(1) }))
    }

    /// Bytes of a band.
    pub(super) fn bytes(self) -> u64 {
        self.height.saturating_mul(self.row_bytes)
    }

    /// The band that a row lies in.
    pub(super) fn around(self, row: u64) -> Range<u64> {
        let start = row - row % self.height;
        start..start.saturating_add(self.height).min(self.rows)
    }
}

impl Hdf5 {
    /// All elements of a dataset, after a check that the file can hold that many.
    pub(super) fn raw(&self, dataset: &Dataset, path: &Path) -> Result<Vec<u8>> {
        let failed = |error| unreadable(path, &error);
        let declared = self.check_size(dataset, path)?;
        if declared == 0 {
            // Rows without elements cost no bytes, so a file may claim any number of them.
            return Ok(Vec::new());
        }
        let bands = Bands::of(dataset).map_err(failed)?;
        let Some(bands) = bands.filter(|bands| dataset.is_chunked() && bands.rows > 0) else {
            // The library makes room for all of it.
            room::check(path, declared)?;
            return dataset.read_raw().map_err(failed);
        };
        room::check(path, usize::try_from(bands.bytes()).unwrap_or(usize::MAX))?;
        let mut elements = Vec::new();
        room::reserve(path, &mut elements, declared)?;
        let mut row = 0;
        while row < bands.rows {
            let band = bands.around(row);
            let read = dataset.read_raw_rows(band.start, band.end - band.start).map_err(failed)?;
            if read.len() as u64 != (band.end - band.start).saturating_mul(bands.row_bytes) {
                let problem = format!("rows {} to {} are incomplete", band.start, band.end - 1);
                return Err(Error::Malformed { path: path.to_owned(), problem });
            }
            elements.extend_from_slice(&read);
            row = band.end;
        }
        Ok(elements)
    }

    /// Refuses a dataset that is larger than the file can hold, and chunks that are; bytes of the dataset.
    pub(super) fn check_size(&self, dataset: &Dataset, path: &Path) -> Result<usize> {
        let failed = |error| unreadable(path, &error);
        let length = (*self.bytes).as_ref().len();
        let size = dataset.element_size().map_err(failed)?;
        let (shape, chunk) =
            (dataset.shape().map_err(failed)?, dataset.chunk_shape().map_err(failed)?.unwrap_or_default());
        let bytes_of = |shape: &[u64]| {
            let bytes = shape.iter().try_fold(size, |count, &size| count.checked_mul(size));
            bytes.and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX)
        };
        let declared = bytes_of(&shape);
        check_claim(path, length, declared)?;
        check_claim(path, length, bytes_of(&chunk))?;
        if !dataset.is_chunked() {
            return Ok(declared);
        }
        let found = length as u64;
        let malformed = |problem| Err(Error::Malformed { path: path.to_owned(), problem });
        // The library lists every chunk before it reads one.
        let count = shape.iter().zip(&chunk).map(|(&size, &chunk)| size.div_ceil(chunk.max(1)));
        let count = count.fold(1, |product: u64, count| product.saturating_mul(count));
        if count > FREE_CHUNKS.saturating_add(found / BYTES_PER_CHUNK) {
            return malformed(format!("claims {count} chunks in a file of {found} bytes"));
        }
        // It makes room for the bytes of a chunk before it looks whether they are there.
        let end = |chunk: &hdf5_pure::Chunk| chunk.address.saturating_add(chunk.storage_size);
        match dataset.chunks().map_err(failed)?.iter().map(end).max() {
            Some(end) if end > found => malformed(format!(
                "expected a chunk to end at byte {end}, found the end of the file at {found}"
            )),
            _ => Ok(declared),
        }
    }
}
