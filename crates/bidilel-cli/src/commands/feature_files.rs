//! The features of one view: consecutive files, one open at a time.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};
use bidilel::dataset::Rows;
use bidilel::visual::View;
use bidilel_data::array::Array;
use bidilel_data::container::RowStream;
use bidilel_data::table::{self, Choice, Features, Ids, Wanted};
use bidilel_math::Observer;

use super::block::Part;
use super::row_scan::Window;
use super::sidecar_ids;
use crate::failure::usage;
use crate::input;

/// Bytes of a mapped file that are read before it is mapped again.
const REMAP_BYTES: usize = 64 << 20;

/// How the files of one view are to be read.
pub(super) struct Request {
    pub(super) key: Option<String>,
    pub(super) transpose: bool,
    pub(super) choice: Choice,
    pub(super) view: View,
}

pub(super) struct Source {
    request: Request,
    shards: Vec<Shard>,
    /// The open file, by its index.
    open: Option<(usize, Reading)>,
}

/// One of the files.
struct Shard {
    path: PathBuf,
    origin: String,
    /// Its rows among those of all.
    rows: Range<usize>,
    /// Whether its rows are decoded block by block.
    streamed: bool,
}

enum Reading {
    /// Mapped, or unpacked whole; with the bytes that were read since it was opened.
    Whole(Features, usize),
    /// Decoded block by block; with the last block.
    Stream(Box<dyn RowStream>, Option<Array>),
}

impl Reading {
    fn size(&self) -> (usize, usize) {
        match self {
            Self::Whole(features, _) => (features.count(), features.dim()),
            Self::Stream(stream, _) => (stream.rows(), stream.columns()),
        }
    }
}

impl Source {
    /// Opens all files once, one after another, for their sizes and identifiers.
    pub(super) fn open(
        request: Request,
        paths: Vec<PathBuf>,
        ids: Option<&Ids>,
        watch: &dyn Observer,
    ) -> Result<(Self, Option<Ids>)> {
        let ids = ids.filter(|_| paths.len() == 1);
        // Files are opened twice where there are several, and what came through a pipe is gone then.
        if paths.len() > 1 && paths.iter().any(|path| is_read_once(path)) {
            return Err(usage("a pipe cannot be one of several files of a view: write it to a file first"));
        }
        let mut source = Self { request, shards: Vec::new(), open: None };
        let mut found: Option<Ids> = None;
        let mut complete = true;
        for path in paths {
            let origin = if input::is_stdin(&path) {
                input::STDIN.to_owned()
            } else {
                format!("`{}`", path.display())
            };
            let Opened { reading, ids, notes } = source.request.open(&path, ids)?;
            let (count, _) = source.request.check(&origin, &reading, &notes)?;
            notes.iter().for_each(|note| watch.note(&format!("{origin}: {note}")));
            let first = source.count();
            match ids.or_else(|| sidecar_ids::ids(&path, count, watch)) {
                Some(own) if first == 0 => found = Some(own),
                Some(own) => found.iter_mut().for_each(|ids| ids.values.extend(own.values.iter().cloned())),
                None => complete = false,
            }
            let streamed = matches!(reading, Reading::Stream(..));
            let index = source.shards.len();
            source.shards.push(Shard { path, origin, rows: first..first + count, streamed });
            source.open = Some((index, reading));
        }
        Ok((source, found.filter(|_| complete)))
    }

    pub(super) fn count(&self) -> usize {
        self.shards.last().map_or(0, |last| last.rows.end)
    }

    /// Where the rows come from, for messages.
    pub(super) fn origin(&self) -> String {
        match &self.shards[..] {
            [one] => one.origin.clone(),
            many => format!("view `{}` ({} files)", self.request.view.name, many.len()),
        }
    }

    /// Where files end, among the rows of all.
    pub(super) fn ends(&self) -> impl Iterator<Item = usize> {
        self.shards.iter().map(|shard| shard.rows.end)
    }

    /// Bytes of a row that is decoded into memory.
    pub(super) fn decoded_bytes(&self) -> usize {
        let any = self.shards.iter().any(|shard| shard.streamed);
        if any { self.request.view.dim * size_of::<f64>() } else { 0 }
    }

