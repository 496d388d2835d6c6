//! A fitted model on disk: a safetensors file whose header says everything that is not a number array.
//!
//! Tensors are `f64`: `latent_mean`, `landmarks`, `embedding`, `semantic_distances.known_unseen`,
//! `semantic_distances.unseen_pairs` (of the classes j = 1, 2, ... those to the classes before j) and one `semantic.<name>` a representation; then, of the map into the latent
//! space, `latent_from_visual` (visual x latent, the views' features below each other), or `latent_from_kernel`
//! (support x latent) with one `support.<view>` a view (`f32`, support x visual), or `visual_scale`, or nothing where
//! the space is the visual one. The metadata entry `bidilel` is a JSON object ([`Header`]). No code is in the file,
//! and a reader can map it.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use faer::Mat;
use rayon::prelude::*;
use safetensors::tensor::SafeTensors;
use serde::{Deserialize, Serialize};
use serde_json::json;

use bidilel_math::distance;
use bidilel_math::symmetric::Symmetric;

use crate::dataset::{Metric, Rows};
use crate::error::{Error, Result};
use crate::landmarks::Landmarks;
use crate::latent_space::{LatentSpace, Map, Placer};
use crate::pipeline::{Fitted, Pipeline};
use crate::recognize::Recognition;
use crate::semantic::{ClassSemantics, Representation, SemanticDistances};
use crate::task::{Normalize, Task, gather_views, read_views};
use crate::tensors::{self, Tensor};
use crate::top_down::Embedding;
use crate::visual::{KernelMap, KernelView, Report, View, Views};

/// The version of the format that this program writes; it reads this and older ones.
pub const FORMAT_VERSION: u32 = 3;
/// The metadata key under which the header stands.
const KEY: &str = "bidilel";
/// Rows that one thread recognises at a time, fewer where they have distances to many classes.
const BLOCK_ROWS: Range<usize> = 192..960;
const BLOCK_DISTANCES: usize = 4 << 20;

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
    /// How they were joined.
    pub fusion: Report,
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
    /// Visual dimensions, of all representations together.
    pub visual_dim: usize,
    /// Cost of the mapping at the embedding.
    pub stress: f64,
    /// Whether the mapping settled before its iteration limit; files from before this was written had settled or said so.
    #[serde(default = "settled")]
    pub converged: bool,
    /// Fingerprint of the data that was learned from.
    pub fingerprint: String,
}

