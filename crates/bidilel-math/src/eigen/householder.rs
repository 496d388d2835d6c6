//! Blocked Householder tridiagonalization of a symmetric matrix: $A = Q T Q^\top$ with reflections $Q = H_1 H_2 \cdots$.
//!
//! The Householder reflection $H_j = I - \tau v v^\top$ zeroes column $j$ below the subdiagonal. Within a panel of
//! [`PANEL_REFLECTIONS`] reflections only the current column is updated, by the vectors $v$ and
//! $w = \tau A v - \frac{\tau}{2} (\tau v^\top A v) v$ so far; the trailing matrix gets one rank-2k update
//! $A - V W^\top - W V^\top$ per panel. The remaining work per column is one symmetric matrix-vector product $A v$, a pass over the lower
//! triangle. The reflections of a panel are applied together, in compact WY form $I - V S^{-1} V^\top$, where $S$ is the upper
//! triangle of $V^\top V$ with its diagonal halved.
//!
//! # References
//! J. Dongarra, D. Sorensen and S. Hammarling, *Block reduction of matrices to condensed forms for eigenvalue
//! computations*, 1989. C. Puglisi, *Modification of the Householder method based on the compact WY representation*, 1992.

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_upper_triangular_in_place;
use faer::{Accum, ColMut, ColRef, Mat, MatMut, MatRef, Par};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::tridiagonal::Tridiagonal;
use crate::parallel::{copy, zeros};
use crate::simd;
use crate::tiles::subtract_rank_2k;
use crate::vector::{add_scaled, column, dot};
use crate::{Observer, Result};

/// Reflections per panel.
const PANEL_REFLECTIONS: usize = 32;
/// Entries of the lower triangle per task of a symmetric matrix-vector product.
const STRIPE_ENTRIES: usize = 1 << 17;
/// Columns of a symmetric matrix-vector product that share one pass over the vector.
const COLUMNS_PER_PASS: usize = 4;
/// Vectors that one thread transforms at a time.
const VECTORS_PER_TASK: usize = 64;

/// The orthogonal matrix $Q$ as a product of Householder reflections.
#[derive(Debug, Default)]
pub(super) struct Reflections(Vec<Panel>);

/// Consecutive reflections in compact WY form.
#[derive(Debug)]
struct Panel {
    /// The first row that they act on.
    first: usize,
    /// $V$ from that row on.
    vectors: Mat<f64>,
    /// $S$.
    triangle: Mat<f64>,
}

/// $T$ and $Q$ of a symmetric matrix, given by its lower triangle, which is overwritten.
///
/// # Errors
/// [`crate::Error::Cancelled`].
pub(super) fn tridiagonalize(
    mut matrix: Mat<f64>,
    watch: &dyn Observer,
) -> Result<(Tridiagonal, Reflections)> {
    let size = matrix.nrows();
    let mut found = Tridiagonal::default();
    let mut reflections = Vec::new();
    for start in (0..size).step_by(PANEL_REFLECTIONS) {
        watch.go_on()?;
        let count = PANEL_REFLECTIONS.min(size - start);
        // Rows above the panel are never read.
        let (mut vectors, mut images) = (zeros::<f64>(size, count), zeros::<f64>(size, count));
        for offset in 0..count {
            let at = start + offset;
            let column = &mut matrix.col_as_slice_mut(at)[at..];
            let (v, w) =
                (vectors.submatrix(at, 0, size - at, offset), images.submatrix(at, 0, size - at, offset));
            subtract_product(column, v, w.row(0).transpose());
            subtract_product(column, w, v.row(0).transpose());
            found.diagonal.push(column[0]);
            if at + 1 == size {
                break;
            }
            let (off_diagonal, scale) = reflect(&mut column[1..]);
            found.off_diagonal.push(off_diagonal);
            vectors.col_as_slice_mut(offset)[at + 1..].copy_from_slice(&column[1..]);
            image(matrix.as_ref(), &vectors, &mut images, (at + 1, offset), scale);
        }
        let rest = start + count;
        let count = size - rest;
        subtract_rank_2k(
            matrix.as_mut().submatrix_mut(rest, rest, count, count),
            vectors.subrows(rest, count),
            images.subrows(rest, count),
            watch,
        );
        if start + 1 < size {
            reflections.push(Panel::new(start + 1, vectors.subrows(start + 1, size - start - 1)));
        }
    }
    watch.go_on()?;
    Ok((found, Reflections(reflections)))
}

/// Replaces $x$ by the Householder vector $v$, for which $(I - \tau v v^\top) x$ is zero except for its first entry; returns that
/// entry and $\tau$.
fn reflect(column: &mut [f64]) -> (f64, f64) {
    let (head, tail) = (column[0], &column[1..]);
    let rest = dot(tail, tail);
    if rest == 0.0 {
        column.fill(0.0);
        return (head, 0.0);
    }
    // The sign that avoids cancellation.
    let norm = (head * head + rest).sqrt().copysign(head);
    let scale = 1.0 / (head + norm);
    column[0] = 1.0;
    column[1..].iter_mut().for_each(|value| *value *= scale);
    (-norm, (head + norm) / norm)
}

