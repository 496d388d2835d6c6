//! Leading eigenpairs of a symmetric operator by a block Krylov method with thick restarts.
//!
//! The Krylov space spanned by $[V, CV, C^2V, \dots]$ is stored as an orthonormal basis $Q$ together with its image
//! $CQ$. The Ritz pairs of $Q^\top C Q$ approach the leading eigenpairs of $C$ from below; their residuals
//! `$\|C q - \theta q\|$` are computed, not estimated, and bound the error of every eigenvalue. A full basis is restarted from
//! the leading Ritz vectors, and expanded again from their residuals.
//!
//! # Multiple eigenvalues
//! Small residuals show that pairs are eigenpairs, not that they are the leading ones. A Krylov space grown from a block of $w$
//! vectors has at most $w$ independent vectors in the eigenspace of any one eigenvalue, and with a random block it has
//! exactly as many as the smaller of $w$ and the multiplicity. So nothing is missing where every eigenvalue above the last
//! one was found fewer than $w$ times. Members of a cluster that rounding separates count as one eigenvalue only if
//! they agree to `MULTIPLE_TOLERANCE`, since otherwise no $w$ of them span an invariant space, and residuals stay large. Where one
//! was found $w$ times or more, the basis is expanded from another random block, orthogonal to everything found, with as
//! many restarts as the first block took to converge, until such a block adds nothing. That is a heuristic: missing pairs have
//! larger eigenvalues than the last pair found, and converge no more slowly. Where restarts run out, the caller solves the
//! problem directly.
//!
//! # References
//! Y. Saad, *Numerical Methods for Large Eigenvalue Problems*, 2nd ed., 2011, chapters 6 and 7.

use faer::{Accum, Mat, MatRef};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::eigen::{Eigen, direct};
use crate::parallel::{copy, multiply, product, zeros};
use crate::tiles::symmetrize_with;
use crate::vector::{add_scaled, dot};
use crate::{Error, Observer, Result};

/// Residual, relative to the largest eigenvalue, at which a pair has converged.
const RESIDUAL_TOLERANCE: f64 = 1e-11;
/// Blocks of the basis beyond the wanted pairs: the highest power of the operator before a restart.
const MAX_POWERS: usize = 31;
/// Restarts before giving up: by then a direct solution is faster.
const MAX_RESTARTS: usize = 12;
/// Eigenvalues that agree to this, relative to the largest, may be one multiple eigenvalue: a hundred times the error that their
/// residuals allow.
const MULTIPLE_TOLERANCE: f64 = 1e-9;

