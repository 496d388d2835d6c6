//! Scaling of a matrix by a power of two, so that its largest entry is about 1.
//!
//! faer's divide and conquer does not scale its input, and neither does our Householder tridiagonalization. Far from 1 the first
//! loses most of its digits (random 400 x 400 with entries of 1e12: residuals of 6e-4), and squares overflow or underflow.
//! Scaling by a power of two is exact.

use faer::Mat;

use crate::{Error, Result, vector};

/// The exponent of the power of two that a matrix was divided by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scaling(i32);

impl Scaling {
    /// Scales a symmetric matrix, given by its lower triangle.
    pub(super) fn of(matrix: &mut Mat<f64>) -> Result<Self> {
        Self::by(matrix, |j| j)
    }

    /// Scales a general matrix.
    pub(crate) fn of_block(matrix: &mut Mat<f64>) -> Result<Self> {
        Self::by(matrix, |_| 0)
    }

    /// Scales a matrix by the largest entry of its columns, each from row `first(j)` on.
    fn by(matrix: &mut Mat<f64>, first: impl Fn(usize) -> usize) -> Result<Self> {
        let largest = (0..matrix.ncols()).map(|j| vector::max_abs(&matrix.col_as_slice(j)[first(j)..]));
        let largest =
            largest.fold(0.0, |most: f64, value| if value > most || value.is_nan() { value } else { most });
        if !largest.is_finite() {
            return Err(Error::NotFinite { what: "the matrix of an eigenproblem" });
        }
        let scaling = if largest > 0.0 { Self(exponent(largest)) } else { Self(0) };
        if scaling.0 != 0 {
            for j in 0..matrix.ncols() {
                matrix
                    .col_as_slice_mut(j)
                    .iter_mut()
                    .for_each(|value| *value = times_power(*value, -scaling.0));
            }
        }
        Ok(scaling)
    }

    pub(super) fn restore(self, values: &mut [f64]) {
        values.iter_mut().for_each(|value| *value = times_power(*value, self.0));
    }
}

/// The binary exponent of a positive number.
#[expect(clippy::cast_possible_truncation, reason = "exponents of floats are small")]
fn exponent(value: f64) -> i32 {
    value.log2().floor() as i32
}

/// `value * 2^power`, in two steps, since the power itself may overflow.
fn times_power(value: f64, power: i32) -> f64 {
    value * 2.0_f64.powi(power / 2) * 2.0_f64.powi(power - power / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_matrix_comes_to_about_one_and_values_come_back_to_the_last_bit() {
        for scale in [1.0, 1e-300, 3e-310, 1e300, 1.7e308, 0.3] {
            let mut matrix =
                Mat::from_fn(3, 3, |i, j| if i >= j { scale / (1 + i) as f64 } else { f64::NAN });
            let before = [matrix[(0, 0)], matrix[(1, 0)]];
            let scaling = Scaling::of(&mut matrix).expect("the lower half is finite");
            assert!((0.5..2.0).contains(&matrix[(0, 0)]), "{scale:e}");
            let mut values = [matrix[(0, 0)], matrix[(1, 0)]];
            scaling.restore(&mut values);
            assert_eq!(values.map(f64::to_bits), before.map(f64::to_bits), "{scale:e}");
        }
        let mut zeros = Mat::zeros(2, 2);
        Scaling::of(&mut zeros).expect("nothing to divide by");
        for bad in [f64::NAN, f64::INFINITY] {
            let mut matrix = Mat::from_fn(2, 2, |i, j| if i > j { bad } else { 1.0 });
            assert!(matches!(Scaling::of(&mut matrix), Err(Error::NotFinite { .. })));
        }
    }
}
