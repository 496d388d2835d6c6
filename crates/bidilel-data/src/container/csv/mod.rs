//! Tables of text: CSV, TSV, and numbers with spaces between them.
//!
//! A first line with anything but numbers is a header, unless it looks like the lines after it or like a row on its own.
//! The table as a whole is the array of its columns of numbers; a key is the name of one column, or its number from 0
//! where there is no header.
//! What a column holds shows in its first rows: later rows must agree.

mod header;
mod records;
mod stream;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Column, Entry, EntryKind, Reader, RowStream, Tabular, path_of};
use crate::array::{Array, ByteOrder, Bytes, Element, Layout, Order};
use crate::error::{Error, Result};
use crate::room;
use records::{Delimiter, Position, Records, delimiter_of, first_records};

/// Rows that decide what a column holds.
const FIRST_ROWS: usize = 16;

#[derive(Clone)]
pub(super) struct Csv {
    path: PathBuf,
    bytes: Bytes,
    delimiter: Delimiter,
    header: bool,
    columns: Vec<Column>,
}

/// Whether bytes can be text: no text has a zero in it.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    !bytes[..bytes.len().min(1 << 13)].contains(&0)
}

impl Csv {
    pub(super) fn new(path: &Path, bytes: Bytes) -> Result<Self> {
        let content = (*bytes).as_ref();
        if content.trim_ascii().is_empty() {
            return Err(Error::Empty { path: path.to_owned() });
        }
        let delimiter = delimiter_of(path, content)?;
        let first = first_records(path, content, delimiter, 1 + FIRST_ROWS)?;
        // Marks of the byte order alone are no record.
        if first.is_empty() {
            return Err(Error::Empty { path: path.to_owned() });
        }
        let header = header::is_header(&first);
        let columns = header::columns(&first, header);
        Ok(Self { path: path.to_owned(), bytes, delimiter, header, columns })
    }

    fn records(&self) -> Records<'_> {
        Records::new(&self.path, (*self.bytes).as_ref(), self.delimiter)
    }

    /// Where the first row begins.
    fn first_row(&self) -> Result<Position> {
        if self.header {
            self.records().visit(Position::default(), |_| Ok(false))
        } else {
            Ok(Position::default())
        }
    }

    /// Calls `visit` with the line and fields of every row, all of the same length.
    fn rows(&self, mut visit: impl FnMut(usize, &[&str]) -> Result<()>) -> Result<()> {
        self.rows_from(self.first_row()?, |line, fields| visit(line, fields).map(|()| true)).map(drop)
    }

    /// The same from a row on, until `visit` says to stop; where the next row begins.
    fn rows_from(
        &self,
        start: Position,
        mut visit: impl FnMut(usize, &[&str]) -> Result<bool>,
    ) -> Result<Position> {
        self.records().visit(start, |record| {
            if record.fields.len() != self.columns.len() {
                return Err(Error::Ragged {
                    path: self.path.clone(),
                    line: record.line,
                    expected: self.columns.len(),
                    found: record.fields.len(),
                });
            }
            visit(record.line, &record.fields)
        })
    }

    fn count(&self) -> Result<usize> {
        let mut count = 0;
        self.rows(|_, _| {
            count += 1;
            Ok(())
        })?;
        Ok(count)
    }

    /// The columns of the array that has no key: pandas writes the numbers of the rows in a first column without a name.
    fn numeric(&self) -> Vec<usize> {
        let counts = |&index: &usize| {
            let column = &self.columns[index];
            column.kind == EntryKind::Numbers && !(index == 0 && column.name.is_empty())
        };
        (0..self.columns.len()).filter(counts).collect()
    }

    fn index(&self, key: &str) -> Result<usize> {
        let named = |key: &str| self.columns.iter().position(|column| column.name == key);
        named(key).ok_or_else(|| Error::NoSuchKey {
            path: self.path.clone(),
            key: key.to_owned(),
            keys: self.columns.iter().map(|column| column.name.clone()).collect(),
        })
    }

    /// The numbers of some columns, row after row; `vector` makes one column an array of one dimension.
    fn numbers(&self, chosen: &[usize], path: &Path, vector: bool) -> Result<Array> {
        let (mut values, mut rows) = (Vec::new(), 0);
        self.rows(|line, fields| {
            room::reserve(path, &mut values, chosen.len() * size_of::<f64>())?;
            rows += 1;
            self.parse(line, fields, chosen, &mut values)
        })?;
        let shape = if vector { vec![rows] } else { vec![rows, chosen.len()] };
        array(path, values, shape)
    }

    /// Appends the numbers of some columns of a row.
    fn parse(&self, line: usize, fields: &[&str], chosen: &[usize], into: &mut Vec<u8>) -> Result<()> {
        for &column in chosen {
            let number: f64 = fields[column].parse().map_err(|_| Error::Cell {
                path: self.path.clone(),
                line,
                column: column + 1,
                expected: "a number",
                found: fields[column].chars().take(40).collect(),
            })?;
            into.extend_from_slice(&number.to_le_bytes());
        }
        Ok(())
    }

    /// Refuses a name that two columns have.
    fn check_unique(&self, key: &str) -> Result<()> {
        let mut places = (0..self.columns.len()).filter(|&index| self.columns[index].name == key);
        let place = |index: usize| format!("column {}", index + 1);
        match (places.next(), places.next()) {
            (Some(first), Some(second)) => Err(Error::Repeated {
                path: self.path.clone(),
                item: key.to_owned(),
                place: place(second),
                first: place(first),
            }),
            _ => Ok(()),
        }
    }
}

