//! The kernel matrix as the solver reads it: checked, contiguous, shared by all machines.

use faer::MatRef;

use crate::{Error, Result};

/// Curvature, relative to the largest diagonal entry, below which a pair counts as flat.
const FLAT: f64 = 1e-12;

/// A square kernel matrix by columns.
pub(super) struct Gram {
    samples: usize,
    columns: Vec<f64>,
    pub(super) diagonal: Vec<f64>,
    /// Floor of the curvature along a pair. Equal samples have none, and the unbounded step that a
    /// division by zero asks for would not be a number when the gap is zero too; any large step will do,
    /// because the box cuts it.
    pub(super) flat: f64,
}

impl Gram {
    pub(super) fn new(kernel: MatRef<'_, f64>) -> Result<Self> {
        let samples = kernel.nrows();
        if samples == 0 {
            let (parameter, expected) = ("the number of samples", "at least 1");
            return Err(Error::Parameter { parameter, expected, found: 0.0 });
        }
        if kernel.ncols() != samples {
            let what = "number of kernel columns";
            return Err(Error::Shape { what, expected: samples, found: kernel.ncols() });
        }
        let columns: Vec<f64> = kernel.col_iter().flat_map(|column| column.iter().copied()).collect();
        if columns.iter().any(|value| !value.is_finite()) {
            return Err(Error::NotFinite { what: "a kernel value" });
        }
        let diagonal: Vec<f64> = columns.iter().step_by(samples + 1).copied().collect();
        let largest = diagonal.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        Ok(Self { samples, columns, diagonal, flat: (FLAT * largest).max(f64::MIN_POSITIVE) })
    }

    pub(super) fn samples(&self) -> usize {
        self.samples
    }

    pub(super) fn column(&self, index: usize) -> &[f64] {
        &self.columns[index * self.samples..][..self.samples]
    }
}
