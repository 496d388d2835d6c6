//! Euclidean geometry of columns: norms, normalisation, distances.

use faer::{ColRef, Mat, MatMut, MatRef};
use rayon::prelude::*;

use crate::Scalar;
use crate::vector::reduce;

/// Distances between every column of `left` and every column of `right`: left count x right count.
///
/// Differences are summed directly rather than expanded into products: near-equal points keep all their
/// digits, and a point's distance to itself is exactly zero.
pub fn pairwise(left: MatRef<'_, f64>, right: MatRef<'_, f64>) -> Mat<f64> {
    let mut distances = Mat::zeros(left.ncols(), right.ncols());
    distances.par_col_iter_mut().enumerate().for_each(|(j, column)| {
        for (i, entry) in column.iter_mut().enumerate() {
            *entry = squared(left.col(i), right.col(j)).sqrt();
        }
    });
    distances
}

/// Squared distance of two columns, in `f64` whatever their type.
pub fn squared<T: Scalar>(left: ColRef<'_, T>, right: ColRef<'_, T>) -> f64 {
    match (left.try_as_col_major(), right.try_as_col_major()) {
        (Some(left), Some(right)) => squared_slices(left.as_slice(), right.as_slice()),
        _ => left.iter().zip(right.iter()).map(|(&l, &r)| square(l.to_f64() - r.to_f64())).sum(),
    }
}

/// Squared distance of two slices of one length.
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

/// Norm of a slice, in `f64`.
pub fn norm<T: Scalar>(values: &[T]) -> f64 {
    reduce(
        values,
        values,
        #[inline(always)]
        |v: T, _| square(v.to_f64()),
    )
    .sqrt()
}

/// Divides every column by its norm, in place; returns how many columns were zero and stayed so.
pub fn normalize_columns<T: Scalar>(points: MatMut<'_, T>) -> usize {
    points
        .par_col_iter_mut()
        .map(|column| {
            let norm = match column.as_ref().try_as_col_major() {
                Some(column) => norm(column.as_slice()),
                None => column.as_ref().iter().map(|&v| square(v.to_f64())).sum::<f64>().sqrt(),
            };
            if norm > 0.0 {
                column.iter_mut().for_each(|v| *v = T::from_f64(v.to_f64() / norm));
            }
            usize::from(norm == 0.0)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
