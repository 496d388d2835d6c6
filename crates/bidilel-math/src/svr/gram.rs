//! The kernel matrix of the solver: validated, contiguous, shared by all machines.

use faer::MatRef;

use crate::{Error, Result};

/// Lower bound of the curvature along a pair, relative to the largest diagonal entry.
const MIN_CURVATURE: f64 = 1e-12;

/// A square kernel matrix by columns.
pub(super) struct Gram {
    samples: usize,
    columns: Vec<f64>,
    pub(super) diagonal: Vec<f64>,
    /// Lower bound of the curvature along a pair. Equal samples have curvature zero, and the step $g / 0$ would be NaN for a gap
    /// $g = 0$. Any large step is right, because it is clipped to the box.
    pub(super) min_curvature: f64,
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
        Ok(Self {
            samples,
            columns,
            diagonal,
            min_curvature: (MIN_CURVATURE * largest).max(f64::MIN_POSITIVE),
        })
    }

    pub(super) fn samples(&self) -> usize {
        self.samples
    }

    pub(super) fn column(&self, index: usize) -> &[f64] {
        &self.columns[index * self.samples..][..self.samples]
    }
}
