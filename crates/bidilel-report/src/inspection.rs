//! The result of `inspect`: what is in a dataset, and what is wrong with it.

use std::fmt::Write as _;

use bidilel_data::Inspection;
use bidilel_data::check::{Distribution, Histogram, Problem, Severity};
use bidilel_data::table::{ColumnRole, TableRoles};
use serde::Serialize;

use crate::{Align, Table, visible, wrap_lines};

/// The object that `inspect --format json` prints, with its tables.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct InspectionReport {
    /// What was found.
    pub inspection: Inspection,
}

impl InspectionReport {
    /// The tables of an inspection.
    pub fn new(inspection: Inspection) -> Self {
        Self { inspection }
    }

    /// Everything, for a terminal of `width` cells.
    pub fn text(&self, width: Option<usize>) -> String {
        let found = &self.inspection;
        let name = visible(&found.name);
        let mut text = format!("{name}: {} instances of {} classes\n", found.instances, found.classes);
        // Writing to a string cannot fail.
        if let Some(histogram) = &found.balance.histogram {
            let bars = histogram_table(histogram, 0).text(width);
            let _ = write!(text, "\ninstances per class\n{bars}");
        }
        for table in [self.visual_table(), self.semantic_table(), self.splits_table()] {
            if !table.rows.is_empty() {
                let _ = write!(text, "\n{}", table.text(width));
            }
        }
        for table in &found.tables {
            let columns = columns_table(table).text(width);
            let _ = write!(text, "\ncolumns of {} ({})\n{columns}", table.file, table.part);
        }
        for (name, summary) in &found.visual.0 {
            if let Some(histogram) = &summary.norm_histogram {
                let bars = histogram_table(histogram, 2).text(width);
                let _ = write!(text, "\nnorms of the rows of {}\n{bars}", visible(name));
            }
        }
        text.push('\n');
        for problem in &found.problems {
            let (place, message) = (visible(&problem.place), visible(&problem.message));
            let line = format!("{}: {place}: {message}", severity(problem));
            let _ = writeln!(text, "{}", wrap_lines(&line, width));
            if let Some(hint) = &problem.hint {
                let _ = writeln!(text, "  hint: {}", visible(hint));
            }
        }
        let counted = |one: &str, wanted| {
            let count = found.problems.iter().filter(|problem| problem.severity == wanted).count();
            format!("{count} {one}{}", if count == 1 { "" } else { "s" })
        };
        let [errors, warnings] = [("error", Severity::Error), ("warning", Severity::Warning)]
            .map(|(one, wanted)| counted(one, wanted));
        let _ = writeln!(text, "{errors}, {warnings}");
        text
    }

    /// One row per visual representation.
    pub fn visual_table(&self) -> Table {
        let mut table = Table::new(&[
            ("visual", Align::Left),
            ("rows", Align::Right),
            ("dimensions", Align::Right),
            ("type", Align::Left),
            ("values", Align::Right),
            ("zeros", Align::Right),
            ("norms", Align::Right),
            ("constant", Align::Right),
        ]);
        for (name, summary) in &self.inspection.visual.0 {
            let value = |value: Option<f32>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
            table.push(vec![
                name.clone(),
                summary.instances.to_string(),
                summary.dimensions.to_string(),
                summary.element.to_owned(),
                format!("{} to {}", value(summary.minimum), value(summary.maximum)),
                percent(summary.sparsity),
                spread(summary.norms.as_ref()),
                summary.constant_dimensions.to_string(),
            ]);
        }
        table
    }

    /// One row per semantic representation.
    pub fn semantic_table(&self) -> Table {
        let mut table = Table::new(&[
            ("semantic", Align::Left),
            ("dimensions", Align::Right),
            ("metric", Align::Left),
            ("values", Align::Right),
            ("zeros", Align::Right),
            ("norms", Align::Right),
            ("distance", Align::Right),
        ]);
        for (name, summary) in &self.inspection.semantic.0 {
            table.push(vec![
                name.clone(),
                summary.dimensions.to_string(),
                format!("{:?}", summary.metric).to_lowercase(),
                format!("{:.3} to {:.3}", summary.minimum, summary.maximum),
                percent(summary.sparsity),
                spread(summary.norms.as_ref()),
                summary.median_distance.map_or("-".to_owned(), |distance| format!("{distance:.3}")),
            ]);
        }
        table
    }

    /// One row per split.
    pub fn splits_table(&self) -> Table {
        let mut table = Table::new(&[
            ("split", Align::Left),
            ("kind", Align::Left),
            ("trials", Align::Right),
            ("known", Align::Right),
            ("unseen", Align::Right),
            ("validation", Align::Right),
            ("training", Align::Right),
            ("test", Align::Right),
            ("test of known", Align::Right),
        ]);
        for (name, summary) in &self.inspection.splits.0 {
            table.push(vec![
                name.clone(),
                summary.kind.to_owned(),
                summary.trials.to_string(),
                summary.known.to_string(),
                summary.unseen.to_string(),
                summary.validation.to_string(),
                summary.train.to_string(),
                summary.test_unseen.to_string(),
                summary.test_seen.map_or("-".to_owned(), |count| count.to_string()),
            ]);
        }
        table
    }

