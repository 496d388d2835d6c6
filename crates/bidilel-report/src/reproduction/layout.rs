//! The published layout as text, Markdown and CSV.

use unicode_width::UnicodeWidthStr;

use super::{CellStatus, Reproduction, TableCell, TableRow};
use crate::{Align, Table, markdown, wrap_lines};

impl Reproduction {
    /// The table with its title, legend and notes: for a person.
    pub fn text(&self, width: Option<usize>) -> String {
        let grid = self.grid(&TableCell::text);
        let natural = grid.text(None);
        let widest = natural.lines().map(UnicodeWidthStr::width).max().unwrap_or(0);
        // Where it does not fit, one block per row needs headers of one line.
        let table = match width {
            Some(width) if widest > width => self.flat(&TableCell::text).text(Some(width)),
            _ => natural,
        };
        let text = format!("{}\n\n{table}", wrap_lines(&self.title, width));
        let foot = self.foot();
        if foot.is_empty() { text } else { format!("{text}\n{}\n", wrap_lines(&foot.join("\n"), width)) }
    }

    /// The same as Markdown.
    pub fn markdown(&self) -> String {
        let escaped = |cell: &TableCell| {
            let text = cell.text().replace('*', "\\*");
            let ours = cell.ours();
            if cell.best { text.replacen(&ours, &format!("**{ours}**"), 1) } else { text }
        };
        let table = self.grid(&escaped).render(crate::Format::Markdown);
        let foot: Vec<String> = self
            .bold_legend()
            .iter()
            .chain(&self.foot())
            .map(|line| format!("- {}\n", plain(line)))
            .collect();
        let gap = if foot.is_empty() { "" } else { "\n" };
        format!("**{}**\n\n{table}{gap}{}", plain(&self.title), foot.concat())
    }

    /// One line per cell, with fractions: for spreadsheets and scripts.
    pub fn cells_table(&self) -> Table {
        let mut table = Table::new(&[
            ("experiment", Align::Left),
            ("row", Align::Left),
            ("column", Align::Left),
            ("status", Align::Left),
            ("value", Align::Right),
            ("spread", Align::Right),
            ("published", Align::Right),
            ("published_spread", Align::Right),
            ("difference", Align::Right),
            ("p_value", Align::Right),
            ("over", Align::Left),
            ("best", Align::Left),
            ("substitute", Align::Left),
            ("runs", Align::Right),
            ("visual", Align::Left),
            ("semantic", Align::Left),
            ("note", Align::Left),
        ]);
        let text = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        let word = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        for row in &self.rows {
            for (cell, column) in row.cells.iter().zip(&self.columns) {
                let published = cell.published.as_ref();
                table.push(vec![
                    self.experiment.clone(),
                    row.id.clone(),
                    column.id.clone(),
                    word(serde_json::json!(cell.status)),
                    text(cell.value),
                    text(cell.spread),
                    text(published.map(|published| published.value)),
                    text(published.and_then(|published| published.spread)),
                    text(cell.difference),
                    text(cell.p_value),
                    word(serde_json::json!(cell.over)),
                    cell.best.to_string(),
                    cell.substitute.to_string(),
                    cell.runs.len().to_string(),
                    cell.visual.join("+"),
                    cell.semantic.join("+"),
                    cell.note.clone().unwrap_or_default(),
                ]);
            }
        }
        table
    }

    /// One line per point of the curves; none where there are none.
    pub fn points_table(&self) -> Option<Table> {
        let mut table = Table::new(&[
            ("figure", Align::Left),
            ("series", Align::Left),
            ("x_label", Align::Left),
            ("x", Align::Right),
            ("y", Align::Right),
            ("error", Align::Right),
        ]);
        for figure in &self.figures {
            for series in &figure.series {
                for point in &series.points {
                    table.push(vec![
                        figure.title.clone(),
                        series.name.clone(),
                        figure.x_label.clone(),
                        point.x.to_string(),
                        point.y.to_string(),
                        point.error.map_or(String::new(), |error| error.to_string()),
                    ]);
                }
            }
        }
        (!table.rows.is_empty()).then_some(table)
    }

    /// Legend, notes and missing data.
    pub(super) fn foot(&self) -> Vec<String> {
        self.remark_lines().chain(self.missing_lines()).collect()
    }

