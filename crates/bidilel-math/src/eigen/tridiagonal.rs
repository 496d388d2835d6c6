//! Leading eigenpairs of a symmetric tridiagonal matrix $T$, without the others.
//!
//! The signs of the pivots of $T - x I$ tell how many eigenvalues lie below $x$ (Sturm), so every eigenvalue is closed
//! in by halves, whatever the others do. Its eigenvector comes from a few solutions of $(T - \lambda I) v' = v$, with
//! rows exchanged where the pivot would be small. Vectors of close eigenvalues are not orthogonal then, though what they
//! span is right: one Cholesky factor of their products makes them so. Both parts work on several eigenvalues at a time,
//! one in each lane of the vector registers.
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
use crate::vector::widest;

/// Eigenvalues that are closed in side by side: divisions take long, but many of them take little longer.
const VALUES: usize = 16;
/// Eigenvectors that are solved for side by side.
const VECTORS: usize = 8;
/// Solutions for every eigenvector: the first finds its direction, the others take the rest of the start away.
const SOLUTIONS: usize = 3;
/// Columns whose products with the others one thread computes.
const PANEL: usize = 128;
/// Rows that one thread makes orthonormal.
const ROWS: usize = 128;

/// A symmetric tridiagonal matrix.
#[derive(Debug, Clone, Default)]
pub(super) struct Tridiagonal {
    pub(super) diagonal: Vec<f64>,
    /// Entries beside the diagonal, one fewer.
    pub(super) beside: Vec<f64>,
}

impl Tridiagonal {
    /// The `count` leading pairs; none where rounding left eigenvectors that are not what they should be.
    pub(super) fn leading(&self, count: usize) -> Option<Eigen> {
        let values = self.values(count);
        let mut vectors = self.vectors(&values);
        orthonormalize(&mut vectors)?;
        let close =
            |(j, value): (usize, &f64)| self.residual(*value, vectors.col_as_slice(j)) <= self.rounding();
        values.par_iter().enumerate().all(close).then(|| Eigen { values, vectors })
    }

    /// All entries, most of them zero.
    pub(super) fn dense(&self) -> Mat<f64> {
        let size = self.size();
        let mut dense = zeros(size, size);
        for (i, &value) in self.diagonal.iter().enumerate() {
            dense[(i, i)] = value;
        }
        for (i, &value) in self.beside.iter().enumerate() {
            (dense[(i, i + 1)], dense[(i + 1, i)]) = (value, value);
        }
        dense
    }

    fn size(&self) -> usize {
        self.diagonal.len()
    }

    /// The entries beside the diagonal to the left and to the right of one on it.
    fn beside(&self, i: usize) -> (f64, f64) {
        (if i == 0 { 0.0 } else { self.beside[i - 1] }, self.beside.get(i).copied().unwrap_or(0.0))
    }

    /// No eigenvalue is further from zero (Gershgorin).
    fn radius(&self) -> f64 {
        let reach = |i: usize| {
            let (left, right) = self.beside(i);
            self.diagonal[i].abs() + left.abs() + right.abs()
        };
        (0..self.size()).map(reach).fold(0.0, f64::max)
    }

    /// What rounding may leave of $T v - \lambda v$ for a unit vector.
    fn rounding(&self) -> f64 {
        4.0 * f64::EPSILON * self.radius() * (self.size() as f64).sqrt()
    }

    /// `$\|T v - \lambda v\|$`.
    fn residual(&self, value: f64, vector: &[f64]) -> f64 {
        let entry = |i: usize| {
            let (left, right) = self.beside(i);
            let before = if i == 0 { 0.0 } else { left * vector[i - 1] };
            let after = vector.get(i + 1).map_or(0.0, |next| right * next);
            before + (self.diagonal[i] - value) * vector[i] + after
        };
        (0..self.size()).map(|i| entry(i).powi(2)).sum::<f64>().sqrt()
    }

    /// The largest eigenvalues, descending.
    fn values(&self, count: usize) -> Vec<f64> {
        let radius = self.radius();
        let enough = f64::EPSILON * radius;
        let mut values = vec![0.0; count];
        values.par_chunks_mut(VALUES).enumerate().for_each(|(group, values)| {
            // Which eigenvalue a lane looks for, counted from the smallest; the last lanes may repeat one.
            let place = |lane: usize| (self.size() - 1 - (group * VALUES + lane).min(count - 1)) as f64;
            let wanted: [f64; VALUES] = std::array::from_fn(place);
            let (mut low, mut high) = ([-radius - enough; VALUES], [radius + enough; VALUES]);
            // Numbers within the radius are no further apart than that, so the halves do get there.
            while (0..VALUES).any(|lane| high[lane] - low[lane] > enough) {
                let middle: [f64; VALUES] = std::array::from_fn(|lane| f64::midpoint(low[lane], high[lane]));
                let below = self.count_below(&middle);
                for lane in 0..VALUES {
                    let bounds = if below[lane] <= wanted[lane] { &mut low[lane] } else { &mut high[lane] };
                    *bounds = middle[lane];
                }
            }
            values
                .iter_mut()
                .enumerate()
                .for_each(|(lane, value)| *value = f64::midpoint(low[lane], high[lane]));
        });
        // Neighbours were closed in apart from each other, and may have come out in another order.
        values.sort_unstable_by(|a, b| b.total_cmp(a));
        values
    }

