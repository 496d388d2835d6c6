//! Exact neighbours with fewer operations than all products take, where features have few strong directions.
//!
//! In an orthonormal basis $Q$ of $m$ directions a point is $c = Q^\top x$ and a rest of norm
//! $r = \sqrt{\|x\|^2 - \|c\|^2}$, so that $x_i^\top x_j \le c_i^\top c_j + r_i r_j$ and
//! $$\|x_i - x_j\|^2 \ge \|x_i\|^2 + \|x_j\|^2 - 2 (c_i^\top c_j + r_i r_j).$$
//! The right side is a product of $m + 1$ numbers instead of $d$. Points whose bound is above the k-th distance that is
//! already known need not be looked at, whatever the basis; one of leading principal directions leaves the fewest. The
//! others are compared in full and in `f64`, nearest bound first, so the outcome is that of a brute-force search.
//!
//! A sample of queries tells beforehand how many points the bounds will leave. Where these are too many, or where
//! there are too few points or dimensions to gain anything, there is no sketch.

use faer::{Mat, MatRef};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use super::{Neighbors, SPARE, Search, column, lock};
use crate::distance::squared_slices;
use crate::parallel::{product, zeros};
use crate::{Observer, Scalar, eigen};

/// Fewer points or dimensions than these are compared in full.
const LEAST_POINTS: usize = 4096;
const LEAST_DIM: usize = 1024;
/// Points that the basis is learned from.
const SAMPLE: usize = 2048;
/// Queries that tell what the bounds are worth.
const PROBES: usize = 64;
/// The most candidates that are kept of a query; with more, full products are as fast.
const MOST_KEPT: usize = 384;

/// Points in few dimensions, with what is needed to bound their distances.
pub(super) struct Sketch<T> {
    /// Coordinates in the basis and the norm of the rest: $m + 1$ x points.
    coordinates: Mat<T>,
    /// Candidates to keep of every query.
    keep: usize,
}

impl<T: Scalar> Sketch<T> {
    /// A sketch that is worth its cost, if there is one.
    pub(super) fn of(search: &Search<'_, T>) -> Option<Self> {
        let points = search.points;
        let finite = T::from_f64(4.0 * search.largest).to_f64().is_finite();
        if points.ncols() < LEAST_POINTS || points.nrows() < LEAST_DIM || !finite {
            return None;
        }
        let directions = points.nrows() / 16;
        let basis = basis(points, directions)?;
        let basis = {
            let mut narrow = zeros::<T>(basis.nrows(), basis.ncols());
            faer::zip!(narrow.as_mut(), basis.as_ref())
                .for_each(|faer::unzip!(narrow, wide)| *narrow = T::from_f64(*wide));
            narrow
        };
        let inside = product(basis.transpose(), points);
        let mut coordinates = zeros(directions + 1, points.ncols());
        coordinates.as_mut().subrows_mut(0, directions).copy_from(&inside);
        drop(inside);
        for (i, &norm) in search.squared_norms.iter().enumerate() {
            let column = coordinates.col_as_slice_mut(i);
            let inside: f64 = column[..directions].iter().map(|&c| c.to_f64() * c.to_f64()).sum();
            column[directions] = T::from_f64((norm - inside).max(0.0).sqrt());
        }
        let mut sketch = Self { coordinates, keep: 0 };
        let mut left: Vec<usize> =
            probes(points.ncols()).into_par_iter().map(|query| sketch.left_over(search, query)).collect();
        left.sort_unstable();
        // Room for all but the odd query; what does not fit is searched in full.
        let typical = left[left.len() * 15 / 16];
        sketch.keep = (2 * typical).max(4 * search.k).max(SPARE);
        (sketch.keep <= MOST_KEPT).then_some(sketch)
    }

    /// The neighbours of every point of the search that the sketch was made of.
    pub(super) fn neighbors(&self, search: &Search<'_, T>, watch: &dyn Observer) -> Neighbors {
        let bounds = Search {
            points: self.coordinates.as_ref(),
            squared_norms: search.squared_norms.clone(),
            largest: search.largest,
            k: self.keep - SPARE,
        };
        let found = bounds.tournament(watch);
        let lists = found
            .into_par_iter()
            .enumerate()
            .flat_map_iter(|(block, found)| {
                let candidates = std::mem::take(&mut lock(&found).best);
                let rank = |(query, best)| self.verified(search, block * super::BLOCK + query, best);
                candidates.into_iter().enumerate().map(rank).collect::<Vec<_>>()
            })
            .collect();
        Neighbors { lists }
    }

