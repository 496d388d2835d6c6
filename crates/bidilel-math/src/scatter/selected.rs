//! The instances that a scatter matrix is summed over: selected dimensions, optionally centered, read in place.

use std::ops::Range;

use faer::MatRef;

use crate::csr::CsrRow;
use crate::vector::{add_scaled, column, widen};
use crate::{Scalar, simd};

/// Dimensions whose sums stay in the L1 cache.
const L1_STRIP_DIMS: usize = 1024;

/// The instances of a scatter matrix: a feature matrix, the rows of it to use, and a center.
#[derive(Debug, Clone, Copy)]
pub struct Selected<'a, T> {
    /// Features, dimensions x instances.
    pub points: MatRef<'a, T>,
    /// The rows (dimensions) to use, ascending.
    pub rows: &'a [usize],
    /// Subtracted from every instance, over all dimensions.
    pub center: Option<&'a [f64]>,
}

impl<'a, T: Scalar> Selected<'a, T> {
    pub(super) fn dim(&self) -> usize {
        self.rows.len()
    }

    /// The selected rows as maximal runs of consecutive rows; ranges are positions among the selected rows.
    pub(super) fn runs(&self) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for (position, &row) in self.rows.iter().enumerate() {
            match runs.last_mut() {
                Some(run) if self.rows[run.end - 1] + 1 == row => run.end += 1,
                _ => runs.push(position..position + 1),
            }
        }
        runs
    }

    /// Writes instance `i`, centered.
    pub(super) fn write(&self, runs: &[Range<usize>], i: usize, into: &mut [f64]) {
        for run in runs {
            let (into, values) = (&mut into[run.clone()], self.values(i, run));
            widen(values, into);
            if let Some(center) = self.center(run) {
                add_scaled(into, -1.0, center);
            }
        }
    }

    /// Adds `scale` times instance `i` to `into`.
    fn add(&self, runs: &[Range<usize>], i: usize, scale: f64, into: &mut [f64]) {
        for run in runs {
            let (into, values) = (&mut into[run.clone()], self.values(i, run));
            let Some(center) = self.center(run) else {
                add_scaled(into, scale, values);
                continue;
            };
            simd::dispatch(
                #[inline(always)]
                || {
                    for ((sum, value), center) in into.iter_mut().zip(values).zip(center) {
                        *sum += scale * (value.to_f64() - center);
                    }
                },
            );
        }
    }

    /// Adds $\sum_j W_{ij} x_j$ of one row of the graph to `into`: a sparse row times a dense matrix.
    ///
    /// Four neighbors at a time, in strips of dimensions: sums stay in registers and in the L1 cache.
    pub(super) fn add_neighbors(&self, runs: &[Range<usize>], edges: CsrRow<'_>, into: &mut [f64]) {
        let (fours, rest) = edges.indices().as_chunks::<4>();
        let (weights, rest_weights) = edges.values().as_chunks::<4>();
        for run in runs {
            for first in run.clone().step_by(L1_STRIP_DIMS) {
                let strip = first..run.end.min(first + L1_STRIP_DIMS);
                for (points, weights) in fours.iter().zip(weights) {
                    self.add_four(&strip, points, weights, &mut into[strip.clone()]);
                }
            }
        }
        rest.iter().zip(rest_weights).for_each(|(&j, &weight)| self.add(runs, j as usize, weight, into));
    }

    fn add_four(&self, strip: &Range<usize>, points: &[u32; 4], weights: &[f64; 4], into: &mut [f64]) {
        let [a, b, c, d] = points.map(|j| self.values(j as usize, strip));
        let [e, f, g, h] = *weights;
        // The same operations in the same order as for one neighbor at a time.
        match self.center(strip) {
            None => simd::dispatch(
                #[inline(always)]
                || {
                    let others = b.iter().zip(c).zip(d);
                    for ((sum, a), ((b, c), d)) in into.iter_mut().zip(a).zip(others) {
                        *sum = *sum + e * a.to_f64() + f * b.to_f64() + g * c.to_f64() + h * d.to_f64();
                    }
                },
            ),
            Some(center) => simd::dispatch(
                #[inline(always)]
                || {
                    let others = b.iter().zip(c).zip(d);
                    for (((sum, a), ((b, c), d)), m) in into.iter_mut().zip(a).zip(others).zip(center) {
                        let [a, b, c, d] = [a, b, c, d].map(|value| value.to_f64() - m);
                        *sum = *sum + e * a + f * b + g * c + h * d;
                    }
                },
            ),
        }
    }

    /// The features of instance `i` in a run of rows.
    pub(super) fn values(&self, i: usize, run: &Range<usize>) -> &'a [T] {
        &column(self.points, i)[self.rows[run.start]..][..run.len()]
    }

    /// The center in a run of rows.
    pub(super) fn center(&self, run: &Range<usize>) -> Option<&'a [f64]> {
        self.center.map(|center| &center[self.rows[run.start]..][..run.len()])
    }
}
