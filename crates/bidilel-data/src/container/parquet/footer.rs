//! The schema of a table, checked before the library builds a tree of it.
//!
//! A schema is a list of elements in preorder, each with its number of children. The library makes nested objects of it
//! by recursion, reserves room for as many children as an element claims, and gives every column a copy of the names
//! above it: 120 KB of nesting overflowed the stack. So depth, claims and the room for names are added up first, from as
//! much of the Thrift compact protocol as that takes.
//!
//! # References
//!
//! Apache Parquet, `parquet.thrift` (`FileMetaData`, `SchemaElement`); Apache Thrift, *Compact protocol encoding*.

use std::path::Path;

use crate::error::{Error, Result};

/// Levels of a schema; a list within a list takes two.
const MAX_DEPTH: usize = 128;
/// Bytes of all paths of columns together, names of groups counted for every column below.
const MAX_PATH_BYTES: usize = 64 << 20;
/// Room for one name of a path beside its letters.
const NAME_OVERHEAD: usize = 48;
/// Structures within structures of the footer itself; its own definition needs less than ten.
const MAX_NESTING: usize = 32;

const MAGIC: &[u8] = b"PAR1";

/// Refuses a footer that would take the library too far.
pub(super) fn check(path: &Path, bytes: &[u8]) -> Result<()> {
    let malformed = |problem: String| Error::Malformed { path: path.to_owned(), problem };
    let Some(content) = footer(bytes) else { return Ok(()) };
    let mut cursor = Cursor { rest: content };
    scan(&mut cursor).map_err(|problem| match problem {
        Problem::Unreadable => malformed("not readable as Parquet: its footer is damaged".to_owned()),
        Problem::TooMuch(what) => malformed(what),
    })
}

/// The bytes of the metadata; none where the library will say what is wrong.
fn footer(bytes: &[u8]) -> Option<&[u8]> {
    let (rest, magic) = bytes.split_last_chunk::<4>()?;
    let (rest, length) = rest.split_last_chunk::<4>()?;
    let start = rest.len().checked_sub(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
    (magic == MAGIC).then(|| &rest[start..])
}

enum Problem {
    Unreadable,
    TooMuch(String),
}

type Scan<T> = std::result::Result<T, Problem>;

// Types of the compact protocol.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;

// Fields of `FileMetaData` and `SchemaElement`.
const SCHEMA: i16 = 2;
const NAME: i16 = 4;
const CHILDREN: i16 = 5;

/// Walks over the metadata, and checks every schema in it.
fn scan(cursor: &mut Cursor<'_>) -> Scan<()> {
    let mut id = 0;
    while let Some((field, kind)) = cursor.field(id)? {
        id = field;
        match (field, kind) {
            (SCHEMA, LIST) => schema(cursor)?,
            // The library would take whatever stands here for the list.
            (SCHEMA, _) => return Err(Problem::Unreadable),
            _ => cursor.skip(kind, 0)?,
        }
    }
    Ok(())
}

fn schema(cursor: &mut Cursor<'_>) -> Scan<()> {
    let (kind, count) = cursor.list()?;
    if kind != STRUCT {
        return Err(Problem::Unreadable);
    }
    // Of every open group: how many children are still to come, and the bytes of the path down to it.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut path_bytes = 0_usize;
    for index in 0..count {
        let (name, children) = element(cursor)?;
        let above = open.last().map_or(0, |&(_, bytes)| bytes);
        let bytes = above.saturating_add(name).saturating_add(NAME_OVERHEAD);
        if let Some((left, _)) = open.last_mut() {
            *left -= 1;
        }
        if children > count - index - 1 {
            return Err(Problem::TooMuch(format!(
                "element {index} of its schema claims {children} children, but only {} elements follow",
                count - index - 1
            )));
        }
        if children > 0 {
            open.push((children, bytes));
        } else {
            path_bytes = path_bytes.saturating_add(bytes);
        }
        if open.len() > MAX_DEPTH {
            return Err(Problem::TooMuch(format!(
                "its schema is nested more than {MAX_DEPTH} levels deep, which is more than is read"
            )));
        }
        if path_bytes > MAX_PATH_BYTES {
            return Err(Problem::TooMuch(format!(
                "the names of its columns take more than {MAX_PATH_BYTES} bytes, which is more than is read"
            )));
        }
        while open.last().is_some_and(|&(left, _)| left == 0) {
            open.pop();
        }
    }
    Ok(())
}

/// The length of an element's name, and how many children it says that it has.
fn element(cursor: &mut Cursor<'_>) -> Scan<(usize, usize)> {
    let (mut id, mut name, mut children) = (0, 0, 0);
    while let Some((field, kind)) = cursor.field(id)? {
        id = field;
        match (field, kind) {
            (NAME, BINARY) => name = cursor.binary()?,
            (CHILDREN, I32) => {
                children = usize::try_from(zigzag(cursor.varint()?)).map_err(|_| Problem::Unreadable)?;
            }
            (NAME | CHILDREN, _) => return Err(Problem::Unreadable),
            _ => cursor.skip(kind, 0)?,
        }
    }
    Ok((name, children))
}

fn zigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

struct Cursor<'a> {
    rest: &'a [u8],
}

