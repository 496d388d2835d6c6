//! The demonstration on a terminal.

use std::fmt::Write as _;

use bidilel_report::{wrap, wrap_lines};

use super::story::Story;
use crate::terminal::Style;

/// Columns of what is not written to a terminal.
const COLUMNS: usize = 96;
/// Columns of a class in the list of names.
const NAME: usize = 18;

/// The whole text, within `width` columns where one is given; `page` is the line about the page.
pub(crate) fn render(
    story: &Story<'_>,
    style: Style,
    page: &str,
    seconds: f64,
    width: Option<usize>,
) -> String {
    let teller = Teller { story, style, columns: width.unwrap_or(COLUMNS) };
    let mut text = String::new();
    teller.introduction(&mut text);
    teller.accuracy(&mut text);
    teller.confusion(&mut text);
    teller.pictures(&mut text);
    let _ = write!(text, "\n{page}\n\n{OWN_PICTURES}\n\n{seconds:.1} s\n");
    wrap_lines(&text, width)
}

/// How to do the same elsewhere; every command is one that the program has.
pub(crate) const OWN_PICTURES: &str = "\
The same on your own pictures, with any network in an ONNX file:
  bidilel extract PICTURES --network NET.onnx --out features.npy --dataset mine   (a subfolder a class)
  describe every class, those without a picture too, in mine/dataset.toml         (README: on your own data)
  bidilel fit mine --out my.model
  bidilel extract NEW --network NET.onnx --out new.npy
  bidilel predict my.model new.npy --top 3";

struct Teller<'a> {
    story: &'a Story<'a>,
    style: Style,
    columns: usize,
}

