//! A random projection tree: partitions points into leaves of near points.
//!
//! Every node draws two of its points, $a$ and $b$, and splits at the median of $x^\top (a - b)$. Directions drawn from the data
//! adapt to it: points of one cluster are rarely separated. Another seed gives other splits, so that points that one tree
//! separates share a leaf of another.
//!
//! # Reference
//! S. Dasgupta and Y. Freund, *Random projection trees and low dimensional manifolds*, 2008.

use std::ops::Range;

use faer::MatRef;
use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::Scalar;
use crate::vector::{column, reduce};

/// Projections per task.
const POINTS_PER_TASK: usize = 256;

/// A tree, as a permutation of the points by leaf.
pub(super) struct Tree {
    order: Vec<u32>,
    /// The range of every leaf in the permutation.
    ranges: Vec<Range<usize>>,
}

impl Tree {
    /// A tree whose leaves have at most `leaf` points, and at least half as many where there are more points than that.
    #[expect(clippy::cast_possible_truncation, reason = "2^32 points of one feature would be 16 GiB")]
    pub(super) fn grow<T: Scalar>(points: MatRef<'_, T>, leaf: usize, seed: u8) -> Self {
        let mut order: Vec<u32> = (0..points.ncols() as u32).collect();
        split(points, &mut order, leaf, u64::from(seed));
        let mut ranges = Vec::new();
        leaf_ranges(0..points.ncols(), leaf, &mut ranges);
        Self { order, ranges }
    }

    /// The points of every leaf, ascending.
    pub(super) fn leaves(&self) -> impl Iterator<Item = &[u32]> {
        self.ranges.iter().map(|range| &self.order[range.clone()])
    }
}

/// The leaves of [`split`], which depend on sizes alone.
fn leaf_ranges(range: Range<usize>, leaf: usize, ranges: &mut Vec<Range<usize>>) {
    if range.len() <= leaf {
        ranges.push(range);
    } else {
        let middle = range.start + range.len() / 2;
        leaf_ranges(range.start..middle, leaf, ranges);
        leaf_ranges(middle..range.end, leaf, ranges);
    }
}

fn split<T: Scalar>(points: MatRef<'_, T>, members: &mut [u32], leaf: usize, seed: u64) {
    if members.len() <= leaf {
        return;
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut draw = || column(points, members[random.random_range(0..members.len())] as usize);
    let (one, other) = (draw(), draw());
    let direction: Vec<T> = one.iter().zip(other).map(|(&a, &b)| a - b).collect();
    let project = |&member: &u32| {
        let along = reduce(
            column(points, member as usize),
            &direction,
            #[inline(always)]
            |x: T, y: T| (x * y).to_f64(),
        );
        (along, member)
    };
    let mut projected: Vec<(f64, u32)> =
        members.par_iter().with_min_len(POINTS_PER_TASK).map(project).collect();
    let middle = projected.len() / 2;
    projected.select_nth_unstable_by(middle, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    members.iter_mut().zip(projected).for_each(|(member, (_, sorted))| *member = sorted);
    let (below, above) = members.split_at_mut(middle);
    // The order that a selection leaves within each half is unspecified.
    below.sort_unstable();
    above.sort_unstable();
    let (left, right) = (random.random(), random.random());
    rayon::join(|| split(points, below, leaf, left), || split(points, above, leaf, right));
}