/// Column `index` of $W$, from row `from` on, for the reflection in the same column of $V$.
fn image(
    matrix: MatRef<'_, f64>,
    vectors: &Mat<f64>,
    images: &mut Mat<f64>,
    (from, index): (usize, usize),
    scale: f64,
) {
    let size = matrix.nrows();
    let v = &vectors.col_as_slice(index)[from..];
    let mut w = symmetric_times(matrix.submatrix(from, from, size - from, size - from), v);
    let (one, other) =
        (vectors.submatrix(from, 0, size - from, index), images.submatrix(from, 0, size - from, index));
    let along = |block: MatRef<'_, f64>| block.transpose() * ColRef::from_slice(v);
    let (along_one, along_other) = (along(one), along(other));
    subtract_product(&mut w, one, along_other.as_ref());
    subtract_product(&mut w, other, along_one.as_ref());
    w.iter_mut().for_each(|value| *value *= scale);
    let along = dot(&w, v);
    add_scaled(&mut w, -0.5 * scale * along, v);
    images.col_as_slice_mut(index)[from..].copy_from_slice(&w);
}

/// `column -= block * coefficients`.
fn subtract_product(column: &mut [f64], block: MatRef<'_, f64>, coefficients: ColRef<'_, f64>) {
    let column = ColMut::from_slice_mut(column).as_mat_mut();
    matmul(column, Accum::Add, block, coefficients.as_mat(), -1.0, Par::Seq);
}

/// $A v$ from the lower triangle of $A$.
fn symmetric_times(half: MatRef<'_, f64>, vector: &[f64]) -> Vec<f64> {
    let size = half.nrows();
    let mut stripes = vec![0];
    let mut entries = 0;
    for column in (0..size).step_by(COLUMNS_PER_PASS) {
        entries += COLUMNS_PER_PASS * (size - column);
        if entries >= STRIPE_ENTRIES && column + COLUMNS_PER_PASS < size {
            stripes.push(column + COLUMNS_PER_PASS);
            entries = 0;
        }
    }
    let ends = stripes.iter().skip(1).copied().chain([size]);
    let pairs: Vec<(usize, usize)> = stripes.iter().copied().zip(ends).collect();
    let multiply = |&(first, end): &(usize, usize)| {
        let mut sums = vec![0.0; size - first];
        let half = half.submatrix(first, first, size - first, end - first);
        stripe_times(half, &vector[first..], &mut sums);
        sums
    };
    if let [whole] = pairs[..] {
        return multiply(&whole);
    }
    let parts: Vec<Vec<f64>> = pairs.par_iter().map(multiply).collect();
    let mut parts = parts.into_iter();
    let mut sums = parts.next().unwrap_or_default();
    parts.for_each(|part| add_scaled(&mut sums[size - part.len()..], 1.0, &part));
    sums
}

/// Adds the contribution of the leading columns of the lower triangle and of their mirror image, [`COLUMNS_PER_PASS`] per pass.
fn stripe_times(half: MatRef<'_, f64>, vector: &[f64], sums: &mut [f64]) {
    for first in (0..half.ncols()).step_by(COLUMNS_PER_PASS) {
        let below = half.ncols().min(first + COLUMNS_PER_PASS);
        // The block on the diagonal.
        for j in first..below {
            let values = column(half, j);
            sums[j] += values[j] * vector[j];
            for i in j + 1..below {
                sums[i] += values[i] * vector[j];
                sums[j] += values[i] * vector[i];
            }
        }
        // A partial last group is padded with copies of the last column, with coefficient zero.
        let columns = std::array::from_fn(|offset| &column(half, (first + offset).min(below - 1))[below..]);
        let scales =
            std::array::from_fn(|offset| if first + offset < below { vector[first + offset] } else { 0.0 });
        let (vector, (upper, sums)) = (&vector[below..], sums.split_at_mut(below));
        let along = simd::run_kernel(ColumnPass { columns, scales, vector, sums });
        upper[first..].iter_mut().zip(along).for_each(|(sum, along)| *sum += along);
    }
}

/// Adds a linear combination of the columns to `sums`, and returns their inner products with `vector`.
struct ColumnPass<'a> {
    columns: [&'a [f64]; COLUMNS_PER_PASS],
    scales: [f64; COLUMNS_PER_PASS],
    vector: &'a [f64],
    sums: &'a mut [f64],
}

