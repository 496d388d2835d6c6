//! One partition's part in a fit whose features are spread over workers.
//!
//! Candidates for neighbors come from two partitions at a time ([`pair_neighbors`]): the $k$ nearest rows of all are among
//! the $k$ nearest in the union of their partition with that of the query, so that lists of all pairs, merged, are exact.
//! $X D X^\top$ and $X L X^\top$ are sums over rows, of $D_{ii} x_i x_i^\top$ and $x_i (D_{ii} x_i - \sum_j W_{ij} x_j)^\top$:
//! a partition adds those of its own rows ([`graph_scatter`]), and needs the rows that these are joined to, no others.
//! Landmarks are directions of sums of projected rows ([`class_sums`]).

use bidilel::task::Samples;
use bidilel::{LatentSpace, Map, Mat, MatRef, Observer};
use bidilel_math::neighbors::{exact, within_labels};
use bidilel_math::parallel::product_watched;
use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::array::{Features, array_of, matrix, rows_of};
use crate::failure::Failure;
use crate::run::{Running, run};
use crate::settings;

/// Rows that are widened to double precision and multiplied at a time.
const BLOCK_ROWS: usize = 2_048;
/// Rows that are projected at a time.
const PROJECTED_ROWS: usize = 8_192;

/// Feature rows, checked and normalized as a fit does it, in single precision.
#[pyfunction]
pub(crate) fn prepared<'py>(
    py: Python<'py>,
    x: Features<'_>,
    settings: &str,
    running: Running,
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let normalize = settings::parse(settings)?.normalize.unwrap_or_default();
    let samples = x.with(|rows| {
        run(py, &running, |watch| Ok(Samples::read(&[(rows, "X")], vec![0; rows.count()], normalize, watch)?))
    })?;
    let features = samples.features;
    let mut values = Vec::with_capacity(features.nrows() * features.ncols());
    (0..features.ncols()).for_each(|row| values.extend_from_slice(features.col_as_slice(row)));
    Ok(array_of(py, features.ncols(), features.nrows(), values))
}

/// The `k` nearest other rows of every row, or of its label only: indices, and distances in double precision. Shorter
/// lists end in -1.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "two arrays")]
pub(crate) fn pair_neighbors<'py>(
    py: Python<'py>,
    x: PyReadonlyArray2<'py, f32>,
    labels: PyReadonlyArray1<'py, i64>,
    k: usize,
    within_class: bool,
    running: Running,
) -> PyResult<(Bound<'py, PyArray2<i64>>, Bound<'py, PyArray2<f64>>)> {
    let count = x.shape()[0];
    let points = columns(&x)?;
    let labels = indices(&labels)?;
    if labels.len() != count {
        return Err(PyValueError::new_err(format!("expected {count} labels, found {}", labels.len())));
    }
    let found = run(py, &running, |watch| {
        watch.stage("neighbors");
        let found =
            if within_class { within_labels(points, &labels, k, watch) } else { exact(points, k, watch) };
        if watch.poll().is_break() { Err(bidilel::Error::Cancelled.into()) } else { Ok(found) }
    })?;
    let (mut near, mut distances) = (vec![-1; count * k], vec![f64::INFINITY; count * k]);
    for i in 0..count {
        for (at, (j, distance)) in found.of(i).iter().enumerate() {
            near[i * k + at] = i64::try_from(j).unwrap_or(-1);
            distances[i * k + at] = distance;
        }
    }
    Ok((array_of(py, count, k, near), array_of(py, count, k, distances)))
}

