//! A map: landmarks, embeddings of unseen classes and test instances on a plane, at one scale on both axes.

use super::canvas::{Anchor, Canvas, TEXT, TITLE};
use super::font;

/// Side of the area of the map.
const SIDE: f64 = 560.0;
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
        let size = if self.right.len() + self.wrong.len() > 1500 { 3.0 } else { 6.0 };
        canvas.dots(self.right.iter().map(&to), blue, size, 0.7);
        canvas.crosses(self.wrong.iter().map(&to), orange, size / 2.0);
        for (x, y) in self.landmarks.iter().map(&to) {
            canvas.stroke(&format!("M{:.1} {:.1}h7v7h-7Z", x - 3.5, y - 3.5), gray, 1.4, "");
        }
        let places: Vec<(f64, f64)> = self.embeddings.iter().map(|(_, point)| to(point)).collect();
        places.iter().for_each(|&place| canvas.mark(3, place, 1.5));
        let left_out = self.draw_names(canvas, &places, (14.0, 38.0));
        let y = 38.0 + SIDE + 26.0;
        canvas.dots([(16.0, y - 5.0)].into_iter(), blue, 9.0, 1.0);
        canvas.text((26.0, y), Anchor::Start, TEXT, ink, "recognized");
        canvas.crosses([(118.0, y - 5.0)].into_iter(), orange, 4.0);
        canvas.text((128.0, y), Anchor::Start, TEXT, ink, "mistaken");
        canvas.mark(3, (206.0, y - 5.0), 1.4);
        canvas.text((218.0, y), Anchor::Start, TEXT, ink, "unseen class");
        canvas.stroke(&format!("M318 {:.1}h8v8h-8Z", y - 9.0), gray, 1.4, "");
        canvas.text((334.0, y), Anchor::Start, TEXT, ink, "known class");
        let mut remark = |line: f64, text: &str| {
            canvas.text((14.0, y + 20.0 * line), Anchor::Start, TEXT, muted, text);
        };
        remark(1.0, "Distances on the map approximate those of the latent space; axes have no unit.");
        if left_out == 0 {
            return (SIDE + 28.0, y + 34.0);
        }
        let of = format!("{left_out} of {} names are left out, for want of room.", places.len());
        remark(2.0, &of);
        (SIDE + 28.0, y + 54.0)
    }

    /// Draws the names of unseen classes beside their marks, on the first side where they cover no other mark or name, and
    /// returns how many found none.
    fn draw_names(&self, canvas: &mut Canvas, places: &[(f64, f64)], (left, top): (f64, f64)) -> usize {
        const MARK: f64 = 8.0;
        let ink = canvas.theme.ink;
        let mut taken: Vec<Area> = Vec::new();
        for (index, ((name, _), &(x, y))) in self.embeddings.iter().zip(places).enumerate() {
            let name = font::shortened(name, TEXT, 150.0);
            let wide = font::room(&name, TEXT);
            let sides = [
                (x + 10.0, y - 8.0),
                (x - 10.0 - wide, y - 8.0),
                (x - wide / 2.0, y - 25.0),
                (x - wide / 2.0, y + 9.0),
            ];
            let marks = places.iter().enumerate().filter(|(other, _)| *other != index);
            let marks: Vec<Area> = marks
                .map(|(_, &(x, y))| Area { x: x - MARK, y: y - MARK, wide: 2.0 * MARK, high: 2.0 * MARK })
                .collect();
            let area = sides.into_iter().map(|(x, y)| Area { x, y, wide, high: 16.0 }).find(|area| {
                let within = area.x >= left
                    && area.x + wide <= left + SIDE
                    && area.y >= top
                    && area.y + 16.0 <= top + SIDE;
                within && !marks.iter().chain(&taken).any(|other| area.meets(other))
            });
            if let Some(area) = area {
                canvas.text_on_dots((area.x, area.y + 13.0), TEXT, ink, &name);
                taken.push(area);
            }
        }
        places.len() - taken.len()
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

/// A rectangle that something takes.
struct Area {
    x: f64,
    y: f64,
    wide: f64,
    high: f64,
}

impl Area {
    fn meets(&self, other: &Self) -> bool {
        let apart = self.x + self.wide <= other.x
            || other.x + other.wide <= self.x
            || self.y + self.high <= other.y
            || other.y + other.high <= self.y;
        !apart
    }
}

#[cfg(test)]
mod tests {
    use super::super::Theme;
    use super::super::canvas::Medium;
    use super::*;

    #[test]
    fn names_stand_apart_and_those_without_room_are_counted() {
        let drawn = |embeddings: Vec<(String, (f64, f64))>| {
            let corners = vec![(0.0, 0.0), (1.0, 1.0)];
            let map = Map { landmarks: corners, embeddings, right: Vec::new(), wrong: vec![(0.5, 0.4)] };
            let mut canvas = Canvas::new(Theme::LIGHT, Medium::File);
            let size = map.draw(&mut canvas, "title");
            canvas.finish(size, "title", "")
        };
        let class = |index: usize, at: (f64, f64)| (format!("class {index}"), at);
        let apart = drawn((0..9).map(|index| class(index, (0.5, 0.1 * index as f64 + 0.1))).collect());
        assert!(
            (0..9).all(|index| apart.contains(&format!(">class {index}<"))) && !apart.contains("left out")
        );
        let heap = drawn((0..9).map(|index| class(index, (0.5, 0.5))).collect());
        assert_eq!(heap.matches(">class ").count(), 4, "one on each side of the heap");
        assert!(heap.contains("5 of 9 names are left out, for want of room."));
    }
}
