//! Results as a page reads them: the keys that it shows, each of which may be missing.
//!
//! A page is made of the JSON objects that commands print, whether they come from files or straight from a command. Keys
//! that it does not know are left alone, so that results of later versions can be read.

use std::collections::BTreeMap;

use bidilel::split::DrawnSplits;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{ClassScore, Comparison, RunData, ScoredSetting, SeenUnseenPoint, Selection};

/// Any result.
#[derive(Debug, Clone)]
pub(crate) enum Input {
    Evaluation(Box<EvaluationInput>),
    Tuning(Box<TuningInput>),
    Comparison(Box<Comparison>),
    Selection(Box<Selection>),
}

/// Why an object is no result.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The keys are those of nothing that is known.
    #[error("this is no result of demo, evaluate, tune, select or compare; it has {found}")]
    Unknown {
        /// What it has.
        found: String,
    },
    /// A key has another kind of value.
    #[error("a result of {command} that cannot be read: {problem}")]
    Malformed {
        /// The command whose result it looks like.
        command: &'static str,
        /// What is wrong; no `source`, because the message has it already.
        problem: serde_json::Error,
    },
}

impl Input {
    /// Reads the object of a command, which is recognized by its keys.
    pub(crate) fn read(value: Value) -> Result<Self, ReportError> {
        let has = |key: &str| value.get(key).is_some();
        let malformed = |command| move |problem| ReportError::Malformed { command, problem };
        if has("results") && has("pairs") {
            Ok(Self::Comparison(Box::new(serde_json::from_value(value).map_err(malformed("compare"))?)))
        } else if has("best") && has("trials") {
            Ok(Self::Tuning(Box::new(serde_json::from_value(value).map_err(malformed("tune"))?)))
        } else if has("order") && has("complementarity") {
            Ok(Self::Selection(Box::new(serde_json::from_value(value).map_err(malformed("select"))?)))
        } else if has("accuracy") && has("runs") {
            Ok(Self::Evaluation(Box::new(serde_json::from_value(value).map_err(malformed("evaluate"))?)))
        } else {
            Err(ReportError::Unknown { found: keys(&value) })
        }
    }
}

/// `the keys a, b and c`, for a message.
fn keys(value: &Value) -> String {
    match value {
        Value::Object(entries) if entries.is_empty() => "no keys".to_owned(),
        Value::Object(entries) => {
            let names: Vec<String> = entries.keys().take(6).map(|key| format!("`{key}`")).collect();
            let more = if entries.len() > names.len() { ", ..." } else { "" };
            format!("the keys {}{more}", names.join(", "))
        }
        Value::Array(_) => "a list at the top".to_owned(),
        _ => "no object at the top".to_owned(),
    }
}

/// The object of `evaluate`, `demo` or `evaluate --run-data`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct EvaluationInput {
    pub(crate) dataset: String,
    pub(crate) split: String,
    pub(crate) random_splits: Option<DrawnSplits>,
    pub(crate) visual: Vec<String>,
    pub(crate) semantic: Vec<String>,
    pub(crate) method: Map<String, Value>,
    pub(crate) accuracy: AccuracyInput,
    pub(crate) steps: Vec<StepInput>,
    pub(crate) top: BTreeMap<String, AccuracyInput>,
    pub(crate) classes: Vec<ClassScore>,
    pub(crate) runs: Vec<RunInput>,
    pub(crate) summary: SpreadInput,
    pub(crate) chance: f64,
    pub(crate) timings: BTreeMap<String, f64>,
    pub(crate) calibration: Option<Calibration>,
    pub(crate) coverage: Option<Coverage>,
    pub(crate) open_set: Option<OpenSet>,
    /// Accuracy of known against unseen classes, in the generalized setting.
    pub(crate) curve: Vec<SeenUnseenPoint>,
    pub(crate) run_data: Option<RunData>,
    pub(crate) version: Option<String>,
}

/// Accuracies; from `unseen` on they are of the generalized setting.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(crate) struct AccuracyInput {
    pub(crate) per_class: f64,
    pub(crate) per_image: f64,
    pub(crate) unseen: Option<f64>,
    pub(crate) seen: Option<f64>,
    pub(crate) harmonic: Option<f64>,
    /// Area under the seen-unseen curve.
    pub(crate) ausuc: Option<f64>,
    /// The same without a bias of known classes.
    pub(crate) uncalibrated: Option<Sides>,
}

impl AccuracyInput {
    /// Both sides of the generalized setting.
    pub(crate) fn sides(&self) -> Option<Sides> {
        Some(Sides { unseen: self.unseen?, seen: self.seen?, harmonic: self.harmonic? })
    }

    /// The figure that ranks: the harmonic mean where all classes are candidates, else the per-class accuracy.
    pub(crate) fn figure(&self) -> f64 {
        self.sides().map_or(self.per_class, |sides| sides.harmonic)
    }
}

