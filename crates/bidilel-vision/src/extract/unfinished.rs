//! What a run has done so far, on the disk, so that a run that is killed loses one chunk.
//!
//! Beside `features.npy` lie, until it is complete, `features.npy.part` with the rows and `features.npy.part.jsonl` with
//! a line for what is extracted and then one a chunk: its files, its rows, their checksum, and what was skipped.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use bidilel_data::Precision;
use half::f16;
use serde::{Deserialize, Serialize};

use super::ExtractOptions;
use super::runner::Row;
use crate::discover::Item;
use crate::error::{Error, Result, Unfinished as State};

/// An unfinished extraction.
pub(super) struct Unfinished {
    data: File,
    journal: File,
    places: [PathBuf; 2],
    precision: Precision,
    pub(super) dimensions: usize,
    pub(super) rows: usize,
    files: usize,
    /// Indices of files without a row, and why.
    pub(super) skipped: Vec<(usize, String)>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    unfinished: String,
    fingerprint: String,
    dimensions: usize,
}

#[derive(Serialize, Deserialize)]
struct Chunk {
    files: usize,
    rows: usize,
    checksum: String,
    skipped: Vec<(usize, String)>,
}

const NAME: &str = "bidilel extract";

impl Unfinished {
    /// Begins, or with `resume` goes on with what is there.
    pub(super) fn open(
        out: &Path,
        fingerprint: u64,
        dimensions: usize,
        options: &ExtractOptions,
    ) -> Result<Self> {
        let beside = |ending: &str| {
            let mut name = out.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        let places = [beside(".part"), beside(".part.jsonl")];
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| Error::Data(bidilel_data::Error::Write { path, source })
        };
        let head =
            Head { unfinished: NAME.to_owned(), fingerprint: format!("{fingerprint:016x}"), dimensions };
        let open = |path: &Path| {
            OpenOptions::new()
                .create(true)
                .truncate(false)
                .read(true)
                .write(true)
                .open(path)
                .map_err(failed(path))
        };
        let mut journal = open(&places[1])?;
        // Two runs would write over each other's rows. The lock goes with the file, however the run ends.
        bidilel_data::lock_for_writing(&journal, &places[1])?;
        let mut text = Vec::new();
        journal.read_to_end(&mut text).map_err(failed(&places[1]))?;
        if !options.resume && !text.is_empty() {
            return Err(Error::Unfinished { path: places[1].clone(), state: State::Begun });
        }
        let data = open(&places[0])?;
        let precision = options.precision;
        let mut this =
            Self { data, journal, places, precision, dimensions, rows: 0, files: 0, skipped: Vec::new() };
        let good = this.recall(&text, &head)?;
        let places = this.places.clone();
        let bytes = (this.rows * this.row_bytes()) as u64;
        this.data.set_len(bytes).map_err(failed(&places[0]))?;
        this.journal.set_len(good as u64).map_err(failed(&places[1]))?;
        seek_end(&mut this.data).map_err(failed(&places[0]))?;
        seek_end(&mut this.journal).map_err(failed(&places[1]))?;
        if good == 0 {
            let line = serde_json::to_string(&head).map_err(io::Error::other).map_err(failed(&places[1]))?;
            this.journal.write_all((line + "\n").as_bytes()).map_err(failed(&places[1]))?;
        }
        Ok(this)
    }

    /// Takes in the chunks whose line is whole and whose rows are there, and gives the length of those lines.
    fn recall(&mut self, text: &[u8], head: &Head) -> Result<usize> {
        let mut good = 0;
        let mut data = BufReader::new(&self.data);
        let row_bytes = self.row_bytes();
        for (number, line) in text.split_inclusive(|&byte| byte == b'\n').enumerate() {
            if !line.ends_with(b"\n") {
                break;
            }
            if number == 0 {
                let found: Head = serde_json::from_slice(line)
                    .map_err(|_| Error::Unfinished { path: self.places[1].clone(), state: State::Foreign })?;
                if (&found.fingerprint, found.dimensions) != (&head.fingerprint, head.dimensions) {
                    return Err(Error::Unfinished { path: self.places[1].clone(), state: State::Different });
                }
            } else {
                // A chunk that was not written whole, in either file, is done again.
                let Ok(chunk) = serde_json::from_slice::<Chunk>(line) else { break };
                let mut bytes = Vec::new();
                let length = (chunk.rows * row_bytes) as u64;
                let whole = data
                    .by_ref()
                    .take(length)
                    .read_to_end(&mut bytes)
                    .is_ok_and(|read| read as u64 == length);
                if !whole || checksum(&bytes) != chunk.checksum {
                    break;
                }
                self.rows += chunk.rows;
                self.files += chunk.files;
                self.skipped.extend(chunk.skipped);
            }
            good += line.len();
        }
        Ok(good)
    }

    /// Files that are done.
    pub(super) fn files(&self) -> usize {
        self.files
    }

    fn row_bytes(&self) -> usize {
        self.dimensions * if self.precision == Precision::Float16 { 2 } else { 4 }
    }

    /// Adds a chunk.
    pub(super) fn append(&mut self, items: &[Item], rows: Vec<Row>) -> Result<()> {
        let mut bytes = Vec::with_capacity(rows.len() * self.row_bytes());
        let mut chunk = Chunk { files: items.len(), rows: 0, checksum: String::new(), skipped: Vec::new() };
        for (place, (item, row)) in items.iter().zip(rows).enumerate() {
            match row {
                Ok(row) => {
                    self.encode(&row, item, &mut bytes)?;
                    chunk.rows += 1;
                }
                Err(problem) => chunk.skipped.push((self.files + place, problem)),
            }
        }
        chunk.checksum = checksum(&bytes);
        let failed = |index: usize| {
            let path = self.places[index].clone();
            move |source| Error::Data(bidilel_data::Error::Write { path, source })
        };
        let (rows_failed, journal_failed) = (failed(0), failed(1));
        self.data.write_all(&bytes).map_err(rows_failed)?;
        let line = serde_json::to_string(&chunk).map_err(io::Error::other);
        line.and_then(|line| self.journal.write_all((line + "\n").as_bytes())).map_err(journal_failed)?;
        self.rows += chunk.rows;
        self.files += chunk.files;
        self.skipped.append(&mut chunk.skipped);
        Ok(())
    }

    fn encode(&self, row: &[f32], item: &Item, bytes: &mut Vec<u8>) -> Result<()> {
        for (dimension, &value) in row.iter().enumerate() {
            match self.precision {
                Precision::Float32 => bytes.extend(value.to_le_bytes()),
                Precision::Float16 => {
                    let half = f16::from_f32(value);
                    if !half.is_finite() {
                        return Err(Error::Overflow { picture: item.path.clone(), dimension, value });
                    }
                    bytes.extend(half.to_le_bytes());
                }
            }
        }
        Ok(())
    }

    /// The rows from the first, as they are in the file.
    pub(super) fn reader(&mut self) -> io::Result<BufReader<&File>> {
        io::Seek::rewind(&mut self.data)?;
        Ok(BufReader::with_capacity(1 << 20, &self.data))
    }

    /// Takes the files away: all of it is elsewhere now.
    pub(super) fn remove(self) {
        let places = self.places.clone();
        drop(self);
        for place in places {
            // What is left over is in nobody's way.
            let _ = std::fs::remove_file(place);
        }
    }
}

fn checksum(bytes: &[u8]) -> String {
    format!("{:016x}", xxhash_rust::xxh3::xxh3_64(bytes))
}

fn seek_end(file: &mut File) -> io::Result<()> {
    io::Seek::seek(file, io::SeekFrom::End(0)).map(drop)
}
