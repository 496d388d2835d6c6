//! Lists of instance indices.

use std::collections::HashMap;

use crate::array::{Array, Base};
use crate::error::{Error, Result};

/// Indices below `count`, each once, in the order of the file.
pub(crate) fn unique(array: &Array, base: Base, count: usize) -> Result<Vec<usize>> {
    let path = || array.path().to_owned();
    let indices = array.to_indices(base)?;
    let mut rows = HashMap::with_capacity(indices.len());
    for (row, &index) in indices.iter().enumerate() {
        if index >= count {
            let expected = format!("the index of one of {count} instances");
            // The number as it is in the file, whatever it counts from.
            let found = (index + usize::from(base == Base::One)).to_string();
            return Err(Error::Value { path: path(), row, column: None, expected, found });
        }
        if let Some(first) = rows.insert(index, row) {
            let (place, first) = (format!("row {row}"), format!("row {first}"));
            return Err(Error::Repeated { path: path(), item: index.to_string(), place, first });
        }
    }
    Ok(indices)
}
