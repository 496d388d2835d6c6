//! An encoder on disk: a safetensors file whose header says everything that is not a number array.
//!
//! Tensors are `f64`: `projection.mean` and `projection.directions` (absent where descriptors are used as they are),
//! `mixture.weights`, `mixture.means` and `mixture.variances` or `words`, `reduction.mean` and
//! `reduction.directions` (absent where feature rows are). The metadata entry `bidilel-encoder` is a JSON object
//! ([`Header`]).

use bidilel_math::mixture::Mixture;
use bidilel_math::pca::Projection;
use faer::Mat;
use safetensors::tensor::SafeTensors;
use serde::{Deserialize, Serialize};

use super::settings::{Method, Settings};
use super::{Codebook, Encoder};
use crate::error::{EncoderProblem, Error, FileProblem, Result};
use crate::tensors::{self, Tensor};

/// The version of the format that this program writes; it reads this and older ones.
pub const FORMAT_VERSION: u32 = 1;
/// The metadata key of the header.
const KEY: &str = "bidilel-encoder";

/// What an encoder file says about itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the format.
    pub format: u32,
    /// Every setting in force.
    pub settings: Settings,
    /// Dimensions of descriptors.
    pub descriptor_dim: usize,
    /// Descriptors of all items that it was learned from.
    pub descriptors: usize,
    /// How many of them were learned from.
    pub sampled: usize,
    /// How many items they are of.
    pub items: usize,
    /// Share of the descriptors' variance that PCA kept.
    pub variance_kept: Option<f64>,
    /// Mean log-likelihood of the sample.
    pub log_likelihood: Option<f64>,
    /// Steps of expectation maximization or of k-means.
    pub iterations: usize,
    /// Whether they converged before the limit.
    pub converged: bool,
    /// How feature rows are reduced.
    pub reduction: Option<RowReduction>,
}

/// What is known of the PCA of feature rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RowReduction {
    /// Share of the rows' variance that it keeps.
    pub variance_kept: f64,
    /// Largest residual of a direction, as a share of the largest variance; none where the PCA is exact.
    pub residual: Option<f64>,
}

impl Encoder {
    /// The file's bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut tensors = Vec::new();
        for (name, projection) in [("projection", &self.projection), ("reduction", &self.reduction)] {
            if let Some(projection) = projection {
                tensors.push(Tensor::vector(&format!("{name}.mean"), &projection.mean));
                tensors.push(Tensor::new(&format!("{name}.directions"), &projection.directions));
            }
        }
        match &self.codebook {
            Codebook::Mixture(mixture) => tensors.extend([
                Tensor::vector("mixture.weights", &mixture.weights),
                Tensor::new("mixture.means", &mixture.means),
                Tensor::new("mixture.variances", &mixture.variances),
            ]),
            Codebook::Words(words) => tensors.push(Tensor::new("words", words)),
        }
        let header =
            serde_json::to_string(&self.header).map_err(|cause| unusable(FileProblem::Header { cause }))?;
        let mut bytes = Vec::new();
        let written = tensors::write(&tensors, KEY, &header, &mut bytes);
        written.map_err(|cause| unusable(FileProblem::Write { cause }))?;
        Ok(bytes)
    }

    /// Reads a file's bytes; they may be a memory map.
    ///
    /// # Errors
    /// [`Error::Encoder`] for anything that is not an encoder of this or an older format.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let header = read_header(bytes)?;
        let tensors = SafeTensors::deserialize(bytes);
        let file = File { tensors: tensors.map_err(|cause| unusable(FileProblem::Tensors { cause }))? };
        let projection = file.projection("projection", header.descriptor_dim)?;
        let dim =
            projection.as_ref().map_or(header.descriptor_dim, |projection| projection.directions.ncols());
        let components = header.settings.components;
        let codebook = match header.settings.method {
            Method::Bag => Codebook::Words(file.matrix("words", Some(dim), Some(components))?),
            Method::Fisher => {
                let weights = file.matrix("mixture.weights", Some(components), Some(1))?;
                let mixture = Mixture {
                    weights: weights.col_as_slice(0).to_vec(),
                    means: file.matrix("mixture.means", Some(dim), Some(components))?,
                    variances: file.matrix("mixture.variances", Some(dim), Some(components))?,
                };
                let variances = mixture.variances.col_iter().flat_map(|column| column.iter().copied());
                if mixture.weights.iter().copied().chain(variances).any(|value| value <= 0.0) {
                    return Err(EncoderProblem::NotPositive.into());
                }
                Codebook::Mixture(mixture)
            }
        };
        let mut encoder = Self { header, projection, codebook, reduction: None };
        encoder.reduction = file.projection("reduction", encoder.raw_dim())?;
        if encoder.reduction.is_some() != encoder.header.reduction.is_some() {
            return Err(EncoderProblem::Reduction.into());
        }
        Ok(encoder)
    }
}

struct File<'a> {
    tensors: SafeTensors<'a>,
}

impl File<'_> {
    fn matrix(&self, name: &str, rows: Option<usize>, columns: Option<usize>) -> Result<Mat<f64>> {
        let found = tensors::unpack(&self.tensors, name, rows, columns).map_err(unusable)?;
        if found.nrows() == 0 || found.ncols() == 0 {
            return Err(unusable(FileProblem::Empty { name: name.to_owned() }));
        }
        Ok(found)
    }

    /// A projection from this many dimensions, if the file has it.
    fn projection(&self, name: &str, dim: usize) -> Result<Option<Projection>> {
        let (mean, directions) = (format!("{name}.mean"), format!("{name}.directions"));
        if self.tensors.tensor(&mean).is_err() && self.tensors.tensor(&directions).is_err() {
            return Ok(None);
        }
        let mean = self.matrix(&mean, Some(dim), Some(1))?.col_as_slice(0).to_vec();
        Ok(Some(Projection { mean, directions: self.matrix(&directions, Some(dim), None)? }))
    }
}

/// The one field that every version of the header has.
#[derive(Deserialize)]
struct Version {
    format: u32,
}

/// Finds the header, and tells a foreign file, a model, a newer format and a damaged file apart.
fn read_header(bytes: &[u8]) -> Result<Header, EncoderProblem> {
    let (_, metadata) =
        SafeTensors::read_metadata(bytes).map_err(|cause| FileProblem::NotSafetensors { cause })?;
    let entries = metadata.metadata().as_ref();
    let json = entries.and_then(|entries| entries.get(KEY)).ok_or_else(|| {
        let model = entries.is_some_and(|entries| entries.contains_key("bidilel"));
        if model { EncoderProblem::IsModel } else { FileProblem::Foreign.into() }
    })?;
    let unreadable = |cause| FileProblem::Header { cause };
    let version: Version = serde_json::from_str(json).map_err(unreadable)?;
    if version.format > FORMAT_VERSION {
        return Err(FileProblem::Newer { found: version.format, newest: FORMAT_VERSION }.into());
    }
    let header: Header = serde_json::from_str(json).map_err(unreadable)?;
    header.settings.check().map_err(|cause| EncoderProblem::Setting { cause: Box::new(cause) })?;
    Ok(header)
}

fn unusable(problem: FileProblem) -> Error {
    EncoderProblem::from(problem).into()
}
