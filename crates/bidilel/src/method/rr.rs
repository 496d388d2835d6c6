//! Ridge regression from features to descriptions, then the nearest class by cosine.
//!
//! With features $X$ (visual dimensions x instances) and the descriptions $S$ of their classes (semantic dimensions x
//! instances), both centered on their means over the instances,
//! $$ W = (X X^\top + \rho I)^{-1} X S^\top, $$
//! and an instance is at $W^\top (x - \bar x) + \bar s$ in the semantic space.
//!
//! Left open by the paper and chosen here: the intercept, unit vectors as descriptions, and $\rho = 1$ unless it is set.
//!
//! # References
//! X. Xu, T. Hospedales and S. Gong, *Semantic embedding space for zero-shot action recognition*, 2015.

use serde::{Deserialize, Serialize};

use bidilel_math::Observer;

use super::ZeroShotMethod;
use super::linear::{Sums, require_linear, vectors};
use super::semantic_map::SemanticMap;
use crate::error::Result;
use crate::settings::{self, Settings};
use crate::task::Task;

/// Settings of ridge regression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rr {
    /// The ridge: $\rho$.
    pub rr_ridge: f64,
}

impl Default for Rr {
    fn default() -> Self {
        Self { rr_ridge: 1.0 }
    }
}

impl Rr {
    pub(crate) fn from_settings(settings: &Settings, _seed: u64) -> Self {
        Self { rr_ridge: settings.rr_ridge.unwrap_or(Self::default().rr_ridge) }
    }
}

impl ZeroShotMethod for Rr {
    type Fitted = SemanticMap;

    fn fit(&self, task: &Task, watch: &dyn Observer) -> Result<SemanticMap> {
        settings::check("rr_ridge", self.rr_ridge)?;
        require_linear(task, "rr")?;
        let all = vectors(&task.semantics, "method `rr`")?;
        let known = all.subcols(0, task.known.len());
        watch.stage("scatter");
        let sums = Sums::of(task);
        let regression = sums.regression(task, known, watch)?;
        watch.stage("solve");
        let described = regression.described.clone();
        let (map, at_mean) = regression.solve(self.rr_ridge)?;
        let offset = at_mean.iter().zip(&described).map(|(at, described)| at - described).collect();
        Ok(SemanticMap::new(sums.unscaled(map), offset, all, task.known.len()))
    }
}
