//! Mixtures of Gaussians with diagonal covariances, fitted by expectation maximization.
//!
//! $p(x) = \sum_k w_k \prod_d \mathcal N(x_d; \mu_{dk}, \sigma^2_{dk})$. The mixture is initialized by k-means; every EM step
//! then increases the likelihood, under the constraint that no variance falls below a floor. For given responsibilities the
//! likelihood is unimodal in each variance, so clipping at the floor is the constrained maximum, and the monotonicity of EM
//! still holds.
//!
//! ```
//! use bidilel_math::{Silent, mixture};
//!
//! let points = faer::mat![[0.0, 0.1, 0.2, 5.0, 5.1, 5.2]];
//! let floor = mixture::variance_floor(points.as_ref(), 1e-4);
//! let init = mixture::init(points.as_ref(), 2, &floor, 1, &Silent)?;
//! let settings = mixture::Settings { max_iterations: 50, tolerance: 1e-9 };
//! let found = mixture::fit(points.as_ref(), init, &floor, settings, &Silent)?;
//! assert!((found.mixture.weights[0] - 0.5).abs() < 1e-6);
//! # Ok::<(), bidilel_math::Error>(())
//! ```
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
    /// $w$: positive, with sum 1.
    pub weights: Vec<f64>,
    /// $\mu$, dimensions x components.
    pub means: Mat<f64>,
    /// $\sigma^2$, dimensions x components; positive.
    pub variances: Mat<f64>,
}

impl Mixture {
    /// The number of components.
    pub fn count(&self) -> usize {
        self.weights.len()
    }

    /// The number of dimensions.
    pub fn dim(&self) -> usize {
        self.means.nrows()
    }

    /// $\frac1n \sum_i \log p(x_i)$ of the columns of `points`.
    pub fn mean_log_likelihood(&self, points: MatRef<'_, f64>) -> f64 {
        Expectation::new(self).of(points).log_likelihood / points.ncols() as f64
    }
}
