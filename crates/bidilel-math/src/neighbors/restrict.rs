//! Neighbor lists of a subset of the points, derived from the lists of all points.
//!
//! The list of a query over all points, without the points outside the subset, is a prefix of its list over the subset. Only
//! queries with too few entries left are searched again, with lists of doubled length until enough entries are left.

use std::collections::{HashMap, HashSet};

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::Neighbors;
use super::search::{BLOCK_POINTS, Search};
use crate::csr::Csr;
use crate::panels::{Panels, Product, Right};
use crate::parallel::zeros;
use crate::{Observer, Scalar};

/// Neighbor lists of a subset of the points (its members).
#[derive(Debug, Clone, PartialEq)]
pub struct Restricted {
    /// The lists; indices are positions among the members.
    pub neighbors: Neighbors,
    /// Lists that had to be searched again, by position among the members: input of the next restriction to the same members.
    pub searched: HashMap<usize, Vec<(usize, f64)>>,
}

impl Neighbors {
    /// The `k` nearest neighbors of `members` (ascending) among each other: the same as [`super::exact`] finds for their columns
    /// alone. `known` are the lists that an earlier call searched again.
    pub fn restricted<T: Scalar>(
        &self,
        members: &[usize],
        points: MatRef<'_, T>,
        k: usize,
        mut known: HashMap<usize, Vec<(usize, f64)>>,
        watch: &dyn Observer,
    ) -> Restricted {
        let k = k.min(members.len().saturating_sub(1));
        let mut position = vec![usize::MAX; self.count()];
        members.iter().enumerate().for_each(|(i, &member)| position[member] = i);
        let stay = |member: usize| {
            let inside = self.of(member).iter().filter(|&(other, _)| position[other] != usize::MAX);
            inside.take(k).map(|(other, distance)| (position[other], distance))
        };
        let short: HashSet<usize> =
            (0..members.len()).into_par_iter().filter(|&i| stay(members[i]).count() < k).collect();
        let lacks =
            |known: &HashMap<usize, Vec<_>>, i: usize| known.get(&i).is_none_or(|list| list.len() < k);
        let mut missing: Vec<usize> =
            (0..members.len()).filter(|i| short.contains(i) && lacks(&known, *i)).collect();
        let mut length = 2 * k;
        while !missing.is_empty() {
            let queries: Vec<usize> = missing.iter().map(|&i| members[i]).collect();
            let found = search(points, &queries, length.min(points.ncols() - 1), watch);
            let inside = |(other, distance): (usize, f64)| {
                (position[other] != usize::MAX).then_some((position[other], distance))
            };
            let inside = |list: Vec<(usize, f64)>| list.into_iter().filter_map(inside).take(k).collect();
            known.extend(missing.iter().copied().zip(found.into_iter().map(inside)));
            missing.retain(|&i| lacks(&known, i));
            length *= 2;
        }
        let list = |i: usize| {
            // One of the two is empty.
            let (searched, filtered) =
                if short.contains(&i) { (&known[&i][..k], None) } else { (&[][..], Some(stay(members[i]))) };
            searched.iter().copied().chain(filtered.into_iter().flatten())
        };
        let lists = Csr::new(&vec![k; members.len()], list);
        Restricted { neighbors: Self { lists }, searched: known }
    }

    /// The lists of `members` (ascending), with indices as positions among them; other neighbors are dropped.
    #[must_use]
    pub fn renumbered(&self, members: &[usize]) -> Self {
        let mut position = vec![usize::MAX; self.count()];
        members.iter().enumerate().for_each(|(i, &member)| position[member] = i);
        let inside = |(other, distance): (usize, f64)| {
            (position[other] != usize::MAX).then_some((position[other], distance))
        };
        let lists: Vec<Vec<_>> =
            members.iter().map(|&member| self.of(member).iter().filter_map(inside).collect()).collect();
        Self { lists: Csr::from_lists(&lists) }
    }
}

/// The `k` nearest other columns of some columns.
fn search<T: Scalar>(
    points: MatRef<'_, T>,
    queries: &[usize],
    k: usize,
    watch: &dyn Observer,
) -> Vec<Vec<(usize, f64)>> {
    if queries.is_empty() {
        return Vec::new();
    }
    let search = Search::new(points, k);
    let blocks = points.ncols().div_ceil(BLOCK_POINTS);
    let chunks = queries.len().div_ceil(BLOCK_POINTS);
    let mut found = Vec::with_capacity(queries.len());
    for (done, queries) in queries.chunks(BLOCK_POINTS).enumerate() {
        let own = Mat::from_fn(points.nrows(), queries.len(), |row, i| points[(row, queries[i])]);
        // One part of the queries per thread: every query sees the blocks in order.
        let share = queries.len().div_ceil(rayon::current_num_threads()).max(8);
        let lists: Vec<_> = queries
            .par_chunks(share)
            .enumerate()
            .flat_map_iter(|(part, queries)| {
                let mut right = Panels::right(queries.len(), points.nrows());
                right.pack_columns(own.subcols(part * share, queries.len()), T::from_f64(search.scale));
                let mut candidates = search.empty_candidates(queries.len());
                let mut tile = zeros::<T>(BLOCK_POINTS, queries.len());
                for block in 0..blocks {
                    let (start, size) = (block * BLOCK_POINTS, search.size(block));
                    let (left, right) = (search.pack(block), Right::Packed(&right, 0));
                    Product { left: &left, first_row: 0, right, depth: points.nrows(), lower: false }
                        .write_to(tile.as_mut().submatrix_mut(0, 0, size, queries.len()));
                    let norms = search.norms(block);
                    for (i, &query) in queries.iter().enumerate() {
                        let skip = query.checked_sub(start).filter(|&at| at < size);
                        candidates.scan(i, &tile.col_as_slice(i)[..size], &norms, start, skip);
                    }
                }
                let ranked =
                    queries.iter().zip(candidates.best).map(|(&query, best)| search.rank(query, best));
                ranked.collect::<Vec<_>>()
            })
            .collect();
        found.extend(lists);
        watch.progress(done + 1, chunks);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Silent, neighbors};

    fn cloud(count: usize) -> Mat<f32> {
        let mut state = 7_u64;
        Mat::from_fn(5, count, |_, _| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % 40) as f32 / 4.0
        })
    }

    #[test]
    fn restricted_lists_are_those_of_the_members_alone_and_searches_are_counted() {
        let points = cloud(700);
        let members: Vec<usize> = (0..700).filter(|i| i % 7 > 1).collect();
        let own = Mat::from_fn(5, members.len(), |row, i| points[(row, members[i])]);
        for (kept, k) in [(40, 12), (12, 12), (3, 20), (699, 900)] {
            let all = neighbors::exact(points.as_ref(), kept, &Silent);
            let found = all.restricted(&members, points.as_ref(), k, HashMap::new(), &Silent);
            assert_eq!(found.neighbors, neighbors::exact(own.as_ref(), k, &Silent), "{k} of {kept}");
            match kept {
                3 => assert_eq!(found.searched.len(), members.len(), "three are too few for anyone"),
                699 => assert!(found.searched.is_empty(), "nothing is missing from whole lists"),
                12 => assert!(!found.searched.is_empty() && found.searched.len() <= members.len()),
                _ => {}
            }
            let again = all.restricted(&members, points.as_ref(), k, found.searched.clone(), &Silent);
            assert_eq!(again, found);
        }
    }
}
