//! Results of commands that write files: what was written, and where.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bidilel::encode::Header;
use serde::{Deserialize, Serialize};

/// The object that `embed --format json` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmbeddedFeatures {
    /// The file of latent coordinates.
    pub file: PathBuf,
    /// Number of instances.
    pub instances: usize,
    /// Latent dimensions.
    pub dim: usize,
}

impl EmbeddedFeatures {
    /// One line.
    pub fn text(&self) -> String {
        format!("{}: {} instances in {} dimensions\n", self.file.display(), self.instances, self.dim)
    }
}

/// The object that `report --format json` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenReport {
    /// The page; none where only charts were asked for.
    pub report: Option<PathBuf>,
    /// Its size.
    pub bytes: usize,
    /// How many results are on it.
    pub results: usize,
    /// Files of charts.
    pub plots: Vec<PathBuf>,
}

impl WrittenReport {
    /// A line for the page, and one for the charts.
    pub fn text(&self) -> String {
        let results =
            if self.results == 1 { "1 result".to_owned() } else { format!("{} results", self.results) };
        let page = self.report.as_ref().map_or(String::new(), |path| {
            format!("{}: {results}, {:.1} MB\n", path.display(), self.bytes as f64 / 1e6)
        });
        let folder = self.plots.first().and_then(|path| path.parent());
        let plots = folder.map_or(String::new(), |folder| {
            format!("{}: {} files of charts\n", folder.display(), self.plots.len())
        });
        page + &plots
    }
}

/// The object that `convert --format json` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConvertedDataset {
    /// The folder that was written.
    pub folder: PathBuf,
    /// Name of the dataset.
    pub name: String,
    /// Number of instances.
    pub instances: usize,
    /// Number of classes.
    pub classes: usize,
}

/// The object that `generate --format json` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneratedDatasets {
    /// Every dataset.
    pub datasets: Vec<GeneratedDataset>,
}

/// One synthetic dataset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneratedDataset {
    /// The folder that was written.
    pub folder: PathBuf,
    /// Name of its preset.
    pub preset: String,
    /// Seed.
    pub seed: u64,
    /// Number of instances.
    pub instances: usize,
    /// Number of classes.
    pub classes: usize,
}

/// The object that `encode --format json` prints.
#[derive(Debug, Clone, Serialize)]
pub struct EncodedFeatures<'a> {
    /// The file of feature rows.
    pub out: &'a Path,
    /// Sidecar files of the rows: names, labels, the beginning of a `dataset.toml`.
    pub beside: &'a [PathBuf],
    /// The file that the encoder was saved to, or read from.
    pub encoder: Option<&'a Path>,
    /// Number of items, one row each.
    pub items: usize,
    /// Number of descriptors, of all items together.
    pub descriptors: usize,
    /// Dimensions of a row.
    pub dim: usize,
    /// Dimensions before reduction.
    pub raw_dim: usize,
    /// What was learned: settings, sizes, the reduction.
    pub learned: &'a Header,
    /// Seconds by stage.
    pub timings: &'a BTreeMap<String, f64>,
}

/// The object of a JSON file that `evaluate --predictions` writes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunPredictions<'a> {
    /// One entry per run and test instance.
    pub predictions: Vec<RunPrediction<'a>>,
}

/// The prediction of one test instance in one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunPrediction<'a> {
    /// Name of the trial.
    pub split: &'a str,
    /// Seed.
    pub seed: u64,
    /// Index of the instance in the dataset.
    pub instance: usize,
    /// Its true class.
    #[serde(rename = "true")]
    pub truth: &'a str,
    /// Its predicted class.
    pub predicted: &'a str,
    /// Distance to every candidate class; the smallest is the prediction.
    pub distances: BTreeMap<&'a str, f64>,
}
