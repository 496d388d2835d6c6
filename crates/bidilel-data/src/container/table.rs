//! What tables of text and of Parquet have in common: columns with names.
//!
//! A reader says which columns there are and reads those that it is told to; [`crate::table`] decides which these are.

use super::EntryKind;
use crate::array::Array;
use crate::error::Result;

/// One column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its header; its number from 0 where the table has none.
    pub name: String,
    /// What its cells hold.
    pub kind: EntryKind,
    /// Whether each cell is a list of numbers.
    pub is_list: bool,
}

/// A file with columns.
pub(crate) trait Tabular {
    /// The columns, in the order of the file.
    fn columns(&self) -> &[Column];

    /// Whether the names of the columns come from the file.
    fn has_header(&self) -> bool;

    /// Columns of numbers as one matrix, in the order that is asked for.
    fn select(&self, columns: &[usize]) -> Result<Array>;

    /// Every cell of a column as text.
    fn texts(&self, column: usize) -> Result<Vec<String>>;

    /// How messages name a row, counted from 0: by its line where there are lines.
    fn place(&self, row: usize) -> String {
        format!("row {row}")
    }

    /// The same table with its first line as a row instead of a header, where that is possible.
    fn without_header(&self) -> Option<Box<dyn Tabular>> {
        None
    }
}
