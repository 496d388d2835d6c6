//! Which columns of a table are meant, as users say it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};

/// The roles that the user gave to columns; what is not said is found out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// The columns of features, by name or by pattern (`f*`).
    pub columns: Option<Columns>,
    /// The column that names the classes.
    pub name_column: Option<String>,
    /// The column with the class of every row.
    pub label_column: Option<String>,
    /// The column that identifies the rows.
    pub id_column: Option<String>,
}

impl Choice {
    /// The option that says something, for messages about files that have no columns.
    pub(crate) fn first(&self) -> Option<&'static str> {
        let said = [
            ("columns", self.columns.is_some()),
            ("name_column", self.name_column.is_some()),
            ("label_column", self.label_column.is_some()),
            ("id_column", self.id_column.is_some()),
        ];
        said.into_iter().find(|(_, said)| *said).map(|(name, _)| name)
    }
}

/// Names of columns, or patterns: `*` stands for any letters, `?` for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns(pub Vec<String>);

impl<'de> Deserialize<'de> for Columns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;
        impl<'de> Visitor<'de> for OneOrMany {
            type Value = Columns;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a column, a pattern such as \"f*\", or a list of these")
            }
            fn visit_str<E>(self, name: &str) -> Result<Columns, E> {
                Ok(Columns(vec![name.to_owned()]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Columns, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = sequence.next_element()? {
                    names.push(name);
                }
                Ok(Columns(names))
            }
        }
        deserializer.deserialize_any(OneOrMany)
    }
}

/// Whether a name has the form of a pattern: `*` stands for any letters, `?` for one.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    // Where the last `*` stands, and how much of the name it covers so far.
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&letter) if letter == '?' || letter == name[n] => (p, n) = (p + 1, n + 1),
            _ => match star {
                None => return false,
                Some((place, covered)) => {
                    (p, n) = (place + 1, covered + 1);
                    star = Some((place, covered + 1));
                }
            },
        }
    }
    pattern[p..].iter().all(|&letter| letter == '*')
}

/// Whether this is a pattern and not only a name.
pub(super) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_a_shell() {
        for (pattern, name, fits) in [
            ("f*", "f1", true),
            ("f*", "f", true),
            ("f*", "xf1", false),
            ("*", "", true),
            ("f?", "f12", false),
            ("f??", "f12", true),
            ("a*b*c", "aXbXbc", true),
            ("a*b*c", "aXbXb", false),
            ("é*", "éa", true),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
        // What takes other matchers exponential time.
        assert!(!matches(&"a*".repeat(40), &"a".repeat(39)));
    }
}
