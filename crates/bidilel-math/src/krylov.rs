//! Leading eigenpairs of a symmetric operator by a block Krylov method with thick restarts.
//!
//! The Krylov space spanned by $[V, CV, C^2V, \dots]$ is stored as an orthonormal basis $Q$ together with its image
//! $CQ$. The Ritz pairs of $Q^\top C Q$ approach the leading eigenpairs of $C$ from below; their residuals
//! `$\|C q - \theta q\|$` are computed, not estimated, and bound the error of every eigenvalue. $Q^\top C Q$ grows with the basis:
//! its new columns are the inner products by which the image of a block is orthogonalized. In exact arithmetic the image of a
//! block has a part in the block before, in the block itself and in the next one only (block Lanczos): other inner
//! products are not computed, and a second orthogonalization against the whole basis removes what rounding adds. Where the
//! basis is more than one Krylov space, all of them are computed.
//!
//! A full basis is restarted from the leading Ritz vectors and continued with the block that would have come next (block
//! Krylov-Schur): the residuals of all Ritz vectors lie in the span of that block, so nothing of the Krylov space is lost. The
//! basis therefore always grows by whole blocks; a narrower last one would leave out part of the residuals.
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
//! Y. Saad, *Numerical Methods for Large Eigenvalue Problems*, 2nd ed., 2011, chapters 6 and 7. Y. Zhou and Y. Saad, *Block
//! Krylov-Schur method for large symmetric eigenvalue problems*, 2008.

use std::ops::Range;

use faer::{Accum, Mat, MatRef};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::eigen::{Eigen, direct};
use crate::parallel::{copy, multiply, product, product_watched, zeros};
use crate::tiles::{transpose_into, transposed_times};
use crate::vector::{add_scaled, dot};
use crate::{Error, Observer, Result};

/// Residual, relative to the largest eigenvalue, at which a pair has converged.
const RESIDUAL_TOLERANCE: f64 = 1e-11;
/// Vectors of a block. With as many basis vectors, narrow blocks reach a higher power of the operator: for 100 pairs of the
/// scatter problem of CUB in 4,096 dimensions 600 vectors suffice with blocks of 16, and 1,200 are needed with blocks of 50.
const WIDTH: usize = 16;
/// Basis vectors beyond the wanted pairs, at least and at most; four per pair between the two.
const VECTORS_BEYOND: (usize, usize) = (31 * WIDTH, 62 * WIDTH);
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
    let width = WIDTH.min(size);
    let beyond = (4 * count).clamp(VECTORS_BEYOND.0, VECTORS_BEYOND.1);
    let capacity = (count + beyond).next_multiple_of(width).min(size);
    // At least a block of pairs besides the wanted ones.
    let kept = (count + width).next_multiple_of(width).min(capacity);
    // The pairs are looked at once before the basis is full.
    let early = (count + beyond * 3 / 4).next_multiple_of(width).min(capacity);
    // A fixed seed: the result is deterministic.
    let mut random = ChaCha8Rng::seed_from_u64(0x5eed);
    let mut basis = Basis::new(size, capacity);
    let mut next = gaussian(size, width, &mut random);
    // The inner products with `next` of the basis from a vector on, where they are known; those before are zero.
    let mut overlap: Option<(usize, Mat<f64>)> = None;
    // Whether the basis is one Krylov space, without any random vectors besides those of the first block.
    let mut single = true;
    // Where an eigenvalue may have a higher multiplicity than a block can find: the values before the last random block, and
    // the restarts that this block has left, as many as the first block took.
    let mut suspected: Option<(Vec<f64>, usize)> = None;
    for restart in 0..MAX_RESTARTS {
        // The first block overlaps everything that was kept.
        let mut previous = 0;
        // Expand by powers of the operator until the pairs seem to have converged, or the basis is full.
        let (ritz, following) = loop {
            let target = if basis.used < early && suspected.is_none() { early } else { capacity };
            while basis.used < target {
                let room = (target - basis.used).min(next.ncols());
                let start = copy(next.subcols(0, room));
                let (block, whole) = orthonormal(basis.vectors(), start, overlap.take(), &mut random)?;
                single &= whole;
                next = apply(block.as_ref());
                let first = if single { previous } else { 0 };
                previous = basis.used;
                overlap = Some((first, basis.append(block.as_ref(), next.as_ref(), first)));
                watch.progress(basis.used, capacity);
                if watch.poll().is_break() {
                    return Err(Error::Cancelled);
                }
            }
            let ritz = basis.rayleigh_ritz(kept, watch)?;
            if basis.used == size {
                break (ritz, None);
            }
            // Before the basis is rotated: what of the next block is orthogonal to all of it.
            let (following, whole) =
                orthonormal(basis.vectors(), copy(next.as_ref()), overlap.take(), &mut random)?;
            single &= whole;
            if basis.used == capacity || seem_converged(&ritz, count, following.as_ref(), next.as_ref()) {
                break (ritz, Some(following));
            }
            next = following;
        };
        let complete = basis.used == size;
        let largest = ritz.values[0].abs().max(f64::MIN_POSITIVE);
        basis.rotate(ritz.vectors.as_ref(), watch)?;
        let residual = |pair| basis.residuals(&ritz.values, pair..pair + 1).norm_l2();
        let converged = (0..count).all(|pair| residual(pair) <= RESIDUAL_TOLERANCE * largest);
        if converged || complete {
            let values = ritz.values[..count].to_vec();
            let alike = |(before, now): (&f64, &f64)| (now - before).abs() <= MULTIPLE_TOLERANCE * largest;
            let same = |before: &[f64]| before.iter().zip(&values).all(alike);
            if complete || !has_multiple(&values, width, MULTIPLE_TOLERANCE * largest) {
                return Ok(Eigen { values, vectors: copy(basis.vectors().subcols(0, count)) });
            }
            match &mut suspected {
                Some((before, left)) if same(before) => {
                    if *left == 0 {
                        return Ok(Eigen { values, vectors: copy(basis.vectors().subcols(0, count)) });
                    }
                    // The vectors that the random block has contributed so far come after the wanted pairs.
                    *left -= 1;
                    next = basis.residuals(&ritz.values, count..basis.used.min(count + width));
                }
                _ => {
                    single = false;
                    suspected = Some((values, restart));
                    next = gaussian(size, width, &mut random);
                }
            }
            continue;
        }
        next = following.unwrap_or_else(|| gaussian(size, width, &mut random));
    }
    Err(Error::NoConvergence { what: "the block Krylov iteration", iterations: MAX_RESTARTS })
}

