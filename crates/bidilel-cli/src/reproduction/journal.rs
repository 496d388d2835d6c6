//! The journal of `bidilel reproduce`: everything that was computed, by the key of what it depends on.

use std::path::Path;

use anyhow::Result;
use bidilel::reproduce::{Ledger, Memory};
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

impl Ledger for Journal {
    fn recall(&self, key: &str) -> Option<Value> {
        self.known.recall(key)
    }

    fn keep(&self, key: &str, value: &Value) -> bidilel::Result<()> {
        self.known.keep(key, value)?;
        let Some(lines) = &self.lines else { return Ok(()) };
        let entry = Entry { key: key.to_owned(), value: value.clone() };
        lines.append(&entry).map_err(|source| bidilel::Error::Journal { source })
    }
}
