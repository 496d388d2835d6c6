//! A confusion matrix: one row per true class, one column per prediction, shaded by the share of the row.

use super::canvas::{Anchor, Canvas, TEXT, TITLE};
use super::font;

/// Up to this many classes their names stand beside the rows and above the columns.
const MAX_NAMED: usize = 60;
/// Side of the matrix where names do not ask for more.
const SIDE: f64 = 480.0;
const MAX_NAME: f64 = 190.0;

/// Counts by true and predicted class.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Matrix {
    /// Names of the rows: true classes.
    pub(crate) rows: Vec<String>,
    /// Names of the columns: predicted classes.
    pub(crate) columns: Vec<String>,
    pub(crate) counts: Vec<Vec<usize>>,
    /// How many of the first rows and columns are known classes: a line parts them from the unseen.
    pub(crate) known: usize,
}

impl Matrix {
    /// Draws it and returns the size of the drawing.
    pub(crate) fn draw(&self, canvas: &mut Canvas, title: &str) -> (f64, f64) {
        let (ink, muted, grid) = (canvas.theme.ink, canvas.theme.muted, canvas.theme.grid);
        let named = self.rows.len() <= MAX_NAMED;
        let cell = if named {
            (SIDE / self.rows.len().max(1) as f64).clamp(16.0, 32.0)
        } else {
            SIDE / self.rows.len() as f64
        };
        let (wide, high) = (cell * self.columns.len() as f64, cell * self.rows.len() as f64);
        let shortened = |names: &[String]| -> Vec<String> {
            names.iter().map(|name| font::shortened(name, TEXT, MAX_NAME)).collect()
        };
        let (rows, columns) = (shortened(&self.rows), shortened(&self.columns));
        let longest = |names: &[String]| names.iter().map(|name| font::room(name, TEXT)).fold(0.0, f64::max);
        let (left, top) =
            if named { (16.0 + longest(&rows), 60.0 + longest(&columns)) } else { (16.0, 56.0) };
        let known = if self.known > 0 { ", the known first" } else { "" };
        let axes = &format!("Rows: true classes{known}. Columns: predicted classes.");
        let width =
            (left + wide + 16.0).max(font::room(title, TITLE) + 16.0).max(font::room(axes, TEXT) + 16.0);
        canvas.text((8.0, 22.0), Anchor::Start, TITLE, ink, title);
        canvas.text((8.0, 42.0), Anchor::Start, TEXT, muted, axes);
        for (column, name) in columns.iter().enumerate().filter(|_| named) {
            let x = left + cell * (column as f64 + 0.5) + 5.0;
            canvas.text_upward((x, top - 6.0), TEXT, ink, name);
        }
        canvas.stroke(&format!("M{left:.1} {top:.1}h{wide:.1}v{high:.1}h-{wide:.1}Z"), grid, 1.0, "");
        for (row, counts) in self.counts.iter().enumerate() {
            let y = top + cell * row as f64;
            if named {
                let baseline = y + cell / 2.0 + 5.0;
                canvas.text((left - 6.0, baseline), Anchor::End, TEXT, ink, &rows[row]);
            }
            let total = counts.iter().sum::<usize>().max(1) as f64;
            for (column, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                let right = self.rows.get(row) == self.columns.get(column);
                let color = canvas.series(usize::from(!right));
                let (share, tip) = (count as f64 / total, self.tip(row, column, count));
                canvas.rect((left + cell * column as f64, y), (cell, cell), color, shade(share), &tip);
            }
        }
        if self.known > 0 {
            let at = cell * self.known as f64;
            let (x, y) = (left + at, top + at);
            canvas.stroke(&format!("M{x:.1} {top:.1}v{high:.1}M{left:.1} {y:.1}h{wide:.1}"), muted, 1.0, "");
        }
        let foot = top + high + 22.0;
        let (right, wrong) = (canvas.series(0), canvas.series(1));
        canvas.rect((left, foot - 11.0), (13.0, 13.0), right, 1.0, "");
        canvas.text((left + 19.0, foot), Anchor::Start, TEXT, ink, "recognized");
        canvas.rect((left + 110.0, foot - 11.0), (13.0, 13.0), wrong, 1.0, "");
        canvas.text((left + 129.0, foot), Anchor::Start, TEXT, ink, "mistaken; stronger: more of the row");
        let wide = width.max(left + 390.0);
        if named {
            return (wide, foot + 14.0);
        }
        let remark = format!("The names of all {} classes are left out, for want of room.", self.rows.len());
        canvas.text((left, foot + 20.0), Anchor::Start, TEXT, muted, &remark);
        (wide, foot + 34.0)
    }

    fn tip(&self, row: usize, column: usize, count: usize) -> String {
        format!("{} taken for {}: {count}", self.rows[row], self.columns[column])
    }
}

/// A share of a row as opacity: small shares are seen, too.
fn shade(share: f64) -> f64 {
    0.12 + 0.88 * share.clamp(0.0, 1.0).sqrt()
}
