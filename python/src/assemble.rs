//! The driver's part in a fit whose features are spread over workers: settings, the eigenproblem, the model.

use bidilel::bottom_up::{BottomUp, LandmarkSpace, Regularizer, Search, Slpp};
use bidilel::error::Expected;
use bidilel::task::{Samples, Shared};
use bidilel::visual::{KernelForm, Neighborhood, Report, View, ViewReport};
use bidilel::{
    Candidates, ClassSemantics, Error, Kernel, Landmarks, LatentSpace, Map, Mat, Method, Observer, Pipeline,
    Settings, Task, Views,
};
use bidilel_math::{distance, eigen};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::array::{matrix, rows_of};
use crate::failure::Failure;
use crate::fit::{self, Classes, NAME, SPLIT, VIEW};
use crate::model::Model;
use crate::names::{Semantics, descriptions};
use crate::run::{Running, run};
use crate::settings;

/// The graph that settings ask for: neighbors, whether within classes, and the name of the weights.
///
/// Fails where they ask for what is not a sum over partitions.
#[pyfunction]
pub(crate) fn distributed_graph(settings: &str) -> PyResult<(usize, bool, String)> {
    let settings = settings::parse(settings)?;
    let slpp = learner(&settings, &pipeline(&settings, 0)?)?;
    let weights = serde_json::to_value(slpp.locality.weights);
    let weights = weights.ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
    Ok((slpp.locality.neighbors, slpp.neighborhood == Neighborhood::WithinClass, weights))
}

/// The leading eigenvectors of $A p = \lambda (B + \alpha I) p$ over the features `rows`, as a map (latent x visual
/// dimensions, other features 0), and their eigenvalues.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "two arrays")]
pub(crate) fn leading_map<'py>(
    py: Python<'py>,
    degree: PyReadonlyArray2<'py, f64>,
    laplacian: PyReadonlyArray2<'py, f64>,
    rows: Vec<usize>,
    instances: usize,
    settings: &str,
    running: Running,
) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>)> {
    let settings = settings::parse(settings)?;
    let locality = learner(&settings, &pipeline(&settings, 0)?)?.locality;
    let visual_dim = degree.shape()[0];
    if degree.shape() != laplacian.shape()
        || degree.shape()[1] != visual_dim
        || rows.iter().any(|&row| row >= visual_dim)
    {
        return Err(PyValueError::new_err("expected two square matrices over the same features"));
    }
    if rows.is_empty() {
        let found = "one and the same row for all training instances".to_owned();
        let expected = "different for different instances".to_owned().into();
        let setting = "the visual representation";
        return Err(Failure::from(Error::Setting { setting, expected, found }).into());
    }
    let dim = chosen_dim(locality.dim, rows.len().min(instances))?;
    // Sums over partitions are symmetric but for their rounding.
    let part = |array: &PyReadonlyArray2<'_, f64>| {
        let view = array.as_array();
        Mat::from_fn(rows.len(), rows.len(), |i, j| {
            0.5 * (view[(rows[i], rows[j])] + view[(rows[j], rows[i])])
        })
    };
    let (left, mut right) = (part(&degree), part(&laplacian));
    (0..rows.len()).for_each(|i| right[(i, i)] += locality.alpha);
    let found = run(py, &running, |watch| {
        watch.stage("eigen");
        eigen::generalized(left.as_ref(), right, dim, watch)
            .map_err(|source| Failure::from(Error::Math { stage: "eigen", source }))
    })?;
    let mut map = Mat::zeros(visual_dim, dim);
    for j in 0..dim {
        for (i, &row) in rows.iter().enumerate() {
            map[(row, j)] = found.vectors[(i, j)];
        }
    }
    Ok((rows_of(py, &map), PyArray1::from_vec(py, found.values)))
}

/// The model of a map (latent x visual dimensions), the mean of the features, and sums of projected instances by class
/// (classes x latent dimensions): the unseen classes are embedded here.
#[pyfunction]
#[pyo3(signature = (map, mean, sums, known, unseen, semantics, settings, *, seed, columns, instances, fingerprint, running))]
#[expect(clippy::too_many_arguments, reason = "a call from Python, which names them")]
pub(crate) fn assembled(
    py: Python<'_>,
    map: PyReadonlyArray2<'_, f64>,
    mean: PyReadonlyArray1<'_, f64>,
    sums: PyReadonlyArray2<'_, f64>,
    known: Vec<String>,
    unseen: Vec<String>,
    semantics: Vec<Semantics<'_>>,
    settings: &str,
    seed: u64,
    columns: Option<Vec<String>>,
    instances: usize,
    fingerprint: String,
    running: Running,
) -> PyResult<Model> {
    let descriptions = descriptions(&semantics)?;
    let classes = Classes { labels: Vec::new(), known, unseen, descriptions, columns };
    let mut settings = settings::parse(settings)?;
    let (dim, mean) = (map.shape()[1], mean.as_slice()?.to_vec());
    let (map, mut points) = (matrix(&map), matrix(&sums));
    let model = run(py, &running, |watch| {
        let space = LatentSpace::around(Map::Linear(map), mean);
        distance::normalize_columns(points.as_mut());
        let landmarks = Landmarks { points };
        settings.visual = Some(vec![VIEW.to_owned()]);
        let names: Vec<String> = classes.descriptions.iter().map(|one| one.name.clone()).collect();
        settings.semantic = Some(if names.is_empty() { vec![String::new()] } else { names });
        let pipeline = pipeline(&settings, seed)?;
        let task = task(&classes, &settings, dim)?;
        let learned = LandmarkSpace { space, landmarks, fusion: report() };
        let fitted = pipeline.embed(learned, &task.semantics, watch)?;
        let normalize = settings.normalize.unwrap_or_default();
        let method = Method::from_settings(&settings, seed);
        let mut model = bidilel::Model::new(NAME, normalize, &task, &method, fitted.into());
        (model.instances, model.fingerprint) = (instances, fingerprint);
        if watch.poll().is_break() { Err(Error::Cancelled.into()) } else { Ok(model) }
    })?;
    Ok(Model::of(model))
}

