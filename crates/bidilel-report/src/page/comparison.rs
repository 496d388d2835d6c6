//! The sections of a comparison of methods.

use super::evaluation::Sections;
use super::markup::{Cell, Headline, Part, code, headlines, note, paragraph, percent, table};
use crate::{ComparedMethod, Comparison, Over};

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
    let of = if result.is_generalized() { "harmonic mean of known and unseen; " } else { "" };
    let mut all: Vec<Headline> = Vec::new();
    for row in &result.results {
        let label = format!("Best {} method", row.kind);
        if let Some(figure) = row.figure()
            && all.iter().all(|one| one.label != label)
        {
            let value = percent(figure, row.standard_error.unwrap_or(0.0));
            let error = if row.standard_error.is_some() { "; ± is the standard error" } else { "" };
            all.push(Headline { label, value, remark: format!("{of}method {}{error}", row.method) });
        }
    }
    all.push(Headline {
        label: "Guessing".to_owned(),
        value: percent(result.chance, 0.0),
        remark: if result.is_generalized() { "among all classes".to_owned() } else { String::new() },
    });
    headlines(&all)
}

fn methods(result: &Comparison) -> String {
    let generalized = result.is_generalized();
    let mut columns = vec!["method", if generalized { "harmonic" } else { "accuracy" }, "kind"];
    if generalized {
        columns.extend(["known", "unseen", "AUSUC", "without bias"]);
    } else {
        columns.push("per image");
    }
    if result.over != Over::Nothing {
        columns.push("p");
    }
    columns.extend(["seconds", "settings"]);
    let rows: Vec<Vec<Cell>> = result.results.iter().map(|row| cells(result, row)).collect();
    let tests = |over: &str| {
        format!(
            "Bars have 95 % confidence intervals over {} {over}; the line through them is guessing. p is of a signed-rank test against \
             the best method of the same kind, corrected for all rows (Holm).",
            result.pairs
        )
    };
    let said = match result.over {
        Over::Splits => tests("trials"),
        Over::Classes => tests("unseen classes"),
        Over::Nothing => {
            "The line through the bars is guessing. A harmonic mean is no mean over classes, and there are too few trials for intervals and \
             tests: --random-splits draws more."
                .to_owned()
        }
    };
    let sides = if generalized {
        " Known and unseen classes compete; harmonic is the mean of the accuracies on both, with the bias of known classes that held-out known \
         classes chose; AUSUC is the area under the curve over all biases; without bias is the harmonic mean without one."
    } else {
        ""
    };
    paragraph(&(said + sides)) + &table("Every method", &columns, &rows, Some(result.chance))
}

fn cells(result: &Comparison, row: &ComparedMethod) -> Vec<Cell> {
    let number = |value: Option<f64>, text: &dyn Fn(f64) -> String| {
        value.map_or(Cell::Number("-".to_owned(), -1.0), |value| Cell::Number(text(value), value))
    };
    let share = |value: Option<f64>| number(value, &|value| percent(value, 0.0));
    let (low, high) = row.interval.unwrap_or((0.0, 0.0));
    let mut cells = vec![
        Cell::Text(row.method.clone()),
        row.figure().map_or(Cell::Number("failed".to_owned(), -1.0), |value| Cell::Bar { value, low, high }),
        Cell::Text(row.kind.to_string()),
    ];
    if result.is_generalized() {
        let figures = row.generalized;
        cells.extend([
            share(figures.map(|figures| figures.calibrated.seen)),
            share(figures.map(|figures| figures.calibrated.unseen)),
            number(figures.map(|figures| figures.ausuc), &|area| format!("{area:.3}")),
            share(figures.map(|figures| figures.uncalibrated.harmonic)),
        ]);
    } else {
        cells.push(share(row.per_image));
    }
    if result.over != Over::Nothing {
        cells.push(match row.p_corrected {
            Some(p) => Cell::Number(if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }, p),
            None => Cell::Number(if row.figure().is_some() { "best" } else { "-" }.to_owned(), 2.0),
        });
    }
    cells.extend([number(row.seconds, &|value| format!("{value:.1}")), Cell::Text(row.settings_said())]);
    cells
}
