//! SVG drawings: panels in a grid, curves with error bars.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::plot::{Axis, Chart, Drawing, Layer, Plot, Theme, panels};
use crate::visible_lines;

/// Accuracy, or another fraction of one, against a setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// What is varied; `setting` in JSON.
    #[serde(rename = "setting")]
    pub title: String,
    /// Value, mean and standard error, in order; fractions of one, drawn in percent.
    pub points: Vec<(String, f64, f64)>,
    /// Index of the chosen value.
    pub chosen: Option<usize>,
}

const COLUMNS: usize = 2;

/// All curves in two columns on one scale, with round ticks; the title is for screen readers.
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
    panels(title, &charts(all), Theme::LIGHT)
}

/// A chart per curve, on one scale.
pub(crate) fn charts(all: &[Curve]) -> Vec<Chart> {
    let ends = || {
        all.iter().flat_map(|curve| &curve.points).flat_map(|point| [point.1 - point.2, point.1 + point.2])
    };
    let range = [ends().fold(f64::INFINITY, f64::min), ends().fold(f64::NEG_INFINITY, f64::max)];
    all.iter().map(|curve| curve.chart(&range)).collect()
}

impl Curve {
    fn chart(&self, range: &[f64]) -> Chart {
        let line = Layer::Line {
            name: String::new(),
            points: self.points.iter().enumerate().map(|(index, point)| (index as f64, point.1)).collect(),
            errors: self.points.iter().map(|point| point.2).collect(),
            marks: true,
            chosen: self.chosen,
        };
        // 100.0 is a number of a setting, 100 one of an axis.
        let short = |text: &String| text.strip_suffix(".0").unwrap_or(text).to_owned();
        let names = self.points.iter().map(|point| short(&point.0)).collect();
        let plot = Plot {
            x: Axis::named(&self.title, names),
            y: Axis::percent("accuracy on held-out known classes (%)").with(range),
            layers: vec![line],
        };
        let chosen = self.chosen.and_then(|chosen| self.points.get(chosen));
        let chosen = chosen
            .map_or(String::new(), |point| format!(" The ring is the chosen value, {}.", short(&point.0)));
        let description = format!("Mean accuracy against {} with standard errors.{chosen}", self.title);
        let (name, title) =
            (format!("tuning-{}", file_name(&self.title)), format!("Accuracy against {}", self.title));
        Chart::new(&name, &title, &description, Drawing::Plot(plot))
    }
}

/// A name that is one on every system.
pub(crate) fn file_name(text: &str) -> String {
    text.chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '-' })
        .collect()
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

/// Text escaped for XML and HTML; characters that XML does not allow are written out.
pub(crate) fn escape(text: &str) -> String {
    let text = visible_lines(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}");
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_has_a_mark_a_label_and_a_bar_inside_its_panel() {
        let points = vec![("0.1".to_owned(), 0.4, 0.01), ("<10>".to_owned(), 0.5, 0.02)];
        let drawn = curves("a title", &[Curve { title: "alpha & co".to_owned(), points, chosen: Some(1) }]);
        assert!(drawn.contains("alpha &amp; co") && drawn.contains("&lt;10&gt;"));
        assert_eq!(drawn.matches("h8M").count(), 2, "an error bar for each");
        assert_eq!(drawn.matches("a8 8").count(), 2, "a ring of two arcs for the chosen one");
        assert_eq!(drawn.matches("<g ").count(), drawn.matches("</g>").count());
    }

    #[test]
    fn curves_have_one_scale_with_round_ticks() {
        let curve = |title: &str, mean: f64| Curve {
            title: title.to_owned(),
            points: vec![("1".to_owned(), mean, 0.01)],
            chosen: None,
        };
        let drawn = curves("", &[curve("one", 0.413), curve("other", 0.478)]);
        for tick in ["40", "42", "44", "46", "48", "50"] {
            let label = format!(">{tick}</text>");
            assert_eq!(drawn.matches(&label).count(), 2, "{tick} on both panels");
        }
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
