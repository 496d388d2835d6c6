//! Sources of local descriptors: any number of them per item.

use faer::Mat;

use crate::dataset::Rows;
use crate::error::{Error, Result};

/// Whatever went wrong in a source of numbers.
pub type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// Items (videos, pictures), each with rows of local descriptors.
pub trait Items: Sync {
    /// How many items there are.
    fn count(&self) -> usize;
    /// How many dimensions descriptors have.
    fn dim(&self) -> usize;
    /// How many descriptors an item has.
    fn descriptors(&self, item: usize) -> usize;
    /// Opens the descriptors of an item; several threads do so in parallel.
    fn open(&self, item: usize) -> Result<Box<dyn Rows + '_>, AnyError>;
    /// What to call an item in a message.
    fn origin(&self, item: usize) -> String;
    /// Where a number of an item is, for messages: the file, and the row and column in it.
    fn locate(&self, item: usize, row: usize, column: usize) -> (String, usize, usize) {
        (self.origin(item), row, column)
    }
}

/// Items in memory, one column per descriptor.
impl Items for Vec<Mat<f32>> {
    fn count(&self) -> usize {
        self.len()
    }
    fn dim(&self) -> usize {
        self.first().map_or(0, Mat::nrows)
    }
    fn descriptors(&self, item: usize) -> usize {
        self[item].ncols()
    }
    fn open(&self, item: usize) -> Result<Box<dyn Rows + '_>, AnyError> {
        Ok(Box::new(InMemory(&self[item])))
    }
    fn origin(&self, item: usize) -> String {
        format!("item {item}")
    }
}

struct InMemory<'a>(&'a Mat<f32>);

impl Rows for InMemory<'_> {
    fn count(&self) -> usize {
        self.0.count()
    }
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn read(&self, index: usize, into: &mut [f32]) {
        self.0.read(index, into);
    }
}

/// Opens an item, and checks that it is as large as it was said to be.
pub(super) fn open(items: &dyn Items, item: usize) -> Result<Box<dyn Rows + '_>> {
    let rows = items.open(item).map_err(|source| Error::Descriptors { source })?;
    let mismatch =
        |what, expected, found| Error::Mismatch { origin: items.origin(item), what, expected, found };
    if rows.dim() != items.dim() {
        return Err(mismatch("dimensions, as in the other items", items.dim(), rows.dim()));
    }
    if rows.count() != items.descriptors(item) {
        return Err(mismatch("descriptors, as at first", items.descriptors(item), rows.count()));
    }
    Ok(rows)
}

/// Reads one descriptor, which must be finite.
pub(super) fn read_checked(
    items: &dyn Items,
    item: usize,
    rows: &dyn Rows,
    index: usize,
    into: &mut [f32],
) -> Result<()> {
    rows.read(index, into);
    match into.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(bad) => {
            let (origin, row, column) = items.locate(item, index, bad);
            Err(Error::NotFinite { origin, row, column, value: into[bad].into() })
        }
    }
}
