//! Log-log plots of cost against size: series on two logarithmic axes, where $y = c x^p$ is a straight line of slope $p$.

use std::fmt::Write;

use crate::svg::{escape, frame};

/// A named line.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What the legend says.
    pub name: String,
    /// Coordinates, from left to right; those that are not positive have no logarithm and are left out.
    pub points: Vec<(f64, f64)>,
}

/// One panel of series with a legend.
#[derive(Debug, Clone, PartialEq)]
pub struct Growth {
    /// What is drawn, with its unit.
    pub title: String,
    /// What grows.
    pub axis: String,
    /// The lines; colors and marks repeat after five.
    pub series: Vec<Series>,
    /// A dashed line of this slope, with its name, through the last point of the last series.
    pub guide: Option<(f64, String)>,
}

const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 320.0;
/// Room for the axes and their labels: left, right, top, bottom.
const MARGIN: (f64, f64, f64, f64) = (58.0, 18.0, 32.0, 44.0);
/// Colors that differ for readers who see few of them (M. Okabe and K. Ito, 2008); marks differ as well.
const COLORS: [&str; 5] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#222222"];

/// All panels in two columns; the title is for screen readers.
///
/// ```
/// use bidilel_report::{Growth, Series, growth};
///
/// let fit = Series { name: "fit".to_owned(), points: vec![(1_000.0, 0.2), (10_000.0, 19.0)] };
/// let (title, axis) = ("seconds".to_owned(), "instances".to_owned());
/// let panel = Growth { title, axis, series: vec![fit], guide: Some((2.0, "n²".to_owned())) };
/// assert!(growth("Cost of a fit", &[panel]).contains("seconds"));
/// ```
pub fn growth(title: &str, all: &[Growth]) -> String {
    frame(title, (WIDTH, HEIGHT), all, panel)
}

/// A logarithmic axis, mapped to a pixel range of the panel.
struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    /// An axis over values above zero, with `room` of a power of ten at either end, mapped to a pixel range.
    fn over(values: impl Iterator<Item = f64>, room: f64, (from, to): (f64, f64)) -> Self {
        let values: Vec<f64> = values.filter(|value| drawable(*value)).map(f64::log10).collect();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // Without a value there is nothing to show, but still an axis.
        let (low, high) = if values.is_empty() { (0.0, 1.0) } else { (low - room, high + room) };
        Self { low, high, from, to }
    }

    fn position(&self, value: f64) -> f64 {
        self.from + (self.to - self.from) * (value.log10() - self.low) / (self.high - self.low)
    }

    /// Positions of 1, 2 and 5 times the powers of ten on the axis, with a label for the powers themselves.
    fn ticks(&self) -> Vec<(f64, Option<String>)> {
        #[expect(clippy::cast_possible_truncation, reason = "powers of ten of a float are few")]
        let powers = self.low.floor() as i32..=self.high.ceil() as i32;
        powers
            .flat_map(|power| [1.0, 2.0, 5.0].map(|digit| (digit, power)))
            .map(|(digit, power)| (digit * 10_f64.powi(power), (digit < 2.0).then(|| label(power))))
            .filter(|(value, _)| (self.low..=self.high).contains(&value.log10()))
            .map(|(value, label)| (self.position(value), label))
            .collect()
    }
}

fn drawable(value: f64) -> bool {
    value > 0.0 && value.is_finite()
}

/// A power of ten, with a comma between thousands.
fn label(power: i32) -> String {
    if power < 0 {
        return format!("{:.*}", power.unsigned_abs() as usize, 10_f64.powi(power));
    }
    let zeros = "000,".repeat(power.unsigned_abs() as usize / 3);
    let head = ["1", "10", "100"][power.unsigned_abs() as usize % 3];
    let comma = if zeros.is_empty() { "" } else { "," };
    format!("{head}{comma}{}", zeros.trim_end_matches(','))
}

