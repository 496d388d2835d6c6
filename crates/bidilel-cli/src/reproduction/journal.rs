//! The journal of `bidilel reproduce`: everything that was computed, by the key of what it depends on.

use std::path::Path;

use anyhow::Result;
use bidilel::reproduce::{Ledger, Memory};
use bidilel_report::VERSION;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tuning::journal::Lines;

/// The form of the keys: what is found under other keys is not looked for.
const KEYS: &str = "reproduce 1";

/// A line of the journal.
#[derive(Serialize, Deserialize)]
struct Entry {
    key: String,
    value: Value,
}

/// What was computed, in memory and where there is a file on disk.
pub(crate) struct Journal {
    lines: Option<Lines>,
    known: Memory,
}

impl Journal {
    /// A journal in memory alone.
    pub(crate) fn forgetful() -> Self {
        Self { lines: None, known: Memory::default() }
    }

    /// Starts a file, or with `resume` continues an existing one.
    pub(crate) fn open(path: &Path, resume: bool) -> Result<Self> {
        let (lines, entries) = Lines::open::<Entry>(path, "reproduce", KEYS, resume)?;
        let known = Memory::with(entries.into_iter().map(|entry| (entry.key, entry.value)));
        Ok(Self { lines: Some(lines), known })
    }

    /// How many computations were there.
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }
}

/// Another version of the program may compute other numbers: what it left is not found.
fn of_this_version(key: &str) -> String {
    format!("{VERSION} {key}")
}

impl Ledger for Journal {
    fn recall(&self, key: &str) -> Option<Value> {
        self.known.recall(&of_this_version(key))
    }

    fn keep(&self, key: &str, value: &Value) -> bidilel::Result<()> {
        let key = of_this_version(key);
        self.known.keep(&key, value)?;
        let Some(lines) = &self.lines else { return Ok(()) };
        let entry = Entry { key, value: value.clone() };
        lines.append(&entry).map_err(|source| bidilel::Error::Journal { source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_version_computed_is_computed_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let journal = Journal::open(&path, false).expect("a new journal");
        journal.keep("score a", &0.5.into()).expect("written");
        drop(journal);
        let same = Journal::open(&path, true).expect("a journal");
        assert_eq!(same.recall("score a"), Some(0.5.into()));
        drop(same);
        let text = std::fs::read_to_string(&path).expect("a text");
        std::fs::write(&path, text.replace(&format!("\"{VERSION} "), "\"0.0.0 ")).expect("written");
        let other = Journal::open(&path, true).expect("a journal");
        assert_eq!((other.len(), other.recall("score a")), (1, None));
    }
}