/// The terms of own rows in $X D X^\top$ and $X L X^\top$. Row `i` is joined to `others[ends[offsets[i]..offsets[i + 1]]]`.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "two arrays")]
pub(crate) fn graph_scatter<'py>(
    py: Python<'py>,
    x: PyReadonlyArray2<'py, f32>,
    others: PyReadonlyArray2<'py, f32>,
    offsets: PyReadonlyArray1<'py, i64>,
    ends: PyReadonlyArray1<'py, i64>,
    weights: PyReadonlyArray1<'py, f64>,
    running: Running,
) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>)> {
    let (own, other_values, others) = (columns(&x)?, others.as_slice()?, columns(&others)?);
    let (offsets, ends, weights) = (indices(&offsets)?, indices(&ends)?, weights.as_slice()?);
    let sound = offsets.len() == own.ncols() + 1
        && offsets.is_sorted()
        && offsets.last() == Some(&ends.len())
        && ends.len() == weights.len()
        && ends.iter().all(|&end| end < others.ncols())
        && (others.ncols() == 0 || others.nrows() == own.nrows());
    if !sound {
        return Err(PyValueError::new_err("the edges are not those of these rows"));
    }
    let dim = own.nrows();
    let (degree, laplacian) = run(py, &running, |watch| {
        watch.stage("scatter");
        let (mut degree, mut laplacian) = (Mat::<f64>::zeros(dim, dim), Mat::<f64>::zeros(dim, dim));
        for first in (0..own.ncols()).step_by(BLOCK_ROWS) {
            let count = BLOCK_ROWS.min(own.ncols() - first);
            let block = Mat::from_fn(dim, count, |a, i| f64::from(own[(a, first + i)]));
            let (mut scaled, mut pulled) = (Mat::zeros(dim, count), Mat::zeros(dim, count));
            for i in 0..count {
                let edges = offsets[first + i]..offsets[first + i + 1];
                let sum: f64 = weights[edges.clone()].iter().sum();
                let scale = |(scaled, &x): (&mut f64, &f64)| *scaled = sum * x;
                scaled.col_as_slice_mut(i).iter_mut().zip(block.col_as_slice(i)).for_each(scale);
                let pulled: &mut [f64] = pulled.col_as_slice_mut(i);
                pulled.copy_from_slice(scaled.col_as_slice(i));
                for (&end, &weight) in ends[edges.clone()].iter().zip(&weights[edges]) {
                    let other = &other_values[end * dim..][..dim];
                    pulled.iter_mut().zip(other).for_each(|(sum, &x)| *sum -= weight * f64::from(x));
                }
            }
            let times = |other: MatRef<'_, f64>| {
                product_watched(block.as_ref(), other, watch).map_err(|_| bidilel::Error::Cancelled)
            };
            degree += times(scaled.transpose())?;
            laplacian += times(pulled.transpose())?;
            watch.progress(first + count, own.ncols());
        }
        Ok((degree, laplacian))
    })?;
    Ok((rows_of(py, &degree), rows_of(py, &laplacian)))
}

/// Sums of projected rows by class, classes x latent dimensions; `map` is latent x visual dimensions.
#[pyfunction]
#[pyo3(signature = (x, labels, classes, map, mean, running))]
pub(crate) fn class_sums<'py>(
    py: Python<'py>,
    x: PyReadonlyArray2<'py, f32>,
    labels: PyReadonlyArray1<'py, i64>,
    classes: usize,
    map: PyReadonlyArray2<'py, f64>,
    mean: PyReadonlyArray1<'py, f64>,
    running: Running,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (points, labels) = (columns(&x)?, indices(&labels)?);
    if labels.len() != points.ncols() || labels.iter().any(|&label| label >= classes) {
        return Err(PyValueError::new_err("expected a label below the number of classes for every row"));
    }
    let space = LatentSpace { map: Map::Linear(matrix(&map)), mean: mean.as_slice()?.to_vec() };
    let sums = run(py, &running, |watch| {
        watch.stage("landmarks");
        let mut sums = Mat::<f64>::zeros(space.dim(), classes);
        for first in (0..points.ncols()).step_by(PROJECTED_ROWS) {
            let count = PROJECTED_ROWS.min(points.ncols() - first);
            let projected = space.project(points.subcols(first, count))?;
            for (i, &label) in labels[first..first + count].iter().enumerate() {
                let sum = sums.col_as_slice_mut(label);
                sum.iter_mut().zip(projected.col_as_slice(i)).for_each(|(sum, value)| *sum += value);
            }
            if watch.poll().is_break() {
                return Err(Failure::from(bidilel::Error::Cancelled));
            }
        }
        Ok(sums)
    })?;
    Ok(rows_of(py, &sums))
}

/// Rows of a contiguous array as the columns of a matrix, where they are.
fn columns<'a>(x: &'a PyReadonlyArray2<'_, f32>) -> PyResult<MatRef<'a, f32>> {
    let (rows, dim) = (x.shape()[0], x.shape()[1]);
    Ok(MatRef::from_column_major_slice(x.as_slice()?, dim, rows))
}

/// Numbers that count something.
fn indices(values: &PyReadonlyArray1<'_, i64>) -> PyResult<Vec<usize>> {
    let index = |&value: &i64| {
        usize::try_from(value).map_err(|_| PyValueError::new_err(format!("expected an index, found {value}")))
    };
    values.as_array().iter().map(index).collect()
}