/// Whether the leading pairs have small residuals by an estimate: in a Krylov space that of a Ritz pair is the part of its image
/// in the `following` block, which comes from the last block of the basis alone (`image`). Residuals are computed afterwards.
fn seem_converged(ritz: &Eigen, count: usize, following: MatRef<'_, f64>, image: MatRef<'_, f64>) -> bool {
    let coupling = product(following.transpose(), image);
    let last = ritz.vectors.subrows(ritz.vectors.nrows() - image.ncols(), image.ncols());
    let residuals = product(coupling.as_ref(), last.subcols(0, count));
    let bound = RESIDUAL_TOLERANCE * ritz.values[0].abs();
    residuals.col_iter().all(|column| column.norm_l2() <= bound)
}

/// Whether a value above the last one (descending) occurs at least `multiplicity` times, up to `tolerance`.
fn has_multiple(values: &[f64], multiplicity: usize, tolerance: f64) -> bool {
    let last = values.last().copied().unwrap_or(0.0);
    let is_multiple =
        |some: &[f64]| some[0] - some[multiplicity - 1] <= tolerance && some[0] - last > tolerance;
    values.windows(multiplicity).any(is_multiple)
}

/// An orthonormal basis $Q$ and its image under the operator; columns from `used` on are unused.
struct Basis {
    vectors: Mat<f64>,
    images: Mat<f64>,
    /// The lower triangle of $Q^\top C Q$.
    projected: Mat<f64>,
    used: usize,
}

impl Basis {
    fn new(size: usize, capacity: usize) -> Self {
        let (vectors, images) = (zeros(size, capacity), zeros(size, capacity));
        Self { vectors, images, projected: zeros(capacity, capacity), used: 0 }
    }

