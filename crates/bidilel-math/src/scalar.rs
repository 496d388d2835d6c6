//! The number types that feature matrices come in.

use faer::traits::RealField;

use crate::lanes::Lanes;

/// A feature's number type: `f32`, or `f64` where a caller wants every digit.
pub trait Scalar: RealField + Lanes + Copy + Send + Sync + 'static {
    /// Widens without loss.
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
