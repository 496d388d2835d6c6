//! Aligned columns for a terminal, without rules; wrapping of long lines.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::{Align, Table, visible};

/// Lines per cell; with more, rows can no longer be told apart.
const MAX_CELL_LINES: usize = 3;
/// Spaces between columns.
const GAP: &str = "  ";

/// Fills text up with spaces to a width in terminal cells, in which a wide character counts two.
pub fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// Breaks a line that is too long at spaces; the lines after the first begin with `indent`.
pub fn wrap(line: &str, width: usize, indent: &str) -> String {
    if line.width() <= width {
        return line.to_owned();
    }
    let start: String = line.chars().take_while(|&c| c == ' ').collect();
    let indent = format!("{start}{indent}");
    let room = width.saturating_sub(indent.width()).max(1);
    let lines = broken(line.trim_start(), room);
    format!("{start}{}", lines.join(&format!("\n{indent}")))
}

/// Every line wrapped to `width` where one is given, its continuation indented by two spaces.
pub fn wrap_lines(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    let wrapped = text.lines().map(|line| wrap(line, width, "  ")).collect::<Vec<_>>().join("\n");
    // `lines` does not tell whether the last of them ended.
    if text.ends_with('\n') { wrapped + "\n" } else { wrapped }
}

/// A table; where `width` is given, its cells are broken at spaces until it fits, as far as words allow.
pub(crate) fn render(table: &Table, width: Option<usize>) -> String {
    let shown = |cell: &String| visible(cell).into_owned();
    let headers = table.columns.iter().map(|(name, _)| shown(name)).collect();
    let rows = table.rows.iter().map(|row| row.iter().map(shown).collect());
    let mut columns: Vec<Column> = (0..table.columns.len()).map(|_| Vec::new()).collect();
    for row in std::iter::once(headers).chain(rows) {
        let row: Vec<String> = row;
        columns.iter_mut().zip(row).for_each(|(column, cell)| column.push(cell));
    }
    let mut aligned: Vec<(Column, Align)> =
        columns.into_iter().zip(table.columns.iter().map(|(_, align)| *align)).collect();
    if let Some(width) = width {
        if total(&aligned) > width {
            // A bar only repeats the number in the column before it.
            aligned.retain(|(column, _)| !is_bars(column));
        }
        let before = aligned.clone();
        narrow(&mut aligned, width);
        let tall =
            |(column, _): &(Column, Align)| column.iter().any(|cell| cell.lines().count() > MAX_CELL_LINES);
        if total(&aligned) > width || aligned.iter().any(tall) {
            return hanging(&before, width).unwrap_or_else(|| records(&before, width));
        }
    }
    lines(&aligned)
}

/// The last column, if it is text, below the others of its row; none where these do not fit, either.
fn hanging(columns: &[(Column, Align)], width: usize) -> Option<String> {
    const INDENT: &str = "    ";
    let ((last, Align::Left), others) = columns.split_last()? else { return None };
    if others.len() < 2 || total(others) > width {
        return None;
    }
    let room = width.saturating_sub(INDENT.width()).max(1);
    let mut text = String::new();
    for (row, cell) in lines(others).lines().zip(last) {
        text += row;
        text.push('\n');
        for line in broken(cell, room).iter().filter(|line| !line.is_empty()) {
            text.extend([INDENT, line, "\n"]);
        }
    }
    Some(text)
}

/// One block per row, one line per column: for tables that wrapping does not make narrow enough.
fn records(columns: &[(Column, Align)], width: usize) -> String {
    let names = columns.iter().map(|(column, _)| column[0].width()).max().unwrap_or(0);
    let rows = columns.first().map_or(0, |(column, _)| column.len());
    let mut text = String::new();
    for row in 1..rows {
        for (number, (column, _)) in columns.iter().enumerate() {
            let (mark, name) = (if number == 0 { "" } else { "  " }, &column[0]);
            let head = format!("{}{GAP}", pad(&format!("{mark}{name}"), names + 2));
            let lines = broken(&column[row], width.saturating_sub(head.width()).max(1));
            let indent = format!("\n{}", " ".repeat(head.width()));
            text += format!("{head}{}", lines.join(&indent)).trim_end();
            text.push('\n');
        }
    }
    text
}

/// Its header, then its cells; a cell may have several lines.
type Column = Vec<String>;

/// Widths in terminal cells: a wide character takes two, an accent none.
fn width_of(column: &Column) -> usize {
    column.iter().flat_map(|cell| cell.lines()).map(UnicodeWidthStr::width).max().unwrap_or(0)
}

fn total(columns: &[(Column, Align)]) -> usize {
    columns.iter().map(|(column, _)| width_of(column) + GAP.len()).sum::<usize>().saturating_sub(GAP.len())
}

fn is_bars(column: &Column) -> bool {
    let bar = |cell: &String| cell.chars().all(|c| matches!(c, '#' | '\u{2580}'..='\u{259f}'));
    column.iter().all(bar) && column.iter().any(|cell| !cell.is_empty())
}

