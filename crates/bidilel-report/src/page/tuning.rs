//! The sections of a search for settings.

use std::cmp::Reverse;

use super::evaluation::{Sections, flatten};
use super::input::TuningInput;
use super::markup::{Cell, Headline, Part, charts, code, headlines, hint, note, paragraph, percent, table};
use crate::plot::Chart;
use crate::{ScoredSetting, settings_line};

/// Rows of the table: more of them make a browser slow.
const MAX_ROWS: usize = 2000;

impl TuningInput {
    /// A chart per setting that was varied by itself, on one scale.
    pub(crate) fn charts(&self) -> Vec<Chart> {
        crate::svg::charts(&self.curves)
    }
}

pub(crate) fn part(result: &TuningInput) -> Part {
    let mut sections = Sections { sections: Vec::new(), left_out: Vec::new() };
    sections.add("Chosen settings", chosen(result));
    let all = result.charts();
    let curves = (!all.is_empty()).then(|| {
        let scale = if all.len() > 1 { " All charts have one scale." } else { "" };
        paragraph(&format!("Each setting by itself, the others fixed. Bars are standard errors over folds, rings the chosen values.{scale}")) + &charts(&all)
    });
    sections.add_or("Accuracy against each setting", curves, "Curves: no setting was varied by itself.");
    sections.add("Everything that was tried", tried(result));
    sections.add("Command line", commands(result));
    Part {
        title: result
            .dataset
            .as_ref()
            .map_or("Settings".to_owned(), |dataset| format!("Settings for {dataset}")),
        subtitle: format!("split {}, chosen on held-out known classes", result.split),
        sections: sections.sections,
        left_out: sections.left_out,
    }
}

fn chosen(result: &TuningInput) -> String {
    let folds = result.trials.iter().map(|trial| trial.scores.len()).max().unwrap_or(0);
    let error = if folds > 1 { result.best.standard_error } else { 0.0 };
    let headline = |label: &str, value: String, remark: &str| Headline {
        label: label.to_owned(),
        value,
        remark: remark.to_owned(),
    };
    let all = [
        headline(
            "Accuracy on held-out known classes",
            percent(result.best.mean, error),
            if folds == 1 { "one fold" } else { "mean over folds" },
        ),
        headline(
            "Settings tried",
            result.trials.len().to_string(),
            if result.stopped_by_budget { "the budget ended the search" } else { "" },
        ),
        headline("Time", format!("{:.1} s", result.seconds), ""),
    ];
    let mut rows = Vec::new();
    flatten("", &result.best.settings, &mut rows);
    let reason =
        result.choice.as_ref().map_or(String::new(), |choice| paragraph(&format!("Why: {}.", choice.reason)));
    headlines(&all)
        + &reason
        + &if rows.is_empty() {
            paragraph("The defaults.")
        } else {
            table("Chosen settings", &["setting", "value"], &rows, None)
        }
}

fn tried(result: &TuningInput) -> String {
    let mut order: Vec<&ScoredSetting> = result.trials.iter().collect();
    let mean = |one: &ScoredSetting| one.mean.unwrap_or(f64::NEG_INFINITY);
    order.sort_by(|a, b| {
        Reverse(a.scores.len()).cmp(&Reverse(b.scores.len())).then(mean(b).total_cmp(&mean(a)))
    });
    let row = |one: &&ScoredSetting| {
        vec![
            Cell::Text(settings_line(&one.settings)),
            match one.mean {
                Some(mean) => {
                    let error = one.standard_error.unwrap_or(0.0);
                    let (low, high) =
                        if one.scores.len() > 1 { (mean - error, mean + error) } else { (0.0, 0.0) };
                    Cell::Bar { value: mean, low, high }
                }
                None => Cell::Number("not possible".to_owned(), -1.0),
            },
            Cell::Number(one.scores.len().to_string(), one.scores.len() as f64),
            Cell::Text(one.problem.clone().unwrap_or_else(|| one.stage.clone())),
        ]
    };
    let rows: Vec<Vec<Cell>> = order.iter().take(MAX_ROWS).map(row).collect();
    let cut = if order.len() > MAX_ROWS {
        note(&format!("The best {MAX_ROWS} of {} are listed.", order.len()))
    } else {
        String::new()
    };
    hint("A header sorts.")
        + &table(
            "Combinations of settings, those on most folds first, with standard errors over folds",
            &["settings", "accuracy", "folds", "stage"],
            &rows,
            None,
        )
        + &cut
}

fn commands(result: &TuningInput) -> String {
    let made = match &result.command {
        Some(command) => paragraph("This search:") + &code(command),
        None => note("This result does not say which command line made it: --report does."),
    };
    let next = if result.commands.is_empty() {
        String::new()
    } else {
        paragraph("To evaluate the choice on the unseen classes:") + &code(&result.commands.join("\n"))
    };
    made + &next
}
