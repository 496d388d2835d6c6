//! What Python gives by name: candidates, metrics, descriptions of classes.

use bidilel::dataset::Metric;
use bidilel::{Candidates, Error, Model};
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::array::matrix;
use crate::failure::Failure;
use crate::fit::Description;

/// A semantic representation: name, metric, classes x dimensions, and names of the dimensions.
pub(crate) type Semantics<'py> = (String, String, PyReadonlyArray2<'py, f64>, Option<Vec<String>>);

/// Semantic representations as a fit takes them.
pub(crate) fn descriptions(semantics: &[Semantics<'_>]) -> PyResult<Vec<Description>> {
    let description = |(name, metric, vectors, dimension_names): &Semantics<'_>| {
        Ok(Description {
            name: name.clone(),
            metric: parse_metric(metric)?,
            vectors: matrix(vectors),
            dimension_names: dimension_names.clone(),
        })
    };
    semantics.iter().map(description).collect()
}

/// The classes that compete for an instance: those of the model unless others are named.
pub(crate) fn parse_candidates(model: &Model, name: Option<&str>) -> PyResult<Candidates> {
    let found = match name {
        None => return Ok(model.candidates()),
        Some("known") => Candidates::Known,
        Some("unseen") => Candidates::Unseen,
        Some("all") => Candidates::All,
        Some(other) => {
            let message = format!("candidates must be one of unseen, known, all, found {other}");
            return Err(PyValueError::new_err(message));
        }
    };
    if found == Candidates::Unseen && model.unseen.is_empty() {
        return Err(PyValueError::new_err(
            "candidates must be known or all where no class is unseen, found unseen",
        ));
    }
    Ok(found)
}

/// Their name.
pub(crate) fn name_of(candidates: Candidates) -> &'static str {
    match candidates {
        Candidates::Known => "known",
        Candidates::Unseen => "unseen",
        Candidates::All => "all",
    }
}

/// A metric by its name.
fn parse_metric(name: &str) -> PyResult<Metric> {
    match name {
        "euclidean" => Ok(Metric::Euclidean),
        "cosine" => Ok(Metric::Cosine),
        "precomputed" => Ok(Metric::Precomputed),
        other => {
            let expected = "euclidean, cosine or precomputed";
            Err(Failure::from(Error::Setting {
                setting: "metric",
                expected: expected.to_owned().into(),
                found: other.to_owned(),
            })
            .into())
        }
    }
}
