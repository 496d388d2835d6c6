//! Bar charts: horizontal bars with confidence intervals, colored by group, and a line where guessing ends.

use std::fmt::Write;

use crate::svg::escape;

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

/// Room for the axis: right, top, bottom. What is needed on the left depends on the labels.
const MARGIN: (f64, f64, f64) = (64.0, 56.0, 48.0);
const BAR_HEIGHT: f64 = 22.0;
const PLOT_WIDTH: f64 = 480.0;
/// The mean width of a character at the size of labels.
const CHARACTER: f64 = 6.8;
/// Colors that differ for readers who see few of them (M. Okabe and K. Ito, 2008).
const COLORS: [&str; 4] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"];

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
    let (right, top, bottom) = MARGIN;
    let chance = if chance.is_finite() { chance } else { 0.0 };
    let longest = all.iter().map(|bar| bar.name.chars().count()).max().unwrap_or(0);
    let left = 24.0 + CHARACTER * longest as f64;
    let (width, height) = (left + PLOT_WIDTH + right, top + BAR_HEIGHT * all.len().max(1) as f64 + bottom);
    let step = tick_step(all);
    let most = all.iter().map(|bar| bar.high).filter(|value| value.is_finite()).fold(chance, f64::max);
    let end = step * (most / step).ceil().max(1.0);
    let x = |value: f64| left + PLOT_WIDTH * value.clamp(0.0, end) / end;
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n\
         <title>{0}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{left:.1}\" y=\"20\" font-size=\"14\" font-weight=\"bold\">{0}</text>\n",
        escape(title)
    );
    let foot = height - bottom;
    for tick in 0..=count_of(end / step) {
        let value = step * tick as f64;
        let _ = writeln!(
            out,
            "<path d=\"M{0:.1} {top}V{foot:.1}\" stroke=\"#ddd\"/><text x=\"{0:.1}\" y=\"{1:.1}\" text-anchor=\"middle\">{2:.0}</text>",
            x(value),
            foot + 16.0,
            100.0 * value
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
        left + PLOT_WIDTH / 2.0,
        foot + 36.0,
        escape(axis)
    );
    let mut groups: Vec<&str> = Vec::new();
    for (index, bar) in all.iter().enumerate() {
        let group = groups.iter().position(|&group| group == bar.group).unwrap_or_else(|| {
            groups.push(&bar.group);
            groups.len() - 1
        });
        let middle = top + BAR_HEIGHT * (index as f64 + 0.5);
        draw(
            &mut out,
            bar,
            COLORS[group % COLORS.len()],
            middle,
            (left, x(bar.value), x(bar.low), x(bar.high)),
        );
    }
    legend(&mut out, left, &groups);
    let _ = writeln!(
        out,
        "<path d=\"M{0:.1} {1:.1}V{foot:.1}\" stroke=\"#222\" stroke-dasharray=\"4 3\"/>\
         <text x=\"{0:.1}\" y=\"{2:.1}\" text-anchor=\"middle\" font-size=\"11\">guessing</text>",
        x(chance),
        top - 2.0,
        top - 6.0
    );
    out + "</svg>\n"
}

fn draw(out: &mut String, bar: &Bar, color: &str, middle: f64, (left, end, low, high): (f64, f64, f64, f64)) {
    let half = 0.36 * BAR_HEIGHT;
    let (baseline, label, upper, value) = (middle + 4.0, left - 8.0, middle - 4.0, high.max(end) + 6.0);
    let _ = writeln!(
        out,
        "<text x=\"{label:.1}\" y=\"{baseline:.1}\" text-anchor=\"end\">{}</text>\
         <rect x=\"{left:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{color}\"/>\
         <path d=\"M{low:.1} {middle:.1}H{high:.1}M{low:.1} {upper:.1}v8M{high:.1} {upper:.1}v8\" stroke=\"#222\" fill=\"none\"/>\
         <text x=\"{value:.1}\" y=\"{baseline:.1}\">{:.1}</text>",
        escape(&bar.name),
        middle - half,
        (end - left).max(0.0),
        2.0 * half,
        100.0 * bar.value
    );
}

/// What the colors stand for, where there are several.
fn legend(out: &mut String, left: f64, groups: &[&str]) {
    if groups.len() < 2 {
        return;
    }
    let mut at = left;
    for (index, group) in groups.iter().enumerate() {
        let _ = writeln!(
            out,
            "<rect x=\"{at:.1}\" y=\"28\" width=\"12\" height=\"12\" fill=\"{}\"/><text x=\"{:.1}\" y=\"38\">{}</text>",
            COLORS[index % COLORS.len()],
            at + 18.0,
            escape(group)
        );
        at += 40.0 + CHARACTER * group.chars().count() as f64;
    }
}

/// Round ticks: about five of them.
fn tick_step(all: &[Bar]) -> f64 {
    let most = all.iter().map(|bar| bar.high).filter(|value| value.is_finite()).fold(0.0, f64::max);
    [0.01, 0.02, 0.05, 0.1, 0.2].into_iter().find(|step| most / step <= 8.0).unwrap_or(0.2)
}

fn count_of(ratio: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a hundred ticks")]
    let count = ratio.round() as usize;
    count
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
        assert_eq!(drawn.matches("stroke=\"#222\" fill=\"none\"").count(), 2);
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
