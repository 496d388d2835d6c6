//! Landmarks in the leading dimensions of a latent space, where instances are many: by their lengths alone.
//!
//! A landmark points where `$\sum_i y_i / \|y_i\|$` does, over the instances of a class with $y_i = P^\top x_i - \bar y$
//! ([`crate::landmarks`]). That is `$P^\top \sum_i x_i / \|y_i\| - \bar y \sum_i 1 / \|y_i\|$`, in which nothing takes long but the
//! lengths. They are found with less work than places are:
//!
//! - Lengths in the leading $d_1 < d_2 < \dots$ dimensions stay the same when the dimensions between one and the next are
//!   turned among themselves. With $P_r^\top = Q_r R_r$ for the part $P_r$ of the map that belongs to these, $R_r$ takes the place
//!   of $P_r^\top$: its row $t$ begins with $t$ zeros, which products leave out. For 10, 100 and 500 of 1,024 dimensions that is a
//!   sixth of all.
//! - They are computed in the features' own precision, from instances less a point in their midst. Of single precision's
//!   rounding errors a length of many dimensions keeps little, and the mean over a class less.
//!
//! # How far off a length is
//! With unit roundoff $u$ of the features' precision, an instance $x$ less the point $m$ is off by $u$ in every feature, $R_r$ as
//! well, and a product of $c$ roundings by $\gamma_c = c u / (1 - c u)$ ([`panels::roundings`]), all relative to
//! `$\sum_k |R_{tk}| |x_k - m_k| \le \|R_t\| \|x - m\|$`. Over the leading dimensions that makes, with $\omega$ the smallest normal number
//! and $v = 2^{-53}$,
//! `$$|\hat\ell - \ell| \le (\gamma_c + 3 u) \|R\|_F \|x - m\| + \sqrt{d}\, n\, \omega + \kappa v \big(\|P\|_F (\|x - m\| + \|m\|) + \|\bar y\|\big),$$`
//! the last part for what is computed in double precision in any case: the map's orthogonal transform and the offset. A length
//! comes with this bound ([`Length`]). Where the bound is a large share of the length, it is computed again in `f64`.
//!
//! A fit places its instances in `f64`; this serves to compare settings.

use std::ops::Range;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::qr::no_pivoting::factor::{qr_in_place, qr_in_place_scratch, recommended_block_size};
use faer::{Mat, MatMut, MatRef, Par, Spec};
use rayon::prelude::*;

use bidilel_math::panels::{self, Panels, Product, Right};
use bidilel_math::parallel::{product, zeros};
use bidilel_math::{Columns, Scalar, distance, simd, vector};

use crate::landmarks::Landmarks;
use crate::latent_space::{LatentSpace, Map};

/// So many instances a visual dimension pay for the turn twice over.
const WORTH: usize = 4;
/// Instances whose mean stands for that of all.
const SAMPLE: usize = 64;
/// Instances whose lengths are known before they are summed up.
const BLOCK: usize = 960;
/// Instances that one thread multiplies at a time.
const SHARE: usize = 48;
/// How large instances may be for products in single precision.
const ROOM: Range<f64> = 1e-30..1e30;
/// The largest share of a length that rounding errors of single precision may be.
const MOST_ERROR: f64 = 0.1;
/// The same in double precision: an instance whose length may be nothing but rounding lies at the mean.
const NOTHING: f64 = 0.5;
/// $\kappa$ over the roundings of products, and of a transform by as many reflections as it has rows (Higham 2002, theorem
/// 19.4).
const DOUBLE_ROUNDINGS: f64 = 8.0;

/// A norm in some leading dimensions, with a bound of how far off it is.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Length {
    pub(super) norm: f64,
    pub(super) error: f64,
}

/// A map by which lengths are found.
pub(super) struct Lengths<'a, T> {
    /// $P$ and $\bar y$.
    map: MatRef<'a, f64>,
    mean: &'a [f64],
    dims: &'a [usize],
    /// A point in the midst of the instances.
    midst: Vec<T>,
    /// All $R_r$, in a unit in which none of their numbers is larger than 1.
    turned: Panels<T>,
    unit: f64,
    /// Where the point lies in the turned space.
    offset: Vec<f64>,
    /// What bounds the errors in each of `dims`.
    errors: Vec<Errors>,
}

