//! The paper's method in a model file: the map into the latent space, landmarks and embeddings.
//!
//! `latent_mean`, `landmarks`, `embedding`; and, of the map, `latent_from_visual` (visual x latent, the views' features
//! below each other), or `latent_from_kernel` (support x latent) with one `support.<view>` per view (`f32`, support x
//! visual), or `visual_scale`, or nothing where the space is the visual one.

use safetensors::tensor::SafeTensors;

use super::file::{Header, unpack, unusable};
use crate::error::{Error, Result};
use crate::landmarks::Landmarks;
use crate::latent_space::{LatentSpace, Map};
use crate::method::Stored;
use crate::pipeline::Fitted;
use crate::semantic::ClassSemantics;
use crate::tensors::{self, Tensor};
use crate::top_down::Embedding;
use crate::visual::{KernelMap, KernelView, View};

impl Stored for Fitted {
    fn tensors(&self) -> Vec<Tensor<'_>> {
        let Self { space, landmarks, embedding, .. } = self;
        let mut tensors = vec![
            Tensor::line("latent_mean", &space.mean),
            Tensor::new("landmarks", &landmarks.points),
            Tensor::new("embedding", &embedding.points),
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
        tensors
    }

    fn read(file: &SafeTensors<'_>, header: &Header, _: &ClassSemantics) -> Result<Self> {
        let mean = unpack(file, "latent_mean", None, Some(1))?;
        if mean.nrows() == 0 {
            return Err(Error::Model { problem: "it has no latent dimension".to_owned() });
        }
        let missing = |what: &str| Error::Model { problem: format!("its header has no `{what}`") };
        let dim = Some(mean.nrows());
        Ok(Self {
            space: LatentSpace {
                map: unpack_map(file, header, mean.nrows())?,
                mean: mean.col_as_slice(0).to_vec(),
            },
            landmarks: Landmarks { points: unpack(file, "landmarks", dim, Some(header.known.len()))? },
            embedding: Embedding {
                points: unpack(file, "embedding", dim, Some(header.unseen.len()))?,
                // Files from before this was written had settled or said so.
                converged: header.converged.unwrap_or(true),
            },
            stress: header.stress.ok_or_else(|| missing("stress"))?,
            fusion: header.fusion.clone().ok_or_else(|| missing("fusion"))?,
        })
    }
}

/// The map into the latent space, in whichever form it was written.
fn unpack_map(file: &SafeTensors<'_>, header: &Header, dim: usize) -> Result<Map> {
    let (views, visual_dim) = (&header.visual, header.visual_dim);
    let has = |name: &str| file.tensor(name).is_ok();
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
