//! Sammon mappings of distances: of all points, or of new points among landmarks.

use std::ops::ControlFlow;

use bidilel::semantic::SemanticDistances;
use bidilel::top_down::{DISTANCE_FLOOR, Init, Sammon, stress};
use bidilel::{Lsm, Mat, MatRef, Observer};
use bidilel_math::mds;
use bidilel_math::symmetric::Symmetric;
use numpy::{PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::array::{matrix_of, rows_of};
use crate::failure::Failure;
use crate::run::{Running, run};

/// The Sammon mapping of a symmetric matrix of distances: points x dimensions, and the cost that is left.
#[pyfunction]
pub(crate) fn sammon<'py>(
    py: Python<'py>,
    distances: PyReadonlyArray2<'py, f64>,
    dim: usize,
    running: Running,
) -> PyResult<(Bound<'py, PyArray2<f64>>, f64)> {
    let distances = distances.as_array();
    let found = run(py, &running, |watch| {
        watch.stage("map");
        let found = mds::sammon(matrix_of(distances).as_ref(), dim, watch)?;
        if watch.poll().is_break() { Err(bidilel::Error::Cancelled.into()) } else { Ok(found) }
    })?;
    Ok((rows_of(py, &found.points), found.stress))
}

/// New points among landmarks (landmarks x dimensions), whose distances to these are given (new x landmarks): each by
/// itself, or jointly where distances among them (new x new) are given, too. Returns points x dimensions, and the cost
/// of every point, or one for all.
///
/// The unit makes no difference: coordinates and distances are mapped in that of the landmarks' extent. The stopping
/// criterion and the floor of distances are absolute.
#[pyfunction]
#[pyo3(signature = (landmarks, outer, inner, *, seed, running))]
#[expect(clippy::type_complexity, reason = "two arrays")]
pub(crate) fn landmark_sammon<'py>(
    py: Python<'py>,
    landmarks: PyReadonlyArray2<'py, f64>,
    outer: PyReadonlyArray2<'py, f64>,
    inner: Option<PyReadonlyArray2<'py, f64>>,
    seed: Option<u64>,
    running: Running,
) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>)> {
    let (landmarks, outer) = (landmarks.as_array(), outer.as_array());
    let inner = inner.as_ref().map(PyReadonlyArray2::as_array);
    let mapping =
        Lsm { init: seed.map_or(Init::WeightedMean, |seed| Init::Random { seed }), ..Lsm::default() };
    let (points, costs) = run(py, &running, |watch| {
        watch.stage("map");
        let landmarks = matrix_of(landmarks);
        let unit = extent(landmarks.as_ref());
        let in_unit = |matrix| scaled(matrix, unit.recip());
        let (landmarks, outer) = (in_unit(landmarks), in_unit(matrix_of(outer)));
        go_on(watch)?;
        let inner = inner.map(|inner| Symmetric::from_matrix(in_unit(matrix_of(inner)).as_ref()));
        go_on(watch)?;
        note_floored(&outer, inner.as_ref(), unit, watch);
        let (points, costs) = match inner {
            None => each(&mapping, &landmarks, &outer, watch)?,
            Some(inner) => {
                let distances = SemanticDistances { known_unseen: outer, unseen_unseen: inner };
                let found = jointly(&mapping, landmarks.as_ref(), &distances, watch)?;
                note_unsettled(std::slice::from_ref(&found), watch);
                (found.points, vec![found.cost])
            }
        };
        Ok((scaled(points, unit), costs.into_iter().map(|cost| cost * unit).collect()))
    })?;
    Ok((rows_of(py, &points), PyArray1::from_vec(py, costs)))
}

/// Points that were mapped together.
struct Mapped {
    points: Mat<f64>,
    cost: f64,
    /// Iterations after which they had not settled, where they had not.
    unsettled: Option<usize>,
}

/// What maps one of many points: it asks whether to go on. Notes of single points would be those of all, again and again.
struct Asking<'a>(&'a dyn Observer);

impl Observer for Asking<'_> {
    fn poll(&self) -> ControlFlow<()> {
        self.0.poll()
    }
}

fn go_on(watch: &dyn Observer) -> bidilel::Result<()> {
    if watch.poll().is_break() { Err(bidilel::Error::Cancelled) } else { Ok(()) }
}

