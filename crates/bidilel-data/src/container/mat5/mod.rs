//! MATLAB files of versions 5, 6 and 7.
//!
//! A header of 128 bytes, then elements; an element is a matrix, or one that is compressed. Numbers that are not
//! compressed are mapped. A compressed variable is decompressed once, when something in it is asked for; until then only
//! its first bytes are, for its name and its sizes. The columns of a large matrix can be decompressed block by block.
//!
//! # References
//!
//! The MathWorks, *MAT-File Format*, "Level 5 MAT-File Format".

mod element;
mod key;
mod matrix;
mod numbers;
mod text;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::inflate::{self, Wrapper};
use super::inflated::{Inflated, Packed};
use super::{Entry, EntryKind, Reader, RowStream, path_of};
use crate::array::{Array, ByteOrder, Bytes, Order};
use crate::error::{Error, Result};
use element::{COMPRESSED, Cursor, Element, MATRIX, Source};
use matrix::{Class, Matrix};

const HEADER: usize = 128;

/// Cells in cells in structures: nobody goes further down, and every level takes some stack.
const DEEPEST: usize = 16;

/// Enough of a compressed variable to see its name and sizes.
const START: usize = 1 << 12;

/// Fields beyond this many are there, but not listed.
const MOST_ENTRIES: usize = 1 << 12;

pub(super) struct Mat5 {
    path: PathBuf,
    file: Source,
    variables: Vec<Variable>,
}

/// A matrix with a name.
struct Variable {
    /// Class, sizes and name; its content is to be taken from [`Mat5::unpacked`].
    header: Matrix,
    element: Element,
    unpacked: OnceLock<Source>,
}

impl Mat5 {
    pub(super) fn new(path: &Path, bytes: Bytes) -> Result<Self> {
        let content = (*bytes).as_ref();
        let order = match content.get(126..HEADER) {
            Some(b"IM") => ByteOrder::Little,
            Some(b"MI") => ByteOrder::Big,
            _ => {
                let problem = "expected its byte order, `IM` or `MI`, at byte 126".to_owned();
                return Err(Error::Header { path: path.to_owned(), problem });
            }
        };
        let end = content.len();
        let file = Source { path: path.to_owned(), bytes, order };
        let mut variables: Vec<Variable> = Vec::new();
        let mut cursor = Cursor { at: HEADER, end };
        while !cursor.is_done() {
            let element = cursor.next(&file)?;
            let header = match element.kind {
                MATRIX => Matrix::parse(&file, element)?,
                COMPRESSED => header(&file, element)?,
                // Nothing else stands on its own; a later version may add what an older reader skips.
                _ => continue,
            };
            // MATLAB keeps the data of its objects in a variable without a name.
            if !header.name.is_empty() {
                variables.push(Variable { header, element, unpacked: OnceLock::new() });
            }
        }
        check_names(&file, &variables)?;
        Ok(Self { path: path.to_owned(), file, variables })
    }

    /// The matrix of a key and the bytes that it is in.
    fn find(&self, key: &str) -> Result<Option<(Source, Matrix)>> {
        let named = |name: &str| self.variables.iter().find(|variable| variable.header.name == name);
        let (variable, steps) = match (named(key), key::parse(key)) {
            (Some(variable), _) => (variable, Vec::new()),
            (None, Some((name, steps))) => match named(name) {
                Some(variable) => (variable, steps),
                None => return Ok(None),
            },
            (None, None) => return Ok(None),
        };
        let (source, matrix) = self.unpacked(variable)?;
        let Some(matrix) = key::follow(&source, matrix, &steps)? else { return Ok(None) };
        let matrix = key::unwrapped(&source, matrix)?;
        Ok(Some((source, matrix)))
    }

    /// The whole of a variable.
    fn unpacked(&self, variable: &Variable) -> Result<(Source, Matrix)> {
        let path = path_of(&self.path, &variable.header.name);
        if variable.element.kind == MATRIX {
            return Ok((Source { path, ..self.file.clone() }, variable.header.clone()));
        }
        let source = if let Some(source) = variable.unpacked.get() {
            source.clone()
        } else {
            let source = unpack(&self.file, &path, variable.element)?;
            variable.unpacked.get_or_init(|| source).clone()
        };
        let end = source.content().len();
        let element = Cursor { at: 0, end }.next(&source)?;
        let matrix = Matrix::parse(&source, element)?;
        Ok((source, matrix))
    }
}

