//! The text files of Animals with Attributes: `classes.txt`, `predicates.txt`, `predicate-matrix-*.txt`.
//!
//! Features are `AwA2-features.txt` with `AwA2-labels.txt` as published, or `features.npy` with `labels.npy`.
//!
//! # References
//!
//! Lampert, Nickisch, Harmeling 2014; Xian et al. 2019 for the second version.

use std::path::{Path, PathBuf};

use bidilel::dataset::SplitKind;

use super::class_list::{classes_in, numbered};
use super::{Contents, benchmark, features, first_of, numbers};
use crate::error::{Error, Result};
use crate::reading::Note;

const CONTINUOUS: &str = "predicate-matrix-continuous.txt";
const BINARY: &str = "predicate-matrix-binary.txt";
/// Files that name the unseen classes.
pub(super) const UNSEEN: [&str; 2] = ["testclasses.txt", "unseen.txt"];
const PUBLISHED: [&str; 2] = ["AwA2-features.txt", "Features/ResNet101/AwA2-features.txt"];
const PUBLISHED_LABELS: [&str; 2] = ["AwA2-labels.txt", "Features/ResNet101/AwA2-labels.txt"];

pub(super) fn read(folder: &Path) -> Option<Result<Contents>> {
    first_of(folder, &[CONTINUOUS, BINARY]).map(|_| read_folder(folder))
}

fn read_folder(folder: &Path) -> Result<Contents> {
    let mut contents =
        Contents { classes: numbered(&folder.join("classes.txt"))?.items, ..Contents::default() };
    let found = if folder.join(CONTINUOUS).is_file() { CONTINUOUS } else { BINARY };
    let missing = |missing| Error::Incomplete { path: folder.to_owned(), found, missing };
    let file = |published: &[&str], own: &str| -> Option<PathBuf> {
        first_of(folder, published).or_else(|| first_of(folder, &[own]))
    };
    let rows =
        file(&PUBLISHED, "features.npy").ok_or_else(|| missing("`AwA2-features.txt` or `features.npy`"))?;
    let labels =
        file(&PUBLISHED_LABELS, "labels.npy").ok_or_else(|| missing("`AwA2-labels.txt` or `labels.npy`"))?;
    contents.labels = numbers::labels(&labels, contents.classes.len())?;
    contents.add_visual("features", &rows, features(&rows)?)?;

    let names = first_of(folder, &["predicates.txt"]).map(|path| numbered(&path)).transpose()?;
    for (name, file) in [("attributes", CONTINUOUS), ("binary", BINARY)] {
        if let Some(path) = first_of(folder, &[file]) {
            let names = names.as_ref().map(|list| list.items.clone());
            contents.add_semantic(name, &path, numbers::matrix(&path)?, names)?;
        }
    }
    add_split(folder, &mut contents)?;
    Ok(contents)
}

/// `testclasses.txt` names the unseen classes; `trainclasses.txt`, where it is there, must agree.
///
/// The split is called `standard`, unless the benchmark is known to have another one of that name: the files of AwA2
/// list the classes of the proposed split.
pub(super) fn add_split(folder: &Path, contents: &mut Contents) -> Result<()> {
    let Some(path) = first_of(folder, &UNSEEN) else { return Ok(()) };
    let unseen = classes_in(&path, &contents.classes)?;
    add_split_of(folder, contents, &path, unseen)
}

/// Adds the split with these unseen classes, which a file gives, and with what other files say of the known ones.
pub(super) fn add_split_of(
    folder: &Path,
    contents: &mut Contents,
    path: &Path,
    unseen: Vec<usize>,
) -> Result<()> {
    let other = benchmark::standard(&contents.classes).filter(|standard| *standard != unseen);
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = if other.is_some() { stem.as_str() } else { "standard" };
    let list = |names: &[&str]| -> Result<Option<(PathBuf, Vec<usize>)>> {
        let Some(path) = first_of(folder, names) else { return Ok(None) };
        classes_in(&path, &contents.classes).map(|classes| Some((path, classes)))
    };
    let validation = list(&["valclasses.txt", "validation.txt"])?;
    let known = list(&["trainvalclasses.txt", "trainclasses.txt"])?;
    for (path, classes) in [&validation, &known].into_iter().flatten() {
        if let Some(&both) = classes.iter().find(|class| unseen.binary_search(class).is_ok()) {
            let problem = format!("class `{}` is unseen too", contents.classes[both]);
            return Err(Error::Split { path: path.clone(), split: name.to_owned(), problem });
        }
    }
    let validation = validation.map(|(_, classes)| classes).unwrap_or_default();
    if let Some((path, known)) = known {
        let named = |class: &usize| {
            [&known, &unseen, &validation].iter().any(|list| list.binary_search(class).is_ok())
        };
        let rest = (0..contents.classes.len()).filter(|class| !named(class)).count();
        if rest > 0 {
            let message =
                format!("{rest} classes are neither known nor unseen by the split files, and count as known");
            contents.notes.push(Note { path, message, hint: Some("complete the split files") });
        }
    }
    contents.add_split(name, path, SplitKind::Classes { unseen, validation });
    if let Some(unseen) = other {
        contents.add_split("standard", path, SplitKind::Classes { unseen, validation: Vec::new() });
    }
    Ok(())
}
