//! A power and a norm, which make feature rows comparable by products.
//!
//! $x \leftarrow \mathrm{sign}(x) |x|^p$ takes weight from the few large entries; $p = 1/2$ of a histogram, then the l2
//! norm, is the Hellinger kernel. Then the row is divided by its norm.

use serde::{Deserialize, Serialize};

/// What a row is divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Norm {
    /// The root of its sum of squares.
    L2,
    /// The sum of its magnitudes.
    L1,
    /// Nothing.
    None,
}

/// Normalizes a row in place; a row of zeros stays as it is.
pub fn apply(values: &mut [f64], power: f64, norm: Norm) {
    // The square root has an instruction of its own; x^1 is x to the last bit.
    let root = (power - 0.5).abs() < f64::EPSILON;
    let raised = |size: f64| if root { size.sqrt() } else { size.powf(power) };
    values.iter_mut().for_each(|value| *value = raised(value.abs()).copysign(*value));
    let norm = match norm {
        Norm::L2 => values.iter().map(|value| value * value).sum::<f64>().sqrt(),
        Norm::L1 => values.iter().map(|value| value.abs()).sum(),
        Norm::None => 1.0,
    };
    if norm > 0.0 {
        values.iter_mut().for_each(|value| *value /= norm);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(power: f64, norm: Norm) -> Vec<f64> {
        let mut values = vec![4.0, -9.0, 0.0];
        apply(&mut values, power, norm);
        values
    }

    #[test]
    fn powers_keep_the_sign_and_norms_are_one() {
        assert_eq!(applied(1.0, Norm::None), [4.0, -9.0, 0.0]);
        assert_eq!(applied(0.5, Norm::None), [2.0, -3.0, 0.0]);
        assert_eq!(applied(0.5, Norm::L1), [0.4, -0.6, 0.0]);
        let l2 = applied(0.5, Norm::L2);
        approx::assert_relative_eq!(l2.iter().map(|v| v * v).sum::<f64>(), 1.0, max_relative = 1e-15);
        let mut zeros = vec![0.0; 3];
        apply(&mut zeros, 0.5, Norm::L2);
        assert!(zeros.iter().all(|value| value.abs() < f64::MIN_POSITIVE));
    }
}
