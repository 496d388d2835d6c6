//! Markdown tables.

use crate::{Align, Table};

pub(crate) fn render(table: &Table) -> String {
    let row =
        |cells: &mut dyn Iterator<Item = String>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
    let mut text = row(&mut table.columns.iter().map(|(name, _)| escape(name)));
    text += &row(&mut table.columns.iter().map(|(_, align)| {
        match align {
            Align::Left => ":---",
            Align::Right => "---:",
        }
        .to_owned()
    }));
    for cells in &table.rows {
        text += &row(&mut cells.iter().map(|cell| escape(cell)));
    }
    text
}

/// Text that is shown as it is: most readers of Markdown take HTML in it for HTML.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '|' => escaped += "\\|",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '&' => escaped += "&amp;",
            _ if character.is_control() => escaped.push(' '),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;

    #[test]
    fn html_in_a_name_is_text() {
        let mut table = Table::new(&[("class", Align::Left)]);
        table.push(vec!["<img src=x onerror=alert(1)> &lt;".to_owned()]);
        let text = table.render(Format::Markdown);
        assert!(text.ends_with("| &lt;img src=x onerror=alert(1)&gt; &amp;lt; |\n"), "{text}");
    }
}