    /// How many eigenvalues are smaller than each of these numbers.
    fn count_below(&self, shifts: &[f64; VALUES]) -> [f64; VALUES] {
        let largest = self.beside.iter().fold(1.0_f64, |most, value| most.max(value * value));
        let least = f64::MIN_POSITIVE * largest;
        widest(
            #[inline(always)]
            || {
                let (mut pivots, mut below) = ([1.0; VALUES], [0.0; VALUES]);
                for (i, diagonal) in self.diagonal.iter().enumerate() {
                    let square = if i == 0 { 0.0 } else { self.beside[i - 1] * self.beside[i - 1] };
                    for lane in 0..VALUES {
                        let pivot = diagonal - shifts[lane] - square / pivots[lane];
                        pivots[lane] = if pivot.abs() < least { -least } else { pivot };
                        below[lane] += if pivots[lane] < 0.0 { 1.0 } else { 0.0 };
                    }
                }
                below
            },
        )
    }

    /// A unit vector for every eigenvalue; those of close eigenvalues need not be orthogonal.
    fn vectors(&self, values: &[f64]) -> Mat<f64> {
        let mut vectors = zeros(self.size(), values.len());
        vectors.par_col_chunks_mut(VECTORS).enumerate().for_each(|(group, mut columns)| {
            let values = &values[group * VECTORS..];
            let factors = self.factors(std::array::from_fn(|lane| values[lane.min(values.len() - 1)]));
            let mut random = ChaCha8Rng::seed_from_u64(group as u64);
            let mut solution: Vec<[f64; VECTORS]> =
                (0..self.size()).map(|_| std::array::from_fn(|_| random.random_range(-1.0..1.0))).collect();
            for round in 0..SOLUTIONS {
                factors.solve(&mut solution, round == 0);
                normalize(&mut solution);
            }
            for (lane, column) in columns.as_mut().col_iter_mut().enumerate() {
                column.iter_mut().zip(&solution).for_each(|(value, lanes)| *value = lanes[lane]);
            }
        });
        vectors
    }

