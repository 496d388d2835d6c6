//! Journals of tuning whose lines are JSON and otherwise anything, from a recipe.

use super::crafted::Recipe;

/// The fingerprint that a journal must have to be continued.
pub const FINGERPRINT: &str = "abc";
/// That of the package that reads it.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The bytes of a journal.
pub fn journal(recipe: &mut Recipe<'_>) -> Vec<u8> {
    let mut text = match recipe.below(8) {
        0 => r#"{"journal":"bidilel tune","version":1,"fingerprint":"abd"}"#.to_owned(),
        1 => r#"{"fingerprint":["abc"]}"#.to_owned(),
        2 => String::new(),
        _ => format!(r#"{{"journal":"bidilel tune","version":1,"fingerprint":"{VERSION} {FINGERPRINT}"}}"#),
    };
    let mut bytes = Vec::new();
    while !recipe.is_empty() && bytes.len() < 1 << 16 {
        text.push_str(["\n", "\n", "\n", "\r\n", "", "\n\n"][recipe.below(6)]);
        bytes.extend(std::mem::take(&mut text).into_bytes());
        text = line(recipe);
        if recipe.below(16) == 0 {
            // As a kill would leave it, but anywhere.
            let end = recipe.below(text.len() + 1);
            text.truncate(end);
        }
    }
    bytes.extend(text.into_bytes());
    if recipe.below(2) == 0 {
        bytes.push(b'\n');
    }
    bytes
}

fn line(recipe: &mut Recipe<'_>) -> String {
    let alpha = recipe.byte();
    let settings = match recipe.below(16) {
        0 => "null".to_owned(),
        1 => "[".repeat(recipe.below(200)) + &"]".repeat(recipe.below(200)),
        2 => format!(r#"{{"alpha":{alpha},"alpha":1}}"#),
        _ => format!(r#"{{"alpha":{alpha}.5,"dim":{}}}"#, recipe.byte()),
    };
    // The last of each is what a run writes.
    let trials = ["-1", "18446744073709551615", "18446744073709551616", "1.5", "1", "0"];
    let scores = ["1", "1e999", "-0.0", "null", "\"0.5\"", "5e-324", "NaN", "0.25"];
    let trial = trials[recipe.below(24).min(trials.len() - 1)];
    let score = scores[recipe.below(32).min(scores.len() - 1)];
    format!(r#"{{"settings":{settings},"trial":{trial},"score":{score}}}"#)
}