/// Says once how many mappings had not settled.
fn note_unsettled(mapped: &[Mapped], watch: &dyn Observer) {
    let unsettled = mapped.iter().filter_map(|one| one.unsettled);
    let (count, of) = (unsettled.clone().count(), mapped.len());
    let Some(iterations) = unsettled.max() else { return };
    let what =
        if of == 1 { "the mapping".to_owned() } else { format!("the mapping of {count} of {of} points") };
    watch.note(&format!("{what} had not settled after {iterations} iterations"));
}

/// The root mean square of the landmarks' distances to their mean; 1 where all coincide.
fn extent(landmarks: MatRef<'_, f64>) -> f64 {
    let count = landmarks.ncols() as f64;
    let mean: Vec<f64> = landmarks.row_iter().map(|row| row.iter().map(|x| x / count).sum()).collect();
    let away = |point: usize| landmarks.col(point).iter().zip(&mean).map(|(x, mean)| x - mean);
    let largest = (0..landmarks.ncols()).flat_map(away).fold(0.0, |most: f64, x| most.max(x.abs()));
    let squares: f64 = (0..landmarks.ncols()).flat_map(away).map(|x| (x / largest).powi(2)).sum();
    let extent = largest * (squares / count).sqrt();
    if extent.is_normal() && extent.recip().is_normal() { extent } else { 1.0 }
}

fn scaled(mut matrix: Mat<f64>, factor: f64) -> Mat<f64> {
    for column in 0..matrix.ncols() {
        matrix.col_as_slice_mut(column).iter_mut().for_each(|value| *value *= factor);
    }
    matrix
}

/// Says how many distances are raised to the floor. A row that is a landmark, or another new row, comes where that is.
fn note_floored(outer: &Mat<f64>, inner: Option<&Symmetric>, unit: f64, watch: &dyn Observer) {
    let raised = |&&distance: &&f64| 0.0 < distance && distance < DISTANCE_FLOOR;
    let columns = (0..outer.ncols()).map(|column| outer.col_as_slice(column));
    let count = columns.chain(inner.map(Symmetric::entries)).flatten().filter(raised).count();
    if count > 0 {
        let floor = DISTANCE_FLOOR * unit;
        watch.note(&format!(
            "{count} distances are far below those of the landmarks; they count as {floor:.1e}"
        ));
    }
}

/// Every point by itself, so that its place does not depend on the others.
fn each(
    mapping: &Lsm,
    landmarks: &Mat<f64>,
    outer: &Mat<f64>,
    watch: &dyn Observer,
) -> Result<(Mat<f64>, Vec<f64>), Failure> {
    let one = |j: usize| {
        go_on(watch)?;
        let known_unseen = outer.subcols(j, 1).to_owned();
        let distances = SemanticDistances { known_unseen, unseen_unseen: Symmetric::zeros(1) };
        jointly(mapping, landmarks.as_ref(), &distances, &Asking(watch))
    };
    let mapped = (0..outer.ncols()).into_par_iter().map(one).collect::<Result<Vec<_>, Failure>>()?;
    note_unsettled(&mapped, watch);
    let points = Mat::from_fn(landmarks.nrows(), mapped.len(), |i, j| mapped[j].points[(i, 0)]);
    Ok((points, mapped.iter().map(|one| one.cost).collect()))
}

fn jointly(
    mapping: &Lsm,
    landmarks: MatRef<'_, f64>,
    distances: &SemanticDistances,
    watch: &dyn Observer,
) -> Result<Mapped, Failure> {
    let cost = Sammon::new(landmarks, distances);
    go_on(watch)?;
    // Regression, which needs more than distances, is never asked for here.
    let start = mapping.initial_points(&cost).unwrap_or_default();
    let found = mapping.minimize(&cost, start, watch)?;
    go_on(watch)?;
    let count = distances.known_unseen.ncols();
    let points = MatRef::from_column_major_slice(&found.point, landmarks.nrows(), count).to_owned();
    let cost = stress(landmarks, points.as_ref(), distances);
    Ok(Mapped { points, cost, unsettled: (!found.converged).then_some(found.iterations) })
}
