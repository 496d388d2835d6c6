//! Journals: files of finished evaluations, one JSON object per line, written as they happen.
//!
//! The first line is a fingerprint of the data and of what is tried, by this version of the program: another may compute other
//! numbers. A program that is killed leaves at most its last
//! line unfinished; that line is dropped.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The version of the program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A file of JSON lines under a head, to which lines are appended as results come.
pub(crate) struct Lines {
    file: Mutex<File>,
}

impl Lines {
    /// Starts a file of lines for `command`, or with `resume` continues an existing one and returns its lines.
    pub(crate) fn open<L: DeserializeOwned>(
        path: &Path,
        command: &str,
        fingerprint: &str,
        resume: bool,
    ) -> Result<(Self, Vec<L>)> {
        let name = path.display();
        let present = path.try_exists().with_context(|| format!("`{name}`: cannot be looked at"))?;
        if present && !resume {
            bail!("`{name}` is there already: continue it with --resume, or name another file");
        }
        let mut file = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .open(path)
            .with_context(|| format!("`{name}`: cannot be written"))?;
        // Two runs would truncate each other's lines. The lock ends with the file handle, however the run ends.
        bidilel_data::lock_for_writing(&file, path)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).with_context(|| format!("`{name}`: cannot be read"))?;
        let (lines, good) = read(&text, command, fingerprint).with_context(|| format!("`{name}`"))?;
        file.set_len(good as u64).with_context(|| format!("`{name}`: cannot be cut back"))?;
        if good == 0 {
            let head =
                json!({"journal": format!("bidilel {command}"), "version": 1, "fingerprint": fingerprint});
            file.write_all(format!("{head}\n").as_bytes())
                .with_context(|| format!("`{name}`: cannot be written"))?;
        }
        Ok((Self { file: Mutex::new(file) }, lines))
    }

    /// The same of lines that only this version of the program continues.
    pub(crate) fn of_this_version<L: DeserializeOwned>(
        path: &Path,
        command: &str,
        fingerprint: &str,
        resume: bool,
    ) -> Result<(Self, Vec<L>)> {
        Self::open(path, command, &of_this_version(fingerprint), resume)
    }

    /// Appends one line. One write of a whole line: a kill cannot interleave two.
    pub(crate) fn append(&self, line: &impl Serialize) -> std::io::Result<()> {
        let line = serde_json::to_string(line)? + "\n";
        self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes())
    }
}

/// A key or fingerprint that what another version of the program has computed does not have.
pub(crate) fn of_this_version(key: &str) -> String {
    format!("{VERSION} {key}")
}

/// The lines of a journal, and the number of its valid bytes.
fn read<L: DeserializeOwned>(text: &[u8], command: &str, fingerprint: &str) -> Result<(Vec<L>, usize)> {
    let mut found = Vec::new();
    let mut good = 0;
    let mut lines = text.split_inclusive(|&byte| byte == b'\n').enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        let last = lines.peek().is_none();
        // A kill leaves only the end of the file unfinished; damage anywhere else has another cause.
        if last && !line.ends_with(b"\n") {
            break;
        }
        if number == 0 {
            let head: Value = serde_json::from_slice(line).unwrap_or_default();
            let other = head["journal"].as_str().is_some_and(|name| name != format!("bidilel {command}"));
            match head["fingerprint"].as_str() {
                None => bail!("is no journal of `bidilel {command}`"),
                Some(_) if other => bail!("is no journal of `bidilel {command}`"),
                Some(found) if found != fingerprint => {
                    bail!(
                        "is a journal of other data or settings, or of another version: start another, or give the options that it \
                         was begun with"
                    )
                }
                Some(_) => {}
            }
        } else {
            match serde_json::from_slice(line) {
                Ok(line) => found.push(line),
                Err(_) if last => break,
                Err(cause) => bail!("line {} is damaged: {cause}", number + 1),
            }
        }
        good += line.len();
    }
    Ok((found, good))
}

/// Scores of settings on folds that survive the program.
pub(crate) trait ScoreBook: Sync {
    fn recall(&self, key: &str, fold: usize) -> Option<f64>;
    fn record(&self, key: &str, fold: usize, score: f64) -> std::io::Result<()>;
}

/// The journal of `bidilel tune`.
pub(crate) struct Journal {
    lines: Lines,
    known: Known,
}

/// One score in a journal.
#[derive(Serialize, Deserialize)]
pub(crate) struct Line {
    settings: Value,
    trial: usize,
    score: f64,
}

/// Evaluations by settings and fold.
pub(crate) type Known = HashMap<(String, usize), f64>;

impl Line {
    pub(crate) fn new(key: &str, fold: usize, score: f64) -> std::io::Result<Self> {
        Ok(Self { settings: serde_json::from_str(key)?, trial: fold, score })
    }

