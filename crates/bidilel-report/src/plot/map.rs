//! A map: landmarks, embeddings of unseen classes and test instances on a plane, at one scale on both axes.

use super::canvas::{Anchor, Canvas, TEXT, TITLE};
use super::names::{Mark, Names};

/// Side of the area of the map.
const SIDE: f64 = 560.0;
/// Where the area begins, below the title.
const TOP: f64 = 38.0;
/// Unseen classes from which on their marks are smaller.
const MANY: usize = 30;

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
        let to = self.placement();
        let known: Vec<(f64, f64)> = self.landmarks.iter().map(&to).collect();
        let (marks, names) = self.names(&known);
        canvas.text((8.0, 22.0), Anchor::Start, TITLE, ink, title);
        let left = 14.0 + names.left;
        canvas.begin_group((left, TOP));
        let (blue, orange, gray) = (canvas.series(0), canvas.series(1), muted);
        let size = if self.right.len() + self.wrong.len() > 1500 { 3.0 } else { 6.0 };
        canvas.dots(self.right.iter().map(&to), blue, size, 0.7);
        canvas.crosses(self.wrong.iter().map(&to), orange, size / 2.0);
        for (x, y) in known {
            canvas.stroke(&format!("M{:.1} {:.1}h7v7h-7Z", x - 3.5, y - 3.5), gray, 1.4, "");
        }
        names.draw_lines(canvas);
        // Where classes are many, their marks would cover each other.
        let scale = if marks.len() > MANY { 1.1 } else { 1.5 };
        marks.iter().for_each(|&(_, place)| canvas.mark(3, place, scale));
        names.draw(canvas);
        canvas.end_group();
        let y = TOP + SIDE + 26.0;
        canvas.dots([(left + 2.0, y - 5.0)].into_iter(), blue, 9.0, 1.0);
        canvas.text((left + 12.0, y), Anchor::Start, TEXT, ink, "recognized");
        canvas.crosses([(left + 104.0, y - 5.0)].into_iter(), orange, 4.0);
        canvas.text((left + 114.0, y), Anchor::Start, TEXT, ink, "mistaken");
        canvas.mark(3, (left + 192.0, y - 5.0), 1.4);
        canvas.text((left + 204.0, y), Anchor::Start, TEXT, ink, "unseen class");
        canvas.stroke(&format!("M{:.1} {:.1}h8v8h-8Z", left + 304.0, y - 9.0), gray, 1.4, "");
        canvas.text((left + 320.0, y), Anchor::Start, TEXT, ink, "known class");
        let mut remark = |line: f64, text: &str| {
            canvas.text((left, y + 20.0 * line), Anchor::Start, TEXT, muted, text);
        };
        remark(1.0, "Distances on the map approximate those of the latent space; axes have no unit.");
        let wide = left + SIDE + names.right + 14.0;
        if names.left_out == 0 {
            return (wide, y + 34.0);
        }
        let of = format!("{} of {} names are left out, for want of room.", names.left_out, marks.len());
        remark(2.0, &of);
        (wide, y + 54.0)
    }

    /// Unseen classes with their places in pixels, and the places of their names.
    fn names(&self, known: &[(f64, f64)]) -> (Vec<Mark<'_>>, Names) {
        let to = self.placement();
        let marks: Vec<Mark<'_>> =
            self.embeddings.iter().map(|(name, point)| (&name[..], to(point))).collect();
        let names = Names::of(&marks, known, SIDE);
        (marks, names)
    }

    /// Where names stand in the margins: 0 on the left, 1 on the right, and a share of the height; empty where they stand
    /// beside their marks.
    pub(crate) fn margins(&self) -> Vec<(u8, f64)> {
        let known: Vec<(f64, f64)> = self.landmarks.iter().map(self.placement()).collect();
        self.names(&known).1.margins(SIDE)
    }

    /// From the plane to pixels: everything within the square, at one scale.
    fn placement(&self) -> impl Fn(&(f64, f64)) -> (f64, f64) + use<> {
        let all = self.landmarks.iter().chain(self.embeddings.iter().map(|(_, point)| point));
        let all = all.chain(&self.right).chain(&self.wrong).filter(|(x, y)| x.is_finite() && y.is_finite());
        let (low, high) = all.fold(
            ((f64::INFINITY, f64::INFINITY), (f64::NEG_INFINITY, f64::NEG_INFINITY)),
            |(low, high), &(x, y)| ((low.0.min(x), low.1.min(y)), (high.0.max(x), high.1.max(y))),
        );
        let (low, high) = if low.0 <= high.0 { (low, high) } else { ((0.0, 0.0), (1.0, 1.0)) };
        let scale = SIDE / (high.0 - low.0).max(high.1 - low.1).max(f64::MIN_POSITIVE);
        let middle = (f64::midpoint(low.0, high.0), f64::midpoint(low.1, high.1));
        move |&(x, y)| (SIDE / 2.0 + scale * (x - middle.0), SIDE / 2.0 - scale * (y - middle.1))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Theme;
    use super::super::canvas::Medium;
    use super::*;

    fn drawn(embeddings: Vec<(String, (f64, f64))>) -> String {
        let corners = vec![(0.0, 0.0), (1.0, 1.0)];
        let map = Map { landmarks: corners, embeddings, right: Vec::new(), wrong: vec![(0.5, 0.4)] };
        let mut canvas = Canvas::new(Theme::LIGHT, Medium::File);
        let size = map.draw(&mut canvas, "title");
        canvas.finish(size, "title", "")
    }

    #[test]
    fn every_name_is_there_as_long_as_the_margins_have_room_and_the_others_are_counted() {
        let class = |index: usize, at: (f64, f64)| (format!("class {index}"), at);
        let apart = drawn((0..9).map(|index| class(index, (0.5, 0.1 * index as f64 + 0.1))).collect());
        let heap = |count: usize| drawn((0..count).map(|index| class(index, (0.5, 0.5))).collect());
        for (all, count) in [(apart, 9), (heap(9), 9), (heap(50), 50)] {
            assert!((0..count).all(|index| all.contains(&format!(">class {index}<"))), "{all}");
            assert!(!all.contains("left out"));
        }
        let far = drawn((0..9).map(|index| class(index, (f64::NAN, f64::MAX))).collect());
        assert!(far.contains("names are left out"), "nowhere on the map");
        let many = heap(80);
        let named = many.matches(">class ").count();
        assert!((1..20).contains(&named), "only those around the heap: {named}");
        assert!(many.contains(&format!("{} of 80 names are left out, for want of room.", 80 - named)));
    }
}
