//! Rotations within ranges of dimensions that leave a map trapezoidal.
//!
//! With $P_r^\top = Q_r R_r$ (QR by Householder reflections) for the part $P_r$ of a map that belongs to range $r$ of
//! dimensions, $R_r$ replaces $P_r^\top$ without a change of norms, and its row $t$ begins with $t$ zeros.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::qr::no_pivoting::factor::{qr_in_place, qr_in_place_scratch, recommended_block_size};
use faer::{Mat, MatMut, MatRef, Par, Spec};

use crate::Scalar;
use crate::parallel::zeros;

/// All $R_r^\top$ divided by `unit`, for the ranges that end at `dims` (ascending), and a point rotated with them.
pub(super) fn rotate<T: Scalar>(
    map: MatRef<'_, f64>,
    point: &[f64],
    dims: &[usize],
    unit: f64,
) -> (Mat<T>, Vec<f64>) {
    let rows = map.nrows();
    let (mut rotated, mut rotated_point) = (zeros(rows, point.len()), Vec::with_capacity(point.len()));
    let mut first = 0;
    for &end in dims {
        let count = end - first;
        // The point is one more column.
        let mut part = zeros(count, rows + 1);
        part.as_mut().subcols_mut(0, rows).copy_from(map.subcols(first, count).transpose());
        part.col_as_slice_mut(rows).copy_from_slice(&point[first..end]);
        factor(part.as_mut());
        for t in 0..count {
            let column = &mut rotated.col_as_slice_mut(first + t)[t..];
            column.iter_mut().zip(t..).for_each(|(value, i)| *value = T::from_f64(part[(t, i)] / unit));
        }
        rotated_point.extend_from_slice(part.col_as_slice(rows));
        first = end;
    }
    (rotated, rotated_point)
}

/// Replaces a matrix by $R$ of its QR decomposition, on and above the diagonal.
fn factor(matrix: MatMut<'_, f64>) {
    let (rows, columns) = (matrix.nrows(), matrix.ncols());
    let block = recommended_block_size::<f64>(rows, columns);
    let mut coefficients = Mat::zeros(block, rows.min(columns));
    // One thread: several maps are rotated concurrently, and the bits must not depend on how many.
    let par = Par::Seq;
    let mut buffer = MemBuffer::new(qr_in_place_scratch::<f64>(rows, columns, block, par, Spec::default()));
    qr_in_place(matrix, coefficients.as_mut(), par, MemStack::new(&mut buffer), Spec::default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_begin_with_zeros() {
        let map = Mat::from_fn(30, 20, |i, j| ((i * 20 + j) as f64).powi(2).sin());
        let (rotated, _) = rotate::<f64>(map.as_ref(), &[0.0; 20], &[5, 20], 1.0);
        for (column, zeros) in [(0, 0), (4, 4), (5, 0), (19, 14)] {
            assert!(rotated.col_as_slice(column)[..zeros].iter().all(|&value| value == 0.0));
            assert!(rotated[(zeros, column)] != 0.0);
        }
    }
}
