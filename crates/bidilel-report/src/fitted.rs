//! The result of `fit`: what a model was learned from, and how well its mapping settled.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bidilel::Model;
use bidilel::calibrate::{Biases, Signal};
use bidilel::model::CalibrationHeader;
use bidilel::split::DrawnSplits;
use bidilel::visual::Report;
use serde::{Deserialize, Serialize};

use crate::{CheckReport, fusion_line};

/// The object that `fit --format json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelReport {
    /// The file that the model was written to.
    pub model: PathBuf,
    /// The trial that it was learned from.
    pub split: String,
    /// How it was drawn; left out where the dataset has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random_splits: Option<DrawnSplits>,
    /// Number of known classes.
    pub known: usize,
    /// Number of unseen classes.
    pub unseen: usize,
    /// Number of training instances.
    pub instances: usize,
    /// Latent dimensions; none for methods without a latent space.
    pub dim: Option<usize>,
    /// Cost of the mapping; none for methods without one.
    pub stress: Option<f64>,
    /// Whether the mapping settled before its iteration limit; none for methods without one.
    pub converged: Option<bool>,
    /// How views were fused; none for methods that do not fuse.
    pub fusion: Option<Report>,
    /// Biases of the known classes, where these are candidates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generalized: Option<Biases>,
    /// How sure predictions may be; left out where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<CalibrationHeader>,
    /// Fingerprint of the data that was learned from.
    pub fingerprint: String,
    /// Seconds by stage.
    pub timings: BTreeMap<String, f64>,
    /// Self-checks of the stages.
    pub checks: Vec<CheckReport>,
}

impl ModelReport {
    /// Describes a model that was written to a file.
    pub fn new(
        file: PathBuf,
        model: &Model,
        timings: BTreeMap<String, f64>,
        checks: Vec<CheckReport>,
    ) -> Self {
        let header = model.header();
        Self {
            model: file,
            split: header.split,
            random_splits: None,
            known: header.known.len(),
            unseen: header.unseen.len(),
            instances: header.instances,
            dim: model.latent().ok().map(|fitted| fitted.space.dim()),
            stress: header.stress,
            converged: header.converged,
            fusion: header.fusion,
            generalized: header.generalized,
            calibration: header.calibration,
            fingerprint: header.fingerprint,
            timings,
            checks,
        }
    }

    /// One line, and others on the fusion of views and the calibration where there are such.
    pub fn text(&self) -> String {
        let space = self.dim.map_or(String::new(), |dim| format!(" in {dim} dimensions"));
        let stress = self.stress.map_or(String::new(), |stress| format!("stress {stress:.5}, "));
        let bias = self.generalized.as_ref().map_or(String::new(), |biases| {
            format!("  known and unseen classes are candidates; bias of known ones {:.4}\n", biases.last())
        });
        let views = self.fusion.as_ref().filter(|fusion| !fusion.is_plain());
        format!(
            "{}: {} unseen classes among {} known ones{space}, from {} instances; {stress}{:.1} s\n{}{bias}{}",
            self.model.display(),
            self.unseen,
            self.known,
            self.instances,
            self.timings.get("total").copied().unwrap_or(0.0),
            views.map_or(String::new(), |fusion| format!("  {}\n", fusion_line(fusion))),
            self.calibration.as_ref().map_or(String::new(), calibration_line)
        )
    }
}

fn calibration_line(calibration: &CalibrationHeader) -> String {
    let (by, area) = match calibration.reject_by {
        Signal::Score => ("score", calibration.score_auroc),
        Signal::Margin => ("margin", calibration.margin_auroc),
    };
    format!(
        "  calibrated on {} instances of held-out known classes in {} folds: temperature {:.3e}, unknowns told by {by} (AUROC {:.1} %)\n",
        calibration.instances,
        calibration.folds,
        calibration.temperature,
        100.0 * area
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_method_does_not_have_is_null_and_not_in_the_line() {
        let report = ModelReport {
            model: "sea.safetensors".into(),
            split: "standard".to_owned(),
            random_splits: None,
            known: 40,
            unseen: 10,
            instances: 1200,
            dim: None,
            stress: None,
            converged: None,
            fusion: None,
            generalized: None,
            calibration: None,
            fingerprint: "0".to_owned(),
            timings: BTreeMap::from([("total".to_owned(), 1.25)]),
            checks: Vec::new(),
        };
        let line = "sea.safetensors: 10 unseen classes among 40 known ones, from 1200 instances; 1.2 s\n";
        assert_eq!(report.text(), line);
        let object = serde_json::to_value(&report).expect("serializable");
        for key in ["dim", "stress", "converged", "fusion"] {
            assert_eq!(object.get(key), Some(&serde_json::Value::Null), "{key}");
        }
        let latent = ModelReport { dim: Some(8), stress: Some(0.5), ..report };
        assert!(latent.text().contains(" known ones in 8 dimensions, from 1200 instances; stress 0.50000, "));
    }
}
