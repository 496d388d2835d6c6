//! The number types of feature matrices.

use faer::traits::RealField;

use crate::lanes::Lanes;

/// The number type of features: `f32`, or `f64` where a caller needs full precision.
pub trait Scalar: RealField + Lanes + Copy + Send + Sync + 'static {
    /// Converts without loss.
    fn to_f64(self) -> f64;
    /// Rounds to this type.
    fn from_f64(value: f64) -> Self;
}

impl Scalar for f32 {
    #[inline]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    #[expect(clippy::cast_possible_truncation, reason = "rounding is what is asked for")]
    fn from_f64(value: f64) -> Self {
        value as Self
    }
}

impl Scalar for f64 {
    #[inline]
    fn to_f64(self) -> f64 {
        self
    }
    fn from_f64(value: f64) -> Self {
        value
    }
}
