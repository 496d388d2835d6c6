//! A table with a column per class: the header names the classes.

use std::path::Path;

use bidilel::dataset::Metric;

use super::choice::Choice;
use super::classes::{Described, reordered};
use super::join::{Key, rows_by_name};
use super::plan::Plan;
use super::roles::TableRoles;
use crate::container::{EntryKind, Tabular};
use crate::error::{Error, Result};
use crate::names::ClassIndex;

/// Reads a table with a column per class, joined by the headers where these name classes.
pub(crate) fn classes_in_columns(
    path: &Path,
    table: &dyn Tabular,
    key: Option<&str>,
    choice: &Choice,
    classes: &ClassIndex<'_>,
    _: Metric,
    _: &[String],
) -> Result<Described> {
    if let Some(option) = choice.first() {
        let problem = format!("`{option}` chooses dimensions, but with `transpose` a column is a class");
        return Err(Error::Malformed { path: path.to_owned(), problem });
    }
    let numeric = |&column: &usize| table.columns()[column].kind == EntryKind::Numbers;
    let named = |&column: &usize| classes.has(&table.columns()[column].name);
    let mut plan = Plan::new(path, table.columns(), key, choice)?;
    let mut notes = Vec::new();
    if key.is_none() {
        // Classes may be called like identifiers.
        plan.left_out.retain(|(column, _)| !named(column));
        plan.features = (0..table.columns().len()).filter(numeric).collect();
        plan.features.retain(|column| plan.left_out.iter().all(|(other, _)| other != column));
    }
    plan.check()?;
    let by_name = table.has_header() && plan.features.iter().any(named);
    let mut vectors = table.select(&plan.features)?.transposed().to_matrix();
    if by_name {
        let headers: Vec<String> =
            plan.features.iter().map(|&column| plan.columns[column].name.clone()).collect();
        let place = |column| format!("column {}", plan.features[column] + 1);
        let key = Key { path, column: "header", what: "class", ignored: &[], place: &place };
        let rows = rows_by_name(&key, &headers, classes)?;
        vectors = reordered(&vectors, &rows, None);
    } else if table.has_header() {
        notes.push(
            "the header names no class, so columns are taken in the order of the class list".to_owned(),
        );
    }
    let texts = (0..table.columns().len()).find(|&column| table.columns()[column].kind == EntryKind::Strings);
    let dimension_names = texts.map(|column| table.texts(column)).transpose()?;
    notes.extend(plan.note());
    let roles = TableRoles { part: String::new(), file: path.display().to_string(), columns: plan.roles() };
    Ok(Described { vectors, dimension_names, notes, roles })
}
