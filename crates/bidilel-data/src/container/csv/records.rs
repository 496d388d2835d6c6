//! The lines of a table as fields, whatever separates them.

use std::path::{Path, PathBuf};

use csv::{ByteRecord, ReaderBuilder, Trim};

use crate::error::{Error, Result};
use crate::file;

/// What stands between two fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delimiter {
    Byte(u8),
    /// Any number of spaces and tabs.
    Blank,
}

/// One line (or several, where a quoted field has line ends) of a table.
pub(super) struct Record<'a> {
    /// The line it starts on, from 1.
    pub(super) line: usize,
    pub(super) fields: Vec<&'a str>,
}

pub(super) struct Records<'a> {
    path: PathBuf,
    text: &'a [u8],
    delimiter: Delimiter,
}

/// The end of a record: where the next one begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Position {
    /// In the text.
    byte: usize,
    /// From 1.
    line: usize,
}

impl Default for Position {
    fn default() -> Self {
        Self { byte: 0, line: 1 }
    }
}

/// Bytes of a mapped file after which those that were read are released.
const RELEASE_BYTES: usize = 8 << 20;

impl<'a> Records<'a> {
    pub(super) fn new(path: &Path, bytes: &'a [u8], delimiter: Delimiter) -> Self {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        Self { path: path.to_owned(), text: text.trim_ascii_end(), delimiter }
    }

    /// Calls `visit` with every record from `start` on until it says to stop; where the next record begins.
    pub(super) fn visit(
        &self,
        start: Position,
        mut visit: impl FnMut(Record<'_>) -> Result<bool>,
    ) -> Result<Position> {
        match self.delimiter {
            Delimiter::Blank => {
                let mut passed = Passed::new(self.text, start);
                while passed.at.byte < self.text.len() {
                    let rest = &self.text[passed.at.byte..];
                    let length = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
                    let fields = rest[..length].split(u8::is_ascii_whitespace);
                    let fields = fields.filter(|field| !field.is_empty());
                    let more = self.record(passed.at.line, fields, &mut visit)?;
                    passed.advance(self.text.len().min(passed.at.byte + length + 1), 1);
                    if !more {
                        break;
                    }
                }
                Ok(passed.at)
            }
            Delimiter::Byte(delimiter) => self.visit_delimited(delimiter, start, visit),
        }
    }

    fn visit_delimited(
        &self,
        delimiter: u8,
        start: Position,
        mut visit: impl FnMut(Record<'_>) -> Result<bool>,
    ) -> Result<Position> {
        let mut reader = ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .flexible(true)
            .trim(Trim::All)
            .from_reader(&self.text[start.byte..]);
        let mut record = ByteRecord::new();
        let mut passed = Passed::new(self.text, start);
        loop {
            let more = reader.read_byte_record(&mut record).map_err(|error| Error::Malformed {
                path: self.path.clone(),
                problem: format!("not readable as a table: {error}"),
            })?;
            if !more {
                return Ok(passed.at);
            }
            let Position { byte, line } = passed.at;
            let end = usize::try_from(reader.position().byte()).unwrap_or(usize::MAX);
            let end = start.byte.saturating_add(end).min(self.text.len());
            let mut own = &self.text[byte..end];
            if byte > 0 && self.text[byte - 1] == b'\r' {
                // The second half of the last line's end.
                own = own.strip_prefix(b"\n").unwrap_or(own);
            }
            // The library passes over blank lines, but the row is the index of an instance.
            if own.starts_with(b"\n") || own.starts_with(b"\r") {
                return Err(Error::BlankLine { path: self.path.clone(), line });
            }
            let more = self.record(line, record.iter(), &mut visit)?;
            let ends = line_feeds(own);
            passed.advance(end, ends + usize::from(own.ends_with(b"\r")));
            if !more {
                return Ok(passed.at);
            }
        }
    }

    /// How many records there are; where reading would fail, any number.
    pub(super) fn count(&self) -> Result<usize> {
        let mut lines = 1;
        for (place, piece) in self.text.chunks(RELEASE_BYTES).enumerate() {
            let next = self.text.get((place + 1) * RELEASE_BYTES);
            if piece.contains(&b'"') || has_bare_return(piece, next) {
                return self.count_by_reading();
            }
            // Without quotes, every line is a record.
            lines += line_feeds(piece);
            file::release(piece);
        }
        Ok(lines)
    }

    fn count_by_reading(&self) -> Result<usize> {
        let mut count = 0;
        self.visit(Position::default(), |_| {
            count += 1;
            Ok(true)
        })?;
        Ok(count)
    }

    fn record<'r>(
        &self,
        line: usize,
        fields: impl Iterator<Item = &'r [u8]>,
        visit: &mut impl FnMut(Record<'r>) -> Result<bool>,
    ) -> Result<bool> {
        let fields: Result<Vec<_>, _> = fields.map(std::str::from_utf8).collect();
        let fields = fields.map_err(|_| Error::NotUtf8 { path: self.path.clone(), line })?;
        if fields.iter().all(|field| field.is_empty()) && fields.len() < 2 {
            return Err(Error::BlankLine { path: self.path.clone(), line });
        }
        visit(Record { line, fields })
    }
}

fn line_feeds(text: &[u8]) -> usize {
    text.iter().map(|&byte| usize::from(byte == b'\n')).sum()
}

/// Whether a piece of text has a carriage return that no line feed follows; `next` is the byte after the piece.
fn has_bare_return(piece: &[u8], next: Option<&u8>) -> bool {
    let bare = |pair: &[u8]| pair[0] == b'\r' && pair[1] != b'\n';
    piece.contains(&b'\r')
        && (piece.windows(2).any(bare) || (piece.last() == Some(&b'\r') && next != Some(&b'\n')))
}

/// How far a text was read; what lies behind is released.
struct Passed<'a> {
    text: &'a [u8],
    at: Position,
    released: usize,
}

impl<'a> Passed<'a> {
    fn new(text: &'a [u8], at: Position) -> Self {
        Self { text, at, released: at.byte }
    }

