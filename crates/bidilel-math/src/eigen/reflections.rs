//! A symmetric matrix as a tridiagonal one between reflections: $A = Q T Q^\top$ with $Q = H_1 H_2 \cdots$.
//!
//! Reflection $H_j = I - \tau v v^\top$ clears column $j$ below the entry beside the diagonal. Reflections are gathered by
//! [`PANEL`]: within a panel only the column at hand is brought up to date, by the vectors $v$ and
//! $w = \tau A v - \frac{\tau}{2} (\tau v^\top A v) v$ so far, and $A - V W^\top - W V^\top$ of the rest is one product at its end.
//! What is left to do for each column alone is one pass over half of the matrix, for $A v$. A panel's reflections together are
//! $I - V S^{-1} V^\top$ with $S$ the half of $V^\top V$ on and above the diagonal, the diagonal halved.
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

/// Reflections of a panel.
const PANEL: usize = 32;
/// Entries of the lower half that one thread multiplies by a vector.
const STRIPE: usize = 1 << 17;
/// Columns that are multiplied in one pass.
const FOUR: usize = 4;
/// Vectors that one thread reflects.
const VECTORS: usize = 64;

/// Orthonormal $Q$.
#[derive(Debug, Default)]
pub(super) struct Reflections(Vec<Panel>);

/// Some reflections in a row.
#[derive(Debug)]
struct Panel {
    /// The first row that they change.
    first: usize,
    /// $V$ from that row on.
    vectors: Mat<f64>,
    /// $S$.
    triangle: Mat<f64>,
}

/// $T$ and $Q$ of a matrix, of which the lower half is read; it is used up.
pub(super) fn tridiagonalize(mut matrix: Mat<f64>) -> (Tridiagonal, Reflections) {
    let size = matrix.nrows();
    let mut found = Tridiagonal::default();
    let mut reflections = Vec::new();
    for start in (0..size).step_by(PANEL) {
        let count = PANEL.min(size - start);
        // Rows before the panel's first are never looked at.
        let (mut vectors, mut images) = (zeros::<f64>(size, count), zeros::<f64>(size, count));
        for place in 0..count {
            let at = start + place;
            let column = &mut matrix.col_as_slice_mut(at)[at..];
            let (v, w) =
                (vectors.submatrix(at, 0, size - at, place), images.submatrix(at, 0, size - at, place));
            subtract_product(column, v, w.row(0).transpose());
            subtract_product(column, w, v.row(0).transpose());
            found.diagonal.push(column[0]);
            if at + 1 == size {
                break;
            }
            let (beside, scale) = reflect(&mut column[1..]);
            found.beside.push(beside);
            vectors.col_as_slice_mut(place)[at + 1..].copy_from_slice(&column[1..]);
            image(matrix.as_ref(), &vectors, &mut images, (at + 1, place), scale);
        }
        let rest = start + count;
        let count = size - rest;
        subtract_rank_2k(
            matrix.as_mut().submatrix_mut(rest, rest, count, count),
            vectors.subrows(rest, count),
            images.subrows(rest, count),
        );
        if start + 1 < size {
            reflections.push(Panel::new(start + 1, vectors.subrows(start + 1, size - start - 1)));
        }
    }
    (found, Reflections(reflections))
}

/// Puts $v$ in the place of $x$ such that $(I - \tau v v^\top) x$ has a first entry only; returns that and $\tau$.
fn reflect(column: &mut [f64]) -> (f64, f64) {
    let (head, tail) = (column[0], &column[1..]);
    let rest = dot(tail, tail);
    if rest == 0.0 {
        column.fill(0.0);
        return (head, 0.0);
    }
    // The sign that adds up, so that nothing cancels.
    let norm = (head * head + rest).sqrt().copysign(head);
    let scale = 1.0 / (head + norm);
    column[0] = 1.0;
    column[1..].iter_mut().for_each(|value| *value *= scale);
    (-norm, (head + norm) / norm)
}

/// Column `place` of $W$, from row `from` on, for the reflection in the same column of $V$.
fn image(
    matrix: MatRef<'_, f64>,
    vectors: &Mat<f64>,
    images: &mut Mat<f64>,
    (from, place): (usize, usize),
    scale: f64,
) {
    let size = matrix.nrows();
    let v = &vectors.col_as_slice(place)[from..];
    let mut w = half_times(matrix.submatrix(from, from, size - from, size - from), v);
    let (one, other) =
        (vectors.submatrix(from, 0, size - from, place), images.submatrix(from, 0, size - from, place));
    let along = |block: MatRef<'_, f64>| block.transpose() * ColRef::from_slice(v);
    let (along_one, along_other) = (along(one), along(other));
    subtract_product(&mut w, one, along_other.as_ref());
    subtract_product(&mut w, other, along_one.as_ref());
    w.iter_mut().for_each(|value| *value *= scale);
    let along = dot(&w, v);
    add_scaled(&mut w, -0.5 * scale * along, v);
    images.col_as_slice_mut(place)[from..].copy_from_slice(&w);
}

/// `column -= block * coefficients`.
fn subtract_product(column: &mut [f64], block: MatRef<'_, f64>, coefficients: ColRef<'_, f64>) {
    let column = ColMut::from_slice_mut(column).as_mat_mut();
    matmul(column, Accum::Add, block, coefficients.as_mat(), -1.0, Par::Seq);
}

