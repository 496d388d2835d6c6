//! Bar charts: horizontal bars with confidence intervals, colored by group, and a line where guessing ends.

use crate::plot::{BarPlot, Chart, Drawing, Theme};

/// One bar, in fractions of one.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// Its label.
    pub name: String,
    /// Its length.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// What its color stands for.
    pub group: String,
}

/// Bars from top to bottom, drawn in percent; `chance` is where guessing ends.
///
/// ```
/// use bidilel_report::{Bar, bars};
///
/// let (name, group) = ("eszsl".to_owned(), "inductive".to_owned());
/// let bar = Bar { name, value: 0.41, low: 0.35, high: 0.47, group };
/// assert!(bars("Accuracy", "per class, %", 0.1, &[bar]).contains(">eszsl</text>"));
/// ```
pub fn bars(title: &str, axis: &str, chance: f64, all: &[Bar]) -> String {
    let plot = BarPlot { axis: axis.to_owned(), chance, bars: all.to_vec() };
    Chart::new("bars", title, axis, Drawing::Bars(plot)).svg(Theme::LIGHT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(name: &str, value: f64, group: &str) -> Bar {
        let (low, high) = (value - 0.05, value + 0.05);
        Bar { name: name.to_owned(), value, low, high, group: group.to_owned() }
    }

    #[test]
    fn every_bar_has_a_label_an_interval_and_its_value() {
        let drawn = bars("a & b", "per class, %", 0.1, &[bar("<x>", 0.412, "one"), bar("y", 0.3, "two")]);
        assert!(drawn.contains(">&lt;x&gt;</text>") && drawn.contains(">41.2</text>"));
        assert!(drawn.contains("a &amp; b") && drawn.contains("guessing"));
        assert_eq!(drawn.matches("v8M").count(), 2, "an interval for each");
        assert!(drawn.contains(">one</text>") && drawn.contains(">two</text>"), "a legend");
    }

    #[test]
    fn nothing_is_drawn_without_a_number_that_is_none() {
        for drawn in
            [bars("", "", 0.0, &[]), bars("", "", f64::NAN, &[]), bars("", "", 0.1, &[bar("x", 0.0, "one")])]
        {
            assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
        }
    }
}
