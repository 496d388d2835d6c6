//! Rows joined by name.

use std::path::Path;

use crate::error::{Error, Result};
use crate::mismatch::{Mismatch, Unknown};
use crate::names::{ClassIndex, closest, composed};

/// More names than this are counted, not listed.
const MOST_LISTED: usize = 20;

/// Whose names a column has.
pub(crate) struct Key<'a> {
    pub(crate) path: &'a Path,
    pub(crate) column: &'a str,
    /// What every row stands for: `class` or `instance`.
    pub(crate) what: &'static str,
    /// Names that may be there and are not wanted, composed.
    pub(crate) ignored: &'a [String],
    /// How messages name a row.
    pub(crate) place: &'a dyn Fn(usize) -> String,
}

/// For each of the classes (or instances) the row that has its name; fails unless every name is there exactly once and
/// nothing else is.
pub(crate) fn rows_by_name(key: &Key<'_>, names: &[String], index: &ClassIndex<'_>) -> Result<Vec<usize>> {
    let wanted = index.names();
    let mut rows: Vec<Option<usize>> = vec![None; wanted.len()];
    let (mut unknown, mut repeated) = (Vec::new(), Vec::new());
    for (row, name) in names.iter().enumerate() {
        match index.get(name) {
            None if key.ignored.contains(&composed(name)) => {}
            None => unknown.push((row, name)),
            Some(place) => match rows[place] {
                None => rows[place] = Some(row),
                Some(first) => repeated.push((name, first, row)),
            },
        }
    }
    let missing: Vec<String> =
        (0..wanted.len()).filter(|&place| rows[place].is_none()).map(|place| wanted[place].clone()).collect();
    if unknown.is_empty() && repeated.is_empty() && missing.is_empty() {
        return Ok(rows.into_iter().flatten().collect());
    }
    let listed = unknown.iter().take(MOST_LISTED).map(|&(row, name)| Unknown {
        name: name.clone(),
        place: (key.place)(row),
        // A name that is there anyway was not meant.
        closest: closest(name, if missing.is_empty() { wanted } else { &missing }),
    });
    let names = Mismatch {
        unknown: listed.collect(),
        more_unknown: unknown.len().saturating_sub(MOST_LISTED),
        more_repeated: repeated.len().saturating_sub(MOST_LISTED),
        repeated: repeated
            .into_iter()
            .take(MOST_LISTED)
            .map(|(name, first, row)| format!("`{name}` ({} and {})", (key.place)(first), (key.place)(row)))
            .collect(),
        missing,
    };
    let (path, column) = (key.path.to_owned(), key.column.to_owned());
    Err(Error::Join { path, column, what: key.what, names: Box::new(names) })
}
