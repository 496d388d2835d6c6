//! Randomized residual checks of eigenpairs and Cholesky factors, against products taken before the factorization.
//!
//! For a few random sign vectors $v$ ([`crate::check::probes`]) $A v$ and $B v$ are computed first. Afterwards
//! $v^\top (A p_i - \lambda_i B p_i)$ follows from them for every pair, and the expectation of its square over $v$ is
//! `$\|A p_i - \lambda_i B p_i\|^2$`, even if $A$ and $B$ have been overwritten meanwhile. With the tolerance of the iteration, which is
//! relative to $\lambda_1$ in the norm of the reduced problem, and with the backward errors of the factorization and the triangular
//! solves (Higham 2002, theorems 10.3 and 8.5), a correct pair satisfies
//! `$$\|A p - \lambda B p\| \le \tau |\lambda_1| (\|B p\| + s \|R\|) + c\, n u (\|A\| + |\lambda| \|B\|) \|p\|,$$`
//! where $s \tau$ is the tolerance of the iteration: a residual of the reduced problem is multiplied by $R$, and `$\|R\|^2 \le \|B\|_F$`.
//!
//! # References
//! N. Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., 2002.

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::Eigen;
use crate::check::{Check, norm, probes, worse};
use crate::vector::{add_scaled, column, dot};

/// Random sign vectors. With two, the estimate is below a hundredth of the residual once in ten thousand times, and real errors
/// exceed the tolerance by far more than that.
const PROBES: usize = 2;
/// $\tau$.
const TOLERANCE: f64 = 1e-6;
/// $s$: the iteration's tolerance of 1e-11 over $\tau$.
const FACTOR_SHARE: f64 = 1e-5;
/// Columns per task of a triangular matrix-vector product.
const COLUMNS_PER_TASK: usize = 128;
/// $c$: the factor by which accumulated rounding errors may exceed $n u$.
const ROUNDING: f64 = 8.0;

/// Products of $A$ and $B$ with random sign vectors, taken before the factorization.
#[derive(Debug)]
pub(crate) struct ResidualCheck {
    probes: Mat<f64>,
    left: Mat<f64>,
    right: Mat<f64>,
}

