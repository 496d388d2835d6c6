//! Sums of directions of projected points, from the norms of the projections alone.
//!
//! For $y = P^\top x - s$ the sum $\sum_i y_i / \|y_i\|$ is $P^\top \sum_i x_i / \|y_i\| - s \sum_i 1 / \|y_i\|$: nothing takes
//! long but the norms, and norms over the leading $d_1 < d_2 < \dots$ coordinates cost less than the coordinates.
//!
//! - They are invariant under a rotation of the coordinates between one $d_r$ and the next ([`rotation`]), which makes a
//!   part of the map zeros that products skip: for 10, 100 and 500 of 1,024 dimensions a sixth of all.
//! - They are computed in the points' own precision, relative to a reference point $m$ near the mean. Of the rounding
//!   errors of single precision a norm over many dimensions keeps little.
//!
//! # Error bound
//! With unit roundoff $u$ of the points' precision, $x - m$ is off by $u$ in every coordinate, $R_r$ as well, and a product
//! of $c$ roundings by $\gamma_c = c u / (1 - c u)$ ([`panels::roundings`]), all relative to
//! $\sum_k |R_{tk}| |x_k - m_k| \le \|R_t\| \|x - m\|$. Over the leading $d$ dimensions, with $\omega$ the smallest normal number
//! and $v = 2^{-53}$,
//! $$|\hat\ell - \ell| \le (\gamma_c + 3 u) \|R\|_F \|x - m\| + \sqrt{d}\, n\, \omega + \kappa v \big(\|P\|_F (\|x - m\| + \|m\|) + \|s\|\big),$$
//! the last part for what is in double precision in any case: the rotation and the offset. Where the bound is a large
//! share of a norm, the norm is computed again in `f64`.

mod rotation;

use std::ops::Range;

use faer::{Mat, MatRef};
use rayon::prelude::*;

use crate::panels::{self, Panels, Product, Right};
use crate::parallel::{product, zeros};
use crate::{Columns, Scalar, distance, vector};

/// With fewer points per row of the map the rotation costs more than half of what it saves.
const MIN_POINTS_PER_ROW: usize = 4;
/// Points whose mean is the reference point.
const REFERENCE_SAMPLE: usize = 64;
/// Points whose norms are held at a time.
const BLOCK: usize = 960;
/// Points that one thread multiplies at a time.
const TASK: usize = 48;
/// Norms of points that products in single precision can hold.
const SINGLE_RANGE: Range<f64> = 1e-30..1e30;
/// The largest relative error of a norm before it is computed again in double precision.
const MAX_SINGLE_ERROR: f64 = 0.1;
/// The same in double precision, beyond which a norm counts as zero: it may be nothing but rounding.
const MAX_DOUBLE_ERROR: f64 = 0.5;
/// $\kappa$ over the roundings of products, and of a transform by as many reflections as it has rows (Higham 2002, theorem
/// 19.4).
const DOUBLE_ROUNDINGS: f64 = 8.0;

/// A map that is prepared for norms of projected points.
#[derive(Debug)]
pub struct Norms<'a, T> {
    map: MatRef<'a, f64>,
    shift: &'a [f64],
    dims: &'a [usize],
    /// $m$.
    reference: Vec<T>,
    /// All $R_r$, divided by `unit`, so that none of their entries is larger than 1.
    rotated: Panels<T>,
    unit: f64,
    /// The projection of $m$, rotated.
    offset: Vec<f64>,
    /// Error bounds for each of `dims`.
    bounds: Vec<Bounds>,
}

/// Error bounds over some leading dimensions, per unit of a norm and constant.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    /// In the points' own precision, of $\|x - m\|$.
    single: (f64, f64),
    /// In double precision, of $\|x\|$.
    double: (f64, f64),
}

