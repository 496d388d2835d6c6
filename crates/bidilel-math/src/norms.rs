//! Sums of directions of projected points, from the norms of the projections alone.
//!
//! For $y = P^\top x - s$ the sum `$\sum_i y_i / \|y_i\|$` is `$P^\top \sum_i x_i / \|y_i\| - s \sum_i 1 / \|y_i\|$`: nothing takes
//! long but the norms. They are computed in the points' own precision, relative to a reference point $m$ near the mean:
//! $y = P^\top (x - m) + o$. Of the rounding errors of single precision a norm over many dimensions keeps little.
//!
//! # Error bound
//! With unit roundoff $u$ of the points' precision, $x - m$ and $P$ are off by $u$, and a product of $c$ roundings by
//! $\gamma_c = c u / (1 - c u)$ (`panels::roundings`), so that
//! `$$|\hat\ell - \ell| \le (\gamma_c + 3 u) \big(\|P\|_F \|x - m\| + \|o\|\big).$$`
//! Where that is a large share of a norm, the norm is computed again in `f64`.

use std::ops::Range;

use faer::{Mat, MatRef};
use rayon::prelude::*;

use crate::panels::{self, Panels, Product, Right};
use crate::parallel::{product, zeros};
use crate::{Columns, Observer, Result, Scalar, distance, simd, vector};

/// With fewer points per row of the map a projection in double precision costs no more.
const MIN_POINTS_PER_ROW: usize = 4;
/// Points whose mean is the reference point.
const REFERENCE_SAMPLE: usize = 64;
/// Points whose norms are held at a time.
const BLOCK: usize = 960;
/// Points that one thread multiplies at a time.
const TASK: usize = 48;
/// Norms of points, and largest entries of maps, with which products in single precision neither overflow nor vanish.
const POINT_RANGE: Range<f64> = 1e-18..1e22;
const MAP_RANGE: Range<f64> = 1e-12..1e12;
/// The largest relative error of a norm before it is computed again in double precision.
const MAX_ERROR: f64 = 0.1;
/// The share of its terms below which a norm in double precision counts as zero: it may be nothing but rounding.
const DOUBLE_ROUNDING: f64 = 1e-12;

/// A map that is prepared for norms of projected points.
#[derive(Debug)]
pub struct Norms<'a, T> {
    map: MatRef<'a, f64>,
    shift: &'a [f64],
    dims: &'a [usize],
    /// $m$.
    reference: Vec<T>,
    /// $P^\top$.
    panels: Panels<T>,
    /// $o$.
    offset: Vec<f64>,
    /// `$\|P\|_F$`, `$\|o\|$` and `$\|s\|$` over each of `dims`.
    sizes: Vec<[f64; 3]>,
}

impl<'a, T: Scalar> Norms<'a, T> {
    /// Prepares $P$ (rows x dimensions) and $s$ for norms of `points` over each of the leading `dims` (ascending).
    ///
    /// None with so few points that it does not pay, or a map that single precision cannot hold.
    pub fn new(
        map: MatRef<'a, f64>,
        shift: &'a [f64],
        points: Columns<'_, T>,
        dims: &'a [usize],
    ) -> Option<Self> {
        let (rows, dim) = (map.nrows(), *dims.last()?);
        let largest = (0..dim).map(|t| vector::max_abs(vector::column(map, t))).fold(0.0, f64::max);
        let many = points.ncols() >= MIN_POINTS_PER_ROW * rows;
        (many && points.nrows() == rows && MAP_RANGE.contains(&largest)).then_some(())?;
        let sample = (0..points.ncols()).step_by(points.ncols().div_ceil(REFERENCE_SAMPLE).max(1));
        let (share, mut mean) = (1.0 / sample.len().max(1) as f64, vec![0.0; rows]);
        sample.for_each(|i| vector::add_scaled(&mut mean, share, points.slice(i)));
        let reference: Vec<T> = mean.into_iter().map(T::from_f64).collect();
        let offset = project(map, shift, &reference, dim);
        let mut panels = Panels::left(dim, rows);
        let narrow = Mat::from_fn(rows, dim, |i, t| T::from_f64(map[(i, t)]));
        panels.pack_columns(narrow.as_ref(), T::from_f64(1.0));
        let squared = |t: usize| distance::norm(vector::column(map, t)).powi(2);
        let sizes = |&dim: &usize| {
            let frobenius = (0..dim).map(squared).sum::<f64>().sqrt();
            [frobenius, distance::norm(&offset[..dim]), distance::norm(&shift[..dim])]
        };
        let sizes = dims.iter().map(sizes).collect();
        Some(Self { map, shift, dims, reference, panels, offset, sizes })
    }