/// Narrows the widest column that can still be wrapped, until all columns fit or none can.
fn narrow(columns: &mut [(Column, Align)], width: usize) {
    let least = |column: &Column| {
        let words = column.iter().flat_map(|cell| cell.split_whitespace());
        words.map(UnicodeWidthStr::width).max().unwrap_or(0)
    };
    let least: Vec<usize> = columns.iter().map(|(column, _)| least(column)).collect();
    let mut widths: Vec<usize> = columns.iter().map(|(column, _)| width_of(column)).collect();
    let mut over = total(columns).saturating_sub(width);
    while over > 0 {
        let breakable = (0..widths.len()).filter(|&column| widths[column] > least[column]);
        let Some(widest) = breakable.max_by_key(|&column| widths[column]) else { break };
        widths[widest] -= 1;
        over -= 1;
    }
    for ((column, _), width) in columns.iter_mut().zip(widths) {
        let wide = column.iter_mut().filter(|cell| cell.width() > width);
        wide.for_each(|cell| *cell = broken(cell, width).join("\n"));
    }
}

/// Lines of at most `width` cells, broken at spaces, and within words that are longer.
fn broken(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always one");
        if line.is_empty() && word.width() <= width {
            line.push_str(word);
        } else if line.width() + 1 + word.width() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            if !line.is_empty() {
                lines.push(String::new());
            }
            for character in word.chars() {
                let line = lines.last_mut().expect("there is always one");
                if line.width() + character.width().unwrap_or(0) > width && !line.is_empty() {
                    lines.push(character.to_string());
                } else {
                    line.push(character);
                }
            }
        }
    }
    lines
}

fn lines(columns: &[(Column, Align)]) -> String {
    let widths: Vec<usize> = columns.iter().map(|(column, _)| width_of(column)).collect();
    let rows = columns.first().map_or(0, |(column, _)| column.len());
    let mut text = String::new();
    for row in 0..rows {
        let height = columns.iter().map(|(column, _)| column[row].lines().count()).max().unwrap_or(1).max(1);
        for part in 0..height {
            let mut line = String::new();
            for ((column, align), &width) in columns.iter().zip(&widths) {
                let cell = column[row].lines().nth(part).unwrap_or("");
                let space = " ".repeat(width - cell.width());
                match align {
                    Align::Left => line.extend([cell, &space, GAP]),
                    Align::Right => line.extend([&space, cell, GAP]),
                }
            }
            text += line.trim_end();
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let columns = [
            ("class", Align::Left),
            ("accuracy", Align::Right),
            ("", Align::Left),
            ("taken for", Align::Left),
        ];
        let mut table = Table::new(&columns);
        let mut row = |cells: [&str; 4]| table.push(cells.map(str::to_owned).to_vec());
        row(["polar bear", "91.5 %", "\u{2588}\u{2588}\u{258c}", "a brown bear, or a very large dog"]);
        row(["北極熊", "7.0 %", "\u{258f}", ""]);
        table
    }

    #[test]
    fn tables_fit_the_given_width() {
        for width in [20, 30, 40, 60, 80] {
            let text = render(&table(), Some(width));
            assert!(text.lines().all(|line| line.width() <= width), "{width}:\n{text}");
            for word in ["polar", "91.5", "brown", "large", "dog", "北極熊"] {
                assert!(text.contains(word), "{width}:\n{text}");
            }
        }
        assert_eq!(render(&table(), Some(200)), render(&table(), None));
        assert!(!render(&table(), Some(40)).contains('\u{2588}'), "bars go first");
    }

    #[test]
    fn long_text_at_the_end_hangs_below_its_row() {
        let mut table =
            Table::new(&[("accuracy", Align::Right), ("folds", Align::Right), ("settings", Align::Left)]);
        let settings = "alpha 0.1, dim 50, neighbors 25, post self-training, weights heat";
        table.push(vec!["55.7".to_owned(), "5".to_owned(), settings.to_owned()]);
        table.push(vec!["9.1".to_owned(), "5".to_owned(), "the defaults".to_owned()]);
        insta::assert_snapshot!(render(&table, Some(30)), @r"
        accuracy  folds
            settings
            55.7      5
            alpha 0.1, dim 50,
            neighbors 25, post
            self-training, weights
            heat
             9.1      5
            the defaults
        ");
        let records = render(&table, Some(14));
        assert!(records.starts_with("accuracy    55\n"), "no room for two columns:\n{records}");
    }

    #[test]
    fn a_wrapped_text_ends_as_it_did() {
        assert_eq!(wrap_lines("a b\n", Some(1)), "a\n  b\n");
        assert_eq!(wrap_lines("a", Some(80)), "a");
    }

    #[test]
    fn lines_are_broken_at_spaces() {
        assert_eq!(wrap("  a bb ccc dddd", 9, "  "), "  a bb\n    ccc\n    dddd");
        assert_eq!(wrap("abcdef gh", 4, ""), "abcd\nef\ngh");
        assert_eq!(wrap("short", 60, "  "), "short");
        assert_eq!(wrap("just fits", 9, "  "), "just fits");
        assert_eq!(wrap("", 60, "  "), "");
    }
}
