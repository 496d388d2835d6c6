//! Support vector regression from descriptions to places: one machine a latent dimension.
//!
//! Every machine learns one coordinate of the landmarks from the unit semantic vectors of the known classes
//! and predicts it for the unseen ones. All share one known x known kernel matrix.
//!
//! # References
//! A. Smola and B. Schölkopf, *A tutorial on support vector regression*, 2004; the setting is that of
//! S. Changpinyo, W.-L. Chao, F. Sha, *Predicting visual exemplars of unseen classes*, 2017.

use faer::Mat;
use serde::{Deserialize, Serialize};

use bidilel_math::{Observer, svr};

use super::{ClassEmbedder, Embedding};
use crate::bottom_up::failed;
use crate::error::{Error, Result};
use crate::landmarks::Landmarks;
use crate::semantic::ClassSemantics;

/// The kernel over semantic vectors.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Kernel {
    /// $\exp(-\gamma \|s - s'\|^2)$.
    Rbf {
        /// $\gamma$; one over the mean squared distance of the known classes if not given.
        gamma: Option<f64>,
    },
    /// $s^\top s'$.
    Linear,
}

/// The form of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Form {
    /// Errors below `epsilon` cost nothing.
    Epsilon {
        /// Half the width of the tube.
        epsilon: f64,
    },
    /// The tube is as wide as leaves a share of at most `nu` outside.
    Nu {
        /// The share, above 0 and at most 1.
        nu: f64,
    },
}

/// Settings of the regression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Svr {
    /// The kernel.
    pub kernel: Kernel,
    /// The form.
    pub form: Form,
    /// Cost of an error outside the tube: $C$.
    pub c: f64,
    /// How far from optimal the machines may be.
    pub tolerance: f64,
}

impl Default for Svr {
    fn default() -> Self {
        Self {
            kernel: Kernel::Rbf { gamma: None },
            form: Form::Epsilon { epsilon: 0.01 },
            c: 10.0,
            tolerance: 1e-5,
        }
    }
}

impl ClassEmbedder for Svr {
    fn embed(
        &self,
        landmarks: &Landmarks,
        semantics: &ClassSemantics,
        watch: &dyn Observer,
    ) -> Result<Embedding> {
        watch.stage("top_down");
        let (Some(known), Some(unseen)) = (semantics.known_vectors(), semantics.unseen_vectors()) else {
            let origin = "the semantic representation".to_owned();
            let problem = "holds distances, but top-down `svr` needs vectors".to_owned();
            return Err(Error::Semantic { origin, problem });
        };
        let kernel = svr::Kernel::from(self.kernel).resolve(known).map_err(failed("svr"))?;
        let settings =
            svr::Svr { form: self.form.into(), c: self.c, tolerance: self.tolerance, ..svr::Svr::default() };
        let machines = settings
            .fit_all(kernel.matrix(known, known).as_ref(), landmarks.points.as_ref())
            .map_err(failed("svr"))?;
        let columns = kernel.matrix(known, unseen);
        let predict = |row: usize, class: usize| machines[row].predict(columns.col(class).iter().copied());
        Ok(Embedding { points: Mat::from_fn(landmarks.points.nrows(), unseen.ncols(), predict) })
    }
}

impl From<Kernel> for svr::Kernel {
    fn from(kernel: Kernel) -> Self {
        match kernel {
            Kernel::Rbf { gamma } => Self::Rbf { gamma },
            Kernel::Linear => Self::Linear,
        }
    }
}

impl From<Form> for svr::Form {
    fn from(form: Form) -> Self {
        match form {
            Form::Epsilon { epsilon } => Self::Epsilon(epsilon),
            Form::Nu { nu } => Self::Nu(nu),
        }
    }
}
