//! What could be read of a dataset, and what could not.
//!
//! Whoever wants to use a dataset stops at the first thing that is wrong with it; whoever wants to know what is wrong
//! wants all of it. So reading goes on past an error where it can, and [`open`] is reading without an error.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bidilel::dataset::Dataset;
use bidilel::networks::Networks;
use bidilel::tags::Tagged;

use crate::error::{Error, Result};
use crate::folder::{self, MANIFEST};
use crate::layout;
use crate::table::TableRoles;
use crate::text_encoder::TextEncoder;

/// A dataset, and what was done to it on the way.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The dataset.
    pub dataset: Dataset,
    /// Things that the user should know, a sentence each.
    pub notes: Vec<String>,
}

/// Opens a dataset folder, or the one whose `dataset.toml` this is.
///
/// # Errors
/// Those of its files, and [`Error::NoTextEncoder`] where it names a text network: see [`open_with`].
pub fn open(path: &Path) -> Result<Opened> {
    open_by(path, None)
}

/// As [`open`], for datasets whose descriptions are made of words by `encoder`.
pub fn open_with(path: &Path, encoder: &dyn TextEncoder) -> Result<Opened> {
    open_by(path, Some(encoder))
}

fn open_by(path: &Path, encoder: Option<&dyn TextEncoder>) -> Result<Opened> {
    let Reading { dataset, notes, errors, tags, .. } = read(path, encoder);
    match errors.into_iter().next() {
        Some(error) => Err(error),
        None if tags.is_some() => Err(Error::SeveralLabels { path: path.to_owned() }),
        None => Ok(Opened { dataset, notes: notes.iter().map(Note::to_string).collect() }),
    }
}

/// A dataset whose instances have any number of labels, and what was done to it on the way.
#[derive(Debug, Clone)]
pub struct OpenedTags {
    /// The dataset.
    pub tagged: Tagged,
    /// Things that the user should know, a sentence each.
    pub notes: Vec<String>,
}

/// Opens a dataset folder as one whose instances have any number of labels: its `tags`, or the one of `labels`.
pub fn open_tagged(path: &Path) -> Result<OpenedTags> {
    let Reading { dataset, notes, errors, tags, .. } = read(path, None);
    if let Some(error) = errors.into_iter().next() {
        return Err(error);
    }
    let tags = tags.unwrap_or_else(|| dataset.labels.iter().map(|&label| vec![label]).collect());
    let tagged = Tagged::new(dataset, tags)
        .map_err(|error| Error::Malformed { path: path.to_owned(), problem: error.to_string() })?;
    Ok(OpenedTags { tagged, notes: notes.iter().map(Note::to_string).collect() })
}

/// Whether this is a dataset folder with `tags`, as far as its `dataset.toml` can be read.
pub fn has_tags(path: &Path) -> bool {
    let manifest = if path.is_dir() { path.join(MANIFEST) } else { path.to_owned() };
    folder::has_tags(&manifest)
}

/// Reads as much of a dataset as can be read.
pub(crate) fn read(path: &Path, encoder: Option<&dyn TextEncoder>) -> Reading {
    let metadata = fs::metadata(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Error::NotFound { path: path.to_owned() },
        _ => Error::Read { path: path.to_owned(), source },
    });
    match metadata {
        Err(error) => return Reading::failed(error),
        Ok(metadata) if !metadata.is_dir() => return folder::read(path.to_owned(), encoder),
        Ok(_) => {}
    }
    let manifest_path = path.join(MANIFEST);
    match manifest_path.try_exists() {
        Ok(false) => layout::read(path),
        // Where it cannot even be looked for, opening it says why.
        _ => folder::read(manifest_path, encoder),
    }
}

/// Something that the user should know about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) path: PathBuf,
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) hint: Option<&'static str>,
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}`: {}", self.path.display(), self.message)
    }
}

/// The parts of a dataset that could be read, with the reasons for those that could not.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) dataset: Dataset,
    pub(crate) notes: Vec<Note>,
    pub(crate) errors: Vec<Error>,
    /// What the columns of tables were taken for.
    pub(crate) tables: Vec<TableRoles>,
    /// The classes of every instance, where there may be several.
    pub(crate) tags: Option<Vec<Vec<usize>>>,
}

impl Reading {
    pub(crate) fn new() -> Self {
        let dataset = Dataset {
            name: String::new(),
            classes: Vec::new(),
            labels: Vec::new(),
            visual: Vec::new(),
            semantic: Vec::new(),
            splits: Vec::new(),
            networks: Networks::default(),
        };
        Self { dataset, notes: Vec::new(), errors: Vec::new(), tables: Vec::new(), tags: None }
    }

    pub(crate) fn failed(error: Error) -> Self {
        Self { errors: vec![error], ..Self::new() }
    }

    /// Records what the columns of a table were taken for.
    pub(crate) fn add_table(
        &mut self,
        path: &Path,
        part: &str,
        notes: Vec<String>,
        roles: Option<TableRoles>,
    ) {
        let hint = Some("choose others with `columns`, `name_column`, `label_column` and `id_column`");
        let note = |message| Note { path: path.to_owned(), message, hint };
        self.notes.extend(notes.into_iter().map(note));
        self.tables.extend(roles.map(|roles| TableRoles { part: part.to_owned(), ..roles }));
    }

    /// The value, or a record of why there is none.
    pub(crate) fn keep<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.errors.push(error)).ok()
    }
}