fn settled() -> bool {
    true
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
    pub fn new(dataset: &str, normalize: Normalize, task: &Task, method: &Pipeline, fitted: Fitted) -> Self {
        let semantic = task.semantics.representations.iter().map(|one| SemanticHeader {
            name: one.name.clone(),
            weight: one.weight,
            metric: one.metric,
        });
        let mut visual = task.views.clone();
        for (view, found) in visual.parts.iter_mut().zip(&fitted.fusion.views) {
            view.kernel = found.kernel;
        }
        let header = Header {
            format: FORMAT_VERSION,
            dataset: dataset.to_owned(),
            split: task.split.clone(),
            visual,
            fusion: fitted.fusion.clone(),
            normalize,
            method: method.resolved(task, &fitted),
            known: task.known.clone(),
            unseen: task.unseen.clone(),
            semantic: semantic.collect(),
            instances: task.train.labels.len(),
            visual_dim: fitted.space.visual_dim(),
            stress: fitted.stress,
            converged: fitted.embedding.converged,
            fingerprint: task.fingerprint(),
        };
        Self { header, fitted, semantics: task.semantics.clone() }
    }

    /// Some rows of `rows` in the latent space, checked and normalised as the training rows were: of a model with one
    /// view.
    pub fn project_rows(&self, rows: &dyn Rows, range: Range<usize>, origin: &str) -> Result<Mat<f64>> {
        self.project_views(&[(rows, origin)], range)
    }

    /// Some rows of every view in the latent space, checked and normalised as the training rows were; the views, each
    /// with its name for messages, are in the model's order.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for another number of views, and for views of other sizes.
    pub fn project_views(&self, rows: &[(&dyn Rows, &str)], range: Range<usize>) -> Result<Mat<f64>> {
        self.project_by(&self.fitted.space.placer(), rows, range)
    }

    fn project_by(
        &self,
        placer: &Placer<'_>,
        rows: &[(&dyn Rows, &str)],
        range: Range<usize>,
    ) -> Result<Mat<f64>> {
        let parts = &self.header.visual.parts;
        let wrong = |origin: &str, what, expected, found| {
            Err(Error::Mismatch { origin: origin.to_owned(), what, expected, found })
        };
        if rows.len() != parts.len() {
            return wrong("the features", "arrays, one a view", parts.len(), rows.len());
        }
        for ((one, origin), view) in rows.iter().zip(parts) {
            if one.dim() != view.dim {
                return wrong(origin, "dimensions, as in the training features", view.dim, one.dim());
            }
            if one.count() != rows[0].0.count() {
                return wrong(origin, "rows, as in the first view", rows[0].0.count(), one.count());
            }
        }
        let space = &self.fitted.space;
        if matches!(space.map, Map::Kernel(_)) {
            let instances: Vec<usize> = range.collect();
            let (features, _) = gather_views(rows.iter().copied(), &instances, self.header.normalize)?;
            return space.project(features.as_ref());
        }
        let mut points = placer.place_blocks(range.len(), |first, into| {
            read_views(rows, range.start + first, self.header.normalize, into)
        })?;
        distance::normalize_columns(points.as_mut());
        Ok(points)
    }

    /// Recognises some rows of every view, in blocks side by side; what `report` makes of each, with its first row, comes
    /// back in the order of the rows. Without corrections, which need all rows at once.
    ///
    /// # Errors
    /// Those of [`Self::project_views`], of the first block that has one.
    pub fn recognize_views<R: Send>(
        &self,
        rows: &[(&dyn Rows, &str)],
        range: Range<usize>,
        report: impl Fn(usize, Recognition) -> R + Sync,
    ) -> Result<Vec<R>> {
        let embedding = &self.fitted.embedding.points;
        let block = (BLOCK_DISTANCES / embedding.ncols().max(1)).clamp(BLOCK_ROWS.start, BLOCK_ROWS.end);
        let placer = self.fitted.space.placer();
        let firsts: Vec<usize> = range.clone().step_by(block).collect();
        let recognize = |&first: &usize| {
            let points = self.project_by(&placer, rows, first..range.end.min(first + block))?;
            Ok(report(first, Recognition::nearest(Arc::new(points), embedding.clone())))
        };
        let outcomes: Vec<Result<R>> = firsts.par_iter().map(recognize).collect();
        outcomes.into_iter().collect()
    }

    /// The file's bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes).map_err(unusable)?;
        Ok(bytes)
    }

    /// Writes the file, without a copy of what is large in it.
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        let Fitted { space, landmarks, embedding, .. } = &self.fitted;
        let distances = &self.semantics.distances;
        let mut tensors = vec![
            Tensor::line("latent_mean", &space.mean),
            Tensor::new("landmarks", &landmarks.points),
            Tensor::new("embedding", &embedding.points),
            Tensor::new("semantic_distances.known_unseen", &distances.known_unseen),
            Tensor::line("semantic_distances.unseen_pairs", distances.unseen_unseen.entries()),
        ];
        match &space.map {
            Map::Linear(latent_from_visual) => {
                tensors.push(Tensor::new("latent_from_visual", latent_from_visual));
            }
            Map::Identity(_) => {}
            Map::Scaled(scales) => tensors.push(Tensor::line("visual_scale", scales)),
            Map::Kernel(kernel) => {
                tensors.push(Tensor::new("latent_from_kernel", &kernel.coefficients));
                for view in &kernel.views {
                    tensors.push(Tensor::narrow(&format!("support.{}", view.name), &view.support));
                }
            }
        }
        for one in &self.semantics.representations {
            tensors.push(Tensor::new(&format!("semantic.{}", one.name), &one.values));
        }
        let header = serde_json::to_string(&self.header)?;
        tensors::write(&tensors, KEY, &header, out)
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
        let map = unpack_map(&file, &header, mean.nrows())?;
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
        let known_unseen = unpack(&file, "semantic_distances.known_unseen", Some(known), Some(unseen))?;
        let distances = SemanticDistances { known_unseen, unseen_unseen: unpack_pairs(&file, unseen)? };
        let semantics = ClassSemantics::with_distances(representations, known, distances);
        let fitted = Fitted {
            space: LatentSpace { map, mean: mean.col_as_slice(0).to_vec() },
            landmarks: Landmarks { points: unpack(&file, "landmarks", dim, Some(known))? },
            embedding: Embedding {
                points: unpack(&file, "embedding", dim, Some(unseen))?,
                converged: header.converged,
            },
            stress: header.stress,
            fusion: header.fusion.clone(),
        };
        Ok(Self { header, fitted, semantics })
    }
}