/// The `count` leading eigenpairs of the symmetric operator `apply` on `size` dimensions.
///
/// # Errors
/// [`Error::NoConvergence`] where residuals stay large; [`Error::NotFinite`] where the operator overflows.
pub(crate) fn leading(
    apply: &dyn Fn(MatRef<'_, f64>) -> Mat<f64>,
    size: usize,
    count: usize,
    watch: &dyn Observer,
) -> Result<Eigen> {
    // With the same number of basis vectors, narrow blocks reach a higher power of the operator: for 100 pairs of the scatter
    // problem of CUB in 4,096 dimensions 600 vectors suffice with blocks of 16, and 1,200 are needed with blocks of 50.
    let width = (count / 8).clamp(16, 32).min(size);
    let capacity = (count + MAX_POWERS * width).min(size);
    // A fixed seed: the result is deterministic.
    let mut random = ChaCha8Rng::seed_from_u64(0x5eed);
    let mut basis = Basis { vectors: zeros(size, capacity), images: zeros(size, capacity), used: 0 };
    let mut next = gaussian(size, width, &mut random);
    // Where an eigenvalue may have a higher multiplicity than a block can find: the values before the last random block, and
    // the restarts that this block has left, as many as the first block took.
    let mut suspected: Option<(Vec<f64>, usize)> = None;
    for restart in 0..MAX_RESTARTS {
        // Expand by powers of the operator until the basis is full.
        while basis.used < capacity {
            let room = (capacity - basis.used).min(next.ncols());
            let block = orthonormal(basis.vectors(), copy(next.subcols(0, room)), &mut random)?;
            next = apply(block.as_ref());
            basis.append(block.as_ref(), next.as_ref());
            watch.progress(basis.used, capacity);
            if watch.poll().is_break() {
                return Err(Error::Cancelled);
            }
        }
        let ritz = basis.rayleigh_ritz((count + width).min(capacity))?;
        let largest = ritz.values[0].abs().max(f64::MIN_POSITIVE);
        basis.rotate(ritz.vectors.as_ref());
        let residuals = basis.residuals(&ritz.values);
        let norms: Vec<f64> = residuals.col_iter().map(|column| column.norm_l2()).collect();
        let open: Vec<usize> = (0..count).filter(|&i| norms[i] > RESIDUAL_TOLERANCE * largest).collect();
        if open.is_empty() || capacity == size {
            let mut values = ritz.values;
            values.truncate(count);
            let alike = |(before, now): (&f64, &f64)| (now - before).abs() <= MULTIPLE_TOLERANCE * largest;
            let same = |before: &[f64]| before.iter().zip(&values).all(alike);
            if capacity == size || !has_multiple(&values, width, MULTIPLE_TOLERANCE * largest) {
                return Ok(Eigen { values, vectors: copy(basis.vectors().subcols(0, count)) });
            }
            match &mut suspected {
                Some((before, left)) if same(before) => {
                    if *left == 0 {
                        return Ok(Eigen { values, vectors: copy(basis.vectors().subcols(0, count)) });
                    }
                    // The vectors that the random block has contributed so far come after the wanted pairs.
                    *left -= 1;
                    next = copy(residuals.subcols(count, residuals.ncols() - count));
                }
                _ => {
                    suspected = Some((values, restart));
                    next = gaussian(size, width, &mut random);
                }
            }
            continue;
        }
        // Continue from the residuals of pairs that have not converged, filled up to a full block: a narrower one costs as much.
        let mut open = open;
        let mut others: Vec<usize> = (0..norms.len()).filter(|i| !open.contains(i)).collect();
        others.sort_by(|&a, &b| norms[b].total_cmp(&norms[a]).then(a.cmp(&b)));
        open.extend(others);
        open.truncate(width);
        next = zeros(size, open.len());
        open.iter().enumerate().for_each(|(i, &pair)| next.col_mut(i).copy_from(residuals.col(pair)));
    }
    Err(Error::NoConvergence { what: "the block Krylov iteration", iterations: MAX_RESTARTS })
}

/// Whether a value above the last one (descending) occurs at least `multiplicity` times, up to `tolerance`.
fn has_multiple(values: &[f64], multiplicity: usize, tolerance: f64) -> bool {
    let last = values.last().copied().unwrap_or(0.0);
    let is_multiple =
        |some: &[f64]| some[0] - some[multiplicity - 1] <= tolerance && some[0] - last > tolerance;
    values.windows(multiplicity).any(is_multiple)
}

/// An orthonormal basis and its image under the operator; columns from `used` on are unused.
struct Basis {
    vectors: Mat<f64>,
    images: Mat<f64>,
    used: usize,
}

impl Basis {
    fn vectors(&self) -> MatRef<'_, f64> {
        self.vectors.subcols(0, self.used)
    }

    fn images(&self) -> MatRef<'_, f64> {
        self.images.subcols(0, self.used)
    }

    fn append(&mut self, vectors: MatRef<'_, f64>, images: MatRef<'_, f64>) {
        self.vectors.as_mut().subcols_mut(self.used, vectors.ncols()).copy_from(vectors);
        self.images.as_mut().subcols_mut(self.used, vectors.ncols()).copy_from(images);
        self.used += vectors.ncols();
    }

    /// The `count` leading Ritz pairs.
    fn rayleigh_ritz(&self, count: usize) -> Result<Eigen> {
        let mut projected = product(self.vectors().transpose(), self.images());
        symmetrize_with(&mut projected, f64::midpoint);
        direct(projected, count)
    }

    /// Restarts: keeps the linear combinations in the columns of `rotation`.
    fn rotate(&mut self, rotation: MatRef<'_, f64>) {
        let (vectors, images) = (product(self.vectors(), rotation), product(self.images(), rotation));
        self.used = 0;
        self.append(vectors.as_ref(), images.as_ref());
    }

    /// $C q - \theta q$ for every basis vector.
    fn residuals(&self, values: &[f64]) -> Mat<f64> {
        let mut residuals = copy(self.images());
        for (j, value) in values.iter().enumerate().take(self.used) {
            add_scaled(residuals.col_as_slice_mut(j), -value, self.vectors.col_as_slice(j));
        }
        residuals
    }
}

