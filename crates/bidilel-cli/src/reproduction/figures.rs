//! Curves of an experiment in plain numbers: of searches, or against the rows of the table.

use std::collections::BTreeMap;

use bidilel_experiments::{Curves, Experiment};
use bidilel_math::statistics::Summary;
use bidilel_report::{CurveFigure, CurveSeries, FigurePoint, TableRow};

use super::cells::Done;

/// What curves of searches show.
const HELD_OUT: &str = "accuracy on held-out known classes";
/// What curves over rows show.
const UNSEEN: &str = "accuracy on unseen classes";

/// The figures of an experiment.
pub(super) fn of(
    experiment: &Experiment,
    rows: &[TableRow],
    kept: &[usize],
    done: &BTreeMap<(usize, usize), Done>,
) -> Vec<CurveFigure> {
    match &experiment.curves {
        None => Vec::new(),
        Some(Curves::Search { settings }) => of_searches(experiment, settings, kept, done),
        Some(Curves::Rows { x }) => of_rows(experiment, x, rows),
    }
}

/// Where the columns of a row show settings of one search, a figure per group of rows, with a curve per row; otherwise a
/// figure per row, with a curve per column.
fn of_searches(
    experiment: &Experiment,
    settings: &[String],
    kept: &[usize],
    done: &BTreeMap<(usize, usize), Done>,
) -> Vec<CurveFigure> {
    let mut figures: Vec<CurveFigure> = Vec::new();
    for setting in settings {
        for &row in kept {
            let labels = &experiment.rows[row].labels;
            let shared = shares_search(experiment, row);
            for (number, column) in experiment.columns.iter().enumerate() {
                let Some(points) = done.get(&(row, number)).map(|done| points(done, setting)) else {
                    continue;
                };
                if points.is_empty() {
                    continue;
                }
                let (group, name) = match labels.split_last() {
                    Some((last, rest)) if shared => (rest, last.clone()),
                    _ => (&labels[..], column.labels.join(" ")),
                };
                let title = format!("{}: {setting}", group.join(" "));
                let frame =
                    Frame { title, dataset: dataset(experiment, row, number), x: setting, y: HELD_OUT };
                add(&mut figures, frame, CurveSeries { name, points });
                if shared {
                    break;
                }
            }
        }
    }
    figures
}

/// Whether all columns of a row show settings of one search.
fn shares_search(experiment: &Experiment, row: usize) -> bool {
    let cells = experiment.columns.iter().filter_map(|column| experiment.cell(&experiment.rows[row], column));
    let searches: Vec<_> = cells.map(|cell| cell.search).collect();
    searches.windows(2).all(|pair| pair[0] == pair[1])
}

/// Accuracy against a setting: of one trial with its error over folds, of several with that over trials.
fn points(done: &Done, setting: &str) -> Vec<FigurePoint> {
    let mut values: BTreeMap<String, (f64, Vec<f64>, f64)> = BTreeMap::new();
    for curve in
        done.choices.iter().flat_map(|(_, choice)| &choice.curves).filter(|curve| curve.setting == setting)
    {
        for point in &curve.points {
            let Some(x) = point.value.as_f64() else { continue };
            let entry =
                values.entry(point.value.to_string()).or_insert((x, Vec::new(), point.standard_error));
            entry.1.push(point.mean);
        }
    }
    let folds = done.choices.first().map_or(0, |(_, choice)| choice.folds);
    let mut points: Vec<FigurePoint> = values
        .into_values()
        .map(|(x, means, error)| {
            let Summary { mean, standard_error, .. } = Summary::of(&means);
            let error =
                if means.len() > 1 { Some(standard_error) } else { Some(error).filter(|_| folds > 1) };
            FigurePoint { x, y: mean, error }
        })
        .collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    points
}

/// One figure per first label of columns; one curve per column, over rows whose labels are numbers.
fn of_rows(experiment: &Experiment, x: &str, rows: &[TableRow]) -> Vec<CurveFigure> {
    let mut figures: Vec<CurveFigure> = Vec::new();
    for (number, column) in experiment.columns.iter().enumerate() {
        let point = |row: &TableRow| {
            let x = row.labels.first()?.parse().ok()?;
            let cell = row.cells.get(number)?;
            Some(FigurePoint { x, y: cell.value?, error: cell.spread })
        };
        let points: Vec<FigurePoint> = rows.iter().filter_map(point).collect();
        let (first, rest) =
            column.labels.split_first().map_or(("", &[][..]), |(first, rest)| (&first[..], rest));
        if points.is_empty() {
            continue;
        }
        let series = CurveSeries { name: rest.join(" "), points };
        let frame = Frame { title: first.to_owned(), dataset: dataset(experiment, 0, number), x, y: UNSEEN };
        add(&mut figures, frame, series);
    }
    figures
}

/// The dataset of a cell.
fn dataset(experiment: &Experiment, row: usize, column: usize) -> String {
    let cell = experiment.rows.get(row).and_then(|row| experiment.cell(row, &experiment.columns[column]));
    cell.map_or(String::new(), |cell| cell.dataset)
}

/// What a figure has around its curves.
struct Frame<'a> {
    title: String,
    dataset: String,
    x: &'a str,
    y: &'a str,
}

/// Adds a curve to the figure of a title, which begins with its first curve.
fn add(figures: &mut Vec<CurveFigure>, frame: Frame<'_>, series: CurveSeries) {
    if let Some(figure) = figures.iter_mut().find(|figure| figure.title == frame.title) {
        figure.series.push(series);
        return;
    }
    let Frame { title, dataset, x, y } = frame;
    let (x_label, y_label) = (x.to_owned(), y.to_owned());
    figures.push(CurveFigure { title, dataset, x_label, y_label, series: vec![series] });
}