impl Teller<'_> {
    /// A class as this terminal can show it.
    fn class(&self, class: usize) -> String {
        class_name(self.story, class, self.style)
    }

    fn introduction(&self, text: &mut String) {
        let Story { animals, trial, .. } = self.story;
        let attributes = self.story.telling_attributes(5).join(", ");
        let learned = format!(
            "Learned from {} pictures of {} known animals, drawn in up to seven styles, and from what is \
             known of all {} animals: {}. Not one picture of these {} was used:",
            trial.train.len(),
            trial.known.len(),
            animals.dataset.classes.len(),
            self.descriptions(&attributes),
            trial.unseen.len(),
        );
        let learned = wrap(&learned, self.columns, "");
        let _ = write!(text, "Recognizing animals that were never shown\n\n{learned}\n\n");
        let names: Vec<String> = trial.unseen.iter().map(|&class| self.class(class)).collect();
        // Even lines look better than full ones: twenty names are four times five, or five times four.
        for line in names.chunks((self.columns / NAME).clamp(1, 5)) {
            let cells: String = line.iter().map(|name| pad(name, NAME)).collect();
            let _ = writeln!(text, "  {}", cells.trim_end());
        }
    }

    fn descriptions(&self, examples: &str) -> String {
        let dataset = &self.story.animals.dataset;
        let describe = |name: &String| {
            let dimensions = dataset.semantic(Some(name)).map_or(0, |semantic| semantic.vectors.nrows());
            match name.as_str() {
                "attributes" => format!("{dimensions} attributes of each ({examples}, ...)"),
                "sentences" => "a vector of its name and keywords".to_owned(),
                other => format!("{dimensions} numbers ({other})"),
            }
        };
        self.story.described_by.iter().map(describe).collect::<Vec<_>>().join(", and ")
    }

    fn accuracy(&self, text: &mut String) {
        let story = self.story;
        let _ = write!(
            text,
            "\nHow many of their {} pictures get the right one of the {} names? (mean over the animals)\n\n",
            story.trial.test.len(),
            story.trial.unseen.len()
        );
        // A full bar leaves room for the name before it and the remark after it.
        let cells = self.columns.saturating_sub(62).clamp(8, 40) as f64;
        let full = if self.style == Style::Emoji { "\u{2588}" } else { "#" };
        let mut row = |name: &str, share: f64, remark: &str| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a share of a short bar"
            )]
            let bar = full.repeat((cells * share).round() as usize);
            let _ = writeln!(text, "  {name:<25}{:>5.1} %  {bar}{remark}", 100.0 * share);
        };
        row("by guessing", story.chance(), "");
        for (name, accuracy) in &story.ways {
            let remark = if *name == story.chosen { "  <- chosen on known animals" } else { "" };
            row(name, accuracy.per_class, remark);
        }
        row("among the three nearest", story.among_three.per_class, "");
    }

    /// Counts by truth (rows) and guess (columns), three cells per column.
    fn confusion(&self, text: &mut String) {
        let story = self.story;
        let emoji = self.style == Style::Emoji;
        let column = |class: usize| {
            if emoji {
                format!(" {}", pad(&story.animals.characters[story.trial.unseen[class]], 2))
            } else {
                format!("{:>3}", letter(class))
            }
        };
        let heading = (0..story.trial.unseen.len()).map(column).collect::<Vec<_>>().concat();
        let _ = write!(
            text,
            "\nWhat was taken for what (one row per animal, one column per guess)\n\n  {:<18}{heading}\n",
            ""
        );
        for (class, counts) in story.confusion.iter().enumerate() {
            let name = self.class(story.trial.unseen[class]);
            let name = if emoji { name } else { format!("{:>2} {name}", letter(class)) };
            let cell = |&count: &usize| match count {
                0 => format!("{:>3}", if emoji { "\u{b7}" } else { "." }),
                count => format!("{count:>3}"),
            };
            let _ = writeln!(
                text,
                "  {}{}",
                pad(&name, 18),
                counts.iter().map(cell).collect::<Vec<_>>().concat()
            );
        }
    }

    fn pictures(&self, text: &mut String) {
        let story = self.story;
        text.push_str("\nA few pictures, the three nearest animals, and why\n");
        for test in story.samples() {
            let style = story.animals.style(story.trial.test[test]);
            let guesses = story.guesses(test);
            let listed: Vec<String> = guesses
                .iter()
                .map(|guess| format!("{} {:.2}", self.class(guess.class), guess.distance))
                .collect();
            let right = guesses.first().is_some_and(|guess| guess.class == story.truth(test));
            let verdict = if right { "right" } else { "wrong" };
            let truth = self.class(story.truth(test));
            let _ = writeln!(
                text,
                "\n  {} {verdict}: {}",
                pad(&format!("{truth} ({style})"), 32),
                listed.join(", ")
            );
            if let Some(best) = guesses.first() {
                let _ = writeln!(text, "    {}", because(story, test, best.class, self.style));
            }
        }
    }
}

/// `near the known lion, cat; they share with tiger: paws, whiskers`.
pub(crate) fn because(story: &Story<'_>, test: usize, class: usize, style: Style) -> String {
    let why = story.why(test, class);
    let near: Vec<String> = why.near.iter().map(|&known| class_name(story, known, style)).collect();
    let shared: Vec<&str> = why.shared.iter().map(|&attribute| story.attribute(attribute)).collect();
    let name = &story.animals.dataset.classes[class];
    let near = format!("near the known {}", near.join(", "));
    if shared.is_empty() { near } else { format!("{near}; they share with {name}: {}", shared.join(", ")) }
}

/// A class with its character, or by its name alone.
pub(crate) fn class_name(story: &Story<'_>, class: usize, style: Style) -> String {
    let name = &story.animals.dataset.classes[class];
    match style {
        Style::Emoji => format!("{} {name}", story.animals.characters[class]),
        Style::Plain => name.clone(),
    }
}

/// `a` to `z`, then `aa` and on.
fn letter(index: usize) -> String {
    let last = char::from(b'a' + u8::try_from(index % 26).unwrap_or(0));
    if index < 26 { last.to_string() } else { format!("{}{last}", letter(index / 26 - 1)) }
}

/// Fills up to a width in terminal cells.
fn pad(text: &str, width: usize) -> String {
    bidilel_report::pad(text, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_go_on_after_z() {
        assert_eq!([0, 25, 26, 27, 52].map(letter), ["a", "z", "aa", "ab", "ba"]);
    }
}
