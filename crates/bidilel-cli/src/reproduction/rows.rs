//! Results of cells as cells of a table: numbers beside the published ones, the best marked, remarks.

use std::collections::{BTreeMap, BTreeSet};

use bidilel::reproduce::Choice;
use bidilel_experiments::{Best, Cell, Curves, Experiment, Line, Show, Spread};
use bidilel_report::{CellStatus, CellUnit, PublishedNumber, TableCell, TableChoice, TableRow, mark_best};

use super::cells::{Done, Job};

/// A cell with its result.
pub(super) fn finished(
    cell: &Cell,
    found: &Done,
    experiment: &Experiment,
    published: Option<PublishedNumber>,
) -> TableCell {
    if let Some(failure) = &found.failure {
        return TableCell::without(CellStatus::Failed, unit(cell), published, Some(failure.clone()));
    }
    let choices = found.choices.iter().filter(|(_, choice)| choice.folds > 0).map(table_choice).collect();
    match &cell.show {
        Show::Accuracy => {
            let deviation = experiment.spread == Spread::StandardDeviation;
            TableCell { choices, ..TableCell::accuracy(&found.runs, deviation, published) }
        }
        Show::Setting(setting) => {
            let values: Vec<_> = found
                .choices
                .iter()
                .filter_map(|(_, choice)| choice.settings.entries().get(setting).cloned())
                .collect();
            // Without folds nothing was searched for: there is no choice to show.
            if found.choices.iter().all(|(_, choice)| choice.folds == 0) && values.is_empty() {
                return TableCell::without(CellStatus::Empty, unit(cell), None, None);
            }
            TableCell { choices, ..TableCell::setting(&values, published) }
        }
    }
}

fn table_choice((trial, choice): &(String, Choice)) -> TableChoice {
    TableChoice {
        trial: trial.clone(),
        settings: choice.settings.clone(),
        mean: choice.mean,
        standard_error: choice.standard_error,
        folds: choice.folds,
    }
}

pub(super) fn with_data(mut cell: TableCell, job: Option<&Job>) -> TableCell {
    if let Some(job) = job {
        cell.substitute = !job.data.substitutes.is_empty();
        cell.visual.clone_from(&job.data.visual);
        cell.semantic.clone_from(&job.data.semantic);
    }
    cell
}

/// Cells of an extra row that have no data are no cells of the table.
pub(super) fn blank(cells: &mut [TableCell]) {
    for cell in cells.iter_mut().filter(|cell| cell.status == CellStatus::Missing) {
        *cell = TableCell::without(CellStatus::Empty, cell.unit, None, None);
    }
}

pub(super) fn unit(cell: &Cell) -> CellUnit {
    match cell.show {
        Show::Accuracy => CellUnit::Accuracy,
        Show::Setting(_) => CellUnit::Setting,
    }
}

/// The published number of a cell in the unit of the cell: accuracies are printed in percent.
pub(super) fn published(experiment: &Experiment, row: &str, column: &str) -> Option<PublishedNumber> {
    let found = experiment.published(row, column)?;
    let line = |lines: &[Line], id: &str| lines.iter().find(|line| line.id == id).cloned();
    let cell = experiment.cell(&line(&experiment.rows, row)?, &line(&experiment.columns, column)?);
    let of_cell = |value: f64| match cell.as_ref().map(unit) {
        Some(CellUnit::Setting) => value,
        _ => hundredth(value),
    };
    Some(PublishedNumber {
        value: of_cell(found.value),
        spread: found.spread.map(of_cell),
        mark: found.mark,
        trials: experiment.numbers.as_ref().and_then(|numbers| numbers.trials),
    })
}

/// The decimal that was printed, two places further: neither a division by 100 nor a product with 0.01 always gives it.
fn hundredth(printed: f64) -> f64 {
    format!("{printed}e-2").parse().unwrap_or(printed / 100.0)
}

/// Marks the best of every row, or of every column within a group of rows.
pub(super) fn mark(best: Option<Best>, rows: &mut [TableRow]) {
    match best {
        None => {}
        Some(Best::Row) => {
            rows.iter_mut().for_each(|row| mark_best(&mut row.cells.iter_mut().collect::<Vec<_>>()));
        }
        Some(Best::Column) => {
            for part in rows.chunk_by_mut(|a, b| a.group == b.group) {
                let columns = part.first().map_or(0, |row| row.cells.len());
                for column in 0..columns {
                    mark_best(&mut part.iter_mut().map(|row| &mut row.cells[column]).collect::<Vec<_>>());
                }
            }
        }
    }
}

/// The header of the labels of rows.
pub(super) fn header(by: &str, experiment: &Experiment) -> String {
    match (by, &experiment.curves) {
        ("dataset", _) => "Dataset".to_owned(),
        ("visual", _) => "Vis. Rep.".to_owned(),
        ("semantic", _) => "Sem. Rep.".to_owned(),
        ("label", Some(Curves::Rows { x })) => x.clone(),
        ("label", _) => "Method".to_owned(),
        _ => String::new(),
    }
}

/// In which order representations were added.
pub(super) fn orders(
    experiment: &Experiment,
    jobs: &[Job],
    done: &BTreeMap<(usize, usize), Done>,
) -> BTreeSet<String> {
    let order = |job: &Job| {
        let found = done.get(&job.place).filter(|found| !found.order.is_empty())?;
        let column = experiment.columns.get(job.place.1)?.labels.join(" ");
        Some(format!("{column}, order in the first trial: {}", found.order.join(", ")))
    };
    jobs.iter().filter_map(order).collect()
}

/// Why cells failed, each reason once.
pub(super) fn failures(experiment: &Experiment, rows: &[TableRow]) -> BTreeSet<String> {
    let mut notes = BTreeSet::new();
    for row in rows {
        for (cell, column) in row.cells.iter().zip(&experiment.columns) {
            if let (CellStatus::Failed, Some(note)) = (cell.status, &cell.note) {
                notes.insert(format!(
                    "failed: {} · {}: {note}",
                    row.labels.join(" "),
                    column.labels.join(" ")
                ));
            }
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_numbers_are_the_decimals_that_were_printed() {
        for tenths in 0..=1000_u32 {
            let printed = f64::from(tenths) / 10.0;
            let decimal: f64 = format!("{}.{:03}", tenths / 1000, tenths % 1000).parse().expect("a number");
            assert_eq!(hundredth(printed).to_bits(), decimal.to_bits(), "{printed}");
        }
    }
}
