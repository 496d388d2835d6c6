//! The class of every instance: an array of indices, or class names in a text file or a container.

use std::sync::Arc;

use super::Folder;
use super::manifest::Manifest;
use crate::array::Base;
use crate::container::{Container, EntryKind, Format};
use crate::error::{Error, Result};
use crate::file;
use crate::names::ClassIndex;
use crate::text;

pub(super) fn read(folder: &Folder, manifest: &Manifest, classes: &ClassIndex<'_>) -> Result<Vec<usize>> {
    read_from_base(folder, manifest, classes, base(manifest))
}

/// The labels as they would be if the file counted the other way: from 1 instead of 0, or from 0 instead of 1.
pub(super) fn read_from_other_base(
    folder: &Folder,
    manifest: &Manifest,
    classes: &ClassIndex<'_>,
) -> Option<Vec<usize>> {
    let other = match base(manifest) {
        Base::Zero => Base::One,
        Base::One => Base::Zero,
    };
    read_from_base(folder, manifest, classes, other).ok()
}

fn base(manifest: &Manifest) -> Base {
    if manifest.one_based || manifest.labels.one_based { Base::One } else { Base::Zero }
}

fn read_from_base(
    folder: &Folder,
    manifest: &Manifest,
    classes: &ClassIndex<'_>,
    base: Base,
) -> Result<Vec<usize>> {
    let source = &manifest.labels;
    let (path, key) = (folder.join(&source.file), source.key.as_deref());
    let bytes = file::map(&path)?;
    if Format::of(&bytes).is_none() && key.is_none() {
        let list = text::list_from_bytes(&path, &bytes)?;
        // Numbers are indices, unless classes are called so.
        let numbers = list.items.iter().all(|item| item.parse::<f64>().is_ok());
        if !numbers || classes.has(&list.items[0]) {
            return classes.indices(&list);
        }
    }
    let container = Container::from_bytes(&path, Arc::new(bytes))?;
    let entry = container.entry(key, &[EntryKind::Numbers, EntryKind::Strings])?;
    if entry.kind == EntryKind::Strings {
        return classes.indices(&text::list_from_container(&container, key)?);
    }
    let count = classes.count();
    let array = container.array(key)?;
    let (path, labels) = (array.path().to_owned(), array.to_indices(base)?);
    match labels.iter().position(|&label| label >= count) {
        Some(row) => Err(Error::LabelOutOfRange { path, row, label: labels[row], classes: count }),
        None if labels.is_empty() => {
            Err(Error::Dimensions { path, expected: "a label for every instance", shape: vec![0] })
        }
        None => Ok(labels),
    }
}
