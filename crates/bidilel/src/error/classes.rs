//! Why the classes of a model cannot be changed.

use super::{Error, Role};
use crate::settings::MethodName;

/// Why a class cannot be added, removed, renamed or made known.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClassProblem {
    /// A class that the model does not have.
    #[error("the model has no class `{name}`")]
    Unknown {
        /// The name that was asked for.
        name: String,
    },
    /// A class that the model has already.
    #[error("the model has a class `{name}` already; it is {role}")]
    Exists {
        /// The name.
        name: String,
        /// What the class is.
        role: Role,
    },
    /// A name that is empty, or that would break lists of names.
    #[error("a class needs a name of one line that is not empty, found {found:?}")]
    Name {
        /// The name.
        found: String,
    },
    /// A class that is not described in one of the representations.
    #[error("class `{class}` has no vector for the semantic representation `{representation}`")]
    NotDescribed {
        /// The class.
        class: String,
        /// The representation.
        representation: String,
    },
    /// A class for a model that was fitted without descriptions of its classes.
    #[error("the model was fitted without descriptions of its classes, so that no class can be added by one")]
    NoDescriptions,
    /// A vector for a representation that the model does not use.
    #[error("the model has no semantic representation `{found}`: it has {}", .available.join(", "))]
    NoRepresentation {
        /// The name that was given.
        found: String,
        /// The representations.
        available: Vec<String>,
    },
    /// A vector of another length.
    #[error("class `{class}`: expected {expected} numbers for `{representation}`, found {found}")]
    Length {
        /// The class.
        class: String,
        /// The representation.
        representation: String,
        /// Its dimensions.
        expected: usize,
        /// The length of the vector.
        found: usize,
    },
    /// A number that is not finite, or a distance that is negative or cannot be squared.
    #[error("class `{class}`: number {index} for `{representation}` is {value}")]
    Value {
        /// The class.
        class: String,
        /// The representation.
        representation: String,
        /// Which of the numbers, from 0.
        index: usize,
        /// The number.
        value: f64,
    },
    /// An attribute that no representation has.
    #[error("the model has no attribute `{name}`")]
    NoAttribute {
        /// The attribute.
        name: String,
    },
    /// Attributes by name for a model that knows no names.
    #[error("the model has no names of attributes")]
    NoAttributeNames,
    /// Nothing that says where a class is.
    #[error("class `{class}` has no attribute to find similar classes by")]
    NothingGiven {
        /// The class.
        class: String,
    },
    /// A method that would have to be fitted again.
    #[error("method `{method}` cannot {what} without another fit: {reason}")]
    NeedsFit {
        /// The method.
        method: MethodName,
        /// What cannot be done.
        what: &'static str,
        /// Why not.
        reason: &'static str,
    },
    /// The last class of its kind.
    #[error("`{class}` is the last {role} class, and a model needs one")]
    Last {
        /// The class.
        class: String,
        /// What it is.
        role: Role,
    },
    /// A class that is known already.
    #[error("class `{class}` is known already")]
    AlreadyKnown {
        /// The class.
        class: String,
    },
    /// Instances that point nowhere together.
    #[error("the {count} instances of class `{class}` have no common direction in the latent space")]
    NoDirection {
        /// The class.
        class: String,
        /// How many there are.
        count: usize,
    },
}

impl From<ClassProblem> for Error {
    fn from(problem: ClassProblem) -> Self {
        Self::Classes { problem }
    }
}
