//! Aligned columns for a terminal, without lines around them.

use unicode_width::UnicodeWidthStr;

use crate::{Align, Table, visible};

/// Spaces between columns.
const GAP: &str = "  ";

/// Fills text up with spaces to a width in terminal cells, in which a wide character counts two.
pub fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

pub(crate) fn render(table: &Table) -> String {
    let shown = |cell: &String| visible(cell).into_owned();
    let headers = table.columns.iter().map(|(name, _)| shown(name)).collect();
    let rows = table.rows.iter().map(|row| row.iter().map(shown).collect());
    let lines: Vec<Vec<String>> = std::iter::once(headers).chain(rows).collect();
    // Widths in terminal cells: a wide character takes two, an accent none.
    let widths: Vec<usize> = (0..table.columns.len())
        .map(|column| lines.iter().map(|row| row[column].width()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in &lines {
        let mut line = String::new();
        for ((cell, &width), (_, align)) in row.iter().zip(&widths).zip(&table.columns) {
            let space = " ".repeat(width - cell.width());
            match align {
                Align::Left => line.extend([cell, &space, GAP]),
                Align::Right => line.extend([&space, cell, GAP]),
            }
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}
