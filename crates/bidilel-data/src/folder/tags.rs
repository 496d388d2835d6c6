//! Several classes per instance: an array of 0 and 1 (instances x classes), a table with a column of 0 and 1 per class, or lists
//! of class names.

use std::path::Path;

use super::Folder;
use super::manifest::Source;
use crate::array::Array;
use crate::container::{Container, EntryKind, Tabular};
use crate::error::{Error, Result};
use crate::names::{ClassIndex, composed};
use crate::table::{self, Choice, Ids, LabelColumns};
use crate::text::{self, List};

/// What may stand between two names of a list; the comma only where neither of the others does.
const SEPARATORS: [char; 2] = [';', '|'];
/// The name of a column of lists, beside those of labels.
const COLUMN: &str = "tags";

/// The classes of every instance, and what identifies the instances.
pub(super) struct Tags {
    pub(super) of: Vec<Vec<usize>>,
    pub(super) ids: Option<Ids>,
}

pub(super) fn read(folder: &Folder, source: &Source, classes: &ClassIndex<'_>) -> Result<Tags> {
    let (path, key) = (folder.join(&source.file), source.key.as_deref());
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("txt")) && key.is_none() {
        return Ok(Tags { of: lists(&text::read_list(&path)?, classes)?, ids: None });
    }
    let container = Container::open(&path)?;
    match container.table() {
        Some(table) if table.has_header() => from_table(&path, table, source, classes),
        _ => {
            let entry = container.entry(key, &[EntryKind::Numbers, EntryKind::Strings])?;
            if entry.kind == EntryKind::Strings {
                let list = text::list_from_container(&container, key)?;
                return Ok(Tags { of: lists(&list, classes)?, ids: None });
            }
            Ok(Tags { of: from_array(&container.array(key)?, classes)?, ids: None })
        }
    }
}

/// An array without names: a column per class, in the order of the classes.
fn from_array(array: &Array, classes: &ClassIndex<'_>) -> Result<Vec<Vec<usize>>> {
    let path = || array.path().to_owned();
    if array.dimensions() != 2 || array.columns() != classes.count() {
        let shape = vec![array.rows(), array.columns()];
        let expected = "a matrix of instances x classes, 1 where an instance has the class";
        return Err(Error::Dimensions { path: path(), expected, shape });
    }
    let column_class: Vec<usize> = (0..classes.count()).collect();
    from_columns(array, &column_class)
}

/// The classes of every row of an array whose columns are classes.
fn from_columns(array: &Array, class_of: &[usize]) -> Result<Vec<Vec<usize>>> {
    let values = array.to_matrix();
    let mut of = Vec::with_capacity(array.rows());
    for row in 0..array.rows() {
        let mut own = Vec::new();
        for (column, &class) in class_of.iter().enumerate() {
            match values[(column, row)] {
                0.0 => {}
                1.0 => own.push(class),
                other => {
                    return Err(Error::Value {
                        path: array.path().to_owned(),
                        row,
                        column: Some(column),
                        expected: "0 or 1".to_owned(),
                        found: other.to_string(),
                    });
                }
            }
        }
        of.push(own);
    }
    Ok(of)
}

/// A table: a column of numbers per class, by name, or one column of lists.
fn from_table(path: &Path, table: &dyn Tabular, source: &Source, classes: &ClassIndex<'_>) -> Result<Tags> {
    let columns = table.columns();
    let numbers = |column: &usize| columns[*column].kind == EntryKind::Numbers;
    let class_columns: Vec<(usize, usize)> = (0..columns.len())
        .filter(numbers)
        .filter_map(|column| Some((column, classes.get(&columns[column].name)?)))
        .collect();
    if source.key.is_none() && !class_columns.is_empty() {
        let missing = |name: &&String| !class_columns.iter().any(|(_, class)| classes.name(*class) == **name);
        let missing: Vec<String> = classes.names().iter().filter(missing).cloned().collect();
        if !missing.is_empty() {
            return Err(Error::MissingColumns { path: path.to_owned(), missing });
        }
        let (chosen, class_of): (Vec<usize>, Vec<usize>) = class_columns.into_iter().unzip();
        let ids = source.id_column.as_ref().map(|name| ids(path, table, name)).transpose()?;
        return Ok(Tags { of: from_columns(&table.select(&chosen)?, &class_of)?, ids });
    }
    let called = columns.iter().find(|column| column.name.eq_ignore_ascii_case(COLUMN));
    let label_column = source.key.clone().or(called.map(|column| column.name.clone()));
    let choice = Choice { label_column, id_column: source.id_column.clone(), ..Choice::default() };
    let LabelColumns { label, ids, .. } = table::labels(path, table, &choice, classes)?;
    let key = Some(columns[label].name.clone());
    let list = List { path: path.to_owned(), items: table.texts(label)?, key };
    Ok(Tags { of: lists(&list, classes)?, ids })
}

fn ids(path: &Path, table: &dyn Tabular, name: &str) -> Result<Ids> {
    let columns = table.columns();
    let column =
        columns.iter().position(|column| column.name == name).ok_or_else(|| Error::NoSuchColumn {
            path: path.to_owned(),
            column: name.to_owned(),
            columns: columns.iter().map(|column| column.name.clone()).collect(),
        })?;
    Ok(Ids { column: name.to_owned(), values: table.texts(column)?, said: true })
}

/// The classes that every item of a list names.
fn lists(list: &List, classes: &ClassIndex<'_>) -> Result<Vec<Vec<usize>>> {
    let of = |(place, item): (usize, &String)| -> Result<Vec<usize>> {
        // A class may have a separator in its name.
        if let Some(class) = classes.get(item) {
            return Ok(vec![class]);
        }
        let parts: Vec<&str> = if item.contains(SEPARATORS) {
            item.split(SEPARATORS).collect()
        } else {
            item.split(',').collect()
        };
        let class = |name: &&str| {
            classes.get(name).ok_or_else(|| Error::UnknownClass {
                path: list.path.clone(),
                place: list.place(place),
                name: composed(name),
                closest: classes.closest(name),
            })
        };
        parts.iter().filter(|name| !name.trim().is_empty()).map(class).collect()
    };
    list.items.iter().enumerate().map(of).collect()
}
