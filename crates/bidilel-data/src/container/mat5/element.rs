//! Data elements: a tag with type and length, then that many bytes, filled up to a multiple of eight.

use std::path::PathBuf;

use crate::array::{ByteOrder, Bytes, Element as Number};
use crate::error::{Error, Result};

pub(super) const INT8: u32 = 1;
pub(super) const UINT8: u32 = 2;
pub(super) const UINT16: u32 = 4;
pub(super) const INT32: u32 = 5;
pub(super) const UINT32: u32 = 6;
pub(super) const MATRIX: u32 = 14;
pub(super) const COMPRESSED: u32 = 15;
pub(super) const UTF8: u32 = 16;
pub(super) const UTF16: u32 = 17;
pub(super) const UTF32: u32 = 18;

/// The number that a type of element stores.
pub(super) fn number_from_kind(kind: u32) -> Option<Number> {
    Some(match kind {
        INT8 => Number::I8,
        UINT8 => Number::U8,
        3 => Number::I16,
        UINT16 => Number::U16,
        INT32 => Number::I32,
        UINT32 => Number::U32,
        7 => Number::F32,
        9 => Number::F64,
        12 => Number::I64,
        13 => Number::U64,
        _ => return None,
    })
}

/// Bytes with elements in them: the file, or what was decompressed from it.
#[derive(Clone)]
pub(super) struct Source {
    /// Their name in messages.
    pub(super) path: PathBuf,
    pub(super) bytes: Bytes,
    pub(super) order: ByteOrder,
}

impl Source {
    pub(super) fn content(&self) -> &[u8] {
        (*self.bytes).as_ref()
    }

    pub(super) fn bytes_of(&self, element: Element) -> &[u8] {
        &self.content()[element.start..element.end]
    }

    /// The whole words of an element; what is left over is not there.
    pub(super) fn words(&self, element: Element) -> impl Iterator<Item = u32> {
        self.bytes_of(element).as_chunks::<4>().0.iter().map(|&word| self.word(word))
    }

    /// The whole half words of an element.
    pub(super) fn half_words(&self, element: Element) -> impl Iterator<Item = u16> {
        self.bytes_of(element).as_chunks::<2>().0.iter().map(|&word| match self.order {
            ByteOrder::Little => u16::from_le_bytes(word),
            ByteOrder::Big => u16::from_be_bytes(word),
        })
    }

    fn word(&self, word: [u8; 4]) -> u32 {
        match self.order {
            ByteOrder::Little => u32::from_le_bytes(word),
            ByteOrder::Big => u32::from_be_bytes(word),
        }
    }

    pub(super) fn malformed(&self, problem: impl Into<String>) -> Error {
        Error::Malformed { path: self.path.clone(), problem: problem.into() }
    }
}

/// Where the bytes of an element are, and what they store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) kind: u32,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Element {
    pub(super) fn size(self) -> usize {
        self.end - self.start
    }
}

/// The elements that lie between two places, one after the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor {
    pub(super) at: usize,
    pub(super) end: usize,
}

impl Cursor {
    pub(super) fn inside(element: Element) -> Self {
        Self { at: element.start, end: element.end }
    }

    pub(super) fn is_done(self) -> bool {
        self.at >= self.end
    }

    pub(super) fn next(&mut self, source: &Source) -> Result<Element> {
        let content = &source.content()[..self.end];
        let found = self.end.saturating_sub(self.at);
        let truncated = |expected| Error::Truncated { path: source.path.clone(), expected, found };
        let Some(&tag) = content.get(self.at..).and_then(<[u8]>::first_chunk::<8>) else {
            return Err(truncated(8));
        };
        let [a, b, c, d, e, f, g, h] = tag;
        let (first, second) = (source.word([a, b, c, d]), source.word([e, f, g, h]));
        // Four bytes or fewer fit into the tag itself; the length is where a long tag has zeros.
        if first >> 16 != 0 {
            let (kind, size) = (first & 0xffff, (first >> 16) as usize);
            if size > 4 {
                return Err(source.malformed(format!("a small element claims {size} bytes")));
            }
            let start = self.at + 4;
            self.at += 8;
            return Ok(Element { kind, start, end: start + size });
        }
        let (kind, size) = (first, second as usize);
        if size > found - 8 {
            return Err(truncated(size));
        }
        let (start, end) = (self.at + 8, self.at + 8 + size);
        // Compressed elements are not filled up, and the last element need not be.
        let filled = if kind == COMPRESSED { size } else { size.next_multiple_of(8) };
        self.at = (start + filled).min(self.end);
        Ok(Element { kind, start, end })
    }

    /// The next element, if it stores what is expected there.
    pub(super) fn expect(&mut self, source: &Source, kinds: &[u32], what: &str) -> Result<Element> {
        let element = self.next(source)?;
        if kinds.contains(&element.kind) {
            Ok(element)
        } else {
            Err(source.malformed(format!("expected {what}, found an element of type {}", element.kind)))
        }
    }
}
