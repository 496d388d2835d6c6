//! The sections of a selection of views.

use super::evaluation::{Sections, flatten};
use super::markup::{Cell, Part, charts, code, note, paragraph, percent, table};
use crate::Selection;

pub(crate) fn part(result: &Selection, dataset: Option<&str>, command: Option<&str>) -> Part {
    let mut sections = Sections { sections: Vec::new(), left_out: Vec::new() };
    sections.add("Order", order(result));
    let all = result.charts();
    sections.add_or(
        "What each view adds",
        (!all.is_empty()).then(|| charts(&all)),
        "What each view adds: there is only one view.",
    );
    if result.evaluation.is_empty() {
        sections.left_out.push("Accuracy as views are added: select --evaluate measures it.".to_owned());
    }
    sections.add("Complementarity of any two views", matrix(result));
    sections.add("Settings", settings(result));
    sections.add(
        "Command line",
        match command {
            Some(command) => code(command),
            None => note("This result does not say which command line made it: --report does."),
        },
    );
    Part {
        title: dataset.map_or("Views".to_owned(), |dataset| format!("Views of {dataset}")),
        subtitle: format!("{} views, {} neighbors per instance", result.visual.len(), result.neighbors),
        sections: sections.sections,
        left_out: sections.left_out,
    }
}

fn order(result: &Selection) -> String {
    let alone = |view: &String| {
        result.trials.first().and_then(|trial| trial.validation.iter().find(|score| score.view == *view))
    };
    let row = |(rank, view): (usize, &String)| {
        let added = result.complementarity.get(rank).copied().flatten();
        let mut cells = vec![
            Cell::Text(view.clone()),
            Cell::Number((rank + 1).to_string(), rank as f64),
            added.map_or(Cell::Number("-".to_owned(), -1.0), |value| {
                Cell::Number(format!("{value:.4}"), value)
            }),
            alone(view).map_or(Cell::Number("-".to_owned(), -1.0), |score| {
                Cell::Number(percent(score.mean, score.standard_error), score.mean)
            }),
        ];
        if !result.evaluation.is_empty() {
            let step = result.evaluation.get(rank);
            cells.push(step.map_or(Cell::Number("-".to_owned(), -1.0), |step| Cell::Bar {
                value: step.per_class,
                low: step.per_class - step.standard_error,
                high: step.per_class + step.standard_error,
            }));
        }
        cells
    };
    let rows: Vec<Vec<Cell>> = result.order.iter().enumerate().map(row).collect();
    let mut columns = vec!["view", "rank", "complementarity", "alone, known classes"];
    if !result.evaluation.is_empty() {
        columns.push("with those before, unseen classes");
    }
    let orders: Vec<&Vec<String>> =
        result.trials.iter().map(|trial| &trial.order).filter(|order| **order != result.order).collect();
    let others = if orders.is_empty() {
        String::new()
    } else {
        paragraph(&format!(
            "The order is that of the first of {} trials; {} of them have another.",
            result.trials.len(),
            orders.len()
        ))
    };
    table("Views in the order in which they were taken", &columns, &rows, None) + &others
}

/// What views were measured with, by its differences from the defaults.
fn settings(result: &Selection) -> String {
    let mut rows = Vec::new();
    flatten("", &result.settings.effective().entries(), &mut rows);
    if rows.is_empty() {
        paragraph("The defaults.")
    } else {
        table("Settings", &["setting", "value"], &rows, None)
    }
}

fn matrix(result: &Selection) -> String {
    let row = |(name, values): (&String, &Vec<f64>)| {
        let numbers = values.iter().map(|&value| Cell::Number(format!("{value:.4}"), value));
        std::iter::once(Cell::Text(name.clone())).chain(numbers).collect()
    };
    let rows: Vec<Vec<Cell>> = result.visual.iter().zip(&result.matrix).map(row).collect();
    let columns: Vec<&str> =
        std::iter::once("view").chain(result.visual.iter().map(String::as_str)).collect();
    table("Complementarity of any two views", &columns, &rows, None)
}
