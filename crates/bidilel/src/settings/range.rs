//! Values that a setting may have, whatever the data are.

use std::fmt;

/// Largest difference between the sum of weights and 1.
pub(super) const SUM_TOLERANCE: f64 = 1e-9;

/// The values that a setting may have. Displayed, it completes "must be ...".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// Any value of its type.
    Any,
    /// Above zero and finite.
    Positive,
    /// Zero, or above it and finite.
    NotNegative,
    /// From 0 to 1.
    Share,
    /// Above 0, up to 1.
    PositiveShare,
    /// Above 0, below 1.
    OpenShare,
    /// A whole number from here on.
    AtLeast(usize),
    /// Weights: non-negative, summing to one.
    Weights,
    /// Kernels of visual representations, as [`crate::visual::Kernel`] reads them.
    Kernels,
    /// Shares of classes by name, as [`crate::post::Prior`] reads them.
    Shares,
}

impl Range {
    /// Whether it contains a number. Ranges of lists say nothing of single numbers.
    pub fn contains(self, value: f64) -> bool {
        match self {
            Self::Any | Self::Weights | Self::Kernels | Self::Shares => true,
            Self::Positive => value > 0.0 && value.is_finite(),
            Self::NotNegative => value >= 0.0 && value.is_finite(),
            Self::Share => (0.0..=1.0).contains(&value),
            Self::PositiveShare => value > 0.0 && value <= 1.0,
            Self::OpenShare => value > 0.0 && value < 1.0,
            Self::AtLeast(least) => value >= least as f64,
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Any => "a value of its type",
            Self::Positive => "a positive number",
            Self::NotNegative => "zero or a positive number",
            Self::Share => "between 0 and 1",
            Self::PositiveShare => "above 0 and at most 1",
            Self::OpenShare => "above 0 and below 1",
            Self::AtLeast(least) => return write!(f, "at least {least}"),
            Self::Weights => "non-negative and sum to 1",
            Self::Kernels => "linear, rbf, rbf:GAMMA, chi2 or chi2:GAMMA",
            Self::Shares => {
                "CLASS=SHARE for each class once, with shares that are not negative and not all zero"
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_range_has_numbers_that_are_none() {
        let bounded = [Range::Positive, Range::NotNegative, Range::Share, Range::PositiveShare];
        for range in bounded.into_iter().chain([Range::AtLeast(1)]) {
            assert!(!range.contains(f64::NAN) && !range.contains(-1.0), "{range}");
            assert!(range.contains(1.0), "{range}");
        }
        for range in bounded {
            assert!(!range.contains(f64::INFINITY), "{range}");
        }
        assert!(Range::Share.contains(0.0) && !Range::PositiveShare.contains(0.0));
        assert!(
            Range::OpenShare.contains(0.5)
                && !Range::OpenShare.contains(0.0)
                && !Range::OpenShare.contains(1.0)
        );
        assert!(Range::NotNegative.contains(0.0) && !Range::Positive.contains(0.0));
    }
}
