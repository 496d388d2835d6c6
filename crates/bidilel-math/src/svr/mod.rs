//! Support vector regression of many targets over one kernel matrix.
//!
//! A machine predicts $f(x) = \sum_i \beta_i k(x_i, x) + b$ with `$\beta = \alpha - \alpha^*$`, where
//! `$\alpha, \alpha^* \in [0, C]^n$` solve, for a kernel matrix $K$ ($n \times n$) and targets $y$ ($n$),
//!
//! `$$ \min \tfrac12 \beta^\top K \beta - y^\top \beta + \varepsilon\, \mathbf 1^\top (\alpha + \alpha^*)
//!    \quad \text{subject to} \quad \mathbf 1^\top \beta = 0 $$`
//!
//! in the epsilon form. In the nu form $\varepsilon$ is unknown and its term is replaced by the constraint
//! `$\mathbf 1^\top (\alpha + \alpha^*) = C n \nu$`, so that at most a fraction $\nu$ of the samples lies
//! outside the tube and at least a fraction $\nu$ are support vectors. $C$ is the cost of one sample in both forms.
//!
//! ```
//! use bidilel_math::svr::{Kernel, Svr};
//!
//! let points = faer::mat![[0.0, 1.0, 2.0, 3.0]];
//! let kernel = Kernel::Linear.resolve(points.as_ref())?;
//! let matrix = kernel.matrix(points.as_ref(), points.as_ref());
//! let svr = Svr { c: 10.0, ..Svr::default() };
//! let machine = svr.fit(matrix.as_ref(), &[1.0, 3.0, 5.0, 7.0])?;
//!
//! let column = kernel.matrix(points.as_ref(), faer::mat![[4.0]].as_ref());
//! let prediction = machine.predict(column.col(0).iter().copied());
//! assert!((prediction - 9.0).abs() < 0.02); // on the line, up to the width of the tube
//! # Ok::<(), bidilel_math::Error>(())
//! ```
//!
//! # References
//!
//! - B. Schölkopf, A. Smola, R. Williamson, P. Bartlett: New support vector algorithms. Neural
//!   Computation 12, 2000.
//! - C.-C. Chang, C.-J. Lin: LIBSVM: a library for support vector machines. ACM TIST 2(3), 2011.

mod gram;
mod kernel;
#[cfg(test)]
mod laws;
mod solver;

use faer::MatRef;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use self::kernel::{Kernel, ResolvedKernel};
use self::{gram::Gram, solver::Solver};
use crate::{Error, Result};

/// How the width of the epsilon-insensitive tube is determined.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Form {
    /// The width is given.
    Epsilon {
        /// Half of the width, in units of the targets.
        epsilon: f64,
    },
    /// The width follows from the fraction of samples outside the tube.
    Nu {
        /// Upper bound of that fraction, in `(0, 1]`.
        nu: f64,
    },
}

/// Parameters of support vector regression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Svr {
    /// How the width of the tube is determined.
    pub form: Form,
    /// Cost of an error outside the tube, and bound of the magnitude of every coefficient.
    pub c: f64,
    /// Largest violation of the optimality conditions, in units of the targets.
    pub tolerance: f64,
    /// Maximum number of pair updates per machine.
    ///
    /// Most problems take a few thousand. A linear kernel of lower rank than the number of samples, with
    /// targets that it cannot express and a large `c`, may take millions.
    pub max_iterations: usize,
}

impl Default for Svr {
    fn default() -> Self {
        Self { form: Form::Epsilon { epsilon: 0.01 }, c: 1.0, tolerance: 1e-6, max_iterations: 10_000_000 }
    }
}

/// A fitted regression of one target.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    /// Weight of each training sample's kernel value; they sum to zero.
    pub coefficients: Vec<f64>,
    /// Constant term.
    pub bias: f64,
}

impl Svr {
    /// Fits one machine to a symmetric kernel matrix and one target for each of its columns.
    ///
    /// # Errors
    ///
    /// If a parameter is out of range, sizes differ, an input is not finite, or the iterations run out.
    pub fn fit(&self, kernel: MatRef<'_, f64>, targets: &[f64]) -> Result<Machine> {
        self.check()?;
        self.fit_one(&Gram::new(kernel)?, targets.to_vec())
    }

    /// Fits one machine to each row of targets (machines x samples), in parallel.
    ///
    /// # Errors
    ///
    /// As [`fit`](Self::fit), if any of the machines fails.
    pub fn fit_all(&self, kernel: MatRef<'_, f64>, targets: MatRef<'_, f64>) -> Result<Vec<Machine>> {
        self.check()?;
        let gram = Gram::new(kernel)?;
        let row = |machine| targets.row(machine).iter().copied().collect();
        (0..targets.nrows()).into_par_iter().map(|machine| self.fit_one(&gram, row(machine))).collect()
    }

    fn check(&self) -> Result<()> {
        let positive = |parameter, found: f64| {
            if found > 0.0 && found.is_finite() {
                Ok(())
            } else {
                Err(Error::Parameter { parameter, expected: "positive and finite", found })
            }
        };
        positive("c", self.c)?;
        positive("tolerance", self.tolerance)?;
        match self.form {
            Form::Epsilon { epsilon: found } if !(found >= 0.0 && found.is_finite()) => {
                Err(Error::Parameter { parameter: "epsilon", expected: "nonnegative and finite", found })
            }
            Form::Nu { nu: found } if !(found > 0.0 && found <= 1.0) => {
                Err(Error::Parameter { parameter: "nu", expected: "in (0, 1]", found })
            }
            Form::Epsilon { .. } | Form::Nu { .. } => Ok(()),
        }
    }

    fn fit_one(&self, gram: &Gram, targets: Vec<f64>) -> Result<Machine> {
        if targets.len() != gram.samples() {
            let what = "number of targets";
            return Err(Error::Shape { what, expected: gram.samples(), found: targets.len() });
        }
        if targets.iter().any(|target| !target.is_finite()) {
            return Err(Error::NotFinite { what: "a target of the regression" });
        }
        Solver::new(self, gram, targets).run()
    }
}

impl Machine {
    /// Predicts from the kernel values between the training samples, in their order, and a point.
    pub fn predict(&self, kernel_column: impl Iterator<Item = f64>) -> f64 {
        let weighted: f64 = self.coefficients.iter().zip(kernel_column).map(|(c, value)| c * value).sum();
        weighted + self.bias
    }
}
