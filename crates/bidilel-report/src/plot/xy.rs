//! Plots on two axes: lines with error bars, dots, columns, and dashed lines to compare with.

use super::canvas::{Anchor, Canvas, TEXT, TITLE};
use super::font;
use super::scale::{Kind, Scale};

pub(super) const WIDTH: f64 = 360.0;
/// Height of the area between the axes.
const AREA: f64 = 190.0;
const RIGHT: f64 = 12.0;
pub(super) const LINE: f64 = 19.0;
/// Room for a label of a category before it is shortened.
const MAX_LABEL: f64 = 84.0;

/// Width of a column at most: one of two names is a column, not a wall.
const MAX_COLUMN: f64 = 64.0;

/// One axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    /// What it measures, with its unit.
    pub(crate) label: String,
    pub(crate) kind: Kind,
    /// What a number on the axis counts: 0.01 for percent.
    pub(crate) unit: f64,
    /// Values that the axis has, whether something lies there or not.
    pub(crate) has: Vec<f64>,
    /// Names of the values 0, 1, 2 and so on: a tick for each instead of round ones.
    pub(crate) names: Vec<String>,
}

impl Axis {
    pub(crate) fn new(label: &str) -> Self {
        Self { label: label.to_owned(), kind: Kind::Linear, unit: 1.0, has: Vec::new(), names: Vec::new() }
    }

    pub(crate) fn percent(label: &str) -> Self {
        Self { unit: 0.01, ..Self::new(label) }
    }

    pub(crate) fn counts(label: &str) -> Self {
        Self { kind: Kind::Whole, ..Self::new(label) }
    }

    pub(crate) fn log(label: &str) -> Self {
        Self { kind: Kind::Log, ..Self::new(label) }
    }

    pub(crate) fn named(label: &str, names: Vec<String>) -> Self {
        Self { names, ..Self::new(label) }
    }

    pub(crate) fn with(mut self, values: &[f64]) -> Self {
        self.has.extend(values);
        self
    }

    /// The scale over these values. Equal shares of one have room around them, but none below 0 and above 100 percent.
    fn scale(&self, values: impl IntoIterator<Item = f64>) -> Scale {
        let mut values: Vec<f64> = values.into_iter().chain(self.has.iter().copied()).collect();
        let first = values.iter().copied().find(|value| value.is_finite());
        let alike =
            |first: f64| values.iter().all(|value| !value.is_finite() || (value - first).abs() < 1e-9);
        if let Some(first) =
            first.filter(|&first| self.unit < 1.0 && (0.0..=1.0).contains(&first) && alike(first))
        {
            values.extend([(first - 0.05).max(0.0), (first + 0.05).min(1.0)]);
        }
        Scale::over(self.kind, values, 5)
    }
}

/// Something that is drawn; colors and marks follow the order of the layers that are not guides.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Layer {
    /// A line through marks.
    Line {
        name: String,
        points: Vec<(f64, f64)>,
        /// Half the length of each point's error bar; empty without them.
        errors: Vec<f64>,
        /// Whether points have marks.
        marks: bool,
        /// The point that was chosen among all.
        chosen: Option<usize>,
    },
    /// Dots.
    Dots { name: String, points: Vec<(f64, f64)> },
    /// Columns from the axis up: from, to, height.
    Columns { name: String, columns: Vec<(f64, f64, f64)> },
    /// A dashed line.
    Guide { name: String, ends: [(f64, f64); 2] },
}

impl Layer {
    pub(crate) fn line(name: &str, points: Vec<(f64, f64)>) -> Self {
        Self::Line { name: name.to_owned(), points, errors: Vec::new(), marks: true, chosen: None }
    }

    /// Half the lengths of the error bars of a line, and its chosen point.
    pub(super) fn as_line(&self) -> Option<(&[f64], Option<usize>)> {
        match self {
            Self::Line { errors, chosen, .. } => Some((errors, *chosen)),
            Self::Dots { .. } | Self::Columns { .. } | Self::Guide { .. } => None,
        }
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Self::Line { name, .. }
            | Self::Dots { name, .. }
            | Self::Columns { name, .. }
            | Self::Guide { name, .. } => name,
        }
    }

    /// The extreme points, ends of error bars included.
    fn extremes(&self) -> Vec<(f64, f64)> {
        match self {
            Self::Line { points, errors, .. } => {
                let error = |index: usize| errors.get(index).copied().unwrap_or(0.0);
                points
                    .iter()
                    .enumerate()
                    .flat_map(|(i, &(x, y))| [(x, y - error(i)), (x, y + error(i))])
                    .collect()
            }
            Self::Dots { points, .. } => points.clone(),
            Self::Columns { columns, .. } => {
                columns.iter().flat_map(|&(from, to, height)| [(from, 0.0), (to, height)]).collect()
            }
            Self::Guide { ends, .. } => ends.to_vec(),
        }
    }
}

