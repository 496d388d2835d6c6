//! Forces of the Sammon cost between two groups of points, one tile of pairs at a time.
//!
//! With `$d_{ij}^2 = \|p_i\|^2 + \|b_j\|^2 - 2 p_i^\top b_j$` and weight $w$, a pair costs $w (d_{ij} -
//! \delta_{ij})^2 / \delta_{ij}$ and pulls at both its points with $f_{ij} = 2 w (d_{ij} - \delta_{ij}) / (\delta_{ij}
//! d_{ij})$ along the line between them. The gradient is $\sum_i f_{ij} (b_j - p_i) = b_j \sum_i f_{ij} - P f_j$: like
//! the distances, a matrix product.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};

use bidilel_math::distance::squared_slices;
use bidilel_math::parallel;
use bidilel_math::simd;
use bidilel_math::vector::{column, dot};

use super::DISTANCE_FLOOR;

/// Squared distances below this share of the sum of squared norms are computed from differences.
const CANCELLATION_SHARE: f64 = 1e-2;
/// Partial sums per column: fixed, so that every SIMD width gives the same bits.
const LANES: usize = 8;

/// Columns with their squared norms.
pub(super) struct Points<'a> {
    pub(super) points: MatRef<'a, f64>,
    pub(super) norms: &'a [f64],
}

impl Points<'_> {
    pub(super) fn part(&self, first: usize, count: usize) -> Points<'_> {
        Points { points: self.points.subcols(first, count), norms: &self.norms[first..][..count] }
    }

    pub(super) fn column(&self, j: usize) -> &[f64] {
        column(self.points, j)
    }
}

pub(super) fn squared_norms(points: MatRef<'_, f64>) -> Vec<f64> {
    (0..points.ncols()).map(|j| dot(column(points, j), column(points, j))).collect()
}

/// The forces between every row point and every column point, and their sums.
pub(super) struct Forces {
    pairs: Mat<f64>,
    row_totals: Vec<f64>,
    column_totals: Vec<f64>,
    /// The cost of all pairs.
    pub(super) cost: f64,
}

impl Forces {
    /// Pairs of `rows` and `columns`; `semantic` gives a column's distances to as many of the first rows as it makes
    /// pairs with.
    pub(super) fn between<'s>(
        rows: &Points<'_>,
        columns: &Points<'_>,
        weight: f64,
        semantic: impl Fn(usize) -> &'s [f64],
    ) -> Self {
        let mut forces = parallel::zeros(rows.norms.len(), columns.norms.len());
        matmul(forces.as_mut(), Accum::Replace, rows.points.transpose(), columns.points, -2.0, Par::Seq);
        let mut row_totals = vec![0.0; rows.norms.len()];
        let mut column_totals = Vec::with_capacity(columns.norms.len());
        let mut cost = 0.0;
        for (j, &norm) in columns.norms.iter().enumerate() {
            let semantic = semantic(j);
            let (pairs, none) = forces.col_as_slice_mut(j).split_at_mut(semantic.len());
            none.fill(0.0);
            if square(pairs, rows.norms, norm) {
                recompute_close(pairs, rows, columns.column(j), norm);
            }
            let (share, total) = pull(pairs, semantic, 2.0 * weight, &mut row_totals);
            cost += share;
            column_totals.push(total);
        }
        Self { pairs: forces, row_totals, column_totals, cost: weight * cost }
    }

    /// Mirrors the pairs of a group with itself, which were computed once, above the diagonal.
    pub(super) fn mirror(&mut self) {
        for j in 0..self.pairs.ncols() {
            self.column_totals[j] += self.row_totals[j];
            (0..j).for_each(|i| self.pairs[(j, i)] = self.pairs[(i, j)]);
        }
    }

    /// Adds the forces of the rows on the columns.
    pub(super) fn pull_columns(&self, rows: &Points<'_>, totals: &mut [f64], gradient: MatMut<'_, f64>) {
        totals.iter_mut().zip(&self.column_totals).for_each(|(sum, total)| *sum += total);
        matmul(gradient, Accum::Add, rows.points, self.pairs.as_ref(), -1.0, Par::Seq);
    }

    /// Adds the forces of the columns on the rows.
    pub(super) fn pull_rows(&self, columns: &Points<'_>, totals: &mut [f64], gradient: MatMut<'_, f64>) {
        totals.iter_mut().zip(&self.row_totals).for_each(|(sum, total)| *sum += total);
        matmul(gradient, Accum::Add, columns.points, self.pairs.transpose(), -1.0, Par::Seq);
    }
}

/// Turns products (times -2) into squared distances; returns whether some are so small that digits cancel.
fn square(pairs: &mut [f64], norms: &[f64], norm: f64) -> bool {
    simd::dispatch(
        #[inline(always)]
        || {
            let mut close = false;
            for (pair, other) in pairs.iter_mut().zip(norms) {
                let both = other + norm;
                *pair += both;
                close |= *pair < CANCELLATION_SHARE * both;
            }
            close
        },
    )
}

/// The digits of near points cancel in the expanded form: their distances are computed from differences.
#[cold]
fn recompute_close(squares: &mut [f64], rows: &Points<'_>, own: &[f64], norm: f64) {
    for (i, square) in squares.iter_mut().enumerate() {
        if *square < CANCELLATION_SHARE * (rows.norms[i] + norm) {
            *square = squared_slices(rows.column(i), own);
        }
    }
}

/// Turns squared distances into forces and adds them to `totals`; returns the cost, without its weight, and the sum of
/// the forces.
fn pull(pairs: &mut [f64], semantic: &[f64], weight: f64, totals: &mut [f64]) -> (f64, f64) {
    simd::dispatch(
        #[inline(always)]
        || {
            let (mut costs, mut sums) = ([0.0; LANES], [0.0; LANES]);
            let (pairs, last_pairs) = pairs.as_chunks_mut::<LANES>();
            let (semantic, last_semantic) = semantic.as_chunks::<LANES>();
            let (totals, last_totals) = totals.as_chunks_mut::<LANES>();
            for ((pairs, semantic), totals) in pairs.iter_mut().zip(semantic).zip(totals.iter_mut()) {
                for lane in 0..LANES {
                    let (cost, force) = pair(pairs[lane], semantic[lane], weight);
                    costs[lane] += cost;
                    sums[lane] += force;
                    totals[lane] += force;
                    pairs[lane] = force;
                }
            }
            // A column of a group with itself may end before the rows do.
            let last_totals = totals.get_mut(pairs.len()).map_or(last_totals, |chunk| &mut chunk[..]);
            for (lane, (square, &semantic)) in last_pairs.iter_mut().zip(last_semantic).enumerate() {
                let (cost, force) = pair(*square, semantic, weight);
                costs[lane] += cost;
                sums[lane] += force;
                last_totals[lane] += force;
                *square = force;
            }
            (costs.iter().sum(), sums.iter().sum())
        },
    )
}

/// The cost of a pair, without its weight, and its force.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call would keep the loop out of wide registers")]
fn pair(square: f64, semantic: f64, weight: f64) -> (f64, f64) {
    let semantic = if semantic < DISTANCE_FLOOR { DISTANCE_FLOOR } else { semantic };
    let latent = square.sqrt();
    let away = latent - semantic;
    // Coinciding classes have no direction in which to separate: the gradient leaves them there.
    let force = if latent > 0.0 { weight * away / (semantic * latent) } else { 0.0 };
    (away * away / semantic, force)
}
