//! A symmetric matrix pencil: $A$ and $B$ of $A p = \lambda B p$, stored in one square.
//!
//! One triangle of either matrix is enough: the tiles of $A$ above the diagonal and the lower triangle of $B$ share one square
//! matrix. The tiles of $A$ on the diagonal, where the two would overlap, are stored separately. At 4,096 dimensions this takes
//! 142 MB instead of 268.

use std::borrow::Cow;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

use crate::eigen::{self, Eigen, ResidualCheck};
use crate::parallel::{copy, zeros};
use crate::tiles::{RankUpdate, TILE, mirror, transpose_into};
use crate::vector::{add_scaled, column, dot};
use crate::{Observer, Result};

/// Symmetric matrices $A$ and $B$, in the storage of one.
#[derive(Debug)]
pub struct Pencil {
    /// The lower triangle of $B$, and the tiles of $A$ above the diagonal.
    square: Mat<f64>,
    /// The tiles of $A$ on the diagonal; only their lower triangles are valid.
    diagonal: Vec<Mat<f64>>,
}

impl Clone for Pencil {
    fn clone(&self) -> Self {
        Self { square: copy(self.square.as_ref()), diagonal: self.diagonal.clone() }
    }
}

impl Pencil {
    /// A pencil of two zero matrices.
    pub fn zeros(dim: usize) -> Self {
        let tile = |first: usize| zeros(TILE.min(dim - first), TILE.min(dim - first));
        Self { square: zeros(dim, dim), diagonal: (0..dim).step_by(TILE).map(tile).collect() }
    }

    /// The order of both matrices.
    pub fn dim(&self) -> usize {
        self.square.nrows()
    }

    /// Adds a symmetric rank-k update to each matrix. Of a canceled computation some tiles stay as they are.
    pub(crate) fn add(&mut self, left: RankUpdate<'_>, right: RankUpdate<'_>, watch: &dyn Observer) {
        let panels = self.square.par_col_chunks_mut(TILE).zip(&mut self.diagonal);
        panels.enumerate().for_each(|(index, (mut panel, tile))| {
            if watch.poll().is_break() {
                return;
            }
            let first = index * TILE;
            left.add_diagonal(tile.as_mut(), index);
            left.add_tiles(panel.as_mut().subrows_mut(0, first), 0, first);
            // Tiles on the diagonal of `B` write just above it, where nothing is stored.
            right.add_lower_panel(panel, index);
        });
    }

    /// Sets both matrices to zero.
    pub(crate) fn clear(&mut self) {
        self.square.par_col_chunks_mut(TILE).for_each(|mut columns| columns.fill(0.0));
        self.diagonal.iter_mut().for_each(|tile| tile.fill(0.0));
    }

    /// Adds both matrices of another pencil of the same order.
    pub(crate) fn add_pencil(&mut self, other: &Self) {
        let columns = self.square.par_col_iter_mut().zip(other.square.par_col_iter());
        columns.for_each(|(mut column, other)| column += other);
        self.diagonal.iter_mut().zip(&other.diagonal).for_each(|(tile, other)| *tile += other);
    }

    /// $A \mathrel{+}= \frac12 B$.
    pub(crate) fn add_half_of_right_to_left(&mut self) {
        const BLOCK: usize = 16;
        let dim = self.dim();
        for (index, tile) in self.diagonal.iter_mut().enumerate() {
            let first = index * TILE;
            for j in 0..tile.ncols() {
                let right = &self.square.col_as_slice(first + j)[first + j..];
                let left = &mut tile.col_as_slice_mut(j)[j..];
                left.iter_mut().zip(right).for_each(|(left, right)| *left += 0.5 * right);
            }
            // Blocked: one of the two is read across its columns.
            let after = first + tile.ncols();
            for top in (first..after).step_by(BLOCK) {
                for left in (after..dim).step_by(BLOCK) {
                    for j in left..dim.min(left + BLOCK) {
                        for i in top..after.min(top + BLOCK) {
                            self.square[(i, j)] += 0.5 * self.square[(j, i)];
                        }
                    }
                }
            }
        }
    }

    /// Congruence by a diagonal matrix: $S A S$ and $S B S$ with $S = \operatorname{diag}$ of `scales`.
    pub fn scale(&mut self, scales: &[f64]) {
        for (j, scale) in scales.iter().enumerate() {
            let column = self.square.col_as_slice_mut(j);
            column.iter_mut().zip(scales).for_each(|(value, other)| *value *= scale * other);
            let tile = &mut self.diagonal[j / TILE];
            let column = tile.col_as_slice_mut(j % TILE).iter_mut();
            column.zip(&scales[j / TILE * TILE..]).for_each(|(value, other)| *value *= scale * other);
        }
    }