/// The distances among the unseen classes; files before version 3 have each of them twice.
fn unpack_pairs(file: &SafeTensors<'_>, unseen: usize) -> Result<Symmetric> {
    let whole = "semantic_distances.unseen_unseen";
    if file.tensor(whole).is_ok() {
        return Ok(Symmetric::from_matrix(unpack(file, whole, Some(unseen), Some(unseen))?.as_ref()));
    }
    let pairs = unseen * (unseen - 1) / 2;
    let entries = tensors::unpack_line(file, "semantic_distances.unseen_pairs", pairs).map_err(unusable)?;
    Symmetric::from_entries(unseen, entries).ok_or_else(|| unusable("wrong number of pairs of classes"))
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
    let mut header: serde_json::Value = serde_json::from_str(json).map_err(unusable)?;
    // A list would pass for a structure, and has no fields to upgrade.
    if !header.is_object() {
        return Err(foreign("its header is not a JSON object"));
    }
    let version = Version::deserialize(&header).map_err(unusable)?;
    if version.format > FORMAT_VERSION {
        return Err(Error::Model {
            problem: format!(
                "it has format version {}, and this program reads versions up to {FORMAT_VERSION}: use a newer bidilel",
                version.format
            ),
        });
    }
    if version.format == 1 {
        upgrade(&mut header);
    }
    serde_json::from_value(header).map_err(unusable)
}

/// A header of version 1, which knew one view only, as one of version 2.
fn upgrade(header: &mut serde_json::Value) {
    let (name, dim) = (header["visual"].take(), header["visual_dim"].clone());
    let view = json!({"name": name, "weight": 1.0, "kernel": "linear"});
    header["fusion"] = json!({"method": "primal", "reason": "one view", "views": [view]});
    header["visual"] = json!([{"name": name, "dim": dim, "weight": 1.0, "kernel": "linear"}]);
}

/// The map into the latent space, in whichever form it was written.
fn unpack_map(file: &SafeTensors<'_>, header: &Header, dim: usize) -> Result<Map> {
    let (views, visual_dim) = (&header.visual, header.visual_dim);
    let has = |name: &str| file.tensor(name).is_ok();
    // A file may claim dimensions whose sum is no number.
    let dims = views.parts.iter().try_fold(0_usize, |sum, view| sum.checked_add(view.dim));
    if views.parts.is_empty() || dims != Some(visual_dim) {
        return Err(Error::Model {
            problem: format!("its views do not have {visual_dim} dimensions together"),
        });
    }
    if has("latent_from_kernel") {
        let coefficients = unpack(file, "latent_from_kernel", None, Some(dim))?;
        let view = |(first, view): (usize, &View)| {
            let kernel = view.kernel.resolved().ok_or_else(|| Error::Model {
                problem: format!("the kernel of view `{}` has no gamma", view.name),
            })?;
            let name = format!("support.{}", view.name);
            let support =
                tensors::unpack_narrow(file, &name, view.dim, coefficients.nrows()).map_err(unusable)?;
            Ok(KernelView { name: view.name.clone(), first, weight: view.weight, kernel, support })
        };
        let views = views.used().map(view).collect::<Result<Vec<_>>>()?;
        return Ok(Map::Kernel(KernelMap { views, coefficients, visual_dim }));
    }
    if dim == visual_dim && has("visual_scale") {
        let scales = unpack(file, "visual_scale", Some(visual_dim), Some(1))?;
        return Ok(Map::Scaled(scales.col_as_slice(0).to_vec()));
    }
    if dim == visual_dim && !has("latent_from_visual") {
        return Ok(Map::Identity(visual_dim));
    }
    Ok(Map::Linear(unpack(file, "latent_from_visual", Some(visual_dim), Some(dim))?))
}

fn unpack(
    file: &SafeTensors<'_>,
    name: &str,
    rows: Option<usize>,
    columns: Option<usize>,
) -> Result<Mat<f64>> {
    tensors::unpack(file, name, rows, columns).map_err(unusable)
}

fn unusable(cause: impl std::fmt::Display) -> Error {
    Error::Model { problem: cause.to_string() }
}
