//! Loops over slices, in the widest vector registers that the machine has.
//!
//! The program is built for any processor of its kind; [`pulp`] picks the loop's widest version at run time. A fixed
//! number of running sums, added up in a fixed order, gives every version the same bits.

use faer::MatRef;
use pulp::{Simd, WithSimd};

use crate::{Scalar, simd};

/// Running sums of a reduction: enough to keep the adders of present processors busy.
const LANES: usize = 16;

/// Runs a loop in the widest registers; it should be inlined always, and its order must not depend on their width.
#[inline]
pub fn widest<R>(work: impl FnMut() -> R) -> R {
    struct Work<F>(F);
    impl<R, F: FnMut() -> R> WithSimd for Work<F> {
        type Output = R;

        // Called by reference: by value, what calls the closure may stay a function of its own, in narrow registers.
        #[inline(always)]
        fn with_simd<S: Simd>(mut self, _: S) -> R {
            (self.0)()
        }
    }
    simd::dispatch(Work(work))
}

/// The numbers of a column as they lie.
///
/// # Panics
/// If they do not lie side by side.
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
    widest(
        #[inline(always)]
        || {
            for (t, o) in target.iter_mut().zip(other) {
                *t += scale * o.to_f64();
            }
        },
    );
}

/// Writes numbers in `f64`.
pub fn widen<T: Scalar>(values: &[T], into: &mut [f64]) {
    widest(
        #[inline(always)]
        || into.iter_mut().zip(values).for_each(|(wide, value)| *wide = value.to_f64()),
    );
}

/// Whether all of these are numbers, and none is infinite.
pub fn all_finite(values: &[f32]) -> bool {
    widest(
        #[inline(always)]
        || values.iter().fold(true, |finite, value| finite & value.is_finite()),
    )
}

/// The largest magnitude; NaN where any number is none. A plain maximum would pass over NaN.
pub fn largest(values: &[f64]) -> f64 {
    widest(
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

/// $\sum_i f(l_i, r_i)$; `term` should be inlined always.
pub fn reduce<L: Scalar, R: Scalar>(left: &[L], right: &[R], term: impl Fn(L, R) -> f64) -> f64 {
    widest(
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
    fn the_largest_magnitude_of_anything_with_nan_is_nan() {
        let same = |found: f64, expected: f64| assert_eq!(found.to_bits(), expected.to_bits());
        for length in [1_usize, 15, 16, 17, 100] {
            let mut values: Vec<f64> = (0..length).map(|i| (i % 7) as f64 - 5.0).collect();
            same(largest(&values), 5.0);
            for place in [0, length / 2, length - 1] {
                let before = std::mem::replace(&mut values[place], f64::NAN);
                assert!(largest(&values).is_nan(), "{length} {place}");
                values[place] = f64::NEG_INFINITY;
                same(largest(&values), f64::INFINITY);
                values[place] = before;
            }
        }
        same(largest(&[]), 0.0);
    }

    #[test]
    fn sums_are_those_of_the_plain_formulas_at_any_length() {
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
