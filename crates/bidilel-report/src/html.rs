//! One self-contained page: headings, tables, drawings.

use crate::svg::escape;
use crate::{Align, Table};

/// A part of a page.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// A heading.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// Something to copy: a command, a file.
    Code(String),
    /// A table.
    Table(Table),
    /// An SVG element.
    Drawing(String),
}

const STYLE: &str = "body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}\
table{border-collapse:collapse}td,th{padding:.2em .8em;border-bottom:1px solid #ddd;text-align:left}\
td.r,th.r{text-align:right}pre{background:#f4f4f4;padding:.8em;white-space:pre-wrap}svg{max-width:100%;height:auto}";

/// The page; it needs no other file.
pub fn page(title: &str, blocks: &[Block]) -> String {
    let body: String = blocks.iter().map(block).collect();
    let title = escape(title);
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title><style>{STYLE}</style></head>\n\
         <body>\n<h1>{title}</h1>\n{body}</body></html>\n"
    )
}

fn block(block: &Block) -> String {
    match block {
        Block::Heading(text) => format!("<h2>{}</h2>\n", escape(text)),
        Block::Text(text) => format!("<p>{}</p>\n", escape(text)),
        Block::Code(text) => format!("<pre>{}</pre>\n", escape(text)),
        Block::Drawing(svg) => svg.clone(),
        Block::Table(table) => {
            let class = |align: &Align| if *align == Align::Right { " class=\"r\"" } else { "" };
            let row = |tag: &str, cells: &[String]| {
                let cells = cells.iter().zip(&table.columns);
                let cells: Vec<String> = cells
                    .map(|(cell, (_, align))| format!("<{tag}{}>{}</{tag}>", class(align), escape(cell)))
                    .collect();
                format!("<tr>{}</tr>\n", cells.concat())
            };
            let names: Vec<String> = table.columns.iter().map(|(name, _)| name.clone()).collect();
            let rows: String = table.rows.iter().map(|cells| row("td", cells)).collect();
            format!("<table>\n{}{rows}</table>\n", row("th", &names))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_break_out_of_the_page() {
        let mut table = Table::new(&[("a<b", Align::Right)]);
        table.push(vec!["</table><script>".to_owned()]);
        let page = page("x & y", &[Block::Table(table), Block::Code("a > b".to_owned())]);
        assert!(
            page.contains("<h1>x &amp; y</h1>") && page.contains("a &gt; b") && !page.contains("<script>")
        );
    }
}
