//! The tables of a comparison: for a terminal in two parts, for papers and spreadsheets in one.

use std::fmt::Write;

use bidilel::calibrate::Generalized;
use bidilel::method::Kind;

use crate::comparison::{ComparedMethod, Comparison, Over};
use crate::generalized::{FIGURES, figures_of};
use crate::plot::{BarPlot, Chart, Drawing, Theme};
use crate::tuning::settings_line_without;
use crate::{Align, Bar, Table, settings_line, wrap_lines};

/// What the first column and the head say.
const SAID: [&str; 4] = ["method", "visual", "semantic", "generalized"];

impl Comparison {
    /// One row per method with fractions: for CSV.
    pub fn csv_table(&self) -> Table {
        let mut columns = vec![
            ("dataset", Align::Left),
            ("split", Align::Left),
            ("method", Align::Left),
            ("kind", Align::Left),
            ("per_class", Align::Right),
            ("per_image", Align::Right),
            ("standard_error", Align::Right),
            ("interval_low", Align::Right),
            ("interval_high", Align::Right),
            ("p_value", Align::Right),
            ("p_corrected", Align::Right),
            ("seconds", Align::Right),
            ("tuning_seconds", Align::Right),
            ("peak_memory", Align::Right),
            ("trials", Align::Right),
            ("settings", Align::Left),
            ("error", Align::Left),
            ("version", Align::Left),
        ];
        if self.is_generalized() {
            columns.extend(FIGURES.map(|name| (name, Align::Right)));
        }
        let mut table = Table::new(&columns);
        let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        for row in &self.results {
            let mut cells = vec![
                self.dataset.clone(),
                self.split.clone(),
                row.method.clone(),
                row.kind.to_string(),
                number(row.per_class),
                number(row.per_image),
                number(row.standard_error),
                number(row.interval.map(|interval| interval.0)),
                number(row.interval.map(|interval| interval.1)),
                number(row.p_value),
                number(row.p_corrected),
                number(row.seconds),
                number(row.tuning_seconds),
                row.peak_memory.map_or(String::new(), |bytes| bytes.to_string()),
                row.runs.len().to_string(),
                settings_line(&row.settings.effective()),
                row.error.clone().unwrap_or_default(),
                crate::VERSION.to_owned(),
            ];
            if self.is_generalized() {
                cells.extend(row.generalized.map_or(Default::default(), |figures| figures_of(&figures)));
            }
            table.push(cells);
        }
        table
    }

    /// Whether known classes are candidates, too.
    pub(crate) fn is_generalized(&self) -> bool {
        self.results.iter().any(|row| row.generalized.is_some())
    }

    /// Methods of one kind, or of both, in percent: for people and papers.
    pub fn table(&self, kind: Option<Kind>) -> Table {
        let mut columns = vec![("method", Align::Left)];
        if kind.is_none() {
            columns.push(("kind", Align::Left));
        }
        let figure = if self.is_generalized() { "harmonic %" } else { "per class %" };
        columns.push((figure, Align::Right));
        if self.over != Over::Nothing {
            columns.extend([("± error", Align::Right), ("95 % interval", Align::Right)]);
        }
        if self.is_generalized() {
            let names = ["seen %", "unseen %", "AUSUC", "uncalibrated: harmonic %", "seen %", "unseen %"];
            columns.extend(names.map(|name| (name, Align::Right)));
        } else {
            columns.push(("per image %", Align::Right));
        }
        if self.over != Over::Nothing {
            columns.push(("p", Align::Right));
        }
        columns.push(("seconds", Align::Right));
        if self.tuned {
            columns.push(("tuning", Align::Right));
        }
        columns.extend([("MB", Align::Right), ("settings", Align::Left)]);
        let mut table = Table::new(&columns);
        for row in self.results.iter().filter(|row| kind.is_none_or(|kind| row.kind == kind)) {
            table.push(self.cells(row, kind.is_none()));
        }
        table
    }

    fn cells(&self, row: &ComparedMethod, with_kind: bool) -> Vec<String> {
        let dash = || "-".to_owned();
        let percent = |share: Option<f64>| share.map_or_else(dash, |share| format!("{:.1}", 100.0 * share));
        let seconds = |value: Option<f64>| value.map_or_else(dash, |value| format!("{value:.1}"));
        let mut cells = vec![row.method.clone()];
        if with_kind {
            cells.push(row.kind.to_string());
        }
        let over = self.over != Over::Nothing;
        cells.push(if row.error.is_some() { "failed".to_owned() } else { percent(row.figure()) });
        if over {
            let interval = |(low, high): (f64, f64)| format!("{:.1} to {:.1}", 100.0 * low, 100.0 * high);
            cells.extend([percent(row.standard_error), row.interval.map_or_else(dash, interval)]);
        }
        if self.is_generalized() {
            let of = |of: fn(&Generalized) -> f64| percent(row.generalized.as_ref().map(of));
            cells.extend([
                of(|figures| figures.calibrated.seen),
                of(|figures| figures.calibrated.unseen),
                row.generalized.map_or_else(dash, |figures| format!("{:.3}", figures.ausuc)),
                of(|figures| figures.uncalibrated.harmonic),
                of(|figures| figures.uncalibrated.seen),
                of(|figures| figures.uncalibrated.unseen),
            ]);
        } else {
            cells.push(percent(row.per_image));
        }
        if over {
            cells.push(match (row.per_class, row.p_corrected) {
                (None, _) => dash(),
                (_, None) => "best".to_owned(),
                (_, Some(p)) if p < 0.001 => "< 0.001".to_owned(),
                (_, Some(p)) => format!("{p:.3}"),
            });
        }
        cells.push(seconds(row.seconds));
        if self.tuned {
            cells.push(seconds(row.tuning_seconds));
        }
        cells.extend([
            row.peak_memory.map_or_else(dash, |bytes| format!("{:.0}", bytes as f64 / 1e6)),
            row.error.clone().unwrap_or_else(|| row.settings_said()),
        ]);
        cells
    }

