//! A dataset is a folder with a `dataset.toml` that names its files.
//!
//! Everything that can be checked without reading features is checked here: counts, ranges, names, and the values
//! of semantic vectors. Features stay mapped; a task checks those that it uses.

mod family;
mod labels;
mod manifest;
pub(crate) mod semantic;
mod spelling;
mod splits;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use bidilel::dataset::Visual;

use crate::array::{self, Array};
use crate::error::{Error, Result};
use crate::file;
use crate::names::ClassIndex;
use crate::reading::{Note, Reading};
use crate::text::{self, List};
use manifest::{Manifest, Place};

/// The file that makes a folder a dataset.
pub(crate) const MANIFEST: &str = "dataset.toml";

/// Reads the dataset that a `dataset.toml` describes, past everything in it that cannot be read.
pub(crate) fn read(manifest_path: PathBuf) -> Reading {
    let mut reading = Reading::new();
    let path = manifest_path.parent().unwrap_or(Path::new("")).to_owned();
    let folder = Folder { path, manifest_path, outside: RefCell::default() };
    let manifest =
        file::map(&folder.manifest_path).and_then(|bytes| Manifest::parse(&folder.manifest_path, &bytes));
    if let Some(manifest) = reading.keep(manifest) {
        folder.read(&manifest, &mut reading);
        reading.notes.extend(folder.outside.into_inner().into_iter().map(|path| Note {
            path: folder.manifest_path.clone(),
            message: format!("names a file outside of its folder, `{}`", path.display()),
            hint: Some("look whether you want it read, if the dataset is not your own"),
        }));
    }
    reading
}

/// Checks the text of a `dataset.toml` without opening the files that it names.
pub fn check_manifest(path: &Path, bytes: &[u8]) -> Result<()> {
    Manifest::parse(path, bytes).map(|_| ())
}

/// Where the files are.
struct Folder {
    path: PathBuf,
    manifest_path: PathBuf,
    /// Files that lie elsewhere: a stranger's dataset could name any file of this machine.
    outside: RefCell<BTreeSet<PathBuf>>,
}

impl Folder {
    fn read(&self, manifest: &Manifest, reading: &mut Reading) {
        reading.dataset.name.clone_from(&manifest.name);
        let classes = self.list(&manifest.classes).and_then(List::unique);
        let Some(List { items: classes, .. }) = reading.keep(classes) else { return };
        let index = ClassIndex::new(&classes);
        let labels = reading.keep(labels::read(self, manifest, &index));
        // A wrong base is the usual reason; with the other one the rest can still be looked at.
        let labels = labels.or_else(|| labels::read_from_other_base(self, manifest, &index));
        let mut instances = labels.as_ref().map(Vec::len);
        for (name, table) in &manifest.visual.0 {
            if let Some(visual) = reading.keep(self.visual(name, table, instances)) {
                instances.get_or_insert(visual.rows.count());
                reading.dataset.visual.push(visual);
            }
        }
        for (name, table) in &manifest.semantic.0 {
            let semantic = semantic::read(self, name, table, &classes, &mut reading.notes);
            let semantic = reading.keep(semantic);
            reading.dataset.semantic.extend(semantic);
        }
        for (name, table) in &manifest.split.0 {
            let split = splits::read(self, name, table, &index, instances.unwrap_or(usize::MAX));
            let split = reading.keep(split);
            reading.dataset.splits.extend(split);
        }
        reading.dataset.labels = labels.unwrap_or_default();
        reading.dataset.classes = classes;
    }

    fn join(&self, file: &str) -> PathBuf {
        let named = Path::new(file);
        let leaves = |part| !matches!(part, Component::Normal(_) | Component::CurDir);
        if named.components().any(leaves) {
            self.outside.borrow_mut().insert(named.to_owned());
        }
        self.path.join(named)
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

    fn visual(&self, name: &str, table: &manifest::Visual, instances: Option<usize>) -> Result<Visual> {
        let expected = "a matrix of instances x dimensions";
        let rows = self.matrix(&table.file, table.key.as_deref(), table.transpose, expected)?;
        check_rows(&rows, "rows (one an instance)", instances.unwrap_or(rows.rows()))?;
        let origin = format!("`{}`", rows.path().display());
        Ok(Visual { name: name.to_owned(), origin, rows: Arc::new(rows) })
    }
}

/// Fails when the rows are not one for each; the columns tell whether it is the other way round.
fn check_rows(array: &Array, what: &'static str, expected: usize) -> Result<()> {
    if array.rows() != expected && array.columns() == expected {
        let (path, found) = (array.path().to_owned(), array.rows());
        return Err(Error::Transposed { path, what, expected, found });
    }
    check_count(array.path(), what, expected, array.rows())
}

fn check_count(path: &Path, what: &'static str, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        Ok(())
    } else {
        Err(Error::Count { path: path.to_owned(), what, expected, found })
    }
}
