//! A block of instances: the rows of every view, without those that cannot be used.

use std::ops::Range;

use anyhow::Result;
use bidilel::dataset::Rows;

use super::features::Sources;
use super::row_scan::{Picked, Scan, Window};

/// Some rows of one file of a view.
pub(super) struct Part<'a> {
    pub(super) rows: Window<'a>,
    /// The file, for messages.
    pub(super) origin: &'a str,
}

/// The rows of a block that are to be used.
pub(super) struct Block<'a> {
    parts: Vec<Part<'a>>,
    /// Numbers of the instances, over all files.
    range: Range<usize>,
    /// Those that are kept, where some are skipped.
    kept: Option<Vec<usize>>,
}

impl<'a> Block<'a> {
    /// Reads a block; what is found in its rows is added to `found`.
    pub(super) fn read(
        sources: &'a mut Sources,
        range: &Range<usize>,
        skip_bad_rows: bool,
        found: &mut Scan,
    ) -> Result<Self> {
        let parts = sources.parts(range)?;
        let scan = Scan::of(&views(&parts), range, skip_bad_rows);
        let kept = scan.kept(range.clone());
        found.add(scan);
        Ok(Self { parts, range: range.clone(), kept })
    }

    /// Calls `work` with the rows, which count from 0; returns the numbers of the instances, too.
    pub(super) fn with<R>(
        self,
        work: impl FnOnce(&[(&dyn Rows, &str)], Range<usize>, &[usize]) -> bidilel::error::Result<R>,
    ) -> Result<(R, Vec<usize>)> {
        let located = |error| located(error, &self.parts);
        let Some(kept) = self.kept else {
            let numbers: Vec<usize> = self.range.clone().collect();
            let result = work(&views(&self.parts), 0..numbers.len(), &numbers).map_err(located)?;
            return Ok((result, numbers));
        };
        let rows: Vec<usize> = kept.iter().map(|number| number - self.range.start).collect();
        let picked: Vec<Picked<'_>> =
            self.parts.iter().map(|part| Picked { rows: &part.rows, picked: &rows }).collect();
        let views: Vec<(&dyn Rows, &str)> =
            picked.iter().zip(&self.parts).map(|(rows, part)| (rows as &dyn Rows, part.origin)).collect();
        let result = work(&views, 0..kept.len(), &kept)?;
        Ok((result, kept))
    }
}

fn views<'a>(parts: &'a [Part<'_>]) -> Vec<(&'a dyn Rows, &'a str)> {
    parts.iter().map(|part| (&part.rows as &dyn Rows, part.origin)).collect()
}

/// An error whose row is counted from the beginning of its file.
fn located(mut error: bidilel::Error, parts: &[Part<'_>]) -> bidilel::Error {
    if let bidilel::Error::NotFinite { origin, row, .. } | bidilel::Error::OutOfRange { origin, row, .. } =
        &mut error
        && let Some(part) = parts.iter().find(|part| part.origin == origin)
    {
        *row += part.rows.file_row;
    }
    error
}
