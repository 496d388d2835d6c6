//! A random tree of half-spaces: cuts points into leaves of near ones.
//!
//! Every node draws two of its points, $a$ and $b$, and halves itself at the median of $x^\top (a - b)$. Directions that
//! are drawn from the data follow it: points of one cluster seldom part. Another seed gives other cuts, so that points
//! which one tree parts lie in one leaf of another.
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

/// Projections that one thread computes at a time.
const SHARE: usize = 256;

/// All points in the order of the leaves.
pub(super) struct Tree {
    order: Vec<u32>,
    /// Where in the order each leaf lies.
    ranges: Vec<Range<usize>>,
}

impl Tree {
    /// Leaves have at most `most` points, and more than half as many where there are more points than that.
    #[expect(clippy::cast_possible_truncation, reason = "2^32 points of one feature would be 16 GiB")]
    pub(super) fn grow<T: Scalar>(points: MatRef<'_, T>, most: usize, seed: u8) -> Self {
        let mut order: Vec<u32> = (0..points.ncols() as u32).collect();
        halve(points, &mut order, most, u64::from(seed));
        let mut ranges = Vec::new();
        cut(0..points.ncols(), most, &mut ranges);
        Self { order, ranges }
    }

    /// The points of every leaf, ascending.
    pub(super) fn leaves(&self) -> impl Iterator<Item = &[u32]> {
        self.ranges.iter().map(|range| &self.order[range.clone()])
    }
}

/// Where [`halve`] cuts: sizes alone decide.
fn cut(range: Range<usize>, most: usize, ranges: &mut Vec<Range<usize>>) {
    if range.len() <= most {
        ranges.push(range);
    } else {
        let middle = range.start + range.len() / 2;
        cut(range.start..middle, most, ranges);
        cut(middle..range.end, most, ranges);
    }
}

fn halve<T: Scalar>(points: MatRef<'_, T>, members: &mut [u32], most: usize, seed: u64) {
    if members.len() <= most {
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
    let mut projected: Vec<(f64, u32)> = members.par_iter().with_min_len(SHARE).map(project).collect();
    let middle = projected.len() / 2;
    projected.select_nth_unstable_by(middle, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    members.iter_mut().zip(projected).for_each(|(member, (_, sorted))| *member = sorted);
    let (below, above) = members.split_at_mut(middle);
    // A selection leaves each half in an order that could differ between its versions.
    below.sort_unstable();
    above.sort_unstable();
    let (left, right) = (random.random(), random.random());
    rayon::join(|| halve(points, below, most, left), || halve(points, above, most, right));
}
