//! The model file: safetensors, whose header says everything that is not a number array.
//!
//! Tensors are `f64` unless said otherwise: `semantic_distances.known_unseen`, `semantic_distances.unseen_pairs` (of the
//! classes j = 1, 2, ... those to the classes before j), one `semantic.<name>` per representation (as the dataset has
//! it; with unit norm before version 4), those of the method (`fitted.rs` for the paper's), training instances where some
//! are kept (`kept.rs`), and one `file.<sha256>` of bytes per network that is part of the model. The metadata entry
//! `bidilel` is a JSON object ([`Header`]), made from the model when it is written, so that nothing is kept twice. No
//! code is in the file, and a reader can map it.

use std::collections::BTreeMap;
use std::io::{self, Write};

use safetensors::tensor::SafeTensors;
use serde::{Deserialize, Serialize};
use serde_json::json;

use bidilel_math::symmetric::Symmetric;

use super::calibration::{self, CalibrationHeader};
use super::{KeptInstances, Model};
use crate::calibrate::Biases;
use crate::dataset::Metric;
use crate::error::{FileProblem, ModelProblem, Result};
use crate::method::{AnyFitted, Method};
use crate::networks::{NetworkRecord, Networks};
use crate::semantic::{ClassSemantics, Representation, SemanticDistances};
use crate::stored::{Recorded, unpack};
use crate::tags::Thresholds;
use crate::task::Normalize;
use crate::tensors::{self, Tensor};
use crate::visual::{Report, Views};

/// The version of the format that this program writes; it reads this and older ones.
pub const FORMAT_VERSION: u32 = 5;
/// The first version that names its method and has semantic vectors as the dataset has them.
const METHODS_SINCE: u32 = 4;
/// The metadata key of the header.
const KEY: &str = "bidilel";

/// What a model file says about itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the format.
    pub format: u32,
    /// Name of the dataset that was learned from.
    pub dataset: String,
    /// Its split.
    pub split: String,
    /// Its visual representations, with the kernels as they turned out.
    pub visual: Views,
    /// How they were joined, where they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fusion: Option<Report>,
    /// Normalization of visual rows.
    pub normalize: Normalize,
    /// The method with every setting in force.
    pub method: Method,
    /// Names of the known classes, in landmark order.
    pub known: Vec<String>,
    /// Names of the unseen classes, in embedding order.
    pub unseen: Vec<String>,
    /// The semantic representations.
    pub semantic: Vec<SemanticHeader>,
    /// Training instances.
    pub instances: usize,
    /// Visual dimensions, of all representations together.
    pub visual_dim: usize,
    /// Cost of the mapping at the embedding, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stress: Option<f64>,
    /// Whether the mapping converged before its iteration limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub converged: Option<bool>,
    /// How many latent spaces there are, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latent_spaces: Option<usize>,
    /// Biases of the known classes, where these are candidates (since version 5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generalized: Option<Biases>,
    /// How sure predictions may be, where it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<CalibrationHeader>,
    /// The least scores of tags, of a model that was fitted to instances with several labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thresholds: Option<Thresholds>,
    /// Fingerprint of the data that was learned from.
    pub fingerprint: String,
    /// Paths or identifiers of the training instances that are kept, where they have some; since version 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_names: Option<Vec<String>>,
    /// What made the representations of pictures and texts, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub networks: Option<Networks>,
}

/// One semantic representation of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SemanticHeader {
    /// Its name.
    pub name: String,
    /// Its weight.
    pub weight: f64,
    /// Its distance.
    pub metric: Metric,
    /// Names of its dimensions, where the dataset has them; since version 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
}

impl Model {
    /// What the file will say about the model.
    pub fn header(&self) -> Header {
        let latent = self.latent().ok();
        let semantic = self.semantics.representations.iter().map(|one| SemanticHeader {
            name: one.name.clone(),
            weight: one.weight,
            metric: one.metric,
            names: one.dimension_names.clone(),
        });
        Header {
            format: FORMAT_VERSION,
            dataset: self.dataset.clone(),
            split: self.split.clone(),
            visual: self.views.clone(),
            fusion: latent.map(|fitted| fitted.fusion.clone()),
            normalize: self.normalize,
            method: self.method.clone(),
            known: self.known.clone(),
            unseen: self.unseen.clone(),
            semantic: semantic.collect(),
            instances: self.instances,
            visual_dim: self.views.dim(),
            stress: latent.map(|fitted| fitted.stress),
            converged: latent.map(|fitted| fitted.embedding.converged),
            latent_spaces: latent.map(|fitted| fitted.space.spaces()).filter(|&spaces| spaces > 1),
            generalized: self.generalized.clone(),
            calibration: self.calibration.as_ref().map(CalibrationHeader::of),
            thresholds: self.thresholds.clone(),
            fingerprint: self.fingerprint.clone(),
            instance_names: self.kept.as_ref().and_then(KeptInstances::names).cloned(),
            networks: (!self.networks.is_empty()).then(|| self.networks.clone()),
        }
    }

