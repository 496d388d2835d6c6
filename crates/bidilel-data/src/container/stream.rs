//! Rows that are decoded a block at a time, for files that cannot be mapped and need not fit into memory.

use std::ops::Range;
use std::path::PathBuf;

use super::{Format, sandbox};
use crate::array::Array;
use crate::error::Result;

/// Rows of numbers, read from the first to the last.
pub trait RowStream: Send {
    /// How many rows there are.
    fn rows(&self) -> usize;

    /// How many numbers each has.
    fn columns(&self) -> usize;

    /// Decodes some rows. Blocks are asked for in order; going back starts anew, which takes its time.
    fn read(&mut self, rows: Range<usize>) -> Result<Array>;
}

/// A stream of a foreign format, which decodes where other readers do ([`sandbox`]).
pub(super) struct Sandboxed {
    pub(super) path: PathBuf,
    pub(super) format: Format,
    pub(super) inner: Box<dyn RowStream>,
}

impl RowStream for Sandboxed {
    fn rows(&self) -> usize {
        self.inner.rows()
    }

    fn columns(&self) -> usize {
        self.inner.columns()
    }

    fn read(&mut self, rows: Range<usize>) -> Result<Array> {
        let inner = &mut self.inner;
        sandbox::run(&self.path, self.format, || inner.read(rows))
    }
}
