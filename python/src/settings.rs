//! Settings by name, as Python gives them: a JSON object.

use bidilel::Observer;
use bidilel::settings::{Kind, Settings, TABLE};
use bidilel_report::MethodList;
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::json::plain;

/// The settings of a JSON object, checked; `method="best"` stands for its settings.
pub(crate) fn parse(text: &str) -> Result<Settings, Failure> {
    let object: Map<String, Value> =
        serde_json::from_str(text).map_err(|cause| bidilel::Error::Unreadable { cause })?;
    let settings = Settings::default().with(&object)?;
    settings.check()?;
    Ok(settings)
}

/// Notes settings that were given but have no effect on the chosen method.
pub(crate) fn note_unused(settings: &Settings, watch: &dyn Observer) {
    let used = settings.effective().entries();
    for name in settings.entries().keys().filter(|name| !used.contains_key(*name)) {
        watch.note(&format!("{name} has no effect with the method that was chosen"));
    }
}

/// Fails where a setting does not exist or is out of its range; returns those that matter to the method.
#[pyfunction]
pub(crate) fn check_settings(settings: &str) -> PyResult<String> {
    Ok(Value::Object(parse(settings)?.effective().entries()).to_string())
}

/// Every setting with its type, help and default, as JSON.
#[pyfunction]
pub(crate) fn settings_table() -> String {
    let rows = TABLE.iter().map(|row| {
        let (kind, names) = match row.kind {
            Kind::Float => ("float", None),
            Kind::Count => ("int", None),
            Kind::Flag => ("bool", None),
            Kind::Name(names) => ("name", Some(names)),
            Kind::Names(names) => ("names", Some(names)),
            Kind::Texts => ("texts", None),
            Kind::Floats => ("floats", None),
        };
        json!({"name": row.name, "kind": kind, "names": names, "help": row.help, "default": row.default.shown()})
    });
    Value::Array(rows.collect()).to_string()
}

/// Every method with its year, kind, reference and settings, as JSON.
#[pyfunction]
pub(crate) fn methods() -> PyResult<String> {
    plain(&MethodList::new())
}
