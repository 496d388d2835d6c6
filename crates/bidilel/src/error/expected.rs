//! What a setting must be, as data: messages and programs word it.

use std::borrow::Cow;
use std::fmt;

use crate::settings::Range;

/// What a setting must be. Displayed, it completes "must be ...".
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expected {
    /// Within its range, whatever the data are.
    Range(Range),
    /// Within bounds that the data set.
    Between {
        /// The least value.
        least: usize,
        /// The largest value.
        most: usize,
        /// What bounds it.
        limit: &'static str,
    },
    /// A weight per representation.
    Weights {
        /// How many representations there are.
        count: usize,
    },
    /// Used with two semantic representations.
    TwoSemantic,
    /// One kernel for all views, one for each, or kernels by name.
    Kernels {
        /// How many views there are.
        views: usize,
    },
    /// Given for a view that is in use.
    ViewInUse {
        /// The views in use.
        views: Vec<String>,
    },
    /// What these words say.
    Words(Cow<'static, str>),
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range(range) => range.fmt(f),
            Self::Between { least, most, limit } => write!(f, "between {least} and {most} ({limit})"),
            Self::Weights { count } => write!(f, "{count} weights, one for each representation"),
            Self::TwoSemantic => f.write_str("used with two semantic representations"),
            Self::Kernels { views } => {
                write!(f, "one for all, one for each of {views} views, or NAME=KERNEL")
            }
            Self::ViewInUse { views } => write!(f, "given for a view in use ({})", views.join(", ")),
            Self::Words(words) => f.write_str(words),
        }
    }
}

impl From<Range> for Expected {
    fn from(range: Range) -> Self {
        Self::Range(range)
    }
}

impl From<&'static str> for Expected {
    fn from(words: &'static str) -> Self {
        Self::Words(words.into())
    }
}

impl From<String> for Expected {
    fn from(words: String) -> Self {
        Self::Words(words.into())
    }
}