impl<'a, T: Scalar> Norms<'a, T> {
    /// Prepares $P$ (rows x dimensions) and $s$ for norms of `points` over each of the leading `dims` (ascending).
    ///
    /// None where a projection costs no more: with few points, or more dimensions than rows.
    pub fn new(
        map: MatRef<'a, f64>,
        shift: &'a [f64],
        points: Columns<'_, T>,
        dims: &'a [usize],
    ) -> Option<Self> {
        let dim = dims.last().copied().filter(|&dim| dim <= map.nrows())?;
        if points.nrows() != map.nrows() || points.ncols() < MIN_POINTS_PER_ROW * map.nrows() {
            return None;
        }
        let sample = (0..points.ncols()).step_by(points.ncols().div_ceil(REFERENCE_SAMPLE).max(1));
        let (share, mut mean) = (1.0 / sample.len().max(1) as f64, vec![0.0; map.nrows()]);
        sample.for_each(|i| vector::add_scaled(&mut mean, share, points.slice(i)));
        let reference: Vec<T> = mean.into_iter().map(T::from_f64).collect();
        // No entry of the rotated map is larger than the norm of its row in the map.
        let mut squares = vec![0.0; map.nrows()];
        for t in 0..dim {
            squares.iter_mut().zip(vector::column(map, t)).for_each(|(sum, value)| *sum += value * value);
        }
        let largest = squares.into_iter().fold(0.0, f64::max).sqrt();
        let unit = if largest > 0.0 { largest } else { 1.0 };
        let offset = project(map, shift, &reference, dim);
        let (map_rotated, offset) = rotation::rotate::<T>(map, &offset, dims, unit);
        let mut rotated = Panels::left(dim, map.nrows());
        rotated.pack_columns(map_rotated.as_ref(), T::from_f64(1.0));
        let mut norms = Self { map, shift, dims, reference, rotated, unit, offset, bounds: Vec::new() };
        norms.bounds = dims.iter().map(|&dim| norms.bounds(map_rotated.as_ref(), dim)).collect();
        Some(norms)
    }

    fn bounds(&self, rotated: MatRef<'_, T>, dim: usize) -> Bounds {
        let rows = self.map.nrows();
        let unit_roundoff = 0.5 * T::epsilon_impl().to_f64();
        let chain = panels::roundings::<T>(rows) as f64 * unit_roundoff;
        let relative = if chain < 0.5 { chain / (1.0 - chain) + 3.0 * unit_roundoff } else { f64::INFINITY };
        let underflow = (dim as f64).sqrt() * rows as f64 * T::min_positive_impl().to_f64();
        let widest = (0..self.dims.len()).map(|r| self.range(r).len()).max().unwrap_or(0);
        let double = DOUBLE_ROUNDINGS * (rows + dim + widest * widest) as f64 * 0.5 * f64::EPSILON;
        let frobenius = frobenius(self.map, dim);
        let per_norm = double * frobenius;
        let constant =
            per_norm * distance::norm(&self.reference) + double * distance::norm(&self.shift[..dim]);
        let single = self.unit * relative * self::frobenius(rotated, dim);
        Bounds { single: (single + per_norm, self.unit * underflow + constant), double: (per_norm, constant) }
    }

    /// $\sum_i y_i / \|y_i\|$ over the points of each of `count` groups, normalized, over each of `dims`.
    ///
    /// A point at the origin has no direction and adds nothing.
    pub fn directions(&self, points: Columns<'_, T>, groups: &[usize], count: usize) -> Vec<Mat<f64>> {
        let mut sums: Vec<(Mat<f64>, Vec<f64>)> =
            self.dims.iter().map(|_| (zeros(self.map.nrows(), count), vec![0.0; count])).collect();
        for first in (0..points.ncols()).step_by(BLOCK) {
            let block = points.part(first, BLOCK.min(points.ncols() - first));
            let norms = self.of(block);
            sums.par_iter_mut().enumerate().for_each(|(r, (sums, weights))| {
                for (i, &group) in (0..block.ncols()).zip(&groups[first..]) {
                    let norm = norms[i * self.dims.len() + r];
                    if norm > 0.0 {
                        vector::add_scaled(sums.col_as_slice_mut(group), 1.0 / norm, block.slice(i));
                        weights[group] += 1.0 / norm;
                    }
                }
            });
        }
        let direction = |((sums, weights), &dim): (&(Mat<f64>, Vec<f64>), &usize)| {
            let mut directions = product(self.map.subcols(0, dim).transpose(), sums.as_ref());
            for (group, &weight) in weights.iter().enumerate() {
                vector::add_scaled(directions.col_as_slice_mut(group), -weight, &self.shift[..dim]);
            }
            distance::normalize_columns(directions.as_mut());
            directions
        };
        sums.par_iter().zip(self.dims).map(direction).collect()
    }

