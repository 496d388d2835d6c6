//! Leading eigenpairs of a symmetric tridiagonal matrix $T$: bisection for the values, inverse iteration for the vectors.
//!
//! The number of negative pivots of $T - x I$ is the number of eigenvalues below $x$ (the Sturm count), so that bisection finds
//! every eigenvalue independently of the others. The eigenvectors come from a few steps of inverse iteration,
//! $(T - \lambda I) v' = v$, by LU with partial pivoting. Vectors of close eigenvalues are not orthogonal then, although they
//! span the right space: they are orthonormalized by the Cholesky factor of their Gram matrix (Cholesky QR). Bisection and inverse
//! iteration are vectorized over eigenvalues, one per SIMD lane.
//!
//! # References
//! J. Demmel, *Applied Numerical Linear Algebra*, 1997, sections 5.3.4 and 5.3.5.

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, Par};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::{Eigen, cholesky};
use crate::parallel::zeros;
use crate::simd;

/// Eigenvalues that are bisected in one SIMD loop: enough to hide the latency of the divisions.
const VALUE_LANES: usize = 16;
/// Eigenvectors that are iterated in one SIMD loop.
const VECTOR_LANES: usize = 8;
/// Steps of inverse iteration: the first finds the direction, the others remove what is left of the random start.
const INVERSE_ITERATIONS: usize = 3;
/// Columns of the Gram matrix per task.
const GRAM_COLUMNS: usize = 128;
/// Rows that one thread orthonormalizes at a time.
const ROWS_PER_TASK: usize = 128;

/// A symmetric tridiagonal matrix.
#[derive(Debug, Clone, Default)]
pub(super) struct Tridiagonal {
    pub(super) diagonal: Vec<f64>,
    /// The subdiagonal, which is also the superdiagonal: one entry fewer.
    pub(super) off_diagonal: Vec<f64>,
}

impl Tridiagonal {
    /// The `count` leading pairs; `None` where residuals or orthogonality are not at the level of rounding.
    pub(super) fn leading(&self, count: usize) -> Option<Eigen> {
        let values = self.values(count);
        let mut vectors = self.vectors(&values);
        orthonormalize(&mut vectors)?;
        let close =
            |(j, value): (usize, &f64)| self.residual(*value, vectors.col_as_slice(j)) <= self.rounding();
        values.par_iter().enumerate().all(close).then(|| Eigen { values, vectors })
    }

    /// As a dense matrix.
    pub(super) fn dense(&self) -> Mat<f64> {
        let size = self.size();
        let mut dense = zeros(size, size);
        for (i, &value) in self.diagonal.iter().enumerate() {
            dense[(i, i)] = value;
        }
        for (i, &value) in self.off_diagonal.iter().enumerate() {
            (dense[(i, i + 1)], dense[(i + 1, i)]) = (value, value);
        }
        dense
    }

    fn size(&self) -> usize {
        self.diagonal.len()
    }

    /// The off-diagonal entries of row `i`, left and right of the diagonal.
    fn off_diagonals(&self, i: usize) -> (f64, f64) {
        (
            if i == 0 { 0.0 } else { self.off_diagonal[i - 1] },
            self.off_diagonal.get(i).copied().unwrap_or(0.0),
        )
    }

    /// Bound of the absolute values of all eigenvalues (Gershgorin).
    fn radius(&self) -> f64 {
        let reach = |i: usize| {
            let (left, right) = self.off_diagonals(i);
            self.diagonal[i].abs() + left.abs() + right.abs()
        };
        (0..self.size()).map(reach).fold(0.0, f64::max)
    }

    /// The residual `$\|T v - \lambda v\|$` of a unit vector that rounding accounts for.
    fn rounding(&self) -> f64 {
        4.0 * f64::EPSILON * self.radius() * (self.size() as f64).sqrt()
    }

    /// `$\|T v - \lambda v\|$`.
    fn residual(&self, value: f64, vector: &[f64]) -> f64 {
        let entry = |i: usize| {
            let (left, right) = self.off_diagonals(i);
            let before = if i == 0 { 0.0 } else { left * vector[i - 1] };
            let after = vector.get(i + 1).map_or(0.0, |next| right * next);
            before + (self.diagonal[i] - value) * vector[i] + after
        };
        (0..self.size()).map(|i| entry(i).powi(2)).sum::<f64>().sqrt()
    }

