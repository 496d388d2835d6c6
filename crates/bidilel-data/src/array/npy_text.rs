//! Strings in `.npy` files: all of the same width, filled up with zeros.

use std::path::Path;

use super::element::ByteOrder;
use crate::error::{Error, Result};

/// How many characters a string has room for, and how they are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    /// One byte each: NumPy's `S`.
    Bytes(usize),
    /// Four bytes each, a Unicode scalar value: NumPy's `U`.
    Unicode(usize, ByteOrder),
}

impl Width {
    pub(super) fn from_descr(descr: &str) -> Option<Self> {
        let mut letters = descr.chars();
        let order = match letters.next()? {
            '<' => ByteOrder::Little,
            '>' => ByteOrder::Big,
            '|' => ByteOrder::NATIVE,
            _ => return None,
        };
        let kind = letters.next()?;
        let width: usize = letters.as_str().parse().ok()?;
        match kind {
            'S' => Some(Self::Bytes(width)),
            'U' => Some(Self::Unicode(width, order)),
            _ => None,
        }
    }

    /// Bytes of one string.
    pub(super) fn size(self) -> Option<usize> {
        match self {
            Self::Bytes(width) => Some(width),
            Self::Unicode(width, _) => width.checked_mul(4),
        }
    }

    /// The strings that lie at the start of these bytes.
    pub(super) fn decode(self, path: &Path, bytes: &[u8], shape: &[usize]) -> Result<Vec<String>> {
        let too_large = || Error::TooLarge { path: path.to_owned(), shape: shape.to_owned() };
        let count = shape.iter().try_fold(1_usize, |count, &size| count.checked_mul(size));
        let (size, count) = self.size().zip(count).ok_or_else(too_large)?;
        let expected = size.checked_mul(count).ok_or_else(too_large)?;
        let found = bytes.len();
        if found < expected {
            return Err(Error::Truncated { path: path.to_owned(), expected, found });
        }
        if size == 0 {
            // Strings without a byte: their number is bounded by nothing in the file.
            return Err(Error::Element {
                path: path.to_owned(),
                expected: "strings",
                found: "U0".to_owned(),
            });
        }
        let not_text = |index: usize| Error::Malformed {
            path: path.to_owned(),
            problem: format!("string {index} is not text"),
        };
        let strings = bytes[..expected].chunks_exact(size).enumerate();
        strings.map(|(index, string)| self.string(string).ok_or_else(|| not_text(index))).collect()
    }

    fn string(self, bytes: &[u8]) -> Option<String> {
        let text = match self {
            Self::Bytes(_) => std::str::from_utf8(bytes).ok()?.to_owned(),
            Self::Unicode(_, order) => {
                let scalar = |&cell: &[u8; 4]| match order {
                    ByteOrder::Little => char::from_u32(u32::from_le_bytes(cell)),
                    ByteOrder::Big => char::from_u32(u32::from_be_bytes(cell)),
                };
                bytes.as_chunks::<4>().0.iter().map(scalar).collect::<Option<String>>()?
            }
        };
        Some(text.trim_end_matches('\0').to_owned())
    }
}