    fn advance(&mut self, byte: usize, lines: usize) {
        self.at = Position { byte, line: self.at.line + lines };
        if byte - self.released >= RELEASE_BYTES {
            self.release();
        }
    }

    fn release(&mut self) {
        file::release(&self.text[self.released..self.at.byte]);
        self.released = self.at.byte;
    }
}

impl Drop for Passed<'_> {
    fn drop(&mut self) {
        self.release();
    }
}

/// What separates the fields: the first that cuts the first lines into equally many, and more than one.
pub(super) fn delimiter_of(path: &Path, bytes: &[u8]) -> Result<Delimiter> {
    let candidates = [Delimiter::Byte(b'\t'), Delimiter::Byte(b';'), Delimiter::Byte(b','), Delimiter::Blank];
    let mut uneven = None;
    for candidate in candidates {
        let first = first_records(path, bytes, candidate, 8)?;
        let widths: Vec<_> = first.iter().map(Vec::len).collect();
        let numeric = first.last().is_some_and(|fields| fields.iter().all(|field| is_number(field)));
        match widths[..] {
            // Names have spaces too, so only numbers are separated by them.
            _ if candidate == Delimiter::Blank && !numeric => {}
            [width, ..] if width > 1 && widths.iter().all(|&other| other == width) => return Ok(candidate),
            [width, ..] if width > 1 => uneven = uneven.or(Some(candidate)),
            _ => {}
        }
    }
    // Rows of different length are reported when they are read; a single column has no delimiter at all.
    Ok(uneven.unwrap_or(Delimiter::Byte(b',')))
}

/// The fields of the first records.
pub(super) fn first_records(
    path: &Path,
    bytes: &[u8],
    delimiter: Delimiter,
    most: usize,
) -> Result<Vec<Vec<String>>> {
    let mut first = Vec::new();
    Records::new(path, bytes, delimiter).visit(Position::default(), |record| {
        first.push(record.fields.iter().map(|&field| field.to_owned()).collect());
        Ok(first.len() < most)
    })?;
    Ok(first)
}

/// Whether a field is a number, or was meant to be one.
pub(super) fn is_number(field: &str) -> bool {
    const UNKNOWN: [&str; 8] = ["", "-", "?", "NA", "N/A", "na", "null", "NULL"];
    let parses = |field: &str| field.parse::<f64>().is_ok();
    // A decimal comma is wrong, but it is no name either.
    UNKNOWN.contains(&field) || parses(field) || parses(&field.replacen(',', ".", 1))
}
