//! Datasets: folders, what ships inside the package, synthetic ones.

use std::path::PathBuf;
use std::sync::Arc;

use bidilel::dataset::{Metric, Semantic, SplitKind};
use bidilel::split::SplitChoice;
use bidilel::synthetic::Synthetic;
use bidilel::{Observer, Rows};
use bidilel_data::WriteOptions;
use bidilel_emoji::Collection;
use bidilel_report::InspectionReport;
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::{Map, Value};

use crate::array::{array_of, rows_of};
use crate::failure::Failure;
use crate::json::versioned;
use crate::model::Model;
use crate::run::{Running, run};
use crate::settings;
use crate::tune::one_trial;

/// A dataset as it was read: nothing chosen, nothing normalized.
#[pyclass(frozen, module = "bidilel._bidilel")]
pub(crate) struct Dataset {
    pub(crate) inner: Arc<bidilel::Dataset>,
    /// What only people need, of built-in datasets.
    shown: Option<Collection>,
}

#[pymethods]
impl Dataset {
    /// Opens a folder, `builtin:NAME` or `synthetic:PRESET`.
    #[staticmethod]
    fn open(py: Python<'_>, name: &str, seed: u64, running: Running) -> PyResult<Self> {
        if let Some(name) = name.strip_prefix("builtin:") {
            let found = bidilel_emoji::open(name).map_err(Failure::from)?;
            return Ok(Self { inner: Arc::new(found.dataset.clone()), shown: Some(found) });
        }
        let opened = run(py, &running, |watch| Ok(bidilel_cli::open_dataset(name, seed, watch)?))?;
        Ok(Self { inner: Arc::new(opened), shown: None })
    }

    /// Draws a synthetic dataset by a preset and what is to differ from it, a JSON object.
    #[staticmethod]
    fn generate(py: Python<'_>, preset: &str, over: &str, seed: u64, running: Running) -> PyResult<Self> {
        let made = run(py, &running, |watch| {
            let base = serde_json::to_value(Synthetic::preset(preset)?).map_err(anyhow::Error::from)?;
            let unreadable = |cause| Failure::from(bidilel::Error::Unreadable { cause });
            let over: Map<String, Value> = serde_json::from_str(over).map_err(unreadable)?;
            let mut all = base.as_object().cloned().unwrap_or_default();
            all.extend(over);
            let settings: Synthetic = serde_json::from_value(Value::Object(all)).map_err(unreadable)?;
            settings.validate()?;
            Ok(settings.generate_watched(seed, watch)?)
        })?;
        Ok(Self { inner: Arc::new(made), shown: None })
    }

    /// Describes a dataset that is named, and what is wrong with it, as JSON.
    #[staticmethod]
    fn inspect(py: Python<'_>, name: &str, running: Running) -> PyResult<String> {
        let found = run(py, &running, |watch| Ok(bidilel_cli::inspect_dataset(name, watch)?))?;
        report(found)
    }

    /// Describes this dataset, and what is wrong with it, as JSON.
    fn inspected(&self, py: Python<'_>, running: Running) -> PyResult<String> {
        report(run(py, &running, |watch| Ok(bidilel_data::check::inspect_dataset(&self.inner, watch)?))?)
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    /// Names of its classes.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.inner.classes.clone()
    }

