//! A table with a row per class, joined by the names of the classes.

use std::path::Path;

use bidilel::dataset::Metric;
use faer::Mat;

use super::choice::Choice;
use super::join::{Key, rows_by_name};
use super::likeness::Likeness;
use super::plan::{COUNTS_ROWS, Plan};
use super::roles::TableRoles;
use super::suspect;
use crate::container::{EntryKind, Tabular};
use crate::error::{Error, Result};
use crate::names::ClassIndex;

/// Descriptions of the classes as a table has them.
#[derive(Debug)]
pub(crate) struct Described {
    /// Dimensions x classes, in the order of the classes where there are names, else in that of the file.
    pub(crate) vectors: Mat<f64>,
    /// The names of the dimensions.
    pub(crate) dimension_names: Option<Vec<String>>,
    /// Things that the user should know.
    pub(crate) notes: Vec<String>,
    /// What every column was taken for.
    pub(crate) roles: TableRoles,
}

/// The names in a table with a row per class, as it has them; none where no column names classes.
pub(crate) fn class_names(
    path: &Path,
    table: &dyn Tabular,
    classes: &ClassIndex<'_>,
) -> Result<Option<Vec<String>>> {
    let without_header = if names_a_class(table, classes) { table.without_header() } else { None };
    let table = without_header.as_deref().unwrap_or(table);
    let mut plan = Plan::new(path, table.columns(), None, &Choice::default())?;
    name_column(&mut plan, table, classes)
}

/// Reads a table with a row per class; rows of classes that are ignored are passed over.
pub(crate) fn classes(
    path: &Path,
    table: &dyn Tabular,
    key: Option<&str>,
    choice: &Choice,
    classes: &ClassIndex<'_>,
    metric: Metric,
    ignored: &[String],
) -> Result<Described> {
    // A first line with the name of a class and numbers is no header.
    let without_header = if names_a_class(table, classes) { table.without_header() } else { None };
    let table = without_header.as_deref().unwrap_or(table);
    let mut plan = Plan::new(path, table.columns(), key, choice)?;
    let names = name_column(&mut plan, table, classes)?;
    if !plan.chosen && names.is_none() {
        refuse_other_order(&plan, table, classes)?;
    }
    let mut notes = Vec::new();
    plan.check()?;
    let mut array = table.select(&plan.features)?;
    if !plan.chosen && metric != Metric::Precomputed {
        let counting = suspect::counting(&array);
        if !counting.is_empty() {
            plan.leave_out(&counting, COUNTS_ROWS);
            plan.check()?;
            array = table.select(&plan.features)?;
        }
    }
    let mut vectors = array.to_matrix();
    if let Some(names) = names {
        let column = plan.name.map_or("", |column| plan.columns[column].name.as_str());
        let place = |row| table.place(row);
        let key = Key { path, column, what: "class", ignored, place: &place };
        let rows = rows_by_name(&key, &names, classes)?;
        let columns =
            if metric == Metric::Precomputed { Some(columns_of(&plan, &rows, classes)) } else { None };
        vectors = reordered(&vectors, &rows, columns.as_deref());
    } else if table.has_header() {
        notes
            .push("no column names the classes, so rows are taken in the order of the class list".to_owned());
    }
    notes.extend(plan.note());
    let dimension_names = if table.has_header() { plan.feature_names() } else { None };
    let roles = TableRoles { part: String::new(), file: path.display().to_string(), columns: plan.roles() };
    Ok(Described { vectors, dimension_names, notes, roles })
}

/// Whether the header has the name of a class, and numbers otherwise.
fn names_a_class(table: &dyn Tabular, classes: &ClassIndex<'_>) -> bool {
    let is_number = |name: &str| name.parse::<f64>().is_ok();
    let mut others = table.columns().iter().filter(|column| !is_number(&column.name));
    table.has_header()
        && matches!((others.next(), others.next()), (Some(one), None) if classes.has(&one.name))
        && table.columns().len() > 1
}

