//! Feature rows that are decoded block by block: files of any size in bounded memory.

use std::path::Path;

use super::check_no_choice;
use super::choice::Choice;
use super::instances::{Ids, Wanted, by_names, other_names, planned};
use super::plan::COUNTS_ROWS;
use super::suspect;
use crate::container::{Container, EntryKind, RowStream};
use crate::error::Result;

/// Rows that are read to see whether a column counts them. Where one does, which is rare, the others are read, too.
const FIRST_ROWS: usize = 1024;

/// Features of which a block at a time is in memory; what identifies the rows is held for all of them.
pub struct Streamed {
    /// The rows.
    pub stream: Box<dyn RowStream>,
    /// What identifies them, where the file says so.
    pub ids: Option<Ids>,
    /// Things that the user should know, a sentence each.
    pub notes: Vec<String>,
}

/// Opens features to be read block by block; none where the format does not allow that, or where it is not needed.
pub fn stream(path: &Path, choice: &Choice, wanted: Wanted<'_>) -> Result<Option<Streamed>> {
    if wanted.ids.is_some() {
        return Ok(None);
    }
    let container = Container::open(path)?;
    let Some(table) = container.table() else {
        check_no_choice(path, &container, choice)?;
        let entry = container.entry(wanted.key, &[EntryKind::Numbers])?;
        let stream = container.stream(&entry.key, &[], wanted.transpose)?;
        return Ok(stream.map(|stream| Streamed { stream, ids: None, notes: Vec::new() }));
    };
    if wanted.transpose {
        return Ok(None);
    }
    let choice = by_names(path, Some(table), choice, wanted)?;
    let (mut plan, ids) = planned(path, table, wanted.key, &choice)?;
    let Some(mut stream) = container.stream("", &plan.features, false)? else { return Ok(None) };
    if !plan.chosen && plan.features.iter().all(|&column| !plan.columns[column].is_list) {
        let counting = counting(&mut *stream)?;
        if !counting.is_empty() {
            plan.leave_out(&counting, COUNTS_ROWS);
            plan.check()?;
            let Some(anew) = container.stream("", &plan.features, false)? else { return Ok(None) };
            stream = anew;
        }
    }
    let mut notes: Vec<String> = plan.note().into_iter().collect();
    notes.extend(other_names(wanted, plan.feature_names().as_deref(), &choice));
    Ok(Some(Streamed { stream, ids, notes }))
}

/// Places of the columns that count the rows, from the first to the last.
fn counting(stream: &mut dyn RowStream) -> Result<Vec<usize>> {
    let (mut start, rows) = (0, stream.rows());
    let mut counting = suspect::Counting::new(stream.columns());
    while start < rows && !counting.is_settled() {
        let end = rows.min(start + FIRST_ROWS);
        counting.add(&stream.read(start..end)?);
        start = end;
    }
    Ok(counting.places())
}
