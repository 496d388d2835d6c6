//! Horizontal bars with intervals, colored by group, and a line where guessing ends.

use super::canvas::{Anchor, Canvas, TEXT, TITLE};
use super::font;
use super::scale::{Kind, Scale};
use crate::Bar;

/// Width of the whole drawing.
const WIDTH: f64 = 640.0;
const BAR_HEIGHT: f64 = 22.0;
/// Room for names before they are shortened.
const MAX_NAME: f64 = 220.0;
/// Between a bar and its value.
const GAP: f64 = 6.0;
/// Room for the value behind a bar.
const VALUE: f64 = 46.0;

/// Bars from top to bottom, in percent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BarPlot {
    /// What they measure.
    pub(crate) axis: String,
    /// Where guessing ends.
    pub(crate) chance: f64,
    pub(crate) bars: Vec<Bar>,
}

impl BarPlot {
    /// Draws them and returns the size of the drawing.
    pub(crate) fn draw(&self, canvas: &mut Canvas, title: &str) -> (f64, f64) {
        let (ink, muted, grid) = (canvas.theme.ink, canvas.theme.muted, canvas.theme.grid);
        let names: Vec<String> =
            self.bars.iter().map(|bar| font::shortened(&bar.name, TEXT, MAX_NAME)).collect();
        let left = 18.0 + names.iter().map(|name| font::room(name, TEXT)).fold(0.0, f64::max);
        canvas.text((8.0, 22.0), Anchor::Start, TITLE, ink, &font::shortened(title, TITLE, WIDTH - 16.0));
        let groups = self.groups();
        let top = if groups.len() > 1 { 84.0 } else { 62.0 };
        let foot = top + BAR_HEIGHT * self.bars.len().max(1) as f64;
        let chance = if self.chance.is_finite() { self.chance } else { 0.0 };
        let ends = self.bars.iter().flat_map(|bar| [bar.value, bar.high]).chain([0.0, chance]);
        let x = Scale::over(Kind::Linear, ends, 6).on(left, WIDTH - VALUE);
        for (at, label) in x.ticks(0.01) {
            canvas.stroke(&format!("M{at:.1} {top:.1}V{foot:.1}"), grid, 1.0, "");
            canvas.text((at, foot + 18.0), Anchor::Middle, TEXT, ink, &label);
        }
        canvas.text(
            (f64::midpoint(left, WIDTH - VALUE), foot + 40.0),
            Anchor::Middle,
            TEXT,
            muted,
            &self.axis,
        );
        let guessing = (chance > 0.0).then(|| x.position(chance));
        for (index, (bar, name)) in self.bars.iter().zip(&names).enumerate() {
            let group = groups.iter().position(|group| *group == bar.group).unwrap_or(0);
            let middle = top + BAR_HEIGHT * (index as f64 + 0.5);
            draw(canvas, bar, name, group, middle, (left, &x, guessing));
        }
        if groups.len() > 1 {
            legend(canvas, &groups);
        }
        if let Some(at) = guessing {
            canvas.stroke(&format!("M{at:.1} {:.1}V{foot:.1}", top - 4.0), ink, 1.4, "4 3");
            canvas.text((at.max(left + 28.0), top - 8.0), Anchor::Middle, TEXT, muted, "guessing");
        }
        (WIDTH, foot + 52.0)
    }

    fn groups(&self) -> Vec<&str> {
        let mut groups: Vec<&str> = Vec::new();
        for bar in &self.bars {
            if !groups.contains(&bar.group.as_str()) {
                groups.push(&bar.group);
            }
        }
        groups
    }
}

fn draw(
    canvas: &mut Canvas,
    bar: &Bar,
    name: &str,
    group: usize,
    middle: f64,
    (left, x, guessing): (f64, &Scale, Option<f64>),
) {
    let (ink, color) = (canvas.theme.ink, canvas.series(group));
    let (end, low, high) = (x.position(bar.value), x.position(bar.low), x.position(bar.high));
    let half = 0.36 * BAR_HEIGHT;
    canvas.text((left - 8.0, middle + 5.0), Anchor::End, TEXT, ink, name);
    let tip = format!("{}: {:.1} %", bar.name, 100.0 * bar.value);
    canvas.rect((left, middle - half), (end - left, 2.0 * half), color, 1.0, &tip);
    if bar.high > bar.low {
        let path =
            format!("M{low:.1} {middle:.1}H{high:.1}M{low:.1} {0:.1}v8M{high:.1} {0:.1}v8", middle - 4.0);
        // Light on a light bar, dark on a dark one: a rim keeps them apart.
        canvas.stroke(&format!("M{low:.1} {middle:.1}H{:.1}", end.min(high)), canvas.theme.halo, 2.8, "");
        canvas.stroke(&path, ink, 1.2, "");
    }
    let value = format!("{:.1}", 100.0 * bar.value);
    let behind = high.max(end) + GAP;
    // The line of guessing would strike the number through.
    let until = behind + font::room(&value, TEXT) + GAP;
    let at = guessing.filter(|line| (behind - GAP..until).contains(line)).map_or(behind, |line| line + GAP);
    canvas.text((at, middle + 5.0), Anchor::Start, TEXT, ink, &value);
}

/// What the colors stand for.
fn legend(canvas: &mut Canvas, groups: &[&str]) {
    let ink = canvas.theme.ink;
    let mut at = 10.0;
    for (index, group) in groups.iter().enumerate() {
        let color = canvas.series(index);
        canvas.rect((at, 36.0), (13.0, 13.0), color, 1.0, "");
        canvas.text((at + 19.0, 47.0), Anchor::Start, TEXT, ink, group);
        at += 44.0 + font::room(group, TEXT);
    }
}
