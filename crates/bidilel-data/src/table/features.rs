//! Feature rows with the names of their columns, in the order of the instances.

use bidilel::dataset::Rows;

use crate::array::Array;

/// An array of features; rows of a table may be in another order than they are used in.
#[derive(Debug, Clone)]
pub struct Features {
    /// The numbers, in the order of the file.
    pub array: Array,
    /// For every instance its row; none where they are in the same order.
    pub(super) order: Option<Vec<usize>>,
    /// The names of the columns, where the file has them.
    pub(super) names: Option<Vec<String>>,
}

impl Features {
    pub(super) fn plain(array: Array) -> Self {
        Self { array, order: None, names: None }
    }

    fn row(&self, index: usize) -> usize {
        self.order.as_ref().map_or(index, |order| order[index])
    }
}

impl Rows for Features {
    fn count(&self) -> usize {
        self.array.count()
    }
    fn dim(&self) -> usize {
        self.array.dim()
    }
    fn read(&self, index: usize, into: &mut [f32]) {
        self.array.read(self.row(index), into);
    }
    fn stored_row(&self, index: usize) -> Option<&[f32]> {
        self.array.stored_row(self.row(index))
    }
    fn element(&self) -> &'static str {
        self.array.element().name()
    }
    fn stored(&self, index: usize, column: usize) -> f64 {
        self.array.stored(self.row(index), column)
    }
    fn vanished(&self, index: usize, row: &[f32]) -> usize {
        self.array.vanished(self.row(index), row)
    }
    fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }
}
