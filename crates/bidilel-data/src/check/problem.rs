//! One thing that is wrong, where it is, and what to do about it.

use std::error::Error as _;

use crate::error::Error;
use crate::reading::Note;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// It cannot or must not be used.
    Error,
    /// It should be looked at.
    Warning,
}

/// One thing that is wrong with a dataset.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// A file, or a part of the dataset, and the place in it.
    #[serde(rename = "where")]
    pub place: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Problem {
    pub(super) fn error(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, place: place.into(), message: message.into(), hint: None }
    }

    pub(super) fn warning(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(place, message) }
    }

    pub(super) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// A part that could not be read.
    pub(super) fn from_error(error: &Error) -> Self {
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            text = format!("{text}: {cause}");
            source = cause.source();
        }
        // Every message of this crate starts with the file that it is about.
        let (place, message) =
            text.strip_prefix('`').and_then(|rest| rest.split_once("`: ")).unwrap_or(("dataset", &text));
        Self { hint: error.hint(), ..Self::error(place, message) }
    }

    /// Something that was noticed while reading.
    pub(super) fn from_note(note: &Note) -> Self {
        Self {
            hint: note.hint.map(str::to_owned),
            ..Self::warning(note.path.display().to_string(), &note.message)
        }
    }
}

/// An origin as a place: `` `x.npy` `` without its quotes.
pub(super) fn place(origin: &str) -> String {
    origin.trim_matches('`').to_owned()
}

/// A few names, and how many more there are.
pub(super) fn some(names: impl IntoIterator<Item = String>) -> String {
    const MOST: usize = 5;
    let names: Vec<String> = names.into_iter().collect();
    let shown = names[..names.len().min(MOST)].join(", ");
    match names.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// `1 row`, `2 rows`.
pub(super) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn an_error_becomes_a_place_a_message_and_a_hint() {
        let source = io::Error::from(io::ErrorKind::PermissionDenied);
        let problem = Problem::from_error(&Error::Read { path: "a`b.npy".into(), source });
        assert_eq!(problem.place, "a`b.npy");
        assert_eq!(problem.message, "cannot be read: permission denied");
        assert!(problem.hint.unwrap().contains("permissions"));
    }

    #[test]
    fn lists_are_cut_and_counts_agree() {
        assert_eq!(some(["a", "b"].map(String::from)), "a, b");
        assert_eq!(some((0..7).map(|i| i.to_string())), "0, 1, 2, 3, 4 and 2 more");
        assert_eq!((count(1, "row", "rows"), count(2, "row", "rows")), ("1 row".into(), "2 rows".into()));
    }
}
