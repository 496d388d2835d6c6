//! A fitted model on disk: a safetensors file whose header says everything that is not a number array.
//!
//! Tensors are `f64`: `latent_from_visual` (visual x latent; absent where the space is the visual one),
//! `latent_mean`, `landmarks`, `embedding`, `semantic_distances.known_unseen`,
//! `semantic_distances.unseen_unseen` and one `semantic.<name>` a representation. The metadata entry
//! `bidilel` is a JSON object ([`Header`]). No code is in the file, and a reader can map it.

use std::collections::HashMap;
use std::ops::Range;

use faer::Mat;
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use serde::{Deserialize, Serialize};

use bidilel_math::symmetric::Symmetric;

use crate::dataset::{Metric, Rows};
use crate::error::{Error, Result};
use crate::landmarks::Landmarks;
use crate::latent_space::{LatentSpace, Map};
use crate::pipeline::{Fitted, Pipeline};
use crate::semantic::{ClassSemantics, Representation};
use crate::task::{Normalize, Task, gather};
use crate::top_down::Embedding;

/// The version of the format that this program writes; it reads this and older ones.
pub const FORMAT_VERSION: u32 = 1;
/// The metadata key under which the header stands.
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
    /// Its visual representation.
    pub visual: String,
    /// Normalisation of visual rows.
    pub normalize: Normalize,
    /// Every setting of the method.
    pub method: Pipeline,
    /// Names of the known classes, in landmark order.
    pub known: Vec<String>,
    /// Names of the unseen classes, in embedding order.
    pub unseen: Vec<String>,
    /// The semantic representations.
    pub semantic: Vec<SemanticHeader>,
    /// Training instances.
    pub instances: usize,
    /// Visual dimensions.
    pub visual_dim: usize,
    /// Cost of the mapping at the embedding.
    pub stress: f64,
    /// Fingerprint of the data that was learned from.
    pub fingerprint: String,
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
}

/// A fitted model: all that prediction needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// What it is.
    pub header: Header,
    /// The space and the classes in it.
    pub fitted: Fitted,
    /// Descriptions of the classes.
    pub semantics: ClassSemantics,
}

impl Model {
    /// Joins a fit with what it was fitted to.
    pub fn new(
        dataset: &str,
        visual: &str,
        normalize: Normalize,
        task: &Task,
        method: &Pipeline,
        fitted: Fitted,
    ) -> Self {
        let semantic = task.semantics.representations.iter().map(|one| SemanticHeader {
            name: one.name.clone(),
            weight: one.weight,
            metric: one.metric,
        });
        let header = Header {
            format: FORMAT_VERSION,
            dataset: dataset.to_owned(),
            split: task.split.clone(),
            visual: visual.to_owned(),
            normalize,
            method: method.resolved(task, &fitted),
            known: task.known.clone(),
            unseen: task.unseen.clone(),
            semantic: semantic.collect(),
            instances: task.train.labels.len(),
            visual_dim: fitted.space.visual_dim(),
            stress: fitted.stress,
            fingerprint: task.fingerprint(),
        };
        Self { header, fitted, semantics: task.semantics.clone() }
    }

    /// Some rows of `rows` in the latent space, checked and normalised as the training rows were.
    pub fn project_rows(&self, rows: &dyn Rows, range: Range<usize>, origin: &str) -> Result<Mat<f64>> {
        let mut features = gather(rows, origin, &range.collect::<Vec<_>>())?;
        self.header.normalize.apply(&mut features);
        self.fitted.space.project(features.as_ref())
    }

