//! A table with the class of every instance.

use std::collections::HashSet;
use std::path::Path;

use super::choice::Choice;
use super::instances::Ids;
use super::likeness::{self, Likeness};
use super::roles::{ColumnRole, Role, TableRoles};
use crate::container::{EntryKind, Tabular};
use crate::error::{Error, Result};
use crate::names::ClassIndex;

/// The columns of a table of labels.
pub(crate) struct LabelColumns {
    /// The column that has them.
    pub(crate) label: usize,
    /// What identifies the instances, where a column does.
    pub(crate) ids: Option<Ids>,
    pub(crate) roles: TableRoles,
}

/// Finds the column of labels: the one that the user names, the one that is called so, or the only one that has classes.
pub(crate) fn labels(
    path: &Path,
    table: &dyn Tabular,
    choice: &Choice,
    classes: &ClassIndex<'_>,
) -> Result<LabelColumns> {
    let columns = table.columns();
    let names = || columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>();
    let find = |name: &String| {
        columns.iter().position(|column| column.name == *name).ok_or_else(|| Error::NoSuchColumn {
            path: path.to_owned(),
            column: name.clone(),
            columns: names(),
        })
    };
    let like = |column: usize| likeness::of(&columns[column].name, columns.iter().map(|c| c.name.as_str()));
    let mut label = choice.label_column.as_ref().map(find).transpose()?;
    let mut id = choice.id_column.as_ref().map(find).transpose()?;
    let others = |id: Option<usize>| (0..columns.len()).filter(move |&column| Some(column) != id);
    if label.is_none() && columns.len() == 1 {
        label = Some(0);
    }
    if label.is_none() {
        let mut named = others(id).filter(|&column| like(column) == Some(Likeness::Label));
        label = match (named.next(), named.next()) {
            (Some(column), None) => Some(column),
            _ => None,
        };
    }
    if label.is_none() {
        let mut found = Vec::new();
        for column in others(id).filter(|&column| columns[column].kind == EntryKind::Strings) {
            if table.texts(column)?.iter().all(|text| classes.has(text)) {
                found.push(column);
            }
        }
        label = if let [column] = found[..] { Some(column) } else { None };
    }
    let Some(label) = label else {
        return Err(Error::WhichColumn { path: path.to_owned(), option: "label_column", columns: names() });
    };
    let said = id.is_some();
    let ids = |column: usize| -> Result<Ids> {
        Ok(Ids { column: columns[column].name.clone(), values: table.texts(column)?, said })
    };
    let mut found = id.map(ids).transpose()?;
    if found.is_none() {
        for column in (0..columns.len()).filter(|&column| column != label) {
            if matches!(like(column), Some(Likeness::Id | Likeness::Name)) && !columns[column].name.is_empty()
            {
                let ids = ids(column)?;
                if ids.values.iter().collect::<HashSet<_>>().len() == ids.values.len() {
                    (found, id) = (Some(ids), Some(column));
                    break;
                }
            }
        }
    }
    let role = |column: usize| match column {
        column if column == label => Role::Label,
        column if Some(column) == id => Role::Id,
        _ => Role::Unused,
    };
    let role =
        |column: usize| ColumnRole { column: columns[column].name.clone(), role: role(column), reason: None };
    let roles = (0..columns.len()).map(role).collect();
    Ok(LabelColumns {
        label,
        ids: found,
        roles: TableRoles { part: "labels".to_owned(), file: path.display().to_string(), columns: roles },
    })
}
