//! Cosine similarity of pictures and descriptions that were embedded into one space.
//!
//! Networks such as CLIP and SigLIP embed pictures and texts so that a picture is near to what describes it. The
//! zero-shot classifier that goes with them learns nothing: the score of class $c$ for an instance $x$ is
//! `$\cos(x, s_c)$`.
//!
//! Several texts per class (a prompt ensemble) are averaged as unit vectors, and the mean gets unit norm: each semantic
//! representation is one prompt, with its weight. Minus the distance of unit vectors has the order of the cosine and is
//! what is returned as the score, so that distances are those of a latent space and refiners can follow.
//!
//! Visual and semantic vectors of other spaces that happen to have as many dimensions cannot be told apart from those of
//! one space: they give an accuracy of about chance.
//!
//! # References
//! A. Radford et al., *Learning transferable visual models from natural language supervision*, 2021.

use faer::Mat;
use safetensors::tensor::SafeTensors;
use serde::{Deserialize, Serialize};

use bidilel_math::{Observer, distance};

use super::linear::{require_linear, vectors};
use super::{FittedMethod, ZeroShotMethod};
use crate::error::{Error, Result};
use crate::recognize::{Candidates, Recognition};
use crate::semantic::ClassSemantics;
use crate::settings::Settings;
use crate::stored::{Change, Recorded, Stored};
use crate::task::{Prepared, Task};
use crate::tensors::Tensor;

/// Cosine similarity has no settings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cosine {}

/// The descriptions of all classes, in the space of the features.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedSpace {
    /// Unit vectors of the known, then the unseen classes.
    prompts: Mat<f64>,
    known: usize,
}

impl Cosine {
    pub(crate) fn from_settings(_settings: &Settings, _seed: u64) -> Self {
        Self {}
    }
}

impl SharedSpace {
    /// The weighted mean of the representations, each of which must have as many dimensions as there are features.
    fn of(semantics: &ClassSemantics, features: usize) -> Result<Self> {
        vectors(semantics, "method `cosine`")?;
        let mut prompts = Mat::<f64>::zeros(features, semantics.representations[0].values.ncols());
        for one in &semantics.representations {
            if one.values.nrows() != features {
                return Err(Error::Mismatch {
                    origin: format!("semantic representation `{}`", one.name),
                    what: "dimensions (as many as there are features: method `cosine` compares the two)",
                    expected: features,
                    found: one.values.nrows(),
                });
            }
            prompts += &one.values * faer::Scale(one.weight);
        }
        distance::normalize_columns(prompts.as_mut());
        Ok(Self { prompts, known: semantics.known })
    }
}

impl ZeroShotMethod for Cosine {
    type Fitted = SharedSpace;

    fn fit(&self, task: &Task, watch: &dyn Observer) -> Result<SharedSpace> {
        watch.stage("prompts");
        require_linear(task, "cosine")?;
        SharedSpace::of(&task.semantics, task.views.dim())
    }
}

impl FittedMethod for SharedSpace {
    fn recognize(&self, instances: Prepared<'_>, candidates: Candidates) -> Result<Recognition> {
        let features = instances.features();
        if features.nrows() != self.prompts.nrows() {
            return Err(Error::Mismatch {
                origin: "the features".to_owned(),
                what: "dimensions",
                expected: self.prompts.nrows(),
                found: features.nrows(),
            });
        }
        let mut points = Mat::from_fn(features.nrows(), features.ncols(), |i, j| f64::from(features[(i, j)]));
        distance::normalize_columns(points.as_mut());
        let range = candidates.range(self.known, self.prompts.ncols() - self.known);
        let embedding = self.prompts.subcols(range.start, range.len()).to_owned();
        Ok(Recognition::nearest(points.into(), embedding))
    }
}

impl Stored for SharedSpace {
    /// Nothing: the file has the descriptions in any case.
    fn tensors(&self) -> Vec<Tensor<'_>> {
        Vec::new()
    }

    fn read(_file: &SafeTensors<'_>, recorded: &Recorded<'_>, semantics: &ClassSemantics) -> Result<Self> {
        Self::of(semantics, recorded.views.dim())
    }

    fn changed(&self, change: &Change<'_>) -> Result<Option<Self>> {
        Self::of(change.semantics, self.prompts.nrows()).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Metric;
    use crate::semantic::Representation;

    #[test]
    fn prompts_are_averaged_as_unit_vectors() {
        let one = |name: &str, angle: f64, length: f64| {
            let vector = [length * angle.cos(), length * angle.sin()];
            Representation::new(name, 0.5, Metric::Cosine, Mat::from_fn(2, 1, |i, _| vector[i]))
        };
        let both = vec![one("a photo of", 0.2, 5.0), one("a drawing of", 0.8, 0.1)];
        let semantics = ClassSemantics::from_representations(both, 1);
        let space = SharedSpace::of(&semantics, 2).expect("two dimensions");
        assert!((space.prompts[(0, 0)] - 0.5_f64.cos()).abs() < 1e-12);
        assert!((space.prompts[(1, 0)] - 0.5_f64.sin()).abs() < 1e-12);
        assert!(matches!(SharedSpace::of(&semantics, 3), Err(Error::Mismatch { expected: 3, found: 2, .. })));
    }
}
