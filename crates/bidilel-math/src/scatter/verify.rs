//! Scatter matrices held against the data that they are sums of.
//!
//! For a vector $v$ of random signs, $X D X^\top v$ and $X L X^\top v$ are two passes over the instances: $y = X^\top v$, then
//! $X (D y)$ and $X (L y)$. No matrix, panel or tile has a part in it.

use faer::Mat;
use rayon::prelude::*;

use super::Selected;
use crate::check::{Check, norm, probes};
use crate::graph::Affinity;
use crate::pencil::Pencil;
use crate::vector::{add_scaled, dot};
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
    let both = |i: usize| {
        let degree: f64 = graph.row(i).values().iter().sum();
        let others: f64 = graph.row(i).iter().map(|(j, weight)| weight * along[j]).sum();
        [degree * along[i], degree * along[i] - others]
    };
    let [left, right] = combined(data, both);
    let (found_left, found_right) = pencil.both_times(probe.as_ref());
    // The right-hand matrix is a difference of sums as large as the left-hand one, and rounded like it.
    let size = norm(&left);
    let off = |expected: &[f64], found: &Mat<f64>| apart(expected, found.col_as_slice(0), size);
    for (what, deviation) in [
        ("the degree scatter matrix", off(&left, &found_left)),
        ("the Laplacian scatter matrix", off(&right, &found_right)),
    ] {
        Check { stage: "scatter", what, deviation, bound: TOLERANCE }.settle(watch)?;
    }
    Ok(())
}

/// Compares $\sum_i x_i x_i^\top$ with the instances.
///
/// # Errors
/// [`crate::Error::Check`] where it is not that of these instances.
pub fn verify_total<T: Scalar>(data: Selected<'_, T>, total: &Mat<f64>, watch: &dyn Observer) -> Result<()> {
    let probe = probes(data.dim(), 1);
    let along = along(data, probe.col_as_slice(0));
    let [expected, _] = combined(data, |i| [along[i], 0.0]);
    let found = total * &probe;
    let deviation = apart(&expected, found.col_as_slice(0), norm(&expected));
    Check { stage: "scatter", what: "the total scatter matrix", deviation, bound: TOLERANCE }.settle(watch)
}

/// $x_i^\top v$ of every instance.
fn along<T: Scalar>(data: Selected<'_, T>, vector: &[f64]) -> Vec<f64> {
    let runs = data.runs();
    let instances = (0..data.points.ncols()).into_par_iter();
    let product = |own: &mut Vec<f64>, i: usize| {
        data.write(&runs, i, own);
        dot(own, vector)
    };
    instances.map_init(|| vec![0.0; data.dim()], product).collect()
}

/// Two combinations of all instances.
fn combined<T: Scalar>(data: Selected<'_, T>, scales: impl Fn(usize) -> [f64; 2] + Sync) -> [Vec<f64>; 2] {
    let (runs, count) = (data.runs(), data.points.ncols());
    let part = count.div_ceil(PARTS).max(1);
    let sums = |first: usize| {
        let mut sums = [vec![0.0; data.dim()], vec![0.0; data.dim()]];
        let mut own = vec![0.0; data.dim()];
        for i in first..count.min(first + part) {
            let scales = scales(i);
            if scales.iter().any(|scale| *scale != 0.0) {
                data.write(&runs, i, &mut own);
                sums.iter_mut().zip(scales).for_each(|(sum, scale)| add_scaled(sum, scale, &own));
            }
        }
        sums
    };
    let parts: Vec<[Vec<f64>; 2]> =
        (0..count).step_by(part).collect::<Vec<_>>().into_par_iter().map(sums).collect();
    let mut all = [vec![0.0; data.dim()], vec![0.0; data.dim()]];
    for part in &parts {
        all.iter_mut().zip(part).for_each(|(all, part)| add_scaled(all, 1.0, part));
    }
    all
}

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
            assert!(failure.to_string().contains("the Laplacian scatter matrix"), "{failure}");
        }
    }
}
