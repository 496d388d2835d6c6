//! Strings: HDF5's own, MATLAB's matrices of characters, and its cell arrays of those.

use std::path::Path;

use hdf5_pure::{Dataset, Datatype, Object, VlenStringReadOptions};

use super::content::{Content, is_empty, matlab_content};
use super::{Hdf5, unreadable};
use crate::container::path_of;
use crate::error::{Error, Result};

impl Hdf5 {
    /// The strings of a dataset of any kind that holds some.
    pub(super) fn strings_of(&self, dataset: &Dataset, path: &Path) -> Result<Vec<String>> {
        let failed = |error| unreadable(path, &error);
        let datatype = dataset.datatype().map_err(failed)?;
        if self.matlab && matches!(datatype, Datatype::Reference { .. }) {
            return self.cells(dataset, path);
        }
        match datatype {
            Datatype::VariableLength { .. } => {
                self.check_size(dataset, path)?;
                let most = (*self.bytes).as_ref().len().saturating_mul(16);
                let options = VlenStringReadOptions::new().with_max_payload_bytes(most);
                dataset.read_vlen_strings(options).map_err(failed)
            }
            Datatype::String { .. } => {
                self.check_size(dataset, path)?;
                dataset.read_string().map_err(failed)
            }
            _ => self.characters(dataset, path),
        }
    }

    /// One string from every cell.
    pub(super) fn cells(&self, dataset: &Dataset, path: &Path) -> Result<Vec<String>> {
        if is_empty(dataset).map_err(|error| unreadable(path, &error))? {
            return Ok(Vec::new());
        }
        self.check_size(dataset, path)?;
        let objects = dataset.dereference().map_err(|error| unreadable(path, &error))?;
        // Many cells can refer to one long text, so a small file could ask for much memory.
        let mut room = (*self.bytes).as_ref().len().saturating_mul(16);
        let text = |(index, object): (usize, &Object)| {
            let place = path_of(path, &format!("cell {}", index + 1));
            let Object::Dataset(cell) = object else { return Err(not_text(&place)) };
            let content = matlab_content(cell).map_err(|error| unreadable(&place, &error))?;
            // A cell within a cell is no text: nothing is followed twice, so no circle is ever walked.
            let (Content::Characters, [text]) = (content, &mut self.characters(cell, &place)?[..]) else {
                return Err(not_text(&place));
            };
            room = room.checked_sub(text.len()).ok_or_else(|| Error::Malformed {
                path: path.to_owned(),
                problem: "its cells share more text than the file can hold".to_owned(),
            })?;
            Ok(std::mem::take(text))
        };
        objects.iter().enumerate().map(text).collect()
    }

    /// The rows of a matrix of characters.
    fn characters(&self, dataset: &Dataset, path: &Path) -> Result<Vec<String>> {
        let failed = |error| unreadable(path, &error);
        if is_empty(dataset).map_err(failed)? {
            return Ok(vec![String::new()]);
        }
        if dataset.element_size().map_err(failed)? != 2 {
            return Err(not_text(path));
        }
        let units: Vec<u16> =
            self.raw(dataset, path)?.as_chunks().0.iter().map(|&unit| u16::from_le_bytes(unit)).collect();
        let [columns, rows] = dataset.shape().map_err(failed)?[..] else { return Err(not_text(path)) };
        if rows == 0 || columns == 0 {
            return Ok(vec![String::new()]);
        }
        let rows = usize::try_from(rows).map_err(|_| not_text(path))?;
        let row = |row: usize| {
            let letters = char::decode_utf16(units.iter().skip(row).step_by(rows).copied());
            let text: Option<String> = letters.map(std::result::Result::ok).collect();
            // Rows of one matrix have one length: the short ones are filled up with spaces.
            text.map(|text| if rows > 1 { text.trim_end().to_owned() } else { text })
                .ok_or_else(|| not_text(path))
        };
        (0..rows).map(row).collect()
    }
}

fn not_text(path: &Path) -> Error {
    Error::Malformed { path: path.to_owned(), problem: "expected a line of characters".to_owned() }
}