    /// Two tables and what their columns mean: for a terminal.
    pub fn text(&self, width: Option<usize>) -> String {
        let mut out = String::new();
        let trials = self.results.iter().map(|row| row.runs.len()).max().unwrap_or(0);
        let of = |count: usize| if count == 1 { "1 trial".to_owned() } else { format!("{count} trials") };
        let drawn = self.random_splits.map_or(String::new(), |drawn| format!(": {drawn}"));
        let head = format!(
            "{} ({}, {}{drawn}), {} with {}; guessing gives {:.1} %\n",
            self.dataset,
            self.split,
            of(trials),
            self.visual.join("+"),
            self.semantic.join("+"),
            100.0 * self.chance,
        );
        out += &wrap_lines(&head, width);
        for kind in [Kind::Inductive, Kind::Transductive] {
            let table = self.table(Some(kind));
            if !table.rows.is_empty() {
                // Writing to a string cannot fail.
                let _ = write!(out, "\n{kind}\n{}", table.text(width));
            }
        }
        let unit = match self.over {
            Over::Splits => "trials",
            Over::Classes | Over::Nothing => "unseen classes",
        };
        let chosen =
            if self.tuned { "chosen on held-out known classes" } else { "as given, or the defaults" };
        let tests = format!(
            "error, interval and p are over {} {unit}; p: signed-rank test against the best of its kind, corrected for \
             all rows (Holm); ",
            self.pairs
        );
        let tests = if self.over == Over::Nothing { "" } else { &tests };
        let stacking = if self.is_generalized() {
            "known and unseen classes compete; harmonic: of the per-class accuracies on known (seen) and unseen classes, with the \
             bias of known classes that held-out known classes chose; AUSUC: area under the curve over all biases; "
        } else {
            ""
        };
        let foot = format!("\n{stacking}{tests}settings are {chosen}; {:.0} s\n", self.seconds);
        out + &wrap_lines(&foot, width)
    }

    /// The bar chart.
    pub fn drawing(&self) -> String {
        self.chart().svg(Theme::LIGHT)
    }

    pub(crate) fn chart(&self) -> Chart {
        let bar = |row: &ComparedMethod| {
            let value = row.figure()?;
            let (low, high) = match self.over {
                Over::Nothing => (value, value),
                Over::Splits | Over::Classes => row.interval?,
            };
            Some(Bar { name: row.method.clone(), value, low, high, group: row.kind.to_string() })
        };
        let bars = self.results.iter().filter_map(bar).collect();
        let title = format!("Accuracy on {} ({})", self.dataset, self.split);
        let axis = match (self.is_generalized(), self.over) {
            (false, _) => "per-class accuracy (%), with 95 % confidence intervals",
            (true, Over::Splits) => "harmonic mean of accuracies (%), with 95 % confidence intervals",
            (true, _) => "harmonic mean of the accuracies on known and unseen classes (%)",
        };
        let plot = BarPlot { axis: axis.to_owned(), chance: self.chance, bars };
        let description = "One bar per method, best first; the dashed line is guessing.";
        Chart::new("comparison", &title, description, Drawing::Bars(plot))
    }
}

impl ComparedMethod {
    /// Settings that neither the name of the row nor the head of the table says.
    pub(crate) fn settings_said(&self) -> String {
        settings_line_without(&self.settings, &SAID)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;
    use crate::comparison::tests::{comparison, entry, measured};

    fn compared() -> Comparison {
        let worse = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
        comparison(vec![
            entry("eszsl", Kind::Inductive, vec![measured("standard", &worse)]),
            entry("dap", Kind::Inductive, vec![]),
            entry("rr", Kind::Inductive, vec![measured("standard", &worse.map(|a| a + 0.1))]),
            entry("mr", Kind::Transductive, vec![measured("standard", &worse)]),
        ])
    }

    #[test]
    fn a_terminal_shows_both_kinds_apart() {
        insta::assert_snapshot!(compared().text(None), @r"
        sea (standard, 1 trial), cnn with attributes; guessing gives 12.5 %

        inductive
        method  per class %  ± error  95 % interval  per image %      p  seconds   MB  settings
        rr             55.0      8.7   34.5 to 75.5         55.0   best      1.5  300  the defaults
        eszsl          45.0      8.7   24.5 to 65.5         45.0  0.008      1.5  300  the defaults
        dap          failed        -              -            -      -        -    -  it broke

        transductive
        method  per class %  ± error  95 % interval  per image %     p  seconds   MB  settings
        mr             45.0      8.7   24.5 to 65.5         45.0  best      1.5  300  the defaults

        error, interval and p are over 8 unseen classes; p: signed-rank test against the best of its kind, corrected for all rows (Holm); settings are as given, or the defaults; 4 s
        ");
    }

    #[test]
    fn one_table_has_every_row_for_papers_and_spreadsheets() {
        let compared = compared();
        assert_eq!(compared.csv_table().rows.len(), 4);
        let mut tuned = compared.clone();
        tuned.results[0].settings =
            serde_json::from_str(r#"{"method": "rr", "rr_ridge": 0.5}"#).expect("settings");
        assert_eq!(tuned.table(None).rows[0].last().expect("a cell"), "rr-ridge 0.5");
        assert!(compared.table(None).render(Format::Latex).contains("transductive"));
        let drawn = compared.drawing();
        assert!(drawn.contains(">eszsl</text>") && !drawn.contains(">dap</text>"), "no bar for a failure");
    }
}
