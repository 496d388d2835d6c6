//! Feature rows of instances: an array, or columns of a table.

use std::collections::HashSet;
use std::path::Path;

use super::choice::Choice;
use super::features::Features;
use super::join::{Key, rows_by_name};
use super::likeness::Likeness;
use super::plan::{COUNTS_ROWS, Plan, TELLS_LABEL};
use super::roles::TableRoles;
use super::{check_no_choice, suspect};
use crate::array::{Array, Bytes};
use crate::container::{Column, Container, EntryKind, Tabular};
use crate::error::{Error, Result};
use crate::names::ClassIndex;

/// What identifies the rows of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ids {
    /// The column.
    pub column: String,
    /// Its cells, in the order of the instances.
    pub values: Vec<String>,
    /// Whether the user named the column.
    pub said: bool,
}

impl Ids {
    /// Whether these identify the same instances as others: both columns were named by the user, or are called alike.
    fn joins(&self, other: &Self) -> bool {
        (self.said && other.said) || self.column.eq_ignore_ascii_case(&other.column)
    }
}

/// Features as they were read.
#[derive(Debug)]
pub struct Instances {
    /// The features, in the order of the instances.
    pub features: Features,
    /// What identifies them, where the file says so.
    pub ids: Option<Ids>,
    /// Things that the user should know, a sentence each.
    pub notes: Vec<String>,
    /// What every column was taken for, of a table.
    pub roles: Option<TableRoles>,
}

/// What is known of the instances from elsewhere.
#[derive(Clone, Copy)]
pub(crate) struct Truth<'a> {
    pub(crate) labels: Option<&'a [usize]>,
    pub(crate) classes: &'a ClassIndex<'a>,
    pub(crate) ids: Option<&'a Ids>,
}

/// What is wanted of features, beside the file that they lie in.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// The array in a file that has several.
    pub key: Option<&'a str>,
    /// Whether instances are columns.
    pub transpose: bool,
    /// The names of the features, in the order that is needed.
    pub names: Option<&'a [String]>,
    /// The identifiers of the instances, in the order that is needed.
    pub ids: Option<&'a Ids>,
}

/// Opens features of instances whose classes are not known.
pub fn open(path: &Path, choice: &Choice, wanted: Wanted<'_>) -> Result<Instances> {
    open_in(&Container::open(path)?, path, choice, wanted)
}

/// The same from the bytes of a file, which messages call `path`.
pub fn from_bytes(path: &Path, bytes: Bytes, choice: &Choice, wanted: Wanted<'_>) -> Result<Instances> {
    open_in(&Container::from_bytes(path, bytes)?, path, choice, wanted)
}

fn open_in(container: &Container, path: &Path, choice: &Choice, wanted: Wanted<'_>) -> Result<Instances> {
    let Wanted { key, transpose, ids, .. } = wanted;
    let choice = by_names(path, container.table(), choice, wanted)?;
    let truth = Truth { labels: None, classes: &ClassIndex::new(&[]), ids };
    let mut read = read(container, key, transpose, &choice, Some(truth))?;
    read.notes.extend(other_names(wanted, read.features.names.as_deref(), &choice));
    Ok(read)
}

/// The choice with the wanted names, where the user named no columns and the table has them.
pub(super) fn by_names(
    path: &Path,
    table: Option<&dyn Tabular>,
    choice: &Choice,
    wanted: Wanted<'_>,
) -> Result<Choice> {
    let columns = match (wanted.names, table) {
        (Some(names), Some(table))
            if wanted.key.is_none() && choice.columns.is_none() && !wanted.transpose =>
        {
            by_name(path, table, names)?
        }
        _ => None,
    };
    Ok(Choice { columns: columns.or_else(|| choice.columns.clone()), ..choice.clone() })
}

/// Says that columns are taken in their order, where they have other names than the model's.
pub(super) fn other_names(wanted: Wanted<'_>, found: Option<&[String]>, choice: &Choice) -> Option<String> {
    let other = !found?.iter().any(|name| wanted.names.is_some_and(|names| names.contains(name)));
    (other && wanted.names.is_some() && choice.columns.is_none()).then(|| {
        "its columns have none of the names that the model was fitted to, so their order decides".to_owned()
    })
}

/// The columns of a table that have the wanted names: all of them, or none.
fn by_name(path: &Path, table: &dyn Tabular, wanted: &[String]) -> Result<Option<super::Columns>> {
    let have: HashSet<&str> = table.columns().iter().map(|column| column.name.as_str()).collect();
    let missing: Vec<String> = wanted.iter().filter(|name| !have.contains(name.as_str())).cloned().collect();
    if !table.has_header() || missing.len() == wanted.len() {
        return Ok(None);
    }
    if missing.is_empty() {
        return Ok(Some(super::Columns(wanted.to_vec())));
    }
    Err(Error::MissingColumns { path: path.to_owned(), missing })
}

/// Reads features, checked against what is known of the instances.
pub(crate) fn read(
    container: &Container,
    key: Option<&str>,
    transpose: bool,
    choice: &Choice,
    truth: Option<Truth<'_>>,
) -> Result<Instances> {
    let path = container.path();
    let turned = |array: Array| if transpose { array.transposed() } else { array };
    match container.table() {
        // Columns of a transposed table are instances: there is nothing to choose.
        Some(table) if !transpose => from_table(path, table, key, choice, truth),
        _ => {
            check_no_choice(path, container, choice)?;
            let features = Features::plain(turned(container.array(key)?));
            Ok(Instances { features, ids: None, notes: Vec::new(), roles: None })
        }
    }
}

