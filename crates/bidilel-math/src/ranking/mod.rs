//! Bilinear compatibilities of instances and classes, learned from ranking losses by stochastic gradient descent.
//!
//! With instances $x$, descriptions `$s_c$` of classes and maps `$W_k$`, the score of a class is
//! `$f_c = \max_k (x - \bar x)^\top W_k s_c$`, and a [`Loss`] of the scores is minimized over the maps. The gradient by
//! `$W_k$` is `$\sum_i (x_i - \bar x) \sum_c g_{ic} s_c^\top$` over the classes for which map $k$ is the largest, with the
//! derivatives $g$ of the loss by the scores.
//!
//! - Mini-batches of shuffled instances; a step is the sum of their gradients times a rate that falls linearly to zero.
//! - Instances are centered and divided by the root of their mean squared norm, and descriptions by that of their
//!   distance to their mean, so that a rate means the same for any data.
//! - Descriptions of more dimensions than there are classes are replaced by their coordinates in an orthonormal basis
//!   ($S = Q R$, $W = Z Q^\top$): gradients never leave its span, so that nothing is lost.
//! - One map starts at zero; several start at small random numbers, without which they would stay the same. With a
//!   start at zero, another margin than 1 would be another rate.
//! - Blocks of fixed size and numbers drawn beforehand: the same bits for any number of threads.

#[cfg(test)]
mod laws;
mod loss;

use std::ops::ControlFlow;

use faer::{Accum, Mat, MatMut, MatRef, Par};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

pub use loss::Loss;

use crate::check::worse;
use crate::parallel::{multiply, product, zeros};
use crate::{Check, Error, Observer, Result, Scalar, scatter, vector};

/// Most instances of a step.
const BATCH_INSTANCES: usize = 128;
/// Steps of an epoch, at least, where there are as many instances.
const MIN_STEPS: usize = 16;
/// Instances that one thread scores at a time.
const BLOCK_INSTANCES: usize = 32;
/// Squared distances to the mean below this share of the squared norms are rounding.
const SAME_SHARE: f64 = 1e-18;
/// Instances whose final scores are compared.
const CHECKED_INSTANCES: usize = 16;

/// How maps are learned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranking {
    /// The loss.
    pub loss: Loss,
    /// How many maps there are.
    pub maps: usize,
    /// The first step, per instance.
    pub rate: f64,
    /// Passes over the instances.
    pub epochs: usize,
    /// Seed of the order of the instances, of drawn violators and of the first maps.
    pub seed: u64,
}

/// Labeled instances, and the descriptions of their classes.
#[derive(Debug, Clone, Copy)]
pub struct Ranked<'a, T> {
    /// Dimensions x instances.
    pub instances: MatRef<'a, T>,
    /// Factors of the dimensions.
    pub scales: Option<&'a [f64]>,
    /// The class of every instance.
    pub labels: &'a [usize],
    /// Description dimensions x classes.
    pub classes: MatRef<'a, f64>,
}

/// Learned maps.
#[derive(Debug, Clone, PartialEq)]
pub struct Bilinear {
    /// `$W_k$` of instances without factors: dimensions x description dimensions.
    pub maps: Vec<Mat<f64>>,
    /// $\bar x$, without factors.
    pub mean: Vec<f64>,
    /// The mean loss in every epoch, as it was before each step.
    pub losses: Vec<f64>,
}

