//! One self-contained page: headings, tables, drawings, pictures.

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
    /// Pictures in rows.
    Figures(Vec<Figure>),
}

/// A picture with a caption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// The type of the picture's bytes: `image/webp`.
    pub mime: &'static str,
    /// A whole picture file.
    pub bytes: Vec<u8>,
    /// The first line.
    pub title: String,
    /// More lines, in small print.
    pub lines: Vec<String>,
    /// A verdict.
    pub mark: Mark,
}

/// Whether the caption is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Nothing is claimed.
    None,
    /// Right.
    Right,
    /// Wrong.
    Wrong,
}

/// An element in the head of every page, by which pages of this program are recognized.
pub const GENERATOR: &str = "<meta name=\"generator\" content=\"bidilel\">";

const STYLE: &str = "body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}\
table{border-collapse:collapse}td,th{padding:.2em .8em;border-bottom:1px solid #ddd;text-align:left}\
td.r,th.r{text-align:right}pre{background:#f4f4f4;padding:.8em;white-space:pre-wrap}svg{max-width:100%;height:auto}\
.figures{display:flex;flex-wrap:wrap;gap:.5em}figure{box-sizing:border-box;width:9.4em;margin:0;padding:.4em;border:1px solid #ddd;font-size:.85em}\
figure.right{border-left:5px solid #2a7}figure.wrong{border-left:5px solid #c43}figure img{width:64px;height:64px}\
figure.plain{width:5.5em;text-align:center}figcaption small{display:block;color:#555;line-height:1.3}";

/// The page; it needs no other file.
pub fn page(title: &str, blocks: &[Block]) -> String {
    let body: String = blocks.iter().map(block).collect();
    let title = escape(title);
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">{GENERATOR}\n<meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title><style>{STYLE}</style></head>\n\
         <body>\n<h1>{title}</h1>\n{body}</body></html>\n"
    )
}

fn block(block: &Block) -> String {
    match block {
        Block::Heading(text) => format!("<h2>{}</h2>\n", escape(text)),
        Block::Text(text) => format!("<p>{}</p>\n", escape(text)),
        Block::Code(text) => format!("<pre>{}</pre>\n", escape(text)),
        Block::Drawing(svg) => svg.clone(),
        Block::Figures(figures) => {
            format!("<div class=\"figures\">\n{}</div>\n", figures.iter().map(figure).collect::<String>())
        }
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

fn figure(figure: &Figure) -> String {
    // A sign as well as a color: not everybody tells red from green.
    let (class, sign) = match figure.mark {
        Mark::None => ("plain", ""),
        Mark::Right => ("right", "\u{2713} "),
        Mark::Wrong => ("wrong", "\u{2717} "),
    };
    let title = escape(&figure.title);
    let lines: Vec<String> =
        figure.lines.iter().map(|line| format!("<small>{}</small>", escape(line))).collect();
    format!(
        "<figure class=\"{class}\"><img alt=\"\" src=\"{}\"><figcaption>{sign}{title}{}</figcaption></figure>\n",
        data_address(figure.mime, &figure.bytes),
        lines.concat()
    )
}

/// A file as an address that has its bytes: `data:image/webp;base64,…`.
pub fn data_address(mime: &str, bytes: &[u8]) -> String {
    format!("data:{mime};base64,{}", base64(bytes))
}

/// Bytes as text (RFC 4648).
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |index: usize| u32::from(three.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let sextet = DIGITS[(bits >> (18 - 6 * digit)) as usize % 64];
            text.push(if digit <= three.len() { char::from(sextet) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_inside_the_page() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64(bytes.as_bytes()), text, "RFC 4648, section 10");
        }
        let (title, lines) = ("<cat>".to_owned(), vec!["a & b".to_owned()]);
        let figure = Figure { mime: "image/webp", bytes: vec![0xff; 3], title, lines, mark: Mark::Wrong };
        let page = page("x", &[Block::Figures(vec![figure])]);
        assert!(page.contains("data:image/webp;base64,////") && page.contains("&lt;cat&gt;<small>a &amp; b"));
        assert!(page.contains(GENERATOR) && page.contains("class=\"wrong\""));
    }

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