fn panel(out: &mut String, growth: &Growth) {
    let (left, right, top, bottom) = MARGIN;
    let points = || growth.series.iter().flat_map(|series| series.points.iter().copied());
    let x = Axis::over(points().map(|point| point.0), 0.06, (left, WIDTH - right));
    let y = Axis::over(points().map(|point| point.1), 0.15, (HEIGHT - bottom, top));
    axes(out, growth, &x, &y);
    if let Some((slope, name)) = &growth.guide {
        guide(out, growth, (&x, &y), *slope, name);
    }
    for (index, series) in growth.series.iter().enumerate() {
        line(out, index, series, &x, &y);
    }
    if growth.series.len() > 1 {
        legend(out, &growth.series);
    }
}

fn axes(out: &mut String, growth: &Growth, x: &Axis, y: &Axis) {
    let text = |out: &mut String, x: f64, y: f64, anchor: &str, size: u32, text: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\">{}</text>",
            escape(text)
        );
    };
    let middle = f64::midpoint(x.from, x.to);
    text(out, middle, 20.0, "middle", 13, &growth.title);
    text(out, middle, HEIGHT - 8.0, "middle", 12, &growth.axis);
    for (at, name) in x.ticks() {
        let color = if name.is_some() { "#bbb" } else { "#eee" };
        let _ = writeln!(out, "<path d=\"M{at:.1} {:.1}V{:.1}\" stroke=\"{color}\"/>", y.from, y.to);
        name.iter().for_each(|name| text(out, at, y.from + 16.0, "middle", 11, name));
    }
    for (at, name) in y.ticks() {
        let color = if name.is_some() { "#bbb" } else { "#eee" };
        let _ = writeln!(out, "<path d=\"M{:.1} {at:.1}H{:.1}\" stroke=\"{color}\"/>", x.from, x.to);
        name.iter().for_each(|name| text(out, x.from - 6.0, at + 4.0, "end", 11, name));
    }
}

/// The dashed line, from the end of the last series down to the lower or left edge.
fn guide(out: &mut String, growth: &Growth, (x, y): (&Axis, &Axis), slope: f64, name: &str) {
    let ends = growth.series.last().and_then(|series| series.points.last());
    let Some(&(size, cost)) = ends.filter(|end| drawable(end.0) && drawable(end.1)) else {
        return;
    };
    let lowest = (x.low - size.log10()).max((y.low - cost.log10()) / slope);
    let (from, to) = (10_f64.powf(size.log10() + lowest), 10_f64.powf(cost.log10() + slope * lowest));
    let ((left, bottom), (right, top)) =
        ((x.position(from), y.position(to)), (x.position(size), y.position(cost)));
    // A third of the way up, below the line, where curves that end above it leave room.
    let (at, under) = (left + 0.35 * (right - left) + 10.0, bottom + 0.35 * (top - bottom) + 12.0);
    let _ = writeln!(
        out,
        "<path d=\"M{left:.1} {bottom:.1}L{right:.1} {top:.1}\" stroke=\"#888\" stroke-dasharray=\"5 4\"/>\
         <text x=\"{at:.1}\" y=\"{under:.1}\" fill=\"#666\">{}</text>",
        escape(name)
    );
}

fn line(out: &mut String, index: usize, series: &Series, x: &Axis, y: &Axis) {
    let drawn: Vec<(f64, f64)> = series
        .points
        .iter()
        .filter(|point| drawable(point.0) && drawable(point.1))
        .map(|&(size, cost)| (x.position(size), y.position(cost)))
        .collect();
    let joined: Vec<String> = drawn.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let color = COLORS[index % COLORS.len()];
    let _ = writeln!(
        out,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.6\"/>",
        joined.join(" ")
    );
    drawn.iter().for_each(|&at| mark(out, index, at));
}