impl Reader for Csv {
    fn entries(&self) -> Result<Vec<Entry>> {
        let rows = self.count()?;
        let features = self.numeric().len();
        let whole = Entry { key: String::new(), kind: EntryKind::Numbers, shape: vec![rows, features] };
        let columns = self
            .columns
            .iter()
            .filter(|column| !column.name.is_empty() && (self.header || self.columns.len() > 1))
            .map(|column| Entry { key: column.name.clone(), kind: column.kind, shape: vec![rows] });
        Ok((features > 0).then_some(whole).into_iter().chain(columns).collect())
    }

    fn array(&self, key: &str) -> Result<Array> {
        if key.is_empty() {
            return self.numbers(&self.numeric(), &self.path, false);
        }
        self.check_unique(key)?;
        self.numbers(&[self.index(key)?], &path_of(&self.path, key), true)
    }

    fn strings(&self, key: &str) -> Result<Vec<String>> {
        self.check_unique(key)?;
        self.texts(self.index(key)?)
    }

    fn table(&self) -> Option<&dyn Tabular> {
        Some(self)
    }

    fn stream(&self, _: &str, columns: &[usize], transpose: bool) -> Result<Option<Box<dyn RowStream>>> {
        if transpose {
            return Ok(None);
        }
        Ok(Some(Box::new(stream::Stream::open(self, columns)?)))
    }
}

/// Numbers of rows, one row after another.
fn array(path: &Path, values: Vec<u8>, shape: Vec<usize>) -> Result<Array> {
    let (element, byte_order) = (Element::F64, ByteOrder::Little);
    let layout = Layout { offset: 0, shape, order: Order::C, element, byte_order };
    Array::new(path, Arc::new(values), &layout)
}

impl Tabular for Csv {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn has_header(&self) -> bool {
        self.header
    }

    fn select(&self, columns: &[usize]) -> Result<Array> {
        self.numbers(columns, &self.path, false)
    }

    fn texts(&self, column: usize) -> Result<Vec<String>> {
        let mut texts = Vec::new();
        self.rows(|_, fields| {
            texts.push(fields[column].to_owned());
            Ok(())
        })?;
        Ok(texts)
    }

    fn place(&self, row: usize) -> String {
        let (mut line, mut left) = (0, row + 1);
        // Fails only where reading failed before, and then nobody asks.
        let _ = self.rows(|at, _| {
            left = left.saturating_sub(1);
            if left == 0 && line == 0 {
                line = at;
            }
            Ok(())
        });
        format!("line {line}")
    }

