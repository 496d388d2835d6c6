//! Threads: how many, and matrix products on all of them.
//!
//! The number of threads is that of the rayon pool a caller runs in. A product is cut into panels of
//! fixed width, one thread a panel, so its bits do not depend on how many threads there are.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use crate::Scalar;

/// Width of the panels that one thread computes.
const PANEL: usize = 128;

/// `destination = left * right`, or added to it.
pub fn multiply<T: Scalar>(
    destination: MatMut<'_, T>,
    accumulate: Accum,
    left: MatRef<'_, T>,
    right: MatRef<'_, T>,
) {
    // Panels run along the longer side, so that thin products are shared too.
    if destination.nrows() > destination.ncols() {
        return multiply(destination.transpose_mut(), accumulate, right.transpose(), left.transpose());
    }
    destination.par_col_chunks_mut(PANEL).enumerate().for_each(|(index, panel)| {
        let columns = right.subcols(index * PANEL, panel.ncols());
        matmul(panel, accumulate, left, columns, T::from_f64(1.0), Par::Seq);
    });
}

/// The product `left * right` as a new matrix.
pub fn product<T: Scalar>(left: MatRef<'_, T>, right: MatRef<'_, T>) -> Mat<T> {
    let mut result = Mat::zeros(left.nrows(), right.ncols());
    multiply(result.as_mut(), Accum::Replace, left, right);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_have_the_same_bits_for_any_number_of_threads() {
        let left = Mat::from_fn(300, 70, |i, j| ((i * 31 + j * 17) % 101) as f64 / 7.0);
        let right = Mat::from_fn(70, 410, |i, j| ((i * 13 + j * 29) % 89) as f64 / 3.0);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a small pool");
            pool.install(|| {
                (product(left.as_ref(), right.as_ref()), product(right.transpose(), left.transpose()))
            })
        };
        assert_eq!(with(1), with(3));
        let (forward, backward) = with(2);
        assert!((forward.transpose() - backward).norm_max() < 1e-9);
    }
}
