//! What is wrong with an experiment, with the line of the file.

use std::ops::Range;

use thiserror::Error;

/// A file that is no experiment.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {problem}")]
pub struct Error {
    /// The line, from 1.
    pub line: usize,
    /// What was found there and what was expected.
    pub problem: String,
}

/// The result of reading an experiment.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A problem at some bytes of a text.
    pub(crate) fn at(text: &str, span: &Range<usize>, problem: impl Into<String>) -> Self {
        let before = text.as_bytes().iter().take(span.start);
        Self { line: 1 + before.filter(|&&byte| byte == b'\n').count(), problem: problem.into() }
    }

    /// What the reader of TOML says.
    pub(crate) fn toml(text: &str, error: &toml::de::Error) -> Self {
        let problem = error.message().replace('\n', " ");
        Self::at(text, &error.span().unwrap_or(0..0), problem.trim())
    }
}