impl WithSimd for ColumnPass<'_> {
    type Output = [f64; COLUMNS_PER_PASS];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [f64; COLUMNS_PER_PASS] {
        let [(a, a_rest), (b, b_rest), (c, c_rest), (d, d_rest)] = self.columns.map(S::as_simd_f64s);
        let (vector, vector_rest) = S::as_simd_f64s(self.vector);
        let (sums, sums_rest) = S::as_mut_simd_f64s(self.sums);
        let scales = self.scales.map(|scale| simd.splat_f64s(scale));
        let mut along = [simd.splat_f64s(0.0); COLUMNS_PER_PASS];
        for (((((sum, &value), &a), &b), &c), &d) in sums.iter_mut().zip(vector).zip(a).zip(b).zip(c).zip(d) {
            let columns = [a, b, c, d];
            for c in 0..COLUMNS_PER_PASS {
                *sum = simd.mul_add_e_f64s(columns[c], scales[c], *sum);
                along[c] = simd.mul_add_e_f64s(columns[c], value, along[c]);
            }
        }
        let mut along = along.map(|lanes| simd.reduce_sum_f64s(lanes));
        for (c, rest) in [a_rest, b_rest, c_rest, d_rest].into_iter().enumerate() {
            for ((sum, value), entry) in sums_rest.iter_mut().zip(vector_rest).zip(rest) {
                *sum += entry * self.scales[c];
                along[c] += entry * value;
            }
        }
        along
    }
}

impl Panel {
    fn new(first: usize, vectors: MatRef<'_, f64>) -> Self {
        let vectors = copy(vectors);
        let count = vectors.ncols();
        let mut triangle = zeros(count, count);
        matmul(triangle.as_mut(), Accum::Replace, vectors.transpose(), vectors.as_ref(), 1.0, Par::Seq);
        for i in 0..count {
            // An identity reflection has the zero vector.
            let square = triangle[(i, i)];
            triangle[(i, i)] = if square == 0.0 { 1.0 } else { 0.5 * square };
        }
        Self { first, vectors, triangle }
    }

    fn apply(&self, block: MatMut<'_, f64>) {
        let mut block = block.split_at_row_mut(self.first).1;
        let mut along = zeros(self.vectors.ncols(), block.ncols());
        matmul(along.as_mut(), Accum::Replace, self.vectors.transpose(), block.as_ref(), 1.0, Par::Seq);
        solve_upper_triangular_in_place(self.triangle.as_ref(), along.as_mut(), Par::Seq);
        matmul(block.as_mut(), Accum::Add, self.vectors.as_ref(), along.as_ref(), -1.0, Par::Seq);
    }
}

impl Reflections {
    /// `block = Q block`.
    pub(super) fn apply(&self, block: MatMut<'_, f64>) {
        block.par_col_chunks_mut(VECTORS_PER_TASK).for_each(|mut block| {
            self.0.iter().rev().for_each(|panel| panel.apply(block.as_mut()));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;
    use crate::krylov::tests::random;
    use crate::parallel::product;

    fn symmetric(size: usize) -> Mat<f64> {
        let half = random(size, size, size as u64);
        Mat::from_fn(size, size, |i, j| half[(i, j)] + half[(j, i)])
    }

    #[test]
    fn the_orthogonal_transform_of_the_tridiagonal_matrix_is_the_matrix() {
        for size in [1, 2, 3, 5, PANEL_REFLECTIONS, PANEL_REFLECTIONS + 1, 2 * PANEL_REFLECTIONS + 5, 700] {
            let matrix = symmetric(size);
            let (found, reflections) = tridiagonalize(matrix.clone(), &Silent).expect("not canceled");
            let mut whole = found.dense();
            reflections.apply(whole.as_mut());
            let mut transformed = whole.transpose().to_owned();
            reflections.apply(transformed.as_mut());
            assert!((transformed - &matrix).norm_max() < 1e-11 * size as f64, "{size}");
            let mut unit = Mat::<f64>::identity(size, size);
            reflections.apply(unit.as_mut());
            let gram = product(unit.transpose(), unit.as_ref());
            assert!((gram - Mat::<f64>::identity(size, size)).norm_max() < 1e-12, "{size}");
        }
    }

    #[test]
    fn only_the_lower_triangle_is_read() {
        let matrix = symmetric(150);
        let half = Mat::from_fn(150, 150, |i, j| if i < j { f64::NAN } else { matrix[(i, j)] });
        let (found, _) = tridiagonalize(half, &Silent).expect("not canceled");
        let (expected, _) = tridiagonalize(matrix, &Silent).expect("not canceled");
        assert_eq!(found.diagonal, expected.diagonal);
        assert_eq!(found.off_diagonal, expected.off_diagonal);
    }

    #[test]
    fn columns_that_are_zero_already_stay() {
        let diagonal = Mat::from_fn(60, 60, |i, j| if i == j { i as f64 } else { 0.0 });
        let (found, _) = tridiagonalize(diagonal, &Silent).expect("not canceled");
        assert_eq!(found.diagonal, (0..60).map(f64::from).collect::<Vec<_>>());
        assert!(found.off_diagonal.iter().all(|&value| value == 0.0));
    }
}
