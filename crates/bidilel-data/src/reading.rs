//! What could be read of a dataset, and what could not.
//!
//! Whoever wants to use a dataset stops at the first thing that is wrong with it; whoever wants to know what is wrong
//! wants all of it. So reading goes on past an error where it can, and [`open`] is reading without an error.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bidilel::dataset::Dataset;
use bidilel::networks::Networks;

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
    let Reading { dataset, notes, errors, .. } = read(path, encoder);
    match errors.into_iter().next() {
        Some(error) => Err(error),
        None => Ok(Opened { dataset, notes: notes.iter().map(Note::to_string).collect() }),
    }
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
        Self { dataset, notes: Vec::new(), errors: Vec::new(), tables: Vec::new() }
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