/// What bounds the errors of lengths in some leading dimensions.
#[derive(Debug, Clone, Copy)]
struct Errors {
    /// For each unit of `$\|x - m\|$` in the features' own precision, and whatever it is.
    near: f64,
    least: f64,
    /// For each unit of a norm in double precision, and whatever it is.
    double: f64,
    fixed: f64,
}

impl<'a, T: Scalar> Lengths<'a, T> {
    /// For lengths in the leading `dims` dimensions (ascending), for each of them; none where instances are few.
    pub(super) fn new(space: &'a LatentSpace, features: Columns<'_, T>, dims: &'a [usize]) -> Option<Self> {
        let Map::Linear(map) = &space.map else { return None };
        let fits = features.nrows() == map.nrows() && dims.last().is_some_and(|&dim| dim <= map.nrows());
        let many = features.ncols() >= WORTH * map.nrows();
        (fits && many).then(|| Self::around(map.as_ref(), &space.mean, features, dims))
    }

    fn around(map: MatRef<'a, f64>, mean: &'a [f64], features: Columns<'_, T>, dims: &'a [usize]) -> Self {
        let every = features.ncols().div_ceil(SAMPLE).max(1);
        let mut midst = vec![0.0; map.nrows()];
        let sample = (0..features.ncols()).step_by(every);
        let share = 1.0 / sample.len().max(1) as f64;
        sample.for_each(|i| vector::add_scaled(&mut midst, share, features.slice(i)));
        let midst: Vec<T> = midst.into_iter().map(T::from_f64).collect();
        let dim = dims.last().copied().unwrap_or(0);
        let wide: Vec<f64> = midst.iter().map(|value| value.to_f64()).collect();
        let offset: Vec<f64> =
            (0..dim).map(|t| vector::dot(vector::column(map, t), &wide) - mean[t]).collect();
        // No number of the turned map is larger than the part of a feature in all of it.
        let mut parts = vec![0.0; map.nrows()];
        for t in 0..dim {
            parts.iter_mut().zip(vector::column(map, t)).for_each(|(part, value)| *part += value * value);
        }
        let largest = parts.into_iter().fold(0.0, f64::max).sqrt();
        let unit = if largest > 0.0 { largest } else { 1.0 };
        let (turned, offset) = turn::<T>(map, &offset, dims, unit);
        let mut panels = Panels::left(dim, map.nrows());
        panels.pack_columns(turned.as_ref(), T::from_f64(1.0));
        let size = distance::norm(&wide);
        let widest =
            dims.iter().scan(0, |first, &end| Some(end - std::mem::replace(first, end))).max().unwrap_or(0);
        let bounds = |&dim: &usize| {
            let frobenius = |squares: &dyn Fn(usize) -> f64| (0..dim).map(squares).sum::<f64>().sqrt();
            let own = frobenius(&|t| distance::norm(turned.col_as_slice(t)).powi(2));
            let whole = frobenius(&|t| distance::norm(vector::column(map, t)).powi(2));
            let unit_roundoff = 0.5 * T::epsilon_impl().to_f64();
            let chain = panels::roundings::<T>(map.nrows()) as f64 * unit_roundoff;
            let relative =
                if chain < 0.5 { chain / (1.0 - chain) + 3.0 * unit_roundoff } else { f64::INFINITY };
            let roundings = map.nrows() + dim + widest * widest;
            let double = DOUBLE_ROUNDINGS * roundings as f64 * 0.5 * f64::EPSILON;
            Errors {
                near: unit * relative * own,
                least: unit * (dim as f64).sqrt() * map.nrows() as f64 * T::min_positive_impl().to_f64(),
                double: double * whole,
                fixed: double * (whole * size + distance::norm(&mean[..dim])),
            }
        };
        let errors = dims.iter().map(bounds).collect();
        Self { map, mean, dims, midst, turned: panels, unit, offset, errors }
    }