impl ResidualCheck {
    /// For $A p = \lambda B p$, from products with both matrices.
    pub(crate) fn new(size: usize, both_times: impl Fn(MatRef<'_, f64>) -> (Mat<f64>, Mat<f64>)) -> Self {
        let probes = probes(size, PROBES);
        let (left, right) = both_times(probes.as_ref());
        Self { probes, left, right }
    }

    /// For $A p = \lambda p$.
    pub(crate) fn standard(size: usize, times: impl Fn(MatRef<'_, f64>) -> Mat<f64>) -> Self {
        Self::new(size, |probes| (times(probes), probes.to_owned()))
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
            let vector_norm = norm(vector);
            // A zero residual passes whatever the bound; an infinite one never does.
            let iterated = first * (image + FACTOR_SHARE * right.sqrt());
            let size = iterated + backward * (left + value.abs() * right) * vector_norm;
            if residual == 0.0 { 0.0 } else { residual / size }
        };
        let all: Vec<f64> = found.values.par_iter().enumerate().map(deviation).collect();
        let worst = all.into_iter().fold(0.0, worse);
        Check { stage: "eigen", what: "the residual of an eigenpair", deviation: worst, bound: TOLERANCE }
    }

    /// The distance of $R R^\top v$ from $B v$, for a lower triangular $R$.
    pub(crate) fn factor(&self, factor: MatRef<'_, f64>) -> Check {
        let size = factor.nrows();
        // One vector is enough: every entry of the factor contributes, and a pass over them is not free.
        let along = transposed_times(factor, self.probes.col_as_slice(0));
        let found = times(factor, &along);
        let mut difference = self.right.col_as_slice(0).to_vec();
        add_scaled(&mut difference, -1.0, &found);
        let error = norm(&difference);
        let norm = self.right.norm_l2() / (PROBES as f64).sqrt();
        let deviation = if error == 0.0 { 0.0 } else { error / (norm * (size as f64).sqrt()) };
        let bound = ROUNDING * size as f64 * f64::EPSILON;
        Check { stage: "eigen", what: "the Cholesky factor", deviation, bound }
    }
}

/// The deviation of eigenvectors from $P^\top B P = I$, by one random combination of them.
pub(crate) fn norms(factor: MatRef<'_, f64>, found: &Eigen) -> Check {
    norm_check(&transposed_times(factor, &signed_sum(found)), found.values.len())
}

/// The same for $P^\top P = I$.
pub(crate) fn standard_norms(found: &Eigen) -> Check {
    norm_check(&signed_sum(found), found.values.len())
}

fn signed_sum(found: &Eigen) -> Vec<f64> {
    let signs = probes(found.values.len(), 1);
    let mut sum = vec![0.0; found.vectors.nrows()];
    for j in 0..found.values.len() {
        add_scaled(&mut sum, signs[(j, 0)], column(found.vectors.as_ref(), j));
    }
    sum
}

/// The squared norm of a signed sum of orthonormal vectors equals their number.
fn norm_check(sum: &[f64], count: usize) -> Check {
    let deviation = if count == 0 { 0.0 } else { (norm(sum).powi(2) / count as f64 - 1.0).abs() };
    Check { stage: "eigen", what: "the norm of the eigenvectors", deviation, bound: TOLERANCE }
}

/// $R^\top v$.
fn transposed_times(factor: MatRef<'_, f64>, vector: &[f64]) -> Vec<f64> {
    (0..factor.ncols()).into_par_iter().map(|j| dot(&column(factor, j)[j..], &vector[j..])).collect()
}

/// $R v$ by blocks of columns, whose results are added up in order.
fn times(factor: MatRef<'_, f64>, vector: &[f64]) -> Vec<f64> {
    let size = factor.nrows();
    let sums = |(part, vector): (usize, &[f64])| {
        let first = part * COLUMNS_PER_TASK;
        let mut sums = vec![0.0; size - first];
        for (j, value) in vector.iter().enumerate() {
            add_scaled(&mut sums[j..], *value, &column(factor, first + j)[first + j..]);
        }
        sums
    };
    let parts: Vec<Vec<f64>> = vector.par_chunks(COLUMNS_PER_TASK).enumerate().map(sums).collect();
    let mut all = vec![0.0; size];
    parts.iter().for_each(|part| add_scaled(&mut all[size - part.len()..], 1.0, part));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eigen::{cholesky, generalized, solve_lower_transposed};
    use crate::krylov::tests::random;
    use crate::parallel::product;
    use crate::{Error, Silent};

    fn pencil(size: usize) -> (Mat<f64>, Mat<f64>) {
        let (a, b) = (random(size, size / 2, 1), random(size, size + 2, 2));
        (product(a.as_ref(), a.transpose()), product(b.as_ref(), b.transpose()))
    }

    fn residual_check(left: &Mat<f64>, right: &Mat<f64>) -> ResidualCheck {
        let times = |matrix: &Mat<f64>, block: MatRef<'_, f64>| product(matrix.as_ref(), block);
        ResidualCheck::new(left.nrows(), |block| (times(left, block), times(right, block)))
    }

    #[test]
    fn a_pair_or_a_factor_of_another_matrix_fails() {
        let (left, right) = pencil(150);
        let before = residual_check(&left, &right);
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
            let failure = before.pairs(&other).enforce(&Silent).expect_err("pairs of another matrix");
            assert!(matches!(failure, Error::Check { .. }), "{failure}");
            let factor = cholesky(right).expect("still definite");
            assert_eq!(before.factor(factor.as_ref()).holds(), change_left);
        }
        let mut long = found.clone();
        long.vectors *= faer::Scale(1.001);
        assert!(!norms(factor.as_ref(), &long).holds() && before.pairs(&long).holds());
        let mut invalid = found;
        invalid.vectors[(3, 3)] = f64::NAN;
        assert!(!before.pairs(&invalid).holds() && !norms(factor.as_ref(), &invalid).holds());
    }

    #[test]
    fn an_ill_conditioned_right_side_passes() {
        let (left, mut right) = pencil(200);
        // A spectrum over twelve orders of magnitude.
        let scale = |i: usize| 10.0_f64.powf(-6.0 * i as f64 / 200.0);
        for j in 0..200 {
            for i in 0..200 {
                right[(i, j)] *= scale(i) * scale(j);
            }
        }
        let before = residual_check(&left, &right);
        let found = generalized(left.as_ref(), right.clone(), 30, &Silent).expect("definite");
        let mut check = before.pairs(&found);
        assert!(check.holds(), "{check}");
        let factor = cholesky(right).expect("definite");
        check = before.factor(factor.as_ref());
        assert!(check.holds(), "{check}");
        let mut whitened = Mat::<f64>::identity(200, 200);
        solve_lower_transposed(factor.as_ref(), whitened.as_mut());
        check = norms(factor.as_ref(), &Eigen { values: vec![1.0; 200], vectors: whitened });
        assert!(check.holds(), "{check}");
    }
}