    /// The rows of a block, which lies within one file.
    pub(super) fn part(&mut self, block: &Range<usize>) -> Result<Part<'_>> {
        let index = self.shards.partition_point(|shard| shard.rows.end <= block.start);
        let Some(shard) = self.shards.get(index) else { bail!("{} has no more rows", self.origin()) };
        let local = block.start - shard.rows.start..block.end - shard.rows.start;
        let reading = match self.open.take() {
            Some((open, reading)) if open == index => self.request.renewed(shard, reading)?,
            _ => self.request.reopened(shard)?,
        };
        let (_, reading) = self.open.insert((index, reading));
        let (count, file_row) = (local.len(), local.start);
        let rows = match reading {
            Reading::Whole(features, read) => {
                *read += count * features.dim() * features.array.element().size();
                Window { rows: features, first: local.start, count, file_row }
            }
            Reading::Stream(stream, last) => {
                // The previous block is freed first.
                *last = None;
                Window { rows: last.insert(stream.read(local)?), first: 0, count, file_row }
            }
        };
        Ok(Part { rows, origin: &shard.origin })
    }
}

/// A file that was just opened.
struct Opened {
    reading: Reading,
    ids: Option<Ids>,
    notes: Vec<String>,
}

impl Request {
    fn open(&self, path: &Path, ids: Option<&Ids>) -> Result<Opened> {
        let names = self.view.columns.as_deref();
        let wanted = Wanted { key: self.key.as_deref(), transpose: self.transpose, names, ids };
        if is_read_once(path) {
            let name = if input::is_stdin(path) { Path::new(input::STDIN) } else { path };
            let read = table::from_bytes(name, Arc::new(input::bytes(path)?), &self.choice, wanted)?;
            return Ok(Opened {
                reading: Reading::Whole(read.features, 0),
                ids: read.ids,
                notes: read.notes,
            });
        }
        if let Some(streamed) = table::stream(path, &self.choice, wanted)? {
            let reading = Reading::Stream(streamed.stream, None);
            return Ok(Opened { reading, ids: streamed.ids, notes: streamed.notes });
        }
        let mut read = table::open(path, &self.choice, wanted)?;
        let held = read.features.array.backing_len();
        if held > REMAP_BYTES && !is_mapped(path, held) {
            read.notes.push(format!("its features are unpacked whole, {} MB", held >> 20));
        }
        Ok(Opened { reading: Reading::Whole(read.features, 0), ids: read.ids, notes: read.notes })
    }

    /// The file, which was opened before and must not have changed.
    fn reopened(&self, shard: &Shard) -> Result<Reading> {
        let Opened { reading, .. } = self.open(&shard.path, None)?;
        if self.check(&shard.origin, &reading, &[])?.0 != shard.rows.len() {
            bail!("{}: the file changed while it was read", shard.origin);
        }
        Ok(reading)
    }

    /// The same file, mapped again where much of it was read.
    ///
    /// Pages that were read stay resident for as long as the mapping lives. A large file is therefore mapped again every
    /// [`REMAP_BYTES`], and memory stays small whatever the file's size. A thread of the pool unmaps the old pages while
    /// the others go on.
    fn renewed(&self, shard: &Shard, reading: Reading) -> Result<Reading> {
        match reading {
            Reading::Whole(features, read)
                if read > REMAP_BYTES && is_mapped(&shard.path, features.array.backing_len()) =>
            {
                let anew = self.reopened(shard)?;
                rayon::spawn(move || drop(features));
                Ok(anew)
            }
            other => Ok(other),
        }
    }

    /// Rows and dimensions, after a check that these are what the model was fitted to.
    fn check(&self, origin: &str, reading: &Reading, notes: &[String]) -> Result<(usize, usize)> {
        let ((count, found), dim) = (reading.size(), self.view.dim);
        if dim == found {
            return Ok((count, dim));
        }
        let matrix = match reading {
            Reading::Whole(features, _) => features.array.dimensions() == 2,
            Reading::Stream(..) => true,
        };
        let hint =
            if count == dim && matrix && !self.transpose { "; its columns fit: try --transpose" } else { "" };
        let notes = match notes {
            [] => String::new(),
            notes => format!("; {}: choose with --columns", notes.join("; ")),
        };
        bail!(
            "{origin}: feature rows do not match the model: expected {dim} dimensions, found {found}{hint}{notes}"
        )
    }
}

/// Whether a path can be read only once, as standard input and pipes.
fn is_read_once(path: &Path) -> bool {
    input::is_stdin(path) || fs::metadata(path).is_ok_and(|file| !file.is_file() && !file.is_dir())
}

fn is_mapped(path: &Path, length: usize) -> bool {
    fs::metadata(path).is_ok_and(|file| file.len() == length as u64)
}