    /// The entry that it stands for.
    pub(crate) fn entry(self) -> ((String, usize), f64) {
        ((self.settings.to_string(), self.trial), self.score)
    }
}

impl Journal {
    /// Starts a journal, or with `resume` continues an existing one.
    pub(crate) fn open(path: &Path, fingerprint: &str, resume: bool) -> Result<Self> {
        let (lines, known) = Lines::of_this_version::<Line>(path, COMMAND, fingerprint, resume)?;
        Ok(Self { lines, known: known.into_iter().map(Line::entry).collect() })
    }

    /// How many evaluations were there.
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }
}

/// The command whose journals these are.
const COMMAND: &str = "tune";

impl ScoreBook for Journal {
    fn recall(&self, key: &str, fold: usize) -> Option<f64> {
        self.known.get(&(key.to_owned(), fold)).copied()
    }

    fn record(&self, key: &str, fold: usize, score: f64) -> std::io::Result<()> {
        self.lines.append(&Line::new(key, fold, score)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The evaluations of a text, and the number of its valid bytes.
    fn read(text: &[u8], fingerprint: &str) -> Result<(Known, usize)> {
        let (lines, good) = super::read::<Line>(text, COMMAND, &of_this_version(fingerprint))?;
        Ok((lines.into_iter().map(Line::entry).collect(), good))
    }

    fn written() -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let journal = Journal::open(&path, "abc", false).unwrap();
        journal.record(r#"{"alpha":0.1}"#, 0, 0.1 + 0.2).unwrap();
        journal.record(r#"{"alpha":10.0,"dim":5}"#, 1, 1.0 / 3.0).unwrap();
        assert!(Journal::open(&path, "abc", false).is_err(), "it is there");
        let second = Journal::open(&path, "abc", true).map(|_| ()).unwrap_err().to_string();
        assert!(second.ends_with("another run is writing to it"), "{second}");
        drop(journal);
        assert_eq!(Journal::open(&path, "abc", true).unwrap().len(), 2);
        std::fs::read(&path).unwrap()
    }

    #[test]
    fn a_journal_that_ends_anywhere_gives_back_its_whole_lines_bit_by_bit() {
        let text = written();
        for end in 0..=text.len() {
            let (known, good) = read(&text[..end], "abc").unwrap();
            let whole = text[..end].split(|&byte| byte == b'\n').count() - 1;
            assert_eq!(known.len(), whole.saturating_sub(1));
            assert!(good <= end && (good == 0 || text[good - 1] == b'\n'));
        }
        let (known, _) = read(&text, "abc").unwrap();
        assert_eq!(known[&(r#"{"alpha":0.1}"#.to_owned(), 0)].to_bits(), (0.1_f64 + 0.2).to_bits());
    }

    #[test]
    fn a_journal_with_any_byte_changed_is_read_or_refused() {
        let text = written();
        for place in 0..text.len() {
            for byte in [0, b'"', b'{', b'9', b'\n', 0xff] {
                let mut damaged = text.clone();
                damaged[place] = byte;
                if let Ok((known, good)) = read(&damaged, "abc") {
                    assert!(known.len() <= 3 && good <= damaged.len());
                }
            }
        }
        let nested = format!("{{\"fingerprint\": {}", "[".repeat(100_000));
        assert!(read(format!("{nested}\n").as_bytes(), "abc").is_err());
    }

    #[test]
    fn what_another_version_wrote_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let text = String::from_utf8(written()).unwrap();
        std::fs::write(&path, text.replacen(&format!("\"{VERSION} "), "\"0.0.0 ", 1)).unwrap();
        let refused = Journal::open(&path, "abc", true).map(|_| ()).unwrap_err();
        assert!(format!("{refused:#}").contains("or of another version"), "{refused:#}");
        std::fs::write(&path, text).unwrap();
        assert_eq!(Journal::open(&path, "abc", true).unwrap().len(), 2);
    }

    #[test]
    fn other_data_another_file_and_damage_in_the_middle_are_refused() {
        let text = written();
        assert!(read(&text, "abd").unwrap_err().to_string().contains("other data"));
        assert!(read(b"hello\nworld\n", "abc").unwrap_err().to_string().contains("no journal"));
        let mut damaged = text.clone();
        let second = text.iter().position(|&byte| byte == b'\n').unwrap() + 2;
        damaged[second] = b'#';
        assert!(read(&damaged, "abc").unwrap_err().to_string().contains("line 2"));
        let mut corrupt = text.clone();
        corrupt.extend_from_slice(b"\0\0garbage\n");
        assert_eq!(read(&corrupt, "abc").unwrap().1, text.len(), "a corrupt last line is dropped");
    }
}