/// The classes and their descriptions as a task without instances.
fn task(classes: &Classes, settings: &Settings, dim: usize) -> Result<Task, Failure> {
    let dataset = fit::dataset(classes)?;
    let (known, unseen) = (classes.known.len(), classes.unseen.len());
    let semantics = if classes.descriptions.is_empty() {
        ClassSemantics::from_representations(Vec::new(), known)
    } else {
        let choice = settings.choice(&dataset)?;
        let (first, rest): (Vec<usize>, Vec<usize>) =
            ((0..known).collect(), (known..known + unseen).collect());
        ClassSemantics::new(&dataset, &choice.semantic, &first, &rest)?
    };
    let nothing = || Samples { features: Mat::zeros(dim, 0), labels: Vec::new() };
    let view = View {
        name: VIEW.to_owned(),
        dim,
        weight: 1.0,
        kernel: Kernel::Linear,
        columns: classes.columns.clone(),
    };
    Ok(Task {
        split: SPLIT.to_owned(),
        views: Views { parts: vec![view] },
        train: nothing(),
        test: nothing(),
        test_seen: None,
        known: classes.known.clone(),
        unseen: classes.unseen.clone(),
        semantics,
        shared: Shared::default(),
    })
}

/// One view, used as it is.
fn report() -> Report {
    let view = ViewReport { name: VIEW.to_owned(), weight: 1.0, kernel: Kernel::Linear };
    let reason = "one view".to_owned();
    Report { method: KernelForm::Primal, reason, views: vec![view], rank: None, approximation_error: None }
}

fn pipeline(settings: &Settings, seed: u64) -> Result<Pipeline, Failure> {
    if settings.candidates() == Candidates::All {
        return Err(refused("generalized", "left out: biases need held-out fits", "true"));
    }
    match Method::from_settings(settings, seed) {
        Method::Bidilel(pipeline) => Ok(pipeline),
        other => {
            Err(refused("method", "bidilel where features are in partitions", &other.name().to_string()))
        }
    }
}

/// The learner, which must be a sum over partitions.
fn learner(settings: &Settings, pipeline: &Pipeline) -> Result<Slpp, Failure> {
    let found =
        |name: &str| settings.entries().get(name).map_or_else(|| "another".to_owned(), ToString::to_string);
    let BottomUp::Slpp(slpp) = &pipeline.bottom_up else {
        return Err(refused("bottom_up", "slpp where features are in partitions", &found("bottom_up")));
    };
    let locality = &slpp.locality;
    if locality.regularizer != Regularizer::Identity {
        return Err(refused("regularizer", "identity where features are in partitions", "kernel"));
    }
    if locality.search != Search::Exact {
        return Err(refused("search", "exact where features are in partitions", "approximate"));
    }
    if locality.center {
        return Err(refused("center", "false where features are in partitions", "true"));
    }
    if settings.kernel.is_some() || settings.kernel_method.is_some_and(|form| form != KernelForm::Primal) {
        return Err(refused("kernel", "linear where features are in partitions", &found("kernel")));
    }
    Ok(slpp.clone())
}

fn refused(setting: &'static str, expected: &str, found: &str) -> Failure {
    Error::Setting { setting, expected: expected.to_owned().into(), found: found.to_owned() }.into()
}

/// The number of latent dimensions: what was asked for if there are as many, else the default, clipped.
fn chosen_dim(asked: Option<usize>, most: usize) -> Result<usize, Failure> {
    match asked {
        None => Ok(bidilel::bottom_up::DEFAULT_DIM.min(most)),
        Some(dim) if (1..=most).contains(&dim) => Ok(dim),
        Some(dim) => {
            let expected = Expected::Between { least: 1, most, limit: "varying features, and instances" };
            Err(Error::Setting { setting: "dim", expected, found: dim.to_string() }.into())
        }
    }
}