/// Orthonormalizes `block` against `basis` and in itself; directions that vanish are replaced by random ones.
fn orthonormal(basis: MatRef<'_, f64>, mut block: Mat<f64>, random: &mut ChaCha8Rng) -> Result<Mat<f64>> {
    for _ in 0..4 {
        scale_columns(&mut block);
        // Twice is enough: the second pass removes the rounding errors of the first.
        for _ in 0..2 {
            if basis.ncols() > 0 {
                let overlap = product(basis.transpose(), block.as_ref());
                let negated = Mat::from_fn(overlap.nrows(), overlap.ncols(), |i, j| -overlap[(i, j)]);
                multiply(block.as_mut(), Accum::Add, basis, negated.as_ref());
            }
            gram_schmidt(&mut block);
        }
        let lost: Vec<usize> = (0..block.ncols()).filter(|&j| block.col(j).norm_l2() < 0.5).collect();
        if lost.is_empty() {
            return Ok(block);
        }
        for j in lost {
            for value in block.col_mut(j).iter_mut() {
                *value = StandardNormal.sample(random);
            }
        }
    }
    Err(Error::NoConvergence { what: "the orthogonalization of a block", iterations: 4 })
}

fn scale_columns(block: &mut Mat<f64>) {
    for column in block.as_mut().col_iter_mut() {
        let norm = column.as_ref().norm_l2();
        if norm > 0.0 {
            column.iter_mut().for_each(|value| *value /= norm);
        }
    }
}

/// Modified Gram-Schmidt with reorthogonalization on unit columns, in place; a column that is dependent to 1e-10 becomes zero.
pub fn gram_schmidt(block: &mut Mat<f64>) {
    for j in 0..block.ncols() {
        let mut column = block.col_as_slice(j).to_vec();
        for _ in 0..2 {
            for earlier in (0..j).map(|earlier| block.col_as_slice(earlier)) {
                let overlap = dot(earlier, &column);
                add_scaled(&mut column, -overlap, earlier);
            }
        }
        let norm = dot(&column, &column).sqrt();
        let scale = if norm > 1e-10 { 1.0 / norm } else { 0.0 };
        block.col_mut(j).iter_mut().zip(column.iter()).for_each(|(value, c)| *value = c * scale);
    }
}

fn gaussian(rows: usize, columns: usize, random: &mut ChaCha8Rng) -> Mat<f64> {
    Mat::from_fn(rows, columns, |_, _| StandardNormal.sample(random))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Silent;

    pub(crate) fn random(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
        gaussian(rows, columns, &mut ChaCha8Rng::seed_from_u64(seed))
    }

    #[test]
    fn a_known_spectrum_is_found() {
        // C = diag(1/1, 1/2, 1/3, ...): eigenvalues cluster towards zero.
        let apply = |block: MatRef<'_, f64>| {
            Mat::from_fn(block.nrows(), block.ncols(), |i, j| block[(i, j)] / (i + 1) as f64)
        };
        let found = leading(&apply, 2000, 40, &Silent).expect("a plain spectrum");
        for (i, value) in found.values.iter().enumerate() {
            approx::assert_relative_eq!(*value, 1.0 / (i + 1) as f64, max_relative = 1e-10);
        }
    }

    #[test]
    fn an_operator_of_low_rank_does_not_break_the_basis() {
        let factor = random(900, 3, 5);
        let matrix = product(factor.as_ref(), factor.transpose());
        let found = leading(&|block| product(matrix.as_ref(), block), 900, 20, &Silent).expect("low rank");
        assert!(found.values[3..].iter().all(|value| value.abs() < 1e-9 * found.values[0]));
        let gram = product(found.vectors.transpose(), found.vectors.as_ref());
        assert!((gram - Mat::<f64>::identity(20, 20)).norm_max() < 1e-10);
    }
}
