//! The published layout as a LaTeX table: spanning headers, rules between parts, the best in bold.
//!
//! It needs the package `graphicx`, which shrinks tables that are wider than the page; others keep their size.

use super::{Reproduction, TableCell};
use crate::latex::escape;

impl Reproduction {
    /// A floating table over both columns of a page, with caption and label.
    pub fn latex(&self) -> String {
        let (stub, columns) = (self.stub.len(), self.columns.len());
        let mut body = String::new();
        for level in 0..self.levels() {
            body += &self.head_line(level);
        }
        body += "\\hline\n";
        for (number, row) in self.rows.iter().enumerate() {
            if self.begins_part(number) {
                body += "\\hline\n";
            }
            let labels = self.stub_of(number).into_iter().map(|label| word(&label));
            let cells = row.cells.iter().map(cell);
            body += &line(labels.chain(cells));
        }
        let foot: Vec<String> = self.foot().iter().map(|line| word(line)).collect();
        let caption = format!("{}. {}", word(&self.title), foot.join(". "));
        let (caption, label) = (caption.trim().trim_end_matches('.'), &self.experiment);
        format!(
            "% Needs \\usepackage{{graphicx}}.\n\
             \\begin{{table*}}[t]\n\\centering\n\\caption{{{caption}.}}\n\\label{{tab:{label}}}\n\
             \\resizebox{{\\ifdim\\width>\\textwidth\\textwidth\\else\\width\\fi}}{{!}}{{%\n\
             \\begin{{tabular}}{{{}|{}}}\n\\hline\n{body}\\hline\n\\end{{tabular}}}}\n\\end{{table*}}\n",
            "l".repeat(stub),
            "c".repeat(columns),
        )
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

fn cell(cell: &TableCell) -> String {
    let ours = word(&cell.ours());
    let ours = if cell.best { bold(&ours) } else { ours };
    match cell.beside() {
        None => ours,
        Some((theirs, difference)) => {
            let stars =
                if cell.stars().is_empty() { String::new() } else { format!("^{{{}}}", cell.stars()) };
            let difference =
                difference.map_or(String::new(), |difference| format!(", ${difference}{stars}$"));
            format!("{ours} {{\\scriptsize ({}{difference})}}", word(&theirs))
        }
    }
}

/// Text with the symbols that the tables use; a letter with an index becomes mathematics.
fn word(text: &str) -> String {
    if let Some((letter, index)) = text.split_once('_')
        && letter.chars().count() == 1
        && index.chars().all(char::is_alphanumeric)
    {
        return format!("${letter}_{{{index}}}$");
    }
    let symbols = [
        ('†', "$^{\\dagger}$"),
        ('‡', "$^{\\ddagger}$"),
        ('§', "$^{\\S}$"),
        ('α', "$\\alpha$"),
        ('γ', "$\\gamma$"),
    ];
    symbols.iter().fold(escape(text), |text, (symbol, latex)| text.replace(*symbol, latex))
}
