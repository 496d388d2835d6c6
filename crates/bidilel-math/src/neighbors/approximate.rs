//! Approximate nearest neighbours, for so many points that all pairs are too many.
//!
//! Rounds of two ideas. Points that are near each other share a leaf of a random tree of half-spaces
//! ([`super::tree`]); and a neighbour of a neighbour is likely a neighbour. In every round a new tree cuts the points
//! into leaves. All members of a leaf are compared with each other, with the neighbours that any of them has found
//! lately, and with the points that have lately found one of them: one matrix product a leaf. Rounds end when
//! hardly a list changes any more.
//!
//! Products are of differences to the leaf's mean $m$, in the features' own precision:
//! `$$\|x_i - x_j\|^2 = \|x_i - m\|^2 + \|x_j - m\|^2 - 2 (x_i - m)^\top (x_j - m).$$`
//! A leaf is small, and so is the rounding. What is found is ranked by exact `f64` distances: distances are always
//! right, but a list may lack a neighbour.
//!
//! A round reads the lists of the round before and writes each list once, so that the result does not depend on
//! the number of threads. Trees are drawn from fixed seeds: the same points have the same lists.
//!
//! # Differences from the references
//! NN-descent compares the neighbours of one point with each other and updates lists as it goes; here a leaf is the
//! unit, because its comparisons are one large product, and no list changes within a round.
//!
//! # References
//! W. Dong, M. Charikar and K. Li, *Efficient k-nearest neighbor graph construction for generic similarity
//! measures*, 2011. J. Tang et al., *Visualizing large-scale and high-dimensional data*, 2016 (trees first).

use faer::linalg::matmul::matmul;
use faer::prelude::*;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

use super::candidates::{Candidates, cut_back};
use super::tree::Tree;
use super::{BLOCK, Neighbors, Search, contiguous, exact};
use crate::rows::Rows;
use crate::vector::{column, reduce};
use crate::{Observer, Scalar, parallel};

/// Points in a leaf at most.
const LEAF: usize = 512;
/// Entries of a list beyond `k`: a neighbour's neighbours are found through them, too.
const SPARE: usize = 6;
/// Rounds for which a new entry is shown to the leaf.
const LATELY: u8 = 2;
/// Rounds end when a smaller share of the entries is new.
const SETTLED: f64 = 0.005;
/// Rounds at most.
const ROUNDS: u8 = 24;

/// A neighbour so far.
#[derive(Debug, Clone, Copy)]
struct Entry<T> {
    square: T,
    point: u32,
    /// Rounds since it was found.
    age: u8,
}

/// Nearly all of the `k` nearest other columns of every column of `points`.
///
/// Few points are searched exactly, and so are features whose squares leave their precision.
pub fn approximate<T: Scalar>(points: MatRef<'_, T>, k: usize, watch: &dyn Observer) -> Neighbors {
    let count = points.ncols();
    let k = k.min(count.saturating_sub(1));
    let width = k + SPARE;
    // A leaf has at least half of these points, which must fill a list.
    let leaf = LEAF.max(4 * width);
    if count <= 2 * leaf || k == 0 {
        return exact(points, k, watch);
    }
    let copy = contiguous(points);
    let points = copy.as_ref().map_or(points, Mat::as_ref);
    let search = Search::new(points, k);
    if !has_squares::<T>(search.largest) {
        return exact(points, k, watch);
    }
    let mut lists = vec![Vec::new(); count];
    for round in 0..ROUNDS {
        let tree = Tree::grow(points, leaf, round);
        let finders = finders(&lists, width);
        let join = Join { points, k, width, lists: &lists, finders: &finders };
        let found = join.all(&tree);
        let mut changed = 0;
        for (members, joined) in tree.leaves().zip(found) {
            changed += joined.changed;
            for (&member, list) in members.iter().zip(joined.lists) {
                lists[member as usize] = list;
            }
        }
        let settled = (changed as f64) < SETTLED * (count * k) as f64;
        watch.progress(usize::from(round) + 1, usize::from(if settled { round + 1 } else { ROUNDS }));
        if settled {
            break;
        }
    }
    let rank = |(query, list): (usize, Vec<Entry<T>>)| {
        let mut ranked = search.distances(query, list.iter().map(|entry| entry.point as usize));
        ranked.truncate(k);
        ranked
    };
    Neighbors { lists: Rows::of_lists(&lists.into_par_iter().enumerate().map(rank).collect::<Vec<_>>()) }
}

/// Whether squares of features neither run over nor vanish, given the largest squared norm.
fn has_squares<T: Scalar>(largest: f64) -> bool {
    let least = T::from_f64(largest * T::epsilon_impl().to_f64()).to_f64();
    T::from_f64(16.0 * largest).to_f64().is_finite() && (least > 0.0 || largest == 0.0)
}

/// The points that have lately found a point: at most `most` of them, for some are found by thousands.
#[expect(clippy::cast_possible_truncation, reason = "2^32 points of one feature would be 16 GiB")]
fn finders<T>(lists: &[Vec<Entry<T>>], most: usize) -> Vec<Vec<u32>> {
    let mut finders = vec![Vec::new(); lists.len()];
    for (finder, list) in lists.iter().enumerate() {
        for entry in list.iter().filter(|entry| entry.age < LATELY) {
            let of_it = &mut finders[entry.point as usize];
            if of_it.len() < most {
                of_it.push(finder as u32);
            }
        }
    }
    finders
}

