//! Rows from several files, one after another.

use std::path::{Path, PathBuf};

use bidilel::dataset::Rows;

use crate::array::{self, Array};
use crate::error::{Counted, Error, Result};

/// Feature files on top of each other.
///
/// A file of many rows stays mapped. A file of one row is copied: a map costs a page, and a system has a limit to how
/// many there can be.
pub(super) struct Stacked {
    parts: Vec<Part>,
    /// The index of the first row of every part, and the number of all rows.
    starts: Vec<usize>,
    dimensions: usize,
    element: &'static str,
}

enum Part {
    Mapped(Array),
    Row(Vec<f32>),
}

impl Stacked {
    pub(super) fn new() -> Self {
        Self { parts: Vec::new(), starts: vec![0], dimensions: 0, element: "float32" }
    }

    /// Adds the rows of a file, and says how many there are.
    pub(super) fn push(&mut self, path: &Path) -> Result<usize> {
        let array = array::open(path, None)?;
        let element = array.element().name();
        let vector = array.dimensions() == 1 || (array.columns() == 1 && array.rows() > 1);
        let (part, rows, found) = if vector {
            let (row, length) = (copied(&array), array.rows());
            (Part::Row(row), 1, length)
        } else if array.rows() == 1 {
            let mut row = vec![0.0; array.columns()];
            array.read(0, &mut row);
            (Part::Row(row), 1, array.columns())
        } else {
            let shape = (array.rows(), array.columns());
            (Part::Mapped(array), shape.0, shape.1)
        };
        if self.parts.is_empty() {
            (self.dimensions, self.element) = (found, element);
        } else if found != self.dimensions {
            let (path, what): (PathBuf, _) = (path.to_owned(), Counted::Features);
            return Err(Error::Count { path, what, expected: self.dimensions, found });
        }
        self.parts.push(part);
        self.starts.push(self.count() + rows);
        Ok(rows)
    }
}

/// A vector lies in a column, so that every element is a row of its own.
fn copied(array: &Array) -> Vec<f32> {
    let mut value = [0.0];
    (0..array.rows())
        .map(|row| {
            array.read(row, &mut value);
            value[0]
        })
        .collect()
}

impl Rows for Stacked {
    fn count(&self) -> usize {
        *self.starts.last().expect("it starts with a zero")
    }
    fn dim(&self) -> usize {
        self.dimensions
    }
    fn read(&self, index: usize, into: &mut [f32]) {
        let part = self.starts.partition_point(|&start| start <= index) - 1;
        match &self.parts[part] {
            Part::Mapped(array) => array.read(index - self.starts[part], into),
            Part::Row(row) => into.copy_from_slice(row),
        }
    }
    fn stored_row(&self, index: usize) -> Option<&[f32]> {
        let part = self.starts.partition_point(|&start| start <= index) - 1;
        match &self.parts[part] {
            Part::Mapped(array) => array.stored_row(index - self.starts[part]),
            Part::Row(row) => Some(row),
        }
    }
    fn element(&self) -> &'static str {
        self.element
    }
    fn stored(&self, index: usize, column: usize) -> f64 {
        let part = self.starts.partition_point(|&start| start <= index) - 1;
        match &self.parts[part] {
            Part::Mapped(array) => array.stored(index - self.starts[part], column),
            Part::Row(row) => row[column].into(),
        }
    }
    fn vanished(&self, index: usize, row: &[f32]) -> usize {
        let part = self.starts.partition_point(|&start| start <= index) - 1;
        match &self.parts[part] {
            Part::Mapped(array) => array.vanished(index - self.starts[part], row),
            Part::Row(_) => 0,
        }
    }
}
