//! Euclidean norms, normalization and distances of columns.

use faer::linalg::matmul::matmul;
use faer::{Accum, ColRef, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use crate::parallel::zeros;
use crate::vector::reduce;
use crate::{Scalar, simd};

/// Squared distances below this fraction of the squared norms are recomputed from differences.
const CANCELLATION_FRACTION: f64 = 1e-2;
/// Columns of the distance matrix per task.
const BLOCK_COLUMNS: usize = 240;

/// Distances between every column of `left` and every column of `right`: left count x right count.
///
/// `$\|l - r\|^2 = \|l\|^2 + \|r\|^2 - 2 l^\top r$` from a matrix product. For close points that form
/// suffers from cancellation: their distances are recomputed from differences, so that the distance of a point to itself is
/// exactly zero.
pub fn pairwise(left: MatRef<'_, f64>, right: MatRef<'_, f64>) -> Mat<f64> {
    let squares = |points: MatRef<'_, f64>| -> Vec<f64> {
        (0..points.ncols()).map(|i| square_norm(points.col(i))).collect()
    };
    let left_squares = squares(left);
    let mut distances = zeros(left.ncols(), right.ncols());
    distances.par_col_chunks_mut(BLOCK_COLUMNS).enumerate().for_each(|(block, mut distances)| {
        let right = right.subcols(block * BLOCK_COLUMNS, distances.ncols());
        matmul(distances.as_mut(), Accum::Replace, left.transpose(), right, -2.0, Par::Seq);
        for (j, (column, own)) in distances.col_iter_mut().zip(squares(right)).enumerate() {
            // Always: the matrix was allocated here.
            let Some(column) = column.try_as_col_major_mut() else { continue };
            let column = column.as_slice_mut();
            if expand(column, &left_squares, own) {
                for (i, (entry, other)) in column.iter_mut().zip(&left_squares).enumerate() {
                    if *entry < CANCELLATION_FRACTION * (own + other) || !entry.is_finite() {
                        *entry = squared(left.col(i), right.col(j));
                    }
                }
            }
            square_roots(column);
        }
    });
    distances
}

/// Turns inner products into squared distances; returns whether any may suffer from cancellation, or is not finite.
fn expand(products: &mut [f64], squares: &[f64], own: f64) -> bool {
    simd::dispatch(
        #[inline(always)]
        || {
            let mut near = false;
            for (entry, other) in products.iter_mut().zip(squares) {
                let both = own + other;
                *entry += both;
                near |= *entry < CANCELLATION_FRACTION * both || !entry.is_finite();
            }
            near
        },
    )
}

fn square_roots(values: &mut [f64]) {
    simd::dispatch(
        #[inline(always)]
        || values.iter_mut().for_each(|value| *value = value.sqrt()),
    );
}

fn square_norm(column: ColRef<'_, f64>) -> f64 {
    match column.try_as_col_major() {
        Some(column) => reduce(
            column.as_slice(),
            column.as_slice(),
            #[inline(always)]
            |v: f64, _| square(v),
        ),
        None => column.iter().map(|&v| square(v)).sum(),
    }
}

/// Squared distance of two columns, computed in `f64`.
pub fn squared<T: Scalar>(left: ColRef<'_, T>, right: ColRef<'_, T>) -> f64 {
    match (left.try_as_col_major(), right.try_as_col_major()) {
        (Some(left), Some(right)) => squared_slices(left.as_slice(), right.as_slice()),
        _ => left.iter().zip(right.iter()).map(|(&l, &r)| square(l.to_f64() - r.to_f64())).sum(),
    }
}

/// Squared distance of two slices of equal length, computed in `f64`.
pub fn squared_slices<T: Scalar>(left: &[T], right: &[T]) -> f64 {
    reduce(
        left,
        right,
        #[inline(always)]
        |l: T, r: T| square(l.to_f64() - r.to_f64()),
    )
}

#[inline]
fn square(value: f64) -> f64 {
    value * value
}

