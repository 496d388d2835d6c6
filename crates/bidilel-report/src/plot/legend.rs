//! The legend below a plot: layers by name, error bars, and what was chosen.

use super::canvas::{Anchor, Canvas, TEXT};
use super::font;
use super::xy::{LINE, Layer, Plot, WIDTH};

impl Plot {
    /// Draws the names of the layers that have one, and returns the baseline of the last line.
    pub(super) fn legend(&self, canvas: &mut Canvas, first: f64) -> f64 {
        let named = self.with_colors().filter(|(layer, _)| !layer.name().is_empty());
        let mut keys: Vec<(&str, Key<'_>)> =
            named.map(|(layer, color)| (layer.name(), Key::Layer(layer, color))).collect();
        let lines = || self.layers.iter().filter_map(Layer::as_line);
        if lines().any(|(errors, _)| errors.iter().any(|error| *error > 0.0)) {
            keys.push(("± standard error", Key::Error));
        }
        if lines().any(|(_, chosen)| chosen.is_some()) {
            keys.push(("chosen", Key::Chosen));
        }
        if keys.is_empty() {
            return first - LINE;
        }
        let ink = canvas.theme.ink;
        let (mut x, mut y) = (14.0, first + 2.0);
        for (name, key) in keys {
            let name = font::shortened(name, TEXT, WIDTH - 48.0);
            let wide = 36.0 + font::room(&name, TEXT);
            if x > 14.0 && x + wide > WIDTH {
                (x, y) = (14.0, y + LINE);
            }
            key.draw(canvas, (x + 2.0, y - 5.0));
            canvas.text((x + 16.0, y), Anchor::Start, TEXT, ink, &name);
            x += wide;
        }
        y
    }

    fn with_colors(&self) -> impl Iterator<Item = (&Layer, usize)> {
        self.layers.iter().scan(0, |next, layer| {
            let own = *next;
            *next += usize::from(!matches!(layer, Layer::Guide { .. }));
            Some((layer, own))
        })
    }
}

/// What a word of the legend stands for.
enum Key<'a> {
    /// A layer with its color.
    Layer(&'a Layer, usize),
    /// Error bars.
    Error,
    /// The ring around what was chosen.
    Chosen,
}

impl Key<'_> {
    fn draw(&self, canvas: &mut Canvas, (x, y): (f64, f64)) {
        let muted = canvas.theme.muted;
        match *self {
            Self::Layer(Layer::Guide { .. }, _) => {
                canvas.stroke(&format!("M{:.1} {y:.1}h18", x - 8.0), muted, 1.5, "4 3");
            }
            Self::Layer(Layer::Columns { .. }, color) => {
                canvas.rect((x - 6.0, y - 6.0), (12.0, 12.0), canvas.series(color), 1.0, "");
            }
            Self::Layer(Layer::Dots { .. }, color) => {
                canvas.dots(std::iter::once((x, y)), canvas.series(color), 8.0, 1.0);
            }
            Self::Layer(Layer::Line { marks: false, .. }, color) => {
                canvas.stroke(&format!("M{:.1} {y:.1}h18", x - 8.0), canvas.series(color), 1.8, "");
            }
            Self::Layer(Layer::Line { .. }, color) => canvas.mark(color, (x, y), 1.0),
            Self::Error => {
                let (left, top, foot) = (x - 4.0, y - 7.0, y + 7.0);
                let bar = format!(
                    "M{left:.1} {top:.1}H{0:.1}M{left:.1} {foot:.1}H{0:.1}M{x:.1} {top:.1}V{foot:.1}",
                    x + 4.0
                );
                canvas.stroke(&bar, muted, 1.2, "");
            }
            Self::Chosen => {
                let ring = format!("M{:.1} {y:.1}a6 6 0 1 0 12 0a6 6 0 1 0 -12 0Z", x - 6.0);
                canvas.stroke(&ring, canvas.series(1), 2.2, "");
            }
        }
    }
}
