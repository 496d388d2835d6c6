//! A dataset is a folder with a `dataset.toml` that names its files.
//!
//! Everything that can be checked without reading features is checked here: counts, ranges, names, and the values
//! of semantic vectors. Features stay mapped; a task checks those that it uses.

mod labels;
mod manifest;
mod semantic;
mod spelling;
mod splits;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bidilel::dataset::{Dataset, Visual};

use crate::array::{self, Array};
use crate::error::{Error, Result};
use crate::file;
use crate::names::ClassIndex;
use crate::text::{self, List};
use manifest::{Manifest, Place};

/// The file that makes a folder a dataset.
pub(crate) const MANIFEST: &str = "dataset.toml";

/// A dataset, and what was done to it on the way.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The dataset.
    pub dataset: Dataset,
    /// Things that the user should know, a sentence each.
    pub notes: Vec<String>,
}

/// Opens a dataset folder, or the one whose `dataset.toml` this is.
pub fn open(path: &Path) -> Result<Opened> {
    let manifest_path = manifest_path(path)?;
    let folder = Folder { path: manifest_path.parent().unwrap_or(Path::new("")).to_owned(), manifest_path };
    let manifest = Manifest::parse(&folder.manifest_path, &file::map(&folder.manifest_path)?)?;

    let classes = folder.list(&manifest.classes)?.unique()?.items;
    let index = ClassIndex::new(&classes);
    let labels = labels::read(&folder, &manifest, &index)?;
    let mut notes = Vec::new();
    let mut visual = Vec::new();
    for (name, table) in manifest.visual.0 {
        visual.push(folder.visual(name, &table, labels.len())?);
    }
    let mut semantic = Vec::new();
    for (name, table) in manifest.semantic.0 {
        semantic.push(semantic::read(&folder, name, &table, &classes, &mut notes)?);
    }
    let mut splits = Vec::new();
    for (name, table) in manifest.split.0 {
        splits.push(splits::read(&folder, name, &table, &index, labels.len())?);
    }
    let dataset = Dataset { name: manifest.name, labels, visual, semantic, splits, classes };
    Ok(Opened { dataset, notes })
}

/// Checks the text of a `dataset.toml` without opening the files that it names.
pub fn check_manifest(path: &Path, bytes: &[u8]) -> Result<()> {
    Manifest::parse(path, bytes).map(|_| ())
}

fn manifest_path(path: &Path) -> Result<PathBuf> {
    let metadata = fs::metadata(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Error::NotFound { path: path.to_owned() },
        _ => Error::Read { path: path.to_owned(), source },
    })?;
    if !metadata.is_dir() {
        return Ok(path.to_owned());
    }
    let manifest_path = path.join(MANIFEST);
    match manifest_path.try_exists() {
        Ok(false) => Err(Error::NoManifest { path: path.to_owned() }),
        // Where it cannot even be looked for, opening it says why.
        _ => Ok(manifest_path),
    }
}

/// Where the files are.
struct Folder {
    path: PathBuf,
    manifest_path: PathBuf,
}

impl Folder {
    fn join(&self, file: &str) -> PathBuf {
        self.path.join(file)
    }

    /// Reads strings: the lines of a text file, or a list in a container.
    fn list(&self, place: &Place) -> Result<List> {
        text::read_strings(&self.join(&place.file), place.key.as_deref())
    }

    /// Opens an array that must be a matrix with a row for each of something.
    fn matrix(
        &self,
        file: &str,
        key: Option<&str>,
        transpose: bool,
        expected: &'static str,
    ) -> Result<Array> {
        let array = array::open(&self.join(file), key)?;
        if array.dimensions() != 2 {
            let path = array.path().to_owned();
            return Err(Error::Dimensions { path, expected, shape: vec![array.rows()] });
        }
        Ok(if transpose { array.transposed() } else { array })
    }

    fn visual(&self, name: String, table: &manifest::Visual, instances: usize) -> Result<Visual> {
        let expected = "a matrix of instances x dimensions";
        let rows = self.matrix(&table.file, table.key.as_deref(), table.transpose, expected)?;
        check_count(rows.path(), "rows (one an instance)", instances, rows.rows())?;
        let origin = format!("`{}`", rows.path().display());
        Ok(Visual { name, origin, rows: Arc::new(rows) })
    }
}

fn check_count(path: &Path, what: &'static str, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        Ok(())
    } else {
        Err(Error::Count { path: path.to_owned(), what, expected, found })
    }
}
