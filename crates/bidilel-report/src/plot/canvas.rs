//! An SVG drawing in the making: shapes and text in the colors of a theme.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{Theme, font};
use crate::svg::escape;

/// Size of ordinary text.
pub(crate) const TEXT: f64 = 14.0;
/// Size of titles.
pub(crate) const TITLE: f64 = 15.0;

/// What a drawing is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Medium {
    /// A part of the report page: colors and fonts are those of the page.
    Page,
    /// A file of its own.
    File,
    /// A file that is turned into pixels where no font is at hand: text becomes outlines.
    Outlines,
}

/// Which end of a text lies at its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing, before its size is known.
pub(crate) struct Canvas {
    pub(crate) theme: Theme,
    medium: Medium,
    out: String,
    /// Characters that were drawn as boxes.
    pub(crate) boxes: BTreeSet<char>,
}

impl Canvas {
    pub(crate) fn new(theme: Theme, medium: Medium) -> Self {
        Self { theme, medium, out: String::new(), boxes: BTreeSet::new() }
    }

    /// The color of a series.
    pub(crate) fn series(&self, index: usize) -> &'static str {
        self.theme.series[index % self.theme.series.len()]
    }

    /// A line of text; `y` is its baseline.
    pub(crate) fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, size: f64, color: &str, text: &str) {
        if self.medium == Medium::Outlines {
            self.boxes.extend(font::without_outline(text));
            let width = font::width(text, size);
            let x = match anchor {
                Anchor::Start => x,
                Anchor::Middle => x - width / 2.0,
                Anchor::End => x - width,
            };
            let outlines = font::outlines(text, size);
            self.raw(format_args!(
                "<g transform=\"translate({x:.2},{y:.2})\" fill=\"{color}\">{outlines}</g>"
            ));
            return;
        }
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escape(text);
        self.raw(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\" fill=\"{color}\">{text}</text>"
        ));
    }

    /// A line of text in a halo, so that it is read on top of dots.
    pub(crate) fn text_on_dots(&mut self, (x, y): (f64, f64), size: f64, color: &str, text: &str) {
        const HALO: f64 = 3.0;
        let paper = self.theme.halo;
        if self.medium == Medium::Outlines {
            // All halos first: that of a letter would cover the letter before it.
            let (outlines, width) = (font::outlines(text, size), HALO / font::scale(size));
            self.raw(format_args!(
                "<g transform=\"translate({x:.2},{y:.2})\" fill=\"{paper}\" stroke=\"{paper}\" stroke-width=\"{width:.1}\" \
                 stroke-linejoin=\"round\">{outlines}</g>"
            ));
            return self.text((x, y), Anchor::Start, size, color, text);
        }
        let text = escape(text);
        self.raw(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" fill=\"{color}\" stroke=\"{paper}\" stroke-width=\"{HALO}\" \
             stroke-linejoin=\"round\" paint-order=\"stroke\">{text}</text>"
        ));
    }

    /// A line of text that runs upward from its position.
    pub(crate) fn text_upward(&mut self, (x, y): (f64, f64), size: f64, color: &str, text: &str) {
        self.raw(format_args!("<g transform=\"translate({x:.1},{y:.1}) rotate(-90)\">"));
        self.text((0.0, 0.0), Anchor::Start, size, color, text);
        self.end_group();
    }

    /// A stroked path.
    pub(crate) fn stroke(&mut self, path: &str, color: &str, width: f64, dashes: &str) {
        let dashes =
            if dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dashes}\"") };
        self.raw(format_args!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\"{dashes}/>"
        ));
    }

    /// Equal round dots, in one path: thousands of them stay small.
    pub(crate) fn dots(
        &mut self,
        points: impl Iterator<Item = (f64, f64)>,
        color: &str,
        size: f64,
        opacity: f64,
    ) {
        let mut path = String::new();
        for (x, y) in points.filter(|(x, y)| x.is_finite() && y.is_finite()) {
            // Writing to a string cannot fail.
            let _ = write!(path, "M{x:.1} {y:.1}h.01");
        }
        if !path.is_empty() {
            self.raw(format_args!(
                "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{size}\" stroke-linecap=\"round\" \
                 stroke-opacity=\"{opacity}\"/>"
            ));
        }
    }

    /// Equal crosses, in one path; `reach` is how far their arms go in either direction.
    pub(crate) fn crosses(&mut self, points: impl Iterator<Item = (f64, f64)>, color: &str, reach: f64) {
        let mut path = String::new();
        for (x, y) in points.filter(|(x, y)| x.is_finite() && y.is_finite()) {
            let (left, top, wide) = (x - reach, y - reach, 2.0 * reach);
            // Writing to a string cannot fail.
            let _ = write!(path, "M{left:.1} {top:.1}l{wide} {wide}m0 -{wide}l-{wide} {wide}");
        }
        if !path.is_empty() {
            self.stroke(&path, color, (0.5 * reach).max(1.0), "");
        }
    }

    /// A mark of a series: circle, square, triangle, diamond, then hollow circles.
    pub(crate) fn mark(&mut self, index: usize, (x, y): (f64, f64), scale: f64) {
        const FORMS: [&str; 5] = [
            "M-4 0A4 4 0 1 0 4 0A4 4 0 1 0 -4 0Z",
            "M-3.5-3.5H3.5V3.5H-3.5Z",
            "M0-4.5L4.5 3.6H-4.5Z",
            "M0-5L5 0L0 5L-5 0Z",
            "M-4 0A4 4 0 1 0 4 0A4 4 0 1 0 -4 0ZM-2 0A2 2 0 1 1 2 0A2 2 0 1 1 -2 0Z",
        ];
        let (form, color) = (FORMS[index % FORMS.len()], self.series(index));
        self.raw(format_args!(
            "<path d=\"{form}\" transform=\"translate({x:.1},{y:.1}) scale({scale})\" fill=\"{color}\"/>"
        ));
    }

    /// A filled rectangle; a reader who points at it is told `tip`.
    pub(crate) fn rect(
        &mut self,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        color: &str,
        opacity: f64,
        tip: &str,
    ) {
        let (width, height) = (width.max(0.0), height.max(0.0));
        let shape = format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{color}\" fill-opacity=\"{opacity:.3}\""
        );
        let tip = escape(tip);
        match self.medium {
            _ if tip.is_empty() => self.raw(format_args!("{shape}/>")),
            Medium::Page => self.raw(format_args!("{shape} data-tip=\"{tip}\"/>")),
            Medium::File | Medium::Outlines => self.raw(format_args!("{shape}><title>{tip}</title></rect>")),
        }
    }

    /// What is drawn from here on is moved; [`Self::end_group`] ends it.
    pub(crate) fn begin_group(&mut self, (x, y): (f64, f64)) {
        self.raw(format_args!("<g transform=\"translate({x:.1},{y:.1})\">"));
    }

    pub(crate) fn end_group(&mut self) {
        self.raw(format_args!("</g>"));
    }

    /// The whole drawing with its title and its description for those who do not see it.
    pub(crate) fn finish(self, (width, height): (f64, f64), title: &str, description: &str) -> String {
        let (title, description) = (escape(title), escape(description));
        // Whole units: twice a rounded number is not a rounded double, and edges would be half transparent.
        let (width, height) = (width.round(), height.round());
        let paper = self.theme.paper.map_or(String::new(), |paper| {
            format!("<rect width=\"{width:.0}\" height=\"{height:.0}\" fill=\"{paper}\"/>\n")
        });
        let size = match self.medium {
            Medium::Page => format!("role=\"img\" aria-label=\"{title}. {description}\""),
            // Twice the drawing's units: text of 14 is read from a slide, too.
            Medium::File | Medium::Outlines => format!(
                "width=\"{:.0}\" height=\"{:.0}\" font-family=\"Roboto,'Segoe UI','Helvetica Neue',Arial,sans-serif\" role=\"img\"",
                2.0 * width,
                2.0 * height
            ),
        };
        let words = match self.medium {
            Medium::Page => String::new(),
            Medium::File | Medium::Outlines => {
                format!("<title>{title}</title>\n<desc>{description}</desc>\n")
            }
        };
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" {size}>\n{words}{paper}{}</svg>\n",
            self.out
        )
    }

    fn raw(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "{element}");
    }
}
