//! Level-1 kernels on slices: dot products, scaled additions, norms.
//!
//! They run at the SIMD level that [`crate::simd`] selects at run time. A reduction has a fixed number of accumulators,
//! added up in a fixed order, so that every level gives the same bits.

use faer::MatRef;

use crate::{Scalar, simd};

/// Accumulators of a reduction: enough to hide the latency of the adders.
const LANES: usize = 16;

/// A column as a slice.
///
/// # Panics
/// If the columns of the matrix are not contiguous.
pub fn column<T: Scalar>(matrix: MatRef<'_, T>, index: usize) -> &[T] {
    matrix.col(index).try_as_col_major().expect("columns are contiguous").as_slice()
}

/// $\sum_i l_i r_i$.
pub fn dot(left: &[f64], right: &[f64]) -> f64 {
    reduce(
        left,
        right,
        #[inline(always)]
        |l, r| l * r,
    )
}

/// `target += scale * other`.
pub fn add_scaled<T: Scalar>(target: &mut [f64], scale: f64, other: &[T]) {
    simd::dispatch(
        #[inline(always)]
        || {
            for (t, o) in target.iter_mut().zip(other) {
                *t += scale * o.to_f64();
            }
        },
    );
}

/// Converts to `f64`.
pub fn widen<T: Scalar>(values: &[T], into: &mut [f64]) {
    simd::dispatch(
        #[inline(always)]
        || into.iter_mut().zip(values).for_each(|(wide, value)| *wide = value.to_f64()),
    );
}

/// Whether all values are finite.
pub fn all_finite(values: &[f32]) -> bool {
    simd::dispatch(
        #[inline(always)]
        || values.iter().fold(true, |finite, value| finite & value.is_finite()),
    )
}

/// $\max_i |v_i|$; NaN where any value is NaN, which `f64::max` would ignore.
pub fn max_abs(values: &[f64]) -> f64 {
    simd::dispatch(
        #[inline(always)]
        || {
            let (mut most, mut not_a_number) = ([0.0_f64; LANES], [false; LANES]);
            let (chunks, tail) = values.as_chunks::<LANES>();
            for chunk in chunks {
                for lane in 0..LANES {
                    let magnitude = chunk[lane].abs();
                    most[lane] = if magnitude > most[lane] { magnitude } else { most[lane] };
                    not_a_number[lane] |= magnitude.is_nan();
                }
            }
            let most = most.iter().chain(tail).fold(0.0_f64, |most, value| most.max(value.abs()));
            let none = not_a_number.contains(&true) || tail.iter().any(|value| value.is_nan());
            if none { f64::NAN } else { most }
        },
    )
}

/// $\sum_i f(l_i, r_i)$; `term` should be `#[inline(always)]`.
pub fn reduce<L: Scalar, R: Scalar>(left: &[L], right: &[R], term: impl Fn(L, R) -> f64) -> f64 {
    simd::dispatch(
        #[inline(always)]
        || {
            let mut sums = [0.0; LANES];
            let (left, left_tail) = left.as_chunks::<LANES>();
            let (right, right_tail) = right.as_chunks::<LANES>();
            for (l, r) in left.iter().zip(right) {
                for lane in 0..LANES {
                    sums[lane] += term(l[lane], r[lane]);
                }
            }
            let tail: f64 = left_tail.iter().zip(right_tail).map(|(&l, &r)| term(l, r)).sum();
            sums.iter().sum::<f64>() + tail
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_maximum_norm_of_a_vector_with_nan_is_nan() {
        let same = |found: f64, expected: f64| assert_eq!(found.to_bits(), expected.to_bits());
        for length in [1_usize, 15, 16, 17, 100] {
            let mut values: Vec<f64> = (0..length).map(|i| (i % 7) as f64 - 5.0).collect();
            same(max_abs(&values), 5.0);
            for place in [0, length / 2, length - 1] {
                let before = std::mem::replace(&mut values[place], f64::NAN);
                assert!(max_abs(&values).is_nan(), "{length} {place}");
                values[place] = f64::NEG_INFINITY;
                same(max_abs(&values), f64::INFINITY);
                values[place] = before;
            }
        }
        same(max_abs(&[]), 0.0);
    }

    #[test]
    fn reductions_equal_the_plain_formulas_at_any_length() {
        for length in [0, 1, 15, 16, 17, 100] {
            let left: Vec<f64> = (0..length).map(|i| f64::from(i * 7 % 13)).collect();
            let right: Vec<f64> = (0..length).map(|i| f64::from(i * 5 % 11)).collect();
            let pairs = || left.iter().zip(&right);
            approx::assert_relative_eq!(dot(&left, &right), pairs().map(|(l, r)| l * r).sum());
            let mut sum = left.clone();
            add_scaled(&mut sum, 2.0, &right);
            assert!(sum.iter().zip(pairs()).all(|(s, (l, r))| (s - (l + 2.0 * r)).abs() < 1e-12));
        }
    }
}
