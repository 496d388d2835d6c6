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
    let settings = combined(&object)?;
    settings.check()?;
    Ok(settings)
}

/// The settings of an object; a failure names the one that is to blame.
pub(crate) fn combined(object: &Map<String, Value>) -> Result<Settings, Failure> {
    let fails = |name: &String, value: &Value| {
        Settings::default().with(&Map::from_iter([(name.clone(), value.clone())])).is_err()
    };
    Settings::default().with(object).map_err(|error| {
        let blamed = object.iter().find(|(name, value)| fails(name, value));
        blamed.map_or_else(|| error.into(), |(name, value)| blame(name, value))
    })
}

/// What is wrong with a setting by itself.
fn blame(name: &str, value: &Value) -> Failure {
    let Some(row) = TABLE.iter().find(|row| row.name == name.replace('-', "_")) else {
        let names: Vec<String> = TABLE.iter().map(|row| row.name.to_owned()).collect();
        let near = bidilel_data::closest(name, &names).map(|near| format!(": did you mean `{near}`?"));
        return anyhow::anyhow!("there is no setting `{name}`{}", near.unwrap_or_default()).into();
    };
    let expected = match row.kind {
        Kind::Float => "a number".to_owned(),
        Kind::Count => "a whole number of at least 0".to_owned(),
        Kind::Flag => "true or false".to_owned(),
        Kind::Name(names) => format!("one of {}", names.join(", ")),
        Kind::Names(names) => format!("a list of {}", names.join(", ")),
        Kind::Texts => "a list of names".to_owned(),
        Kind::Floats => "a list of numbers".to_owned(),
    };
    let found = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    bidilel::Error::Setting { setting: row.name, expected: expected.into(), found }.into()
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