    fn vectors(&self) -> MatRef<'_, f64> {
        self.vectors.subcols(0, self.used)
    }

    /// Appends vectors with their images, and returns the inner products with these images of all vectors from `from` on.
    fn append(&mut self, vectors: MatRef<'_, f64>, images: MatRef<'_, f64>, from: usize) -> Mat<f64> {
        let (first, count) = (self.used, vectors.ncols());
        self.vectors.as_mut().subcols_mut(first, count).copy_from(vectors);
        self.images.as_mut().subcols_mut(first, count).copy_from(images);
        self.used += count;
        self.project(first, from)
    }

    /// Fills the rows from `first` on of $Q^\top C Q$ by the inner products of these images with all vectors from `from` on, and
    /// by zeros before; returns the inner products.
    fn project(&mut self, first: usize, from: usize) -> Mat<f64> {
        let (count, known) = (self.used - first, first - from);
        let vectors = self.vectors.subcols(from, self.used - from);
        let overlap = transposed_times(vectors, self.images.subcols(first, count));
        let (mut zeros, rows) =
            self.projected.as_mut().submatrix_mut(first, 0, count, first).split_at_col_mut(from);
        zeros.fill(0.0);
        transpose_into(overlap.subrows(0, known), rows);
        for j in 0..count {
            for i in j..count {
                // The operator is symmetric up to rounding.
                let both = f64::midpoint(overlap[(known + i, j)], overlap[(known + j, i)]);
                self.projected[(first + i, first + j)] = both;
            }
        }
        overlap
    }

    /// The `count` leading Ritz pairs.
    fn rayleigh_ritz(&self, count: usize, watch: &dyn Observer) -> Result<Eigen> {
        direct(copy(self.projected.submatrix(0, 0, self.used, self.used)), count, watch)
    }

    /// Restarts: keeps the linear combinations in the columns of `rotation`.
    fn rotate(&mut self, rotation: MatRef<'_, f64>, watch: &dyn Observer) -> Result<()> {
        let kept = rotation.ncols();
        // One after the other takes less memory.
        for matrix in [&mut self.vectors, &mut self.images] {
            let rotated = product_watched(matrix.subcols(0, self.used), rotation, watch)?;
            matrix.as_mut().subcols_mut(0, kept).copy_from(rotated);
        }
        self.used = kept;
        self.project(0, 0);
        watch.go_on()
    }

    /// $C q - \theta q$ for some basis vectors.
    fn residuals(&self, values: &[f64], pairs: Range<usize>) -> Mat<f64> {
        let mut residuals = copy(self.images.subcols(pairs.start, pairs.len()));
        for (j, pair) in pairs.enumerate() {
            add_scaled(residuals.col_as_slice_mut(j), -values[pair], self.vectors.col_as_slice(pair));
        }
        residuals
    }
}

/// Orthonormalizes `block` against `basis` and in itself; directions that vanish are replaced by random ones, and whether none did
/// is returned, too. The inner products of basis and block are computed where they are not given, from a basis vector on, with
/// none before it.
fn orthonormal(
    basis: MatRef<'_, f64>,
    mut block: Mat<f64>,
    mut overlap: Option<(usize, Mat<f64>)>,
    random: &mut ChaCha8Rng,
) -> Result<(Mat<f64>, bool)> {
    for attempt in 0..4 {
        let norms = scale_columns(&mut block);
        // Twice is enough: the second pass removes the rounding errors of the first.
        for _ in 0..2 {
            if basis.ncols() > 0 {
                let (first, negated) = if let Some((first, known)) = overlap.take() {
                    (first, Mat::from_fn(known.nrows(), block.ncols(), |i, j| -known[(i, j)] / norms[j]))
                } else {
                    let overlap = transposed_times(basis, block.as_ref());
                    (0, Mat::from_fn(overlap.nrows(), overlap.ncols(), |i, j| -overlap[(i, j)]))
                };
                let basis = basis.subcols(first, negated.nrows());
                multiply(block.as_mut(), Accum::Add, basis, negated.as_ref());
            }
            gram_schmidt(&mut block);
        }
        let lost: Vec<usize> = (0..block.ncols()).filter(|&j| block.col(j).norm_l2() < 0.5).collect();
        if lost.is_empty() {
            return Ok((block, attempt == 0));
        }
        for j in lost {
            for value in block.col_mut(j).iter_mut() {
                *value = StandardNormal.sample(random);
            }
        }
    }
    Err(Error::NoConvergence { what: "the orthogonalization of a block", iterations: 4 })
}

/// Scales columns to norm 1, and returns their norms; a zero column stays, with a norm of 1.
fn scale_columns(block: &mut Mat<f64>) -> Vec<f64> {
    let scale = |column: faer::ColMut<'_, f64>| {
        let norm = column.as_ref().norm_l2();
        let norm = if norm > 0.0 { norm } else { 1.0 };
        column.iter_mut().for_each(|value| *value /= norm);
        norm
    };
    block.as_mut().col_iter_mut().map(scale).collect()
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
