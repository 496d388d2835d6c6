//! Rows of an array in compressed bytes, decompressed a block at a time.
//!
//! Deflate has no index: blocks are read in order, and going back starts from the first byte. So only arrays whose rows lie
//! one after another can be read in this way.

use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::Crc;

use super::RowStream;
use super::inflate::{self, Wrapper, check_claim};
use crate::array::{Array, Bytes, Layout};
use crate::error::{Error, Result};
use crate::{file, room};

/// Arrays up to this size are decompressed whole.
pub(super) const WHOLE_BYTES: usize = 16 << 20;
/// Compressed bytes after which those that were read are released, and what is skipped at a time.
const PIECE_BYTES: usize = 1 << 20;

/// Compressed bytes of a file, and what they must decompress to.
#[derive(Clone)]
pub(super) struct Packed {
    pub(super) bytes: Bytes,
    pub(super) range: Range<usize>,
    pub(super) wrapper: Wrapper,
    /// Bytes of the whole stream, decompressed.
    pub(super) declared: usize,
    /// Their CRC-32, where the file has one beside the stream.
    pub(super) checksum: Option<u32>,
}

pub(super) struct Inflated {
    path: PathBuf,
    packed: Packed,
    /// Where the first row begins in the decompressed bytes; the shape has rows first.
    layout: Layout,
    rows: usize,
    columns: usize,
    decoder: Decoder,
    next: usize,
}

/// Decompresses, and counts and checks what comes out.
struct Decoder {
    inner: Box<dyn Read + Send>,
    crc: Crc,
    done: usize,
}

impl Inflated {
    /// `layout` is of an array in two dimensions whose rows lie one after another.
    pub(super) fn open(path: &Path, packed: Packed, layout: Layout) -> Result<Option<Self>> {
        let [rows, columns] = layout.shape[..] else { return Ok(None) };
        check_claim(path, packed.range.len(), packed.declared)?;
        let size = rows.checked_mul(columns).and_then(|count| count.checked_mul(layout.element.size()));
        let end = size.and_then(|size| size.checked_add(layout.offset));
        match end {
            Some(end) if end <= packed.declared => {}
            _ => {
                let (expected, found) = (end.unwrap_or(usize::MAX), packed.declared);
                return Err(Error::Truncated { path: path.to_owned(), expected, found });
            }
        }
        let decoder = Decoder::new(&packed);
        Ok(Some(Self { path: path.to_owned(), packed, layout, rows, columns, decoder, next: 0 }))
    }

    fn failed(&self, source: io::Error) -> Error {
        match source.kind() {
            io::ErrorKind::UnexpectedEof => Error::Truncated {
                path: self.path.clone(),
                expected: self.packed.declared,
                found: self.decoder.done,
            },
            _ => Error::Damaged { path: self.path.clone(), source },
        }
    }

    /// Reads what follows the last row: the stream must end where it was declared to, with its checksums.
    fn check_end(&mut self) -> Result<()> {
        let rest = self.packed.declared - self.decoder.done;
        self.decoder.skip(rest).map_err(|error| self.failed(error))?;
        if self.decoder.read(&mut [0]).map_err(|error| self.failed(error))? > 0 {
            let problem =
                format!("claims {} bytes, but its compressed bytes hold more", self.packed.declared);
            return Err(Error::Malformed { path: self.path.clone(), problem });
        }
        match self.packed.checksum {
            Some(checksum) if checksum != self.decoder.crc.sum() => {
                let problem = "its checksum does not fit its bytes".to_owned();
                Err(Error::Malformed { path: self.path.clone(), problem })
            }
            _ => Ok(()),
        }
    }
}

impl RowStream for Inflated {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn read(&mut self, rows: Range<usize>) -> Result<Array> {
        if rows.start < self.next {
            (self.decoder, self.next) = (Decoder::new(&self.packed), 0);
        }
        let row_bytes = self.columns * self.layout.element.size();
        let start = self.layout.offset + rows.start * row_bytes;
        let mut cells = room::zeros(&self.path, rows.len() * row_bytes)?;
        self.decoder
            .skip(start.saturating_sub(self.decoder.done))
            .and_then(|()| self.decoder.read_exact(&mut cells))
            .map_err(|error| self.failed(error))?;
        self.next = rows.end;
        if rows.end == self.rows {
            self.check_end()?;
        }
        let shape = vec![rows.len(), self.columns];
        Array::new(&self.path, Arc::new(cells), &Layout { offset: 0, shape, ..self.layout.clone() })
    }
}

impl Decoder {
    fn new(packed: &Packed) -> Self {
        let source = Window { bytes: packed.bytes.clone(), range: packed.range.clone(), unreleased: 0 };
        Self { inner: inflate::reader(source, packed.wrapper), crc: Crc::new(), done: 0 }
    }

    fn skip(&mut self, bytes: usize) -> io::Result<()> {
        let mut piece = vec![0; bytes.min(PIECE_BYTES)];
        let mut left = bytes;
        while left > 0 {
            let count = left.min(piece.len());
            self.read_exact(&mut piece[..count])?;
            left -= count;
        }
        Ok(())
    }
}

impl Read for Decoder {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.crc.update(&buffer[..count]);
        self.done += count;
        Ok(count)
    }
}

/// A part of a file, from its first byte to its last; pages that were read are released.
struct Window {
    bytes: Bytes,
    range: Range<usize>,
    unreleased: usize,
}

impl Read for Window {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = (*self.bytes).as_ref();
        let count = buffer.len().min(self.range.len());
        buffer[..count].copy_from_slice(&bytes[self.range.start..][..count]);
        self.range.start += count;
        self.unreleased += count;
        if self.unreleased >= PIECE_BYTES {
            file::release(&bytes[self.range.start - self.unreleased..self.range.start]);
            self.unreleased = 0;
        }
        Ok(count)
    }
}
