//! Markdown tables.

use crate::{Align, Table};

pub(crate) fn render(table: &Table) -> String {
    let row =
        |cells: &mut dyn Iterator<Item = String>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
    let escape = |cell: &String| cell.replace('|', "\\|").replace('\n', " ");
    let mut text = row(&mut table.columns.iter().map(|(name, _)| escape(name)));
    text += &row(&mut table.columns.iter().map(|(_, align)| {
        match align {
            Align::Left => ":---",
            Align::Right => "---:",
        }
        .to_owned()
    }));
    for cells in &table.rows {
        text += &row(&mut cells.iter().map(escape));
    }
    text
}