    /// $T - \lambda I$ as triangular factors, a number in each lane.
    fn factors(&self, shifts: [f64; VECTORS]) -> Factors {
        let size = self.size();
        let least = (f64::EPSILON * self.radius()).max(f64::MIN_POSITIVE);
        let mut rows = vec![Row::default(); size];
        widest(
            #[inline(always)]
            || {
                // What elimination has made of the row at hand, on the diagonal and to the right of it.
                let mut here: [f64; VECTORS] = std::array::from_fn(|lane| self.diagonal[0] - shifts[lane]);
                let mut right = [self.beside(0).1; VECTORS];
                for (i, row) in rows.iter_mut().enumerate() {
                    // The row below has nothing to its left but `left`; the last has no row below it.
                    let left = self.beside.get(i).copied().unwrap_or(0.0);
                    let below = self.diagonal.get(i + 1).copied().unwrap_or(0.0);
                    let far = self.beside.get(i + 1).copied().unwrap_or(0.0);
                    for lane in 0..VECTORS {
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

/// One row of the triangular factors, a matrix in each lane.
#[derive(Debug, Clone, Default)]
struct Row {
    /// 1 over the entry on the diagonal.
    reciprocal: [f64; VECTORS],
    /// The two entries to the right of it.
    right: [f64; VECTORS],
    far: [f64; VECTORS],
    /// What times this row was taken from the next.
    multiplier: [f64; VECTORS],
    /// 1, or 0 where this row and the next changed places first.
    stays: [f64; VECTORS],
}

struct Factors(Vec<Row>);

impl Factors {
    /// Solves in place; the `first` time the start stands for what elimination would make of another one.
    fn solve(&self, solution: &mut [[f64; VECTORS]], first: bool) {
        let rows = &self.0;
        widest(
            #[inline(always)]
            || {
                for (i, row) in rows.iter().enumerate().take(if first { 0 } else { rows.len() - 1 }) {
                    let [here, below] = &mut solution[i..i + 2] else { unreachable!("two in a row") };
                    for lane in 0..VECTORS {
                        let stays = row.stays[lane] > 0.0;
                        let (kept, changed) =
                            if stays { (here[lane], below[lane]) } else { (below[lane], here[lane]) };
                        here[lane] = kept;
                        below[lane] = changed - row.multiplier[lane] * kept;
                    }
                }
                let (mut next, mut after) = ([0.0; VECTORS], [0.0; VECTORS]);
                for (row, values) in rows.iter().zip(solution.iter_mut()).rev() {
                    for lane in 0..VECTORS {
                        let rest = values[lane] - row.right[lane] * next[lane] - row.far[lane] * after[lane];
                        values[lane] = rest * row.reciprocal[lane];
                    }
                    (after, next) = (next, *values);
                }
            },
        );
    }
}

/// Gives the vector in every lane the length 1.
fn normalize(solution: &mut [[f64; VECTORS]]) {
    widest(
        #[inline(always)]
        || {
            // Solutions reach 1 / epsilon times the start: their squares are far from overflow.
            let mut sums = [0.0; VECTORS];
            solution.iter().for_each(|values| (0..VECTORS).for_each(|l| sums[l] += values[l] * values[l]));
            let scales: [f64; VECTORS] = std::array::from_fn(|lane| 1.0 / sums[lane].sqrt());
            solution.iter_mut().for_each(|values| (0..VECTORS).for_each(|lane| values[lane] *= scales[lane]));
        },
    );
}

/// Makes unit vectors orthonormal, each by those before it; none where they do not span enough for that.
fn orthonormalize(vectors: &mut Mat<f64>) -> Option<()> {
    let enough = 4.0 * f64::EPSILON * vectors.nrows() as f64;
    for _ in 0..3 {
        let gram = products(vectors);
        let off = |j: usize| {
            let column = &gram.col_as_slice(j)[j..];
            column[1..].iter().fold((column[0] - 1.0).abs(), |most, value| most.max(value.abs()))
        };
        let most = (0..gram.ncols()).map(off).fold(0.0, f64::max);
        if most <= enough {
            return Some(());
        }
        let factor = cholesky(gram).ok()?;
        vectors.par_row_chunks_mut(ROWS).for_each(|rows| {
            solve_lower_triangular_in_place(factor.as_ref(), rows.transpose_mut(), Par::Seq);
        });
    }
    None
}

/// $V^\top V$ on and below the diagonal.
fn products(vectors: &Mat<f64>) -> Mat<f64> {
    let count = vectors.ncols();
    let mut gram = zeros(count, count);
    gram.par_col_chunks_mut(PANEL).enumerate().for_each(|(index, panel)| {
        let first = index * PANEL;
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
            1 => tridiagonal.beside[i.min(j)],
            _ => 0.0,
        });
        let expected = crate::eigen::whole(whole.as_ref(), count).expect("symmetric");
        for (value, expected) in found.values.iter().zip(&expected.values) {
            assert!((value - expected).abs() < 1e-13 * tridiagonal.radius(), "{value} {expected}");
        }
        found
    }

    #[test]
    fn pairs_are_those_of_the_whole_matrix() {
        for (size, count) in [(1, 1), (2, 2), (17, 5), (64, 64), (300, 33)] {
            let numbers = random(size, 2, size as u64);
            let diagonal = numbers.col_as_slice(0).to_vec();
            check(&Tridiagonal { diagonal, beside: numbers.col_as_slice(1)[1..].to_vec() }, count);
        }
    }

    #[test]
    fn second_differences_have_the_cosines_of_the_formula() {
        let found = check(&Tridiagonal { diagonal: vec![2.0; 200], beside: vec![-1.0; 199] }, 150);
        for (k, value) in found.values.iter().enumerate() {
            let angle = std::f64::consts::PI * (200 - k) as f64 / 201.0;
            approx::assert_abs_diff_eq!(*value, 2.0 - 2.0 * angle.cos(), epsilon = 1e-14);
        }
    }

    /// Wilkinson's matrix: its largest eigenvalues come in pairs that agree to all digits.
    #[test]
    fn eigenvalues_that_agree_to_all_digits_have_orthogonal_vectors() {
        let diagonal = (0..101).map(|i: i32| f64::from((i - 50).abs())).collect();
        check(&Tridiagonal { diagonal, beside: vec![1.0; 100] }, 60);
    }

    #[test]
    fn vectors_that_are_one_are_refused() {
        let mut same = Mat::from_fn(50, 2, |i, _| if i == 7 { 1.0 } else { 0.0 });
        assert!(orthonormalize(&mut same).is_none());
    }
}
