//! Word vectors, and the semantic vectors of classes made from them.
//!
//! Files of word2vec (binary and text), fastText (text) and GloVe are told apart by their content. They stay mapped:
//! [`WordVectors::find`] passes over the file once and keeps only the vectors that it was asked for.
//!
//! ```
//! use std::path::Path;
//! use std::sync::Arc;
//! use bidilel_data::words::{Missing, WordVectors, class_vectors};
//!
//! # fn main() -> bidilel_data::Result<()> {
//! let text = "polar 1 0\nbear 0 1\n";
//! let words = WordVectors::from_bytes(Path::new("glove.txt"), Arc::new(text.to_owned()))?;
//! let (vectors, report) = class_vectors(&["PolarBear".to_owned()], &words, Missing::Refuse)?;
//! assert_eq!(vectors.col_as_slice(0), [0.5, 0.5]);
//! assert!(report.missing[0].is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! # References
//!
//! - Mikolov et al. 2013, Distributed representations of words and phrases and their compositionality
//! - Pennington et al. 2014, GloVe: global vectors for word representation

mod classes;
mod scan;
mod tokens;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use classes::{Missing, Report, class_vectors};

use crate::array::Bytes;
use crate::container::Format;
use crate::error::{Counted, Error, Result};
use crate::file;
use scan::{Encoding, fields};

/// Lines that are looked at to find out how long vectors are.
const FIRST_LINES: usize = 16;

/// A file of word vectors, mapped.
#[derive(Clone)]
pub struct WordVectors {
    path: PathBuf,
    bytes: Bytes,
    /// Where the first word starts.
    start: usize,
    dim: usize,
    /// How many words the header announces, if there is one.
    count: Option<usize>,
    encoding: Encoding,
}

impl WordVectors {
    /// Maps a file and finds out what kind it is; only its start is read.
    pub fn open(path: &Path) -> Result<Self> {
        Self::from_bytes(path, Arc::new(file::map(path)?))
    }

    /// The word vectors in bytes that are already at hand; `path` is their name in messages.
    pub fn from_bytes(path: &Path, bytes: Bytes) -> Result<Self> {
        let content = (*bytes).as_ref();
        let unknown = |found| Error::Format { path: path.to_owned(), expected: "word vectors", found };
        if let Some(format) = Format::of(content) {
            return Err(unknown(format.name()));
        }
        let mark = if content.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let (path, content) = (path.to_owned(), &content[mark..]);
        if let Some((count, dim, length)) = scan::header(content) {
            let rest = &content[length..];
            let encoding = if scan::starts_with_text(rest, dim) { Encoding::Text } else { Encoding::Binary };
            // A letter and a space, then four bytes a number, or a digit and a space.
            let least = count.checked_mul(dim.saturating_mul(encoding.least_bytes()).saturating_add(2));
            match least {
                None => return Err(Error::TooLarge { path, shape: vec![count, dim] }),
                // Nothing follows the last number.
                Some(expected) if expected > rest.len() + 1 => {
                    return Err(Error::Truncated { path, expected, found: rest.len() });
                }
                _ => {}
            }
            return Ok(Self { path, start: mark + length, dim, count: Some(count), encoding, bytes });
        }
        let lines = content.split(|&byte| byte == b'\n').take(FIRST_LINES);
        // A word may have spaces in it, and then its line has more fields than the others.
        let fewest = lines.map(|line| fields(line).count()).filter(|&count| count > 0).min();
        match fewest {
            Some(count) if count > 1 && scan::starts_with_text(content, count - 1) => {
                let (dim, encoding) = (count - 1, Encoding::Text);
                Ok(Self { path, start: mark, dim, count: None, encoding, bytes })
            }
            _ => Err(unknown("something else")),
        }
    }

    /// The file they came from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The length of every vector.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The vectors of those words that the file has, in one pass over it.
    ///
    /// Where a word is there twice, the first counts. Words that are not UTF-8 are passed over.
    pub fn find(&self, words: &HashSet<String>) -> Result<HashMap<String, Vec<f32>>> {
        let mut found = HashMap::with_capacity(words.len());
        let bytes = &(*self.bytes).as_ref()[self.start..];
        let mut passed = 0;
        scan::entries(bytes, self.encoding, self.dim, self.count, |word, vector| {
            passed += 1;
            if let Ok(word) = std::str::from_utf8(word)
                && words.contains(word)
                && !found.contains_key(word)
                && let Some(vector) = self.vector(word, vector)?
            {
                found.insert(word.to_owned(), vector);
            }
            Ok(found.len() < words.len())
        })?;
        match self.count {
            Some(expected) if passed < expected && found.len() < words.len() => {
                Err(Error::Count { path: self.path.clone(), what: Counted::Words, expected, found: passed })
            }
            _ => Ok(found),
        }
    }

    /// The numbers of an entry; none where the line is that of a longer word that starts with this one.
    fn vector(&self, word: &str, bytes: &[u8]) -> Result<Option<Vec<f32>>> {
        let wrong = |found: String| Error::WordVector {
            path: self.path.clone(),
            word: word.to_owned(),
            expected: self.dim,
            found,
        };
        let vector: Vec<f32> = match self.encoding {
            Encoding::Binary => bytes.as_chunks().0.iter().map(|&cell| f32::from_le_bytes(cell)).collect(),
            Encoding::Text if fields(bytes).count() > self.dim => return Ok(None),
            Encoding::Text => {
                let number = |field| scan::number(field).ok_or_else(|| wrong(lossy(field)));
                fields(bytes).map(number).collect::<Result<_>>()?
            }
        };
        match vector.iter().find(|value| !value.is_finite()) {
            Some(value) => Err(wrong(value.to_string())),
            None if vector.len() < self.dim => Err(wrong(vector.len().to_string())),
            None => Ok(Some(vector)),
        }
    }
}

impl fmt::Debug for WordVectors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WordVectors({:?} of {} in {})", self.encoding, self.dim, self.path.display())
    }
}

/// The start of a field, for a message.
fn lossy(field: &[u8]) -> String {
    format!("`{}`", String::from_utf8_lossy(&field[..field.len().min(20)]))
}