/// One round: reads the lists of the round before.
struct Join<'a, T> {
    points: MatRef<'a, T>,
    k: usize,
    width: usize,
    lists: &'a [Vec<Entry<T>>],
    finders: &'a [Vec<u32>],
}

/// The new lists of a leaf's members.
struct Joined<T> {
    lists: Vec<Vec<Entry<T>>>,
    /// New entries among the first `k` of the lists.
    changed: usize,
}

impl<T: Scalar> Join<'_, T> {
    /// The new lists, leaf by leaf.
    fn all(&self, tree: &Tree) -> Vec<Joined<T>> {
        let leaves: Vec<&[u32]> = tree.leaves().collect();
        leaves
            .par_iter()
            .map_init(|| vec![false; self.lists.len()], |seen, members| self.leaf(members, seen))
            .collect()
    }

    /// Compares a leaf with itself and with those its members point to; `seen` comes and goes all false.
    fn leaf(&self, members: &[u32], seen: &mut [bool]) -> Joined<T> {
        let others = self.others(members, seen);
        let frame = Frame::around(self.points, members);
        let own = frame.gathered(members);
        let norms: Vec<f64> = (0..members.len()).map(|i| square(own.col_as_slice(i))).collect();
        let mut candidates = Candidates::new(members.len(), self.width + 1, members.len() + others.len());
        for (query, (&member, norm)) in members.iter().zip(&norms).enumerate() {
            // What is farther than the last entry of a full list need not be looked at.
            if let Some(last) = self.lists[member as usize].get(self.width - 1) {
                candidates.limit(query, T::from_f64(last.square.to_f64() - norm));
            }
        }
        let mut tile = Mat::<T>::zeros(members.len(), BLOCK);
        for some in members.chunks(BLOCK).chain(others.chunks(BLOCK)) {
            let block = frame.gathered(some);
            let mut tile = tile.as_mut().subcols_mut(0, some.len());
            matmul(tile.rb_mut(), Accum::Replace, own.transpose(), &block, T::from_f64(-2.0), Par::Seq);
            for (at, &point) in some.iter().enumerate() {
                let norm = T::from_f64(square(block.col_as_slice(at)));
                candidates.offer(point as usize, norm, column(tile.rb(), at));
            }
        }
        let lists: Vec<_> = members
            .iter()
            .zip(candidates.best)
            .zip(norms)
            .map(|((&member, best), norm)| self.merged(member, best, norm))
            .collect();
        let new = |list: &Vec<Entry<T>>| list.iter().take(self.k).filter(|entry| entry.age == 0).count();
        Joined { changed: lists.iter().map(new).sum(), lists }
    }

    /// Points outside the leaf that its members have lately found, or that have lately found them.
    fn others(&self, members: &[u32], seen: &mut [bool]) -> Vec<u32> {
        let mut others = Vec::new();
        members.iter().for_each(|&member| seen[member as usize] = true);
        for &member in members {
            let found = self.lists[member as usize].iter().filter(|entry| entry.age < LATELY);
            let finders = self.finders[member as usize].iter().copied();
            for point in found.map(|entry| entry.point).chain(finders) {
                if !std::mem::replace(&mut seen[point as usize], true) {
                    others.push(point);
                }
            }
        }
        members.iter().chain(&others).for_each(|&point| seen[point as usize] = false);
        others
    }

    /// The old list with what was found; scores lack the member's own squared norm.
    fn merged(&self, member: u32, mut best: Vec<(T, u32)>, norm: f64) -> Vec<Entry<T>> {
        cut_back(&mut best, self.width + 1);
        let old = &self.lists[member as usize];
        let known = |point: u32| point == member || old.iter().any(|entry| entry.point == point);
        let mut list: Vec<Entry<T>> =
            old.iter().map(|entry| Entry { age: entry.age.saturating_add(1), ..*entry }).collect();
        list.extend(best.into_iter().filter(|&(_, point)| !known(point)).map(|(score, point)| Entry {
            square: T::from_f64(score.to_f64() + norm),
            point,
            age: 0,
        }));
        let order = |a: &Entry<T>, b: &Entry<T>| a.square.to_f64().total_cmp(&b.square.to_f64());
        list.sort_unstable_by(|a, b| order(a, b).then(a.point.cmp(&b.point)));
        list.truncate(self.width);
        list
    }
}

/// Points as differences to the mean of some of them.
struct Frame<'a, T> {
    points: MatRef<'a, T>,
    mean: Vec<T>,
}

impl<'a, T: Scalar> Frame<'a, T> {
    fn around(points: MatRef<'a, T>, members: &[u32]) -> Self {
        let mut sum = vec![0.0; points.nrows()];
        for &member in members {
            sum.iter_mut().zip(column(points, member as usize)).for_each(|(sum, x)| *sum += x.to_f64());
        }
        let mean = sum.iter().map(|sum| T::from_f64(sum / members.len() as f64)).collect();
        Self { points, mean }
    }

    fn gathered(&self, some: &[u32]) -> Mat<T> {
        let mut gathered = parallel::zeros::<T>(self.points.nrows(), some.len());
        for (at, &point) in some.iter().enumerate() {
            let from = column(self.points, point as usize).iter().zip(&self.mean);
            gathered.col_as_slice_mut(at).iter_mut().zip(from).for_each(|(to, (&x, &mean))| *to = x - mean);
        }
        gathered
    }
}

fn square<T: Scalar>(values: &[T]) -> f64 {
    reduce(
        values,
        values,
        #[inline(always)]
        |one: T, other: T| (one * other).to_f64(),
    )
}

#[cfg(test)]
mod tests;
