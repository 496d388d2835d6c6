//! Mixtures of Gaussians with diagonal covariances, fitted by expectation maximization.
//!
//! $p(x) = \sum_k w_k \prod_d \mathcal N(x_d; \mu_{dk}, \sigma^2_{dk})$. A start comes from k-means; every step
//! then raises the likelihood, under the constraint that no variance falls below a floor: for given
//! responsibilities the likelihood has one peak in each variance, so cutting at the floor finds the best
//! allowed value, and the law of EM still holds.
//!
//! # References
//! A. Dempster, N. Laird and D. Rubin, *Maximum likelihood from incomplete data via the EM algorithm*, 1977.

mod expectation;
mod exponential;
mod fit;

use faer::{Mat, MatRef};

pub use expectation::{Expectation, Statistics};
pub use fit::{Fitted, Settings, fit, init, variance_floor};

/// A mixture of Gaussians with diagonal covariances.
#[derive(Debug, Clone, PartialEq)]
pub struct Mixture {
    /// $w$: positive, summing to one.
    pub weights: Vec<f64>,
    /// $\mu$, dimensions x components.
    pub means: Mat<f64>,
    /// $\sigma^2$, dimensions x components; positive.
    pub variances: Mat<f64>,
}

impl Mixture {
    /// How many components there are.
    pub fn count(&self) -> usize {
        self.weights.len()
    }

    /// How many dimensions points have.
    pub fn dim(&self) -> usize {
        self.means.nrows()
    }

    /// $\frac1n \sum_i \log p(x_i)$ of the columns of `points`.
    pub fn mean_log_likelihood(&self, points: MatRef<'_, f64>) -> f64 {
        Expectation::new(self).of(points).log_likelihood / points.ncols() as f64
    }
}
