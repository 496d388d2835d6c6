//! A method with every setting in force, as results report it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{AnyFitted, Method, ZeroShotMethod};
use crate::task::{Choice, Normalize, Task};
use crate::visual::Report;

/// A method as it turned out in a fit.
///
/// As JSON it is the method's own object, in which `fusion` is how the views were joined instead of how that was asked
/// for, with `normalize` and `semantic_weights`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Map<String, Value>", into = "Map<String, Value>")]
pub struct MethodReport {
    /// The method with its own settings.
    pub method: Method,
    /// How the views were joined, where the method joins them.
    pub fusion: Option<Report>,
    /// Normalization of visual rows.
    pub normalize: Normalize,
    /// Weights of the semantic representations.
    pub semantic_weights: BTreeMap<String, f64>,
}

/// The parts of a report that do not belong to the method itself.
#[derive(Serialize, Deserialize)]
struct Around {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fusion: Option<Report>,
    #[serde(default)]
    normalize: Normalize,
    #[serde(default)]
    semantic_weights: BTreeMap<String, f64>,
}

impl MethodReport {
    /// A method as it turned out in a fit.
    pub fn new(method: &Method, choice: &Choice, task: &Task, fitted: &AnyFitted) -> Self {
        Self {
            method: method.resolved(task, fitted),
            fusion: fitted.latent().map(|fitted| fitted.fusion.clone()),
            normalize: choice.normalize,
            semantic_weights: choice.semantic.iter().cloned().collect(),
        }
    }
}

impl From<MethodReport> for Map<String, Value> {
    fn from(report: MethodReport) -> Self {
        let MethodReport { method, fusion, normalize, semantic_weights } = report;
        let object = |value: serde_json::Result<Value>| match value {
            Ok(Value::Object(entries)) => entries,
            _ => unreachable!("settings are plain structures, which are JSON objects"),
        };
        let mut all = object(serde_json::to_value(method));
        all.extend(object(serde_json::to_value(Around { fusion, normalize, semantic_weights })));
        all
    }
}

impl TryFrom<Map<String, Value>> for MethodReport {
    type Error = serde_json::Error;

    fn try_from(mut all: Map<String, Value>) -> serde_json::Result<Self> {
        let around = Around::deserialize(Value::Object(all.clone()))?;
        all.remove("fusion");
        let Around { fusion, normalize, semantic_weights } = around;
        Ok(Self { method: serde_json::from_value(Value::Object(all))?, fusion, normalize, semantic_weights })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_report_comes_back_from_json_as_it_went() {
        let fusion = json!({"method": "primal", "reason": "one view", "views": []});
        for (name, fusion) in [("bidilel", Some(fusion)), ("eszsl", None)] {
            let bidilel = json!({"bottom_up": {"kind": "slpp"}, "top_down": {"kind": "lsm"}});
            let mut value = if name == "bidilel" { bidilel } else { json!({"eszsl_gamma": 3.0}) };
            value["name"] = json!(name);
            fusion.iter().for_each(|fusion| value["fusion"] = fusion.clone());
            let report: MethodReport = serde_json::from_value(value).expect("a report");
            let written = serde_json::to_value(&report).expect("an object");
            assert_eq!(written["fusion"].is_null(), fusion.is_none());
            assert_eq!(serde_json::from_value::<MethodReport>(written).expect("a report"), report);
        }
    }
}
