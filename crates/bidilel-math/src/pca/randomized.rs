//! Randomized subspace iteration with oversampling (Halko, Martinsson and Tropp 2011).
//!
//! With a basis $B$ of orthonormal rows: $B \leftarrow \mathrm{orth}(B C)$ a few times, each
//! one pass over the columns, then Rayleigh-Ritz: the eigenpairs of $B C B^\top$. Memory is that of $B$ and $BC$, whatever the number
//! of columns. The residuals `$\|C u_i - \lambda_i u_i\|$` are computed, not estimated: each bounds the distance of
//! $\lambda_i$ from an eigenvalue.

use faer::{Accum, Mat, MatRef};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::{ColumnSource, PrincipalComponents, Projection, check_variance, each_block, rank};
use crate::eigen::scaling::Scaling;
use crate::eigen::{Eigen, Whitener, fix_signs, full_in_place};
use crate::parallel::{multiply, product};
use crate::{Error, Observer, Silent};

/// Subspace iterations, each a pass over the columns; the error of the variances shrinks by the squared ratio of eigenvalues.
const ITERATIONS: usize = 4;
/// Oversampling: minimum number of basis vectors beyond the requested directions.
const MIN_OVERSAMPLING: usize = 32;

pub(super) fn principal_components<C: ColumnSource>(
    data: &C,
    count: usize,
    mean: Vec<f64>,
    seed: u64,
    watch: &dyn Observer,
) -> Result<PrincipalComponents, C::Error> {
    let width = (count + MIN_OVERSAMPLING.max(count / 10)).min(data.dim());
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut basis = Mat::from_fn(width, data.dim(), |_, _| StandardNormal.sample(&mut random));
    let mut image = Mat::zeros(0, 0);
    let mut total = 0.0;
    for iteration in 0..=ITERATIONS {
        basis = orthonormal(if iteration == 0 { basis } else { image })?;
        image = Mat::zeros(basis.nrows(), data.dim());
        total = 0.0;
        each_block(data, &mean, |_, block| {
            total += block.squared_norm_l2();
            let along = product(basis.as_ref(), block);
            multiply(image.as_mut(), Accum::Add, along.as_ref(), block.transpose());
            Ok(())
        })?;
        // Before a zero image is orthonormalized.
        check_variance(total)?;
        watch.progress(iteration + 1, ITERATIONS + 1);
    }
    let inside = product(image.as_ref(), basis.transpose());
    let size = inside.nrows();
    let inside = Mat::from_fn(size, size, |i, j| f64::midpoint(inside[(i, j)], inside[(j, i)]));
    let Eigen { values, vectors } = full_in_place(inside, count, watch)?;
    let rank = rank(&values);
    let vectors = vectors.subcols(0, rank);
    let mut directions = product(basis.transpose(), vectors);
    let residual = residual(directions.as_ref(), image.as_ref(), vectors, &values);
    fix_signs(directions.as_mut());
    let explained_variance_ratio = values[..rank].iter().sum::<f64>() / total;
    Ok(PrincipalComponents {
        projection: Projection { mean, directions },
        explained_variance_ratio,
        residual: Some(residual),
    })
}

/// The largest residual, relative to the largest eigenvalue.
fn residual(
    directions: MatRef<'_, f64>,
    image: MatRef<'_, f64>,
    vectors: MatRef<'_, f64>,
    values: &[f64],
) -> f64 {
    let images = product(image.transpose(), vectors);
    let norms = (0..directions.ncols()).map(|i| {
        let pairs = images.col(i).iter().zip(directions.col(i).iter());
        pairs.map(|(image, direction)| (image - values[i] * direction).powi(2)).sum::<f64>().sqrt()
    });
    norms.fold(0.0, f64::max) / values[0]
}

/// Orthonormal rows that span the rows of `block`; fewer where those are dependent.
fn orthonormal(block: Mat<f64>) -> Result<Mat<f64>, Error> {
    let mut block = block;
    // Squares of very small entries would underflow.
    Scaling::of_block(&mut block)?;
    // Twice is enough: the second pass removes the rounding errors of the first.
    for _ in 0..2 {
        let gram = product(block.as_ref(), block.transpose());
        block = Whitener::new(gram.as_ref(), &Silent)?.forward(block.as_ref());
    }
    Ok(block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;
    use crate::krylov::tests::random;
    use crate::pca::{self, Method};

    fn points(decay: f64) -> Mat<f64> {
        let noise = random(120, 500, 3);
        Mat::from_fn(120, 500, |i, j| noise[(i, j)] * decay.powi(i32::try_from(i).expect("a few")))
    }

    #[test]
    fn the_variance_kept_is_nearly_the_best_and_the_residual_says_how_nearly() {
        for (decay, nearly, bound) in [(0.8, 1e-6, 1e-4), (0.97, 1e-3, 0.02)] {
            let points = points(decay);
            let exact =
                pca::principal_components(&points.as_ref(), 10, Method::Exact, &Silent).expect("finite");
            let found =
                pca::principal_components(&points.as_ref(), 10, Method::Randomized { seed: 1 }, &Silent)
                    .expect("finite");
            assert!(
                found.explained_variance_ratio <= exact.explained_variance_ratio + 1e-12,
                "no subspace keeps more than the best"
            );
            assert!(
                found.explained_variance_ratio > exact.explained_variance_ratio - nearly,
                "{} of {}",
                found.explained_variance_ratio,
                exact.explained_variance_ratio
            );
            let residual = found.residual.expect("iterated directions have one");
            assert!(residual < bound && residual > 0.0, "{residual}");
            let gram = product(found.projection.directions.transpose(), found.projection.directions.as_ref());
            assert!((gram - Mat::<f64>::identity(10, 10)).norm_max() < 1e-9);
        }
    }

    #[test]
    fn points_that_do_not_vary_are_an_error() {
        let same = Mat::<f64>::from_fn(50, 90, |_, _| 2.0);
        let found = pca::principal_components(&same.as_ref(), 3, Method::Randomized { seed: 1 }, &Silent);
        assert!(matches!(found, Err(Error::Constant { .. })));
    }

    #[test]
    fn fewer_dimensions_than_asked_for_and_any_number_of_threads() {
        let low = product(random(60, 5, 1).as_ref(), random(5, 200, 2).as_ref());
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a small pool");
            pool.install(|| {
                pca::principal_components(&low.as_ref(), 20, Method::Randomized { seed: 1 }, &Silent)
                    .expect("finite")
            })
        };
        let one = with(1);
        assert_eq!(one.projection.directions.ncols(), 5);
        assert_eq!(with(2), one);
        assert_eq!(with(3), one);
    }
}
