//! A table independent of its rendering: headers, alignments, cells.

use crate::Format;

/// Alignment of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Rows of text under headers.
///
/// ```
/// use bidilel_report::{Align, Format, Table};
///
/// let mut table = Table::new(&[("class", Align::Left), ("accuracy", Align::Right)]);
/// table.push(vec!["polar bear".to_owned(), "91.5".to_owned()]);
/// assert_eq!(table.text(None), "class       accuracy\npolar bear      91.5\n");
/// assert_eq!(table.render(Format::Csv), "class,accuracy\npolar bear,91.5\n");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Headers with the alignment of their columns.
    pub columns: Vec<(String, Align)>,
    /// Cells; every row is as long as `columns`.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new(columns: &[(&str, Align)]) -> Self {
        let columns = columns.iter().map(|&(name, align)| (name.to_owned(), align)).collect();
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If its length differs from the number of columns.
    pub fn push(&mut self, row: Vec<String>) {
        assert_eq!(row.len(), self.columns.len(), "one cell per column");
        self.rows.push(row);
    }

    /// The table in a format; JSON becomes a list of objects of strings, JSON lines one object per line.
    ///
    /// Parquet is not text: the table is rendered as CSV, and programs refuse this format before they call it.
    pub fn render(&self, format: Format) -> String {
        match format {
            Format::Text => crate::text::render(self, None),
            Format::Csv | Format::Parquet => crate::separated::render(self),
            Format::Markdown => crate::markdown::render(self),
            Format::Latex => crate::latex::render(self),
            Format::Json => serde_json::Value::from(self.objects()).to_string() + "\n",
            Format::JsonLines => {
                self.objects().iter().flat_map(|object| [object.to_string(), "\n".to_owned()]).collect()
            }
        }
    }

    /// The table as text, no wider than `width` terminal cells where one is given.
    pub fn text(&self, width: Option<usize>) -> String {
        crate::text::render(self, width)
    }

    fn objects(&self) -> Vec<serde_json::Value> {
        let object = |row: &Vec<String>| -> serde_json::Value {
            let cells = self.columns.iter().zip(row);
            cells
                .map(|((name, _), cell)| (name.clone(), cell.clone().into()))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        self.rows.iter().map(object).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&[("class", Align::Left), ("accuracy", Align::Right)]);
        table.push(vec!["polar bear".to_owned(), "91.5".to_owned()]);
        table.push(vec!["a_b | c, \"d\" & 5 %".to_owned(), "7.0".to_owned()]);
        table
    }

    #[test]
    fn text_is_aligned() {
        insta::assert_snapshot!(table().render(Format::Text), @r#"
        class               accuracy
        polar bear              91.5
        a_b | c, "d" & 5 %       7.0
        "#);
    }

    #[test]
    fn separators_in_cells_are_quoted() {
        insta::assert_snapshot!(table().render(Format::Csv), @r#"
        class,accuracy
        polar bear,91.5
        "a_b | c, ""d"" & 5 %",7.0
        "#);
    }

    #[test]
    fn markdown_bars_are_escaped() {
        insta::assert_snapshot!(table().render(Format::Markdown), @r#"
        | class | accuracy |
        | :--- | ---: |
        | polar bear | 91.5 |
        | a_b \| c, "d" &amp; 5 % | 7.0 |
        "#);
    }

    #[test]
    fn latex_specials_are_escaped() {
        insta::assert_snapshot!(table().render(Format::Latex), @r#"
        \begin{tabular}{lr}
        \hline
        class & accuracy \\
        \hline
        polar bear & 91.5 \\
        a\_b \textbar{} c, "d" \& 5 \% & 7.0 \\
        \hline
        \end{tabular}
        "#);
    }

    #[test]
    fn json_is_a_list_of_objects() {
        let parsed: serde_json::Value = serde_json::from_str(&table().render(Format::Json)).expect("JSON");
        assert_eq!(parsed[0]["class"], "polar bear");
    }
}
