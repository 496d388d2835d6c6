//! Names that do not match those that they are joined with, all of them in one message.

use std::fmt;

use crate::error::list;

/// What is wrong with the names of rows; long lists are cut and counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mismatch {
    /// Names that nothing has.
    pub unknown: Vec<Unknown>,
    /// How many more there are of these.
    pub more_unknown: usize,
    /// Names that no row has.
    pub missing: Vec<String>,
    /// Names that several rows have, with their places.
    pub repeated: Vec<String>,
    /// How many more there are of these.
    pub more_repeated: usize,
}

/// A name that is not one of those that it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// The name.
    pub name: String,
    /// Where it stands.
    pub place: String,
    /// What was probably meant.
    pub closest: Option<String>,
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ({}", self.name, self.place)?;
        if let Some(name) = &self.closest {
            write!(f, ", did you mean `{name}`?")?;
        }
        f.write_str(")")
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |mut names: Vec<String>, more: usize| {
            names.extend((more > 0).then(|| format!("{more} more")));
            names.join(", ")
        };
        let mut parts = Vec::new();
        if !self.unknown.is_empty() {
            let names = self.unknown.iter().map(Unknown::to_string).collect();
            parts.push(format!("unknown {}", joined(names, self.more_unknown)));
        }
        if !self.missing.is_empty() {
            parts.push(format!("missing {}", list(&self.missing)));
        }
        if !self.repeated.is_empty() {
            parts.push(format!("repeated {}", joined(self.repeated.clone(), self.more_repeated)));
        }
        f.write_str(&parts.join("; "))
    }
}
