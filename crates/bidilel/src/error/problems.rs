//! What is missing, and why splits and semantic representations cannot be used.

use std::fmt;

/// What a dataset has by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A class.
    Class,
    /// A visual representation.
    Visual,
    /// A semantic representation.
    Semantic,
    /// A split.
    Split,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Class => "class",
            Self::Visual => "visual representation",
            Self::Semantic => "semantic representation",
            Self::Split => "split",
        })
    }
}

/// The role of a class in a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Its instances are learned from.
    Known,
    /// Its instances are recognized.
    Unseen,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Known => "known",
            Self::Unseen => "unseen",
        })
    }
}

/// Why a split cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SplitProblem {
    /// Nothing to recognize.
    #[error("no class is unseen, so there is nothing to recognize")]
    NoUnseenClass,
    /// Nothing to learn from.
    #[error("no class is known, so there is nothing to learn from")]
    NoKnownClass,
    /// An unseen class that is shown in training.
    #[error("class `{class}` is unseen, but {count} of its instances are in `train`")]
    UnseenInTraining {
        /// The class.
        class: String,
        /// Its training instances.
        count: usize,
    },
    /// A class that is tested as a known one without having been learned.
    #[error("class `{class}` has {count} instances in `test_seen`, but none in `train`")]
    SeenWithoutTraining {
        /// The class.
        class: String,
        /// Its test instances.
        count: usize,
    },
    /// A draw of test instances of known classes, where there are some.
    #[error("it has {count} test instances of known classes, so none can be drawn")]
    TestsKnown {
        /// How many.
        count: usize,
    },
    /// A draw of test instances of known classes, of which none has two.
    #[error("no known class has two instances, so none can be tested that is not learned from")]
    SingleInstances,
    /// Generalized recognition without test instances of known classes.
    #[error("it has no test instances of known classes, so nothing shows how well these are recognized")]
    NoSeenTest,
    /// Instances divided one by one, where each has several labels.
    #[error(
        "it divides instances, which have several labels each: a split of tags divides classes, by `unseen`"
    )]
    InstancesWithTags,
    /// Too few known labels to find thresholds with.
    #[error(
        "{found} known labels have instances to learn from, and thresholds need 3: some are held out to find them"
    )]
    FewKnownLabels {
        /// How many there are.
        found: usize,
    },
}

/// Why a semantic representation cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SemanticProblem {
    /// Distances where vectors are needed.
    #[error("holds distances, but {needed_by} needs vectors")]
    NoVectors {
        /// The learner or method.
        needed_by: &'static str,
    },
    /// The same description for all known classes.
    #[error("describes all known classes alike, so nothing correlates with it")]
    AllAlike,
    /// A vector without a direction.
    #[error("the vector of class `{class}` is all zero, so it describes nothing")]
    ZeroVector {
        /// The class.
        class: String,
    },
    /// A vector whose norm leaves the range of a float.
    #[error("the vector of class `{class}` is too long for its norm")]
    NormOverflow {
        /// The class.
        class: String,
    },
    /// A precomputed distance that cannot be computed with.
    #[error(
        "the distance between `{}` and `{}` is {distance:e}, but at most {most:e} can be squared and summed up: divide all by a number",
        .classes[0], .classes[1]
    )]
    DistanceTooLarge {
        /// The two classes.
        classes: [String; 2],
        /// Their distance.
        distance: f64,
        /// The largest that can be used.
        most: f64,
    },
}