    /// The `count` largest eigenvalues, descending, by bisection.
    fn values(&self, count: usize) -> Vec<f64> {
        let radius = self.radius();
        let enough = f64::EPSILON * radius;
        let mut values = vec![0.0; count];
        values.par_chunks_mut(VALUE_LANES).enumerate().for_each(|(group, values)| {
            // The index of the lane's eigenvalue, counted from the smallest; the last lanes may repeat one.
            let index = |lane: usize| (self.size() - 1 - (group * VALUE_LANES + lane).min(count - 1)) as f64;
            let wanted: [f64; VALUE_LANES] = std::array::from_fn(index);
            let (mut low, mut high) = ([-radius - enough; VALUE_LANES], [radius + enough; VALUE_LANES]);
            // Neighboring floats within the radius are no further apart than the tolerance, so this terminates.
            while (0..VALUE_LANES).any(|lane| high[lane] - low[lane] > enough) {
                let middle: [f64; VALUE_LANES] =
                    std::array::from_fn(|lane| f64::midpoint(low[lane], high[lane]));
                let below = self.sturm_counts(&middle);
                for lane in 0..VALUE_LANES {
                    let bounds = if below[lane] <= wanted[lane] { &mut low[lane] } else { &mut high[lane] };
                    *bounds = middle[lane];
                }
            }
            values
                .iter_mut()
                .enumerate()
                .for_each(|(lane, value)| *value = f64::midpoint(low[lane], high[lane]));
        });
        // Close eigenvalues were bisected independently, and may be out of order.
        values.sort_unstable_by(|a, b| b.total_cmp(a));
        values
    }

    /// Sturm counts: how many eigenvalues are smaller than each shift.
    fn sturm_counts(&self, shifts: &[f64; VALUE_LANES]) -> [f64; VALUE_LANES] {
        let largest = self.off_diagonal.iter().fold(1.0_f64, |most, value| most.max(value * value));
        let least = f64::MIN_POSITIVE * largest;
        simd::dispatch(
            #[inline(always)]
            || {
                let (mut pivots, mut below) = ([1.0; VALUE_LANES], [0.0; VALUE_LANES]);
                for (i, diagonal) in self.diagonal.iter().enumerate() {
                    let square =
                        if i == 0 { 0.0 } else { self.off_diagonal[i - 1] * self.off_diagonal[i - 1] };
                    for lane in 0..VALUE_LANES {
                        let pivot = diagonal - shifts[lane] - square / pivots[lane];
                        pivots[lane] = if pivot.abs() < least { -least } else { pivot };
                        below[lane] += if pivots[lane] < 0.0 { 1.0 } else { 0.0 };
                    }
                }
                below
            },
        )
    }

    /// A unit vector per eigenvalue, by inverse iteration; those of close eigenvalues need not be orthogonal.
    fn vectors(&self, values: &[f64]) -> Mat<f64> {
        let mut vectors = zeros(self.size(), values.len());
        vectors.par_col_chunks_mut(VECTOR_LANES).enumerate().for_each(|(group, mut columns)| {
            let values = &values[group * VECTOR_LANES..];
            let factors = self.factors(std::array::from_fn(|lane| values[lane.min(values.len() - 1)]));
            let mut random = ChaCha8Rng::seed_from_u64(group as u64);
            let mut solution: Vec<[f64; VECTOR_LANES]> =
                (0..self.size()).map(|_| std::array::from_fn(|_| random.random_range(-1.0..1.0))).collect();
            for step in 0..INVERSE_ITERATIONS {
                factors.solve(&mut solution, step == 0);
                normalize(&mut solution);
            }
            for (lane, column) in columns.as_mut().col_iter_mut().enumerate() {
                column.iter_mut().zip(&solution).for_each(|(value, lanes)| *value = lanes[lane]);
            }
        });
        vectors
    }

