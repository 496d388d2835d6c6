//! Text lists: one item per line.
//!
//! A byte order mark, Windows line ends, a missing last line end and blank lines at the end are all fine; spaces
//! around an item do not count. A blank line between items is an error, because the line number is the index.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::array::Bytes;
use crate::container::{Container, Entry, EntryKind, Format};
use crate::error::{Error, Result};
use crate::file;
use crate::names;

/// A cell of a table that no spreadsheet takes for a formula: text that begins like one gets an apostrophe in front.
///
/// Numbers stay as they are. Programs that join tables by such a cell must know of the apostrophe, so it is never put
/// there unasked.
pub fn spreadsheet_safe(cell: &str) -> Cow<'_, str> {
    let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && cell.parse::<f64>().is_err();
    if formula { Cow::Owned(format!("'{cell}")) } else { Cow::Borrowed(cell) }
}

/// Items in order, with the place that each came from.
#[derive(Debug, Clone)]
pub struct List {
    /// The file that holds them.
    pub path: PathBuf,
    /// The items.
    pub items: Vec<String>,
    /// The key of the list, where it is written inside `dataset.toml` or comes from a container.
    pub key: Option<String>,
}

impl List {
    /// Where an item stands, for a message.
    pub fn place(&self, index: usize) -> String {
        match &self.key {
            None => format!("line {}", index + 1),
            Some(key) if key.is_empty() => format!("item {}", index + 1),
            Some(key) => format!("item {} of `{key}`", index + 1),
        }
    }

    fn name(&self) -> String {
        self.key.as_ref().map_or_else(|| "the list".to_owned(), |key| format!("`{key}`"))
    }

    /// The same names, each in the form in which names are compared.
    pub(crate) fn composed(mut self) -> Self {
        self.items.iter_mut().for_each(|item| *item = names::composed(item));
        self
    }

    /// The same list, after a check that nothing is in it twice.
    pub fn unique(self) -> Result<Self> {
        let mut seen = HashMap::with_capacity(self.items.len());
        for (index, item) in self.items.iter().enumerate() {
            if let Some(first) = seen.insert(item.as_str(), index) {
                return Err(Error::Repeated {
                    path: self.path.clone(),
                    item: item.clone(),
                    place: self.place(index),
                    first: self.place(first),
                });
            }
        }
        Ok(self)
    }
}

/// Reads a list from a file.
pub fn read_list(path: &Path) -> Result<List> {
    let bytes = file::map(path)?;
    list_from_bytes(path, &bytes)
}

/// Reads strings from a text file, or those of a key from a container.
pub(crate) fn read_strings(path: &Path, key: Option<&str>) -> Result<List> {
    strings_from_bytes(path, Arc::new(file::map(path)?), key)
}

/// As [`read_strings`], from bytes that are already at hand.
pub(crate) fn strings_from_bytes(path: &Path, bytes: Bytes, key: Option<&str>) -> Result<List> {
    match (Format::of((*bytes).as_ref()), key) {
        (None, None) => list_from_bytes(path, (*bytes).as_ref()),
        _ => list_from_container(&Container::from_bytes(path, bytes)?, key),
    }
}

/// The strings of a key, or the only ones, as if each were a line.
pub(crate) fn list_from_container(container: &Container, key: Option<&str>) -> Result<List> {
    let Entry { key, kind, .. } = container.entry(key, &[EntryKind::Strings])?;
    let path = container.path().to_owned();
    if kind != EntryKind::Strings {
        return Err(Error::Format { path, expected: "text", found: container.format_name() });
    }
    let mut list = List { path, items: container.strings(&key)?, key: Some(key) };
    for item in &mut list.items {
        *item = item.trim().to_owned();
    }
    match list.items.iter().position(String::is_empty) {
        Some(index) => Err(Error::BlankItem { path: list.path.clone(), place: list.place(index) }),
        None if list.items.is_empty() => {
            Err(Error::Malformed { problem: format!("{} is empty", list.name()), path: list.path })
        }
        None => Ok(list),
    }
}

/// The list that is in the bytes of a file.
pub fn list_from_bytes(path: &Path, bytes: &[u8]) -> Result<List> {
    let text = text_from_bytes(path, bytes)?;
    let text = text.trim_end();
    if text.is_empty() {
        return Err(Error::Empty { path: path.to_owned() });
    }
    let mut items = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let item = line.trim();
        if item.is_empty() {
            return Err(Error::BlankLine { path: path.to_owned(), line: index + 1 });
        }
        items.push(item.to_owned());
    }
    Ok(List { path: path.to_owned(), items, key: None })
}

/// The bytes of a file as text, without the byte order mark.
pub(crate) fn text_from_bytes(path: &Path, bytes: &[u8]) -> Result<String> {
    // Before anything is copied: the wrong file may be a feature array of many gigabytes.
    if let Some(format) = Format::of(bytes) {
        return Err(Error::Format { path: path.to_owned(), expected: "text", found: format.name() });
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(error) => {
            let line = bytes[..error.valid_up_to()].split(|&byte| byte == b'\n').count();
            Err(Error::NotUtf8 { path: path.to_owned(), line })
        }
    }
}

/// Whether reading a list that has this item gives it back.
pub(crate) fn is_listable(item: &str) -> bool {
    !item.is_empty() && item == item.trim() && !item.contains(['\n', '\r']) && !item.starts_with('\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_text_and_numbers_stay_numbers() {
        for formula in ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\t=1", "-"] {
            assert_eq!(spreadsheet_safe(formula), format!("'{formula}"));
        }
        for plain in ["", "zebra", "a=b", "-1.5", "+2", "1e-3", "-inf"] {
            assert_eq!(spreadsheet_safe(plain), plain);
        }
    }

    fn list(bytes: &[u8]) -> Result<List> {
        list_from_bytes(Path::new("list.txt"), bytes)
    }

    fn message(bytes: &[u8]) -> String {
        list(bytes).and_then(List::unique).unwrap_err().to_string()
    }

    #[test]
    fn accepts_every_common_way_to_end_lines() {
        let spellings: [&[u8]; 6] = [
            b"a\nb c\n",
            b"a\nb c",
            b"a\r\nb c\r\n",
            b"\xef\xbb\xbfa\nb c\n",
            b"a\nb c\n\n \r\n",
            b" a \nb c\t\n",
        ];
        for bytes in spellings {
            assert_eq!(list(bytes).unwrap().items, ["a", "b c"]);
        }
        assert_eq!(list("ö\n雪\n".as_bytes()).unwrap().items, ["ö", "雪"]);
    }

    #[test]
    fn names_the_line_that_is_wrong() {
        assert_eq!(message(b"a\n\nb\n"), "`list.txt`: line 2 is blank");
        assert_eq!(message(b"\na\n"), "`list.txt`: line 1 is blank");
        assert_eq!(message(b"a\nb\n\xff\n"), "`list.txt`: line 3 is not UTF-8 text");
        assert_eq!(message(b"a\nb\na\n"), "`list.txt`: line 3 repeats `a` of line 1");
        assert_eq!(message(b" \n\n"), "`list.txt`: the file is empty");
        assert_eq!(message(b"\x93NUMPY\x01\x00"), "`list.txt`: expected text, found a NumPy array");
    }

    #[test]
    fn what_is_listable_comes_back() {
        for item in ["a", "a b", "ö", "#"] {
            assert!(is_listable(item));
            assert_eq!(list(item.as_bytes()).unwrap().items, [item]);
        }
        for item in ["", " a", "a\n", "a\nb", "\u{feff}a"] {
            assert!(!is_listable(item), "{item:?}");
        }
    }
}