impl Ranking {
    /// Learns maps.
    ///
    /// # Errors
    /// [`Error::Constant`] where instances or descriptions are all the same, [`Error::NotFinite`] for rates too large,
    /// [`Error::Cancelled`].
    ///
    /// # Panics
    /// If there are not as many labels as instances.
    pub fn fit<T: Scalar>(&self, data: Ranked<'_, T>, watch: &dyn Observer) -> Result<Bilinear> {
        assert_eq!(data.labels.len(), data.instances.ncols(), "one label per instance");
        let (prepared, basis) = Prepared::new(data)?;
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let mut maps = self.first_maps(&prepared, &mut random);
        let count = data.labels.len();
        let batch = (count / MIN_STEPS).clamp(1, BATCH_INSTANCES);
        let steps = self.epochs * count.div_ceil(batch);
        let mut losses = Vec::with_capacity(self.epochs);
        let mut order: Vec<usize> = (0..count).collect();
        let mut step = 0_usize;
        for epoch in 0..self.epochs {
            order.shuffle(&mut random);
            let draws: Vec<f64> = (0..count).map(|_| random.random()).collect();
            let mut loss = 0.0;
            for (members, draws) in order.chunks(batch).zip(draws.chunks(batch)) {
                if matches!(watch.poll(), ControlFlow::Break(())) {
                    return Err(Error::Cancelled);
                }
                let rate = self.rate * (1.0 - step as f64 / steps as f64);
                let mut part = prepared.gradient(self.loss, maps.as_ref(), members, draws);
                loss += part.loss;
                part.scale(-rate);
                multiply(maps.as_mut(), Accum::Add, part.instances.as_ref(), part.derivatives.transpose());
                step += 1;
            }
            losses.push(loss / count as f64);
            watch.step(epoch + 1, loss / count as f64);
            watch.progress(epoch + 1, self.epochs);
        }
        let found =
            Bilinear { maps: prepared.unfolded(&maps, basis.as_ref()), mean: prepared.mean.clone(), losses };
        prepared.verify(&maps, &found, watch)?;
        Ok(found)
    }

    /// The maps before the first step, next to each other: dimensions x (maps x reduced description dimensions).
    fn first_maps<T: Scalar>(&self, data: &Prepared<'_, T>, random: &mut ChaCha8Rng) -> Mat<T> {
        let mut maps = zeros(data.data.instances.nrows(), self.maps * data.classes.nrows());
        if self.maps > 1 {
            // Small against the margin: scores have a deviation of about the norm of a description times this.
            let deviation = 1.0 / (maps.nrows() as f64).sqrt();
            for j in 0..maps.ncols() {
                for value in maps.col_as_slice_mut(j) {
                    let normal: f64 = StandardNormal.sample(random);
                    *value = T::from_f64(deviation * normal);
                }
            }
        }
        maps
    }
}

/// Data in the units in which maps are learned.
struct Prepared<'a, T> {
    data: Ranked<'a, T>,
    mean: Vec<f64>,
    /// Factors of the dimensions, times one over the root of the mean squared norm of centered instances.
    factors: Vec<f64>,
    /// One over the same of descriptions.
    class_unit: f64,
    /// Descriptions, reduced and in their unit: reduced dimensions x classes.
    classes: Mat<T>,
}

/// The gradient of a mini-batch by the maps is `instances * derivatives'`.
struct Gradient<T> {
    loss: f64,
    /// Centered, in their unit: dimensions x instances.
    instances: Mat<T>,
    /// Derivatives by the projected instances: (maps x reduced description dimensions) x instances.
    derivatives: Mat<T>,
}

impl<T: Scalar> Gradient<T> {
    fn scale(&mut self, factor: f64) {
        for j in 0..self.derivatives.ncols() {
            let column = self.derivatives.col_as_slice_mut(j);
            column.iter_mut().for_each(|value| *value = T::from_f64(factor * value.to_f64()));
        }
    }
}

