//! SVG drawings: panels in a grid, curves with error bars.

use std::fmt::Write;

/// Accuracy, or another fraction of one, against a setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// What is varied.
    pub title: String,
    /// Value, mean and standard error, in order; fractions of one, drawn in percent.
    pub points: Vec<(String, f64, f64)>,
    /// Index of the chosen value.
    pub chosen: Option<usize>,
}

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 240.0;
/// Room for the axis and its labels: left, right, top, bottom.
const MARGIN: (f64, f64, f64, f64) = (46.0, 14.0, 30.0, 40.0);
const COLUMNS: usize = 2;

/// All curves in two columns; the title is for screen readers.
///
/// ```
/// use bidilel_report::{Curve, curves};
///
/// let points = vec![("0.1".to_owned(), 0.41, 0.02), ("1".to_owned(), 0.46, 0.01)];
/// let alpha = Curve { title: "alpha".to_owned(), points, chosen: Some(1) };
/// let svg = curves("Accuracy against each setting", &[alpha]);
/// assert!(svg.starts_with("<svg ") && svg.contains(">alpha</text>"));
/// ```
pub fn curves(title: &str, all: &[Curve]) -> String {
    frame(title, (WIDTH, HEIGHT), all, panel)
}

/// Panels of one size in two columns, on white, which stays readable on a dark page.
pub(crate) fn frame<T>(
    title: &str,
    (wide, high): (f64, f64),
    all: &[T],
    panel: impl Fn(&mut String, &T),
) -> String {
    let rows = all.len().div_ceil(COLUMNS).max(1);
    let (width, height) = (wide * all.len().clamp(1, COLUMNS) as f64, high * rows as f64);
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"11\" role=\"img\">\n<title>{}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        escape(title)
    );
    for (index, one) in all.iter().enumerate() {
        let (x, y) = ((index % COLUMNS) as f64 * wide, (index / COLUMNS) as f64 * high);
        let _ = writeln!(out, "<g transform=\"translate({x},{y})\">");
        panel(&mut out, one);
        out.push_str("</g>\n");
    }
    out + "</svg>\n"
}

fn panel(out: &mut String, curve: &Curve) {
    let (left, right, top, bottom) = MARGIN;
    let (low, high) = range(curve);
    let y = |value: f64| top + (HEIGHT - top - bottom) * (high - value) / (high - low);
    let step = (WIDTH - left - right) / curve.points.len().max(1) as f64;
    let x = |index: usize| left + step * (index as f64 + 0.5);
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"18\" text-anchor=\"middle\" font-size=\"13\">{}</text>",
        WIDTH / 2.0,
        escape(&curve.title)
    );
    for tick in 0..=4 {
        let value = low + (high - low) * f64::from(tick) / 4.0;
        let _ = writeln!(
            out,
            "<path d=\"M{left} {0:.1}H{1}\" stroke=\"#ddd\"/><text x=\"{2}\" y=\"{3:.1}\" text-anchor=\"end\">{4:.1}</text>",
            y(value),
            WIDTH - right,
            left - 6.0,
            y(value) + 4.0,
            100.0 * value
        );
    }
    let line: Vec<String> =
        curve.points.iter().enumerate().map(|(i, point)| format!("{:.1},{:.1}", x(i), y(point.1))).collect();
    let _ = writeln!(
        out,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#246\" stroke-width=\"1.5\"/>",
        line.join(" ")
    );
    for (index, (label, mean, error)) in curve.points.iter().enumerate() {
        let (at, from, to) = (x(index), y(mean - error), y(mean + error));
        // The chosen value is larger as well as darker: color alone says nothing to some readers.
        let (radius, fill) = if curve.chosen == Some(index) { (5.0, "#c30") } else { (3.0, "#246") };
        let _ = writeln!(
            out,
            "<path d=\"M{at:.1} {from:.1}V{to:.1}M{0:.1} {from:.1}h6M{0:.1} {to:.1}h6\" stroke=\"#246\" fill=\"none\"/>\
             <circle cx=\"{at:.1}\" cy=\"{1:.1}\" r=\"{radius}\" fill=\"{fill}\"/>\
             <text x=\"{at:.1}\" y=\"{2}\" text-anchor=\"middle\">{3}</text>",
            at - 3.0,
            y(*mean),
            HEIGHT - bottom + 16.0,
            escape(label)
        );
    }
}

/// The accuracies to show: all error bars, and never an empty range.
fn range(curve: &Curve) -> (f64, f64) {
    let low = curve.points.iter().map(|point| point.1 - point.2).fold(f64::INFINITY, f64::min);
    let high = curve.points.iter().map(|point| point.1 + point.2).fold(f64::NEG_INFINITY, f64::max);
    if !(low.is_finite() && high.is_finite()) {
        return (0.0, 1.0);
    }
    let room = (0.08 * (high - low)).max(0.005);
    (low - room, high + room)
}

/// Text escaped for XML and HTML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_has_a_mark_a_label_and_a_bar_inside_its_panel() {
        let points = vec![("0.1".to_owned(), 0.4, 0.01), ("<10>".to_owned(), 0.5, 0.02)];
        let drawn = curves("a title", &[Curve { title: "alpha & co".to_owned(), points, chosen: Some(1) }]);
        assert_eq!(drawn.matches("<circle").count(), 2);
        assert!(
            drawn.contains("alpha &amp; co") && drawn.contains("&lt;10&gt;") && drawn.contains("r=\"5\"")
        );
        assert_eq!(drawn.matches("<g ").count(), drawn.matches("</g>").count());
    }

    #[test]
    fn nothing_and_a_single_point_are_drawn_without_a_number_that_is_none() {
        let single =
            Curve { title: "dim".to_owned(), points: vec![("5".to_owned(), 0.3, 0.0)], chosen: None };
        for drawn in [
            curves("", &[]),
            curves("", &[single]),
            curves("", &[Curve { title: String::new(), points: Vec::new(), chosen: None }]),
        ] {
            assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
        }
    }
}