    /// The file's bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut tensors: Vec<(String, Vec<usize>, Vec<u8>)> = Vec::new();
        let mut add = |name: &str, matrix: &Mat<f64>| tensors.push(pack(name, matrix));
        if let Map::Linear(latent_from_visual) = &self.fitted.space.map {
            add("latent_from_visual", latent_from_visual);
        }
        let mean = &self.fitted.space.mean;
        add("latent_mean", &Mat::from_fn(mean.len(), 1, |i, _| mean[i]));
        add("landmarks", &self.fitted.landmarks.points);
        add("embedding", &self.fitted.embedding.points);
        add("semantic_distances.known_unseen", &self.semantics.distances.known_unseen);
        add("semantic_distances.unseen_unseen", &self.semantics.distances.unseen_unseen.to_matrix());
        for one in &self.semantics.representations {
            add(&format!("semantic.{}", one.name), &one.values);
        }
        let views = tensors
            .iter()
            .map(|(name, shape, bytes)| {
                Ok((name.as_str(), TensorView::new(Dtype::F64, shape.clone(), bytes)?))
            })
            .collect::<Result<Vec<_>, safetensors::SafeTensorError>>()
            .map_err(unusable)?;
        let header = serde_json::to_string(&self.header).map_err(unusable)?;
        serialize(views, Some(HashMap::from([(KEY.to_owned(), header)]))).map_err(unusable)
    }

    /// Reads a file's bytes; they may be a memory map.
    ///
    /// # Errors
    /// [`Error::Model`] for anything that is not a model of this or an older format.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let header = read_header(bytes)?;
        let file = SafeTensors::deserialize(bytes).map_err(unusable)?;
        let (known, unseen) = (header.known.len(), header.unseen.len());
        let mean = unpack(&file, "latent_mean", None, Some(1))?;
        for (what, count) in
            [("known class", known), ("unseen class", unseen), ("latent dimension", mean.nrows())]
        {
            if count == 0 {
                return Err(Error::Model { problem: format!("it has no {what}") });
            }
        }
        let dim = Some(mean.nrows());
        let map = match file.tensor("latent_from_visual") {
            Ok(_) => Map::Linear(unpack(&file, "latent_from_visual", Some(header.visual_dim), dim)?),
            Err(_) if mean.nrows() == header.visual_dim => Map::Identity(header.visual_dim),
            Err(missing) => return Err(unusable(missing)),
        };
        let classes = known + unseen;
        let representations = header
            .semantic
            .iter()
            .map(|one| {
                let rows = (one.metric == Metric::Precomputed).then_some(classes);
                let values = unpack(&file, &format!("semantic.{}", one.name), rows, Some(classes))?;
                Ok(Representation { name: one.name.clone(), weight: one.weight, metric: one.metric, values })
            })
            .collect::<Result<Vec<_>>>()?;
        let mut semantics = ClassSemantics::from_representations(representations, known);
        semantics.distances.known_unseen =
            unpack(&file, "semantic_distances.known_unseen", Some(known), Some(unseen))?;
        let among = unpack(&file, "semantic_distances.unseen_unseen", Some(unseen), Some(unseen))?;
        semantics.distances.unseen_unseen = Symmetric::of(among.as_ref());
        let fitted = Fitted {
            space: LatentSpace { map, mean: mean.col_as_slice(0).to_vec() },
            landmarks: Landmarks { points: unpack(&file, "landmarks", dim, Some(known))? },
            embedding: Embedding { points: unpack(&file, "embedding", dim, Some(unseen))? },
            stress: header.stress,
        };
        Ok(Self { header, fitted, semantics })
    }
}

/// The one field that every version of the header has.
#[derive(Deserialize)]
struct Version {
    format: u32,
}

/// Finds the header, and tells a foreign file, a newer format and a damaged file apart.
fn read_header(bytes: &[u8]) -> Result<Header> {
    let foreign = |problem: &str| Error::Model { problem: problem.to_owned() };
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|cause| Error::Model {
        problem: format!("it is not a safetensors file, or it is damaged or cut short ({cause})"),
    })?;
    let json = metadata
        .metadata()
        .as_ref()
        .and_then(|entries| entries.get(KEY))
        .ok_or_else(|| foreign("it is a safetensors file, but bidilel did not write it"))?;
    let version: Version = serde_json::from_str(json).map_err(unusable)?;
    if version.format > FORMAT_VERSION {
        return Err(Error::Model {
            problem: format!(
                "it has format version {}, and this program reads versions up to {FORMAT_VERSION}: use a newer bidilel",
                version.format
            ),
        });
    }
    serde_json::from_str(json).map_err(unusable)
}

/// A column-major matrix as a row-major tensor of the transposed shape: the same bytes.
pub(crate) fn pack(name: &str, matrix: &Mat<f64>) -> (String, Vec<usize>, Vec<u8>) {
    let mut bytes = Vec::with_capacity(8 * matrix.nrows() * matrix.ncols());
    for column in 0..matrix.ncols() {
        matrix.col_as_slice(column).iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
    }
    (name.to_owned(), vec![matrix.ncols(), matrix.nrows()], bytes)
}

pub(crate) fn unpack(
    file: &SafeTensors<'_>,
    name: &str,
    rows: Option<usize>,
    columns: Option<usize>,
) -> Result<Mat<f64>> {
    let tensor = file.tensor(name).map_err(unusable)?;
    let problem = |problem: String| Error::Model { problem: format!("tensor `{name}` {problem}") };
    let &[found_columns, found_rows] = tensor.shape() else {
        return Err(problem(format!("has {} dimensions instead of 2", tensor.shape().len())));
    };
    if tensor.dtype() != Dtype::F64 {
        return Err(problem(format!("holds {:?} instead of F64", tensor.dtype())));
    }
    if rows.is_some_and(|rows| rows != found_rows) || columns.is_some_and(|columns| columns != found_columns)
    {
        let side = |expected: Option<usize>| expected.map_or("any".to_owned(), |count| count.to_string());
        return Err(problem(format!(
            "has the shape {found_columns} x {found_rows}, expected {} x {}",
            side(columns),
            side(rows)
        )));
    }
    let mut bytes =
        tensor.data().chunks_exact(8).map(|bytes| bytes.try_into().expect("chunks of eight bytes"));
    let mut matrix = Mat::zeros(found_rows, found_columns);
    for column in 0..found_columns {
        // The tensor's length was checked against its shape when the file was opened.
        for (value, bytes) in matrix.col_as_slice_mut(column).iter_mut().zip(&mut bytes) {
            *value = f64::from_le_bytes(bytes);
            if !value.is_finite() {
                return Err(problem("has a number that is not finite".to_owned()));
            }
        }
    }
    Ok(matrix)
}

fn unusable(cause: impl std::fmt::Display) -> Error {
    Error::Model { problem: cause.to_string() }
}
