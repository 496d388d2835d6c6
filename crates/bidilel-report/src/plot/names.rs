//! Names of marks on a map: beside their marks where all find room there, otherwise in the margins with lines to the marks.

use bidilel::Mat;
use bidilel_math::assignment::assign;

use super::canvas::{Anchor, Canvas, TEXT};
use super::font;

/// Room for a name beside its mark before it is shortened.
const MAX_NAME: f64 = 150.0;
/// The same in a margin.
const MAX_MARGIN: f64 = 200.0;
/// Half the side of what a mark covers.
const MARK: f64 = 8.0;
/// Half the side of what the mark of a known class covers.
const KNOWN: f64 = 4.5;
/// Height of a name beside its mark.
const HIGH: f64 = 16.0;
/// Distance of two names in a margin.
const PITCH: f64 = 17.5;
/// Names in a margin at most.
const MAX_ROWS: u8 = 100;
/// From the area of the map to a name in its margin.
const GAP: f64 = 10.0;

/// An unseen class: its name, and its place in pixels.
pub(super) type Mark<'a> = (&'a str, (f64, f64));

/// Names with their places; those without room are counted.
pub(super) struct Names {
    placed: Vec<Placed>,
    /// Width of the margins.
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) left_out: usize,
}

/// A name, where its line begins, and how it is aligned.
struct Placed {
    name: String,
    at: (f64, f64),
    anchor: Anchor,
    /// The mark that a line leads to.
    line: Option<(f64, f64)>,
}

