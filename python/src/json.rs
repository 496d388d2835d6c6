//! Results as the program prints them.

use bidilel_report::{SCHEMA_VERSION, VERSION};
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::Value;

use crate::failure::Failure;

/// A result as JSON, with the versions that the program adds.
pub(crate) fn versioned(result: &impl Serialize) -> PyResult<String> {
    Ok(with_versions(result)?.to_string())
}

/// Several of them as a list.
pub(crate) fn versioned_list<R: Serialize>(results: &[R]) -> PyResult<String> {
    let all = results.iter().map(with_versions).collect::<PyResult<Vec<_>>>()?;
    Ok(Value::Array(all).to_string())
}

fn with_versions(result: &impl Serialize) -> PyResult<Value> {
    let mut value = serde_json::to_value(result).map_err(|error| Failure::Program(error.into()))?;
    if let Value::Object(object) = &mut value {
        object.insert("schema_version".to_owned(), SCHEMA_VERSION.into());
        object.insert("version".to_owned(), VERSION.into());
    }
    Ok(value)
}

/// Anything else as JSON.
pub(crate) fn plain(result: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(result).map_err(|error| Failure::Program(error.into()).into())
}
