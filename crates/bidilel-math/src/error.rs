//! The errors of this crate.

use crate::Check;

/// A failed computation.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A matrix that must be positive definite has no Cholesky factor.
    #[error(
        "the {matrix} is not positive definite: pivot {pivot} of its Cholesky factorization is not positive"
    )]
    NotPositiveDefinite {
        /// Which matrix.
        matrix: &'static str,
        /// Index of the first pivot that is not positive.
        pivot: usize,
    },
    /// An iteration ended without reaching its tolerance.
    #[error("{what} did not converge in {iterations} iterations")]
    NoConvergence {
        /// Which iteration.
        what: &'static str,
        /// Iterations taken.
        iterations: usize,
    },
    /// An equation without a solution.
    #[error("the {what} is singular")]
    Singular {
        /// Which equation.
        what: &'static str,
    },
    /// The observer cancelled.
    #[error("cancelled")]
    Cancelled,
    /// A value that must be finite is not.
    #[error("{what} is not finite")]
    NotFinite {
        /// Which value.
        what: &'static str,
    },
    /// A result failed its check against an independent computation.
    #[error("{check}")]
    Check {
        /// The failed check.
        check: Check,
    },
    /// Values that must vary are all equal.
    #[error("{what} do not vary")]
    Constant {
        /// Which values.
        what: &'static str,
    },
    /// An input whose size does not match the others.
    #[error("{what} does not match: expected {expected}, found {found}")]
    Shape {
        /// Which size.
        what: &'static str,
        /// The size that the other inputs imply.
        expected: usize,
        /// The actual size.
        found: usize,
    },
    /// A parameter outside its range.
    #[error("{parameter} must be {expected}, found {found}")]
    Parameter {
        /// Name of the parameter.
        parameter: &'static str,
        /// The valid range.
        expected: &'static str,
        /// The actual value.
        found: f64,
    },
}

/// Result of a computation in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