    /// `$\sum_i y_i / \|y_i\|$` over the points of each of `count` groups, normalized, over each of `dims`.
    ///
    /// A point at the origin has no direction and adds nothing.
    ///
    /// # Errors
    /// [`crate::Error::Cancelled`].
    pub fn directions(
        &self,
        points: Columns<'_, T>,
        groups: &[usize],
        count: usize,
        watch: &dyn Observer,
    ) -> Result<Vec<Mat<f64>>> {
        let mut sums: Vec<(Mat<f64>, Vec<f64>)> =
            self.dims.iter().map(|_| (zeros(self.map.nrows(), count), vec![0.0; count])).collect();
        for first in (0..points.ncols()).step_by(BLOCK) {
            watch.go_on()?;
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
        Ok(sums.par_iter().zip(self.dims).map(direction).collect())
    }

    /// The norms of points: of each point one over each of `dims`.
    fn of(&self, points: Columns<'_, T>) -> Vec<f64> {
        let (rows, each) = (self.map.nrows(), self.dims.len());
        let chain = panels::roundings::<T>(rows) as f64 * 0.5 * T::epsilon_impl().to_f64();
        let rounding =
            if chain < 0.5 { chain / (1.0 - chain) + 1.5 * T::epsilon_impl().to_f64() } else { 1.0 };
        let mut norms = vec![0.0; each * points.ncols()];
        let buffers = || (zeros::<T>(rows, TASK), zeros::<T>(self.offset.len(), TASK));
        let tasks = norms.par_chunks_mut(TASK * each).enumerate();
        tasks.for_each_init(buffers, |(centered, projected), (task, norms)| {
            let count = norms.len() / each;
            let own = points.part(task * TASK, count);
            (0..count).for_each(|i| self.center(own.slice(i), centered.col_as_slice_mut(i)));
            let right = Right::Columns(centered.as_ref().subcols(0, count));
            Product { left: &self.panels, first_row: 0, right, depth: rows, lower: false }
                .write_to(projected.as_mut().subcols_mut(0, count));
            for (i, norms) in norms.chunks_mut(each).enumerate() {
                let (size, point) = (distance::norm(centered.col_as_slice(i)), projected.col_as_slice(i));
                self.accumulate(norms, |part| squared_norm(&point[part.clone()], &self.offset[part]));
                let accurate = |(norm, [map, offset, _]): (&f64, &[f64; 3])| {
                    rounding * (map * size + offset) <= MAX_ERROR * norm
                };
                if !POINT_RANGE.contains(&size) || !norms.iter().zip(&self.sizes).all(accurate) {
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
        for (norm, [map, _, shift]) in norms.iter_mut().zip(&self.sizes) {
            if *norm < DOUBLE_ROUNDING * (map * size + shift) {
                *norm = 0.0;
            }
        }
    }

    fn center(&self, point: &[T], into: &mut [T]) {
        simd::dispatch(
            #[inline(always)]
            || {
                let both = point.iter().zip(&self.reference);
                into.iter_mut().zip(both).for_each(|(into, (&value, &reference))| *into = value - reference);
            },
        );
    }

    /// Norms over each of `dims`, from the squared norms between one and the next.
    fn accumulate(&self, norms: &mut [f64], squared: impl Fn(Range<usize>) -> f64) {
        let (mut first, mut sum) = (0, 0.0);
        for (norm, &end) in norms.iter_mut().zip(self.dims) {
            sum += squared(first..end);
            *norm = sum.sqrt();
            first = end;
        }
    }
}

/// The leading coordinates of $y$, in `f64`.
fn project<T: Scalar>(map: MatRef<'_, f64>, shift: &[f64], point: &[T], dim: usize) -> Vec<f64> {
    let mut wide = vec![0.0; point.len()];
    vector::widen(point, &mut wide);
    (0..dim).map(|t| vector::dot(vector::column(map, t), &wide) - shift[t]).collect()
}

/// `$\|p + o\|^2$`.
fn squared_norm<T: Scalar>(point: &[T], offset: &[f64]) -> f64 {
    vector::reduce(
        point,
        offset,
        #[inline(always)]
        |value, offset| {
            let value = value.to_f64() + offset;
            value * value
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;

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
        norms
            .directions(columns, &groups, 7, &Silent)
            .expect("not canceled")
            .into_iter()
            .zip(dims)
            .map(difference)
            .fold(0.0, f64::max)
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

    /// Points outside the range of single precision are projected in double precision.
    #[test]
    fn points_of_any_scale_keep_their_directions() {
        for scale in [1e18, 1e-18, 1e25, 1e-25, 1e37, 1e-37] {
            let map = example(40);
            let shift = image(&map, |i| scale * i as f64 / 20.0);
            assert!(error::<f32>(&map, &shift, &points(scale), &[10, 40]) < 1e-6, "{scale:e}");
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
    fn few_points_and_maps_of_other_scales_are_projected() {
        let points = points::<f32>(1.0);
        let new = |count: usize, scale: f64| {
            let points = Columns::from(points.as_ref().subcols(0, count));
            Norms::new((example(20) * faer::Scale(scale)).as_ref(), &[0.0; 20], points, &[5, 20]).is_some()
        };
        assert!(new(240, 1.0) && !new(239, 1.0) && !new(240, 1e60) && !new(240, 1e-60));
    }
}