impl<'a, T: Scalar> Prepared<'a, T> {
    /// The data, and the basis of reduced descriptions where they are reduced.
    fn new(data: Ranked<'a, T>) -> Result<(Self, Option<Mat<f64>>)> {
        let mean = scatter::mean(data.instances);
        let mut factors = data.scales.map_or_else(|| vec![1.0; mean.len()], <[f64]>::to_vec);
        let unit = inverse_deviation(data.instances, &mean, &factors, "the instances")?;
        factors.iter_mut().for_each(|factor| *factor *= unit);
        let (rows, columns) = data.classes.shape();
        let center = scatter::mean(data.classes);
        let class_unit = inverse_deviation(data.classes, &center, &vec![1.0; rows], "the descriptions")?;
        let (basis, reduced) = if rows > columns {
            let factors = data.classes.qr();
            (Some(factors.compute_thin_Q()), factors.thin_R().to_owned())
        } else {
            (None, data.classes.to_owned())
        };
        let classes =
            Mat::from_fn(reduced.nrows(), columns, |i, j| T::from_f64(class_unit * reduced[(i, j)]));
        Ok((Self { data, mean, factors, class_unit, classes }, basis))
    }

    /// The sum of the gradients of some instances, each with its number in $[0, 1)$ for what is drawn.
    fn gradient(&self, loss: Loss, maps: MatRef<'_, T>, members: &[usize], draws: &[f64]) -> Gradient<T> {
        let mut instances = zeros(self.data.instances.nrows(), members.len());
        let mut derivatives = zeros(maps.ncols(), members.len());
        let blocks = instances
            .par_col_chunks_mut(BLOCK_INSTANCES)
            .zip(derivatives.par_col_chunks_mut(BLOCK_INSTANCES))
            .zip(members.par_chunks(BLOCK_INSTANCES).zip(draws.par_chunks(BLOCK_INSTANCES)));
        let losses: Vec<f64> = blocks
            .map(|((mut instances, mut derivatives), (members, draws))| {
                self.center(members, instances.as_mut());
                seq_multiply(derivatives.as_mut(), maps.transpose(), instances.as_ref());
                self.differentiate(loss, derivatives, members, draws)
            })
            .collect();
        Gradient { loss: losses.iter().sum(), instances, derivatives }
    }

    /// Centered instances in their unit.
    fn center(&self, members: &[usize], into: MatMut<'_, T>) {
        for (into, &member) in into.col_iter_mut().zip(members) {
            let column =
                vector::column(self.data.instances, member).iter().zip(&self.mean).zip(&self.factors);
            for (into, ((value, mean), factor)) in into.iter_mut().zip(column) {
                *into = T::from_f64(factor * (value.to_f64() - mean));
            }
        }
    }

    /// Replaces projected instances (maps x reduced dimensions) by the derivatives of their losses, whose sum is returned.
    fn differentiate(
        &self,
        loss: Loss,
        mut projected: MatMut<'_, T>,
        members: &[usize],
        draws: &[f64],
    ) -> f64 {
        let (dim, count) = self.classes.shape();
        let maps = projected.nrows() / dim;
        let mut scores: Vec<Mat<T>> = vec![zeros(count, members.len()); maps];
        for (map, scores) in scores.iter_mut().enumerate() {
            seq_multiply(
                scores.as_mut(),
                self.classes.transpose(),
                projected.as_ref().subrows(map * dim, dim),
            );
        }
        let (mut total, mut best, mut largest) = (0.0, vec![0; count], vec![0.0; count]);
        for (j, (&member, &draw)) in members.iter().zip(draws).enumerate() {
            for class in 0..count {
                let score = |map: usize| scores[map][(class, j)].to_f64();
                best[class] =
                    (1..maps).fold(0, |best, map| if score(map) > score(best) { map } else { best });
                largest[class] = score(best[class]);
            }
            total += loss.differentiate(&mut largest, self.data.labels[member], draw);
            for (map, scores) in scores.iter_mut().enumerate() {
                let column = scores.col_as_slice_mut(j).iter_mut().zip(&largest).zip(&best);
                column.for_each(|((value, &own), &best)| {
                    *value = T::from_f64(if best == map { own } else { 0.0 });
                });
            }
        }
        for (map, scores) in scores.iter().enumerate() {
            let part = projected.as_mut().subrows_mut(map * dim, dim);
            seq_multiply(part, self.classes.as_ref(), scores.as_ref());
        }
        total
    }

