//! Scans feature rows for values that are not finite, rows of zeros and values too small for `f32`.

use std::ops::Range;

use bidilel::dataset::Rows;
use rayon::prelude::*;

/// What is found in the rows of a block.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Rows with numbers that are not finite, each with what is wrong.
    pub(super) bad: Vec<(usize, String)>,
    /// Rows that are all zero in one of the views.
    pub(super) zero: usize,
    /// Numbers that are too small for `f32`.
    pub(super) vanished: usize,
}

impl Scan {
    /// Scans every row of a block, which counts from 0 in the views; for bad rows only with `bad`, because that reads all
    /// numbers.
    pub(super) fn of(views: &[(&dyn Rows, &str)], block: &Range<usize>, bad: bool) -> Self {
        let scan = |row: usize| {
            let mut found = Self::default();
            for &(rows, origin) in views {
                let mut copy = Vec::new();
                let values = rows.stored_row(row).unwrap_or_else(|| {
                    copy.resize(rows.dim(), 0.0);
                    rows.read(row, &mut copy);
                    &copy
                });
                if bad && let Some(column) = values.iter().position(|value| !value.is_finite()) {
                    let value = rows.stored(row, column);
                    let problem = if value.is_finite() {
                        format!("{origin}: column {column} is {value:e}, beyond the range of float32")
                    } else {
                        format!("{origin}: column {column} is {value}")
                    };
                    return Self { bad: vec![(block.start + row, problem)], ..Self::default() };
                }
                found.zero = found.zero.max(usize::from(values.iter().all(|&value| value == 0.0)));
                found.vanished += rows.vanished(row, values);
            }
            found
        };
        let mut all = Self::default();
        (0..block.len())
            .into_par_iter()
            .map(scan)
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|one| all.add(one));
        all
    }

    /// Adds what was found in another block.
    pub(super) fn add(&mut self, other: Self) {
        self.bad.extend(other.bad);
        self.zero += other.zero;
        self.vanished += other.vanished;
    }

    /// The rows of a block without the bad ones; none where no row is bad.
    pub(super) fn kept(&self, block: Range<usize>) -> Option<Vec<usize>> {
        if self.bad.is_empty() {
            return None;
        }
        let bad = |row: &usize| self.bad.binary_search_by_key(row, |(row, _)| *row).is_ok();
        Some(block.filter(|row| !bad(row)).collect())
    }
}

/// Some rows of an array, by their numbers.
pub(super) struct Picked<'a> {
    pub(super) rows: &'a dyn Rows,
    pub(super) picked: &'a [usize],
}

impl Rows for Picked<'_> {
    fn count(&self) -> usize {
        self.picked.len()
    }
    fn dim(&self) -> usize {
        self.rows.dim()
    }
    fn read(&self, index: usize, into: &mut [f32]) {
        self.rows.read(self.picked[index], into);
    }
    fn stored_row(&self, index: usize) -> Option<&[f32]> {
        self.rows.stored_row(self.picked[index])
    }
    fn element(&self) -> &'static str {
        self.rows.element()
    }
}

/// Consecutive rows of an array.
pub(super) struct Window<'a> {
    pub(super) rows: &'a dyn Rows,
    /// The first of them in `rows`.
    pub(super) first: usize,
    pub(super) count: usize,
    /// The first of them in its file.
    pub(super) file_row: usize,
}

impl Rows for Window<'_> {
    fn count(&self) -> usize {
        self.count
    }
    fn dim(&self) -> usize {
        self.rows.dim()
    }
    fn read(&self, index: usize, into: &mut [f32]) {
        self.rows.read(self.first + index, into);
    }
    fn stored_row(&self, index: usize) -> Option<&[f32]> {
        self.rows.stored_row(self.first + index)
    }
    fn element(&self) -> &'static str {
        self.rows.element()
    }
    fn stored(&self, index: usize, column: usize) -> f64 {
        self.rows.stored(self.first + index, column)
    }
    fn vanished(&self, index: usize, row: &[f32]) -> usize {
        self.rows.vanished(self.first + index, row)
    }
}
