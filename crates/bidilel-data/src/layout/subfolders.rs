//! A folder for every class, with its feature files in it.
//!
//! A file is one row or several. `attributes.*` beside the folders describes the classes: a table that names them, or
//! an array with rows in their order. Classes that are described and have no folder are the unseen ones; `unseen.txt`
//! names others, and then is the whole list. Classes are in alphabetical order.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bidilel::dataset::Metric;

use super::stacked::Stacked;
use super::{Contents, animals, first_of};
use crate::container::Container;
use crate::error::{Error, Result};
use crate::names::{ClassIndex, composed, plain};
use crate::reading::Note;
use crate::table::{self, Choice};
use crate::text;

/// What the files of features end in.
const EXTENSIONS: [&str; 4] = ["npy", "npz", "mat", "safetensors"];

const DESCRIPTIONS: [&str; 3] = ["attributes", "semantic", "word-vectors"];
const DESCRIPTION_EXTENSIONS: [&str; 9] =
    ["csv", "tsv", "txt", "parquet", "npy", "npz", "mat", "h5", "safetensors"];

pub(super) fn read(folder: &Path) -> Option<Result<Contents>> {
    let with_features = || -> Result<Vec<(PathBuf, Vec<PathBuf>)>> {
        let mut found = Vec::new();
        for path in sorted(folder)?.into_iter().filter(|path| path.is_dir()) {
            let mut files = sorted(&path)?;
            files.retain(|file| {
                file.is_file() && file.extension().is_some_and(|end| EXTENSIONS.iter().any(|own| end == *own))
            });
            if !files.is_empty() {
                found.push((path, files));
            }
        }
        Ok(found)
    };
    match with_features() {
        // One folder is no choice of classes: probably this is something else.
        Ok(found) if found.len() < 2 => None,
        found => Some(found.and_then(|found| read_folder(folder, &found))),
    }
}

/// What is in a folder, without hidden files, by name: the system's own order is none.
fn sorted(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |source| Error::Read { path: folder.to_owned(), source };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if !entry.file_name().to_string_lossy().starts_with('.') {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

fn read_folder(folder: &Path, found: &[(PathBuf, Vec<PathBuf>)]) -> Result<Contents> {
    let own: Vec<String> = found
        .iter()
        .map(|(path, _)| composed(&path.file_name().unwrap_or_default().to_string_lossy()))
        .collect();
    let tables = descriptions(folder)?;
    let Described { without_features, ignored } = described(folder, &own, &tables)?;
    let mut contents = Contents { classes: own.clone(), ..Contents::default() };
    contents.classes.extend(without_features.iter().cloned());
    contents.classes.sort();
    let place = |name: &String| contents.classes.binary_search(name).unwrap_or_default();
    let mut rows = Stacked::new();
    for (name, (_, files)) in own.iter().zip(found) {
        for file in files {
            let count = rows.push(file)?;
            contents.labels.extend(std::iter::repeat_n(place(name), count));
        }
    }
    let unseen: Vec<usize> = without_features.iter().map(place).collect();
    contents.add_visual("features", folder, Arc::new(rows))?;
    for (name, container) in &tables {
        describe(name, container, &ignored, &mut contents)?;
    }
    if let Some(first) = ignored.first() {
        let path = first_of(folder, &animals::UNSEEN).unwrap_or_default();
        let count = ignored.len();
        let message = format!(
            "{count} of the described classes have no features and are not listed here, so they are left out: `{first}`{}",
            if count > 1 { ", ..." } else { "" }
        );
        let hint = Some("list them, too, or remove the file: then all classes without features are unseen");
        contents.notes.push(Note { path, message, hint });
    }
    match tables.first() {
        Some((_, table)) if first_of(folder, &animals::UNSEEN).is_none() && !unseen.is_empty() => {
            let path = table.path().to_owned();
            animals::add_split_of(folder, &mut contents, &path, unseen)?;
        }
        _ => animals::add_split(folder, &mut contents)?,
    }
    Ok(contents)
}

/// The files that describe classes, each with its name.
fn descriptions(folder: &Path) -> Result<Vec<(&'static str, Container)>> {
    let mut tables = Vec::new();
    for stem in DESCRIPTIONS {
        let names = DESCRIPTION_EXTENSIONS.map(|extension| format!("{stem}.{extension}"));
        if let Some(path) = first_of(folder, &names.each_ref().map(String::as_str)) {
            tables.push((stem, Container::open(&path)?));
        }
    }
    Ok(tables)
}

/// Classes that are described and have no folder.
#[derive(Default)]
struct Described {
    /// Those that are unseen, each once and in alphabetical order.
    without_features: Vec<String>,
    /// Those that a list of unseen classes does not name.
    ignored: Vec<String>,
}

fn described(folder: &Path, own: &[String], tables: &[(&str, Container)]) -> Result<Described> {
    let index = ClassIndex::lenient(own);
    let mut others = Vec::new();
    for (_, container) in tables {
        let Some(table) = container.table() else { continue };
        let names = table::class_names(container.path(), table, &index)?.unwrap_or_default();
        others.extend(names.iter().filter(|name| !index.has(name)).map(|name| composed(name)));
    }
    others.sort();
    others.dedup();
    let Some(path) = first_of(folder, &animals::UNSEEN) else {
        return Ok(Described { without_features: others, ignored: Vec::new() });
    };
    let listed: Vec<String> = text::read_list(&path)?.items.iter().map(|name| plain(name)).collect();
    let (without_features, ignored) = others.into_iter().partition(|name| listed.contains(&plain(name)));
    Ok(Described { without_features, ignored })
}

/// Adds a description of every class: joined by name where there are names, else in the order of the classes.
fn describe(name: &str, container: &Container, ignored: &[String], contents: &mut Contents) -> Result<()> {
    let path = container.path();
    let Some(table) = container.table() else {
        return contents.add_semantic(name, path, container.array(None)?.to_matrix(), None);
    };
    let classes = contents.classes.clone();
    let index = ClassIndex::lenient(&classes);
    let metric = Metric::Euclidean;
    let found = table::classes(path, table, None, &Choice::default(), &index, metric, ignored)?;
    let note = |message| Note { path: path.to_owned(), message, hint: None };
    contents.notes.extend(found.notes.into_iter().map(note));
    contents.tables.push(table::TableRoles { part: format!("semantic.{name}"), ..found.roles });
    contents.add_semantic(name, path, found.vectors, found.dimension_names)
}
