//! Results compared with numbers that were computed apart from them.
//!
//! Every stage of a fit takes a few numbers from its input before anything is factored or overwritten, or by another and
//! plainer way, and compares its result with them. What agrees is reported; what does not is an error, never a result.

use std::fmt;

use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{Error, Observer, Result, vector};

/// One comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Check {
    /// The stage that compared, as [`Observer::stage`] names it.
    pub stage: &'static str,
    /// What was compared.
    pub what: &'static str,
    /// How far the two are apart, relative to their size.
    pub deviation: f64,
    /// How far apart rounding may bring them.
    pub bound: f64,
}

impl Check {
    /// Whether the two agree. NaN agrees with nothing.
    pub fn holds(&self) -> bool {
        self.deviation <= self.bound
    }

    /// Reports a check that holds.
    ///
    /// # Errors
    /// [`Error::Check`] where it does not.
    pub fn settle(self, watch: &dyn Observer) -> Result<()> {
        if !self.holds() {
            return Err(Error::Check { check: self });
        }
        watch.check(&self);
        Ok(())
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stage, what, deviation, bound } = self;
        write!(
            f,
            "stage `{stage}` failed its own check: {what} is off by {deviation:.1e}, at most {bound:.0e} is rounding"
        )
    }
}

/// The larger of two deviations, NaN before all.
pub(crate) fn worse(one: f64, other: f64) -> f64 {
    if one.is_nan() || other <= one { one } else { other }
}

/// The norm of a vector whose squares may leave the range of a float.
pub(crate) fn norm(values: &[f64]) -> f64 {
    let largest = vector::largest(values);
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    largest * values.iter().map(|value| (value / largest).powi(2)).sum::<f64>().sqrt()
}

/// Vectors of random signs, always the same: dimensions x vectors.
///
/// With entries of variance 1 the mean of $(v^\top r)^2$ over such $v$ is `$\|r\|^2$`, so that a few products stand for a norm.
pub fn probes(dim: usize, count: usize) -> Mat<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(0x0c4e_c4ed);
    Mat::from_fn(dim, count, |_, _| if random.random::<bool>() { 1.0 } else { -1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;

    #[test]
    fn norms_of_any_size_are_found() {
        for scale in [1.0, 1e-200, 1e200, 1e-320] {
            approx::assert_relative_eq!(norm(&[3.0 * scale, -4.0 * scale]), 5.0 * scale, max_relative = 1e-3);
        }
        assert!(norm(&[1.0, f64::NAN]).is_nan() && norm(&[]) == 0.0);
    }

    #[test]
    fn what_is_no_number_does_not_hold() {
        let check = |deviation| Check { stage: "eigen", what: "the residual", deviation, bound: 1e-6 };
        assert!(check(1e-6).settle(&Silent).is_ok());
        for deviation in [2e-6, f64::NAN, f64::INFINITY] {
            let failure = check(deviation).settle(&Silent).expect_err("too much");
            assert!(
                failure.to_string().starts_with("stage `eigen` failed its own check: the residual is off")
            );
        }
    }
}