/// A plot.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plot {
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) layers: Vec<Layer>,
}

impl Plot {
    /// Draws it and returns its size.
    pub(crate) fn draw(&self, canvas: &mut Canvas, title: &str) -> (f64, f64) {
        let (ink, muted) = (canvas.theme.ink, canvas.theme.muted);
        let lines = font::wrapped(title, TITLE, WIDTH - 16.0);
        for (index, line) in lines.iter().enumerate() {
            canvas.text((8.0, 20.0 + LINE * index as f64), Anchor::Start, TITLE, ink, line);
        }
        let above = 20.0 + LINE * lines.len() as f64;
        let label = font::shortened(&self.y.label, TEXT, WIDTH - 16.0);
        canvas.text((8.0, above), Anchor::Start, TEXT, muted, &label);
        let top = above + 15.0;
        let bottom = top + AREA;
        let ends: Vec<(f64, f64)> = self.layers.iter().flat_map(Layer::extremes).collect();
        let y = self.y.scale(ends.iter().map(|end| end.1));
        let labels = y.clone().ticks(self.y.unit);
        let left = 14.0 + labels.iter().map(|(_, label)| font::room(label, TEXT)).fold(0.0, f64::max);
        let y = y.on(bottom, top);
        let x = self.x_scale(&ends, left);
        for (at, label) in y.ticks(self.y.unit) {
            let grid = canvas.theme.grid;
            canvas.stroke(&format!("M{left:.1} {at:.1}H{:.1}", WIDTH - RIGHT), grid, 1.0, "");
            canvas.text((left - 6.0, at + 5.0), Anchor::End, TEXT, ink, &label);
        }
        canvas.stroke(&format!("M{left:.1} {bottom:.1}H{:.1}", WIDTH - RIGHT), muted, 1.0, "");
        let below = self.x_ticks(canvas, &x, left, bottom);
        let middle = f64::midpoint(left, WIDTH - RIGHT);
        let label = font::shortened(&self.x.label, TEXT, 2.0 * (WIDTH - middle) - 8.0);
        canvas.text((middle, below + LINE), Anchor::Middle, TEXT, muted, &label);
        let mut color = 0;
        for layer in &self.layers {
            draw(canvas, layer, color, (&x, &y), bottom);
            color += usize::from(!matches!(layer, Layer::Guide { .. }));
        }
        let below = self.legend(canvas, below + 2.0 * LINE);
        (WIDTH, below + 6.0)
    }

    fn x_scale(&self, ends: &[(f64, f64)], left: f64) -> Scale {
        let (from, to) = (left, WIDTH - RIGHT);
        if self.x.names.is_empty() {
            return self.x.scale(ends.iter().map(|end| end.0)).on(from, to);
        }
        Scale::of_names(self.x.names.len()).on(from, to)
    }