    fn without_header(&self) -> Option<Box<dyn Tabular>> {
        let content = (*self.bytes).as_ref();
        let first = first_records(&self.path, content, self.delimiter, FIRST_ROWS).ok()?;
        Some(Box::new(Self {
            path: self.path.clone(),
            bytes: self.bytes.clone(),
            delimiter: self.delimiter,
            header: false,
            columns: header::columns(&first, false),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csv(text: &str) -> Csv {
        Csv::new(Path::new("x.csv"), Arc::new(text.to_owned())).unwrap()
    }

    fn values(text: &str, key: &str) -> Vec<f64> {
        let array = csv(text).array(key).unwrap();
        (0..array.rows()).flat_map(|row| array.to_matrix().col_as_slice(row).to_vec()).collect()
    }

    fn message(text: &str, key: &str) -> String {
        let csv = Csv::new(Path::new("x.csv"), Arc::new(text.to_owned()));
        csv.and_then(|csv| csv.array(key)).unwrap_err().to_string()
    }

    #[test]
    fn reads_every_common_spelling() {
        for text in [
            "1,2\n3,4\n",
            "1,2\n3,4",
            "1\t2\r\n3\t4\r\n",
            "\u{feff}1;2\n3;4\n\n",
            "  1   2\n  3.0 4e0 \n",
            "1\t 2\n3\t 4",
            "\"1\",\"2\"\n3, 4 \n",
            "a,b\n1,2\n3,4\n",
            "a b\n1 2\n3 4\n",
            ",a,b\n0,1,2\n1,3,4\n",
            "name,a,b\n\"x, y\",1,2\nz,3,4\n",
        ] {
            assert_eq!(values(text, ""), [1.0, 2.0, 3.0, 4.0], "{text:?}");
        }
    }

    #[test]
    fn keys_are_columns() {
        let text = "class name,a,b\nkiller whale,1,2\nox,3,4\n";
        assert_eq!(values(text, "b"), [2.0, 4.0]);
        assert_eq!(csv(text).strings("class name").unwrap(), ["killer whale", "ox"]);
        let keys: Vec<_> = csv(text).entries().unwrap().into_iter().map(|entry| entry.key).collect();
        assert_eq!(keys, ["", "class name", "a", "b"]);
        assert_eq!(values("5,6\n7,8\n", "1"), [6.0, 8.0]);
        assert!(message(text, "c").ends_with("has no key `c`: it has `class name`, `a`, `b`"));
        assert_eq!(message("a,a\n1,2\n", "a"), "`x.csv`: column 2 repeats `a` of column 1");
        assert_eq!(csv("name\na b\nc\n").strings("name").unwrap(), ["a b", "c"]);
    }

    #[test]
    fn names_line_and_column() {
        let cell = |place: &str, found: &str| format!("`x.csv`: {place}: expected a number, found `{found}`");
        assert_eq!(message("1,2\n3,x\n", ""), cell("line 2, column 2", "x"));
        assert_eq!(message("a,b\n1,2\n3,\n", ""), cell("line 3, column 2", ""));
        assert_eq!(message("a,b\nNA,2\n", ""), cell("line 2, column 1", "NA"));
        assert_eq!(message("a;b\n\"1\n\";2\n\r\n1;2\n", ""), "`x.csv`: line 4 is blank");
        assert_eq!(message("1,2\r\n\r\n3,4", ""), "`x.csv`: line 2 is blank");
        assert_eq!(message("1 2\n3 4 5\n", ""), "`x.csv`: line 2: expected 2 fields, found 3");
        assert_eq!(message("1,2\n3\n", ""), "`x.csv`: line 2: expected 2 fields, found 1");
    }

    #[test]
    fn what_is_no_text_is_an_error() {
        let open = |bytes: &[u8]| Csv::new(Path::new("x"), Arc::new(bytes.to_vec())).map(|_| ()).unwrap_err();
        assert_eq!(open(b" \n\n").to_string(), "`x`: the file is empty");
        assert_eq!(open(b"1,2\n\xff,3").to_string(), "`x`: line 2 is not UTF-8 text");
    }
}