/// Accuracy of known and of unseen classes, where both are candidates.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Sides {
    pub(crate) unseen: f64,
    pub(crate) seen: f64,
    pub(crate) harmonic: f64,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct StepInput {
    pub(crate) name: String,
    pub(crate) per_class: f64,
    pub(crate) per_image: f64,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RunInput {
    pub(crate) split: String,
    pub(crate) seed: u64,
    pub(crate) per_class: f64,
    pub(crate) per_image: f64,
    pub(crate) stress: Option<f64>,
    /// On known and on unseen classes, where all are candidates.
    pub(crate) generalized: Option<Sides>,
    /// Known classes, where these are candidates.
    pub(crate) known: Vec<String>,
    pub(crate) unseen: Vec<String>,
    /// Counts by true and predicted class, in the order of `known`, then `unseen`.
    pub(crate) confusion: Vec<Vec<usize>>,
}

impl RunInput {
    /// Names of the rows and columns of the confusion matrix; none where they do not fit it.
    pub(crate) fn candidates(&self) -> Option<Vec<String>> {
        let names: Vec<String> = self.known.iter().chain(&self.unseen).cloned().collect();
        let fits =
            names.len() == self.confusion.len() && self.confusion.iter().all(|row| row.len() == names.len());
        (fits && !names.is_empty()).then_some(names)
    }
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SpreadInput {
    pub(crate) standard_deviation: f64,
    pub(crate) standard_error: f64,
}

/// How far probabilities say what accuracy is.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Calibration {
    pub(crate) bins: Vec<Bin>,
    /// The same before probabilities were calibrated.
    pub(crate) bins_before: Vec<Bin>,
    /// Expected calibration error.
    pub(crate) ece: Option<BeforeAfter>,
    /// Mean negative log-likelihood of the true class.
    pub(crate) nll: Option<BeforeAfter>,
    pub(crate) brier: Option<BeforeAfter>,
}

/// Prediction sets on the test instances.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Coverage {
    pub(crate) wanted: f64,
    pub(crate) measured: f64,
    pub(crate) per_class: f64,
    pub(crate) mean_size: f64,
    pub(crate) candidates: f64,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(crate) struct BeforeAfter {
    pub(crate) before: f64,
    pub(crate) after: f64,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Bin {
    /// Mean probability of the predictions in the bin; none where it is empty.
    pub(crate) confidence: Option<f64>,
    pub(crate) accuracy: Option<f64>,
}

/// What is told apart from what belongs to none of the classes.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct OpenSet {
    /// Share of the unseen classes that are no candidates, and how often they are drawn.
    pub(crate) share: Option<f64>,
    pub(crate) draws: Option<usize>,
    pub(crate) auroc: Option<f64>,
    pub(crate) fpr95: Option<f64>,
    pub(crate) area: Option<f64>,
    pub(crate) rejection: Option<Rejection>,
    /// Shares at every threshold.
    pub(crate) curve: Vec<OpenSetShares>,
}

/// What a threshold for a wanted share of false alarms does.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Rejection {
    pub(crate) rate: f64,
    pub(crate) false_alarms: f64,
    pub(crate) detected: f64,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(crate) struct OpenSetShares {
    /// Share of instances of other classes that are accepted.
    pub(crate) false_positive_rate: f64,
    /// Share of the candidates' instances that are accepted and recognized.
    pub(crate) correct_rate: f64,
}

/// The object of `tune`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TuningInput {
    pub(crate) dataset: Option<String>,
    pub(crate) split: String,
    pub(crate) best: BestInput,
    pub(crate) choice: Option<ChoiceInput>,
    pub(crate) trials: Vec<ScoredSetting>,
    pub(crate) curves: Vec<crate::Curve>,
    pub(crate) commands: Vec<String>,
    pub(crate) seconds: f64,
    pub(crate) stopped_by_budget: bool,
    pub(crate) command: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct BestInput {
    pub(crate) settings: Map<String, Value>,
    pub(crate) mean: f64,
    pub(crate) standard_error: f64,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ChoiceInput {
    pub(crate) reason: String,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn results_are_recognized_by_their_keys_and_others_are_refused_by_name() {
        let minimal = json!({"accuracy": {"per_class": 0.5}, "runs": [], "something_new": 1});
        assert!(
            matches!(Input::read(minimal).unwrap(), Input::Evaluation(one) if one.accuracy.per_class > 0.4)
        );
        let tuned = json!({"best": {"mean": 0.5, "alpha": 1}, "trials": []});
        assert!(matches!(Input::read(tuned).unwrap(), Input::Tuning(_)));
        let unknown = Input::read(json!({"index": 3, "label": "cat"})).unwrap_err();
        assert_eq!(
            unknown.to_string(),
            "this is no result of demo, evaluate, tune, select or compare; it has the keys `index`, `label`"
        );
        let wrong = Input::read(json!({"accuracy": 7, "runs": []})).unwrap_err();
        assert!(wrong.to_string().starts_with("a result of evaluate that cannot be read: "), "{wrong}");
        assert!(Input::read(json!([1, 2])).unwrap_err().to_string().contains("a list at the top"));
    }
}