    /// The landmarks in each of `dims`.
    pub(super) fn landmarks(
        &self,
        features: Columns<'_, T>,
        labels: &[usize],
        classes: usize,
    ) -> Vec<Landmarks> {
        let visual = self.map.nrows();
        let mut sums: Vec<(Mat<f64>, Vec<f64>)> =
            self.dims.iter().map(|_| (zeros(visual, classes), vec![0.0; classes])).collect();
        for first in (0..features.ncols()).step_by(BLOCK) {
            let block = features.part(first, BLOCK.min(features.ncols() - first));
            let lengths = self.of(block);
            sums.par_iter_mut().enumerate().for_each(|(place, (sums, weights))| {
                for (i, &label) in (0..block.ncols()).zip(&labels[first..]) {
                    let length = lengths[i * self.dims.len() + place].norm;
                    if length > 0.0 {
                        vector::add_scaled(sums.col_as_slice_mut(label), 1.0 / length, block.slice(i));
                        weights[label] += 1.0 / length;
                    }
                }
            });
        }
        let direction = |((sums, weights), &dim): (&(Mat<f64>, Vec<f64>), &usize)| {
            let mut points = product(self.map.subcols(0, dim).transpose(), sums.as_ref());
            for (class, &weight) in weights.iter().enumerate() {
                vector::add_scaled(points.col_as_slice_mut(class), -weight, &self.mean[..dim]);
            }
            distance::normalize_columns(points.as_mut());
            Landmarks { points }
        };
        sums.par_iter().zip(self.dims).map(direction).collect()
    }

    /// The lengths of instances in each of `dims`, one instance after the other.
    pub(super) fn of(&self, instances: Columns<'_, T>) -> Vec<Length> {
        let (visual, dim) = (self.map.nrows(), self.offset.len());
        let mut lengths = vec![Length::default(); self.dims.len() * instances.ncols()];
        let room = || (zeros::<T>(visual, SHARE), zeros::<T>(dim, SHARE));
        let shares = lengths.par_chunks_mut(SHARE * self.dims.len()).enumerate();
        shares.for_each_init(room, |(near, places), (index, lengths)| {
            let count = lengths.len() / self.dims.len();
            let own = instances.part(index * SHARE, count);
            (0..count).for_each(|i| self.center(own.slice(i), near.col_as_slice_mut(i)));
            let right = Right::Columns(near.as_ref().subcols(0, count));
            Product { left: &self.turned, first_row: 0, right, depth: visual, lower: false }
                .write_to(places.as_mut().subcols_mut(0, count));
            for (i, lengths) in lengths.chunks_mut(self.dims.len()).enumerate() {
                let (size, places) = (distance::norm(near.col_as_slice(i)), places.col_as_slice(i));
                self.add_up(lengths, |part| {
                    squared_sum(&places[part.clone()], self.unit, &self.offset[part])
                });
                for (length, errors) in lengths.iter_mut().zip(&self.errors) {
                    length.error = (errors.near + errors.double) * size + errors.least + errors.fixed;
                }
                let sure = |length: &Length| length.error <= MOST_ERROR * length.norm;
                if !ROOM.contains(&size) || !lengths.iter().all(sure) {
                    self.in_double(own.slice(i), lengths);
                }
            }
        });
        lengths
    }

    /// The same for one instance, in `f64` throughout.
    fn in_double(&self, instance: &[T], lengths: &mut [Length]) {
        let place = self.place(instance, self.offset.len());
        self.add_up(lengths, |part| vector::dot(&place[part.clone()], &place[part]));
        let size = distance::norm(instance);
        for (length, errors) in lengths.iter_mut().zip(&self.errors) {
            length.error = errors.double * size + errors.fixed;
            if length.error > NOTHING * length.norm {
                length.norm = 0.0;
            }
        }
    }

    /// Where an instance lies in the leading dimensions, in `f64`.
    pub(super) fn place(&self, instance: &[T], dim: usize) -> Vec<f64> {
        let mut wide = vec![0.0; instance.len()];
        vector::widen(instance, &mut wide);
        (0..dim).map(|t| vector::dot(vector::column(self.map, t), &wide) - self.mean[t]).collect()
    }

