//! Fitted models: the program's own, over arrays.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use bidilel::explain::Extent;
use bidilel::{Error, Map, Mat, NewClass, Observer, Recognition, Scores};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::{Features, array_of, rows_of};
use crate::explain::explain;
use crate::failure::Failure;
use crate::fit::{self, Classes, Wanted};
use crate::json::plain;
use crate::names::{Semantics, descriptions, name_of, parse_candidates};
use crate::recognize::{blocks, project, whole};
use crate::run::{Running, run};
use crate::settings;

/// Bytes that are read or written between two looks at whether to go on.
const POLLED_BYTES: usize = 4 << 20;
/// Bytes that a file is mapped in.
const PAGE_BYTES: usize = 4_096;

/// A fitted model. It never changes: what changes its classes returns another.
#[pyclass(frozen, module = "bidilel._bidilel")]
pub(crate) struct Model {
    inner: Arc<bidilel::Model>,
}

#[pymethods]
impl Model {
    /// Fits a model to labeled rows and descriptions of the classes, known ones first.
    #[staticmethod]
    #[pyo3(signature = (x, labels, known, unseen, semantics, settings, *, seed, columns, calibrate, keep_instances, running))]
    #[expect(clippy::too_many_arguments, reason = "a call from Python, which names them")]
    fn fit(
        py: Python<'_>,
        x: Features<'_>,
        labels: PyReadonlyArray1<'_, i64>,
        known: Vec<String>,
        unseen: Vec<String>,
        semantics: Vec<Semantics<'_>>,
        settings: &str,
        seed: u64,
        columns: Option<Vec<String>>,
        calibrate: Option<usize>,
        keep_instances: Option<usize>,
        running: Running,
    ) -> PyResult<Self> {
        let descriptions = descriptions(&semantics)?;
        let label =
            |&label: &i64| usize::try_from(label).map_err(|_| PyValueError::new_err("a label is negative"));
        let labels = labels.as_array().iter().map(label).collect::<PyResult<Vec<_>>>()?;
        let classes = Classes { labels, known, unseen, descriptions, columns };
        let wanted = Wanted { settings: settings::parse(settings)?, seed, calibrate, keep_instances };
        x.with(|rows| {
            run(py, &running, |watch| {
                settings::note_unused(&wanted.settings, watch);
                fit::fit(rows, classes, &wanted, watch)
            })
        })
        .map(Self::of)
    }