/// $A v$ from the lower half of $A$.
fn half_times(half: MatRef<'_, f64>, vector: &[f64]) -> Vec<f64> {
    let size = half.nrows();
    let mut stripes = vec![0];
    let mut entries = 0;
    for column in (0..size).step_by(FOUR) {
        entries += FOUR * (size - column);
        if entries >= STRIPE && column + FOUR < size {
            stripes.push(column + FOUR);
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

/// Adds what the leading columns of the lower half, and their mirror image, give; four columns in one pass.
fn stripe_times(half: MatRef<'_, f64>, vector: &[f64], sums: &mut [f64]) {
    for first in (0..half.ncols()).step_by(FOUR) {
        let below = half.ncols().min(first + FOUR);
        // The corner on the diagonal.
        for j in first..below {
            let values = column(half, j);
            sums[j] += values[j] * vector[j];
            for i in j + 1..below {
                sums[i] += values[i] * vector[j];
                sums[j] += values[i] * vector[i];
            }
        }
        // Where fewer than four are left, the last stands in for those that are not there, times nothing.
        let columns = std::array::from_fn(|place| &column(half, (first + place).min(below - 1))[below..]);
        let scales =
            std::array::from_fn(|place| if first + place < below { vector[first + place] } else { 0.0 });
        let (vector, (upper, sums)) = (&vector[below..], sums.split_at_mut(below));
        let along = simd::run_kernel(Four { columns, scales, vector, sums });
        upper[first..].iter_mut().zip(along).for_each(|(sum, along)| *sum += along);
    }
}

/// Adds a combination of four columns to sums, and gives their products with a vector.
struct Four<'a> {
    columns: [&'a [f64]; FOUR],
    scales: [f64; FOUR],
    vector: &'a [f64],
    sums: &'a mut [f64],
}

impl WithSimd for Four<'_> {
    type Output = [f64; FOUR];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [f64; FOUR] {
        let [(a, a_rest), (b, b_rest), (c, c_rest), (d, d_rest)] = self.columns.map(S::as_simd_f64s);
        let (vector, vector_rest) = S::as_simd_f64s(self.vector);
        let (sums, sums_rest) = S::as_mut_simd_f64s(self.sums);
        let scales = self.scales.map(|scale| simd.splat_f64s(scale));
        let mut along = [simd.splat_f64s(0.0); FOUR];
        for (((((sum, &value), &a), &b), &c), &d) in sums.iter_mut().zip(vector).zip(a).zip(b).zip(c).zip(d) {
            let columns = [a, b, c, d];
            for place in 0..FOUR {
                *sum = simd.mul_add_e_f64s(columns[place], scales[place], *sum);
                along[place] = simd.mul_add_e_f64s(columns[place], value, along[place]);
            }
        }
        let mut along = along.map(|lanes| simd.reduce_sum_f64s(lanes));
        for (place, rest) in [a_rest, b_rest, c_rest, d_rest].into_iter().enumerate() {
            for ((sum, value), entry) in sums_rest.iter_mut().zip(vector_rest).zip(rest) {
                *sum += entry * self.scales[place];
                along[place] += entry * value;
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
        for place in 0..count {
            // A reflection that does nothing has the vector zero.
            let square = triangle[(place, place)];
            triangle[(place, place)] = if square == 0.0 { 1.0 } else { 0.5 * square };
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
        block.par_col_chunks_mut(VECTORS).for_each(|mut block| {
            self.0.iter().rev().for_each(|panel| panel.apply(block.as_mut()));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::krylov::tests::random;
    use crate::parallel::product;

    fn symmetric(size: usize) -> Mat<f64> {
        let half = random(size, size, size as u64);
        Mat::from_fn(size, size, |i, j| half[(i, j)] + half[(j, i)])
    }

    #[test]
    fn reflections_around_the_tridiagonal_matrix_are_the_matrix() {
        for size in [1, 2, 3, 5, PANEL, PANEL + 1, 2 * PANEL + 5, 700] {
            let matrix = symmetric(size);
            let (found, reflections) = tridiagonalize(matrix.clone());
            let mut whole = found.dense();
            reflections.apply(whole.as_mut());
            let mut turned = whole.transpose().to_owned();
            reflections.apply(turned.as_mut());
            assert!((turned - &matrix).norm_max() < 1e-11 * size as f64, "{size}");
            let mut unit = Mat::<f64>::identity(size, size);
            reflections.apply(unit.as_mut());
            let gram = product(unit.transpose(), unit.as_ref());
            assert!((gram - Mat::<f64>::identity(size, size)).norm_max() < 1e-12, "{size}");
        }
    }

    #[test]
    fn only_the_lower_half_is_read() {
        let matrix = symmetric(150);
        let half = Mat::from_fn(150, 150, |i, j| if i < j { f64::NAN } else { matrix[(i, j)] });
        let (found, _) = tridiagonalize(half);
        let (expected, _) = tridiagonalize(matrix);
        assert_eq!(found.diagonal, expected.diagonal);
        assert_eq!(found.beside, expected.beside);
    }

    #[test]
    fn columns_that_are_zero_already_stay() {
        let diagonal = Mat::from_fn(60, 60, |i, j| if i == j { i as f64 } else { 0.0 });
        let (found, _) = tridiagonalize(diagonal);
        assert_eq!(found.diagonal, (0..60).map(f64::from).collect::<Vec<_>>());
        assert!(found.beside.iter().all(|&value| value == 0.0));
    }
}
