//! The lines of a table as fields, whatever separates them.

use std::path::{Path, PathBuf};

use csv::{ByteRecord, ReaderBuilder, Trim};

use crate::error::{Error, Result};

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

impl<'a> Records<'a> {
    pub(super) fn new(path: &Path, bytes: &'a [u8], delimiter: Delimiter) -> Self {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        Self { path: path.to_owned(), text: text.trim_ascii_end(), delimiter }
    }

    /// Calls `visit` with every record until it says to stop.
    pub(super) fn visit(&self, mut visit: impl FnMut(Record<'_>) -> Result<bool>) -> Result<()> {
        match self.delimiter {
            Delimiter::Blank => {
                for (index, line) in self.text.split(|&byte| byte == b'\n').enumerate() {
                    let fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
                    if !self.record(index + 1, fields, &mut visit)? {
                        break;
                    }
                }
                Ok(())
            }
            Delimiter::Byte(delimiter) => self.visit_delimited(delimiter, visit),
        }
    }

    fn visit_delimited(
        &self,
        delimiter: u8,
        mut visit: impl FnMut(Record<'_>) -> Result<bool>,
    ) -> Result<()> {
        let mut reader = ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .flexible(true)
            .trim(Trim::All)
            .from_reader(self.text);
        let (mut record, mut start, mut line) = (ByteRecord::new(), 0, 1);
        loop {
            let more = reader.read_byte_record(&mut record).map_err(|error| Error::Malformed {
                path: self.path.clone(),
                problem: format!("not readable as a table: {error}"),
            })?;
            if !more {
                return Ok(());
            }
            let end = usize::try_from(reader.position().byte()).unwrap_or(usize::MAX).min(self.text.len());
            let mut passed = &self.text[start..end];
            if start > 0 && self.text[start - 1] == b'\r' {
                // The second half of the last line's end.
                passed = passed.strip_prefix(b"\n").unwrap_or(passed);
            }
            // The library passes over blank lines, but the row is the index of an instance.
            if passed.starts_with(b"\n") || passed.starts_with(b"\r") {
                return Err(Error::BlankLine { path: self.path.clone(), line });
            }
            if !self.record(line, record.iter(), &mut visit)? {
                return Ok(());
            }
            let ends = passed.split(|&byte| byte == b'\n').count() - 1;
            let open = usize::from(passed.ends_with(b"\r"));
            (start, line) = (end, line + ends + open);
        }
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
    Records::new(path, bytes, delimiter).visit(|record| {
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