/// Finds the column that names the classes, and reads it.
fn name_column(
    plan: &mut Plan<'_>,
    table: &dyn Tabular,
    classes: &ClassIndex<'_>,
) -> Result<Option<Vec<String>>> {
    let said = plan.name.or(plan.label);
    if let Some(column) = said {
        (plan.name, plan.label) = (Some(column), None);
        return table.texts(column).map(Some);
    }
    let named = |column: usize| matches!(plan.likeness(column), Some(Likeness::Name | Likeness::Label));
    let free = |column: usize| Some(column) != plan.id && !plan.features.contains(&column);
    // Classes may be called by numbers: then a column of numbers that is called like a name may hold them.
    let candidates = (0..plan.columns.len()).filter(|&column| match plan.columns[column].kind {
        EntryKind::Strings => free(column),
        EntryKind::Numbers => free(column) && named(column) && !plan.columns[column].is_list,
        _ => false,
    });
    let mut best: Option<(usize, bool, usize, Vec<String>)> = None;
    for column in candidates {
        let texts = table.texts(column)?;
        let known = texts.iter().filter(|text| classes.has(text)).count();
        let text = plan.columns[column].kind == EntryKind::Strings;
        if known == 0 && !text {
            continue;
        }
        let better = best.as_ref().is_none_or(|(most, header, ..)| (known, named(column)) > (*most, *header));
        if better {
            best = Some((known, named(column), column, texts));
        }
    }
    let strings = plan.columns.iter().filter(|column| column.kind == EntryKind::Strings).count();
    match best {
        None => Ok(None),
        Some((0, false, ..)) if strings > 1 => Err(Error::WhichColumn {
            path: plan.path.clone(),
            option: "name_column",
            columns: plan
                .columns
                .iter()
                .filter(|column| column.kind == EntryKind::Strings)
                .map(|column| column.name.clone())
                .collect(),
        }),
        Some((_, _, column, texts)) => {
            plan.name = Some(column);
            plan.left_out.retain(|(other, _)| *other != column);
            Ok(Some(texts))
        }
    }
}

/// Fails when an identifier numbers the classes in another order than that of the rows.
fn refuse_other_order(plan: &Plan<'_>, table: &dyn Tabular, classes: &ClassIndex<'_>) -> Result<()> {
    for &(column, _) in &plan.left_out {
        let texts = table.texts(column)?;
        let numbers: Option<Vec<usize>> = texts.iter().map(|text| text.parse().ok()).collect();
        let Some(numbers) = numbers.filter(|numbers| numbers.len() == classes.count()) else { continue };
        for first in [0, 1] {
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            let all = sorted.iter().enumerate().all(|(place, &number)| number == place + first);
            let in_order = numbers.iter().enumerate().all(|(place, &number)| number == place + first);
            if all && !in_order {
                let (path, name) = (plan.path.clone(), plan.columns[column].name.clone());
                return Err(Error::OtherOrder { path, column: name });
            }
        }
    }
    Ok(())
}

/// The columns of distances in the order of the classes: by their headers, else in the order of the rows.
fn columns_of(plan: &Plan<'_>, rows: &[usize], classes: &ClassIndex<'_>) -> Vec<usize> {
    let places = plan.features.iter().map(|&column| classes.get(&plan.columns[column].name));
    let Some(places) = places.collect::<Option<Vec<usize>>>() else { return rows.to_vec() };
    let mut order = vec![usize::MAX; classes.count()];
    places.iter().enumerate().for_each(|(column, &class)| order[class] = column);
    if order.contains(&usize::MAX) { rows.to_vec() } else { order }
}

/// The columns of the matrix (rows of the file) in this order, and its rows where they have one, too.
pub(crate) fn reordered(vectors: &Mat<f64>, rows: &[usize], columns: Option<&[usize]>) -> Mat<f64> {
    let of = |dimension: usize| columns.map_or(dimension, |columns| columns[dimension]);
    // Distances that are no square are reported by whoever checks them.
    let fits = columns.is_none_or(|columns| columns.len() == vectors.nrows());
    Mat::from_fn(vectors.nrows(), rows.len(), |dimension, class| {
        vectors[(if fits { of(dimension) } else { dimension }, rows[class])]
    })
}
