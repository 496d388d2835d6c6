//! Rows that are decoded a block at a time, for files that cannot be mapped and need not fit into memory.

use std::ops::Range;

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