    /// Compares candidates in full until no bound is left below the k-th distance.
    fn verified(&self, search: &Search<'_, T>, query: usize, mut best: Vec<(T, u32)>) -> Vec<(usize, f64)> {
        let cut = super::cut_back(&mut best, self.keep).map(T::to_f64);
        best.sort_unstable_by(|a, b| a.0.to_f64().total_cmp(&b.0.to_f64()).then(a.1.cmp(&b.1)));
        let (norm, slack) = (search.squared_norms[query], slack(search));
        let own = column(search.points, query);
        let mut list: Vec<(usize, f64)> = Vec::with_capacity(search.k + 1);
        let mut farthest = f64::INFINITY;
        for (bound, other) in best {
            if bound.to_f64() + norm > farthest + slack {
                break;
            }
            let other = other as usize;
            let squared = squared_slices(own, column(search.points, other));
            let place = list
                .partition_point(|&(index, near)| near.total_cmp(&squared).then(index.cmp(&other)).is_lt());
            if place < search.k {
                list.insert(place, (other, squared));
                list.truncate(search.k);
                farthest = if list.len() == search.k { list[search.k - 1].1 } else { f64::INFINITY };
            }
        }
        if cut.is_some_and(|cut| cut + norm <= farthest + slack) || list.len() < search.k {
            // A point that was not kept could be nearer.
            return search.in_full(query);
        }
        list.into_iter().map(|(other, squared)| (other, squared.sqrt())).collect()
    }

    /// How many points the bounds leave for one query.
    fn left_over(&self, search: &Search<'_, T>, query: usize) -> usize {
        let list = search.in_full(query);
        let farthest = list.last().map_or(0.0, |&(_, distance)| distance * distance);
        let limit = farthest + slack(search) - search.squared_norms[query];
        let own = self.coordinates.col_as_slice(query);
        let bound = |other: usize| {
            let products = own.iter().zip(self.coordinates.col_as_slice(other));
            search.squared_norms[other] - 2.0 * products.map(|(&a, &b)| a.to_f64() * b.to_f64()).sum::<f64>()
        };
        (0..search.points.ncols()).filter(|&other| other != query && bound(other) <= limit).count()
    }
}

/// What rounding may take from a bound: of coordinates and norms, and of a basis that is orthonormal to rounding.
fn slack<T: Scalar>(search: &Search<'_, T>) -> f64 {
    let unit = T::epsilon_impl().to_f64();
    32.0 * unit * (search.points.nrows() as f64).sqrt() * search.largest
}

fn probes(count: usize) -> Vec<usize> {
    let mut random = ChaCha8Rng::seed_from_u64(count as u64);
    (0..PROBES).map(|_| random.random_range(0..count)).collect()
}

/// Directions in which a sample of the points is long: a random start and one power of the sample's scatter.
fn basis<T: Scalar>(points: MatRef<'_, T>, directions: usize) -> Option<Mat<f64>> {
    let mut random = ChaCha8Rng::seed_from_u64(0x5eed);
    let mut sample = zeros::<f64>(points.nrows(), SAMPLE.min(points.ncols()));
    for place in 0..sample.ncols() {
        let chosen = column(points, random.random_range(0..points.ncols()));
        sample
            .col_as_slice_mut(place)
            .iter_mut()
            .zip(chosen)
            .for_each(|(wide, value)| *wide = value.to_f64());
    }
    let mut start = zeros::<f64>(sample.ncols(), directions);
    for column in 0..directions {
        start
            .col_as_slice_mut(column)
            .iter_mut()
            .for_each(|value| *value = StandardNormal.sample(&mut random));
    }
    let once = orthonormal(product(sample.as_ref(), start.as_ref()).as_ref())?;
    let image = product(sample.as_ref(), product(sample.transpose(), once.as_ref()).as_ref());
    // Twice is enough: the second time removes what rounding left of the first.
    orthonormal(orthonormal(image.as_ref())?.as_ref())
}

/// Columns made orthonormal by the Cholesky factor of their products; none where they are not independent.
fn orthonormal(block: MatRef<'_, f64>) -> Option<Mat<f64>> {
    let factor = eigen::cholesky(product(block.transpose(), block)).ok()?;
    // Q = Y R^-T, column after column of the transposed system.
    let mut turned = crate::parallel::copy(block.transpose());
    eigen::solve(factor.as_ref(), turned.as_mut());
    Some(crate::parallel::copy(turned.transpose()))
}
