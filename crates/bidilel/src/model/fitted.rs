//! The paper's method in a model file: the map into the latent space, landmarks and embeddings.
//!
//! `latent_mean`, `landmarks`, `embedding` and, where that is the mean of a mapping and a regression, `embedding_mapped`
//! of the mapping alone; and, of the map, `latent_from_visual` (visual x latent, the views' features
//! below each other), or `latent_from_kernel` (support x latent) with one `support.<view>` per view (`f32`, support x
//! visual), or `visual_scale`, or nothing where the space is the visual one. Several latent spaces, of which the header
//! says how many, have their coordinates below each other.

use safetensors::tensor::SafeTensors;

use crate::error::{ModelProblem, Result};
use crate::landmarks::Landmarks;
use crate::latent_space::{LatentSpace, Map};
use crate::pipeline::Fitted;
use crate::semantic::ClassSemantics;
use crate::stored::{Recorded, Stored, unpack};
use crate::tensors::{self, Tensor};
use crate::top_down::Embedding;
use crate::visual::{KernelMap, KernelView, View};

impl Stored for Fitted {
    fn tensors(&self) -> Vec<Tensor<'_>> {
        let Self { space, landmarks, embedding, .. } = self;
        let mut tensors = vec![
            Tensor::vector("latent_mean", &space.mean),
            Tensor::new("landmarks", &landmarks.points),
            Tensor::new("embedding", &embedding.points),
        ];
        tensors.extend(embedding.mapped.iter().map(|mapped| Tensor::new("embedding_mapped", mapped)));
        match &space.map {
            Map::Linear(latent_from_visual) | Map::Several { map: latent_from_visual, .. } => {
                tensors.push(Tensor::new("latent_from_visual", latent_from_visual));
            }
            Map::Identity(_) => {}
            Map::Scaled(scales) => tensors.push(Tensor::vector("visual_scale", scales)),
            Map::Kernel(kernel) => {
                tensors.push(Tensor::new("latent_from_kernel", &kernel.coefficients));
                for view in &kernel.views {
                    tensors.push(Tensor::narrow(&format!("support.{}", view.name), &view.support));
                }
            }
        }
        tensors
    }

    fn read(file: &SafeTensors<'_>, recorded: &Recorded<'_>, _: &ClassSemantics) -> Result<Self> {
        let mean = unpack(file, "latent_mean", None, Some(1))?;
        if mean.nrows() == 0 {
            return Err(ModelProblem::Without { what: "latent dimension" }.into());
        }
        // A claim about nothing must not divide by zero.
        if recorded.spaces.is_some_and(|spaces| spaces == 0 || !mean.nrows().is_multiple_of(spaces)) {
            return Err(ModelProblem::Without { what: "sound number of latent spaces" }.into());
        }
        let missing = |key| ModelProblem::MissingKey { key };
        let dim = Some(mean.nrows());
        // Not in files before version 5, nor where there is but one embedder.
        let mapped = match file.tensor("embedding_mapped") {
            Ok(_) => Some(unpack(file, "embedding_mapped", dim, Some(recorded.unseen))?),
            Err(_) => None,
        };
        Ok(Self {
            space: LatentSpace {
                map: unpack_map(file, recorded, mean.nrows())?,
                mean: mean.col_as_slice(0).to_vec(),
            },
            landmarks: Landmarks { points: unpack(file, "landmarks", dim, Some(recorded.known))? },
            embedding: Embedding {
                points: unpack(file, "embedding", dim, Some(recorded.unseen))?,
                // Older files do not have it: their fits converged, or the user was told.
                converged: recorded.converged.unwrap_or(true),
                mapped,
            },
            stress: recorded.stress.ok_or_else(|| missing("stress"))?,
            fusion: recorded.fusion.cloned().ok_or_else(|| missing("fusion"))?,
        })
    }
}

/// The map into the latent space, in whichever form it was written.
fn unpack_map(file: &SafeTensors<'_>, recorded: &Recorded<'_>, dim: usize) -> Result<Map> {
    let views = recorded.views;
    let (visual_dim, spaces) = (views.dim(), recorded.spaces.unwrap_or(1));
    let has = |name: &str| file.tensor(name).is_ok();
    if has("latent_from_kernel") {
        let coefficients = unpack(file, "latent_from_kernel", None, Some(dim))?;
        let view = |(first, view): (usize, &View)| {
            let kernel = view.kernel.resolved();
            let kernel = kernel.ok_or_else(|| ModelProblem::NoGamma { view: view.name.clone() })?;
            let name = format!("support.{}", view.name);
            let support = tensors::unpack_narrow(file, &name, view.dim, coefficients.nrows());
            let support = support.map_err(ModelProblem::from)?;
            Ok(KernelView { name: view.name.clone(), first, weight: view.weight, kernel, support })
        };
        let views = views.used().map(view).collect::<Result<Vec<_>>>()?;
        return Ok(Map::Kernel(KernelMap { views, coefficients, visual_dim, spaces }));
    }
    if dim == visual_dim && has("visual_scale") {
        let scales = unpack(file, "visual_scale", Some(visual_dim), Some(1))?;
        return Ok(Map::Scaled(scales.col_as_slice(0).to_vec()));
    }
    if dim == visual_dim && spaces == 1 && !has("latent_from_visual") {
        return Ok(Map::Identity(visual_dim));
    }
    let map = unpack(file, "latent_from_visual", Some(visual_dim), Some(dim))?;
    Ok(if spaces > 1 { Map::Several { map, spaces } } else { Map::Linear(map) })
}
