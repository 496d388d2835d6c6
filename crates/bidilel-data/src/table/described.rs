//! Rows that describe classes which no dataset has yet: `class add` reads them.
//!
//! An array has one row per class, or is the one row. A table may name the classes in a column and has dimensions by their
//! names; a cell may be empty, which says that nothing is known.

use std::path::Path;

use super::likeness::{self, Likeness};
use crate::array::Array;
use crate::container::{Container, EntryKind, Tabular};
use crate::error::{Error, Result};

/// Descriptions of classes, as a file has them.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassRows {
    /// The names of the classes, where a column has them.
    pub names: Option<Vec<String>>,
    /// The names of the dimensions, where the file has them.
    pub dimensions: Option<Vec<String>>,
    /// One row per class; none where a cell is empty.
    pub rows: Vec<Vec<Option<f64>>>,
    /// Columns of text that describe nothing in numbers, and were passed over.
    pub passed_over: Vec<String>,
}

/// Reads descriptions of classes from an array or a table.
///
/// ```
/// use std::fs;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("new.csv");
/// fs::write(&path, "class,stripes,hooves\nzebra,1,1\nokapi,0.5,\n")?;
/// let found = bidilel_data::table::class_rows(&path, None)?;
/// assert_eq!(found.names.as_deref(), Some(&["zebra".to_owned(), "okapi".to_owned()][..]));
/// assert_eq!(found.rows[1], [Some(0.5), None]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Those of the container, and cells that are neither numbers nor empty in a column of numbers.
pub fn class_rows(path: &Path, key: Option<&str>) -> Result<ClassRows> {
    let container = Container::open(path)?;
    match container.table() {
        Some(table) if key.is_none() && table.has_header() => of_table(path, table),
        _ => Ok(of_array(&container.array(key)?)),
    }
}

fn of_array(array: &Array) -> ClassRows {
    let matrix = array.to_matrix();
    // A vector is one class, whichever way it lies.
    let rows = if array.dimensions() == 1 {
        vec![matrix.row(0).iter().copied().map(Some).collect()]
    } else {
        (0..matrix.ncols()).map(|row| matrix.col_as_slice(row).iter().copied().map(Some).collect()).collect()
    };
    ClassRows { names: None, dimensions: None, rows, passed_over: Vec::new() }
}

fn of_table(path: &Path, table: &dyn Tabular) -> Result<ClassRows> {
    let columns = table.columns();
    let texts = (0..columns.len()).map(|column| table.texts(column)).collect::<Result<Vec<_>>>()?;
    let number = |cell: &String| cell.trim().parse::<f64>().ok();
    let is_empty = |cell: &String| cell.trim().is_empty();
    let numeric = |column: usize| {
        texts[column].iter().all(|cell| is_empty(cell) || number(cell).is_some())
            && !texts[column].iter().all(is_empty)
    };
    let called = |column: usize| {
        let names = columns.iter().map(|column| column.name.as_str());
        matches!(likeness::of(&columns[column].name, names), Some(Likeness::Label | Likeness::Name))
    };
    let text = |column: &usize| columns[*column].kind == EntryKind::Strings && !numeric(*column);
    let all = || 0..columns.len();
    let name = all().filter(|&column| called(column)).find(text).or_else(|| all().find(text));
    let name = name.or_else(|| all().find(|&column| called(column)));
    let features: Vec<usize> = all()
        .filter(|&column| Some(column) != name && numeric(column) && !columns[column].name.is_empty())
        .collect();
    let passed_over = all().filter(|&column| Some(column) != name && !numeric(column));
    let count = texts.first().map_or(0, Vec::len);
    let rows = (0..count).map(|row| features.iter().map(|&column| number(&texts[column][row])).collect());
    let names =
        name.map(|column| texts[column].iter().map(|text| text.trim().to_owned()).collect::<Vec<_>>());
    if let Some(row) = names.iter().flatten().position(String::is_empty) {
        let (expected, found) = ("the name of a class".to_owned(), "an empty cell".to_owned());
        return Err(Error::Value { path: path.to_owned(), row, column: name, expected, found });
    }
    Ok(ClassRows {
        names,
        dimensions: Some(features.iter().map(|&column| columns[column].name.clone()).collect()),
        rows: rows.collect(),
        passed_over: passed_over.map(|column| columns[column].name.clone()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ClassRows {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("classes.csv");
        std::fs::write(&path, text).unwrap();
        class_rows(&path, None).unwrap()
    }

    #[test]
    fn columns_are_told_apart_by_name_and_content() {
        let found = read("latin,species,stripes,hooves\nEquus quagga,zebra,1,\nOkapia,okapi,,0.5\n");
        assert_eq!(found.names.unwrap(), ["zebra", "okapi"]);
        assert_eq!(found.dimensions.unwrap(), ["stripes", "hooves"]);
        assert_eq!(found.rows, [vec![Some(1.0), None], vec![None, Some(0.5)]]);
        assert_eq!(found.passed_over, ["latin"]);
    }

    #[test]
    fn rows_of_numbers_alone_have_no_names() {
        let found = read("1,0.5,0\n0,1,1\n");
        assert_eq!((found.names, found.dimensions), (None, None));
        assert_eq!(found.rows[1], [Some(0.0), Some(1.0), Some(1.0)]);
    }
}