    /// $B \mathrel{+}= \alpha I$.
    pub fn regularize(&mut self, alpha: f64) {
        (0..self.dim()).for_each(|i| self.square[(i, i)] += alpha);
    }

    /// $A$ as a full matrix.
    pub fn left(&self) -> Mat<f64> {
        let mut left = self.lower_left();
        mirror(&mut left);
        left
    }

    /// The lower triangle of $A$.
    fn lower_left(&self) -> Mat<f64> {
        let dim = self.dim();
        let mut lower = zeros(dim, dim);
        lower.par_col_chunks_mut(TILE).zip(&self.diagonal).enumerate().for_each(
            |(index, (columns, tile))| {
                let (first, count) = (index * TILE, columns.ncols());
                let (mut square, mut below) = columns.split_at_row_mut(first).1.split_at_row_mut(count);
                square.copy_from(tile);
                transpose_into(
                    self.square.submatrix(first, first + count, count, below.nrows()),
                    below.as_mut(),
                );
            },
        );
        lower
    }

    /// $B$ as a full matrix.
    pub fn right(&self) -> Mat<f64> {
        let mut right = self.lower_right();
        mirror(&mut right);
        right
    }

    /// The lower triangle of $B$.
    fn lower_right(&self) -> Mat<f64> {
        let dim = self.dim();
        let mut lower = zeros(dim, dim);
        for j in 0..dim {
            lower.col_as_slice_mut(j)[j..].copy_from_slice(&self.square.col_as_slice(j)[j..]);
        }
        lower
    }

