//! From class names to class indices.
//!
//! Names are compared in Unicode's composed form (NFC): macOS writes file names decomposed, editors composed, and both
//! look the same.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;

use crate::error::{Error, Result};
use crate::text::List;

/// The classes of a dataset, to look names up in.
#[derive(Debug)]
pub(crate) struct ClassIndex<'a> {
    index_of: HashMap<String, usize>,
    /// Classes by their letters and digits alone, where these are enough; none where two classes share them.
    plain: Option<HashMap<String, Option<usize>>>,
    names: &'a [String],
}

/// A name as it is compared: composed, without spaces around it.
pub fn composed(name: &str) -> String {
    name.trim().nfc().collect()
}

/// Letters and digits in lower case, without a number in front: `fishcrow`.
pub(crate) fn plain(name: &str) -> String {
    let name = composed(name);
    let unnumbered = match name.split_once('.') {
        Some((number, rest)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            rest
        }
        _ => &name,
    };
    unnumbered.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

impl<'a> ClassIndex<'a> {
    pub(crate) fn new(names: &'a [String]) -> Self {
        let index_of = names.iter().enumerate().map(|(index, name)| (composed(name), index)).collect();
        Self { index_of, plain: None, names }
    }

    /// Finds a class by its plain letters and digits, too: `001.Fish_Crow`, `Fish_Crow` and `fish crow` are the same,
    /// as in the files of one benchmark.
    pub(crate) fn lenient(names: &'a [String]) -> Self {
        let mut plain_names: HashMap<String, Option<usize>> = HashMap::new();
        for (index, name) in names.iter().enumerate() {
            plain_names.entry(plain(name)).and_modify(|found| *found = None).or_insert(Some(index));
        }
        Self { plain: Some(plain_names), ..Self::new(names) }
    }

    pub(crate) fn count(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The class of that name.
    pub(crate) fn get(&self, name: &str) -> Option<usize> {
        let by_letters = || self.plain.as_ref()?.get(&plain(name)).copied().flatten();
        self.index_of.get(&composed(name)).copied().or_else(by_letters)
    }

    /// The class that was probably meant.
    pub(crate) fn closest(&self, name: &str) -> Option<String> {
        closest(name, self.names)
    }

    pub(crate) fn names(&self) -> &[String] {
        self.names
    }

    pub(crate) fn name(&self, index: usize) -> &str {
        &self.names[index]
    }

    /// The index of every name in a list, in its order.
    pub(crate) fn indices(&self, list: &List) -> Result<Vec<usize>> {
        let look_up = |(place, name): (usize, &String)| {
            self.get(name).ok_or_else(|| Error::UnknownClass {
                path: list.path.clone(),
                place: list.place(place),
                name: name.clone(),
                closest: self.closest(name),
            })
        };
        list.items.iter().enumerate().map(look_up).collect()
    }
}

/// Longer names have no near one: comparing takes time with the square of the length, and nobody types them.
const MAX_COMPARED_BYTES: usize = 200;

/// The name that was probably meant: a third of the letters may differ.
pub fn closest(name: &str, names: &[String]) -> Option<String> {
    if name.len() > MAX_COMPARED_BYTES {
        return None;
    }
    let letters = |text: &str| text.to_lowercase().chars().collect::<Vec<_>>();
    let wanted = letters(name);
    let (distance, best) = names
        .iter()
        .filter(|candidate| candidate.len() <= MAX_COMPARED_BYTES)
        .map(|candidate| (edit_distance(&wanted, &letters(candidate)), candidate))
        .min_by_key(|pair| pair.0)?;
    (distance <= wanted.len().div_ceil(3)).then(|| best.clone())
}

/// Insertions, deletions and replacements that turn one word into the other (Levenshtein 1966).
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_a_near_name_and_no_far_one() {
        let names = ["Fish_Crow", "Common_Raven"].map(String::from);
        let suggestion = |name| closest(name, &names);
        assert_eq!(suggestion("Fish_Cow").as_deref(), Some("Fish_Crow"));
        assert_eq!(suggestion("fish crow").as_deref(), Some("Fish_Crow"));
        assert_eq!(suggestion("Mallard"), None);
        assert_eq!(closest("a", &[]), None);
        let long = ["x".repeat(200), "x".repeat(40_000)];
        assert_eq!(closest(&"x".repeat(199), &long).as_ref(), Some(&long[0]));
        assert_eq!(closest(&"x".repeat(39_999), &long), None, "it would take seconds");
    }

    #[test]
    fn both_forms_of_a_letter_are_the_same_name() {
        let names = ["Bl\u{e5}mes".to_owned()];
        assert_eq!(ClassIndex::new(&names).get("Bla\u{30a}mes "), Some(0));
        assert_eq!(ClassIndex::new(&names).get("Blames"), None);
    }

    #[test]
    fn edit_distance_is_a_metric_on_examples() {
        let distance =
            |a: &str, b: &str| edit_distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("sitting", "kitten"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "abc"), 0);
    }
}
