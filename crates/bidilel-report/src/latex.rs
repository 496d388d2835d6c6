//! LaTeX `tabular` environments that need no package.

use crate::{Align, Table};

pub(crate) fn render(table: &Table) -> String {
    let columns: String = table
        .columns
        .iter()
        .map(|(_, align)| match align {
            Align::Left => 'l',
            Align::Right => 'r',
        })
        .collect();
    let row = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
    let header = row(table.columns.iter().map(|(name, _)| escape(name)).collect());
    let rows: String =
        table.rows.iter().map(|cells| row(cells.iter().map(|cell| escape(cell)).collect())).collect();
    format!("\\begin{{tabular}}{{{columns}}}\n\\hline\n{header}\\hline\n{rows}\\hline\n\\end{{tabular}}\n")
}

pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => escaped.extend(['\\', character]),
            '\\' => escaped += "\\textbackslash{}",
            '~' => escaped += "\\textasciitilde{}",
            '^' => escaped += "\\textasciicircum{}",
            '|' => escaped += "\\textbar{}",
            '<' => escaped += "\\textless{}",
            '>' => escaped += "\\textgreater{}",
            '±' => escaped += "$\\pm$",
            _ => escaped.push(character),
        }
    }
    escaped
}
