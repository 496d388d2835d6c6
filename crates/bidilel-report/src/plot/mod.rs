//! Charts: what a result looks like, as SVG, as PNG, or as a part of the report page.
//!
//! A [`Chart`] has a name, a title and a description for readers who do not see it. It is drawn in the colors of a
//! [`Theme`], with axes that begin and end at round numbers.

#[cfg(feature = "png")]
use std::collections::BTreeSet;

mod bar_plot;
mod canvas;
mod font;
mod legend;
mod map;
mod matrix;
mod names;
#[cfg(feature = "png")]
mod png;
mod scale;
mod theme;
mod values;
mod xy;

pub(crate) use bar_plot::BarPlot;
use canvas::{Canvas, Medium};
pub(crate) use map::Map;
pub(crate) use matrix::Matrix;
pub(crate) use scale::number;
pub use theme::Theme;
pub(crate) use xy::{Axis, Layer, Plot};

/// A drawing of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Name of its file, without an ending.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What it shows, for readers who do not see it.
    pub description: String,
    pub(crate) drawing: Drawing,
}

/// The kinds of drawings.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Drawing {
    Plot(Plot),
    Bars(BarPlot),
    Matrix(Matrix),
    Map(Map),
}

impl Chart {
    pub(crate) fn new(name: &str, title: &str, description: &str, drawing: Drawing) -> Self {
        let own = |text: &str| text.to_owned();
        Self { name: own(name), title: own(title), description: own(description), drawing }
    }

    /// The chart as an SVG file.
    pub fn svg(&self, theme: Theme) -> String {
        self.drawn(theme, Medium::File)
    }

    /// The chart as a PNG file; its text is drawn as outlines, so that no font is needed.
    ///
    /// # Errors
    /// What the renderer says.
    #[cfg(feature = "png")]
    pub fn png(&self, theme: Theme) -> Result<Vec<u8>, String> {
        png::png(&self.drawn(theme, Medium::Outlines))
    }

    /// Characters that the PNG file shows as boxes, because there is no outline for them.
    #[cfg(feature = "png")]
    pub fn boxes(&self) -> BTreeSet<char> {
        let mut canvas = Canvas::new(Theme::LIGHT, Medium::Outlines);
        self.draw(&mut canvas);
        canvas.boxes
    }

    /// The chart as an element of the report page.
    pub(crate) fn inline(&self) -> String {
        self.drawn(Theme::PAGE, Medium::Page)
    }

    /// The numbers that it shows, for readers who do not see it: headers and rows; none where dots or cells are too many.
    pub(crate) fn values(&self) -> Option<([String; 3], Vec<[String; 3]>)> {
        match &self.drawing {
            Drawing::Plot(plot) => plot.values(),
            Drawing::Bars(_) | Drawing::Matrix(_) | Drawing::Map(_) => None,
        }
    }

    fn drawn(&self, theme: Theme, medium: Medium) -> String {
        let mut canvas = Canvas::new(theme, medium);
        let size = self.draw(&mut canvas);
        canvas.finish(size, &self.title, &self.description)
    }

    fn draw(&self, canvas: &mut Canvas) -> (f64, f64) {
        match &self.drawing {
            Drawing::Plot(plot) => plot.draw(canvas, &self.title),
            Drawing::Bars(bars) => bars.draw(canvas, &self.title),
            Drawing::Matrix(matrix) => matrix.draw(canvas, &self.title),
            Drawing::Map(map) => map.draw(canvas, &self.title),
        }
    }
}

/// Charts of one width in two columns of one SVG file.
pub(crate) fn panels(title: &str, all: &[Chart], theme: Theme) -> String {
    let mut canvas = Canvas::new(theme, Medium::File);
    let (mut width, mut top, mut row) = (0.0_f64, 0.0, 0.0_f64);
    for (index, chart) in all.iter().enumerate() {
        if index % 2 == 0 {
            (top, row) = (top + row, 0.0);
        }
        let left = if index % 2 == 0 { 0.0 } else { width };
        canvas.begin_group((left, top));
        let (own, high) = chart.draw(&mut canvas);
        canvas.end_group();
        (width, row) = (own, row.max(high));
    }
    if all.is_empty() {
        let muted = theme.muted;
        canvas.text((12.0, 28.0), canvas::Anchor::Start, canvas::TEXT, muted, "There is nothing to compare.");
        return canvas.finish((240.0, 48.0), title, "");
    }
    let columns = all.len().min(2) as f64;
    let description = all.iter().map(|chart| chart.description.as_str()).collect::<Vec<_>>().join(" ");
    canvas.finish((columns * width, top + row), title, &description)
}

#[cfg(test)]
mod tests;
