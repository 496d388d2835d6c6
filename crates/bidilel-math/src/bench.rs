//! The packed kernel by itself, for measurements: no part of the public interface.

use faer::{MatMut, MatRef};

use crate::Scalar;
use crate::panels::{Panels, Product, Right};

/// A left operand, packed once.
#[derive(Debug)]
pub struct Packed<T> {
    panels: Panels<T>,
    depth: usize,
}

impl<T: Scalar> Packed<T> {
    /// Packs the columns of a matrix (depth x rows).
    pub fn new(columns: MatRef<'_, T>) -> Self {
        let mut panels = Panels::left(columns.ncols(), columns.nrows());
        panels.pack_columns(columns, T::from_f64(1.0));
        Self { panels, depth: columns.nrows() }
    }

    /// Writes the product of the packed columns with others, on the calling thread.
    pub fn write_to(&self, right: MatRef<'_, T>, into: MatMut<'_, T>) {
        let (left, right) = (&self.panels, Right::Columns(right));
        Product { left, first_row: 0, right, depth: self.depth, lower: false }.write_to(into);
    }
}