impl Names {
    /// Places the names of marks in a square area of this side from the origin; marks of known classes are kept free where that
    /// is possible.
    pub(super) fn of(marks: &[Mark<'_>], known: &[(f64, f64)], side: f64) -> Self {
        let beside = Self::beside(marks, known, side);
        let slots = 2.0 * (side / PITCH).floor().min(f64::from(MAX_ROWS));
        // Files that others wrote have any number; where a distance overflows there is no shortest line.
        let near = |place: f64| (-side..=2.0 * side).contains(&place);
        let somewhere = marks.iter().all(|(_, (x, y))| near(*x) && near(*y));
        if beside.left_out == 0 || marks.len() as f64 > slots || !somewhere {
            beside
        } else {
            Self::in_margins(marks, side)
        }
    }

    /// Names beside their marks, on the first side where they cover no mark and no other name.
    fn beside(marks: &[Mark<'_>], known: &[(f64, f64)], side: f64) -> Self {
        let square = |&(x, y): &(f64, f64), half: f64| Area {
            x: x - half,
            y: y - half,
            wide: 2.0 * half,
            high: 2.0 * half,
        };
        let known: Vec<Area> = known.iter().map(|place| square(place, KNOWN)).collect();
        let mut taken: Vec<Area> = Vec::new();
        let mut placed = Vec::new();
        for (index, &(name, (x, y))) in marks.iter().enumerate() {
            let name = font::shortened(name, TEXT, MAX_NAME);
            let wide = font::room(&name, TEXT);
            let (right, left, middle) = (x + 10.0, x - 10.0 - wide, x - wide / 2.0);
            let (above, below) = (y - 25.0, y + 9.0);
            let sides = [
                (right, y - 8.0),
                (left, y - 8.0),
                (middle, above),
                (middle, below),
                (right - 5.0, above + 5.0),
                (right - 5.0, below - 5.0),
                (left + 5.0, above + 5.0),
                (left + 5.0, below - 5.0),
            ];
            let others: Vec<Area> = marks
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != index)
                .map(|(_, (_, place))| square(place, MARK))
                .collect();
            let areas = || sides.into_iter().map(|(x, y)| Area { x, y, wide, high: HIGH });
            let fits = |area: &Area| {
                area.is_within(side) && !others.iter().chain(&taken).any(|other| area.meets(other))
            };
            let free = |area: &Area| fits(area) && !known.iter().any(|other| area.meets(other));
            let Some(area) = areas().find(free).or_else(|| areas().find(fits)) else { continue };
            placed.push(Placed { name, at: (area.x, area.y + 13.0), anchor: Anchor::Start, line: None });
            taken.push(area);
        }
        let left_out = marks.len() - placed.len();
        Self { placed, left: 0.0, right: 0.0, left_out }
    }

    /// Names in both margins, with lines to their marks whose total length is least: these do not cross.
    fn in_margins(marks: &[Mark<'_>], side: f64) -> Self {
        let slots: Vec<(f64, f64)> = (0..MAX_ROWS)
            .map(|row| PITCH * (f64::from(row) + 0.5))
            .filter(|y| *y < PITCH * (side / PITCH).floor())
            .flat_map(|y| [(0.0, y), (side, y)])
            .collect();
        // Slots that no mark takes cost nothing.
        let cost = Mat::from_fn(slots.len(), slots.len(), |mark, slot| {
            marks.get(mark).map_or(0.0, |(_, (x, y))| (x - slots[slot].0).hypot(y - slots[slot].1))
        });
        let (mut left, mut right) = (0.0_f64, 0.0_f64);
        let of_slot = assign(cost.as_ref());
        let place = |(&(name, mark), slot): (&(&str, (f64, f64)), usize)| {
            let (x, y) = slots[slot];
            let name = font::shortened(name, TEXT, MAX_MARGIN);
            let margin = GAP + font::room(&name, TEXT);
            let (at, anchor) = if x == 0.0 {
                left = left.max(margin);
                (x - GAP, Anchor::End)
            } else {
                right = right.max(margin);
                (x + GAP, Anchor::Start)
            };
            Placed { name, at: (at, y + 5.0), anchor, line: Some(mark) }
        };
        let placed = marks.iter().zip(of_slot).map(place).collect();
        Self { placed, left, right, left_out: 0 }
    }

    /// The side of every name in a margin, 0 on the left and 1 on the right, and its height as a share of `side`.
    pub(super) fn margins(&self, side: f64) -> Vec<(u8, f64)> {
        let in_margin = self.placed.iter().filter(|placed| placed.line.is_some());
        let height = |placed: &Placed| (1e4 * placed.end().1 / side).round() / 1e4;
        in_margin.map(|placed| (u8::from(placed.anchor == Anchor::Start), height(placed))).collect()
    }

    /// Draws the lines from names in the margins to their marks.
    pub(super) fn draw_lines(&self, canvas: &mut Canvas) {
        let line = |placed: &Placed| {
            let ((x, y), (to_x, to_y)) = (placed.end(), placed.line?);
            Some(format!("M{x:.1} {y:.1}L{to_x:.1} {to_y:.1}"))
        };
        let path: String = self.placed.iter().filter_map(line).collect();
        if !path.is_empty() {
            // Without a halo: it would erase the marks that a line crosses.
            canvas.stroke(&path, canvas.theme.muted, 0.8, "");
        }
    }

    /// Draws the names.
    pub(super) fn draw(&self, canvas: &mut Canvas) {
        let ink = canvas.theme.ink;
        for Placed { name, at, anchor, line } in &self.placed {
            match line {
                Some(_) => canvas.text(*at, *anchor, TEXT, ink, name),
                None => canvas.text_on_dots(*at, TEXT, ink, name),
            }
        }
    }
}

impl Placed {
    /// Where the line of a name ends.
    fn end(&self) -> (f64, f64) {
        let (x, y) = self.at;
        let toward = if self.anchor == Anchor::End { 4.0 } else { -4.0 };
        (x + toward, y - 5.0)
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
    fn is_within(&self, side: f64) -> bool {
        self.x >= 0.0 && self.x + self.wide <= side && self.y >= 0.0 && self.y + self.high <= side
    }

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
    use super::*;

    /// Whether two lines have a point in common, apart from their ends.
    fn cross(one: [(f64, f64); 2], other: [(f64, f64); 2]) -> bool {
        let turn = |a: (f64, f64), b: (f64, f64), c: (f64, f64)| {
            (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0)
        };
        turn(one[0], one[1], other[0]) * turn(one[0], one[1], other[1]) < -1e-6
            && turn(other[0], other[1], one[0]) * turn(other[0], other[1], one[1]) < -1e-6
    }

    #[test]
    fn lines_to_the_margins_do_not_cross_and_names_there_stand_apart() {
        let name = |index: usize| format!("a rather long name {index}");
        let names: Vec<String> = (0..50).map(name).collect();
        // A spiral in the middle: nothing has room beside its mark.
        let place = |index: usize| {
            let (angle, radius) = (2.4 * index as f64, 12.0 * (index as f64).sqrt());
            (280.0 + radius * angle.cos(), 280.0 + radius * angle.sin())
        };
        let marks: Vec<(&str, (f64, f64))> =
            names.iter().enumerate().map(|(index, name)| (&name[..], place(index))).collect();
        let found = Names::of(&marks, &[], 560.0);
        assert_eq!((found.placed.len(), found.left_out), (50, 0));
        assert!(found.left > 100.0 && found.right > 100.0);
        let lines: Vec<[(f64, f64); 2]> =
            found.placed.iter().map(|one| [one.end(), one.line.expect("a line")]).collect();
        for (index, one) in found.placed.iter().enumerate() {
            let same_side = |other: &&Placed| other.anchor == one.anchor;
            let near = |other: &&Placed| (other.at.1 - one.at.1).abs() < PITCH - 0.1;
            assert_eq!(found.placed.iter().filter(same_side).filter(near).count(), 1, "only itself");
            assert!(lines[..index].iter().all(|other| !cross(*other, lines[index])), "{}", one.name);
        }
    }

    #[test]
    fn names_beside_their_marks_leave_known_classes_free_where_they_can() {
        let marks = [("name", (280.0, 280.0))];
        let free = Names::of(&marks, &[], 560.0);
        assert!(free.placed[0].at.0 > 280.0 && free.left == 0.0, "to the right");
        let covered = Names::of(&marks, &[(300.0, 280.0)], 560.0);
        assert!(covered.placed[0].at.0 < 280.0, "to the left");
    }
}
