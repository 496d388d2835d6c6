//! A uniform sample of all descriptors, without replacement, that depends on the seed alone.
//!
//! The indices are drawn first (Floyd's method: as many draws as indices, whatever the total), then read in the order of
//! the items, so that a file is opened once and only the rows that were drawn are read.
//!
//! # References
//! J. Bentley and B. Floyd, *Programming pearls: a sample of brilliance*, 1987.

use std::collections::HashSet;

use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::contiguous;
use super::items::{self, Items};
use crate::error::Result;

/// Up to `most` descriptors, dimensions x descriptors, in the order of the items; with the number of all.
pub(super) fn draw(items: &dyn Items, most: usize, seed: u64) -> Result<(Mat<f32>, usize)> {
    let counts: Vec<usize> = (0..items.count()).map(|item| items.descriptors(item)).collect();
    let total = counts.iter().sum();
    let drawn = draw_indices(total, most, seed);
    let dim = items.dim();
    let mut sample = Mat::zeros(dim, drawn.len());
    // Every item gets the columns of its own indices, so that all can be read in parallel.
    let (mut rest, mut left, mut first) = (sample.as_mut(), &drawn[..], 0);
    let mut parts = Vec::new();
    for (item, &count) in counts.iter().enumerate() {
        let (own, others) = left.split_at(left.partition_point(|&index| index < first + count));
        let (columns, more) = rest.split_at_col_mut(own.len());
        if !own.is_empty() {
            parts.push((item, first, own, columns));
        }
        (rest, left, first) = (more, others, first + count);
    }
    let outcomes: Vec<Result<()>> = parts
        .into_par_iter()
        .map(|(item, first, own, columns)| {
            let rows = items::open(items, item)?;
            for (column, index) in columns.col_iter_mut().zip(own) {
                items::read_checked(items, item, &*rows, index - first, contiguous(column))?;
            }
            Ok(())
        })
        .collect();
    outcomes.into_iter().collect::<Result<()>>()?;
    Ok((sample, total))
}

/// `most` different numbers below `total`, ascending; all of them if there are no more.
fn draw_indices(total: usize, most: usize, seed: u64) -> Vec<usize> {
    if most >= total {
        return (0..total).collect();
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut chosen = HashSet::with_capacity(most);
    for last in total - most..total {
        let index = random.random_range(0..=last);
        if !chosen.insert(index) {
            chosen.insert(last);
        }
    }
    let mut chosen: Vec<usize> = chosen.into_iter().collect();
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_distinct_and_uniform() {
        let mut counts = [0; 30];
        for seed in 0..3000 {
            let drawn = draw_indices(30, 10, seed);
            assert_eq!(drawn.len(), 10);
            assert!(drawn.windows(2).all(|pair| pair[0] < pair[1]));
            drawn.iter().for_each(|&index| counts[index] += 1);
        }
        // 1000 expected, standard deviation 26.
        assert!(counts.iter().all(|count| (880..1120).contains(count)), "{counts:?}");
        assert_eq!(draw_indices(4, 9, 0), [0, 1, 2, 3]);
    }

    #[test]
    fn a_sample_holds_descriptors_of_all_items_in_order() {
        let counts = [5, 0, 700, 1].into_iter().enumerate();
        let items: Vec<Mat<f32>> =
            counts.map(|(item, count)| Mat::from_fn(1, count, |_, i| (item * 1000 + i) as f32)).collect();
        let (all, total) = draw(&items, 10_000, 0).expect("in memory");
        assert_eq!((all.ncols(), total), (706, 706));
        let (some, _) = draw(&items, 300, 5).expect("in memory");
        let values = some.row(0);
        assert!((1..300).all(|i| values[i] > values[i - 1]), "in order, none twice");
        assert_eq!(draw(&items, 300, 5).expect("in memory").0, some);
        assert_ne!(draw(&items, 300, 6).expect("in memory").0, some);
    }
}
