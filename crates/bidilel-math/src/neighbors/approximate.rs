//! Approximate nearest neighbors, for numbers of points where comparing all pairs takes too long.
//!
//! Random projection trees combined with NN-descent. Near points share a leaf of a random projection tree (`tree.rs`), and a
//! neighbor of a neighbor is likely a neighbor. In every round a new tree partitions the points into leaves. All members of a
//! leaf are compared with each other, with the recently found neighbors of any of them, and with the points that recently found
//! one of them (reverse neighbors): one GEMM per leaf. The rounds end when the lists have almost stopped changing.
//!
//! Points are centered at the mean $m$ of the leaf, and multiplied in the features' own precision:
//! `$$\|x_i - x_j\|^2 = \|x_i - m\|^2 + \|x_j - m\|^2 - 2 (x_i - m)^\top (x_j - m).$$`
//! Distances within a leaf are small, and so are the rounding errors. Candidates are ranked by exact `f64` distances: distances
//! are always right, but a list may lack a neighbor.
//!
//! A round reads the lists of the previous round and writes each list once, so that the result does not depend on
//! the number of threads. Trees have fixed seeds: the same points give the same lists.
//!
//! # Differences from the references
//! NN-descent joins the neighbors of one point with each other and updates lists immediately. Here the unit of work is a leaf,
//! because its comparisons are one large GEMM, and no list changes within a round.
//!
//! # References
//! W. Dong, M. Charikar and K. Li, *Efficient k-nearest neighbor graph construction for generic similarity
//! measures*, 2011. J. Tang et al., *Visualizing large-scale and high-dimensional data*, 2016 (trees first).

use faer::linalg::matmul::matmul;
use faer::prelude::*;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

use super::candidates::{Candidates, truncate_to_best};
use super::search::{BLOCK_POINTS, Search, contiguous};
use super::tree::Tree;
use super::{Neighbors, exact};
use crate::csr::Csr;
use crate::vector::{column, reduce};
use crate::{Observer, Scalar, parallel};

/// Maximum number of points of a leaf.
const LEAF_POINTS: usize = 512;
/// Entries of a list beyond `k`: they lead to further neighbors of neighbors.
const SPARE_ENTRIES: usize = 6;
/// Rounds during which an entry counts as recent.
const RECENT_ROUNDS: u8 = 2;
/// Rounds end when a smaller fraction of the entries is new.
const CONVERGED_FRACTION: f64 = 0.005;
/// Maximum number of rounds.
const MAX_ROUNDS: u8 = 24;

/// A neighbor candidate.
#[derive(Debug, Clone, Copy)]
struct Entry<T> {
    square: T,
    point: u32,
    /// Rounds since it was found.
    age: u8,
}

/// Nearly all of the `k` nearest other columns of every column of `points`.
///
/// Falls back to [`exact`] for few points, and for features whose squares overflow or underflow.
pub fn approximate<T: Scalar>(points: MatRef<'_, T>, k: usize, watch: &dyn Observer) -> Neighbors {
    let count = points.ncols();
    let k = k.min(count.saturating_sub(1));
    let width = k + SPARE_ENTRIES;
    // A leaf has at least half of these points, and must fill a list.
    let leaf = LEAF_POINTS.max(4 * width);
    if count <= 2 * leaf || k == 0 {
        return exact(points, k, watch);
    }
    let copy = contiguous(points);
    let points = copy.as_ref().map_or(points, Mat::as_ref);
    let search = Search::new(points, k);
    if !squares_in_range::<T>(search.largest) {
        return exact(points, k, watch);
    }
    let mut lists = vec![Vec::new(); count];
    for round in 0..MAX_ROUNDS {
        let tree = Tree::grow(points, leaf, round);
        let reverse = reverse_neighbors(&lists, width);
        let join = Join { points, k, width, lists: &lists, reverse: &reverse };
        let found = join.all(&tree);
        let mut changed = 0;
        for (members, joined) in tree.leaves().zip(found) {
            changed += joined.changed;
            for (&member, list) in members.iter().zip(joined.lists) {
                lists[member as usize] = list;
            }
        }
        let converged = (changed as f64) < CONVERGED_FRACTION * (count * k) as f64;
        watch.progress(usize::from(round) + 1, usize::from(if converged { round + 1 } else { MAX_ROUNDS }));
        if converged || watch.poll().is_break() {
            break;
        }
    }
    let rank = |(query, list): (usize, Vec<Entry<T>>)| {
        let mut ranked = search.distances(query, list.iter().map(|entry| entry.point as usize));
        ranked.truncate(k);
        ranked
    };
    Neighbors { lists: Csr::from_lists(&lists.into_par_iter().enumerate().map(rank).collect::<Vec<_>>()) }
}

