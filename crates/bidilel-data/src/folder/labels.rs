//! The class of every instance: an array of indices, or class names in a text file, a table or a container.

use std::sync::Arc;

use super::Folder;
use super::manifest::{Manifest, Source};
use crate::array::{Array, Base};
use crate::container::{Container, EntryKind, Format};
use crate::error::{Error, Result};
use crate::file;
use crate::names::ClassIndex;
use crate::table::{self, Choice, Ids, LabelColumns, TableRoles};
use crate::text::{self, List};

/// Labels, and what their file says of the instances beside them.
pub(super) struct Labels {
    pub(super) indices: Vec<usize>,
    pub(super) ids: Option<Ids>,
    /// What every column was taken for, of a table.
    pub(super) roles: Option<TableRoles>,
}

impl Labels {
    fn plain(indices: Vec<usize>) -> Self {
        Self { indices, ids: None, roles: None }
    }
}

pub(super) fn read(
    folder: &Folder<'_>,
    manifest: &Manifest,
    source: &Source,
    classes: &ClassIndex<'_>,
) -> Result<Labels> {
    read_from_base(folder, source, classes, base(manifest, source))
}

/// The labels as they would be if the file counted the other way: from 1 instead of 0, or from 0 instead of 1.
pub(super) fn read_from_other_base(
    folder: &Folder<'_>,
    manifest: &Manifest,
    source: &Source,
    classes: &ClassIndex<'_>,
) -> Option<Labels> {
    let other = match base(manifest, source) {
        Base::Zero => Base::One,
        Base::One => Base::Zero,
    };
    read_from_base(folder, source, classes, other).ok()
}

fn base(manifest: &Manifest, source: &Source) -> Base {
    if manifest.one_based || source.one_based { Base::One } else { Base::Zero }
}

fn read_from_base(
    folder: &Folder<'_>,
    source: &Source,
    classes: &ClassIndex<'_>,
    base: Base,
) -> Result<Labels> {
    let (path, key) = (folder.join(&source.file), source.key.as_deref());
    let bytes = file::map(&path)?;
    let mut lines = None;
    if Format::of(&bytes).is_none() && key.is_none() && source.id_column.is_none() {
        let list = text::list_from_bytes(&path, &bytes)?;
        // Names may have commas in them, so what is a list of classes line by line is no table.
        if list.items.iter().all(|item| classes.has(item)) {
            return classes.indices(&list).map(Labels::plain);
        }
        lines = Some(list);
    }
    let container = Container::from_bytes(&path, Arc::new(bytes))?;
    let Some(table) = container.table() else {
        return from_entry(&container, key, classes, base).map(Labels::plain);
    };
    if let (Some(list), [only]) = (&lines, table.columns())
        && only.kind == EntryKind::Strings
        && !table::is_called_label(&only.name)
        && !table.texts(0)?.iter().all(|text| classes.has(text))
    {
        return classes.indices(list).map(Labels::plain);
    }
    let choice =
        Choice { label_column: source.key.clone(), id_column: source.id_column.clone(), ..Choice::default() };
    let LabelColumns { label, ids, roles } = table::labels(&path, table, &choice, classes)?;
    let texts = table.texts(label)?;
    let named = texts.iter().all(|text| classes.has(text));
    let indices = if named || table.columns()[label].kind == EntryKind::Strings {
        let key = table.has_header().then(|| table.columns()[label].name.clone());
        classes.indices(&List { path, items: texts, key })?
    } else {
        from_numbers(&table.select(&[label])?, classes.count(), base)?
    };
    Ok(Labels { indices, ids, roles: Some(roles) })
}

/// The labels of a key: names or numbers.
fn from_entry(
    container: &Container,
    key: Option<&str>,
    classes: &ClassIndex<'_>,
    base: Base,
) -> Result<Vec<usize>> {
    let entry = container.entry(key, &[EntryKind::Numbers, EntryKind::Strings])?;
    if entry.kind == EntryKind::Strings {
        return classes.indices(&text::list_from_container(container, key)?);
    }
    from_numbers(&container.array(key)?, classes.count(), base)
}

fn from_numbers(array: &Array, count: usize, base: Base) -> Result<Vec<usize>> {
    let (path, labels) = (array.path().to_owned(), array.to_indices(base)?);
    match labels.iter().position(|&label| label >= count) {
        Some(row) => Err(Error::LabelOutOfRange { path, row, label: labels[row], classes: count }),
        None if labels.is_empty() => {
            Err(Error::Dimensions { path, expected: "a label for every instance", shape: vec![0] })
        }
        None => Ok(labels),
    }
}
