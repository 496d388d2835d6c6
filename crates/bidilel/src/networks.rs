//! Which networks made the representations of a dataset.
//!
//! Features and descriptions are numbers; pictures and sentences become such numbers by a network, a layer and a
//! preprocessing. A record of these travels from the features through the dataset into the model, so that a model can
//! be asked about pictures and words. Nothing here runs a network: records are data, and a file is known by its SHA-256.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A file, by where it was and what it held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// Where it was.
    pub path: String,
    /// SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
}

/// What made one representation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkRecord {
    /// The ONNX file.
    pub network: FileRecord,
    /// Files beside it that hold its weights.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<FileRecord>,
    /// What made tokens of texts, for a text network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<FileRecord>,
    /// The tensor that was taken.
    pub layer: String,
    /// What is done before and after the network, as the crate that runs it understands it.
    pub settings: serde_json::Value,
}

impl NetworkRecord {
    /// All files of it.
    pub fn files(&self) -> impl Iterator<Item = &FileRecord> {
        std::iter::once(&self.network).chain(&self.weights).chain(&self.tokenizer)
    }
}

/// The networks of a dataset or a model, by the names of the representations that they made.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Networks {
    /// Of visual representations: pictures and videos to features.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub visual: BTreeMap<String, NetworkRecord>,
    /// Of semantic representations: texts to descriptions.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub semantic: BTreeMap<String, NetworkRecord>,
}

impl Networks {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.visual.is_empty() && self.semantic.is_empty()
    }

    /// Those of some representations alone.
    #[must_use]
    pub fn of<'a>(
        &self,
        visual: impl IntoIterator<Item = &'a str>,
        semantic: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        fn pick<'a>(
            all: &BTreeMap<String, NetworkRecord>,
            names: impl IntoIterator<Item = &'a str>,
        ) -> BTreeMap<String, NetworkRecord> {
            names
                .into_iter()
                .filter_map(|name| all.get_key_value(name))
                .map(|(name, one)| (name.clone(), one.clone()))
                .collect()
        }
        Self { visual: pick(&self.visual, visual), semantic: pick(&self.semantic, semantic) }
    }

    /// All records.
    pub fn records(&self) -> impl Iterator<Item = &NetworkRecord> {
        self.visual.values().chain(self.semantic.values())
    }
}