    /// Draws the ticks and returns the baseline of the last line of labels.
    fn x_ticks(&self, canvas: &mut Canvas, x: &Scale, left: f64, bottom: f64) -> f64 {
        let ink = canvas.theme.ink;
        let baseline = bottom + LINE;
        if self.x.names.is_empty() {
            let ticks = x.ticks(self.x.unit);
            let last = ticks.len().saturating_sub(1);
            for (index, (at, label)) in ticks.into_iter().enumerate() {
                canvas.stroke(&format!("M{at:.1} {bottom:.1}v4"), canvas.theme.muted, 1.0, "");
                // The last label ends within the drawing.
                let wide = font::width(&label, TEXT) / 2.0;
                let at = if index == last { at.min(WIDTH - 2.0 - wide) } else { at };
                canvas.text((at, baseline), Anchor::Middle, TEXT, ink, &label);
            }
            return baseline;
        }
        let share = (WIDTH - RIGHT - left) / self.x.names.len() as f64;
        let widest =
            self.x.names.iter().map(|name| font::room(name, TEXT)).fold(0.0, f64::max).min(MAX_LABEL);
        // Labels that would touch go on two lines, or only every second, third, ... is there.
        let needed = widest + 3.0;
        let rows = if needed > share { 2 } else { 1 };
        let every = if needed <= 2.0 * share { 1 } else { count(needed / (2.0 * share)) };
        for (index, name) in self.x.names.iter().enumerate() {
            let at = x.position(index as f64);
            canvas.stroke(&format!("M{at:.1} {bottom:.1}v4"), canvas.theme.muted, 1.0, "");
            if index % every == 0 {
                let row = (index / every) % rows;
                let text = font::shortened(name, TEXT, MAX_LABEL.max(share - 6.0));
                let wide = font::width(&text, TEXT) / 2.0;
                let at = at.clamp(wide + 2.0, (WIDTH - 2.0 - wide).max(wide + 2.0));
                canvas.text((at, baseline + row as f64 * LINE), Anchor::Middle, TEXT, ink, &text);
            }
        }
        baseline + (rows - 1) as f64 * LINE
    }
}

fn draw(canvas: &mut Canvas, layer: &Layer, color: usize, (x, y): (&Scale, &Scale), bottom: f64) {
    let at = |&(a, b): &(f64, f64)| (x.position(a), y.position(b));
    match layer {
        Layer::Line { points, errors, marks, chosen, .. } => {
            let stroke = canvas.series(color);
            // A single measurement has no error, and no bar.
            let bars = points.iter().zip(errors).filter(|(point, error)| finite(point) && **error > 0.0);
            for (&(a, b), &error) in bars {
                let (at, from, to) = (x.position(a), y.position(b - error), y.position(b + error));
                canvas.stroke(
                    &format!("M{at:.1} {from:.1}V{to:.1}M{0:.1} {from:.1}h8M{0:.1} {to:.1}h8", at - 4.0),
                    stroke,
                    1.2,
                    "",
                );
            }
            let joined: Vec<String> = points
                .iter()
                .filter(|point| finite(point))
                .map(at)
                .map(|(x, y)| format!("{x:.1} {y:.1}"))
                .collect();
            if joined.len() > 1 {
                canvas.stroke(&format!("M{}", joined.join("L")), stroke, 1.8, "");
            }
            if *marks {
                points
                    .iter()
                    .filter(|point| finite(point))
                    .for_each(|point| canvas.mark(color, at(point), 0.9));
            }
            // Chosen: a ring as well as a color, which says nothing to some readers.
            if let Some(point) = chosen.and_then(|chosen| points.get(chosen)).filter(|point| finite(point)) {
                let (x, y) = at(point);
                let ring = format!("M{:.1} {y:.1}a8 8 0 1 0 16 0a8 8 0 1 0 -16 0Z", x - 8.0);
                canvas.stroke(&ring, canvas.series(1), 2.2, "");
            }
        }
        Layer::Dots { points, .. } => {
            let (stroke, opacity) = (canvas.series(color), if points.len() > 500 { 0.55 } else { 0.75 });
            canvas.dots(points.iter().filter(|point| finite(point)).map(at), stroke, 4.0, opacity);
        }
        Layer::Columns { columns, .. } => {
            for &(from, to, height) in columns {
                let (left, right, top) = (x.position(from), x.position(to), y.position(height));
                let wide = (right - left - 1.0).clamp(1.0, MAX_COLUMN);
                let (fill, left) = (canvas.series(color), f64::midpoint(left, right) - wide / 2.0);
                canvas.rect((left, top), (wide, bottom - top), fill, 1.0, &format!("{height}"));
            }
        }
        Layer::Guide { ends, .. } => {
            let ((x1, y1), (x2, y2)) = (at(&ends[0]), at(&ends[1]));
            let muted = canvas.theme.muted;
            canvas.stroke(&format!("M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}"), muted, 1.5, "4 3");
        }
    }
}

fn finite(point: &(f64, f64)) -> bool {
    point.0.is_finite() && point.1.is_finite()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the number of names")]
fn count(ratio: f64) -> usize {
    ratio.ceil().max(1.0) as usize
}
