//! JLSE: codes of instances and codes of classes, and a similarity of the two.
//!
//! A class has the simplex code `$z_c$` of its description over those of the known classes
//! ([`bidilel_math::simplex`]), an instance the code $a$ of its centered features $x$ over a dictionary $D$
//! ([`bidilel_math::dictionary`]), and $z_c^\top W a$ says whether the two belong together. All unknowns are learned
//! together, over the pairs of training instances and known classes:
//! `$$ \min_{D, A, W} \tfrac12 \|X - D A\|^2 + \tfrac{\mu}{2} \|A\|^2 + \tfrac{\rho}{2} \sum_{i, c} (t_{ic} - z_c^\top W a_i)^2 + \tfrac{\lambda}{2} \|W\|^2, \qquad \|d_k\| \le 1, $$`
//! with $t = 1$ for matched and $-1/(K - 1)$ for unmatched pairs of an instance and one of $K$ classes, so that both kinds
//! weigh the same. Codes, similarity and atoms are minimized in turns, each exactly:
//! `$$ a_i = (D^\top D + \mu I + \rho U U^\top)^{-1} (D^\top x_i + \rho U t_i), \qquad U = W^\top Z, $$`
//! `$$ \rho Z Z^\top W A A^\top + \lambda W = \rho Z T A^\top, $$`
//! and one sweep over the atoms. Codes are linear in $x$ plus a constant per class, so that all sums are functions of
//! $X X^\top$ and the class sums: rounds do not touch the instances. A test instance has no label; its code is that of the
//! dictionary alone, $(D^\top D + \mu I)^{-1} D^\top x$, and $W$ is fitted once more to such codes at the end.
//!
//! With `jlse_structured`, the batch of test instances is clustered among the directions $W^\top z_c$ of the candidates, and
//! clusters are matched one to one with classes ([`Structured`]): the transductive variant.
//!
//! Left open by the paper and chosen here: the squared loss of pairs (the paper has a hinge), which makes every step
//! exact; codes of classes are not changed by the alternation; the principal directions as first atoms; codes of a test
//! instance that do not depend on the candidate.
//!
//! # References
//! Z. Zhang and V. Saligrama, *Zero-shot learning via joint latent similarity embedding*, 2016; *Zero-shot recognition via
//! structured prediction*, 2016.

use std::sync::Arc;

use faer::{Mat, MatRef};
use safetensors::tensor::SafeTensors;
use serde::{Deserialize, Serialize};

use bidilel_math::parallel::product;
use bidilel_math::{Observer, Silent, dictionary, distance, simplex};

use super::joint::{Joint, Moments, Weights};
use super::linear::{Sums, require_linear, vectors};
use super::{FittedMethod, Method, ZeroShotMethod};
use crate::error::{Error, Result};
use crate::latent_space::{LatentSpace, Map};
use crate::post::{LatentRefiner, Structured};
use crate::recognize::{Candidates, Latent, Recognition, Scores};
use crate::semantic::ClassSemantics;
use crate::settings::{self, Settings};
use crate::stored::{Change, Recorded, Stored, unpack};
use crate::task::{Prepared, Task};
use crate::tensors::Tensor;

/// Settings of JLSE.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Jlse {
    /// Ridge of the codes of classes.
    pub jlse_gamma: f64,
    /// Atoms of the dictionary, at most.
    pub jlse_atoms: usize,
    /// Ridge of the codes of instances: $\mu$.
    pub jlse_code_ridge: f64,
    /// Weight of the pairs against the reconstruction: $\rho$.
    pub jlse_pairs: f64,
    /// Regularizer of the similarity: $\lambda$.
    pub jlse_lambda: f64,
    /// Rounds of the alternation.
    pub jlse_rounds: usize,
    /// Whether a batch of instances is matched with the candidates as a whole.
    pub jlse_structured: bool,
}

impl Default for Jlse {
    fn default() -> Self {
        Self {
            jlse_gamma: 0.01,
            jlse_atoms: 200,
            jlse_code_ridge: 0.1,
            jlse_pairs: 0.1,
            jlse_lambda: 1.0,
            jlse_rounds: 5,
            jlse_structured: false,
        }
    }
}

/// A map to codes, a similarity of codes, and the codes of all classes.
#[derive(Debug, Clone, PartialEq)]
pub struct LatentSimilarity {
    /// The code of an instance is the map of its features minus an offset.
    space: LatentSpace,
    /// The map again, as it is stored.
    map: Mat<f64>,
    /// $W$, known classes x atoms.
    similarity: Mat<f64>,
    /// Known classes x known, then unseen classes.
    codes: Mat<f64>,
    /// Whether batches are matched, as it is stored.
    structured: [f64; 1],
}

impl Jlse {
    pub(crate) fn from_settings(settings: &Settings, _seed: u64) -> Self {
        let default = Self::default();
        Self {
            jlse_gamma: settings.jlse_gamma.unwrap_or(default.jlse_gamma),
            jlse_atoms: settings.jlse_atoms.unwrap_or(default.jlse_atoms),
            jlse_code_ridge: settings.jlse_code_ridge.unwrap_or(default.jlse_code_ridge),
            jlse_pairs: settings.jlse_pairs.unwrap_or(default.jlse_pairs),
            jlse_lambda: settings.jlse_lambda.unwrap_or(default.jlse_lambda),
            jlse_rounds: settings.jlse_rounds.unwrap_or(default.jlse_rounds),
            jlse_structured: settings.jlse_structured.unwrap_or(default.jlse_structured),
        }
    }

