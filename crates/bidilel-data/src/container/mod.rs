//! Files that hold named arrays and strings, whatever their format.
//!
//! [`Container::open`] looks at the first bytes of a file, not at its name, and reads no more than it needs to know
//! where things are. An array is mapped where the format allows that; what is compressed is decompressed when it is asked
//! for, and never into more memory than its bytes really fill. Every reader runs in a sandbox.
//!
//! A key names a variable, a member of an archive, a tensor. In a MATLAB file it reaches into structures too:
//! `VideoLabel.UCF101.WordVec`, or `trials(2).unseen` where there are several.

mod csv;
mod format;
#[cfg(feature = "hdf5")]
mod hdf5;
mod inflate;
mod inflated;
mod mat5;
mod npy;
mod npz;
#[cfg(feature = "parquet")]
mod parquet;
mod safetensors;
mod sandbox;
mod stream;
mod table;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use format::Format;
pub use stream::RowStream;
pub use table::Column;
pub(crate) use table::Tabular;

use crate::array::{Array, Bytes};
use crate::error::{Error, Result};
use crate::file;

/// What a key stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// An array of numbers.
    Numbers,
    /// A list of strings.
    Strings,
    /// A structure: its fields have keys of their own.
    Struct,
    /// Something that is neither, such as complex numbers or a function.
    Other,
}

impl EntryKind {
    /// What to call it in a message.
    pub fn name(self) -> &'static str {
        match self {
            Self::Numbers => "numbers",
            Self::Strings => "strings",
            Self::Struct => "a structure",
            Self::Other => "something else",
        }
    }
}

/// One thing in a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name; empty where the file is one array and nothing else.
    pub key: String,
    /// What it is.
    pub kind: EntryKind,
    /// The sizes of its dimensions, as the file has them.
    pub shape: Vec<usize>,
}

/// A reader of one format, after it has found out where things are.
pub(crate) trait Reader: Send + Sync {
    /// Everything that has a key, in the order of the file.
    fn entries(&self) -> Result<Vec<Entry>>;

    /// What a key stands for; none where nothing has it.
    fn entry(&self, key: &str) -> Result<Option<Entry>> {
        Ok(self.entries()?.into_iter().find(|entry| entry.key == key))
    }

    /// The numbers of a key that `entry` knows as [`EntryKind::Numbers`].
    fn array(&self, key: &str) -> Result<Array>;

    /// The strings of a key that `entry` knows as [`EntryKind::Strings`].
    fn strings(&self, key: &str) -> Result<Vec<String>>;

    /// The file as a table, where it is one.
    fn table(&self) -> Option<&dyn Tabular> {
        None
    }

    /// The rows of a key, or of some columns of a table, block by block; with `transpose`, the columns of the key's matrix.
    /// None where they must be read whole, or can be mapped.
    fn stream(&self, _key: &str, _columns: &[usize], _transpose: bool) -> Result<Option<Box<dyn RowStream>>> {
        Ok(None)
    }
}

/// A file of one or more arrays and lists of strings.
pub struct Container {
    path: PathBuf,
    format: Format,
    reader: Box<dyn Reader>,
}

impl Container {
    /// Maps a file and finds out what is in it.
    pub fn open(path: &Path) -> Result<Self> {
        Self::from_bytes(path, Arc::new(file::map(path)?))
    }

    /// The container in bytes that are already at hand; `path` is their name in messages.
    pub fn from_bytes(path: &Path, bytes: Bytes) -> Result<Self> {
        let content = (*bytes).as_ref();
        let format = Format::of(content).or(csv::is_text(content).then_some(Format::Text));
        let format = format.ok_or_else(|| Error::Format {
            path: path.to_owned(),
            expected: "an array (.npy, .npz, .mat, .h5, .safetensors, .parquet, .csv)",
            found: "something else",
        })?;
        let reader = sandbox::run(path, format, || reader(path, format, bytes))?;
        Ok(Self { path: path.to_owned(), format, reader })
    }

    /// Asks the reader, where a file that misleads it does no harm.
    fn ask<T: Send>(&self, question: impl FnOnce(&dyn Reader) -> Result<T> + Send) -> Result<T> {
        sandbox::run(&self.path, self.format, || question(&*self.reader))
    }