    /// The norms of points: of each point one over each of `dims`.
    fn of(&self, points: Columns<'_, T>) -> Vec<f64> {
        let (rows, dim, each) = (self.map.nrows(), self.offset.len(), self.dims.len());
        let mut norms = vec![0.0; each * points.ncols()];
        let buffers = || (zeros::<T>(rows, TASK), zeros::<T>(dim, TASK));
        let tasks = norms.par_chunks_mut(TASK * each).enumerate();
        tasks.for_each_init(buffers, |(centered, projected), (task, norms)| {
            let count = norms.len() / each;
            let own = points.part(task * TASK, count);
            (0..count).for_each(|i| self.center(own.slice(i), centered.col_as_slice_mut(i)));
            let right = Right::Columns(centered.as_ref().subcols(0, count));
            Product { left: &self.rotated, first_row: 0, right, depth: rows, lower: false }
                .write_to(projected.as_mut().subcols_mut(0, count));
            for (i, norms) in norms.chunks_mut(each).enumerate() {
                let (size, point) = (distance::norm(centered.col_as_slice(i)), projected.col_as_slice(i));
                self.accumulate(norms, |part| {
                    squared_norm(&point[part.clone()], self.unit, &self.offset[part])
                });
                let accurate = |(norm, Bounds { single, .. }): (&f64, &Bounds)| {
                    single.0 * size + single.1 <= MAX_SINGLE_ERROR * norm
                };
                if !SINGLE_RANGE.contains(&size) || !norms.iter().zip(&self.bounds).all(accurate) {
                    self.in_double(own.slice(i), norms);
                }
            }
        });
        norms
    }

    /// The norms of one point, in `f64` throughout.
    fn in_double(&self, point: &[T], norms: &mut [f64]) {
        let projected = project(self.map, self.shift, point, self.offset.len());
        self.accumulate(norms, |part| vector::dot(&projected[part.clone()], &projected[part]));
        let size = distance::norm(point);
        for (norm, Bounds { double, .. }) in norms.iter_mut().zip(&self.bounds) {
            if double.0 * size + double.1 > MAX_DOUBLE_ERROR * *norm {
                *norm = 0.0;
            }
        }
    }

    /// The dimensions between one of `dims` and the next.
    fn range(&self, r: usize) -> Range<usize> {
        r.checked_sub(1).map_or(0, |before| self.dims[before])..self.dims[r]
    }

    fn center(&self, point: &[T], into: &mut [T]) {
        vector::widest(
            #[inline(always)]
            || {
                let both = point.iter().zip(&self.reference);
                into.iter_mut().zip(both).for_each(|(into, (&value, &reference))| *into = value - reference);
            },
        );
    }

    /// Norms over each of `dims`, from the squared norms between one and the next.
    fn accumulate(&self, norms: &mut [f64], squared: impl Fn(Range<usize>) -> f64) {
        let mut sum = 0.0;
        for (r, norm) in norms.iter_mut().enumerate() {
            sum += squared(self.range(r));
            *norm = sum.sqrt();
        }
    }
}

/// The leading coordinates of $y$, in `f64`.
fn project<T: Scalar>(map: MatRef<'_, f64>, shift: &[f64], point: &[T], dim: usize) -> Vec<f64> {
    let mut wide = vec![0.0; point.len()];
    vector::widen(point, &mut wide);
    (0..dim).map(|t| vector::dot(vector::column(map, t), &wide) - shift[t]).collect()
}

/// The Frobenius norm of the leading columns.
fn frobenius<T: Scalar>(matrix: MatRef<'_, T>, columns: usize) -> f64 {
    (0..columns).map(|t| distance::norm(vector::column(matrix, t)).powi(2)).sum::<f64>().sqrt()
}

