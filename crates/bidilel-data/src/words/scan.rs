//! From the bytes of a word vector file to its words, one after the other.

use crate::error::Result;

/// How the numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Four bytes each, little-endian, after the word and a space.
    Binary,
    /// A line for every word.
    Text,
}

impl Encoding {
    /// The fewest bytes that a number takes.
    pub(super) fn least_bytes(self) -> usize {
        match self {
            Self::Binary => 4,
            Self::Text => 2,
        }
    }
}

/// The line `count dim` that word2vec and fastText start with: both numbers, and the length of the line.
pub(super) fn header(bytes: &[u8]) -> Option<(usize, usize, usize)> {
    let start = &bytes[..bytes.len().min(64)];
    let length = start.iter().position(|&byte| byte == b'\n')?;
    let mut numbers = fields(&bytes[..length]).map(|field| std::str::from_utf8(field).ok()?.parse().ok());
    match (numbers.next()??, numbers.next()??, numbers.next()) {
        (count, dim, None) if count > 0 && dim > 0 => Some((count, dim, length + 1)),
        _ => None,
    }
}

/// Whether the first line is a word and that many numbers.
pub(super) fn starts_with_text(bytes: &[u8], dim: usize) -> bool {
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let count = fields(&bytes[..end]).count();
    // Words with spaces have more fields; the numbers are the last ones.
    count > dim && fields(&bytes[..end]).skip(count - dim).all(|field| number(field).is_some())
}

/// What spaces and tabs separate. Other blanks do not: they are in some of GloVe's words.
pub(super) fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    line.split(|&byte| byte == b' ' || byte == b'\t').filter(|field| !field.is_empty())
}

pub(super) fn number(field: &[u8]) -> Option<f32> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// Calls `visit` with every word and the bytes of its vector until it says to stop.
pub(super) fn entries<'a>(
    bytes: &'a [u8],
    encoding: Encoding,
    dim: usize,
    count: Option<usize>,
    visit: impl FnMut(&'a [u8], &'a [u8]) -> Result<bool>,
) -> Result<()> {
    match encoding {
        Encoding::Binary => binary_entries(bytes, dim, count.unwrap_or(usize::MAX), visit),
        Encoding::Text => text_entries(bytes, visit),
    }
}

fn binary_entries<'a>(
    mut bytes: &'a [u8],
    dim: usize,
    count: usize,
    mut visit: impl FnMut(&'a [u8], &'a [u8]) -> Result<bool>,
) -> Result<()> {
    for _ in 0..count {
        // The original program ends every vector with a line end, others do not.
        bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        let Some(space) = bytes.iter().position(|&byte| byte == b' ') else { break };
        let vector = dim.checked_mul(4).and_then(|size| bytes.get(space + 1..)?.split_at_checked(size));
        let Some((vector, rest)) = vector else { break };
        if !visit(&bytes[..space], vector)? {
            break;
        }
        bytes = rest;
    }
    Ok(())
}

fn text_entries<'a>(
    bytes: &'a [u8],
    mut visit: impl FnMut(&'a [u8], &'a [u8]) -> Result<bool>,
) -> Result<()> {
    for line in bytes.split(|&byte| byte == b'\n') {
        let Some(end) = line.iter().position(|&byte| byte == b' ' || byte == b'\t') else { continue };
        if !visit(&line[..end], &line[end..])? {
            break;
        }
    }
    Ok(())
}