/// Whether squares of features neither overflow nor underflow, given the largest squared norm.
fn squares_in_range<T: Scalar>(largest: f64) -> bool {
    let least = T::from_f64(largest * T::epsilon_impl().to_f64()).to_f64();
    T::from_f64(16.0 * largest).to_f64().is_finite() && (least > 0.0 || largest == 0.0)
}

/// Recent reverse neighbors of every point: at most `limit`, since hubs have thousands.
#[expect(clippy::cast_possible_truncation, reason = "2^32 points of one feature would be 16 GiB")]
fn reverse_neighbors<T>(lists: &[Vec<Entry<T>>], limit: usize) -> Vec<Vec<u32>> {
    let mut reverse = vec![Vec::new(); lists.len()];
    for (point, list) in lists.iter().enumerate() {
        for entry in list.iter().filter(|entry| entry.age < RECENT_ROUNDS) {
            let of_it = &mut reverse[entry.point as usize];
            if of_it.len() < limit {
                of_it.push(point as u32);
            }
        }
    }
    reverse
}

/// One round, which reads the lists of the previous one.
struct Join<'a, T> {
    points: MatRef<'a, T>,
    k: usize,
    width: usize,
    lists: &'a [Vec<Entry<T>>],
    reverse: &'a [Vec<u32>],
}

/// The new lists of a leaf's members.
struct Joined<T> {
    lists: Vec<Vec<Entry<T>>>,
    /// New entries among the first `k` of the lists.
    changed: usize,
}

impl<T: Scalar> Join<'_, T> {
    /// The new lists, by leaf.
    fn all(&self, tree: &Tree) -> Vec<Joined<T>> {
        let leaves: Vec<&[u32]> = tree.leaves().collect();
        leaves
            .par_iter()
            .map_init(|| vec![false; self.lists.len()], |seen, members| self.leaf(members, seen))
            .collect()
    }

    /// Compares a leaf with itself and with the candidates outside it; `seen` is scratch space, all false on entry and exit.
    fn leaf(&self, members: &[u32], seen: &mut [bool]) -> Joined<T> {
        let others = self.others(members, seen);
        let centered = Centered::around(self.points, members);
        let own = centered.gather(members);
        let norms: Vec<f64> = (0..members.len()).map(|i| square(own.col_as_slice(i))).collect();
        let mut candidates = Candidates::new(members.len(), self.width + 1, members.len() + others.len());
        for (query, (&member, norm)) in members.iter().zip(&norms).enumerate() {
            // Points farther than the last entry of a full list are no candidates.
            if let Some(last) = self.lists[member as usize].get(self.width - 1) {
                candidates.limit(query, T::from_f64(last.square.to_f64() - norm));
            }
        }
        let mut tile = Mat::<T>::zeros(members.len(), BLOCK_POINTS);
        for some in members.chunks(BLOCK_POINTS).chain(others.chunks(BLOCK_POINTS)) {
            let block = centered.gather(some);
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

    /// Recent neighbors and reverse neighbors of the members, outside the leaf.
    fn others(&self, members: &[u32], seen: &mut [bool]) -> Vec<u32> {
        let mut others = Vec::new();
        members.iter().for_each(|&member| seen[member as usize] = true);
        for &member in members {
            let found = self.lists[member as usize].iter().filter(|entry| entry.age < RECENT_ROUNDS);
            let reverse = self.reverse[member as usize].iter().copied();
            for point in found.map(|entry| entry.point).chain(reverse) {
                if !std::mem::replace(&mut seen[point as usize], true) {
                    others.push(point);
                }
            }
        }
        members.iter().chain(&others).for_each(|&point| seen[point as usize] = false);
        others
    }

    /// The old list merged with new candidates, whose scores lack the squared norm of the member.
    fn merged(&self, member: u32, mut best: Vec<(T, u32)>, norm: f64) -> Vec<Entry<T>> {
        truncate_to_best(&mut best, self.width + 1);
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

/// Points centered at the mean of a leaf.
struct Centered<'a, T> {
    points: MatRef<'a, T>,
    mean: Vec<T>,
}

impl<'a, T: Scalar> Centered<'a, T> {
    fn around(points: MatRef<'a, T>, members: &[u32]) -> Self {
        let mut sum = vec![0.0; points.nrows()];
        for &member in members {
            sum.iter_mut().zip(column(points, member as usize)).for_each(|(sum, x)| *sum += x.to_f64());
        }
        let mean = sum.iter().map(|sum| T::from_f64(sum / members.len() as f64)).collect();
        Self { points, mean }
    }

    /// Gathers points as columns.
    fn gather(&self, some: &[u32]) -> Mat<T> {
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