    /// LU factors of $T - \lambda I$ with partial pivoting, one shift per lane.
    fn factors(&self, shifts: [f64; VECTOR_LANES]) -> Factors {
        let size = self.size();
        let least = (f64::EPSILON * self.radius()).max(f64::MIN_POSITIVE);
        let mut rows = vec![Row::default(); size];
        simd::dispatch(
            #[inline(always)]
            || {
                // The current row after elimination: its entries on the diagonal and to the right of it.
                let mut here: [f64; VECTOR_LANES] =
                    std::array::from_fn(|lane| self.diagonal[0] - shifts[lane]);
                let mut right = [self.off_diagonals(0).1; VECTOR_LANES];
                for (i, row) in rows.iter_mut().enumerate() {
                    // The next row has one entry left of its diagonal, `left`; the last row has no next row.
                    let left = self.off_diagonal.get(i).copied().unwrap_or(0.0);
                    let below = self.diagonal.get(i + 1).copied().unwrap_or(0.0);
                    let far = self.off_diagonal.get(i + 1).copied().unwrap_or(0.0);
                    for lane in 0..VECTOR_LANES {
                        let below = below - shifts[lane];
                        let stays = here[lane].abs() >= left.abs();
                        let (pivot, other) = if stays { (here[lane], left) } else { (left, here[lane]) };
                        let pivot = if pivot.abs() < least { least } else { pivot };
                        row.reciprocal[lane] = 1.0 / pivot;
                        let multiplier = other * row.reciprocal[lane];
                        row.multiplier[lane] = multiplier;
                        row.stays[lane] = if stays { 1.0 } else { 0.0 };
                        row.right[lane] = if stays { right[lane] } else { below };
                        row.far[lane] = if stays { 0.0 } else { far };
                        let (kept, gone) = if stays { (below, right[lane]) } else { (right[lane], below) };
                        here[lane] = kept - multiplier * gone;
                        right[lane] = if stays { far } else { -multiplier * far };
                    }
                }
            },
        );
        Factors(rows)
    }
}

/// One row of the LU factors, one matrix per lane.
#[derive(Debug, Clone, Default)]
struct Row {
    /// Reciprocal of the pivot.
    reciprocal: [f64; VECTOR_LANES],
    /// The two entries of `U` right of the pivot.
    right: [f64; VECTOR_LANES],
    far: [f64; VECTOR_LANES],
    /// The multiplier by which this row was subtracted from the next.
    multiplier: [f64; VECTOR_LANES],
    /// 1, or 0 where this row was first exchanged with the next.
    stays: [f64; VECTOR_LANES],
}

struct Factors(Vec<Row>);

impl Factors {
    /// Solves in place. The `first` time only with `U`: the random start is as good as any other after elimination.
    fn solve(&self, solution: &mut [[f64; VECTOR_LANES]], first: bool) {
        let rows = &self.0;
        simd::dispatch(
            #[inline(always)]
            || {
                for (i, row) in rows.iter().enumerate().take(if first { 0 } else { rows.len() - 1 }) {
                    let [here, below] = &mut solution[i..i + 2] else { unreachable!("two in a row") };
                    for lane in 0..VECTOR_LANES {
                        let stays = row.stays[lane] > 0.0;
                        let (kept, changed) =
                            if stays { (here[lane], below[lane]) } else { (below[lane], here[lane]) };
                        here[lane] = kept;
                        below[lane] = changed - row.multiplier[lane] * kept;
                    }
                }
                let (mut next, mut after) = ([0.0; VECTOR_LANES], [0.0; VECTOR_LANES]);
                for (row, values) in rows.iter().zip(solution.iter_mut()).rev() {
                    for lane in 0..VECTOR_LANES {
                        let rest = values[lane] - row.right[lane] * next[lane] - row.far[lane] * after[lane];
                        values[lane] = rest * row.reciprocal[lane];
                    }
                    (after, next) = (next, *values);
                }
            },
        );
    }
}

/// Normalizes the vector in every lane.
fn normalize(solution: &mut [[f64; VECTOR_LANES]]) {
    simd::dispatch(
        #[inline(always)]
        || {
            // Solutions grow by at most about 1 / epsilon: their squares are far from overflow.
            let mut sums = [0.0; VECTOR_LANES];
            solution
                .iter()
                .for_each(|values| (0..VECTOR_LANES).for_each(|l| sums[l] += values[l] * values[l]));
            let scales: [f64; VECTOR_LANES] = std::array::from_fn(|lane| 1.0 / sums[lane].sqrt());
            solution
                .iter_mut()
                .for_each(|values| (0..VECTOR_LANES).for_each(|lane| values[lane] *= scales[lane]));
        },
    );
}

