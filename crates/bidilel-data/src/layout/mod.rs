//! Folders that open as they are, without a `dataset.toml`.
//!
//! Each layout is known by the files that it has. Where it numbers things, they are joined by those numbers or by
//! their names, never by the order of lines that happens to agree.

mod animals;
mod benchmark;
mod birds;
mod class_list;
mod numbers;
mod proposed;
mod stacked;
mod subfolders;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bidilel::dataset::{Dataset, Metric, Rows, Semantic, Split, SplitKind, Visual};
use faer::Mat;

use crate::array::Array;
use crate::error::{Counted, Error, Result};
use crate::folder::semantic;
use crate::reading::{Note, Reading};
use crate::table::TableRoles;
use numbers::Numbers;

/// Reads a folder that has one layout; none where it has not.
type Reader = fn(&Path) -> Option<Result<Contents>>;

/// Reads a folder in whichever layout it has.
pub(crate) fn read(folder: &Path) -> Reading {
    let readers: [Reader; 4] = [proposed::read, animals::read, birds::read, subfolders::read];
    let no_layout = || Err(Error::NoManifest { path: folder.to_owned() });
    match readers.iter().find_map(|read| read(folder)).unwrap_or_else(no_layout) {
        Ok(contents) => contents.into_reading(folder),
        Err(error) => Reading::failed(error),
    }
}

/// A dataset in the making.
#[derive(Default)]
struct Contents {
    classes: Vec<String>,
    labels: Vec<usize>,
    visual: Vec<Visual>,
    semantic: Vec<Semantic>,
    splits: Vec<Split>,
    notes: Vec<Note>,
    tables: Vec<TableRoles>,
}

impl Contents {
    fn into_reading(self, folder: &Path) -> Reading {
        let absolute = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let name = absolute.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Self { classes, labels, visual, semantic, splits, notes, tables } = self;
        let networks = bidilel::Networks::default();
        let dataset = Dataset { name, classes, labels, visual, semantic, splits, networks };
        Reading { dataset, notes, errors: Vec::new(), tables, tags: None }
    }

    /// Adds features, after a check that there is a row for every label.
    fn add_visual(&mut self, name: &str, path: &Path, rows: Arc<dyn Rows>) -> Result<()> {
        let (expected, found) = (self.labels.len(), rows.count());
        if expected != found {
            let (path, what) = (path.to_owned(), Counted::InstanceRows);
            return Err(Error::Count { path, what, expected, found });
        }
        let origin = format!("`{}`", path.display());
        self.visual.push(Visual { name: name.to_owned(), origin, rows });
        Ok(())
    }

    /// Adds descriptions, dimensions x classes, after a check that they describe every class.
    fn add_semantic(
        &mut self,
        name: &str,
        path: &Path,
        vectors: Mat<f64>,
        dimension_names: Option<Vec<String>>,
    ) -> Result<()> {
        let count = |what, expected, found| Error::Count { path: path.to_owned(), what, expected, found };
        if vectors.ncols() != self.classes.len() {
            return Err(count(Counted::ClassRows, self.classes.len(), vectors.ncols()));
        }
        if let Some(names) = dimension_names.as_ref().filter(|names| names.len() != vectors.nrows()) {
            return Err(count(Counted::DimensionColumns, names.len(), vectors.nrows()));
        }
        let metric = Metric::Euclidean;
        let vectors = semantic::checked(path, vectors, metric, &mut self.notes)?;
        let origin = format!("`{}`", path.display());
        self.semantic.push(Semantic { name: name.to_owned(), origin, metric, vectors, dimension_names });
        Ok(())
    }

    fn add_split(&mut self, name: &str, path: &Path, kind: SplitKind) {
        self.splits.push(Split { name: name.to_owned(), origin: format!("`{}`", path.display()), kind });
    }
}

/// The first of these files that is in the folder.
fn first_of(folder: &Path, names: &[&str]) -> Option<PathBuf> {
    names.iter().map(|name| folder.join(name)).find(|path| path.is_file())
}

/// The array with a row for each of `count` things, whichever way round it is; columns win in MATLAB's files.
fn with_rows(array: Array, count: usize) -> Array {
    if array.columns() == count { array.transposed() } else { array }
}

/// Features from an array or from lines of numbers.
fn features(path: &Path) -> Result<Arc<dyn Rows>> {
    Ok(match numbers::read(path)? {
        Numbers::Array(array) => Arc::new(array),
        Numbers::Text(rows) => Arc::new(rows),
    })
}
