//! Local descriptors of videos or pictures: a file for each, or one array with the item of every row.
//!
//! Nothing is held but names and counts. A file is opened when its item is asked for, and a large mapped array is now
//! and then mapped anew, so that pages that were read do not pile up. What cannot be mapped (compressed arrays,
//! text) is unpacked whole: a file an item at a time, a single array once and for all.

mod files;
mod grouped;

use std::ops::Range;
use std::path::{Path, PathBuf};

use bidilel::encode::Items;

pub use files::{folder, list};
pub use grouped::{Owners, grouped};

use crate::array::Array;
use crate::container::Container;
use crate::error::{Counted, Error, Result};
use crate::table;

/// Which numbers of a file are the descriptors.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The array in a file that has several.
    pub key: Option<String>,
    /// Whether descriptors are columns.
    pub transpose: bool,
    /// The dimensions to use; all if not given.
    pub columns: Option<Range<usize>>,
}

/// Items with what is known of them.
pub struct Collection {
    /// The descriptors.
    pub items: Box<dyn Items>,
    /// The name of every item.
    pub names: Vec<String>,
    /// The subfolder that each lies in, if items come from a folder.
    pub folders: Option<Vec<Option<String>>>,
    /// Things that the user should know, a sentence each.
    pub notes: Vec<String>,
}

impl Options {
    /// The descriptors in a file, one a row.
    fn array(&self, container: &Container) -> Result<Array> {
        // Whoever says which columns are meant has looked at them.
        if self.key.is_none() && self.columns.is_none() && !self.transpose {
            table::refuse_suspects(container)?;
        }
        self.select(container.array(self.key.as_deref())?)
    }

    /// The descriptors in an array, one a row.
    fn select(&self, array: Array) -> Result<Array> {
        if array.dimensions() != 2 {
            let (path, shape) = (array.path().to_owned(), vec![array.rows()]);
            return Err(Error::Dimensions { path, expected: "a matrix of descriptors x dimensions", shape });
        }
        let array = if self.transpose { array.transposed() } else { array };
        match &self.columns {
            None => Ok(array),
            Some(columns) if columns.start < columns.end && columns.end <= array.columns() => {
                Ok(array.subcolumns(columns.clone()))
            }
            Some(columns) => Err(Error::Malformed {
                path: array.path().to_owned(),
                problem: format!(
                    "columns {}..{} are not there: it has {} columns",
                    columns.start,
                    columns.end,
                    array.columns()
                ),
            }),
        }
    }

    /// A column as the file counts it.
    fn column(&self, column: usize) -> usize {
        column + self.columns.as_ref().map_or(0, |columns| columns.start)
    }
}

fn origin(path: &Path) -> String {
    format!("`{}`", path.display())
}

/// Fails when there are not as many of something as there are items.
pub fn check_count(path: &Path, what: Counted, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(Error::Count { path: PathBuf::from(path), what, expected, found })
}