/// $\sum_t (u p_t + o_t)^2$.
fn squared_norm<T: Scalar>(point: &[T], unit: f64, offset: &[f64]) -> f64 {
    vector::reduce(
        point,
        offset,
        #[inline(always)]
        |value, offset| {
            let value = unit * value.to_f64() + offset;
            value * value
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(dim: usize) -> Mat<f64> {
        Mat::from_fn(60, dim, |i, j| ((i * dim + j) as f64).powi(2).sin())
    }

    /// The projection of a point.
    fn image(map: &Mat<f64>, point: impl Fn(usize) -> f64) -> Vec<f64> {
        map.col_iter().map(|column| (0..60).map(|i| column[i] * point(i)).sum()).collect()
    }

    fn points<T: Scalar>(scale: f64) -> Mat<T> {
        Mat::from_fn(60, 300, |i, j| T::from_f64(scale * ((i * 13 + j * 29 + i * j) % 37) as f64 / 7.0))
    }

    /// The largest difference from directions of points that are projected.
    fn error<T: Scalar>(map: &Mat<f64>, shift: &[f64], points: &Mat<T>, dims: &[usize]) -> f64 {
        let groups: Vec<usize> = (0..points.ncols()).map(|i| i * i % 7).collect();
        let columns = Columns::from(points.as_ref());
        let norms = Norms::new(map.as_ref(), shift, columns, dims).expect("many points");
        let difference = |(found, &dim): (Mat<f64>, &usize)| {
            let mut expected = Mat::<f64>::zeros(dim, 7);
            for (i, &group) in groups.iter().enumerate() {
                let point = project(map.as_ref(), shift, points.col_as_slice(i), dim);
                let norm = distance::norm(&point);
                if norm > 0.0 {
                    vector::add_scaled(expected.col_as_slice_mut(group), 1.0 / norm, &point);
                }
            }
            distance::normalize_columns(expected.as_mut());
            (found - expected).norm_max()
        };
        norms.directions(columns, &groups, 7).into_iter().zip(dims).map(difference).fold(0.0, f64::max)
    }

    #[test]
    fn directions_are_those_of_projected_points() {
        let map = example(60);
        let shift = image(&map, |i| i as f64 / 9.0);
        for dims in [vec![60], vec![5, 20, 48], vec![1, 2], vec![33]] {
            assert!(error::<f64>(&map, &shift, &points(1.0), &dims) < 1e-12, "{dims:?}");
            assert!(error::<f32>(&map, &shift, &points(1.0), &dims) < 1e-6, "{dims:?}");
        }
    }

    #[test]
    fn rows_of_zeros_change_nothing() {
        let mut map = example(40);
        for row in (0..60).filter(|row| row % 3 == 0 || *row < 7) {
            (0..40).for_each(|column| map[(row, column)] = 0.0);
        }
        assert!(error::<f64>(&map, &image(&map, |_| 0.5), &points(1.0), &[10, 30]) < 1e-12);
    }

    /// The scale of the map never matters; points outside the range of single precision are projected in double precision.
    #[test]
    fn numbers_of_any_scale_keep_their_directions() {
        for scale in [1e25, 1e-25, 1e37, 1e-37, 1e60, 1e-60_f64] {
            let of_points = if (1e-40..1e40).contains(&scale) { scale } else { 1.0 };
            let map = example(40) * faer::Scale(scale / of_points);
            let shift = image(&map, |i| of_points * i as f64 / 20.0);
            assert!(error::<f32>(&map, &shift, &points(of_points), &[10, 40]) < 1e-6, "{scale:e}");
        }
    }

    /// One point lies at the origin to the last digit, another closer to it than rounding errors of single precision.
    #[test]
    fn a_point_at_the_origin_has_no_direction_and_one_close_to_it_keeps_its_own() {
        let (map, mut points) = (example(20), points::<f32>(1.0));
        (0..60).for_each(|i| points[(i, 8)] = 2.0);
        let shift = project(map.as_ref(), &[0.0; 20], points.col_as_slice(8), 20);
        assert!(error::<f32>(&map, &shift, &points, &[4, 20]) < 1e-6);
        (0..60).for_each(|i| points[(i, 8)] = 2.0 + 1e-5 * (i as f32).sin());
        assert!(error::<f32>(&map, &image(&map, |_| 2.0), &points, &[4, 20]) < 1e-6);
    }

    #[test]
    fn few_points_do_not_repay_the_rotation() {
        let (map, points) = (example(20), points::<f32>(1.0));
        let some = |count: usize| Columns::from(points.as_ref().subcols(0, count));
        let new = |count: usize| Norms::new(map.as_ref(), &[0.0; 20], some(count), &[5, 20]);
        assert!(new(240).is_some() && new(239).is_none());
    }
}
