//! A published table again: our numbers in its layout, the published ones beside them, differences and how sure they are.
//!
//! A difference from a published number is tested over trials by Welch's test where both have a standard error over
//! trials, otherwise over unseen classes by Student's test against the number as it is printed, whose own spread is not
//! known. Of two to five trials neither is possible: their mean is over trials, and they are too few. A number that is marked
//! as one of other classes, or over instances, is not tested. Among our numbers the best is marked, with those that a signed-rank test does not tell from it.

mod best;
mod cell;
mod cell_text;
mod charts;
mod latex;
mod layout;
mod manifest;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use best::mark_best;
pub use cell::{CellStatus, CellUnit, PublishedNumber, TableCell, TableChoice, TableRun, TestedOver};
pub use manifest::{DataRecord, Machine, Manifest, Reduced};

/// Below this a difference is called significant.
pub(crate) const SIGNIFICANT: f64 = 0.05;

/// One column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableColumn {
    /// Its name in the experiment.
    pub id: String,
    /// Its labels, from the top.
    pub labels: Vec<String>,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableRow {
    /// Its name in the experiment.
    pub id: String,
    /// Its labels, from the left.
    pub labels: Vec<String>,
    /// Rows of another group are apart.
    pub group: Option<String>,
    /// One cell per column.
    pub cells: Vec<TableCell>,
}

/// Data that a table would need.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MissingData {
    /// What is missing.
    pub what: String,
    /// What to get.
    pub get: String,
    /// Where to put it.
    pub put: String,
}

/// Curves with one pair of axes, in plain numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CurveFigure {
    /// What is shown.
    pub title: String,
    /// The dataset that was measured on: its charts have one scale.
    pub dataset: String,
    /// What is varied.
    pub x_label: String,
    /// What is measured; accuracies are fractions of one.
    pub y_label: String,
    /// The curves.
    pub series: Vec<CurveSeries>,
}

/// One curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CurveSeries {
    /// Its name in the legend.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<FigurePoint>,
}

/// One point of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FigurePoint {
    /// The value that is varied.
    pub x: f64,
    /// The mean.
    pub y: f64,
    /// Its standard error; none for a single measurement.
    pub error: Option<f64>,
}

/// A table or figure with everything that its numbers come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reproduction {
    /// The experiment's name.
    pub experiment: String,
    /// What it shows.
    pub title: String,
    /// The label of the published table.
    pub published: Option<String>,
    /// What stands after `±`: `standard-error` or `standard-deviation`.
    pub spread: String,
    /// Headers of the columns with the labels of rows.
    pub stub: Vec<String>,
    /// The other columns.
    pub columns: Vec<TableColumn>,
    /// The rows.
    pub rows: Vec<TableRow>,
    /// Curves, where the experiment has some.
    pub figures: Vec<CurveFigure>,
    /// Data that would fill the cells that are missing.
    pub missing: Vec<MissingData>,
    /// Remarks on data that were taken, and on what was not.
    pub notes: Vec<String>,
    /// Where every number comes from.
    pub manifest: Manifest,
}

impl Reproduction {
    /// How many cells were measured, and how many there are.
    pub fn counts(&self) -> (usize, usize) {
        let cells =
            || self.rows.iter().flat_map(|row| &row.cells).filter(|cell| cell.status != CellStatus::Empty);
        (cells().filter(|cell| cell.status == CellStatus::Measured).count(), cells().count())
    }

    /// What the marks in the cells stand for.
    pub(crate) fn legend(&self) -> Vec<String> {
        let cells = || self.rows.iter().flat_map(|row| &row.cells);
        let mut lines = Vec::new();
        if cells().any(|cell| cell.difference.is_some()) {
            lines.push("ours (published, difference)".to_owned());
        } else if cells().any(|cell| cell.published.is_some() && cell.status == CellStatus::Measured) {
            lines.push("ours (published)".to_owned());
        }
        let spreads =
            |cell: &TableCell| [cell.spread, cell.published.as_ref().and_then(|number| number.spread)];
        if cells().flat_map(spreads).any(|spread| spread.is_some()) {
            lines.push(format!("± {}", self.spread_words()));
        }
        if cells().any(|cell| cell.p_value.is_some()) {
            let over: Vec<&str> = [TestedOver::Trials, TestedOver::Classes]
                .into_iter()
                .filter(|over| cells().any(|cell| cell.over == Some(*over)))
                .map(|over| match over {
                    TestedOver::Trials => "Welch's test over trials",
                    TestedOver::Classes => {
                        "Student's test over our unseen classes against the published number"
                    }
                })
                .collect();
            lines.push(format!("* p < 0.05, ** p < 0.01, *** p < 0.001: {}", over.join(", ")));
        }
        let marked = |mark: fn(&PublishedNumber) -> bool| {
            cells().any(|cell| cell.difference.is_some() && cell.published.as_ref().is_some_and(mark))
        };
        if marked(PublishedNumber::is_of_other_classes) {
            lines.push("† published of other unseen classes: not tested".to_owned());
        }
        if marked(PublishedNumber::is_over_instances) {
            lines.push(
                "‡ published over instances: the difference is from our accuracy over instances, and not tested"
                    .to_owned(),
            );
        }
        if cells().any(|cell| cell.substitute) {
            lines.push("§ other data than the published".to_owned());
        }
        if cells().any(|cell| cell.status == CellStatus::Missing) {
            lines.push("n/a: the data are missing".to_owned());
        }
        lines
    }

    /// What stands after `±`, in words.
    fn spread_words(&self) -> &str {
        match &self.spread[..] {
            "standard-error" => "standard error over trials",
            "standard-deviation" => "standard deviation over runs",
            other => other,
        }
    }

    /// What bold stands for, in formats that have it.
    pub(crate) fn bold_legend(&self) -> Option<String> {
        let any = self.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.best);
        let words = "bold: our best of a row or column, and what a signed-rank test does not tell from it";
        any.then(|| words.to_owned())
    }
}