impl Reader for Mat5 {
    fn entries(&self) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for variable in &self.variables {
            let key = variable.header.name.clone();
            match variable.header.class {
                // What these hold shows in their content.
                Class::Cell | Class::Struct => {
                    let (source, matrix) = self.unpacked(variable)?;
                    list(&key, &source, matrix, 0, &mut entries)?;
                }
                _ => entries.push(describe(key, &self.file, &variable.header)?),
            }
        }
        Ok(entries)
    }

    fn entry(&self, key: &str) -> Result<Option<Entry>> {
        let numeric = |variable: &&Variable| {
            variable.header.name == key && matches!(variable.header.class, Class::Numeric { .. })
        };
        if let Some(variable) = self.variables.iter().find(numeric) {
            // Its header says everything: nothing need be decompressed.
            return describe(key.to_owned(), &self.file, &variable.header).map(Some);
        }
        let found = self.find(key)?;
        found.map(|(source, matrix)| describe(key.to_owned(), &source, &matrix)).transpose()
    }

    fn array(&self, key: &str) -> Result<Array> {
        let (source, matrix) = self.find(key)?.ok_or_else(|| self.file.malformed("no such key"))?;
        numbers::array(&path_of(&self.path, key), &source, &matrix)
    }

    fn strings(&self, key: &str) -> Result<Vec<String>> {
        let (source, matrix) = self.find(key)?.ok_or_else(|| self.file.malformed("no such key"))?;
        text::strings(&source, matrix)
    }

    fn stream(&self, key: &str, _: &[usize], transpose: bool) -> Result<Option<Box<dyn RowStream>>> {
        let compressed =
            |variable: &&Variable| variable.header.name == key && variable.element.kind == COMPRESSED;
        let Some(variable) = self.variables.iter().find(compressed) else { return Ok(None) };
        // MATLAB stores column after column.
        if !transpose || variable.unpacked.get().is_some() {
            return Ok(None);
        }
        let path = path_of(&self.path, key);
        let packed = self.file.bytes_of(variable.element);
        let start = inflate::start(&path, packed, Wrapper::Zlib, START)?;
        let (_, declared) = declared(&self.file, &start)?;
        let Some(mut layout) = numbers::layout_from_start(&self.file, start, declared)? else {
            return Ok(None);
        };
        layout.shape.reverse();
        layout.order = Order::C;
        let (bytes, range) = (self.file.bytes.clone(), variable.element.start..variable.element.end);
        let packed = Packed { bytes, range, wrapper: Wrapper::Zlib, declared, checksum: None };
        let stream = Inflated::open(&path, packed, layout)?;
        Ok(stream.map(|stream| -> Box<dyn RowStream> { Box::new(stream) }))
    }
}

/// Adds a matrix to a list, and the fields of a structure after it.
fn list(key: &str, source: &Source, matrix: Matrix, depth: usize, into: &mut Vec<Entry>) -> Result<()> {
    if depth > DEEPEST {
        return Err(too_deep(source));
    }
    let matrix = key::unwrapped(source, matrix)?;
    into.push(describe(key.to_owned(), source, &matrix)?);
    if matrix.class != Class::Struct {
        return Ok(());
    }
    let count = matrix.count(source)?;
    let fields = matrix.fields(source)?;
    if fields.names.is_empty() {
        // Nothing in the file bounds the number of structures without fields.
        return Ok(());
    }
    let mut content = fields.content;
    for structure in 1..=count {
        for field in &fields.names {
            if into.len() >= MOST_ENTRIES {
                return Ok(());
            }
            let value = Matrix::parse(source, content.next(source)?)?;
            let index = if count == 1 { String::new() } else { format!("({structure})") };
            list(&format!("{key}{index}.{field}"), source, value, depth + 1, into)?;
        }
    }
    Ok(())
}

fn describe(key: String, source: &Source, matrix: &Matrix) -> Result<Entry> {
    let kind = match matrix.class {
        Class::Numeric { .. } | Class::Sparse => EntryKind::Numbers,
        Class::Char => EntryKind::Strings,
        Class::Struct => EntryKind::Struct,
        Class::Cell if text::is_strings(source, matrix, 0)? => EntryKind::Strings,
        Class::Cell | Class::Other => EntryKind::Other,
    };
    Ok(Entry { key, kind, shape: matrix.shape.clone() })
}

/// Name, class and sizes of a compressed variable.
fn header(file: &Source, element: Element) -> Result<Matrix> {
    let start = inflate::start(&file.path, file.bytes_of(element), Wrapper::Zlib, START)?;
    let (kind, declared) = declared(file, &start)?;
    inflate::check_claim(&file.path, element.size(), declared)?;
    let end = start.len().min(declared);
    let source = Source { bytes: Arc::new(start), ..file.clone() };
    Matrix::parse(&source, Element { kind, start: 8, end })
}

/// All bytes of a compressed variable.
fn unpack(file: &Source, path: &Path, element: Element) -> Result<Source> {
    let packed = file.bytes_of(element);
    let start = inflate::start(path, packed, Wrapper::Zlib, 8)?;
    let (_, declared) = declared(file, &start)?;
    let bytes = inflate::all(path, packed, Wrapper::Zlib, declared)?;
    Ok(Source { path: path.to_owned(), bytes: Arc::new(bytes), order: file.order })
}

/// The type of what is compressed, and its size with the tag.
fn declared(file: &Source, start: &[u8]) -> Result<(u32, usize)> {
    let source = Source { bytes: Arc::new(start.to_owned()), ..file.clone() };
    let mut words = source.words(Element { kind: 0, start: 0, end: start.len().min(8) });
    match (words.next(), words.next()) {
        (Some(kind), Some(size)) => Ok((kind, (size as usize).saturating_add(8))),
        _ => Err(file.malformed("a compressed variable is empty")),
    }
}

fn check_names(file: &Source, variables: &[Variable]) -> Result<()> {
    let mut names: Vec<_> = variables.iter().map(|variable| variable.header.name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(file.malformed(format!("several variables are called `{}`", pair[0]))),
        None => Ok(()),
    }
}

fn too_deep(source: &Source) -> Error {
    source.malformed(format!("is nested more than {DEEPEST} deep"))
}