    /// The maps of instances and descriptions as they were given.
    fn unfolded(&self, maps: &Mat<T>, basis: Option<&Mat<f64>>) -> Vec<Mat<f64>> {
        let dim = self.classes.nrows();
        let unfold = |map: usize| {
            let part = maps.subcols(map * dim, dim);
            let wide = Mat::from_fn(part.nrows(), dim, |i, j| {
                self.factors[i] * self.class_unit * part[(i, j)].to_f64()
            });
            basis.map_or_else(|| wide.clone(), |basis| product(wide.as_ref(), basis.transpose()))
        };
        (0..maps.ncols() / dim).map(unfold).collect()
    }

    /// Compares scores of a few instances by the unfolded maps with those of the maps that were learned.
    fn verify(&self, maps: &Mat<T>, found: &Bilinear, watch: &dyn Observer) -> Result<()> {
        let count = self.data.labels.len();
        let members: Vec<usize> = (0..count).step_by(count.div_ceil(CHECKED_INSTANCES)).collect();
        let mut instances = zeros(maps.nrows(), members.len());
        self.center(&members, instances.as_mut());
        let projected = product(maps.transpose(), instances.as_ref());
        let dim = self.classes.nrows();
        let (mut deviation, mut size) = (0.0, f64::MIN_POSITIVE);
        for (k, map) in found.maps.iter().enumerate() {
            let own = product(self.classes.transpose(), projected.subrows(k * dim, dim));
            let weights = product(map.as_ref(), self.data.classes);
            for (j, &member) in members.iter().enumerate() {
                let column = vector::column(self.data.instances, member).iter().zip(&found.mean);
                let centered: Vec<f64> = column.map(|(value, mean)| value.to_f64() - mean).collect();
                for class in 0..own.nrows() {
                    let score = vector::dot(&centered, weights.col_as_slice(class));
                    size = worse(size, score.abs());
                    deviation = worse(deviation, (score - own[(class, j)].to_f64()).abs());
                }
            }
        }
        if !size.is_finite() {
            return Err(Error::NotFinite { what: "a score of the learned maps" });
        }
        // Rounding of the features' precision in sums over all dimensions; what is learned here is no more exact.
        let epsilon = if size_of::<T>() == size_of::<f32>() { f64::from(f32::EPSILON) } else { f64::EPSILON };
        let bound = 64.0 * epsilon * (maps.nrows() as f64).sqrt();
        Check { stage: "descent", what: "the scores of the learned maps", deviation: deviation / size, bound }
            .enforce(watch)
    }
}

/// A product on the calling thread.
fn seq_multiply<T: Scalar>(into: MatMut<'_, T>, left: MatRef<'_, T>, right: MatRef<'_, T>) {
    faer::linalg::matmul::matmul(into, Accum::Replace, left, right, T::from_f64(1.0), Par::Seq);
}

/// One over the root of the mean squared distance of columns to their mean.
fn inverse_deviation<T: Scalar>(
    columns: MatRef<'_, T>,
    mean: &[f64],
    factors: &[f64],
    what: &'static str,
) -> Result<f64> {
    let squares = |j: usize| {
        let (mut around, mut whole) = (0.0, 0.0);
        for ((value, mean), factor) in columns.col(j).iter().zip(mean).zip(factors) {
            around += (factor * (value.to_f64() - mean)).powi(2);
            whole += (factor * value.to_f64()).powi(2);
        }
        (around, whole)
    };
    let all: Vec<(f64, f64)> = (0..columns.ncols()).into_par_iter().map(squares).collect();
    let (around, whole) = all.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    // Columns that agree to rounding are the same.
    if around <= SAME_SHARE * whole || whole == 0.0 {
        return Err(Error::Constant { what });
    }
    Ok((columns.ncols() as f64 / around).sqrt())
}
