//! Numbers in an array file, or as lines of text.

use std::path::Path;
use std::sync::Arc;

use faer::Mat;

use crate::array::{self, Array, Base};
use crate::container::Format;
use crate::error::{Error, Result};
use crate::file;
use crate::text;

/// What a file of numbers turned out to be.
pub(super) enum Numbers {
    /// An array, mapped where its format allows that.
    Array(Array),
    /// Lines of text, a column each.
    Text(Mat<f32>),
}

/// Reads an array, or text if the file is none.
pub(super) fn read(path: &Path) -> Result<Numbers> {
    let bytes = file::map(path)?;
    if Format::of(&bytes).is_some() {
        return Ok(Numbers::Array(array::from_bytes(path, Arc::new(bytes), None)?));
    }
    // Text is several times as large as its numbers, so it is read as text in place, without a copy.
    let rows = parse::<f32>(path, &bytes)?;
    Ok(Numbers::Text(rows))
}

/// A matrix of descriptions, dimensions x rows of the file.
pub(super) fn matrix(path: &Path) -> Result<Mat<f64>> {
    let bytes = file::map(path)?;
    if Format::of(&bytes).is_some() {
        return Ok(array::from_bytes(path, Arc::new(bytes), None)?.to_matrix());
    }
    parse(path, &bytes)
}

/// Class numbers, one per instance, that count from 1 unless a 0 is among them.
pub(super) fn labels(path: &Path, classes: usize) -> Result<Vec<usize>> {
    let bytes = file::map(path)?;
    let values = if Format::of(&bytes).is_some() {
        array::from_bytes(path, Arc::new(bytes), None)?.to_indices(Base::Zero)?
    } else {
        let parse = |(index, item): (usize, &String)| {
            item.parse().map_err(|_| wrong(path, index + 1, "the number of a class", item))
        };
        text::list_from_bytes(path, &bytes)?
            .items
            .iter()
            .enumerate()
            .map(parse)
            .collect::<Result<Vec<usize>>>()?
    };
    let first = usize::from(!values.contains(&0));
    match values.iter().position(|&label| label >= classes + first) {
        Some(row) => {
            Err(Error::LabelOutOfRange { path: path.to_owned(), row, label: values[row] - first, classes })
        }
        None => Ok(values.into_iter().map(|label| label - first).collect()),
    }
}

/// Lines of numbers with spaces, tabs or commas between them; a line becomes a column.
fn parse<T: std::str::FromStr + faer::traits::ComplexField>(path: &Path, bytes: &[u8]) -> Result<Mat<T>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut values: Vec<T> = Vec::new();
    let (mut width, mut lines) = (0, 0);
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let line = std::str::from_utf8(line)
            .map_err(|_| Error::NotUtf8 { path: path.to_owned(), line: index + 1 })?;
        let start = values.len();
        for word in
            line.split(|letter: char| letter == ',' || letter.is_whitespace()).filter(|word| !word.is_empty())
        {
            values.push(word.parse().map_err(|_| wrong(path, index + 1, "a number", word))?);
        }
        let found = values.len() - start;
        if found == 0 {
            continue;
        }
        if lines > 0 && found != width {
            return Err(wrong(
                path,
                index + 1,
                &format!("{width} numbers as in the line before"),
                &found.to_string(),
            ));
        }
        (width, lines) = (found, lines + 1);
    }
    if lines == 0 {
        return Err(Error::Empty { path: path.to_owned() });
    }
    let mut values = values.into_iter();
    let mut matrix = Mat::zeros(width, lines);
    for column in 0..lines {
        matrix.col_as_slice_mut(column).fill_with(|| values.next().expect("there are width x lines of them"));
    }
    Ok(matrix)
}

fn wrong(path: &Path, line: usize, expected: &str, found: &str) -> Error {
    let shown: String = found.chars().take(40).collect();
    Error::Line { path: path.to_owned(), line, problem: format!("expected {expected}, found `{shown}`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(text: &str) -> Result<Mat<f64>> {
        parse(Path::new("m.txt"), text.as_bytes())
    }

    #[test]
    fn reads_any_common_separator() {
        for text in ["1 2\n3 4\n", "  1.0\t2\r\n3,4", "\u{feff}1, 2\n\n3  4\n\n"] {
            let matrix = matrix(text).unwrap();
            assert_eq!((matrix.col_as_slice(0), matrix.col_as_slice(1)), (&[1.0, 2.0][..], &[3.0, 4.0][..]));
        }
    }

    #[test]
    fn names_the_line_that_is_wrong() {
        let message = |text| matrix(text).unwrap_err().to_string();
        assert_eq!(message("1 2\n3 x\n"), "`m.txt`: line 2: expected a number, found `x`");
        assert_eq!(
            message("1 2\n3\n"),
            "`m.txt`: line 2: expected 2 numbers as in the line before, found `1`"
        );
        assert_eq!(message("\n \n"), "`m.txt`: the file is empty");
    }
}
