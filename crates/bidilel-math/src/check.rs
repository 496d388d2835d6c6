//! Self-checks: results compared with independently computed numbers.
//!
//! Every stage of a fit computes a few numbers from its input, before anything is factored or overwritten or by a simpler
//! method, and compares its result with them. A check that holds is reported to the observer; one that fails is an error.

use std::fmt;

use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{Error, Observer, Result, vector};

/// One comparison of a result with an independent computation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Check {
    /// The stage that compared, as [`Observer::stage`] names it.
    pub stage: &'static str,
    /// What was compared.
    pub what: &'static str,
    /// Their difference, relative to their size.
    pub deviation: f64,
    /// The largest deviation that rounding accounts for.
    pub bound: f64,
}

impl Check {
    /// Whether the deviation is within the bound; false for NaN.
    pub fn holds(&self) -> bool {
        self.deviation <= self.bound
    }

    /// Reports a check that holds to the observer.
    ///
    /// # Errors
    /// [`Error::Check`] where it does not; [`Error::Cancelled`] where the observer has cancelled, since the result may have been cut short.
    pub fn enforce(self, watch: &dyn Observer) -> Result<()> {
        watch.go_on()?;
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

/// The larger of two deviations; NaN is larger than everything.
pub(crate) fn worse(one: f64, other: f64) -> f64 {
    if one.is_nan() || other <= one { one } else { other }
}

/// The Euclidean norm of a vector whose squares may overflow or underflow.
pub(crate) fn norm(values: &[f64]) -> f64 {
    let largest = vector::max_abs(values);
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    largest * values.iter().map(|value| (value / largest).powi(2)).sum::<f64>().sqrt()
}

/// Random sign vectors from a fixed seed, dimensions x vectors.
///
/// The expectation of $(v^\top r)^2$ over random signs $v$ is `$\|r\|^2$`, so that a few inner products estimate a norm.
pub fn probes(dim: usize, count: usize) -> Mat<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(0x0c4e_c4ed);
    Mat::from_fn(dim, count, |_, _| if random.random::<bool>() { 1.0 } else { -1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;

    #[test]
    fn norms_neither_overflow_nor_underflow() {
        for scale in [1.0, 1e-200, 1e200, 1e-320] {
            approx::assert_relative_eq!(norm(&[3.0 * scale, -4.0 * scale]), 5.0 * scale, max_relative = 1e-3);
        }
        assert!(norm(&[1.0, f64::NAN]).is_nan() && norm(&[]) == 0.0);
    }

    #[test]
    fn nan_and_large_deviations_fail() {
        let check = |deviation| Check { stage: "eigen", what: "the residual", deviation, bound: 1e-6 };
        assert!(check(1e-6).enforce(&Silent).is_ok());
        for deviation in [2e-6, f64::NAN, f64::INFINITY] {
            let failure = check(deviation).enforce(&Silent).expect_err("too much");
            assert!(
                failure.to_string().starts_with("stage `eigen` failed its own check: the residual is off")
            );
        }
    }
}
