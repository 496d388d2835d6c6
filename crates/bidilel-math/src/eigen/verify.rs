//! Eigenpairs and Cholesky factors held against products that were taken before anything was factored.
//!
//! For a few vectors $v$ of random signs ([`crate::check::probes`]) $A v$ and $B v$ are computed first. Afterwards
//! $v^\top (A p_i - \lambda_i B p_i)$ follows from them for every pair, and the mean of its squares over $v$ is
//! $\|A p_i - \lambda_i B p_i\|^2$, whatever has become of $A$ and $B$ meanwhile. With the iteration's tolerance, which is
//! relative to $\lambda_1$ in the norm of the reduced problem, and with backward errors of factorisation and solution
//! (Higham 2002, theorems 10.3 and 8.5), a pair that is right has
//! $$\|A p - \lambda B p\| \le \tau |\lambda_1| \|B p\| + c\, n u (\|A\| + |\lambda| \|B\|) \|p\|.$$
//!
//! # References
//! N. Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., 2002.

use faer::{Mat, MatRef};

use super::Eigen;
use crate::check::{Check, norm, probes};
use crate::vector::{add_scaled, column, dot};

/// Vectors that are sent through: four of them miss a wrong pair by less than a tenth of its residual once in thousands.
const PROBES: usize = 4;
/// $\tau$: the tolerance of the iteration, 1e-11, times the condition of a Cholesky factor that is still worth solving with.
const TOLERANCE: f64 = 1e-6;
/// $c$, by which rounding errors that add up may exceed $n$ of them.
const ROUNDING: f64 = 8.0;

/// Products of $A$ and $B$ with a few vectors, from before.
#[derive(Debug)]
pub(crate) struct Witness {
    probes: Mat<f64>,
    left: Mat<f64>,
    right: Mat<f64>,
}

