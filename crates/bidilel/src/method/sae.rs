//! SAE: a linear autoencoder whose code is the description.
//!
//! With features $X$ (visual dimensions x instances) and the descriptions $S$ of their classes (semantic dimensions x
//! instances), $W$ minimizes `$\|X - W^\top S\|^2 + \lambda \|W X - S\|^2$`, which is the Sylvester equation
//! $$ S S^\top W + W (\lambda X X^\top) = (1 + \lambda) S X^\top. $$
//! An instance is encoded as $W x$ and compared with the classes by cosine.
//!
//! Left open by the paper and chosen here: unit vectors as descriptions, and $\lambda = 1$ unless it is set.
//!
//! # References
//! E. Kodirov, T. Xiang and S. Gong, *Semantic autoencoder for zero-shot learning*, 2017.

use faer::{Mat, Scale};
use serde::{Deserialize, Serialize};

use bidilel_math::check::probes;
use bidilel_math::parallel::product;
use bidilel_math::{Check, Observer, linear};

use super::ZeroShotMethod;
use super::linear::{Sums, require_linear, vectors};
use super::semantic_map::SemanticMap;
use crate::error::{Error, Result};
use crate::settings::{self, Settings};
use crate::task::Task;

/// How far rounding may take the two sides of the equation apart, relative to the larger.
const TOLERANCE: f64 = 1e-6;

/// Settings of the semantic autoencoder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sae {
    /// Weight of the encoder: $\lambda$.
    pub sae_lambda: f64,
}

impl Default for Sae {
    fn default() -> Self {
        Self { sae_lambda: 1.0 }
    }
}

impl Sae {
    pub(crate) fn from_settings(settings: &Settings, _seed: u64) -> Self {
        Self { sae_lambda: settings.sae_lambda.unwrap_or(Self::default().sae_lambda) }
    }
}

impl ZeroShotMethod for Sae {
    type Fitted = SemanticMap;

    fn fit(&self, task: &Task, watch: &dyn Observer) -> Result<SemanticMap> {
        settings::check("sae_lambda", self.sae_lambda)?;
        require_linear(task, "sae")?;
        let all = vectors(&task.semantics, "method `sae`")?;
        let known = all.subcols(0, task.known.len());
        watch.stage("scatter");
        let sums = Sums::of(task);
        let right = sums.gram(task, watch)? * Scale(self.sae_lambda);
        let (cross, left) = sums.with_semantics(known);
        watch.stage("solve");
        let rhs = cross.transpose() * Scale(1.0 + self.sae_lambda);
        let map = linear::sylvester(left.as_ref(), right.as_ref(), rhs.as_ref(), watch)
            .map_err(Error::in_stage("solve"))?;
        verify(&left, &right, &rhs, &map, watch)?;
        let map = sums.unscaled(map.transpose().to_owned());
        let offset = vec![0.0; all.nrows()];
        Ok(SemanticMap::new(map, offset, all, task.known.len()))
    }
}

/// Multiplies both sides of the equation with a few random vectors.
fn verify(
    left: &Mat<f64>,
    right: &Mat<f64>,
    rhs: &Mat<f64>,
    map: &Mat<f64>,
    watch: &dyn Observer,
) -> Result<()> {
    let probes = probes(right.nrows(), 2);
    let of = |matrix: &Mat<f64>| product(matrix.as_ref(), probes.as_ref());
    let found = product(left.as_ref(), of(map).as_ref()) + product(map.as_ref(), of(right).as_ref());
    let expected = of(rhs);
    let deviation = (found - &expected).norm_max() / expected.norm_max().max(f64::MIN_POSITIVE);
    Check { stage: "solve", what: "the encoder in its equation", deviation, bound: TOLERANCE }
        .enforce(watch)
        .map_err(Error::in_stage("solve"))
}