fn from_table(
    path: &Path,
    table: &dyn Tabular,
    key: Option<&str>,
    choice: &Choice,
    truth: Option<Truth<'_>>,
) -> Result<Instances> {
    let (mut plan, ids) = planned(path, table, key, choice)?;
    let mut notes = Vec::new();
    let mut features = Features::plain(table.select(&plan.features)?);
    let mut leave_out = |plan: &mut Plan<'_>, features: &mut Features, places: Vec<usize>, reason| {
        if places.is_empty() {
            return Ok(());
        }
        if plan.chosen {
            let names = places.iter().map(|&place| format!("`{}`", plan.columns[plan.features[place]].name));
            let names = names.collect::<Vec<_>>().join(", ");
            notes.push(format!("column {names} is used as a feature as asked for, but {reason}"));
            return Ok(());
        }
        plan.leave_out(&places, reason);
        plan.check()?;
        features.array = table.select(&plan.features)?;
        Ok(())
    };
    if plan.features.iter().any(|&column| !plan.columns[column].is_list) {
        let counting = suspect::counting(&features.array);
        leave_out(&mut plan, &mut features, counting, COUNTS_ROWS)?;
    }
    let mut joined = ids.clone();
    if let Some(truth) = truth {
        if let (Some(own), Some(others)) = (&ids, truth.ids)
            && own.joins(others)
        {
            let place = |row| table.place(row);
            let key = Key { path, column: &own.column, what: "instance", ignored: &[], place: &place };
            features.order = Some(rows_by_name(&key, &own.values, &ClassIndex::new(&others.values))?);
            joined = Some(others.clone());
        }
        if let Some(labels) = truth.labels.filter(|labels| labels.len() == features.array.rows()) {
            check_labels(&plan, table, &features, labels, truth.classes)?;
            let telling = suspect::telling(&features, labels);
            leave_out(&mut plan, &mut features, telling, TELLS_LABEL)?;
        }
    }
    notes.extend(plan.note());
    features.names = if table.has_header() { plan.feature_names() } else { None };
    let roles = TableRoles { part: String::new(), file: path.display().to_string(), columns: plan.roles() };
    Ok(Instances { features, ids: joined, notes, roles: Some(roles) })
}

/// The roles of the columns by what the user says and by their names, and what identifies the rows.
pub(super) fn planned<'a>(
    path: &Path,
    table: &'a dyn Tabular,
    key: Option<&str>,
    choice: &Choice,
) -> Result<(Plan<'a>, Option<Ids>)> {
    let mut plan = Plan::new(path, table.columns(), key, choice)?;
    let ids = ids(&mut plan, table, choice)?;
    find_label(&mut plan);
    plan.check()?;
    Ok((plan, ids))
}

/// The column that identifies the rows: the one that the user names, else one that is called so and never repeats.
fn ids(plan: &mut Plan<'_>, table: &dyn Tabular, choice: &Choice) -> Result<Option<Ids>> {
    let said = plan.id.or(plan.name);
    if let Some(column) = said {
        (plan.id, plan.name) = (Some(column), None);
        let (values, said) = (table.texts(column)?, true);
        return Ok(Some(Ids { column: plan.columns[column].name.clone(), values, said }));
    }
    for column in 0..plan.columns.len() {
        let named = matches!(plan.likeness(column), Some(Likeness::Id | Likeness::Name));
        let free = !plan.features.contains(&column) && plan.label != Some(column);
        let Column { kind, name, .. } = &plan.columns[column];
        let readable =
            matches!(kind, EntryKind::Strings | EntryKind::Numbers) && !plan.columns[column].is_list;
        if !named || !free || !readable || name.is_empty() || choice.label_column.as_ref() == Some(name) {
            continue;
        }
        let values = table.texts(column)?;
        if values.iter().collect::<HashSet<_>>().len() == values.len() {
            plan.id = Some(column);
            plan.left_out.retain(|(other, _)| *other != column);
            return Ok(Some(Ids { column: name.clone(), values, said: false }));
        }
    }
    Ok(None)
}

/// Marks the column that is called like a label.
fn find_label(plan: &mut Plan<'_>) {
    if plan.label.is_some() {
        return;
    }
    let is_label = |&column: &usize| {
        plan.likeness(column) == Some(Likeness::Label)
            && !plan.features.contains(&column)
            && plan.columns[column].kind == EntryKind::Strings
    };
    plan.label = (0..plan.columns.len()).find(is_label);
}

/// Fails where a column of class names contradicts the labels: then rows and labels are in different orders.
fn check_labels(
    plan: &Plan<'_>,
    table: &dyn Tabular,
    features: &Features,
    labels: &[usize],
    classes: &ClassIndex<'_>,
) -> Result<()> {
    let Some(column) = plan.label else { return Ok(()) };
    let texts = table.texts(column)?;
    // What is no list of class names says nothing.
    let Some(found) = texts.iter().map(|text| classes.get(text)).collect::<Option<Vec<usize>>>() else {
        return Ok(());
    };
    for (instance, &label) in labels.iter().enumerate() {
        let row = features.order.as_ref().map_or(instance, |order| order[instance]);
        if found[row] != label {
            return Err(Error::OtherLabel {
                path: plan.path.clone(),
                column: plan.columns[column].name.clone(),
                place: table.place(row),
                found: texts[row].clone(),
                expected: classes.name(label).to_owned(),
            });
        }
    }
    Ok(())
}