    /// The file it came from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name of its format, with an article: `a MATLAB file`.
    pub fn format_name(&self) -> &'static str {
        self.format.name()
    }

    /// Everything in it, fields of structures included.
    pub fn entries(&self) -> Result<Vec<Entry>> {
        self.ask(|reader| reader.entries())
    }

    /// Whether something has that key.
    pub fn has(&self, key: &str) -> bool {
        matches!(self.ask(|reader| reader.entry(key)), Ok(Some(_)))
    }

    /// What a key stands for; without a key, the only entry that is of one of these kinds.
    ///
    /// A file that is one array and nothing else has that entry, of whatever kind: there is nothing to choose.
    pub fn entry(&self, key: Option<&str>, kinds: &[EntryKind]) -> Result<Entry> {
        if let Some(key) = key {
            return match self.ask(|reader| reader.entry(key))? {
                Some(entry) if kinds.contains(&entry.kind) => Ok(entry),
                Some(entry) => Err(Error::Entry {
                    path: self.path.clone(),
                    key: entry.key,
                    expected: one_of(kinds),
                    found: entry.kind.name(),
                }),
                None => Err(self.no_such(key)?),
            };
        }
        let mut entries = self.entries()?;
        if is_keyless(&entries) {
            return Ok(entries.remove(0));
        }
        entries.retain(|entry| kinds.contains(&entry.kind));
        // The table as a whole, if it has columns of what is wanted.
        if let Some(whole) = entries.iter().position(|entry| entry.key.is_empty()) {
            return Ok(entries.swap_remove(whole));
        }
        match entries.len() {
            1 => Ok(entries.remove(0)),
            _ => Err(Error::WhichKey {
                path: self.path.clone(),
                expected: one_of(kinds),
                keys: entries.into_iter().map(|entry| entry.key).collect(),
            }),
        }
    }

    /// The file as a table, where it is one.
    pub(crate) fn table(&self) -> Option<&dyn Tabular> {
        self.reader.table()
    }

    /// The rows of a key, or of some columns of a table, block by block, where the format allows that.
    pub(crate) fn stream(
        &self,
        key: &str,
        columns: &[usize],
        transpose: bool,
    ) -> Result<Option<Box<dyn RowStream>>> {
        let inner = self.ask(|reader| reader.stream(key, columns, transpose))?;
        let (path, format) = (self.path.clone(), self.format);
        Ok(inner.map(|inner| -> Box<dyn RowStream> { Box::new(stream::Sandboxed { path, format, inner }) }))
    }

    /// The array of a key, or the only one; of a table, all columns of numbers ([`crate::table`] chooses among them).
    pub fn array(&self, key: Option<&str>) -> Result<Array> {
        let entry = self.entry(key, &[EntryKind::Numbers])?;
        self.ask(|reader| reader.array(&entry.key))
    }

    /// The strings of a key, in the order of the file.
    pub fn strings(&self, key: &str) -> Result<Vec<String>> {
        let entry = self.entry(Some(key), &[EntryKind::Strings])?;
        self.ask(|reader| reader.strings(&entry.key))
    }

    fn no_such(&self, key: &str) -> Result<Error> {
        let (path, key) = (self.path.clone(), key.to_owned());
        let entries = self.entries()?;
        let keyless = is_keyless(&entries);
        // The table as a whole has no name to be asked for by.
        let keys = entries.into_iter().map(|entry| entry.key).filter(|key| !key.is_empty()).collect();
        Ok(if keyless { Error::NoKeys { path, key } } else { Error::NoSuchKey { path, key, keys } })
    }
}

/// Finds out where things are in a file of that format.
fn reader(path: &Path, format: Format, bytes: Bytes) -> Result<Box<dyn Reader>> {
    Ok(match format {
        Format::Npy => Box::new(npy::Npy::new(path, bytes)),
        Format::Zip => Box::new(npz::Npz::new(path, bytes)?),
        Format::Matlab => Box::new(mat5::Mat5::new(path, bytes)?),
        Format::Safetensors => Box::new(safetensors::Safetensors::new(path, bytes)?),
        Format::Text => Box::new(csv::Csv::new(path, bytes)?),
        #[cfg(feature = "hdf5")]
        Format::Hdf5 => Box::new(hdf5::Hdf5::new(path, bytes)?),
        #[cfg(feature = "parquet")]
        Format::Parquet => Box::new(parquet::Parquet::new(path, bytes)?),
        #[cfg(not(feature = "hdf5"))]
        Format::Hdf5 => return Err(left_out(path, format, "hdf5")),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => return Err(left_out(path, format, "parquet")),
    })
}

#[cfg(not(all(feature = "hdf5", feature = "parquet")))]
fn left_out(path: &Path, format: Format, feature: &'static str) -> Error {
    Error::LeftOut { path: path.to_owned(), format: format.name(), feature }
}

impl fmt::Debug for Container {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Container({} in {})", self.format_name(), self.path.display())
    }
}

/// How messages name an entry of a file: `att_splits.mat:att`.
pub(crate) fn path_of(path: &Path, key: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    if !key.is_empty() {
        name.push(":");
        name.push(key);
    }
    name.into()
}

fn is_keyless(entries: &[Entry]) -> bool {
    matches!(entries, [only] if only.key.is_empty())
}

fn one_of(kinds: &[EntryKind]) -> String {
    kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(" or ")
}
