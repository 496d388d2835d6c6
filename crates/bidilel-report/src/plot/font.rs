//! Widths and outlines of text, for layout and for pictures that no font is at hand for.
//!
//! The outlines are those of Roboto Regular (Google, Apache-2.0) for Latin, Greek and Cyrillic; `glyphs.py` makes them. A
//! character that is not among them is a box, like in any program without a font for it.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::LazyLock;

const GLYPHS: &str = include_str!("glyphs.txt");
/// Units per font size in the outlines.
const UNITS: f64 = 1000.0;
/// A box for what has no outline.
const BOX: Glyph =
    Glyph { advance: 560.0, outline: "M60-700l440 0l0 700l-440 0zM110-650l0 600l340 0l0-600z" };

#[derive(Clone, Copy)]
struct Glyph {
    advance: f64,
    outline: &'static str,
}

static FONT: LazyLock<HashMap<char, Glyph>> =
    LazyLock::new(|| GLYPHS.lines().filter(|line| !line.starts_with('#')).filter_map(glyph).collect());

fn glyph(line: &'static str) -> Option<(char, Glyph)> {
    let mut parts = line.splitn(3, ' ');
    let character = char::from_u32(u32::from_str_radix(parts.next()?, 16).ok()?)?;
    Some((character, Glyph { advance: parts.next()?.parse().ok()?, outline: parts.next().unwrap_or("") }))
}

fn of(character: char) -> Glyph {
    FONT.get(&character).copied().unwrap_or(BOX)
}

/// Room for a line at a font size, where the reader's font may be wider than ours: DejaVu Sans is by a seventh.
pub(crate) fn room(text: &str, size: f64) -> f64 {
    1.15 * width(text, size)
}

/// Width of a line at a font size.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(|character| of(character).advance).sum::<f64>() * size / UNITS
}

/// The text, or its beginning and an ellipsis where it needs more room than `most`.
pub(crate) fn shortened(text: &str, size: f64, most: f64) -> String {
    if room(text, size) <= most {
        return text.to_owned();
    }
    let left = most - room("…", size);
    let mut used = 0.0;
    let fits = |character: &char| {
        used += room(character.encode_utf8(&mut [0; 4]), size);
        used <= left
    };
    text.chars().take_while(fits).collect::<String>().trim_end().to_owned() + "…"
}

/// The text on one line, or where it needs more room than `most` on two, the second of them shortened.
pub(crate) fn wrapped(text: &str, size: f64, most: f64) -> Vec<String> {
    let fits = |&end: &usize| room(&text[..end], size) <= most;
    let spaces = || text.char_indices().filter(|(_, character)| *character == ' ').map(|(place, _)| place);
    match spaces().take_while(fits).last().filter(|&end| end > 0) {
        Some(end) if room(text, size) > most => {
            vec![text[..end].to_owned(), shortened(&text[end + 1..], size, most)]
        }
        _ => vec![shortened(text, size, most)],
    }
}

/// Characters that have no outline.
pub(crate) fn without_outline(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|character| !FONT.contains_key(character))
}

/// What outlines are scaled by at a font size.
pub(crate) fn scale(size: f64) -> f64 {
    size / UNITS
}

/// Outlines of a line whose baseline begins at the origin, as groups of one path each.
pub(crate) fn outlines(text: &str, size: f64) -> String {
    let scale = scale(size);
    let mut at = 0.0;
    let mut out = String::new();
    for character in text.chars() {
        let Glyph { advance, outline } = of(character);
        if !outline.is_empty() {
            // Writing to a string cannot fail.
            let _ =
                write!(out, "<path transform=\"translate({at:.2},0) scale({scale:.4})\" d=\"{outline}\"/>");
        }
        at += advance * scale;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_font() {
        // Advances of Roboto Regular in units of 2048 per em: A 1336, V 1303, space 507.
        for (text, units) in [("A", 1336.0), ("V", 1303.0), (" ", 507.0)] {
            assert!((width(text, 2048.0) - units).abs() < 2.0, "{text}");
        }
        assert!((width("AV ", 10.0) - (width("A", 10.0) + width("V", 10.0) + width(" ", 10.0))).abs() < 1e-9);
    }

    #[test]
    fn every_printable_character_of_ascii_has_an_outline_and_others_are_boxes() {
        for character in ' '..='~' {
            assert!(FONT.contains_key(&character), "{character}");
            assert_eq!(outlines(&character.to_string(), 10.0).is_empty(), character == ' ');
        }
        assert!(outlines("熊", 10.0).contains(BOX.outline));
    }

    #[test]
    fn long_names_are_shortened_to_what_fits() {
        let long = "Black_footed_Albatross of the southern sea";
        let short = shortened(long, 14.0, 120.0);
        assert!(short.ends_with('…') && width(&short, 14.0) <= 120.0 && short.len() > 10, "{short}");
        assert_eq!(shortened("short", 14.0, 120.0), "short");
    }

    #[test]
    fn long_titles_take_two_lines() {
        let title = "CUB-200-2011 Vgg19: self-training-neighbors";
        assert_eq!(wrapped(title, 15.0, 280.0), ["CUB-200-2011 Vgg19:", "self-training-neighbors"]);
        assert_eq!(wrapped(title, 15.0, 600.0), [title]);
        let word = "self-training-neighbors".repeat(3);
        assert_eq!(wrapped(&word, 15.0, 120.0), [shortened(&word, 15.0, 120.0)], "no space to break at");
        assert!(wrapped(&format!("a {word}"), 15.0, 120.0)[1].ends_with('…'));
    }
}
