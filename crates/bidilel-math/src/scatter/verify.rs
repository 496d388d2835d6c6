//! Randomized checks of scatter matrices against the data.
//!
//! For a random sign vector $v$, $v^\top X (D + L) X^\top v = y^\top (D + L) y$ with $y = X^\top v$: one pass over the instances,
//! independent of packing, tiles and GEMM. An error in an off-diagonal entry changes the left side by twice as much.

use std::ops::Range;

use faer::Mat;
use rayon::prelude::*;

use super::Selected;
use crate::check::{Check, probes, worse};
use crate::graph::Affinity;
use crate::parallel::product;
use crate::pencil::Pencil;
use crate::vector::{dot, reduce};
use crate::{Observer, Result, Scalar};

/// Random sign vectors: each takes half a percent of a fit, and one covers every entry.
const PROBES: usize = 1;
/// Relative rounding error of sums over millions of instances.
const TOLERANCE: f64 = 1e-9;

/// Checks $X D X^\top$ and $X L X^\top$ of a graph against the instances.
///
/// # Errors
/// [`crate::Error::Check`] where they do not agree.
pub fn verify_graph<T: Scalar>(
    data: Selected<'_, T>,
    graph: &Affinity,
    pencil: &Pencil,
    watch: &dyn Observer,
) -> Result<()> {
    watch.go_on()?;
    let probes = probes(data.dim(), PROBES);
    let projected = project(data, &probes);
    let (left, right) = pencil.both_times(probes.as_ref());
    let mut deviation = 0.0;
    for (p, along) in projected.iter().enumerate() {
        // Both at once: an error in either is an error in their sum.
        let term = |i: usize| {
            let degree: f64 = graph.row(i).values().iter().sum();
            let others: f64 = graph.row(i).iter().map(|(j, weight)| weight * along[j]).sum();
            along[i] * (2.0 * degree * along[i] - others)
        };
        let expected: f64 = (0..data.points.ncols()).map(term).sum();
        let probe = probes.col_as_slice(p);
        let found = dot(probe, left.col_as_slice(p)) + dot(probe, right.col_as_slice(p));
        deviation = worse(deviation, relative_difference(expected, found, pencil.left_trace()));
    }
    Check { stage: "scatter", what: "the sum of the scatter matrices", deviation, bound: TOLERANCE }
        .enforce(watch)
}

/// Checks $\sum_i x_i x_i^\top$ against the instances.
///
/// # Errors
/// [`crate::Error::Check`] where they do not agree.
pub fn verify_total<T: Scalar>(data: Selected<'_, T>, total: &Mat<f64>, watch: &dyn Observer) -> Result<()> {
    watch.go_on()?;
    let probes = probes(data.dim(), PROBES);
    // Not by faer's operator, whose bits depend on the number of threads.
    let images = product(total.as_ref(), probes.as_ref());
    let trace: f64 = (0..total.nrows()).map(|i| total[(i, i)]).sum();
    let mut deviation = 0.0;
    for (p, along) in project(data, &probes).iter().enumerate() {
        let found = dot(probes.col_as_slice(p), images.col_as_slice(p));
        deviation = worse(deviation, relative_difference(dot(along, along), found, trace));
    }
    Check { stage: "scatter", what: "the total scatter matrix", deviation, bound: TOLERANCE }.enforce(watch)
}

/// $X^\top v$, for each $v$.
fn project<T: Scalar>(data: Selected<'_, T>, probes: &Mat<f64>) -> Vec<Vec<f64>> {
    let runs = data.runs();
    let center = |p: usize| -> f64 {
        let part = |run: &Range<usize>| {
            data.center(run).map(|center| dot(center, &probes.col_as_slice(p)[run.clone()]))
        };
        runs.iter().filter_map(part).sum()
    };
    let centers: Vec<f64> = (0..probes.ncols()).map(center).collect();
    let product = |i: usize, p: usize| {
        let part = |run: &Range<usize>| {
            reduce(
                data.values(i, run),
                &probes.col_as_slice(p)[run.clone()],
                #[inline(always)]
                |value: T, sign: f64| value.to_f64() * sign,
            )
        };
        runs.iter().map(part).sum::<f64>() - centers[p]
    };
    let mut all = vec![0.0; data.points.ncols() * probes.ncols()];
    // All inner products of an instance are computed while it is in the cache.
    all.par_chunks_mut(probes.ncols()).enumerate().for_each(|(i, row)| {
        row.iter_mut().enumerate().for_each(|(p, value)| *value = product(i, p));
    });
    (0..probes.ncols()).map(|p| all.iter().skip(p).step_by(probes.ncols()).copied().collect()).collect()
}

/// The difference of two quadratic forms relative to the trace of the matrix; the forms themselves may be far smaller.
fn relative_difference(expected: f64, found: f64, trace: f64) -> f64 {
    let difference = (expected - found).abs();
    if difference == 0.0 { 0.0 } else { difference / trace }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Weights;
    use crate::{Error, Silent, neighbors, scatter};

    /// All instances are orthogonal to the sign vector.
    #[test]
    fn data_orthogonal_to_the_signs_pass() {
        let signs = probes(2, 1);
        let along = -signs[(0, 0)] * signs[(1, 0)];
        let points =
            Mat::<f64>::from_fn(2, 90, |i, j| (0.3 + j as f64 / 256.0) * if i == 0 { 1.0 } else { along });
        let mean = scatter::mean(points.as_ref());
        let data = Selected { points: points.as_ref(), rows: &[0, 1], center: Some(&mean) };
        verify_total(data, &scatter::total(data, &Silent), &Silent).expect("the same instances");
    }

    #[test]
    fn matrices_of_other_instances_fail() {
        let noise = crate::krylov::tests::random(300, 700, 6);
        let points = Mat::<f32>::from_fn(300, 700, |i, j| f32::from_f64(noise[(i, j)]));
        let graph = Affinity::new(&neighbors::exact(points.as_ref(), 5, &Silent), None, Weights::Exp);
        let rows: Vec<usize> = (0..300).filter(|row| row % 50 != 7).collect();
        let mean = scatter::mean(points.as_ref());
        for center in [None, Some(&mean[..])] {
            let data = Selected { points: points.as_ref(), rows: &rows, center };
            let pencil = scatter::of_graph(data, &graph, &Silent);
            verify_graph(data, &graph, &pencil, &Silent).expect("the same instances");
            verify_total(data, &scatter::total(data, &Silent), &Silent).expect("the same instances");
            let mut other = points.clone();
            other[(100, 350)] += 0.1;
            let other = Selected { points: other.as_ref(), ..data };
            let failure = verify_graph(other, &graph, &pencil, &Silent).expect_err("another instance");
            assert!(matches!(failure, Error::Check { check } if check.stage == "scatter"), "{failure}");
            assert!(verify_total(other, &scatter::total(data, &Silent), &Silent).is_err());
            let mut changed = scatter::of_graph(data, &graph, &Silent);
            changed.regularize(1e-3);
            let failure = verify_graph(data, &graph, &changed, &Silent).expect_err("another matrix");
            assert!(failure.to_string().contains("the sum of the scatter matrices"), "{failure}");
        }
    }
}
