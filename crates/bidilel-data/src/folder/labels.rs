//! The class of every instance: an array of indices, or a text file of class names.

use std::sync::Arc;

use super::Folder;
use super::manifest::Manifest;
use crate::array::{self, Base};
use crate::container::Format;
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
    let path = folder.join(&source.file);
    let bytes = file::map(&path)?;
    if Format::of(&bytes).is_none() {
        return match &source.key {
            Some(key) => Err(Error::NoKeys { path, key: key.clone() }),
            None => classes.indices(&text::list_from_bytes(&path, &bytes)?),
        };
    }
    let count = classes.count();
    let labels = array::from_bytes(&path, Arc::new(bytes), source.key.as_deref())?.to_indices(base)?;
    match labels.iter().position(|&label| label >= count) {
        Some(row) => Err(Error::LabelOutOfRange { path, row, label: labels[row], classes: count }),
        None if labels.is_empty() => {
            Err(Error::Dimensions { path, expected: "a label for every instance", shape: vec![0] })
        }
        None => Ok(labels),
    }
}
