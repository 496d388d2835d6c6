//! What can go wrong in the algebra.

use crate::Check;

/// A failed computation.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The right-hand matrix of a generalized eigenproblem has no Cholesky factor.
    #[error("the {matrix} is not positive definite: pivot {pivot} of its Cholesky factor failed")]
    NotPositiveDefinite {
        /// Which matrix.
        matrix: &'static str,
        /// Index of the first bad pivot.
        pivot: usize,
    },
    /// An iteration ended without reaching its tolerance.
    #[error("{what} did not converge in {iterations} iterations")]
    NoConvergence {
        /// Which iteration.
        what: &'static str,
        /// How many steps it took.
        iterations: usize,
    },
    /// A number that must be finite is not.
    #[error("{what} is not finite")]
    NotFinite {
        /// Which number.
        what: &'static str,
    },
    /// A result is not what numbers that were computed apart from it say.
    #[error("{check}")]
    Check {
        /// What was compared.
        check: Check,
    },
    /// Numbers that must differ are all the same.
    #[error("{what} do not vary")]
    Constant {
        /// Which numbers.
        what: &'static str,
    },
    /// An input whose size does not fit the others.
    #[error("{what} does not match: expected {expected}, found {found}")]
    Shape {
        /// Which size.
        what: &'static str,
        /// The size that the other inputs ask for.
        expected: usize,
        /// The size.
        found: usize,
    },
    /// A parameter outside its range.
    #[error("{parameter} must be {expected}, found {found}")]
    Parameter {
        /// Name of the parameter.
        parameter: &'static str,
        /// The range.
        expected: &'static str,
        /// The value.
        found: f64,
    },
}

/// Result of a computation in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