/// The marker of a series.
fn mark(out: &mut String, index: usize, (x, y): (f64, f64)) {
    let form =
        ["M-4 0A4 4 0 1 0 4 0A4 4 0 1 0 -4 0Z", "M-4 -4H4V4H-4Z", "M0 -5L5 4H-5Z", "M0 -5L5 0L0 5L-5 0Z"];
    // The fifth is a circle again, but hollow.
    let fill = if index % COLORS.len() < form.len() { COLORS[index % COLORS.len()] } else { "white" };
    let _ = writeln!(
        out,
        "<path d=\"{}\" transform=\"translate({x:.1},{y:.1})\" fill=\"{fill}\" stroke=\"{}\"/>",
        form[index % COLORS.len() % form.len()],
        COLORS[index % COLORS.len()]
    );
}

/// Names in the upper left corner, which rising curves leave free.
fn legend(out: &mut String, series: &[Series]) {
    let (left, _, top, _) = MARGIN;
    let widest = series.iter().map(|one| one.name.chars().count()).max().unwrap_or(0);
    let (width, height) = (36.0 + 6.2 * widest as f64, 8.0 + 16.0 * series.len() as f64);
    let _ = writeln!(
        out,
        "<rect x=\"{}\" y=\"{}\" width=\"{width:.1}\" height=\"{height}\" fill=\"white\" stroke=\"#bbb\"/>",
        left + 8.0,
        top + 8.0
    );
    for (index, one) in series.iter().enumerate() {
        let y = top + 20.0 + 16.0 * index as f64;
        mark(out, index, (left + 22.0, y));
        let _ = writeln!(out, "<text x=\"{}\" y=\"{}\">{}</text>", left + 34.0, y + 4.0, escape(&one.name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel_of(points: &[&[(f64, f64)]]) -> Growth {
        let series = points
            .iter()
            .enumerate()
            .map(|(index, points)| Series { name: format!("<{index}>"), points: points.to_vec() })
            .collect();
        let (title, axis) = ("seconds & more".to_owned(), "rows".to_owned());
        Growth { title, axis, series, guide: Some((2.0, "n²".to_owned())) }
    }

    #[test]
    fn powers_are_straight_lines() {
        let axis = Axis::over([1.0, 1000.0].into_iter(), 0.0, (0.0, 300.0));
        let positions = [1.0, 10.0, 100.0, 1000.0].map(|value| axis.position(value));
        assert!(
            positions.iter().zip([0.0, 100.0, 200.0, 300.0]).all(|(found, at)| (found - at).abs() < 1e-9)
        );
        assert_eq!(
            axis.ticks().iter().filter_map(|tick| tick.1.clone()).collect::<Vec<_>>().join(" "),
            "1 10 100 1,000"
        );
    }

    #[test]
    fn labels_are_plain_numbers() {
        assert_eq!(
            [-3, -1, 0, 2, 3, 5, 6].map(label),
            ["0.001", "0.1", "1", "100", "1,000", "100,000", "1,000,000"]
        );
    }

    #[test]
    fn every_point_and_every_name_has_a_mark_and_what_has_no_logarithm_has_none() {
        let drawn =
            growth("a title", &[panel_of(&[&[(1.0, 2.0), (10.0, 0.0)], &[(1.0, 3.0), (10.0, 300.0)]])]);
        assert_eq!(drawn.matches("translate(").count(), 1 + 3 + 2);
        assert!(drawn.contains("&lt;1&gt;") && drawn.contains("seconds &amp; more") && drawn.contains("n²"));
        assert!(drawn.contains("stroke-dasharray"));
    }

    #[test]
    fn nothing_and_a_single_point_are_drawn_without_a_number_that_is_none() {
        for panel in
            [panel_of(&[]), panel_of(&[&[]]), panel_of(&[&[(5.0, 5.0)]]), panel_of(&[&[(0.0, f64::NAN)]])]
        {
            let drawn = growth("", &[panel]);
            assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
        }
    }
}
