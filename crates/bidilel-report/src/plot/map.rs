//! A map: landmarks, embeddings of unseen classes and test instances on a plane, at one scale on both axes.

use super::canvas::{Anchor, Canvas, TEXT, TITLE};
use super::font;

/// Side of the area of the map.
const SIDE: f64 = 560.0;
/// Up to this many unseen classes their names stand beside them.
const MAX_NAMED: usize = 60;

/// Points on a plane.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Map {
    pub(crate) landmarks: Vec<(f64, f64)>,
    /// Unseen classes with their names.
    pub(crate) embeddings: Vec<(String, (f64, f64))>,
    /// Instances that were recognized.
    pub(crate) right: Vec<(f64, f64)>,
    /// Instances that were not.
    pub(crate) wrong: Vec<(f64, f64)>,
}

impl Map {
    /// Draws it and returns the size of the drawing.
    pub(crate) fn draw(&self, canvas: &mut Canvas, title: &str) -> (f64, f64) {
        let (ink, muted) = (canvas.theme.ink, canvas.theme.muted);
        canvas.text((8.0, 22.0), Anchor::Start, TITLE, ink, title);
        let to = self.placement((14.0, 38.0));
        let (blue, orange, gray) = (canvas.series(0), canvas.series(1), muted);
        let size = if self.right.len() + self.wrong.len() > 1500 { 3.0 } else { 5.0 };
        canvas.dots(self.right.iter().map(&to), blue, size, 0.55);
        canvas.dots(self.wrong.iter().map(&to), orange, size, 0.55);
        for (x, y) in self.landmarks.iter().map(&to) {
            canvas.stroke(&format!("M{:.1} {:.1}h7v7h-7Z", x - 3.5, y - 3.5), gray, 1.4, "");
        }
        for (name, point) in &self.embeddings {
            let (x, y) = to(point);
            canvas.mark(3, (x, y), 1.5);
            if self.embeddings.len() <= MAX_NAMED {
                let name = font::shortened(name, TEXT, 130.0);
                let (at, anchor) =
                    if x > 0.8 * SIDE { (x - 9.0, Anchor::End) } else { (x + 9.0, Anchor::Start) };
                canvas.text((at, y + 5.0), anchor, TEXT, ink, &name);
            }
        }
        let y = 38.0 + SIDE + 26.0;
        canvas.dots([(16.0, y - 5.0)].into_iter(), blue, 9.0, 1.0);
        canvas.text((26.0, y), Anchor::Start, TEXT, ink, "recognized");
        canvas.dots([(118.0, y - 5.0)].into_iter(), orange, 9.0, 1.0);
        canvas.text((128.0, y), Anchor::Start, TEXT, ink, "mistaken");
        canvas.mark(3, (206.0, y - 5.0), 1.4);
        canvas.text((218.0, y), Anchor::Start, TEXT, ink, "unseen class");
        canvas.stroke(&format!("M318 {:.1}h8v8h-8Z", y - 9.0), gray, 1.4, "");
        canvas.text((334.0, y), Anchor::Start, TEXT, ink, "known class");
        canvas.text(
            (14.0, y + 20.0),
            Anchor::Start,
            TEXT,
            muted,
            "Distances on the map approximate those of the latent space; axes have no unit.",
        );
        (SIDE + 28.0, y + 34.0)
    }

    /// From the plane to pixels: everything within the square, at one scale.
    fn placement(&self, (left, top): (f64, f64)) -> impl Fn(&(f64, f64)) -> (f64, f64) + use<> {
        let all = self.landmarks.iter().chain(self.embeddings.iter().map(|(_, point)| point));
        let all = all.chain(&self.right).chain(&self.wrong).filter(|(x, y)| x.is_finite() && y.is_finite());
        let (low, high) = all.fold(
            ((f64::INFINITY, f64::INFINITY), (f64::NEG_INFINITY, f64::NEG_INFINITY)),
            |(low, high), &(x, y)| ((low.0.min(x), low.1.min(y)), (high.0.max(x), high.1.max(y))),
        );
        let (low, high) = if low.0 <= high.0 { (low, high) } else { ((0.0, 0.0), (1.0, 1.0)) };
        let scale = SIDE / (high.0 - low.0).max(high.1 - low.1).max(f64::MIN_POSITIVE);
        let middle = (f64::midpoint(low.0, high.0), f64::midpoint(low.1, high.1));
        move |&(x, y)| (left + SIDE / 2.0 + scale * (x - middle.0), top + SIDE / 2.0 - scale * (y - middle.1))
    }
}