    /// The file's bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes).map_err(|cause| ModelProblem::from(FileProblem::Write { cause }))?;
        Ok(bytes)
    }

    /// Writes the file, without copying its arrays.
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        let distances = &self.semantics.distances;
        let mut tensors = self.fitted.tensors();
        tensors.extend(self.kept.iter().flat_map(KeptInstances::tensors));
        tensors.push(Tensor::new("semantic_distances.known_unseen", &distances.known_unseen));
        tensors.push(Tensor::vector("semantic_distances.unseen_pairs", distances.unseen_unseen.entries()));
        for one in &self.semantics.representations {
            tensors.push(Tensor::new(&format!("semantic.{}", one.name), &one.raw));
        }
        tensors.extend(self.calibration.iter().flat_map(calibration::tensors));
        for (sha256, bytes) in &self.embedded {
            tensors.push(Tensor::file(&embedded_name(sha256), bytes));
        }
        tensors::write(&tensors, KEY, &serde_json::to_string(&self.header())?, out)
    }

    /// Reads a file's bytes; they may be a memory map.
    ///
    /// # Errors
    /// [`Error::Model`](crate::Error::Model) for anything that is not a model of this or an older format.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let header = read_header(bytes)?;
        let file = SafeTensors::deserialize(bytes);
        let file = file.map_err(|cause| ModelProblem::from(FileProblem::Tensors { cause }))?;
        if header.known.is_empty() {
            return Err(ModelProblem::Without { what: "known class" }.into());
        }
        // A file may claim dimensions whose sum is no number.
        let dims = header.visual.parts.iter().try_fold(0_usize, |sum, view| sum.checked_add(view.dim));
        if header.visual.parts.is_empty() || dims != Some(header.visual_dim) {
            return Err(ModelProblem::ViewDims { expected: header.visual_dim }.into());
        }
        let semantics = read_semantics(&file, &header)?;
        let recorded = Recorded {
            views: &header.visual,
            known: header.known.len(),
            unseen: header.unseen.len(),
            stress: header.stress,
            converged: header.converged,
            spaces: header.latent_spaces,
            fusion: header.fusion.as_ref(),
        };
        let fitted = AnyFitted::read(&header.method, &file, &recorded, &semantics)?;
        let calibration = header.calibration.as_ref().map(|own| own.read(&file)).transpose()?;
        let dim = fitted.latent().map_or(0, |fitted| fitted.space.dim());
        let kept = KeptInstances::read(&file, dim, header.known.len(), header.instance_names)?;
        let Header {
            dataset,
            split,
            visual,
            normalize,
            method,
            known,
            unseen,
            instances,
            generalized,
            fingerprint,
            thresholds,
            networks,
            ..
        } = header;
        let of_known = thresholds.as_ref().and_then(|thresholds| thresholds.known.as_ref());
        if of_known.is_some_and(|own| own.len() != known.len()) {
            return Err(ModelProblem::Without { what: "threshold for every known class" }.into());
        }
        let networks = networks.unwrap_or_default();
        let embedded = read_embedded(&file, &networks)?;
        Ok(Self {
            dataset,
            split,
            views: visual,
            normalize,
            method,
            fitted,
            known,
            unseen,
            semantics,
            instances,
            generalized,
            calibration,
            fingerprint,
            kept,
            thresholds,
            networks,
            embedded,
        })
    }
}

/// The tensor of a file that is part of the model.
fn embedded_name(sha256: &str) -> String {
    format!("file.{sha256}")
}

/// The files that the header names and the model has.
fn read_embedded(file: &SafeTensors<'_>, networks: &Networks) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut embedded = BTreeMap::new();
    for record in networks.records().flat_map(NetworkRecord::files) {
        let name = embedded_name(&record.sha256);
        if file.tensor(&name).is_ok() {
            let bytes = tensors::unpack_file(file, &name).map_err(ModelProblem::from)?;
            embedded.insert(record.sha256.clone(), bytes);
        }
    }
    Ok(embedded)
}