    /// $P$, visual x latent dimensions.
    pub(super) fn map(&self) -> MatRef<'a, f64> {
        self.map
    }

    /// $\bar y$.
    pub(super) fn mean(&self) -> &'a [f64] {
        self.mean
    }

    /// The numbers of leading dimensions in which an instance has a length.
    pub(super) fn dims(&self) -> &'a [usize] {
        self.dims
    }

    /// An instance less the point in the midst of all.
    fn center(&self, instance: &[T], into: &mut [T]) {
        simd::dispatch(
            #[inline(always)]
            || {
                let both = instance.iter().zip(&self.midst);
                into.iter_mut().zip(both).for_each(|(into, (&value, &midst))| *into = value - midst);
            },
        );
    }

    /// Lengths in each of `dims`, from the squared lengths between one and the next.
    fn add_up(&self, lengths: &mut [Length], squared: impl Fn(Range<usize>) -> f64) {
        let (mut first, mut sum) = (0, 0.0);
        for (length, &end) in lengths.iter_mut().zip(self.dims) {
            sum += squared(first..end);
            length.norm = sum.sqrt();
            first = end;
        }
    }
}

/// $\sum_t (u p_t + o_t)^2$.
fn squared_sum<T: Scalar>(places: &[T], unit: f64, offset: &[f64]) -> f64 {
    vector::reduce(
        places,
        offset,
        #[inline(always)]
        |place, offset| {
            let place = unit * place.to_f64() + offset;
            place * place
        },
    )
}

/// The leading dimensions of a map, turned between each of `dims` (ascending) and the next, in some unit; and a point with
/// them.
fn turn<T: Scalar>(map: MatRef<'_, f64>, point: &[f64], dims: &[usize], unit: f64) -> (Mat<T>, Vec<f64>) {
    let visual = map.nrows();
    let (mut turned, mut turned_point) = (zeros(visual, point.len()), vec![0.0; point.len()]);
    let mut first = 0;
    for &end in dims {
        let count = end - first;
        // The point is turned with the map, as one more column.
        let mut part = zeros(count, visual + 1);
        part.as_mut().subcols_mut(0, visual).copy_from(map.subcols(first, count).transpose());
        part.col_as_slice_mut(visual).copy_from_slice(&point[first..end]);
        factor(part.as_mut());
        for t in 0..count {
            let column = &mut turned.col_as_slice_mut(first + t)[t..];
            column.iter_mut().zip(t..).for_each(|(value, i)| *value = T::from_f64(part[(t, i)] / unit));
            turned_point[first + t] = part[(t, visual)];
        }
        first = end;
    }
    (turned, turned_point)
}