    /// Reads the bytes of a model file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8], running: Running) -> PyResult<Self> {
        run(py, &running, |_| Ok(bidilel::Model::from_bytes(bytes)?)).map(Self::of)
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>, running: Running) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = run(py, &running, |watch| {
            let mut bytes = Vec::new();
            let written = self.inner.write_to(&mut Asking { out: &mut bytes, watch });
            written.map_err(anyhow::Error::from)?;
            Ok(bytes)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf, running: Running) -> PyResult<Self> {
        run(py, &running, |watch| {
            let bytes = bidilel_data::map(&path)?;
            // What takes long is the disk. Unpacking, which is one piece, finds the file in memory.
            for part in bytes.as_ref().chunks(POLLED_BYTES) {
                std::hint::black_box(part.iter().step_by(PAGE_BYTES).fold(0, |sum, byte| sum ^ byte));
                if watch.poll().is_break() {
                    return Err(Error::Cancelled.into());
                }
            }
            let model = bidilel::Model::from_bytes(bytes.as_ref());
            Ok(model.map_err(|error| anyhow::Error::from(error).context(format!("`{}`", path.display())))?)
        })
        .map(Self::of)
    }

    /// Writes the model file, whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf, running: Running) -> PyResult<()> {
        run(py, &running, |watch| {
            let write = |out: &mut dyn Write| self.inner.write_to(&mut Asking { out, watch });
            Ok(bidilel_data::write_atomically(&path, write)?)
        })
    }

    /// What the file says about the model, as JSON.
    fn header(&self) -> PyResult<String> {
        plain(&self.inner.header())
    }

    /// Names of the known classes.
    #[getter]
    fn known(&self) -> Vec<String> {
        self.inner.known.clone()
    }

    /// Names of the unseen classes.
    #[getter]
    fn unseen(&self) -> Vec<String> {
        self.inner.unseen.clone()
    }

    /// How many features an instance has.
    #[getter]
    fn features(&self) -> usize {
        self.inner.views.dim()
    }

    /// The name of the method.
    #[getter]
    fn method(&self) -> String {
        self.inner.method.name().to_string()
    }

    /// The classes that compete for an instance unless others are asked for.
    #[getter]
    fn candidates(&self) -> &'static str {
        name_of(self.inner.candidates())
    }

    /// The temperature of probabilities; none where it was not fitted to held-out classes.
    #[getter]
    fn temperature(&self) -> Option<f64> {
        self.inner.calibration.as_ref().map(|own| own.temperature)
    }

    /// Names of the refiners, in order.
    #[getter]
    fn refiners(&self) -> Vec<String> {
        self.inner.method.post().iter().map(|post| post.name().to_string()).collect()
    }

    /// Semantic representations: names, and how many numbers describe a class in each.
    #[getter]
    fn semantics(&self) -> Vec<(String, usize)> {
        self.inner.semantics.representations.iter().map(|one| (one.name.clone(), one.raw.nrows())).collect()
    }

    /// The best candidate of every row, by its index, and the distance to it.
    #[expect(clippy::type_complexity, reason = "two arrays")]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        x: Features<'_>,
        candidates: Option<&str>,
        running: Running,
    ) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>)> {
        let candidates = parse_candidates(&self.inner, candidates)?;
        let best = |scores: Scores| -> Vec<(i64, f64)> {
            let of = |(instance, class): (usize, usize)| {
                (i64::try_from(class).unwrap_or(-1), scores.distance(class, instance))
            };
            scores.labels().into_iter().enumerate().map(of).collect()
        };
        let found = x.with(|rows| {
            run(py, &running, |watch| {
                blocks(&self.inner, rows, candidates, watch, |found| best(found.scores))
            })
        })?;
        let (labels, distances): (Vec<i64>, Vec<f64>) = found.into_iter().flatten().unzip();
        Ok((PyArray1::from_vec(py, labels), PyArray1::from_vec(py, distances)))
    }

    /// Scores of the candidates: rows x candidates, the larger the likelier.
    fn scores<'py>(
        &self,
        py: Python<'py>,
        x: Features<'_>,
        candidates: Option<&str>,
        running: Running,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let candidates = parse_candidates(&self.inner, candidates)?;
        let classes = self.inner.names(candidates).len();
        let values = |found: Recognition| columns(&found.scores.values);
        let found = x
            .with(|rows| run(py, &running, |watch| blocks(&self.inner, rows, candidates, watch, values)))?
            .concat();
        Ok(array_of(py, found.len() / classes.max(1), classes, found))
    }

    /// Scores of the model's candidates after its refiners, which look at all rows together.
    fn refined<'py>(
        &self,
        py: Python<'py>,
        x: Features<'_>,
        running: Running,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let scores = x.with(|rows| {
            run(py, &running, |watch| {
                let found = whole(&self.inner, rows, watch)?;
                Ok(self.inner.refined(found, self.inner.method.post(), watch)?.scores.values)
            })
        })?;
        Ok(rows_of(py, &scores))
    }

    /// Coordinates in the latent space: rows x latent dimensions; of unit norm, or centered only.
    fn project<'py>(
        &self,
        py: Python<'py>,
        x: Features<'_>,
        unit: bool,
        running: Running,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let points = x.with(|rows| run(py, &running, |watch| project(&self.inner, rows, unit, watch)))?;
        Ok(rows_of(py, &points))
    }

    /// Points of candidate classes in the latent space: classes x latent dimensions.
    fn class_points<'py>(&self, py: Python<'py>, candidates: &str) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let candidates = parse_candidates(&self.inner, Some(candidates))?;
        let points = self.inner.latent().map_err(Failure::from)?.class_points(candidates);
        Ok(rows_of(py, &points))
    }

    /// The linear map into the latent space (latent x visual dimensions) and the mean that is subtracted after it; none
    /// where the map is not linear.
    #[expect(clippy::type_complexity, reason = "two arrays, or none")]
    fn components<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>)>> {
        let space = &self.inner.latent().map_err(Failure::from)?.space;
        let (Map::Linear(map) | Map::Several { map, .. }) = &space.map else { return Ok(None) };
        Ok(Some((rows_of(py, map), PyArray1::from_slice(py, &space.mean))))
    }

    /// The cost of the mapping at the embedding of the unseen classes, and whether it settled; none without a latent space.
    fn stress(&self) -> Option<(f64, bool)> {
        self.inner.latent().ok().map(|fitted| (fitted.stress, fitted.embedding.converged))
    }

    /// Why rows are taken for what they are taken for, as JSON: a list with one object per row.
    fn explain(
        &self,
        py: Python<'_>,
        x: Features<'_>,
        candidates: Option<&str>,
        extent: (usize, usize, usize, usize),
        running: Running,
    ) -> PyResult<String> {
        let candidates = parse_candidates(&self.inner, candidates)?;
        let extent =
            Extent { candidates: extent.0, nearest: extent.1, attributes: extent.2, instances: extent.3 };
        let found =
            x.with(|rows| run(py, &running, |watch| explain(&self.inner, rows, candidates, extent, watch)))?;
        plain(&found)
    }

    /// The model with one more unseen class, which these vectors describe.
    fn with_class(
        &self,
        py: Python<'_>,
        name: String,
        semantics: BTreeMap<String, Vec<f64>>,
        running: Running,
    ) -> PyResult<Self> {
        let mut model = (*self.inner).clone();
        let model = run(py, &running, move |watch| {
            model.add_classes(&[NewClass { name, semantics }], watch)?;
            Ok(model)
        })?;
        Ok(Self::of(model))
    }

    /// The model without some classes.
    fn without_classes(&self, py: Python<'_>, names: Vec<String>, running: Running) -> PyResult<Self> {
        run(py, &running, |_| {
            let mut model = (*self.inner).clone();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            model.remove_classes(&names)?;
            Ok(model)
        })
        .map(Self::of)
    }
}

impl Model {
    /// A model of the library.
    pub(crate) fn of(model: bidilel::Model) -> Self {
        Self { inner: Arc::new(model) }
    }
}

/// A writer that fails where it is not to go on.
struct Asking<'a> {
    out: &'a mut dyn Write,
    watch: &'a dyn Observer,
}

impl Write for Asking<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.watch.poll().is_break() {
            // Another kind than that of an interrupted system call, which would be written again.
            return Err(io::Error::other("the call was interrupted"));
        }
        self.out.write(&bytes[..bytes.len().min(POLLED_BYTES)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The numbers of a matrix, column after column.
fn columns(matrix: &Mat<f64>) -> Vec<f64> {
    (0..matrix.ncols()).flat_map(|column| matrix.col_as_slice(column)).copied().collect()
}
