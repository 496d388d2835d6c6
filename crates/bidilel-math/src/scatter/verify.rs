//! Scatter matrices held against the data that they are sums of.
//!
//! For a vector $v$ of random signs, $X (D + L) X^\top v$ is two passes over the instances: $y = X^\top v$, then $X ((D + L) y)$. No
//! matrix, panel or tile has a part in it.

use faer::Mat;
use rayon::prelude::*;

use super::Selected;
use crate::check::{Check, norm, probes};
use crate::graph::Affinity;
use crate::pencil::Pencil;
use crate::vector::{add_scaled, dot, reduce};
use crate::{Observer, Result, Scalar};

/// Parts that instances are divided into, whatever the number of threads.
const PARTS: usize = 16;
/// Rounding errors of sums over millions of instances.
const TOLERANCE: f64 = 1e-9;

/// Compares $X D X^\top$ and $X L X^\top$ of a graph with the instances.
///
/// # Errors
/// [`crate::Error::Check`] where they are not those of these instances.
pub fn verify_graph<T: Scalar>(
    data: Selected<'_, T>,
    graph: &Affinity,
    pencil: &Pencil,
    watch: &dyn Observer,
) -> Result<()> {
    let probe = probes(data.dim(), 1);
    let along = along(data, probe.col_as_slice(0));
    // Both at once: what is wrong with either is wrong with their sum.
    let both = |i: usize| {
        let degree: f64 = graph.row(i).values().iter().sum();
        let others: f64 = graph.row(i).iter().map(|(j, weight)| weight * along[j]).sum();
        2.0 * degree * along[i] - others
    };
    let expected = combined(data, both);
    let (mut found, right) = pencil.both_times(probe.as_ref());
    add_scaled(found.col_as_slice_mut(0), 1.0, right.col_as_slice(0));
    let deviation = apart(&expected, found.col_as_slice(0), pencil.left_trace());
    Check { stage: "scatter", what: "the sum of the scatter matrices", deviation, bound: TOLERANCE }
        .settle(watch)
}

/// Compares $\sum_i x_i x_i^\top$ with the instances.
///
/// # Errors
/// [`crate::Error::Check`] where it is not that of these instances.
pub fn verify_total<T: Scalar>(data: Selected<'_, T>, total: &Mat<f64>, watch: &dyn Observer) -> Result<()> {
    let probe = probes(data.dim(), 1);
    let along = along(data, probe.col_as_slice(0));
    let expected = combined(data, |i| along[i]);
    let found = total * &probe;
    let trace = (0..total.nrows()).map(|i| total[(i, i)]).sum();
    let deviation = apart(&expected, found.col_as_slice(0), trace);
    Check { stage: "scatter", what: "the total scatter matrix", deviation, bound: TOLERANCE }.settle(watch)
}

/// $x_i^\top v$ of every instance.
fn along<T: Scalar>(data: Selected<'_, T>, vector: &[f64]) -> Vec<f64> {
    let runs = data.runs();
    let center: f64 =
        runs.iter().filter_map(|run| data.center(run).map(|center| dot(center, &vector[run.clone()]))).sum();
    let product = |i: usize| {
        let parts = runs.iter().map(|run| {
            reduce(
                data.values(i, run),
                &vector[run.clone()],
                #[inline(always)]
                |value: T, sign: f64| value.to_f64() * sign,
            )
        });
        parts.sum::<f64>() - center
    };
    (0..data.points.ncols()).into_par_iter().map(product).collect()
}

/// A combination of all instances.
fn combined<T: Scalar>(data: Selected<'_, T>, scale: impl Fn(usize) -> f64 + Sync) -> Vec<f64> {
    let (runs, count) = (data.runs(), data.points.ncols());
    let part = count.div_ceil(PARTS).max(1);
    let sums = |first: usize| {
        let mut sum = vec![0.0; data.dim()];
        (first..count.min(first + part)).for_each(|i| data.add(&runs, i, scale(i), &mut sum));
        sum
    };
    let firsts: Vec<usize> = (0..count).step_by(part).collect();
    let parts: Vec<Vec<f64>> = firsts.into_par_iter().map(sums).collect();
    let mut all = vec![0.0; data.dim()];
    parts.iter().for_each(|part| add_scaled(&mut all, 1.0, part));
    all
}

/// How far two vectors are apart, as a share of the trace of the matrix: their own norms may be far smaller than its.
fn apart(expected: &[f64], found: &[f64], size: f64) -> f64 {
    let mut difference = expected.to_vec();
    add_scaled(&mut difference, -1.0, found);
    let difference = norm(&difference);
    if difference == 0.0 { 0.0 } else { difference / size }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Weights;
    use crate::{Error, Silent, neighbors, scatter};

    /// All instances lie along a direction that the signs do not see.
    #[test]
    fn data_across_the_signs_hold() {
        let signs = probes(2, 1);
        let along = -signs[(0, 0)] * signs[(1, 0)];
        let points =
            Mat::<f64>::from_fn(2, 90, |i, j| (0.3 + j as f64 / 256.0) * if i == 0 { 1.0 } else { along });
        let mean = scatter::mean(points.as_ref());
        let data = Selected { points: points.as_ref(), rows: &[0, 1], center: Some(&mean) };
        verify_total(data, &scatter::total(data, &Silent), &Silent).expect("the same instances");
    }

    #[test]
    fn matrices_of_other_instances_do_not_hold() {
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
            changed.add_to_right_diagonal(1e-3);
            let failure = verify_graph(data, &graph, &changed, &Silent).expect_err("another matrix");
            assert!(failure.to_string().contains("the sum of the scatter matrices"), "{failure}");
        }
    }
}