    /// One row per problem: for CSV, Markdown and LaTeX.
    pub fn problems_table(&self) -> Table {
        let mut table = Table::new(&[
            ("severity", Align::Left),
            ("where", Align::Left),
            ("message", Align::Left),
            ("hint", Align::Left),
        ]);
        for problem in &self.inspection.problems {
            table.push(vec![
                severity(problem).to_owned(),
                problem.place.clone(),
                problem.message.clone(),
                problem.hint.clone().unwrap_or_default(),
            ]);
        }
        table
    }
}

/// The role of every column; adjacent columns of the same role share a row.
fn columns_table(found: &TableRoles) -> Table {
    let mut table = Table::new(&[("columns", Align::Left), ("role", Align::Left), ("", Align::Left)]);
    for run in found.columns.chunk_by(|one, next| (one.role, one.reason) == (next.role, next.reason)) {
        let name = |column: &ColumnRole| match column.column.as_str() {
            "" => "(no name)".to_owned(),
            name => name.to_owned(),
        };
        let names = match run {
            [one] => name(one),
            [first, last] => format!("{}, {}", name(first), name(last)),
            [first, .., last] => format!("{} ... {} ({})", name(first), name(last), run.len()),
            [] => continue,
        };
        let reason = run[0].reason.unwrap_or_default().to_owned();
        table.push(vec![names, run[0].role.name().to_owned(), reason]);
    }
    table
}

/// One bar per bin.
fn histogram_table(histogram: &Histogram, decimals: usize) -> Table {
    const WIDTH: usize = 40;
    let largest = histogram.counts.iter().copied().max().unwrap_or(0).max(1);
    let mut table =
        Table::new(&[("from", Align::Right), ("to", Align::Right), ("", Align::Left), ("", Align::Right)]);
    for (edges, &count) in histogram.edges.windows(2).zip(&histogram.counts) {
        // Rounded up: a bin that is not empty has a bar.
        let length = (count * WIDTH).div_ceil(largest);
        table.push(vec![
            format!("{:.decimals$}", edges[0]),
            format!("{:.decimals$}", edges[1]),
            "\u{2588}".repeat(length),
            count.to_string(),
        ]);
    }
    table
}

fn severity(problem: &Problem) -> &'static str {
    match problem.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

fn spread(norms: Option<&Distribution>) -> String {
    norms.map_or("-".to_owned(), |n| format!("{:.3} / {:.3} / {:.3}", n.minimum, n.median, n.maximum))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use bidilel::synthetic::Synthetic;
    use bidilel_data::check::inspect_dataset;
    use bidilel_data::table::Role;

    use super::*;
    use crate::Format;

    #[test]
    fn problems_are_counted_below_the_tables_and_are_a_table_of_their_own() {
        let dataset = Synthetic { scale: 0.2, ..Synthetic::default() }.generate(0).expect("a dataset");
        let mut inspection = inspect_dataset(&dataset, &bidilel::Silent).expect("nobody stops it");
        inspection.problems.clear();
        let clean = InspectionReport::new(inspection.clone());
        assert!(clean.text(None).ends_with("\n0 errors, 0 warnings\n"), "{}", clean.text(None));
        assert!(clean.text(None).contains("\ninstances per class\n"));
        inspection.classes = 0;
        let nowhere = std::path::Path::new("there is no such folder");
        let found = bidilel_data::inspect(nowhere, &bidilel::Silent).expect("nobody stops it");
        let report = InspectionReport::new(found);
        assert!(report.text(Some(60)).contains("1 error, 0 warnings"), "{}", report.text(Some(60)));
        let csv = report.problems_table().render(Format::Csv);
        assert!(csv.starts_with("severity,where,message,hint\nerror,"), "{csv}");
        let object = serde_json::to_value(&report).expect("serializable");
        assert_eq!(object["problems"].as_array().map(Vec::len), Some(1));
    }

    #[test]
    fn adjacent_columns_of_one_role_share_a_row() {
        let column = |name: &str, role| ColumnRole { column: name.to_owned(), role, reason: None };
        let columns = ["a", "b", "c"].map(|name| column(name, Role::Feature));
        let columns = [vec![column("", Role::Id)], columns.to_vec()].concat();
        let roles = TableRoles { part: "visual.cnn".to_owned(), file: "x.csv".to_owned(), columns };
        insta::assert_snapshot!(columns_table(&roles).text(None), @r"
        columns      role
        (no name)    id
        a ... c (3)  feature
        ");
    }
}