    /// Legend and notes.
    pub(super) fn remark_lines(&self) -> impl Iterator<Item = String> {
        self.legend().into_iter().chain(self.notes.iter().cloned())
    }

    /// What data would fill the cells that are missing.
    pub(super) fn missing_lines(&self) -> impl Iterator<Item = String> {
        self.missing.iter().map(|missing| {
            format!("missing: {}. Get {}, and put it into {}", missing.what, missing.get, missing.put)
        })
    }

    /// How many lines of headers there are.
    pub(super) fn levels(&self) -> usize {
        self.columns.iter().map(|column| column.labels.len()).max().unwrap_or(1).max(1)
    }

    /// A label of a column at a level; empty where it spans from the column before.
    pub(super) fn head(&self, level: usize, column: usize) -> &str {
        let labels = &self.columns[column].labels;
        let same = level + 1 < self.levels()
            && column > 0
            && self.columns[column - 1].labels.get(..=level) == labels.get(..=level);
        if same { "" } else { labels.get(level).map_or("", String::as_str) }
    }

    /// The labels of a row; empty where they are those of the row before.
    pub(super) fn stub_of(&self, row: usize) -> Vec<String> {
        let labels = &self.rows[row].labels;
        let before = row.checked_sub(1).map(|before| &self.rows[before]);
        let is_same = |level: usize| {
            let same_group = |before: &&TableRow| before.group == self.rows[row].group;
            before
                .filter(same_group)
                .is_some_and(|before| before.labels.get(..=level) == labels.get(..=level))
        };
        let last = labels.len().saturating_sub(1);
        let shown = |(level, label): (usize, &String)| {
            if level < last && is_same(level) { String::new() } else { label.clone() }
        };
        labels.iter().enumerate().map(shown).collect()
    }

    /// Whether a row begins another part of the table: a group, or in tables whose first labels span rows another of these.
    pub(super) fn begins_part(&self, row: usize) -> bool {
        let Some(before) = row.checked_sub(1).map(|before| &self.rows[before]) else { return false };
        let spans = self.stub.len() > 2 && before.labels.first() != self.rows[row].labels.first();
        spans || before.group != self.rows[row].group
    }

    /// The table with as many lines of headers as it has levels.
    fn grid(&self, cell: &dyn Fn(&TableCell) -> String) -> Table {
        let levels = self.levels();
        // Labels of rows stand where the last labels of columns do.
        let stub = |level: usize| {
            self.stub.iter().map(move |name| if level + 1 == levels { name.clone() } else { String::new() })
        };
        let heads =
            |level: usize| (0..self.columns.len()).map(move |column| self.head(level, column).to_owned());
        let aligned = |(place, name): (usize, String)| {
            (name, if place < self.stub.len() { Align::Left } else { Align::Right })
        };
        let columns = stub(0).chain(heads(0)).enumerate().map(aligned).collect();
        let mut table = Table { columns, rows: Vec::new() };
        for level in 1..levels {
            table.push(stub(level).chain(heads(level)).collect());
        }
        self.fill(&mut table, cell, |row| self.stub_of(row), true);
        table
    }

    /// The table with one line of headers.
    fn flat(&self, cell: &dyn Fn(&TableCell) -> String) -> Table {
        let stub = self.stub.iter().map(|name| (name.clone(), Align::Left));
        let heads = self.columns.iter().map(|column| (column.labels.join(" "), Align::Right));
        let mut table = Table { columns: stub.chain(heads).collect(), rows: Vec::new() };
        self.fill(&mut table, cell, |row| self.rows[row].labels.clone(), false);
        table
    }

    fn fill(
        &self,
        table: &mut Table,
        cell: &dyn Fn(&TableCell) -> String,
        stub: impl Fn(usize) -> Vec<String>,
        parts: bool,
    ) {
        for (number, row) in self.rows.iter().enumerate() {
            if parts && self.begins_part(number) {
                table.push(vec![String::new(); table.columns.len()]);
            }
            let cells = row.cells.iter().map(|one| match one.status {
                CellStatus::Empty => "-".to_owned(),
                _ => cell(one),
            });
            table.push(stub(number).into_iter().chain(cells).collect());
        }
    }
}

/// Text outside of the table, as it is.
fn plain(text: &str) -> String {
    markdown::escape(text).replace('*', "\\*")
}
