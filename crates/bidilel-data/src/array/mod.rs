//! Numeric arrays in files, mapped rather than read.
//!
//! [`open`] asks the [container](crate::container) for one array. The reader of its format finds out where the elements
//! lie ([`Layout`]); everything after that is the same for all formats.

mod element;
pub(crate) mod npy;
mod npy_dictionary;
mod npy_text;
mod npy_writer;
mod read;

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use element::{ByteOrder, Element};
pub use npy_writer::{NpyElement, NpyWriter};
pub use read::Base;

use crate::container::Container;
use crate::error::{Error, Result};

/// The bytes that an array lies in: a mapped file, or memory.
pub type Bytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Opens the array in a file; `key` names one of several where the format has that.
///
/// The cost does not depend on the size of the array: its elements are read when they are asked for.
pub fn open(path: &Path, key: Option<&str>) -> Result<Array> {
    Container::open(path)?.array(key)
}

/// The array in bytes that are already at hand; `path` is their name in messages.
pub fn from_bytes(path: &Path, bytes: Bytes, key: Option<&str>) -> Result<Array> {
    Container::from_bytes(path, bytes)?.array(key)
}

/// Which index moves fastest through the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Row after row.
    C,
    /// Column after column.
    Fortran,
}

/// Where the elements of an array lie and what they are, as a file's header tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Index of the first byte.
    pub offset: usize,
    /// Sizes of the dimensions.
    pub shape: Vec<usize>,
    /// The order of the elements.
    pub order: Order,
    /// Their type.
    pub element: Element,
    /// The order of the bytes in each.
    pub byte_order: ByteOrder,
}

/// An array of one or two dimensions; a vector of n elements counts as n rows of one column.
#[derive(Clone)]
pub struct Array {
    path: PathBuf,
    bytes: Bytes,
    offset: usize,
    dimensions: usize,
    rows: usize,
    columns: usize,
    /// Bytes from one row to the next.
    row_stride: usize,
    /// Bytes from one column to the next.
    column_stride: usize,
    element: Element,
    byte_order: ByteOrder,
}

impl Array {
    /// Checks a layout against the bytes it describes: after this, every element can be read.
    pub fn new(path: &Path, bytes: Bytes, layout: &Layout) -> Result<Self> {
        let end = (*bytes).as_ref().len();
        Self::within(path, bytes, layout, end)
    }

    /// As [`new`](Self::new), for elements that must lie before `end`, where something else begins.
    pub(crate) fn within(path: &Path, bytes: Bytes, layout: &Layout, end: usize) -> Result<Self> {
        let shape = &layout.shape;
        let expected = "numbers in 1 or 2 dimensions";
        let misshapen = || Error::Dimensions { path: path.to_owned(), expected, shape: shape.clone() };
        let (rows, columns) = match shape[..] {
            [rows] => (rows, 1),
            [rows, columns] if rows > 0 && columns > 0 => (rows, columns),
            _ => return Err(misshapen()),
        };
        let size = layout.element.size();
        let expected = rows
            .checked_mul(columns)
            .and_then(|count| count.checked_mul(size))
            .ok_or_else(|| Error::TooLarge { path: path.to_owned(), shape: shape.clone() })?;
        let found = end.min((*bytes).as_ref().len()).saturating_sub(layout.offset);
        if found < expected {
            return Err(Error::Truncated { path: path.to_owned(), expected, found });
        }
        let (row_stride, column_stride) = match layout.order {
            Order::C => (columns * size, size),
            Order::Fortran => (size, rows * size),
        };
        Ok(Self {
            path: path.to_owned(),
            bytes,
            offset: layout.offset,
            dimensions: shape.len(),
            rows,
            columns,
            row_stride,
            column_stride,
            element: layout.element,
            byte_order: layout.byte_order,
        })
    }

    /// How many bytes lie behind it: those of the whole file where it is mapped.
    pub fn backing_len(&self) -> usize {
        (*self.bytes).as_ref().len()
    }

    /// The file it came from, as messages name it: with the key, where there is one.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many rows there are; of a vector, how many elements.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many columns there are; of a vector, one.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// One or two.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The type of its elements.
    pub fn element(&self) -> Element {
        self.element
    }

    /// Some of the rows; nothing moves.
    ///
    /// # Panics
    /// If there are no such rows: that is a mistake in the program.
    #[must_use]
    pub fn subrows(self, rows: Range<usize>) -> Self {
        assert!(rows.start <= rows.end && rows.end <= self.rows, "no rows {rows:?} in {self:?}");
        Self { offset: self.offset + rows.start * self.row_stride, rows: rows.len(), ..self }
    }

    /// Some of the columns; nothing moves.
    ///
    /// # Panics
    /// If there are no such columns: that is a mistake in the program.
    #[must_use]
    pub fn subcolumns(self, columns: Range<usize>) -> Self {
        assert!(
            columns.start < columns.end && columns.end <= self.columns,
            "no columns {columns:?} in {self:?}"
        );
        Self { offset: self.offset + columns.start * self.column_stride, columns: columns.len(), ..self }
    }

    /// The same elements with rows and columns exchanged; nothing moves. A vector stays as it is.
    #[must_use]
    pub fn transposed(self) -> Self {
        if self.dimensions == 1 {
            return self;
        }
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Array({} x {} of {} in {})", self.rows, self.columns, self.element, self.path.display())
    }
}
