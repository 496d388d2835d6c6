//! How sure predictions may be: reliability, prediction sets, and what is none of the classes.

use super::input::{BeforeAfter, EvaluationInput};
use super::markup::{Cell, charts, paragraph, percent, table};

/// Probabilities against accuracy, before and after calibration.
pub(crate) fn reliability(result: &EvaluationInput) -> Option<String> {
    let chart = charts(&[result.reliability()?]);
    let calibration = result.calibration.as_ref()?;
    let row = |name: &str, value: Option<BeforeAfter>, text: &dyn Fn(f64) -> String| {
        let BeforeAfter { before, after } = value?;
        let cell = |value: f64| Cell::Number(text(value), value);
        Some(vec![Cell::Text(name.to_owned()), cell(before), cell(after)])
    };
    let plain = |value: f64| format!("{value:.3}");
    let rows: Vec<Vec<Cell>> = [
        row("expected calibration error", calibration.ece, &|value| percent(value, 0.0)),
        row("log loss", calibration.nll, &plain),
        row("Brier score", calibration.brier, &plain),
    ]
    .into_iter()
    .flatten()
    .collect();
    let errors = if rows.is_empty() {
        String::new()
    } else {
        let columns = ["smaller is better", "before", "after"];
        table(
            "Errors of probabilities before and after calibration, which sees known classes only",
            &columns,
            &rows,
            None,
        )
    };
    let sets = result.coverage.map_or(String::new(), |coverage| {
        paragraph(&format!(
            "Prediction sets for {} coverage hold the right class of {} of the test instances ({} per class), with {:.1} of {:.0} classes on average.",
            percent(coverage.wanted, 0.0),
            percent(coverage.measured, 0.0),
            percent(coverage.per_class, 0.0),
            coverage.mean_size,
            coverage.candidates
        ))
    });
    Some(chart + &errors + &sets)
}

/// Known unknowns: what is accepted and what is rejected.
pub(crate) fn open_set(result: &EvaluationInput) -> Option<String> {
    let chart = charts(&[result.open_set_curve()?]);
    let set = result.open_set.as_ref()?;
    let how = match (set.share, set.draws) {
        (Some(share), Some(draws)) => paragraph(&format!(
            "{} of the unseen classes are taken from the candidates, {draws} times; their instances should be rejected.",
            percent(share, 0.0)
        )),
        _ => String::new(),
    };
    let figure = |name: &str, value: Option<f64>| {
        value.map(|value| vec![Cell::Text(name.to_owned()), Cell::Number(percent(value, 0.0), value)])
    };
    let rejection = set.rejection.as_ref();
    let rows: Vec<Vec<Cell>> = [
        figure("AUROC: an unknown scores lower than an instance of a candidate", set.auroc),
        figure("unknowns accepted where 95 % of the candidates' instances are", set.fpr95),
        figure("area under the curve", set.area),
        figure("false alarms asked for", rejection.map(|one| one.rate)),
        figure("candidates' instances that are rejected", rejection.map(|one| one.false_alarms)),
        figure("unknowns that are rejected", rejection.map(|one| one.detected)),
    ]
    .into_iter()
    .flatten()
    .collect();
    let figures = if rows.is_empty() {
        String::new()
    } else {
        table("Telling unknowns apart", &["figure", "value"], &rows, None)
    };
    Some(how + &chart + &figures)
}