impl Witness {
    /// Of $A p = \lambda B p$, by products with either matrix.
    pub(crate) fn new(
        size: usize,
        left_times: impl Fn(MatRef<'_, f64>) -> Mat<f64>,
        right_times: impl Fn(MatRef<'_, f64>) -> Mat<f64>,
    ) -> Self {
        let probes = probes(size, PROBES);
        Self { left: left_times(probes.as_ref()), right: right_times(probes.as_ref()), probes }
    }

    /// Of $A p = \lambda p$.
    pub(crate) fn plain(size: usize, times: impl Fn(MatRef<'_, f64>) -> Mat<f64>) -> Self {
        Self::new(size, times, |probes| probes.to_owned())
    }

    /// The largest residual of the pairs.
    pub(crate) fn pairs(&self, found: &Eigen) -> Check {
        let frobenius = |matrix: &Mat<f64>| matrix.norm_l2() / (PROBES as f64).sqrt();
        let (left, right) = (frobenius(&self.left), frobenius(&self.right));
        let size = self.probes.nrows() as f64;
        let backward = ROUNDING * size * f64::EPSILON / TOLERANCE;
        let first = found.values.first().map_or(0.0, |value| value.abs());
        let deviation = |(i, &value): (usize, &f64)| {
            let vector = column(found.vectors.as_ref(), i);
            let image: [f64; PROBES] =
                std::array::from_fn(|probe| dot(self.right.col_as_slice(probe), vector));
            let residual: [f64; PROBES] = std::array::from_fn(|probe| {
                dot(self.left.col_as_slice(probe), vector) - value * image[probe]
            });
            let share = (PROBES as f64).sqrt();
            let (residual, image) = (norm(&residual) / share, norm(&image) / share);
            let length = norm(vector);
            // Nothing but zeros is right to the last bit, and an infinite residual is not.
            let size = first * image + backward * (left + value.abs() * right) * length;
            if residual == 0.0 { 0.0 } else { residual / size }
        };
        let worst = found.values.iter().enumerate().map(deviation).fold(0.0, largest);
        Check { stage: "eigen", what: "the residual of an eigenpair", deviation: worst, bound: TOLERANCE }
    }

    /// How far $R R^\top v$ is from $B v$, for a lower triangular $R$.
    pub(crate) fn factor(&self, factor: MatRef<'_, f64>) -> Check {
        let size = factor.nrows();
        let deviation = |probe: usize| {
            let along = transposed_times(factor, self.probes.col_as_slice(probe));
            let mut difference = self.right.col_as_slice(probe).to_vec();
            for (j, along) in along.iter().enumerate() {
                add_scaled(&mut difference[j..], -along, &column(factor, j)[j..]);
            }
            norm(&difference)
        };
        let worst = (0..PROBES).map(deviation).fold(0.0, largest);
        let norm = self.right.norm_l2() / (PROBES as f64).sqrt();
        let deviation = if worst == 0.0 { 0.0 } else { worst / (norm * (size as f64).sqrt()) };
        let bound = ROUNDING * size as f64 * f64::EPSILON;
        Check { stage: "eigen", what: "the Cholesky factor", deviation, bound }
    }
}

/// How far eigenvectors are from $P^\top B P = I$, by one combination of them all.
pub(crate) fn norms(factor: MatRef<'_, f64>, found: &Eigen) -> Check {
    let count = found.values.len();
    let signs = probes(count, 1);
    let mut sum = vec![0.0; factor.nrows()];
    for j in 0..count {
        add_scaled(&mut sum, signs[(j, 0)], column(found.vectors.as_ref(), j));
    }
    let image = transposed_times(factor, &sum);
    let deviation = if count == 0 { 0.0 } else { (norm(&image).powi(2) / count as f64 - 1.0).abs() };
    Check { stage: "eigen", what: "the norm of the eigenvectors", deviation, bound: TOLERANCE }
}

/// $R^\top v$.
fn transposed_times(factor: MatRef<'_, f64>, vector: &[f64]) -> Vec<f64> {
    (0..factor.ncols()).map(|j| dot(&column(factor, j)[j..], &vector[j..])).collect()
}

/// The larger of two, NaN before all.
fn largest(most: f64, value: f64) -> f64 {
    if value > most || value.is_nan() { value } else { most }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eigen::{cholesky, generalized, solve_transposed};
    use crate::krylov::tests::random;
    use crate::parallel::product;
    use crate::{Error, Silent};

    fn pencil(size: usize) -> (Mat<f64>, Mat<f64>) {
        let (a, b) = (random(size, size / 2, 1), random(size, size + 2, 2));
        (product(a.as_ref(), a.transpose()), product(b.as_ref(), b.transpose()))
    }

    fn witness(left: &Mat<f64>, right: &Mat<f64>) -> Witness {
        let times = |matrix: &Mat<f64>, block: MatRef<'_, f64>| product(matrix.as_ref(), block);
        Witness::new(left.nrows(), |block| times(left, block), |block| times(right, block))
    }

    #[test]
    fn a_pair_or_a_factor_of_another_matrix_does_not_hold() {
        let (left, right) = pencil(150);
        let before = witness(&left, &right);
        let found = generalized(left.as_ref(), right.clone(), 20, &Silent).expect("definite");
        let factor = cholesky(right.clone()).expect("definite");
        assert!(before.pairs(&found).holds() && before.factor(factor.as_ref()).holds());
        assert!(norms(factor.as_ref(), &found).holds());
        // One entry of either matrix, changed by a thousandth of the largest.
        for (change_left, change_right) in [(true, false), (false, true)] {
            let (mut left, mut right) = (left.clone(), right.clone());
            let change = |matrix: &mut Mat<f64>| {
                let by = 1e-3 * matrix.norm_max();
                matrix[(70, 31)] += by;
                matrix[(31, 70)] += by;
            };
            if change_left {
                change(&mut left);
            }
            if change_right {
                change(&mut right);
            }
            let other = generalized(left.as_ref(), right.clone(), 20, &Silent).expect("still definite");
            let failure = before.pairs(&other).settle(&Silent).expect_err("pairs of another matrix");
            assert!(matches!(failure, Error::Check { .. }), "{failure}");
            let factor = cholesky(right).expect("still definite");
            assert_eq!(before.factor(factor.as_ref()).holds(), change_left);
        }
        let mut long = found.clone();
        long.vectors *= faer::Scale(1.001);
        assert!(!norms(factor.as_ref(), &long).holds() && before.pairs(&long).holds());
        let mut none = found;
        none.vectors[(3, 3)] = f64::NAN;
        assert!(!before.pairs(&none).holds() && !norms(factor.as_ref(), &none).holds());
    }

    #[test]
    fn an_ill_conditioned_right_side_holds() {
        let (left, mut right) = pencil(200);
        // A spectrum over twelve orders of magnitude.
        let scale = |i: usize| 10.0_f64.powf(-6.0 * i as f64 / 200.0);
        for j in 0..200 {
            for i in 0..200 {
                right[(i, j)] *= scale(i) * scale(j);
            }
        }
        let before = witness(&left, &right);
        let found = generalized(left.as_ref(), right.clone(), 30, &Silent).expect("definite");
        let mut check = before.pairs(&found);
        assert!(check.holds(), "{check}");
        let factor = cholesky(right).expect("definite");
        check = before.factor(factor.as_ref());
        assert!(check.holds(), "{check}");
        let mut whitened = Mat::<f64>::identity(200, 200);
        solve_transposed(factor.as_ref(), whitened.as_mut());
        check = norms(factor.as_ref(), &Eigen { values: vec![1.0; 200], vectors: whitened });
        assert!(check.holds(), "{check}");
    }
}
