//! The demonstration as an HTML page with its pictures, so that the browser needs no emoji font.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::Result;
use bidilel_report::{Align, Block, Figure, GENERATOR, Mark, Table, page};

use super::story::Story;
use super::text::{OWN_PICTURES, because, class_name};
use crate::terminal::Style;

/// The page; it needs no other file.
pub(crate) fn render(story: &Story<'_>) -> Result<String> {
    let Story { animals, trial, .. } = story;
    let mut blocks = vec![
        Block::Text(format!(
            "bidilel looked at {} pictures of {} known animals and read a description of {} more. Here it names {} \
             pictures of those, which it had never seen.",
            trial.train.len(),
            trial.known.len(),
            trial.unseen.len(),
            trial.test.len()
        )),
        Block::Table(accuracy(story)),
        Block::Text(format!(
            "The guesses below are those of “{}”, chosen by cross-validation on known animals.",
            story.chosen
        )),
        Block::Heading("Never shown: every picture with its guesses".to_owned()),
    ];
    for &class in &trial.unseen {
        let tests = (0..trial.test.len()).filter(|&test| story.truth(test) == class);
        let figures = tests.map(|test| guessed(story, test)).collect::<Result<Vec<_>>>()?;
        blocks.extend([Block::Text(class_name(story, class, Style::Plain)), Block::Figures(figures)]);
    }
    blocks.extend([Block::Heading("What was taken for what".to_owned()), Block::Table(confusion(story))]);
    blocks.push(Block::Heading("Learned from: one picture of each known animal".to_owned()));
    let known = trial.known.iter().map(|&class| {
        let instance = animals.dataset.labels.iter().position(|&label| label == class).unwrap_or(0);
        let title = animals.dataset.classes[class].clone();
        let bytes = animals.thumbnail(instance)?;
        Ok(Figure { mime: "image/webp", bytes, title, lines: Vec::new(), mark: Mark::None })
    });
    blocks.push(Block::Figures(known.collect::<Result<Vec<_>>>()?));
    blocks.extend([
        Block::Heading("Your own pictures".to_owned()),
        Block::Code(OWN_PICTURES.to_owned()),
        Block::Heading("Whose pictures these are".to_owned()),
        Block::Text(CREDITS.to_owned()),
    ]);
    Ok(page("Animals that bidilel was never shown", &blocks))
}

/// The licenses ask for this wherever the pictures go.
const CREDITS: &str = "Noto Emoji by Google (Apache-2.0), Twemoji by Twitter and contributors (CC-BY-4.0), Fluent Emoji by \
Microsoft (MIT), EmojiOne 2 / Emojitwo by Emoji One and contributors (CC-BY-4.0), FxEmojis by Mozilla (Apache-2.0); \
each made smaller, on a white square.";

/// Whether a file is there that no `bidilel` wrote as a page.
pub(crate) fn is_foreign(path: &Path) -> bool {
    let Ok(mut file) = File::open(path) else { return path.exists() };
    let mut head = [0; 512];
    let mut length = 0;
    while let Ok(count @ 1..) = file.read(&mut head[length..]) {
        length += count;
    }
    !String::from_utf8_lossy(&head[..length]).contains(GENERATOR)
}

fn guessed(story: &Story<'_>, test: usize) -> Result<Figure> {
    let guesses = story.guesses(test);
    let right = guesses.first().is_some_and(|guess| guess.class == story.truth(test));
    let name = |rank: usize| guesses.get(rank).map(|guess| class_name(story, guess.class, Style::Plain));
    let mut lines: Vec<String> =
        (1..3).filter_map(|rank| Some(format!("{}. {}", rank + 1, name(rank)?))).collect();
    lines.extend(guesses.first().map(|best| because(story, test, best.class, Style::Plain)));
    let instance = story.trial.test[test];
    lines.push(format!("drawn by {}", story.animals.style(instance)));
    Ok(Figure {
        mime: "image/webp",
        bytes: story.animals.thumbnail(instance)?,
        title: name(0).unwrap_or_default(),
        lines,
        mark: if right { Mark::Right } else { Mark::Wrong },
    })
}

fn accuracy(story: &Story<'_>) -> Table {
    let mut table = Table::new(&[("", Align::Left), ("right, mean over the animals", Align::Right)]);
    let mut row =
        |name: &str, share: f64| table.push(vec![name.to_owned(), format!("{:.1} %", 100.0 * share)]);
    row("by guessing", story.chance());
    story.ways.iter().for_each(|(name, accuracy)| row(name, accuracy.per_class));
    row("among the three nearest", story.among_three.per_class);
    table
}

/// Every animal with what its pictures were taken for, most often first.
fn confusion(story: &Story<'_>) -> Table {
    let mut table =
        Table::new(&[("animal", Align::Left), ("right", Align::Right), ("taken for", Align::Left)]);
    for (class, counts) in story.confusion.iter().enumerate() {
        let mut mistakes: Vec<(usize, usize)> = counts
            .iter()
            .copied()
            .enumerate()
            .filter(|&(guess, count)| guess != class && count > 0)
            .collect();
        mistakes.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        let name = |class: usize| &story.task.unseen[class];
        let mistakes: Vec<String> =
            mistakes.iter().map(|&(guess, count)| format!("{} {count}", name(guess))).collect();
        let right = format!("{} of {}", counts[class], counts.iter().sum::<usize>());
        table.push(vec![name(class).clone(), right, mistakes.join(", ")]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_our_own_are_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("page.html");
        assert!(!is_foreign(&path), "nothing is there");
        std::fs::write(&path, "<!doctype html><title>mine</title>").expect("writable");
        assert!(is_foreign(&path));
        std::fs::write(&path, page("ours", &[])).expect("writable");
        assert!(!is_foreign(&path));
        assert!(is_foreign(folder.path()), "a folder is no page");
    }
}