/// Euclidean norm of a slice, computed in `f64`.
pub fn norm<T: Scalar>(values: &[T]) -> f64 {
    reduce(
        values,
        values,
        #[inline(always)]
        |v: T, _| square(v.to_f64()),
    )
    .sqrt()
}

/// Normalizes every column in place; zero columns stay zero, and their number is returned.
pub fn normalize_columns<T: Scalar>(points: MatMut<'_, T>) -> usize {
    points
        .par_col_iter_mut()
        .map(|mut column| {
            if let Some(column) = column.as_mut().try_as_col_major_mut() {
                return usize::from(!normalize(column.as_slice_mut()));
            }
            let mut values: Vec<T> = column.as_ref().iter().copied().collect();
            let done = normalize(&mut values);
            column.iter_mut().zip(values).for_each(|(entry, value)| *entry = value);
            usize::from(!done)
        })
        .sum()
}

/// Writes the result of [`normalize`] in `f64`; returns the norm.
pub fn normalize_into<T: Scalar>(values: &[T], into: &mut [f64]) -> f64 {
    let norm = norm(values);
    let factor = reciprocal(norm);
    simd::dispatch(
        #[inline(always)]
        || {
            for (wide, value) in into.iter_mut().zip(values) {
                *wide = T::from_f64(value.to_f64() * factor).to_f64();
            }
        },
    );
    norm
}

/// Divides a slice by its norm, in place; returns false for a zero slice, which stays as it is.
pub fn normalize<T: Scalar>(values: &mut [T]) -> bool {
    let norm = norm(values);
    let factor = reciprocal(norm);
    simd::dispatch(
        #[inline(always)]
        || values.iter_mut().for_each(|value| *value = T::from_f64(value.to_f64() * factor)),
    );
    norm != 0.0
}

/// The reciprocal of a norm, since divisions take several times as long. A norm is zero, or far above the subnormal numbers, whose
/// reciprocals overflow.
fn reciprocal(norm: f64) -> f64 {
    if norm == 0.0 { 1.0 } else { norm.recip() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn normalizing_out_of_place_gives_the_same_bits_as_in_place() {
        for scale in [0.0, 1.0, 1e-3, 7e37, 1e-45] {
            let values: Vec<f32> = (0..100_u8).map(|i| f32::from(i % 13) * scale).collect();
            let mut wide = vec![0.0; 100];
            let norm = normalize_into(&values, &mut wide);
            let mut own = values.clone();
            assert_eq!(normalize(&mut own), norm > 0.0);
            assert!(own.iter().zip(&wide).all(|(own, wide)| f64::from(*own).to_bits() == wide.to_bits()));
        }
        let mut tiny = [3e-160_f64, 4e-160];
        assert!(normalize(&mut tiny) && (tiny[0] - 0.6).abs() < 1e-2);
    }

    proptest! {
        #[test]
        fn distances_are_symmetric_zero_on_the_diagonal_and_obey_the_triangle(
            values in prop::collection::vec(-10.0..10.0_f64, 11 * 5)
        ) {
            let points = MatRef::from_column_major_slice(&values, 11, 5);
            let distances = pairwise(points, points);
            for i in 0..5 {
                prop_assert!(distances[(i, i)].to_bits() == 0);
                for j in 0..5 {
                    prop_assert!(distances[(i, j)].to_bits() == distances[(j, i)].to_bits());
                    for k in 0..5 {
                        prop_assert!(distances[(i, j)] <= distances[(i, k)] + distances[(k, j)] + 1e-9);
                    }
                }
            }
        }
    }

    #[test]
    fn a_zero_column_stays_zero_and_is_counted() {
        let mut points = Mat::from_fn(3, 2, |_, j| j as f64 * 2.0);
        assert_eq!(normalize_columns(points.as_mut()), 1);
        assert!(norm(points.col_as_slice(0)) < 1e-300);
        approx::assert_relative_eq!(norm(points.col_as_slice(1)), 1.0);
    }
}
