//! Support vector regression from descriptions to embeddings: one machine per latent dimension.
//!
//! Every machine learns one coordinate of the landmarks from the unit semantic vectors of the known classes
//! and predicts it for the unseen ones. All share one known x known kernel matrix.
//!
//! # References
//! A. Smola and B. Schölkopf, *A tutorial on support vector regression*, 2004; the setting is that of
//! S. Changpinyo, W.-L. Chao, F. Sha, *Predicting visual exemplars of unseen classes*, 2017.

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use bidilel_math::Observer;
use bidilel_math::distance::normalize_columns;
use bidilel_math::svr;
pub use bidilel_math::svr::{Form, Kernel};

use super::{ClassEmbedder, Embedding};
use crate::error::{Error, Result, SemanticProblem};
use crate::landmarks::Landmarks;
use crate::semantic::ClassSemantics;
use crate::settings::{self, KernelName, Settings};

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
    /// Whether embeddings get unit norm, as the points have.
    pub unit_embedding: bool,
}

impl Default for Svr {
    fn default() -> Self {
        Self {
            kernel: Kernel::Rbf { gamma: None },
            form: Form::Epsilon { epsilon: 0.01 },
            c: 10.0,
            tolerance: 1e-5,
            unit_embedding: false,
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
            let problem = SemanticProblem::NoVectors { needed_by: "top-down `svr`" };
            return Err(Error::Semantic { origin, problem });
        };
        self.check()?;
        let kernel = self.kernel.resolve(known).map_err(Error::in_stage("svr"))?;
        let settings =
            svr::Svr { form: self.form, c: self.c, tolerance: self.tolerance, ..svr::Svr::default() };
        let machines = settings
            .fit_all(kernel.matrix(known, known).as_ref(), landmarks.points.as_ref())
            .map_err(Error::in_stage("svr"))?;
        let columns = kernel.matrix(known, unseen);
        let predict = |row: usize, class: usize| machines[row].predict(columns.col(class).iter().copied());
        let mut points = Mat::from_fn(landmarks.points.nrows(), unseen.ncols(), predict);
        if self.unit_embedding {
            normalize_columns(points.as_mut());
        }
        // A machine that does not converge is an error.
        Ok(Embedding { points, converged: true, mapped: None })
    }
}

impl Svr {
    pub(crate) fn from_settings(settings: &Settings) -> Self {
        let default = Self::default();
        Self {
            kernel: match (settings.svr_kernel, settings.svr_gamma) {
                (Some(KernelName::Linear), _) => Kernel::Linear,
                (Some(KernelName::Rbf), gamma) => Kernel::Rbf { gamma },
                (None, Some(gamma)) => Kernel::Rbf { gamma: Some(gamma) },
                (None, None) => default.kernel,
            },
            form: match (settings.svr_nu, settings.svr_epsilon) {
                (Some(nu), _) => Form::Nu { nu },
                (None, Some(epsilon)) => Form::Epsilon { epsilon },
                (None, None) => default.form,
            },
            c: settings.svr_c.unwrap_or(default.c),
            unit_embedding: settings.unit_embedding.unwrap_or(default.unit_embedding),
            ..default
        }
    }

    /// Fills in the kernel's width where it follows from the vectors of the known classes.
    pub(crate) fn resolve(&mut self, known: MatRef<'_, f64>) {
        if let Ok(svr::ResolvedKernel::Rbf { gamma }) = self.kernel.resolve(known) {
            self.kernel = Kernel::Rbf { gamma: Some(gamma) };
        }
    }

    /// Fails where a setting is out of its range.
    fn check(&self) -> Result<()> {
        settings::check("svr_c", self.c)?;
        match self.form {
            Form::Epsilon { epsilon } => settings::check("svr_epsilon", epsilon)?,
            Form::Nu { nu } => settings::check("svr_nu", nu)?,
        }
        match self.kernel {
            Kernel::Rbf { gamma: Some(gamma) } => settings::check("svr_gamma", gamma),
            _ => Ok(()),
        }
    }
}
