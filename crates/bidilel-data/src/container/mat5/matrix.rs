//! The element that everything is made of: a matrix of numbers, characters, cells or structures.

use super::element::{Cursor, Element, INT8, INT32, MATRIX, Source, UINT8, UINT32, UTF8};
use crate::error::Result;

/// MATLAB stops at 63 letters; without a limit, a small file could hold very many very long keys.
const LONGEST_NAME: usize = 128;

/// More dimensions than anybody has.
const MOST_DIMENSIONS: usize = 32;

/// What a matrix is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Cell,
    Struct,
    Char,
    Sparse,
    /// Numbers of any type; logical ones are true or false.
    Numeric {
        logical: bool,
    },
    /// Complex numbers, objects, functions: nothing that is read here.
    Other,
}

/// A matrix, before its content is read.
#[derive(Debug, Clone)]
pub(super) struct Matrix {
    pub(super) class: Class,
    pub(super) shape: Vec<usize>,
    pub(super) name: String,
    /// The elements that follow the name.
    pub(super) content: Cursor,
}

/// Fields of a structure: their names, and where the matrices begin.
pub(super) struct Fields {
    pub(super) names: Vec<String>,
    pub(super) content: Cursor,
}

impl Matrix {
    pub(super) fn parse(source: &Source, element: Element) -> Result<Self> {
        if element.kind != MATRIX {
            return Err(
                source.malformed(format!("expected a matrix, found an element of type {}", element.kind))
            );
        }
        let mut cursor = Cursor::inside(element);
        if cursor.is_done() {
            // A cell or field that was never filled.
            let class = Class::Numeric { logical: false };
            return Ok(Self { class, shape: vec![0, 0], name: String::new(), content: cursor });
        }
        let flags = cursor.expect(source, &[UINT32], "the flags of a matrix")?;
        let flags = source.words(flags).next().ok_or_else(|| source.malformed("a matrix has no flags"))?;
        // An opaque object has no sizes.
        let opaque = flags & 0xff == 17;
        let shape = if opaque { Vec::new() } else { shape(source, &mut cursor)? };
        let name = cursor.expect(source, &[INT8, UINT8, UTF8], "the name of a matrix")?;
        let name = text(source, source.bytes_of(name))?;
        Ok(Self { class: class_from_flags(flags), shape, name, content: cursor })
    }

    /// How many elements there are, as long as they can be counted.
    pub(super) fn count(&self, source: &Source) -> Result<usize> {
        let count = self.shape.iter().try_fold(1_usize, |count, &size| count.checked_mul(size));
        count.ok_or_else(|| crate::Error::TooLarge { path: source.path.clone(), shape: self.shape.clone() })
    }

    /// The cell with that number; the caller knows that there is one.
    pub(super) fn cell(&self, source: &Source, index: usize) -> Result<Self> {
        nth(source, self.content, index)
    }

    /// The names of the fields of a structure.
    pub(super) fn fields(&self, source: &Source) -> Result<Fields> {
        let mut content = self.content;
        let length = content.expect(source, &[INT32], "the length of field names")?;
        let length = source.words(length).next().map_or(0, |length| length as usize);
        if length == 0 || length > LONGEST_NAME {
            return Err(source.malformed(format!("field names claim {length} bytes")));
        }
        let names = content.expect(source, &[INT8, UINT8, UTF8], "field names")?;
        let names = source.bytes_of(names).chunks_exact(length).map(|name| text(source, name));
        Ok(Fields { names: names.collect::<Result<_>>()?, content })
    }
}

impl Fields {
    /// The value of a field in one of the structures.
    pub(super) fn value(&self, source: &Source, structure: usize, field: usize) -> Result<Matrix> {
        let index = structure.checked_mul(self.names.len()).and_then(|index| index.checked_add(field));
        let index = index.ok_or_else(|| source.malformed("there are too many structures"))?;
        nth(source, self.content, index)
    }
}

/// One of the matrices that follow each other.
fn nth(source: &Source, mut content: Cursor, index: usize) -> Result<Matrix> {
    // Every step moves on or fails, so a number beyond the end costs no more than the file is long.
    for _ in 0..index {
        content.next(source)?;
    }
    Matrix::parse(source, content.next(source)?)
}

fn class_from_flags(flags: u32) -> Class {
    let (logical, complex) = (flags & 0x0200 != 0, flags & 0x0800 != 0);
    match flags & 0xff {
        1 => Class::Cell,
        2 => Class::Struct,
        4 => Class::Char,
        5 if !complex => Class::Sparse,
        6..=15 if !complex => Class::Numeric { logical },
        _ => Class::Other,
    }
}

fn shape(source: &Source, cursor: &mut Cursor) -> Result<Vec<usize>> {
    let sizes = cursor.expect(source, &[INT32], "the sizes of a matrix")?;
    let dimensions = sizes.size() / 4;
    if dimensions > MOST_DIMENSIONS {
        return Err(source.malformed(format!("a matrix claims {dimensions} dimensions")));
    }
    // Sizes are signed in the file; a negative one would read as more than two thousand million.
    let size = |size: u32| match i32::try_from(size) {
        Ok(_) => Ok(size as usize),
        Err(_) => Err(source.malformed("a matrix has a negative size")),
    };
    source.words(sizes).map(size).collect()
}

/// A name, without the zeros that fill it up.
fn text(source: &Source, bytes: &[u8]) -> Result<String> {
    let bytes = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    if bytes.len() > LONGEST_NAME {
        return Err(source.malformed(format!("a name has {} bytes", bytes.len())));
    }
    Ok(String::from_utf8_lossy(bytes).into_owned())
}
