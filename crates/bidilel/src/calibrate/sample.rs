//! The upper quantiles of a sample that also hold for the next draw, and how they are kept in bounded space.
//!
//! If $n$ values and a new one are exchangeable, the new one is at most the $k$-th smallest of the $n$ with probability at
//! least $k / (n + 1)$: so $k = \lceil (n + 1) q \rceil$ bounds it with probability $q$, and nothing does where $k > n$.
//!
//! At most [`MOST_KEPT`] order statistics are kept, those of ranks $\lceil j n / m \rceil$; a quantile is the next one that
//! is kept, so that the bound is never too low.
//!
//! # References
//! V. Vovk, A. Gammerman and G. Shafer, *Algorithmic learning in a random world*, 2005.

/// The most numbers that are kept of a sample: ranks within a fortieth of a percent.
pub const MOST_KEPT: usize = 4096;

/// The sorted values of a sample, or evenly spaced ones of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sample {
    kept: Vec<f64>,
    count: usize,
}

impl Sample {
    /// A sample of finite values.
    pub fn new(values: Vec<f64>) -> Self {
        Self::keeping(values, MOST_KEPT)
    }

    fn keeping(mut values: Vec<f64>, most: usize) -> Self {
        values.sort_by(f64::total_cmp);
        let (count, most) = (values.len(), most.min(values.len()));
        let kept = (1..=most).map(|j| values[(j * count).div_ceil(most) - 1]).collect();
        Self { kept, count }
    }

    /// A sample of `count` values of which these are kept; none where they are not sorted, or cannot be of as many.
    pub fn from_kept(kept: Vec<f64>, count: usize) -> Option<Self> {
        let sound = kept.is_sorted() && kept.iter().all(|value| value.is_finite());
        (sound && kept.len() == count.min(MOST_KEPT)).then_some(Self { kept, count })
    }

    /// The values that are kept, smallest first.
    pub fn kept(&self) -> &[f64] {
        &self.kept
    }

    /// How many values the sample had.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The value that a new draw does not exceed with probability `share` at least; infinite where the sample is too
    /// small to say.
    pub fn bound(&self, share: f64) -> f64 {
        let (count, kept) = (self.count, self.kept.len());
        // One part in 10^12: 0.9 times 10 must be 9.
        let rank = ((count + 1) as f64 * share * (1.0 - 1e-12)).ceil().max(1.0);
        if rank > count as f64 {
            return f64::INFINITY;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the count")]
        let rank = rank as usize;
        // The first j with a rank, the ceiling of j n / m, that is not below.
        self.kept[(rank - 1) * kept / count]
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;

    use super::*;

    #[test]
    fn the_bound_is_the_order_statistic_of_the_formula() {
        let sample = Sample::new((1..=19).rev().map(f64::from).collect());
        // 20 q: the k-th smallest is k.
        for (share, expected) in [(0.9, 18.0), (0.95, 19.0), (0.5, 10.0), (0.501, 11.0), (0.0, 1.0)] {
            assert_relative_eq!(sample.bound(share), expected);
        }
        assert!(sample.bound(0.951).is_infinite());
        assert!(Sample::default().bound(0.5).is_infinite());
    }

    #[test]
    fn a_thinned_sample_bounds_at_least_as_much_and_hardly_more() {
        for count in [7_usize, 64, 65, 1000, 12_345] {
            let values: Vec<f64> = (0..count).map(|i| i as f64).collect();
            let (all, few) = (Sample::keeping(values.clone(), count), Sample::keeping(values, 64));
            assert!(few.kept().len() <= 64 && few.count() == count);
            for percent in 1..100 {
                let share = f64::from(percent) / 100.0;
                let (exact, thinned) = (all.bound(share), few.bound(share));
                assert!(thinned >= exact, "{count} {share}");
                if exact.is_finite() {
                    assert!(
                        thinned <= exact + count as f64 / 64.0 + 1.0,
                        "{count} {share}: {thinned} {exact}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_was_kept_is_read_back_and_nonsense_is_refused() {
        let sample = Sample::new((0..5000).map(f64::from).collect());
        assert_eq!(sample.kept().len(), MOST_KEPT);
        assert_eq!(Sample::from_kept(sample.kept().to_vec(), 5000), Some(sample));
        assert_eq!(Sample::from_kept(vec![2.0, 1.0], 2), None, "not sorted");
        assert_eq!(Sample::from_kept(vec![1.0, 2.0], 3), None, "one is missing");
        assert_eq!(Sample::from_kept(vec![f64::NAN], 1), None);
    }
}