    fn check(&self, task: &Task) -> Result<()> {
        settings::check("jlse_gamma", self.jlse_gamma)?;
        settings::check("jlse_atoms", self.jlse_atoms as f64)?;
        settings::check("jlse_code_ridge", self.jlse_code_ridge)?;
        settings::check("jlse_pairs", self.jlse_pairs)?;
        settings::check("jlse_lambda", self.jlse_lambda)?;
        require_linear(task, "jlse")
    }
}

impl ZeroShotMethod for Jlse {
    type Fitted = LatentSimilarity;

    fn fit(&self, task: &Task, watch: &dyn Observer) -> Result<LatentSimilarity> {
        self.check(task)?;
        let all = vectors(&task.semantics, "method `jlse`")?;
        let known = all.subcols(0, task.known.len());
        watch.stage("codes");
        let codes = simplex::codes(known, all, self.jlse_gamma, watch).map_err(Error::in_stage("codes"))?;
        watch.stage("scatter");
        let sums = Sums::of(task);
        let (moments, mean) = Moments::centered(&sums, sums.gram(task, watch)?);
        watch.stage("dictionary");
        let weights = Weights {
            code_ridge: self.jlse_code_ridge,
            pairs: self.jlse_pairs,
            similarity: self.jlse_lambda,
        };
        let atoms = dictionary::init(moments.scatter.as_ref(), self.jlse_atoms, watch)
            .map_err(Error::in_stage("dictionary"))?;
        let class_codes = codes.subcols(0, task.known.len());
        let mut joint = Joint::new(atoms, class_codes, weights).map_err(Error::in_stage("dictionary"))?;
        for round in 0..self.jlse_rounds {
            watch.progress(round, self.jlse_rounds);
            Error::unless_cancelled(watch)?;
            joint.round(&moments).map_err(Error::in_stage("dictionary"))?;
        }
        let coder = joint.finish(&moments).map_err(Error::in_stage("dictionary"))?;
        let offset = product(coder.as_ref(), MatRef::from_column_major_slice(&mean, mean.len(), 1));
        let map = sums.unscaled(coder.transpose().to_owned());
        let offset = offset.col_as_slice(0).to_vec();
        Ok(LatentSimilarity::new(map, offset, joint.similarity, codes, self.jlse_structured))
    }
}

impl LatentSimilarity {
    fn new(map: Mat<f64>, offset: Vec<f64>, similarity: Mat<f64>, codes: Mat<f64>, structured: bool) -> Self {
        let space = LatentSpace { map: Map::Linear(map.clone()), mean: offset };
        Self { space, map, similarity, codes, structured: [f64::from(u8::from(structured))] }
    }
}

impl FittedMethod for LatentSimilarity {
    fn recognize(&self, instances: Prepared<'_>, candidates: Candidates) -> Result<Recognition> {
        let mut points = self.space.project_unnormalized(instances.features())?;
        let known = self.similarity.nrows();
        let range = candidates.range(known, self.codes.ncols() - known);
        let mut directions =
            product(self.similarity.transpose(), self.codes.subcols(range.start, range.len()));
        let scores = Scores { values: product(directions.transpose(), points.as_ref()) };
        if self.structured[0] == 0.0 {
            return Ok(scores.into());
        }
        distance::normalize_columns(points.as_mut());
        distance::normalize_columns(directions.as_mut());
        let before = Latent { points: Arc::new(points), embedding: directions, spaces: 1 };
        Ok(Structured::default().refine(before, &scores)?.into())
    }
}

impl Stored for LatentSimilarity {
    fn tensors(&self) -> Vec<Tensor<'_>> {
        vec![
            Tensor::new("codes_from_visual", &self.map),
            Tensor::vector("codes_offset", &self.space.mean),
            Tensor::new("similarity", &self.similarity),
            Tensor::new("class_codes", &self.codes),
            Tensor::vector("structured", &self.structured),
        ]
    }

    fn read(file: &SafeTensors<'_>, recorded: &Recorded<'_>, _: &ClassSemantics) -> Result<Self> {
        let (dim, known) = (recorded.views.dim(), recorded.known);
        let map = unpack(file, "codes_from_visual", Some(dim), None)?;
        let offset = unpack(file, "codes_offset", Some(map.ncols()), Some(1))?.col_as_slice(0).to_vec();
        let similarity = unpack(file, "similarity", Some(known), Some(map.ncols()))?;
        let codes = unpack(file, "class_codes", Some(known), Some(known + recorded.unseen))?;
        let structured = unpack(file, "structured", Some(1), Some(1))?[(0, 0)] != 0.0;
        Ok(Self::new(map, offset, similarity, codes, structured))
    }

    fn changed(&self, change: &Change<'_>) -> Result<Option<Self>> {
        let Method::Jlse(jlse) = change.method else { return Ok(None) };
        let codes = change.columns(&self.codes, |known, new| {
            simplex::codes(known, new, jlse.method.jlse_gamma, &Silent)
                .map(Some)
                .map_err(Error::in_stage("codes"))
        })?;
        Ok(codes.map(|codes| Self { codes, ..self.clone() }))
    }
}
