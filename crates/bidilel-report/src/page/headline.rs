//! The numbers that an evaluation begins with: against guessing, and against the best compared method.

use super::input::{EvaluationInput, Sides, StepInput};
use super::markup::{Cell, Headline, headlines, percent, table};
use crate::plot::number;
use crate::{ComparedMethod, Comparison};

/// The section; `compared` are comparisons on the same page.
pub(crate) fn section(result: &EvaluationInput, compared: &[&Comparison]) -> String {
    let runs = result.runs.len();
    let error = if runs > 1 { result.summary.standard_error } else { 0.0 };
    let over = if error > 0.0 { format!("± is the standard error over {runs} runs") } else { String::new() };
    let mut all = Vec::new();
    let sides = result.accuracy.sides();
    // The summary of runs is that of the figure that decides: the harmonic mean where there is one.
    if let Some(sides) = sides {
        all.push(headline(
            "Harmonic mean of known and unseen",
            percent(sides.harmonic, error),
            &joined(&[&sides.text(), &over]),
        ));
        if let Some(without) = result.accuracy.uncalibrated {
            all.push(headline("Without a bias", percent(without.harmonic, 0.0), &without.text()));
        }
        if let Some(area) = result.accuracy.ausuc {
            all.push(headline(
                "Area under the seen-unseen curve",
                format!("{area:.3}"),
                "of all biases; at most 1",
            ));
        }
    }
    let per_class = result.accuracy.per_class;
    let times = if result.chance > 0.0 {
        format!("{:.1} times as good as guessing", per_class / result.chance)
    } else {
        String::new()
    };
    let (error, over) = if sides.is_some() { (0.0, String::new()) } else { (error, over) };
    all.push(headline("Accuracy, mean over classes", percent(per_class, error), &joined(&[&times, &over])));
    let one_of = if result.chance > 0.0 {
        format!("one of {:.0} classes", 1.0 / result.chance)
    } else {
        "chance is not known".to_owned()
    };
    all.push(headline("Guessing", percent(result.chance, 0.0), &one_of));
    all.push(headline("Accuracy, share of instances", percent(result.accuracy.per_image, 0.0), ""));
    for (k, accuracy) in result.top.iter().filter(|(k, _)| *k != "1") {
        all.push(headline(
            &format!("Right class among the first {k}"),
            percent(accuracy.per_class, 0.0),
            "mean over classes",
        ));
    }
    all.extend(against_best(result, compared));
    headlines(&all) + &steps(result)
}

fn headline(label: &str, value: String, remark: &str) -> Headline {
    Headline { label: label.to_owned(), value, remark: remark.to_owned() }
}

fn joined(parts: &[&str]) -> String {
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("; ")
}

/// The best method, with its figure, of all comparisons on the same data in the same setting: others compare nothing.
///
/// A row with the very figures of the result is the evaluated method itself.
pub(crate) fn best_of<'a>(
    result: &EvaluationInput,
    compared: &[&'a Comparison],
) -> Option<(&'a ComparedMethod, f64)> {
    let same = |one: &&&Comparison| {
        one.dataset == result.dataset
            && one.split == result.split
            && one.random_splits == result.random_splits
            && one.visual == result.visual
            && one.semantic == result.semantic
            && one.is_generalized() == result.accuracy.sides().is_some()
    };
    let itself = |row: &ComparedMethod| {
        row.figure() == Some(result.accuracy.figure()) && row.per_image == Some(result.accuracy.per_image)
    };
    let rows = compared.iter().filter(same).flat_map(|one| &one.results).filter(|row| !itself(row));
    rows.filter_map(|row| Some((row, row.figure()?))).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The difference from the best compared method.
fn against_best(result: &EvaluationInput, compared: &[&Comparison]) -> Option<Headline> {
    let (best, figure) = best_of(result, compared)?;
    let reached = percent(figure, best.standard_error.unwrap_or(0.0));
    let of = if result.accuracy.sides().is_some() { ", harmonic mean" } else { "" };
    Some(headline(
        "Against the best compared method",
        signed_points(result.accuracy.figure() - figure),
        &format!("{} reaches {reached}{of}", best.method),
    ))
}

/// A difference of shares in points; what is rounded to zero has no sign.
fn signed_points(difference: f64) -> String {
    let points = (1000.0 * difference).round() / 10.0;
    format!("{}{} points", if points > 0.0 { "+" } else { "" }, number(points, 1))
}

fn steps(result: &EvaluationInput) -> String {
    if result.steps.len() < 2 {
        return String::new();
    }
    let row = |step: &StepInput| {
        vec![
            Cell::Text(step.name.clone()),
            Cell::Bar { value: step.per_class, low: 0.0, high: 0.0 },
            Cell::Number(percent(step.per_image, 0.0), step.per_image),
        ]
    };
    let rows: Vec<Vec<Cell>> = result.steps.iter().map(row).collect();
    table(
        "Accuracy after every step of recognition; the line is guessing",
        &["step", "per class", "per image"],
        &rows,
        Some(result.chance),
    )
}

impl Sides {
    fn text(&self) -> String {
        format!("known {}, unseen {}", percent(self.seen, 0.0), percent(self.unseen, 0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_have_the_sign_of_what_is_shown() {
        let shown = [0.0512, -0.0512, 0.0004, -0.0004, -0.0006, 0.0].map(signed_points);
        assert_eq!(
            shown,
            [
                "+5.1 points",
                "\u{2212}5.1 points",
                "0.0 points",
                "0.0 points",
                "\u{2212}0.1 points",
                "0.0 points"
            ]
        );
    }
}
