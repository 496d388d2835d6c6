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
mod tags;
mod texts;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use bidilel::dataset::Visual;
use bidilel::networks::NetworkRecord;

use crate::array::Array;
use crate::container::Container;
use crate::error::{Counted, Error, Result};
use crate::file;
use crate::names::ClassIndex;
use crate::network_record::{self, Known};
use crate::reading::{Note, Reading};
use crate::table::{self, Ids, TableRoles, Truth};
use crate::text::{self, List};
use crate::text_encoder::TextEncoder;
use labels::Labels;
use manifest::{Manifest, Place};
use tags::Tags;

/// The file that makes a folder a dataset.
pub(crate) const MANIFEST: &str = "dataset.toml";

/// Reads the dataset that a `dataset.toml` describes, past everything in it that cannot be read.
pub(crate) fn read(manifest_path: PathBuf, encoder: Option<&dyn TextEncoder>) -> Reading {
    let mut reading = Reading::new();
    let path = manifest_path.parent().unwrap_or(Path::new("")).to_owned();
    let folder = Folder { path, manifest_path, outside: RefCell::default(), encoder };
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

/// Whether a `dataset.toml` that can be read names `tags`.
pub(crate) fn has_tags(manifest_path: &Path) -> bool {
    let manifest = file::map(manifest_path).and_then(|bytes| Manifest::parse(manifest_path, &bytes));
    manifest.is_ok_and(|manifest| manifest.tags.is_some())
}

/// Where the files are.
struct Folder<'a> {
    path: PathBuf,
    manifest_path: PathBuf,
    /// Files that lie elsewhere: a stranger's dataset could name any file of this machine.
    outside: RefCell<BTreeSet<PathBuf>>,
    /// What turns texts into vectors, where somebody can.
    encoder: Option<&'a dyn TextEncoder>,
}

impl Folder<'_> {
    fn read(&self, manifest: &Manifest, reading: &mut Reading) {
        reading.dataset.name.clone_from(&manifest.name);
        let classes = self.list(&manifest.classes).and_then(|list| list.composed().unique());
        let Some(List { items: classes, .. }) = reading.keep(classes) else { return };
        let index = ClassIndex::new(&classes);
        let labels = manifest.labels.as_ref().and_then(|source| {
            let labels = reading.keep(labels::read(self, manifest, source, &index));
            // A wrong base is the usual reason; with the other one the rest can still be looked at.
            labels.or_else(|| labels::read_from_other_base(self, manifest, source, &index))
        });
        let (labels, mut ids) = match labels {
            Some(Labels { indices, ids, roles }) => {
                reading.tables.extend(roles);
                (Some(indices), ids)
            }
            None => (None, None),
        };
        let tags = manifest.tags.as_ref().map(|source| tags::read(self, source, &index));
        if let Some(Tags { of, ids: own }) = tags.and_then(|tags| reading.keep(tags)) {
            ids = own;
            reading.tags = Some(of);
        }
        let mut visual = Vec::new();
        for (name, table) in &manifest.visual.0 {
            let truth = Truth { labels: labels.as_deref(), classes: &index, ids: ids.as_ref() };
            let read = self.visual(name, table, truth);
            if let Some((representation, read)) = reading.keep(read) {
                ids = ids.or(read.ids);
                visual.push((representation, read.array, table.file.as_str()));
                let file = self.join(&table.file);
                reading.add_table(&file, &format!("visual.{name}"), read.notes, read.roles);
                if let Some((record, _)) = recorded(&file, reading) {
                    reading.dataset.networks.visual.insert(name.clone(), record);
                }
            }
        }
        let labeled = labels.as_ref().map(Vec::len).or(reading.tags.as_ref().map(Vec::len));
        let instances = labeled.or(visual.first().map(|first| first.1.rows()));
        let blamed = instances.and_then(|count| self.wrong_labels(manifest, count, &visual));
        for (representation, array, _) in visual {
            let expected = instances.unwrap_or(array.rows());
            if expected == array.rows() {
                reading.dataset.visual.push(representation);
            } else if blamed.is_none() {
                reading.errors.extend(check_rows(&array, Counted::InstanceRows, expected).err());
            }
        }
        reading.errors.extend(blamed);
        for (name, table) in &manifest.semantic.0 {
            let semantic = semantic::read(self, name, table, &index, reading);
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

    fn visual(&self, name: &str, table: &manifest::Visual, truth: Truth<'_>) -> Result<(Visual, Parts)> {
        let container = Container::open(&self.join(&table.file))?;
        let read =
            table::read(&container, table.key.as_deref(), table.transpose, &table.choice(), Some(truth))?;
        let array = read.features.array.clone();
        check_matrix(&array, "a matrix of instances x dimensions")?;
        let origin = format!("`{}`", array.path().display());
        let visual = Visual { name: name.to_owned(), origin, rows: Arc::new(read.features) };
        Ok((visual, Parts { array, notes: read.notes, roles: read.roles, ids: read.ids }))
    }

    /// What is wrong with the labels, where all features agree on another number of instances.
    fn wrong_labels(
        &self,
        manifest: &Manifest,
        labels: usize,
        visual: &[(Visual, Array, &str)],
    ) -> Option<Error> {
        let (_, first, file) = visual.first()?;
        let agree = visual.iter().all(|(_, array, _)| array.rows() == first.rows());
        // Features that lie the other way round are what is wrong.
        let turned = visual.iter().any(|(_, array, _)| array.columns() == labels);
        if !agree || turned || first.rows() == labels {
            return None;
        }
        Some(Error::Labels {
            path: self.join(&manifest.labels.as_ref().or(manifest.tags.as_ref())?.file),
            labels,
            features: self.join(file),
            rows: first.rows(),
        })
    }
}

/// What made an array, where a record beside it says so; with the classes of its rows, for vectors of classes.
fn recorded(array: &Path, reading: &mut Reading) -> Option<(NetworkRecord, Option<Vec<String>>)> {
    match reading.keep(network_record::read(array))? {
        Known::Nothing => None,
        Known::Record(record, names) => Some((*record, names)),
        Known::Stale(path) => {
            let message = format!("is a record of another array than `{}`, and is ignored", array.display());
            let hint = Some("delete it, or make the array anew by the command that wrote both");
            reading.notes.push(Note { path, message, hint });
            None
        }
    }
}

/// What is known of features beside their numbers.
struct Parts {
    array: Array,
    notes: Vec<String>,
    roles: Option<TableRoles>,
    ids: Option<Ids>,
}

fn check_matrix(array: &Array, expected: &'static str) -> Result<()> {
    if array.dimensions() == 2 {
        return Ok(());
    }
    Err(Error::Dimensions { path: array.path().to_owned(), expected, shape: vec![array.rows()] })
}

/// Fails when the rows are not one for each; the columns tell whether it is the other way round.
fn check_rows(array: &Array, what: Counted, expected: usize) -> Result<()> {
    if array.rows() != expected && array.columns() == expected {
        let (path, found) = (array.path().to_owned(), array.rows());
        return Err(Error::Transposed { path, what, expected, found });
    }
    check_count(array.path(), what, expected, array.rows())
}

fn check_count(path: &Path, what: Counted, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        Ok(())
    } else {
        Err(Error::Count { path: path.to_owned(), what, expected, found })
    }
}
