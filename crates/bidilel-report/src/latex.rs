//! LaTeX `tabular` environments that need no package.

use std::collections::BTreeSet;

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
            // An empty line is a new paragraph, which no caption may have, and a form feed is one, too.
            _ if character.is_control() => escaped.push(' '),
            _ => match GREEK.iter().find(|(letter, _)| *letter == character) {
                Some((_, name)) => escaped.extend(["$\\", name, "$"]),
                None => escaped.push(character),
            },
        }
    }
    escaped
}

/// Greek letters that look like no Latin one; LaTeX has them in mathematics only.
const GREEK: [(char, &str); 33] = [
    ('α', "alpha"),
    ('β', "beta"),
    ('γ', "gamma"),
    ('δ', "delta"),
    ('ε', "varepsilon"),
    ('ζ', "zeta"),
    ('η', "eta"),
    ('θ', "theta"),
    ('ι', "iota"),
    ('κ', "kappa"),
    ('λ', "lambda"),
    ('μ', "mu"),
    ('ν', "nu"),
    ('ξ', "xi"),
    ('π', "pi"),
    ('ρ', "rho"),
    ('σ', "sigma"),
    ('τ', "tau"),
    ('υ', "upsilon"),
    ('φ', "varphi"),
    ('χ', "chi"),
    ('ψ', "psi"),
    ('ω', "omega"),
    ('Γ', "Gamma"),
    ('Δ', "Delta"),
    ('Θ', "Theta"),
    ('Λ', "Lambda"),
    ('Ξ', "Xi"),
    ('Π', "Pi"),
    ('Σ', "Sigma"),
    ('Φ', "Phi"),
    ('Ψ', "Psi"),
    ('Ω', "Omega"),
];

/// Definitions for characters that `pdflatex` may not know, each as a box with its number: a name is no reason to fail.
/// XeLaTeX and LuaLaTeX do not use them.
pub(crate) fn boxes(text: &str) -> String {
    let far: BTreeSet<char> = text.chars().filter(|character| *character >= '\u{250}').collect();
    let define = |character: char| {
        let (name, code) = (format!("u8:\\detokenize{{{character}}}"), u32::from(character));
        format!(
            "\\ifcsname {name}\\endcsname\\else\\expandafter\\gdef\\csname {name}\\endcsname{{\\fbox{{\\tiny {code:X}}}}}\\fi\n"
        )
    };
    far.into_iter().map(define).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_do_not_end_within_a_text() {
        assert_eq!(escape("a\n\nb\r\nc\u{c}d"), "a  b  c d");
    }

    #[test]
    fn greek_letters_are_mathematics_and_other_far_letters_have_a_box_to_fall_back_to() {
        assert_eq!(escape("π & 日_é"), "$\\pi$ \\& 日\\_é");
        assert_eq!(boxes("plain é ü"), "");
        let name = "u8:\\detokenize{日}";
        let wanted = format!(
            "\\ifcsname {name}\\endcsname\\else\\expandafter\\gdef\\csname {name}\\endcsname{{\\fbox{{\\tiny 65E5}}}}\\fi\n"
        );
        assert_eq!(boxes("日 and 日"), wanted);
    }
}