/// Puts $R$ of $Q R$ in the place of a matrix, on and above its diagonal.
fn factor(mut matrix: MatMut<'_, f64>) {
    let (rows, columns) = (matrix.nrows(), matrix.ncols());
    let block = recommended_block_size::<f64>(rows, columns);
    let mut coefficients = Mat::zeros(block, rows.min(columns));
    // One thread: spaces are worked on side by side, and the bits must not depend on how many are.
    let par = Par::Seq;
    let mut buffer = MemBuffer::new(qr_in_place_scratch::<f64>(rows, columns, block, par, Spec::default()));
    qr_in_place(matrix.as_mut(), coefficients.as_mut(), par, MemStack::new(&mut buffer), Spec::default());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(visual: usize, dim: usize) -> LatentSpace {
        let map = Mat::from_fn(visual, dim, |i, j| ((i * dim + j) as f64).powi(2).sin());
        LatentSpace::around(Map::Linear(map), (0..visual).map(|i| i as f64 / 9.0).collect())
    }

    fn instances<T: Scalar>(scale: f64) -> Mat<T> {
        Mat::from_fn(60, 300, |i, j| T::from_f64(scale * ((i * 13 + j * 29 + i * j) % 37) as f64 / 7.0))
    }

    /// How far landmarks by lengths are from those by places, at most.
    fn error<T: Scalar>(space: &LatentSpace, features: &Mat<T>, dims: &[usize]) -> f64 {
        let labels: Vec<usize> = (0..features.ncols()).map(|i| i * i % 7).collect();
        let features = Columns::from(features.as_ref());
        let lengths = Lengths::new(space, features, dims).expect("many instances");
        let found = lengths.landmarks(features, &labels, 7);
        let expected = Landmarks::of_prefixes(space, features, &labels, 7, dims).expect("a linear map");
        let pairs = found.iter().zip(&expected);
        pairs.map(|(one, other)| (&one.points - &other.points).norm_max()).fold(0.0, f64::max)
    }

    #[test]
    fn landmarks_are_those_of_placed_instances() {
        for dims in [vec![60], vec![5, 20, 48], vec![1, 2], vec![33]] {
            let space = example(60, 60);
            assert!(error::<f64>(&space, &instances(1.0), &dims) < 1e-12, "{dims:?}");
            assert!(error::<f32>(&space, &instances(1.0), &dims) < 1e-6, "{dims:?}");
        }
    }

    /// Features that do not vary have no say in a map.
    #[test]
    fn zeros_of_the_map_stay_harmless() {
        let Map::Linear(mut map) = example(60, 40).map else { panic!("it is linear") };
        for row in (0..60).filter(|row| row % 3 == 0 || *row < 7) {
            (0..40).for_each(|column| map[(row, column)] = 0.0);
        }
        let space = LatentSpace::around(Map::Linear(map), vec![0.5; 60]);
        assert!(error::<f64>(&space, &instances(1.0), &[10, 30]) < 1e-12);
    }

    /// The map's own size never matters, and features that are too large or too small for products in single precision are
    /// multiplied in double precision.
    #[test]
    fn numbers_of_any_size_are_told_apart() {
        let sizes = [(1e25, 1.0), (1e-25, 1.0), (1e37, 1.0), (1e-37, 1.0), (1.0, 1e60), (1.0, 1e-60)];
        for (features, map) in sizes {
            let Map::Linear(mut own) = example(60, 40).map else { panic!("it is linear") };
            own *= faer::Scale(map);
            let center = (0..60).map(|i| features * f64::from(i) / 20.0).collect();
            let space = LatentSpace::around(Map::Linear(own), center);
            assert!(error::<f32>(&space, &instances(features), &[10, 40]) < 1e-6, "{features:e} {map:e}");
        }
    }

    #[test]
    fn an_instance_at_the_mean_has_no_direction() {
        let mut features = instances::<f32>(1.0);
        (0..60).for_each(|i| features[(i, 8)] = 2.0);
        let mut space = LatentSpace { mean: vec![0.0; 20], ..example(60, 20) };
        // To the last digit: where it lies is the mean.
        let placed = space.place(features.as_ref().subcols(8, 1)).expect("a linear map");
        space.mean = placed.col_as_slice(0).to_vec();
        assert!(error::<f32>(&space, &features, &[4, 20]) < 1e-6);
    }

    /// Rounding errors of single precision would be longer than this instance is.
    #[test]
    fn an_instance_close_to_the_mean_keeps_its_direction() {
        let mut features = instances::<f32>(1.0);
        (0..60).for_each(|i| features[(i, 8)] = 2.0 + 1e-5 * (i as f32).sin());
        let mut space = example(60, 20);
        space.mean = LatentSpace::around(space.map.clone(), vec![2.0; 60]).mean;
        assert!(error::<f32>(&space, &features, &[4, 20]) < 1e-6);
    }

    #[test]
    fn rows_of_the_turned_map_begin_with_zeros() {
        let Map::Linear(map) = example(30, 20).map else { panic!("it is linear") };
        let (turned, _) = turn::<f64>(map.as_ref(), &[0.0; 20], &[5, 20], 1.0);
        for (column, zeros) in [(0, 0), (4, 4), (5, 0), (19, 14)] {
            assert!(turned.col_as_slice(column)[..zeros].iter().all(|&value| value == 0.0));
            assert!(turned[(zeros, column)] != 0.0);
        }
    }

    #[test]
    fn few_instances_are_not_worth_it() {
        let (space, features) = (example(60, 20), instances::<f32>(1.0));
        let some = |count: usize| Columns::from(features.as_ref().subcols(0, count));
        assert!(Lengths::new(&space, some(240), &[5, 20]).is_some());
        assert!(Lengths::new(&space, some(239), &[5, 20]).is_none());
    }
}
