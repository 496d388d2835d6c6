//! The header of a `.npy` file.
//!
//! Magic `\x93NUMPY`, two bytes of version, the length of the header (two bytes in version 1, four in 2 and 3), and
//! a Python dictionary such as `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`; elements follow.
//! Mapping needs no more than that, so this reads the one dictionary and no other Python.

use std::path::Path;

use super::element::{ByteOrder, Element};
use super::npy_dictionary::Dictionary;
use super::{Layout, Order, npy_text};
use crate::container::EntryKind;
use crate::error::{Error, Result};

pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

/// NumPy writes about a hundred bytes; anything near this is not a plain array.
pub(crate) const LONGEST_HEADER: usize = 1 << 16;

/// What a header says.
#[derive(Debug)]
pub(crate) struct Header {
    /// Index of the first byte after it.
    offset: usize,
    descr: String,
    order: Order,
    /// Sizes of the dimensions.
    pub(crate) shape: Vec<usize>,
}

impl Header {
    /// Reads the header of a file that starts with the magic.
    pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        let malformed = |problem: String| Error::Header { path: path.to_owned(), problem };
        if !bytes.starts_with(MAGIC) {
            return Err(Error::Format {
                path: path.to_owned(),
                expected: "a NumPy array",
                found: "something else",
            });
        }
        let (length, start) = match *bytes {
            [_, _, _, _, _, _, 1, _, a, b, ..] => (u16::from_le_bytes([a, b]).into(), 10),
            [_, _, _, _, _, _, 2 | 3, _, a, b, c, d, ..] => (u32::from_le_bytes([a, b, c, d]), 12),
            [_, _, _, _, _, _, version, ..] if !(1..=3).contains(&version) => {
                return Err(malformed(format!("expected version 1, 2 or 3, found {version}")));
            }
            _ => return Err(malformed("the file ends inside it".to_owned())),
        };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > LONGEST_HEADER {
            return Err(malformed(format!("expected at most {LONGEST_HEADER} bytes, found {length}")));
        }
        let header = bytes
            .get(start..start + length)
            .ok_or_else(|| malformed("the file ends inside it".to_owned()))?;
        let text = std::str::from_utf8(header).map_err(|_| malformed("it is not text".to_owned()))?;
        let Dictionary { descr, fortran_order, shape } = Dictionary::parse(text).map_err(malformed)?;
        let order = if fortran_order { Order::Fortran } else { Order::C };
        Ok(Self { offset: start + length, descr, order, shape })
    }

    /// Whether the elements are numbers or strings.
    pub(crate) fn kind(&self) -> EntryKind {
        match element_from_descr(&self.descr) {
            Some(_) => EntryKind::Numbers,
            None if npy_text::Width::from_descr(&self.descr).is_some() => EntryKind::Strings,
            None => EntryKind::Other,
        }
    }

    /// Bytes of the whole file, where elements have a size.
    pub(crate) fn file_size(&self) -> Option<usize> {
        let size = match element_from_descr(&self.descr) {
            Some((element, _)) => element.size(),
            None => npy_text::Width::from_descr(&self.descr)?.size()?,
        };
        let size = self.shape.iter().try_fold(size, |size, &count| size.checked_mul(count))?;
        size.checked_add(self.offset)
    }

    /// Where the numbers lie.
    pub(crate) fn layout(&self, path: &Path) -> Result<Layout> {
        let (element, byte_order) = element_from_descr(&self.descr).ok_or_else(|| Error::Element {
            path: path.to_owned(),
            expected: "numbers",
            found: self.descr.clone(),
        })?;
        Ok(Layout { offset: self.offset, shape: self.shape.clone(), order: self.order, element, byte_order })
    }

    /// The strings, in the order of the file.
    pub(crate) fn strings(&self, path: &Path, bytes: &[u8]) -> Result<Vec<String>> {
        let width = npy_text::Width::from_descr(&self.descr).ok_or_else(|| Error::Element {
            path: path.to_owned(),
            expected: "strings",
            found: self.descr.clone(),
        })?;
        width.decode(path, bytes.get(self.offset..).unwrap_or_default(), &self.shape)
    }
}

fn element_from_descr(descr: &str) -> Option<(Element, ByteOrder)> {
    let (byte_order, code) = match descr.as_bytes().first()? {
        b'<' => (ByteOrder::Little, &descr[1..]),
        b'>' | b'!' => (ByteOrder::Big, &descr[1..]),
        b'|' | b'=' => (ByteOrder::NATIVE, &descr[1..]),
        _ => (ByteOrder::NATIVE, descr),
    };
    let element = match code {
        "f2" => Element::F16,
        "f4" => Element::F32,
        "f8" => Element::F64,
        "i1" => Element::I8,
        "i2" => Element::I16,
        "i4" => Element::I32,
        "i8" => Element::I64,
        "u1" => Element::U8,
        "u2" => Element::U16,
        "u4" => Element::U32,
        "u8" => Element::U64,
        "b1" | "?" => Element::Bool,
        _ => return None,
    };
    Some((element, byte_order))
}