impl Cursor<'_> {
    fn byte(&mut self) -> Scan<u8> {
        let (&first, rest) = self.rest.split_first().ok_or(Problem::Unreadable)?;
        self.rest = rest;
        Ok(first)
    }

    fn advance(&mut self, count: usize) -> Scan<()> {
        self.rest = self.rest.get(count..).ok_or(Problem::Unreadable)?;
        Ok(())
    }

    fn varint(&mut self) -> Scan<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Problem::Unreadable)
    }

    fn size(&mut self) -> Scan<usize> {
        usize::try_from(self.varint()?).map_err(|_| Problem::Unreadable)
    }

    fn binary(&mut self) -> Scan<usize> {
        let length = self.size()?;
        self.advance(length)?;
        Ok(length)
    }

    /// The number and type of the next field after field `last`; none at the end of a structure.
    fn field(&mut self, last: i16) -> Scan<Option<(i16, u8)>> {
        let head = self.byte()?;
        if head == 0 {
            return Ok(None);
        }
        let id = match head >> 4 {
            0 => i16::try_from(zigzag(self.varint()?)).ok(),
            delta => last.checked_add(delta.into()),
        };
        Ok(Some((id.ok_or(Problem::Unreadable)?, head & 0x0f)))
    }

    /// The type and number of a list's elements; each takes a byte at least.
    fn list(&mut self) -> Scan<(u8, usize)> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.size()? } else { usize::from(head >> 4) };
        if count > self.rest.len() { Err(Problem::Unreadable) } else { Ok((head & 0x0f, count)) }
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Scan<()> {
        if depth > MAX_NESTING {
            return Err(Problem::TooMuch("its footer is nested too deeply".to_owned()));
        }
        match kind {
            TRUE | FALSE => Ok(()),
            BYTE => self.advance(1),
            I16 | I32 | I64 => self.varint().map(|_| ()),
            DOUBLE => self.advance(8),
            BINARY => self.binary().map(|_| ()),
            LIST | SET => {
                let (kind, count) = self.list()?;
                (0..count).try_for_each(|_| self.skip_element(kind, depth))
            }
            MAP => {
                let count = self.size()?;
                if count == 0 {
                    return Ok(());
                }
                let kinds = self.byte()?;
                (0..count).try_for_each(|_| {
                    self.skip_element(kinds >> 4, depth)?;
                    self.skip_element(kinds & 0x0f, depth)
                })
            }
            STRUCT => {
                let mut id = 0;
                while let Some((field, kind)) = self.field(id)? {
                    id = field;
                    self.skip(kind, depth + 1)?;
                }
                Ok(())
            }
            _ => Err(Problem::Unreadable),
        }
    }

    /// Within lists and maps a truth value takes a byte.
    fn skip_element(&mut self, kind: u8, depth: usize) -> Scan<()> {
        if let TRUE | FALSE = kind { self.advance(1) } else { self.skip(kind, depth + 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A footer with a schema of elements, each a name and a number of children.
    fn table(elements: &[(&str, u8)]) -> Vec<u8> {
        let mut footer = vec![0x15, 0x02, 0x19, 0xfc];
        varint(elements.len(), &mut footer);
        for (name, children) in elements {
            footer.extend([0x48]);
            varint(name.len(), &mut footer);
            footer.extend(name.bytes());
            footer.extend([0x15, children << 1, 0x00]);
        }
        footer.push(0);
        let length = u32::try_from(footer.len()).unwrap();
        [MAGIC, &footer, &length.to_le_bytes(), MAGIC].concat()
    }

    fn varint(mut value: usize, into: &mut Vec<u8>) {
        while value > 0x7f {
            into.push(0x80 | u8::try_from(value & 0x7f).unwrap());
            value >>= 7;
        }
        into.push(u8::try_from(value).unwrap());
    }

    fn message(elements: &[(&str, u8)]) -> String {
        check(Path::new("x"), &table(elements)).map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn schemas_are_bounded_in_depth_claims_and_names() {
        assert_eq!(message(&[("schema", 2), ("a", 0), ("b", 1), ("c", 0)]), "");
        let mut deep = vec![("g", 1); MAX_DEPTH];
        deep.push(("x", 0));
        assert_eq!(message(&deep), "");
        deep.insert(0, ("g", 1));
        assert!(message(&deep).contains("more than 128 levels"), "{}", message(&deep));
        assert!(
            message(&[("schema", 9), ("a", 0)]).contains("claims 9 children, but only 1 elements follow")
        );
        let long = "n".repeat(1 << 20);
        let mut wide = vec![("schema", 1), (long.as_str(), 63)];
        wide.extend([("x", 0); 63]);
        assert_eq!(message(&wide), "");
        wide[1].0 = &long;
        let longer = "n".repeat(2 << 20);
        wide[1].0 = &longer;
        assert!(message(&wide).contains("names of its columns"));
    }

    #[test]
    fn a_footer_that_ends_early_is_damaged_wherever_it_is_cut() {
        let whole = table(&[("schema", 2), ("a", 0), ("b", 0)]);
        let footer = &whole[4..whole.len() - 8];
        for end in 0..footer.len() {
            assert!(scan(&mut Cursor { rest: &footer[..end] }).is_err(), "{end}");
        }
        assert!(scan(&mut Cursor { rest: footer }).is_ok());
        assert!(check(Path::new("x"), b"PAR1").is_ok(), "the library says what is wrong");
    }
}