    /// $A M$ for a block $M$, from the stored tiles of $A$ and its full tiles on the diagonal.
    fn left_times(&self, diagonal: &[Mat<f64>], block: MatRef<'_, f64>) -> Mat<f64> {
        let (dim, above) = (self.dim(), self.square.as_ref());
        let mut image = zeros(dim, block.ncols());
        image.par_row_chunks_mut(TILE).zip(diagonal).enumerate().for_each(|(index, (mut rows, tile))| {
            let (first, count) = (index * TILE, rows.nrows());
            let after = first + count;
            let mut add = |accumulate, part: MatRef<'_, f64>, from| {
                let block = block.subrows(from, part.ncols());
                matmul(rows.as_mut(), accumulate, part, block, 1.0, Par::Seq);
            };
            add(Accum::Replace, tile.as_ref(), first);
            add(Accum::Add, above.submatrix(first, after, count, dim - after), after);
            add(Accum::Add, above.submatrix(0, first, first, count).transpose(), 0);
        });
        image
    }

    /// Products of $A$ and $B + \alpha I$ with random vectors, taken before anything is factored.
    fn residual_check(&self, alpha: f64) -> ResidualCheck {
        ResidualCheck::new(self.dim(), |probes| {
            let (left, mut right) = self.both_times(probes);
            for j in 0..probes.ncols() {
                add_scaled(right.col_as_slice_mut(j), alpha, column(probes, j));
            }
            (left, right)
        })
    }

    /// The trace of $A$.
    pub(crate) fn left_trace(&self) -> f64 {
        self.diagonal.iter().map(|tile| (0..tile.ncols()).map(|i| tile[(i, i)]).sum::<f64>()).sum()
    }

    /// $A M$ and $B M$ for a narrow block $M$, in one pass over the square: every column of it is part of a column of $A$ and of a
    /// column of $B$, and by symmetry part of a row of each.
    pub(crate) fn both_times(&self, block: MatRef<'_, f64>) -> (Mat<f64>, Mat<f64>) {
        let (dim, width) = (self.dim(), block.ncols());
        let panel = |(index, tile): (usize, &Mat<f64>)| {
            let (first, count) = (index * TILE, tile.ncols());
            let after = first + count;
            let (mut left, mut right) = (zeros(after, width), zeros(dim - first, width));
            for j in first..after {
                let (above, below) =
                    (&self.square.col_as_slice(j)[..first], &self.square.col_as_slice(j)[j..]);
                let own = &tile.col_as_slice(j - first)[j - first..];
                for p in 0..width {
                    let v = column(block, p);
                    let left = left.col_as_slice_mut(p);
                    add_scaled(&mut left[..first], v[j], above);
                    add_scaled(&mut left[j..], v[j], own);
                    left[j] += dot(above, &v[..first]) + dot(&own[1..], &v[j + 1..after]);
                    let right = right.col_as_slice_mut(p);
                    add_scaled(&mut right[j - first..], v[j], below);
                    right[j - first] += dot(&below[1..], &v[j + 1..]);
                }
            }
            (left, right)
        };
        let parts: Vec<_> = self.diagonal.par_iter().enumerate().map(panel).collect();
        let (mut left, mut right) = (zeros(dim, width), zeros(dim, width));
        for (index, part) in parts.iter().enumerate() {
            for p in 0..width {
                add_scaled(&mut left.col_as_slice_mut(p)[..part.0.nrows()], 1.0, part.0.col_as_slice(p));
                add_scaled(&mut right.col_as_slice_mut(p)[index * TILE..], 1.0, part.1.col_as_slice(p));
            }
        }
        (left, right)
    }

    /// The `count` leading pairs of $A p = \lambda (B + \alpha I) p$; the pencil stays as it is, for other values of $\alpha$.
    ///
    /// # Errors
    /// As [`Self::leading`].
    pub fn leading_regularized(&self, alpha: f64, count: usize, watch: &dyn Observer) -> Result<Eigen> {
        if eigen::solve_directly(self.dim(), count) {
            let check = self.residual_check(alpha);
            let mut right = self.lower_right();
            (0..self.dim()).for_each(|i| right[(i, i)] += alpha);
            let factor = eigen::cholesky_watched(right, watch)?;
            let found = eigen::generalized_directly(self.lower_left(), &factor, count, watch)?;
            eigen::verify(&check, factor.as_ref(), &found, watch)?;
            return Ok(found);
        }
        if eigen::form_operator(self.dim(), count) {
            let check = self.residual_check(alpha);
            watch.go_on()?;
            let mut right = self.lower_right();
            (0..self.dim()).for_each(|i| right[(i, i)] += alpha);
            watch.go_on()?;
            return formed(&check, self.lower_left(), right, count, watch);
        }
        let mut own = self.clone();
        own.regularize(alpha);
        own.leading(count, watch)
    }

    /// The `count` leading pairs of $A p = \lambda B p$; eigenvectors have $p^\top B p = 1$.
    ///
    /// # Errors
    /// [`crate::Error::NotPositiveDefinite`] when $B$ has no Cholesky factor; otherwise as [`eigen::symmetric`].
    pub fn leading(self, count: usize, watch: &dyn Observer) -> Result<Eigen> {
        let check = self.residual_check(0.0);
        if eigen::solve_directly(self.dim(), count) {
            let left = self.lower_left();
            let Self { square, diagonal } = self;
            drop(diagonal);
            let factor = eigen::cholesky_watched(square, watch)?;
            let found = eigen::generalized_directly(left, &factor, count, watch)?;
            eigen::verify(&check, factor.as_ref(), &found, watch)?;
            return Ok(found);
        }
        if eigen::form_operator(self.dim(), count) {
            let left = self.lower_left();
            let Self { square, diagonal } = self;
            drop(diagonal);
            return formed(&check, left, square, count, watch);
        }
        // The Cholesky factor overwrites the tiles on and below the diagonal; those above it, of `A`, stay.
        let mut factored =
            Self { square: eigen::cholesky_watched(self.square, watch)?, diagonal: self.diagonal };
        factored.diagonal.iter_mut().for_each(mirror);
        let times = |block: MatRef<'_, f64>| factored.left_times(&factored.diagonal, block);
        let found = eigen::generalized_leading(&times, &factored.square, count, watch);
        let directly = || eigen::generalized_directly(factored.lower_left(), &factored.square, count, watch);
        let found = eigen::or_directly(found, watch, directly)?;
        eigen::verify(&check, factored.square.as_ref(), &found, watch)?;
        Ok(found)
    }
}

/// The leading pairs with the operator formed, from the lower triangles of both matrices.
fn formed(
    check: &ResidualCheck,
    left: Mat<f64>,
    right: Mat<f64>,
    count: usize,
    watch: &dyn Observer,
) -> Result<Eigen> {
    let factor = eigen::cholesky_watched(right, watch)?;
    let (found, factor) = eigen::generalized_formed(left, factor, count, watch)?;
    eigen::verify(check, factor.as_ref(), &found, watch)?;
    Ok(found)
}

/// The `count` leading pairs of $A p = \lambda (B + \alpha I) p$: eigenvalues descending, $p^\top (B + \alpha I) p = 1$.
///
/// A borrowed pencil is kept, at the cost of a copy; an owned one is overwritten.
///
/// # Errors
/// As [`Pencil::leading`].
pub fn leading(pencil: Cow<'_, Pencil>, alpha: f64, count: usize, watch: &dyn Observer) -> Result<Eigen> {
    match pencil {
        Cow::Borrowed(pencil) => pencil.leading_regularized(alpha, count, watch),
        Cow::Owned(mut pencil) => {
            pencil.regularize(alpha);
            pencil.leading(count, watch)
        }
    }
}

#[cfg(test)]
mod tests;