/// Cholesky QR, repeated until orthonormal to rounding; `None` where the vectors are numerically dependent.
fn orthonormalize(vectors: &mut Mat<f64>) -> Option<()> {
    let enough = 4.0 * f64::EPSILON * vectors.nrows() as f64;
    for _ in 0..3 {
        let gram = gram_matrix(vectors);
        let off = |j: usize| {
            let column = &gram.col_as_slice(j)[j..];
            column[1..].iter().fold((column[0] - 1.0).abs(), |most, value| most.max(value.abs()))
        };
        let most = (0..gram.ncols()).map(off).fold(0.0, f64::max);
        if most <= enough {
            return Some(());
        }
        let factor = cholesky(gram).ok()?;
        vectors.par_row_chunks_mut(ROWS_PER_TASK).for_each(|rows| {
            solve_lower_triangular_in_place(factor.as_ref(), rows.transpose_mut(), Par::Seq);
        });
    }
    None
}

/// The lower triangle of $V^\top V$.
fn gram_matrix(vectors: &Mat<f64>) -> Mat<f64> {
    let count = vectors.ncols();
    let mut gram = zeros(count, count);
    gram.par_col_chunks_mut(GRAM_COLUMNS).enumerate().for_each(|(index, panel)| {
        let first = index * GRAM_COLUMNS;
        let (left, right) = (vectors.subcols(first, count - first), vectors.subcols(first, panel.ncols()));
        matmul(panel.split_at_row_mut(first).1, Accum::Replace, left.transpose(), right, 1.0, Par::Seq);
    });
    gram
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::krylov::tests::random;
    use crate::parallel::product;

    fn check(tridiagonal: &Tridiagonal, count: usize) -> Eigen {
        let found = tridiagonal.leading(count).expect("eigenvalues apart");
        let gram = product(found.vectors.transpose(), found.vectors.as_ref());
        assert!((gram - Mat::<f64>::identity(count, count)).norm_max() < 1e-12);
        let size = tridiagonal.size();
        let whole = Mat::from_fn(size, size, |i, j| match i.abs_diff(j) {
            0 => tridiagonal.diagonal[i],
            1 => tridiagonal.off_diagonal[i.min(j)],
            _ => 0.0,
        });
        let expected = crate::eigen::full(whole.as_ref(), count).expect("symmetric");
        for (value, expected) in found.values.iter().zip(&expected.values) {
            assert!((value - expected).abs() < 1e-13 * tridiagonal.radius(), "{value} {expected}");
        }
        found
    }

    #[test]
    fn pairs_equal_those_of_a_full_eigendecomposition() {
        for (size, count) in [(1, 1), (2, 2), (17, 5), (64, 64), (300, 33)] {
            let numbers = random(size, 2, size as u64);
            let diagonal = numbers.col_as_slice(0).to_vec();
            check(&Tridiagonal { diagonal, off_diagonal: numbers.col_as_slice(1)[1..].to_vec() }, count);
        }
    }

    #[test]
    fn second_differences_have_the_cosines_of_the_formula() {
        let found = check(&Tridiagonal { diagonal: vec![2.0; 200], off_diagonal: vec![-1.0; 199] }, 150);
        for (k, value) in found.values.iter().enumerate() {
            let angle = std::f64::consts::PI * (200 - k) as f64 / 201.0;
            approx::assert_abs_diff_eq!(*value, 2.0 - 2.0 * angle.cos(), epsilon = 1e-14);
        }
    }

    /// Wilkinson's matrix: its largest eigenvalues come in pairs that agree to all digits.
    #[test]
    fn eigenvalues_that_agree_to_all_digits_have_orthogonal_vectors() {
        let diagonal = (0..101).map(|i: i32| f64::from((i - 50).abs())).collect();
        check(&Tridiagonal { diagonal, off_diagonal: vec![1.0; 100] }, 60);
    }

    #[test]
    fn dependent_vectors_are_refused() {
        let mut same = Mat::from_fn(50, 2, |i, _| if i == 7 { 1.0 } else { 0.0 });
        assert!(orthonormalize(&mut same).is_none());
    }
}
