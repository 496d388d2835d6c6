//! Linear support vector machines of many classes over the same instances, without intercept.
//!
//! With instances `$x_i$` (columns of $X$, $d \times n$), labels `$y_i$`, weights $W$ ($d \times K$, one column per class) and
//! scores `$z_i = W^\top x_i$`
//!
//! `$$ \min_W \sum_i \ell(z_i, y_i) + \tfrac{\lambda}{2} \|W\|^2, $$`
//!
//! where $\ell$ is one of
//!
//! - one versus other, with the squared hinge: `$\sum_c \max(0, 1 - t_{ic} z_{ic})^2$`, `$t_{ic} = 1$` for the label and $-1$
//!   for all other classes ([`one_versus_other`]);
//! - the margin between classes: `$\max_c (\Delta_{c y_i} + z_{ic}) - z_{i y_i}$`, with $\Delta$ zero on its diagonal
//!   ([`multiclass`]); $\Delta = 1$ elsewhere is the machine of Crammer and Singer.
//!
//! Classes may be coupled: with an orthonormal basis $U$ ($K \times r$) the rows of $W$ stay in its span, $W = A U^\top$.
//!
//! ```
//! use bidilel_math::{Silent, svm};
//!
//! let points = faer::mat![[1.0_f32, 0.9, 0.0, 0.1], [0.0, 0.1, 1.0, 0.8]];
//! let classes = svm::Classes { labels: &[0, 0, 1, 1], count: 2, basis: None };
//! let gram = faer::mat![[1.82, 0.17], [0.17, 1.65]];
//! let found = svm::one_versus_other(points.as_ref(), classes, gram, 0.1, 1e-9, &Silent)?;
//! assert!(found.converged && found.weights[(0, 0)] > found.weights[(0, 1)]);
//! # Ok::<(), bidilel_math::Error>(())
//! ```
//!
//! # References
//! K. Crammer and Y. Singer, *On the algorithmic implementation of multiclass kernel-based vector machines*, 2001.
//! S. Shalev-Shwartz and T. Zhang, *Stochastic dual coordinate ascent methods for regularized loss minimization*, 2013.

mod dual;
mod squared;

use faer::{Mat, MatRef};

pub use self::dual::multiclass;
pub use self::squared::one_versus_other;
use crate::{Error, Result};

/// Classes of instances, and how their weights are coupled.
#[derive(Debug, Clone, Copy)]
pub struct Classes<'a> {
    /// The class of every instance.
    pub labels: &'a [usize],
    /// How many classes there are.
    pub count: usize,
    /// Orthonormal columns that span the rows of the weights; all weights where it is not given.
    pub basis: Option<MatRef<'a, f64>>,
}

/// Weights of all classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Machines {
    /// $W$, dimensions x classes.
    pub weights: Mat<f64>,
    /// Whether the iteration reached its tolerance.
    pub converged: bool,
}

fn check_lambda(lambda: f64) -> Result<()> {
    if lambda > 0.0 && lambda.is_finite() {
        return Ok(());
    }
    Err(Error::Parameter { parameter: "lambda", expected: "a positive number", found: lambda })
}
