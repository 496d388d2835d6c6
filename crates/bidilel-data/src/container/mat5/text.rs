//! Characters: a matrix of them has a string in every row, and a cell array one in every cell.

use super::element::{INT8, Source, UINT8, UINT16, UTF8, UTF16, UTF32};
use super::matrix::{Class, Matrix};
use super::{DEEPEST, key, too_deep};
use crate::error::Result;

/// All strings of a matrix of characters or of a cell array.
pub(super) fn strings(source: &Source, matrix: Matrix) -> Result<Vec<String>> {
    let matrix = key::unwrapped(source, matrix)?;
    match matrix.class {
        Class::Char => rows(source, &matrix),
        Class::Cell => {
            let mut strings = Vec::new();
            let mut content = matrix.content;
            for index in 0..matrix.count(source)? {
                let cell = Matrix::parse(source, content.next(source)?)?;
                let string = string(source, cell)?;
                strings.push(string.ok_or_else(|| source.malformed(format!("cell {index} is no string")))?);
            }
            Ok(strings)
        }
        _ => Err(source.malformed("expected strings")),
    }
}

/// Whether a matrix can be read as strings, without reading them.
pub(super) fn is_strings(source: &Source, matrix: &Matrix, depth: usize) -> Result<bool> {
    if depth > DEEPEST {
        return Err(too_deep(source));
    }
    match matrix.class {
        Class::Char => Ok(true),
        Class::Cell => {
            let mut content = matrix.content;
            for _ in 0..matrix.count(source)? {
                let cell = Matrix::parse(source, content.next(source)?)?;
                let is_string = match cell.class {
                    Class::Char => matches!(cell.shape[..], [0 | 1, _] | [_, 0]),
                    Class::Cell => cell.count(source)? == 1 && is_strings(source, &cell, depth + 1)?,
                    _ => cell.shape.contains(&0),
                };
                if !is_string {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// The one string of a cell; an empty matrix is an empty string.
fn string(source: &Source, matrix: Matrix) -> Result<Option<String>> {
    let matrix = key::unwrapped(source, matrix)?;
    if matrix.shape.contains(&0) {
        return Ok(Some(String::new()));
    }
    if matrix.class != Class::Char {
        return Ok(None);
    }
    let mut rows = rows(source, &matrix)?;
    Ok(if rows.len() == 1 { rows.pop() } else { None })
}

/// The string in every row.
fn rows(source: &Source, matrix: &Matrix) -> Result<Vec<String>> {
    let &[count, width] = &matrix.shape[..] else {
        return Err(source.malformed(format!("characters in {} dimensions", matrix.shape.len())));
    };
    if count == 0 || width == 0 {
        return Ok(Vec::new());
    }
    let characters = characters(source, matrix)?;
    if count == 1 {
        return Ok(vec![characters.into_iter().collect()]);
    }
    if characters.len() != matrix.count(source)? {
        let problem = format!("expected {count} x {width} characters, found {}", characters.len());
        return Err(source.malformed(problem));
    }
    // Column after column, as everything in the file; shorter strings are filled up with spaces.
    let row = |row: usize| {
        let letters: String = characters[row..].iter().step_by(count).collect();
        letters.trim_end_matches([' ', '\0']).to_owned()
    };
    Ok((0..count).map(row).collect())
}

fn characters(source: &Source, matrix: &Matrix) -> Result<Vec<char>> {
    let element = matrix.content.clone().next(source)?;
    let not_text = || source.malformed("characters are no text");
    match element.kind {
        UTF8 => {
            let text = std::str::from_utf8(source.bytes_of(element)).map_err(|_| not_text())?;
            Ok(text.chars().collect())
        }
        // Whoever writes bytes writes the first 256 characters of Unicode.
        INT8 | UINT8 => Ok(source.bytes_of(element).iter().map(|&byte| char::from(byte)).collect()),
        UINT16 | UTF16 => {
            let letters = char::decode_utf16(source.half_words(element));
            letters.collect::<Result<_, _>>().map_err(|_| not_text())
        }
        UTF32 => source.words(element).map(char::from_u32).collect::<Option<_>>().ok_or_else(not_text),
        kind => Err(source.malformed(format!("expected characters, found an element of type {kind}"))),
    }
}