    /// One class index per instance.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let labels = self.inner.labels.iter().map(|&label| i64::try_from(label).unwrap_or(i64::MAX));
        PyArray1::from_iter(py, labels)
    }

    /// Visual representations: names, dimensions and element types.
    #[getter]
    fn visual(&self) -> Vec<(String, usize, &'static str)> {
        self.inner.visual.iter().map(|one| (one.name.clone(), one.rows.dim(), one.rows.element())).collect()
    }

    /// Semantic representations: names, dimensions and metrics.
    #[getter]
    fn semantic(&self) -> Vec<(String, usize, &'static str)> {
        let metric = |one: &Semantic| match one.metric {
            Metric::Euclidean => "euclidean",
            Metric::Cosine => "cosine",
            Metric::Precomputed => "precomputed",
        };
        self.inner.semantic.iter().map(|one| (one.name.clone(), one.vectors.nrows(), metric(one))).collect()
    }

    /// Splits: names, and how many trials a family has.
    #[getter]
    fn splits(&self) -> Vec<(String, &'static str, usize)> {
        let kind = |kind: &SplitKind| match kind {
            SplitKind::Classes { .. } => ("classes", 1),
            SplitKind::Family { trials } => ("family", trials.len()),
            SplitKind::Instances { .. } => ("instances", 1),
        };
        let row = |one: &bidilel::dataset::Split| {
            let (kind, trials) = kind(&one.kind);
            (one.name.clone(), kind, trials)
        };
        self.inner.splits.iter().map(row).collect()
    }

    /// The trials that a split has: names, classes and instances by index.
    fn trials<'py>(&self, py: Python<'py>, split: Option<&str>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let trials = self.inner.trials(split).map_err(Failure::from)?;
        let each = |trial: &bidilel::Trial| {
            let dict = PyDict::new(py);
            dict.set_item("name", &trial.name)?;
            for (key, indices) in [
                ("known", &trial.known),
                ("unseen", &trial.unseen),
                ("train", &trial.train),
                ("test", &trial.test),
                ("test_seen", &trial.test_seen),
                ("validation", &trial.validation),
            ] {
                let indices = indices.iter().map(|&index| i64::try_from(index).unwrap_or(i64::MAX));
                dict.set_item(key, PyArray1::from_iter(py, indices))?;
            }
            Ok(dict)
        };
        trials.iter().map(each).collect()
    }

    /// Features of some instances, or of all: instances x dimensions.
    fn features<'py>(
        &self,
        py: Python<'py>,
        name: Option<&str>,
        instances: Option<Vec<usize>>,
        running: Running,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let rows: &dyn Rows = self.inner.visual(name).map_err(Failure::from)?.rows.as_ref();
        let instances = instances.unwrap_or_else(|| (0..rows.count()).collect());
        if let Some(wrong) = instances.iter().find(|&&instance| instance >= rows.count()) {
            let message =
                format!("instance {wrong} does not exist: there are {}, counted from 0", rows.count());
            return Err(PyValueError::new_err(message));
        }
        let dim = rows.dim();
        let values = run(py, &running, |watch| {
            let mut values = vec![0.0_f32; instances.len() * dim];
            for (into, &row) in values.chunks_exact_mut(dim.max(1)).zip(&instances) {
                if watch.poll().is_break() {
                    return Err(bidilel::Error::Cancelled.into());
                }
                rows.read(row, into);
            }
            Ok(values)
        })?;
        Ok(array_of(py, instances.len(), dim, values))
    }

    /// Vectors of all classes: classes x dimensions, and names of the dimensions where they have some.
    #[expect(clippy::type_complexity, reason = "an array and names")]
    fn semantics<'py>(
        &self,
        py: Python<'py>,
        name: Option<&str>,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Option<Vec<String>>)> {
        let found = self.inner.semantic(name).map_err(Failure::from)?;
        Ok((rows_of(py, &found.vectors), found.dimension_names.clone()))
    }

    /// A character for every class, of built-in datasets.
    #[getter]
    fn characters(&self) -> Option<Vec<String>> {
        self.shown.as_ref().map(|shown| shown.characters.clone())
    }

    /// The picture of an instance as a WebP file, of built-in datasets.
    fn picture<'py>(&self, py: Python<'py>, instance: usize) -> PyResult<Bound<'py, PyBytes>> {
        let shown = self.shown.as_ref().filter(|_| instance < self.inner.labels.len());
        let shown = shown.ok_or_else(|| PyValueError::new_err(format!("there is no picture {instance}")))?;
        Ok(PyBytes::new(py, &shown.thumbnail(instance).map_err(Failure::from)?))
    }

    /// Writes it as a folder with a `dataset.toml`.
    fn write(&self, py: Python<'_>, folder: PathBuf, overwrite: bool, running: Running) -> PyResult<()> {
        run(py, &running, |watch| {
            let options = WriteOptions { overwrite, ..WriteOptions::default() };
            Ok(bidilel_data::write_watched(&self.inner, &folder, options, watch)?)
        })
    }

    /// Fits one trial, as the program does.
    fn fit(
        &self,
        py: Python<'_>,
        settings: &str,
        split: Option<&str>,
        seed: u64,
        running: Running,
    ) -> PyResult<Model> {
        let settings = settings::parse(settings)?;
        let model = run(py, &running, |watch| {
            settings::note_unused(&settings, watch);
            let choice = split.map_or(SplitChoice::First, |name| SplitChoice::Named(name.to_owned()));
            one_trial(choice.trials(&self.inner)?)?;
            Ok(bidilel::Model::fit(&self.inner, &settings, split, seed, watch)?)
        })?;
        Ok(Model::of(model))
    }
}

fn report(found: bidilel_data::Inspection) -> PyResult<String> {
    versioned(&InspectionReport::new(found))
}
