//! Elements of the page, with every text escaped.

use std::fmt::Write;

use crate::plot::Chart;
use crate::svg::escape;

/// A section of a part of the page.
pub(crate) struct Section {
    pub(crate) title: &'static str,
    pub(crate) html: String,
}

/// One result on the page: sections, and what is not there and why.
pub(crate) struct Part {
    pub(crate) title: String,
    /// One line under the title.
    pub(crate) subtitle: String,
    pub(crate) sections: Vec<Section>,
    pub(crate) left_out: Vec<String>,
}

/// A paragraph.
pub(crate) fn paragraph(text: &str) -> String {
    format!("<p>{}</p>\n", escape(text))
}

/// A remark.
pub(crate) fn note(text: &str) -> String {
    format!("<p class=\"note\">{}</p>\n", options_whole(text))
}

/// How to use what follows; not printed.
pub(crate) fn hint(text: &str) -> String {
    format!("<p class=\"hint\">{}</p>\n", escape(text))
}

/// Something to copy.
pub(crate) fn code(text: &str) -> String {
    format!("<pre tabindex=\"0\"><code>{}</code></pre>\n", options_whole(text))
}

/// Escaped text in which no line ends within the name of an option.
fn options_whole(text: &str) -> String {
    let word = |word: &str| match word.strip_prefix("--") {
        Some(name)
            if !name.is_empty()
                && name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-') =>
        {
            format!("<span class=\"o\">{word}</span>")
        }
        _ => escape(word),
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Letters from which on a cell is given a line's width.
const LONG_TEXT: usize = 40;

/// Charts beside each other.
pub(crate) fn charts<'a>(all: impl IntoIterator<Item = &'a Chart>) -> String {
    let figure = |chart: &Chart| {
        format!(
            "<figure class=\"chart\">{}<figcaption>{}</figcaption>{}</figure>\n",
            chart.inline(),
            escape(&chart.description),
            values(chart)
        )
    };
    let figures: String = all.into_iter().map(figure).collect();
    format!("<div class=\"charts\">\n{figures}</div>\n")
}

/// The numbers of a chart, for readers who do not see it or want them exactly.
fn values(chart: &Chart) -> String {
    let Some((head, rows)) = chart.values() else { return String::new() };
    let line = |cells: &[String; 3], name: &str| {
        let cell = |text: &String| format!("<{name}>{}</{name}>", escape(text));
        format!("<tr>{}</tr>", cells.iter().map(cell).collect::<String>())
    };
    let body: String = rows.iter().map(|row| line(row, "td")).collect();
    format!(
        "<details><summary>Numbers</summary><table><thead>{}</thead><tbody>{body}</tbody></table></details>",
        line(&head, "th")
    )
}

/// A number that the page begins with.
pub(crate) struct Headline {
    pub(crate) label: String,
    pub(crate) value: String,
    pub(crate) remark: String,
}

/// Numbers in boxes.
pub(crate) fn headlines(all: &[Headline]) -> String {
    let one = |Headline { label, value, remark }: &Headline| {
        format!(
            "<div><dt>{}</dt><dd><strong>{}</strong> <span>{}</span></dd></div>\n",
            escape(label),
            escape(value),
            escape(remark)
        )
    };
    format!("<dl class=\"headlines\">\n{}</dl>\n", all.iter().map(one).collect::<String>())
}

/// A cell of a table.
pub(crate) enum Cell {
    Text(String),
    /// A number as it is written, and what it is sorted by.
    Number(String, f64),
    /// A share of one with its interval, as a bar.
    Bar {
        value: f64,
        low: f64,
        high: f64,
    },
}

/// A table whose columns can be sorted; `mark` is where a line goes through bars: what guessing reaches.
pub(crate) fn table(caption: &str, columns: &[&str], rows: &[Vec<Cell>], mark: Option<f64>) -> String {
    let most = rows.iter().flatten().filter_map(|cell| {
        if let Cell::Bar { value, high, .. } = cell { Some(value.max(*high)) } else { None }
    });
    let most = most.chain(mark).fold(0.01, f64::max);
    let mut body = String::new();
    for row in rows {
        body.push_str("<tr>");
        for (index, cell) in row.iter().enumerate() {
            body.push_str(&cell_html(cell, index == 0, most, mark));
        }
        body.push_str("</tr>\n");
    }
    let bars = rows.iter().flatten().any(|cell| matches!(cell, Cell::Bar { .. }));
    let scroll = if bars { "scroll" } else { "scroll fit" };
    let head = |(index, name): (usize, &&str)| {
        let class = match rows.first().and_then(|row| row.get(index)) {
            Some(Cell::Number(..)) => " class=\"n\"",
            Some(Cell::Bar { .. } | Cell::Text(_)) | None => "",
        };
        format!("<th scope=\"col\"{class}><button type=\"button\">{}</button></th>", escape(name))
    };
    let head: String = columns.iter().enumerate().map(head).collect();
    format!(
        "<div class=\"{scroll}\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table class=\"sortable\"><caption><span>{0}</span></caption>\
         <thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n",
        escape(caption)
    )
}

fn cell_html(cell: &Cell, first: bool, most: f64, mark: Option<f64>) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = match cell {
        Cell::Text(text) => {
            let (open, close) = if first { ("th scope=\"row\"", "th") } else { ("td", "td") };
            let class = if text.chars().count() > LONG_TEXT { " class=\"w\"" } else { "" };
            write!(out, "<{open}{class}>{}</{close}>", escape(text))
        }
        Cell::Number(text, value) => write!(out, "<td class=\"n\" data-v=\"{value}\">{}</td>", escape(text)),
        Cell::Bar { value, low, high } => {
            let share = |value: f64| (100.0 * value / most).clamp(0.0, 100.0);
            let interval = if high > low {
                format!("<i style=\"left:{:.1}%;width:{:.1}%\"></i>", share(*low), share(*high) - share(*low))
            } else {
                String::new()
            };
            let chance =
                mark.map_or(String::new(), |mark| format!("<u style=\"left:{:.1}%\"></u>", share(mark)));
            write!(
                out,
                "<td class=\"b\" data-v=\"{value}\"><div class=\"bar\"><b style=\"width:{:.1}%\"></b>{interval}{chance}</div><span>{:.1} %</span></td>",
                share(*value),
                100.0 * value
            )
        }
    };
    out
}

/// `2.1 ± 0.3`, in percent; one run has no standard error.
pub(crate) fn percent(mean: f64, error: f64) -> String {
    let error = if error > 0.0 { format!(" ± {:.1}", 100.0 * error) } else { String::new() };
    format!("{:.1}{error} %", 100.0 * mean)
}
