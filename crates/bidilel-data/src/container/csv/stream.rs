//! Rows of a table of text, parsed a block at a time.

use std::ops::Range;

use super::records::Position;
use super::{Csv, array};
use crate::array::Array;
use crate::container::RowStream;
use crate::error::{Error, Result};
use crate::room;

pub(super) struct Stream {
    csv: Csv,
    /// The columns to read, in this order.
    chosen: Vec<usize>,
    rows: usize,
    first: Position,
    /// The next row, and where it begins.
    next: usize,
    at: Position,
}

impl Stream {
    pub(super) fn open(csv: &Csv, chosen: &[usize]) -> Result<Self> {
        let rows = csv.records().count()?.saturating_sub(usize::from(csv.header));
        let first = csv.first_row()?;
        Ok(Self { csv: csv.clone(), chosen: chosen.to_vec(), rows, first, next: 0, at: first })
    }
}

impl RowStream for Stream {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.chosen.len()
    }

    fn read(&mut self, rows: Range<usize>) -> Result<Array> {
        if rows.start < self.next {
            (self.next, self.at) = (0, self.first);
        }
        let path = self.csv.path.clone();
        let row_bytes = self.chosen.len().saturating_mul(size_of::<f64>());
        let mut values = Vec::new();
        room::reserve(&path, &mut values, rows.len().saturating_mul(row_bytes))?;
        let (csv, chosen, mut next) = (&self.csv, &self.chosen, self.next);
        if next < rows.end {
            self.at = csv.rows_from(self.at, |line, fields| {
                if next >= rows.start {
                    csv.parse(line, fields, chosen, &mut values)?;
                }
                next += 1;
                Ok(next < rows.end)
            })?;
        }
        self.next = next;
        if next < rows.end {
            let problem = format!("expected {} rows, found {next}", self.rows);
            return Err(Error::Malformed { path, problem });
        }
        array(&path, values, vec![rows.len(), self.chosen.len()])
    }
}
