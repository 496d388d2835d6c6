//! The published layout as a LaTeX table: spanning headers, rules between parts, the best in bold, published numbers below
//! ours.
//!
//! It needs the package `graphicx`, which shrinks tables that are wider than the page; others keep their size.

use super::{Reproduction, TableCell, TableRow};
use crate::latex::{boxes, escape};
use crate::svg::file_name;

impl Reproduction {
    /// A floating table over both columns of a page, with caption, label and a legend below.
    pub fn latex(&self) -> String {
        let (stub, columns) = (self.stub.len(), self.columns.len());
        let mut body = String::new();
        for level in 0..self.levels() {
            body += &self.head_line(level);
        }
        body += "\\hline\n";
        for (number, row) in self.rows.iter().enumerate() {
            let first = number == 0 || self.begins_part(number);
            if first && number > 0 {
                body += "\\hline\n";
            }
            body += &self.row(number, row, first);
        }
        // What to get is for who makes the table, not for who reads it.
        let missing: Vec<String> =
            self.missing_lines().map(|line| format!("% {}", line.replace(char::is_control, " "))).collect();
        let comments = if missing.is_empty() { String::new() } else { missing.join("\n") + "\n" };
        let (caption, label, remarks) = (word(&self.title), file_name(&self.experiment), self.remarks());
        let boxes = boxes(&format!("{caption}{body}{remarks}"));
        format!(
            "% Needs \\usepackage{{graphicx}}.\n{comments}{boxes}\
             \\begin{{table*}}[t]\n\\centering\n\\caption{{{caption}.}}\n\\label{{tab:{label}}}\n\\medskip\n\
             \\renewcommand{{\\arraystretch}}{{1.15}}\\setlength{{\\tabcolsep}}{{4pt}}\n\
             \\resizebox{{\\ifdim\\width>\\textwidth\\textwidth\\else\\width\\fi}}{{!}}{{%\n\
             \\begin{{tabular}}{{{}|{}}}\n\\hline\n{body}\\hline\n\\end{{tabular}}}}\n{remarks}\\end{{table*}}\n",
            "l".repeat(stub),
            "c".repeat(columns),
        )
    }

    /// Legend and notes below the table, in small type.
    fn remarks(&self) -> String {
        let line = |line: String| {
            let mut letters = line.chars();
            match letters.next() {
                Some(first) if !line.starts_with("n/a") => {
                    word(&first.to_uppercase().chain(letters).collect::<String>())
                }
                _ => word(&line),
            }
        };
        let lines: Vec<String> =
            self.bold_legend().into_iter().chain(self.remark_lines()).map(line).collect();
        if lines.is_empty() {
            return String::new();
        }
        // Paragraphs: a line break takes a star that follows for its own.
        let lines = lines.join(".\\par\n");
        format!("\n\\medskip\n\\parbox{{\\textwidth}}{{\\footnotesize\\raggedright\n{lines}.}}\n")
    }

    /// A line with our numbers, and one with the published ones where there are any; the first of a part keeps away from the
    /// rule above it.
    fn row(&self, number: usize, row: &TableRow, first: bool) -> String {
        let strut = if first { "\\rule{0pt}{2.9ex}" } else { "" };
        let labels = self.stub_of(number).into_iter().map(|label| word(&label));
        let ours = strut.to_owned() + &line(labels.chain(row.cells.iter().map(ours)));
        if row.cells.iter().all(|cell| cell.beside().is_none()) {
            return ours;
        }
        let below = self.stub.iter().map(|_| String::new()).chain(row.cells.iter().map(below));
        // Nearer to each other than to the next row.
        let (ours, below) = (ours.trim_end(), line(below));
        format!("{ours}[-0.8ex]\n{}[0.3ex]\n", below.trim_end())
    }

    /// One line of headers; a label over several columns spans them, with a rule below.
    fn head_line(&self, level: usize) -> String {
        let last = level + 1 == self.levels();
        let mut cells: Vec<String> =
            self.stub.iter().map(|name| if last { bold(&word(name)) } else { String::new() }).collect();
        let mut column = 0;
        while column < self.columns.len() {
            let spanned = (column + 1..self.columns.len())
                .take_while(|&next| self.head(level, next).is_empty())
                .count();
            let label = bold(&word(self.head(level, column)));
            cells.push(if spanned == 0 {
                label
            } else {
                format!("\\multicolumn{{{}}}{{c}}{{{label}}}", spanned + 1)
            });
            column += spanned + 1;
        }
        let rule = if last {
            String::new()
        } else {
            format!("\\cline{{{}-{}}}\n", self.stub.len() + 1, self.stub.len() + self.columns.len())
        };
        line(cells.into_iter()) + &rule
    }
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("{} \\\\\n", cells.collect::<Vec<_>>().join(" & "))
}

fn bold(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("\\textbf{{{text}}}") }
}

/// Our number.
fn ours(cell: &TableCell) -> String {
    let ours = word(&cell.ours());
    if cell.best { bold(&ours) } else { ours }
}

/// The published number and the difference, in smaller type.
fn below(cell: &TableCell) -> String {
    let Some((theirs, difference)) = cell.beside() else { return String::new() };
    let stars = if cell.stars().is_empty() { String::new() } else { format!("^{{{}}}", cell.stars()) };
    let difference = difference.map_or(String::new(), |difference| format!(", ${difference}{stars}$"));
    format!("{{\\footnotesize ({}{difference})}}", word(&theirs))
}

/// Text with the symbols that the tables use; a letter with an index becomes mathematics.
fn word(text: &str) -> String {
    if let Some((letter, index)) = text.split_once('_')
        && letter.chars().count() == 1
        && index.chars().all(char::is_alphanumeric)
    {
        return format!("${letter}_{{{index}}}$");
    }
    let symbols = [('†', "$^{\\dagger}$"), ('‡', "$^{\\ddagger}$"), ('§', "$^{\\S}$")];
    // Every second part stands between backticks.
    let part = |(place, part): (usize, &str)| {
        let part = escape(part);
        if place % 2 == 1 { format!("\\texttt{{{part}}}") } else { part }
    };
    let text: String = text.split('`').enumerate().map(part).collect();
    symbols.iter().fold(text, |text, (symbol, latex)| text.replace(*symbol, latex))
}
