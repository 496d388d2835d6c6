//! The sections of a comparison of methods.

use super::evaluation::Sections;
use super::markup::{Cell, Headline, Part, code, headlines, note, paragraph, percent, table};
use crate::{ComparedMethod, Comparison, Over, settings_line};

pub(crate) fn part(result: &Comparison, command: Option<&str>) -> Part {
    let mut sections = Sections { sections: Vec::new(), left_out: Vec::new() };
    sections.add("Best methods", best(result));
    sections.add("Every method", methods(result));
    let failed: Vec<&ComparedMethod> = result.results.iter().filter(|row| row.error.is_some()).collect();
    if !failed.is_empty() {
        let row = |row: &&ComparedMethod| {
            vec![Cell::Text(row.method.clone()), Cell::Text(row.error.clone().unwrap_or_default())]
        };
        let rows: Vec<Vec<Cell>> = failed.iter().map(row).collect();
        sections.add("Failures", table("Methods that failed", &["method", "why"], &rows, None));
    }
    sections.add(
        "Command line",
        match command {
            Some(command) => code(command),
            None => note("This result does not say which command line made it: --report does."),
        },
    );
    Part {
        title: format!("Methods on {}", result.dataset),
        subtitle: format!(
            "split {}, visual {}, semantic {}; settings {}",
            result.split,
            result.visual.join(" + "),
            result.semantic.join(" + "),
            if result.tuned { "chosen on held-out known classes" } else { "as given, or the defaults" }
        ),
        sections: sections.sections,
        left_out: sections.left_out,
    }
}

fn best(result: &Comparison) -> String {
    let mut all: Vec<Headline> = Vec::new();
    for row in &result.results {
        let label = format!("Best {} method", row.kind);
        if let Some(accuracy) = row.per_class
            && all.iter().all(|one| one.label != label)
        {
            let value = percent(accuracy, row.standard_error.unwrap_or(0.0));
            let error = if row.standard_error.is_some() { "; ± is the standard error" } else { "" };
            all.push(Headline { label, value, remark: format!("method {}{error}", row.method) });
        }
    }
    all.push(Headline {
        label: "Guessing".to_owned(),
        value: percent(result.chance, 0.0),
        remark: String::new(),
    });
    headlines(&all)
}

fn methods(result: &Comparison) -> String {
    let over = match result.over {
        Over::Splits => "trials",
        Over::Classes => "unseen classes",
        Over::Nothing => "nothing, since there are too few trials",
    };
    let number = |value: Option<f64>, text: &dyn Fn(f64) -> String| {
        value.map_or(Cell::Number("-".to_owned(), -1.0), |value| Cell::Number(text(value), value))
    };
    let row = |row: &ComparedMethod| {
        let (low, high) = row.interval.unwrap_or((0.0, 0.0));
        vec![
            Cell::Text(row.method.clone()),
            row.per_class.map_or(Cell::Number("failed".to_owned(), -1.0), |value| Cell::Bar {
                value,
                low,
                high,
            }),
            Cell::Text(row.kind.to_string()),
            number(row.per_image, &|value| percent(value, 0.0)),
            match row.p_corrected {
                Some(p) => Cell::Number(if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }, p),
                None => Cell::Number(if row.per_class.is_some() { "best" } else { "-" }.to_owned(), 2.0),
            },
            number(row.seconds, &|value| format!("{value:.1}")),
            Cell::Text(settings_line(&row.settings)),
        ]
    };
    let rows: Vec<Vec<Cell>> = result.results.iter().map(row).collect();
    paragraph(&format!(
        "Bars have 95 % confidence intervals over {} {over}; the line through them is guessing. p is of a signed-rank test against the best \
         method of the same kind, corrected for all rows (Holm).",
        result.pairs
    )) + &table(
        "Every method",
        &["method", "accuracy", "kind", "per image", "p", "seconds", "settings"],
        &rows,
        Some(result.chance),
    )
}
