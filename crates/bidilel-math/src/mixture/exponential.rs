//! A vectorizable exponential for arguments from -700 to 0, for the softmax.
//!
//! $e^x = 2^k e^r$ with $k$ the nearest integer to $x / \ln 2$ and $|r| \le \tfrac12 \ln 2$, where thirteen terms of the
//! Taylor series have a truncation error below 1e-17. There is no branch and no call in it, so that the compiler vectorizes
//! loops over it: the exponential of the system library took three quarters of all encoding time.

use std::f64::consts::LOG2_E;

/// $1.5 \cdot 2^{52}$: adding and subtracting it rounds to an integer, whose bits are the low bits of the sum.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// $\ln 2$ in two parts (Cody and Waite): multiples of the first are exact.
const LN_2: (f64, f64) = (6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10);
/// Taylor coefficients $1/n!$, from the last to the second.
const TERMS: [f64; 13] = [
    1.0 / 6_227_020_800.0,
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    1.0 / 2.0,
    1.0,
];

/// $e^x$ for $-700 \le x \le 0$, to two units in the last place.
#[inline]
pub(super) fn exp(x: f64) -> f64 {
    let rounded = x * LOG2_E + ROUND;
    let k = rounded - ROUND;
    let r = (x - k * LN_2.0) - k * LN_2.1;
    let mut sum = TERMS[0];
    for term in &TERMS[1..] {
        sum = sum * r + term;
    }
    // 2^k by its bits: the exponent field is k plus the bias of 1023.
    let power = f64::from_bits((rounded.to_bits() << 52).wrapping_add(1023 << 52));
    (sum * r + 1.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_exponential_to_two_units_in_the_last_place() {
        let mut worst = 0.0_f64;
        for i in 0..700_000 {
            let x = -f64::from(i) * 1e-3 * std::f64::consts::FRAC_PI_4 * 1.2;
            let x = x.max(-700.0);
            worst = worst.max((exp(x) / x.exp() - 1.0).abs());
        }
        assert!(worst < 2.0 * f64::EPSILON, "{worst:e}");
        assert_eq!(exp(0.0).to_bits(), 1.0_f64.to_bits());
    }
}