fn read_semantics(file: &SafeTensors<'_>, header: &Header) -> Result<ClassSemantics> {
    let (known, unseen) = (header.known.len(), header.unseen.len());
    let classes = known + unseen;
    let representation = |one: &SemanticHeader| {
        let rows = (one.metric == Metric::Precomputed).then_some(classes);
        let raw = unpack(file, &format!("semantic.{}", one.name), rows, Some(classes))?;
        let zero = (0..classes).any(|class| raw.col_as_slice(class).iter().all(|&value| value == 0.0));
        if zero && one.metric != Metric::Precomputed {
            return Err(ModelProblem::ZeroVector { representation: one.name.clone() }.into());
        }
        if one.names.as_ref().is_some_and(|names| names.len() != raw.nrows()) {
            return Err(ModelProblem::NameCount { representation: one.name.clone() }.into());
        }
        Ok(if header.format < METHODS_SINCE {
            let (name, weight, metric) = (one.name.clone(), one.weight, one.metric);
            Representation { name, weight, metric, values: raw.clone(), raw, dimension_names: None }
        } else {
            Representation::new(&one.name, one.weight, one.metric, raw).with_names(one.names.clone())
        })
    };
    let representations = header.semantic.iter().map(representation).collect::<Result<Vec<_>>>()?;
    let known_unseen = unpack(file, "semantic_distances.known_unseen", Some(known), Some(unseen))?;
    let distances = SemanticDistances { known_unseen, unseen_unseen: unpack_pairs(file, unseen)? };
    Ok(ClassSemantics::with_distances(representations, known, distances))
}

/// The distances among the unseen classes; files before version 3 have each of them twice.
fn unpack_pairs(file: &SafeTensors<'_>, unseen: usize) -> Result<Symmetric> {
    let whole = "semantic_distances.unseen_unseen";
    if file.tensor(whole).is_ok() {
        return Ok(Symmetric::from_matrix(unpack(file, whole, Some(unseen), Some(unseen))?.as_ref()));
    }
    let pairs = unseen * unseen.saturating_sub(1) / 2;
    let entries = tensors::unpack_vector(file, "semantic_distances.unseen_pairs", pairs);
    let entries = entries.map_err(ModelProblem::from)?;
    Ok(Symmetric::from_entries(unseen, entries).ok_or(ModelProblem::PairCount)?)
}

/// The one field that every version of the header has.
#[derive(Deserialize)]
struct Version {
    format: u32,
}

/// Finds the header, and tells a foreign file, a newer format and a damaged file apart.
fn read_header(bytes: &[u8]) -> Result<Header, ModelProblem> {
    let (_, metadata) =
        SafeTensors::read_metadata(bytes).map_err(|cause| FileProblem::NotSafetensors { cause })?;
    let json =
        metadata.metadata().as_ref().and_then(|entries| entries.get(KEY)).ok_or(FileProblem::Foreign)?;
    let unreadable = |cause| FileProblem::Header { cause };
    let mut header: serde_json::Value = serde_json::from_str(json).map_err(unreadable)?;
    // A list would pass for a structure, and has no fields to upgrade.
    if !header.is_object() {
        return Err(FileProblem::HeaderNotObject.into());
    }
    let version = Version::deserialize(&header).map_err(unreadable)?;
    if version.format > FORMAT_VERSION {
        return Err(FileProblem::Newer { found: version.format, newest: FORMAT_VERSION }.into());
    }
    upgrade(&mut header, version.format);
    Ok(serde_json::from_value(header).map_err(unreadable)?)
}

/// A header of an older version as one of this version.
fn upgrade(header: &mut serde_json::Value, version: u32) {
    if version == 1 {
        // It knew one view only.
        let (name, dim) = (header["visual"].take(), header["visual_dim"].clone());
        let view = json!({"name": name, "weight": 1.0, "kernel": "linear"});
        header["fusion"] = json!({"method": "primal", "reason": "one view", "views": [view]});
        header["visual"] = json!([{"name": name, "dim": dim, "weight": 1.0, "kernel": "linear"}]);
    }
    if version < METHODS_SINCE && header["method"].is_object() {
        header["method"]["name"] = json!("bidilel");
    }
}
