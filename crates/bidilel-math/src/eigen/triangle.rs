//! The lower triangle of a matrix in packed storage: half of the memory, for a factor that is not needed for a while.

use faer::Mat;

use crate::parallel::zeros;

/// A lower triangle, column by column.
pub(super) struct Triangle {
    size: usize,
    values: Vec<f64>,
}

impl Triangle {
    /// Packs the lower triangle of a square matrix.
    pub(super) fn pack(matrix: &Mat<f64>) -> Self {
        let size = matrix.nrows();
        let mut values = Vec::with_capacity(size * (size + 1) / 2);
        (0..size).for_each(|j| values.extend_from_slice(&matrix.col_as_slice(j)[j..]));
        Self { size, values }
    }

    /// The matrix again, with zeros above the diagonal.
    pub(super) fn unpack(self) -> Mat<f64> {
        let (mut matrix, mut rest) = (zeros(self.size, self.size), &self.values[..]);
        for j in 0..self.size {
            let (column, after) = rest.split_at(self.size - j);
            matrix.col_as_slice_mut(j)[j..].copy_from_slice(column);
            rest = after;
        }
        matrix
    }
}
