//! The header of a `.npy` file.
//!
//! Magic `\x93NUMPY`, two bytes of version, the length of the header (two bytes in version 1, four in 2 and 3), and
//! a Python dictionary such as `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`; elements follow.
//! Mapping needs no more than that, so this reads the one dictionary and no other Python.

use std::path::Path;

use super::element::{ByteOrder, Element};
use super::{Layout, Order};
use crate::error::{Error, Result};

/// NumPy writes about a hundred bytes; anything near this is not a plain array.
const LONGEST_HEADER: usize = 1 << 16;

/// Reads the header of a file that starts with the magic.
pub(super) fn layout(path: &Path, bytes: &[u8]) -> Result<Layout> {
    let malformed = |problem: String| Error::Header { path: path.to_owned(), problem };
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
    let header =
        bytes.get(start..start + length).ok_or_else(|| malformed("the file ends inside it".to_owned()))?;
    let text = std::str::from_utf8(header).map_err(|_| malformed("it is not text".to_owned()))?;
    let dictionary = Dictionary::parse(text).map_err(malformed)?;
    let (element, byte_order) = element_from_descr(&dictionary.descr).ok_or_else(|| Error::Element {
        path: path.to_owned(),
        expected: "numbers",
        found: dictionary.descr.clone(),
    })?;
    let order = if dictionary.fortran_order { Order::Fortran } else { Order::C };
    Ok(Layout { offset: start + length, shape: dictionary.shape, order, element, byte_order })
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

/// The three entries of a header.
#[derive(Debug, PartialEq, Eq)]
struct Dictionary {
    descr: String,
    fortran_order: bool,
    shape: Vec<usize>,
}

impl Dictionary {
    fn parse(text: &str) -> Result<Self, String> {
        let mut cursor = Cursor { rest: text };
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        cursor.expect('{')?;
        while !cursor.accept('}') {
            let key = cursor.string()?;
            cursor.expect(':')?;
            match key {
                "descr" => descr = Some(cursor.descr()?),
                "fortran_order" => fortran_order = Some(cursor.boolean()?),
                "shape" => shape = Some(cursor.tuple()?),
                _ => return Err(format!("unknown entry `{key}`")),
            }
            if !cursor.accept(',') {
                cursor.expect('}')?;
                break;
            }
        }
        let missing = |name: &str| format!("entry `{name}` is missing");
        Ok(Self {
            descr: descr.ok_or_else(|| missing("descr"))?,
            fortran_order: fortran_order.ok_or_else(|| missing("fortran_order"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
        })
    }
}

/// The part of the text that is still to be read.
struct Cursor<'a> {
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    fn accept(&mut self, wanted: char) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        if self.accept(wanted) { Ok(()) } else { Err(self.unexpected(&format!("`{wanted}`"))) }
    }

    fn string(&mut self) -> Result<&'a str, String> {
        let quote = if self.accept('\'') {
            '\''
        } else if self.accept('"') {
            '"'
        } else {
            return Err(self.unexpected("a string"));
        };
        let (string, rest) = self.rest.split_once(quote).ok_or("a string has no end")?;
        self.rest = rest;
        Ok(string)
    }

    /// The element type: a string, or a list for records of several fields.
    fn descr(&mut self) -> Result<String, String> {
        self.rest = self.rest.trim_start();
        if self.rest.starts_with(['[', '(']) {
            return Err("expected one number an element, found a structured type".to_owned());
        }
        self.string().map(str::to_owned)
    }

    fn boolean(&mut self) -> Result<bool, String> {
        self.rest = self.rest.trim_start();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(self.unexpected("`True` or `False`"))
    }

    fn tuple(&mut self) -> Result<Vec<usize>, String> {
        let mut sizes = Vec::new();
        self.expect('(')?;
        while !self.accept(')') {
            sizes.push(self.integer()?);
            if !self.accept(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(sizes)
    }

    fn integer(&mut self) -> Result<usize, String> {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        let value = digits.parse().map_err(|_| self.unexpected("the size of a dimension"))?;
        // Python 2 wrote long integers with a letter.
        self.rest = rest.strip_prefix('L').unwrap_or(rest);
        Ok(value)
    }

    fn unexpected(&self, wanted: &str) -> String {
        let found: String = self.rest.chars().take(20).collect();
        format!("expected {wanted}, found {found:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_spelling_that_numpy_has_used() {
        let wanted = Dictionary { descr: "<f4".to_owned(), fortran_order: false, shape: vec![3, 4] };
        for text in [
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n",
            "{'shape': (3L, 4L), 'fortran_order': False, 'descr': '<f4'}",
            "{\"descr\":\"<f4\",\"fortran_order\":False,\"shape\":(3,4,)}",
        ] {
            assert_eq!(Dictionary::parse(text).unwrap(), wanted);
        }
        let vector = "{'descr': '|b1', 'fortran_order': True, 'shape': (7,)}";
        assert_eq!(Dictionary::parse(vector).unwrap().shape, [7]);
        let scalar = "{'descr': '|b1', 'fortran_order': True, 'shape': ()}";
        assert_eq!(Dictionary::parse(scalar).unwrap().shape, [0_usize; 0]);
    }

    #[test]
    fn says_what_it_cannot_read() {
        for (text, problem) in [
            ("", "expected `{`, found \"\""),
            ("{'descr': '<f4', 'fortran_order': False}", "entry `shape` is missing"),
            ("{'descr': '<f4", "a string has no end"),
            ("{'descr': [('a', '<f4')], }", "expected one number an element, found a structured type"),
            ("{'shape': (-3,)}", "expected the size of a dimension, found \"-3,)}\""),
            (
                "{'shape': (99999999999999999999999,)}",
                "expected the size of a dimension, found \"99999999999999999999\"",
            ),
            ("{'fortran_order': 1}", "expected `True` or `False`, found \"1}\""),
            ("{'size': 1}", "unknown entry `size`"),
        ] {
            assert_eq!(Dictionary::parse(text).unwrap_err(), problem);
        }
    }
}
