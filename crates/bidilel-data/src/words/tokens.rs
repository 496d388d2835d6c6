//! The words in the name of a class, however it is written.

/// A name, cut into words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    /// Spellings of the name as one entry, best first: `killer_whale`.
    pub(super) phrases: Vec<String>,
    pub(super) words: Vec<String>,
}

/// Cuts `killer+whale`, `001.Black_footed_Albatross` and `HandstandPushups` into words.
pub(super) fn name(text: &str) -> Name {
    let text = without_number(text.trim());
    let words: Vec<String> = text
        .split(|letter: char| !letter.is_alphanumeric() && !is_apostrophe(letter))
        .flat_map(humps)
        .map(|word| word.trim_matches(is_apostrophe).to_owned())
        .filter(|word| !word.is_empty())
        .collect();
    let mut phrases = Vec::new();
    if words.len() > 1 {
        for phrase in [words.join("_"), words.join("-"), text.to_owned()] {
            for spelling in [phrase.clone(), phrase.to_lowercase()] {
                if !phrases.contains(&spelling) {
                    phrases.push(spelling);
                }
            }
        }
    }
    Name { phrases, words }
}

/// Spellings under which a word may have a vector, best first.
pub(super) fn spellings(word: &str) -> Vec<String> {
    let mut spellings = vec![word.to_owned()];
    if let Some((stem, end)) = word.rsplit_once(is_apostrophe) {
        // A brewer's blackbird is named after a brewer; an o'brien is no o.
        if end.eq_ignore_ascii_case("s") {
            spellings.push(stem.to_owned());
        }
        spellings.push(word.replace(is_apostrophe, ""));
    }
    let lower: Vec<String> = spellings.iter().map(|spelling| spelling.to_lowercase()).collect();
    for spelling in lower {
        if !spellings.contains(&spelling) {
            spellings.push(spelling);
        }
    }
    spellings
}

/// Drops the number of a class: `001.` before anything, and `01_` because no word starts with zero.
fn without_number(text: &str) -> &str {
    let rest = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let numbered = rest.len() < text.len();
    match rest.chars().next() {
        Some('.') if numbered => rest[1..].trim_start(),
        Some('_' | '-' | ' ') if numbered && text.starts_with('0') => rest[1..].trim_start(),
        _ => text,
    }
}

/// Cuts before a capital that follows a small letter, or that a small letter follows: `BMX`, `Riding`.
fn humps(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let mut words = vec![String::new()];
    for (index, &letter) in letters.iter().enumerate() {
        let before = index.checked_sub(1).map(|index| letters[index]);
        let after = letters.get(index + 1);
        let starts = letter.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || (before.is_uppercase() && after.is_some_and(|after| after.is_lowercase()))
            });
        if starts {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(letter);
        }
    }
    words
}

fn is_apostrophe(letter: char) -> bool {
    matches!(letter, '\'' | '\u{2019}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_names_of_every_benchmark() {
        for (text, words) in [
            ("killer+whale", "killer whale"),
            ("Black_footed_Albatross", "Black footed Albatross"),
            ("001.Black_footed_Albatross", "Black footed Albatross"),
            ("HandstandPushups", "Handstand Pushups"),
            ("BMXRiding", "BMX Riding"),
            ("YoYo", "Yo Yo"),
            ("Brewer's_Blackbird", "Brewer's Blackbird"),
            ("067.Anna_Hummingbird", "Anna Hummingbird"),
            ("01_apple", "apple"),
            ("100 metres", "100 metres"),
            ("3D_printer", "3D printer"),
            ("ox", "ox"),
            ("'tis", "tis"),
            ("Löwe Ähre", "Löwe Ähre"),
            ("雪豹", "雪豹"),
            ("42", "42"),
            ("...", ""),
            ("", ""),
        ] {
            assert_eq!(name(text).words.join(" "), words, "{text}");
        }
    }

    #[test]
    fn spells_phrases_and_words_in_order() {
        assert_eq!(name("killer+whale").phrases[..2], ["killer_whale", "killer-whale"]);
        assert_eq!(name("YoYo").phrases, ["Yo_Yo", "yo_yo", "Yo-Yo", "yo-yo", "YoYo", "yoyo"]);
        assert!(name("ox").phrases.is_empty());
        assert_eq!(spellings("Ox"), ["Ox", "ox"]);
        assert_eq!(spellings("Brewer's"), ["Brewer's", "Brewer", "Brewers", "brewer's", "brewer", "brewers"]);
        assert_eq!(spellings("O\u{2019}Brien"), ["O\u{2019}Brien", "OBrien", "o\u{2019}brien", "obrien"]);
    }
}
