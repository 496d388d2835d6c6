//! The journal of `bidilel reproduce`: everything that was computed, by the key of what it depends on.

use std::path::Path;

use anyhow::{Context, Result};
use bidilel::reproduce::{Ledger, Memory};
use bidilel_report::Machine;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::machine;
use crate::tuning::journal::{Lines, of_this_version};

/// The form of the lines: what is found under other keys is not looked for, and a journal of form 1 had no machines.
const KEYS: &str = "reproduce 2";

/// A line of the journal.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    /// What was computed.
    Entry { key: String, value: Value },
    /// Where the lines from here on were computed.
    Begun { machine: Machine },
}

/// What was computed, in memory and where there is a file on disk.
pub(crate) struct Journal {
    lines: Option<Lines>,
    known: Memory,
    /// Where what is known was computed, this machine the last or among them.
    machines: Vec<Machine>,
}

impl Journal {
    /// A journal in memory alone.
    pub(crate) fn forgetful() -> Self {
        Self { lines: None, known: Memory::default(), machines: vec![machine::here()] }
    }

    /// Starts a file, or with `resume` continues an existing one.
    pub(crate) fn open(path: &Path, resume: bool) -> Result<Self> {
        let (lines, before) = Lines::open::<Line>(path, "reproduce", KEYS, resume)?;
        let (mut entries, mut machines) = (Vec::new(), Vec::new());
        for line in before {
            match line {
                Line::Entry { key, value } => entries.push((key, value)),
                Line::Begun { machine } => machines.push(machine),
            }
        }
        let here = machine::here();
        if !machines.contains(&here) {
            let line = Line::Begun { machine: here.clone() };
            lines.append(&line).with_context(|| format!("`{}`: cannot be written", path.display()))?;
            machines.push(here);
        }
        Ok(Self { lines: Some(lines), known: Memory::with(entries), machines })
    }

    /// Where everything was computed.
    pub(crate) fn machines(&self) -> Vec<Machine> {
        self.machines.clone()
    }

    /// How many computations were there.
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }
}

impl Ledger for Journal {
    fn recall(&self, key: &str) -> Option<Value> {
        self.known.recall(&of_this_version(key))
    }

    fn keep(&self, key: &str, value: &Value) -> bidilel::Result<()> {
        let key = of_this_version(key);
        self.known.keep(&key, value)?;
        let Some(lines) = &self.lines else { return Ok(()) };
        let entry = Line::Entry { key, value: value.clone() };
        lines.append(&entry).map_err(|source| bidilel::Error::Journal { source })
    }
}

#[cfg(test)]
mod tests {
    use bidilel_report::VERSION;

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

    #[test]
    fn every_machine_that_computed_a_part_is_named_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        for resume in [false, true, true] {
            let journal = Journal::open(&path, resume).expect("a journal");
            assert_eq!(journal.machines(), [machine::here()]);
        }
        let text = std::fs::read_to_string(&path).expect("a text");
        let elsewhere = Machine { processor: "another".to_owned(), ..machine::here() };
        std::fs::write(&path, text.replace(&machine::here().processor, "another")).expect("written");
        let journal = Journal::open(&path, true).expect("a journal");
        assert_eq!((journal.machines(), journal.len()), (vec![elsewhere, machine::here()], 0));
    }
}
