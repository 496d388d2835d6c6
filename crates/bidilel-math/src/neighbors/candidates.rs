//! Top-k selection: the candidates of the first pass of a search.

use crate::{Scalar, simd};

/// Scores that are compared with the threshold in one SIMD operation.
const LANES: usize = 16;

/// Entries of a buffer beyond twice those kept, before it is truncated to the best.
const SLACK: usize = 32;

/// The best candidates so far of the queries of a block: unsorted buffers, truncated when full.
pub(super) struct Candidates<T> {
    keep: usize,
    pub(super) best: Vec<Vec<(T, u32)>>,
    /// Scores above the threshold of a query cannot be among its `keep` best.
    thresholds: Vec<T>,
}

impl<T: Scalar> Candidates<T> {
    pub(super) fn new(queries: usize, keep: usize, points: usize) -> Self {
        // The largest size of a buffer, which nearly all reach.
        let room = (2 * keep + SLACK).min(points);
        let best = std::iter::repeat_with(|| Vec::with_capacity(room)).take(queries).collect();
        Self { keep, best, thresholds: vec![T::max_positive_impl(); queries] }
    }

    /// Sets the threshold of a query: higher scores are ignored.
    pub(super) fn limit(&mut self, query: usize, score: T) {
        self.thresholds[query] = score;
    }

    /// Offers the points from `start` on to one query, given their inner products with it.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "2^32 points of one feature would be 16 GiB of indices"
    )]
    pub(super) fn scan(
        &mut self,
        query: usize,
        products: &[T],
        norms: &[T],
        start: usize,
        skip: Option<usize>,
    ) {
        let (best, threshold, keep) = (&mut self.best[query], &mut self.thresholds[query], self.keep);
        simd::dispatch(
            #[inline(always)]
            || {
                for (chunk, (products, norms)) in products.chunks(LANES).zip(norms.chunks(LANES)).enumerate()
                {
                    // Nearly all chunks are above the threshold, and this test is vectorized.
                    let below = |product, norm| norm + product <= *threshold;
                    if !any(products, norms, below) {
                        continue;
                    }
                    for (lane, (&product, &norm)) in products.iter().zip(norms).enumerate() {
                        let (score, index) = (norm + product, chunk * LANES + lane);
                        if score > *threshold || skip == Some(index) {
                            continue;
                        }
                        best.push((score, (start + index) as u32));
                        if best.len() == 2 * keep + SLACK {
                            *threshold = truncate_to_best(best, keep).unwrap_or(*threshold);
                        }
                    }
                }
            },
        );
    }
}

impl<T: Scalar> Candidates<T> {
    /// Offers one point to all queries, given their inner products with it.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "2^32 points of one feature would be 16 GiB of indices"
    )]
    pub(super) fn offer(&mut self, point: usize, norm: T, products: &[T]) {
        let (best, thresholds, keep) = (&mut self.best, &mut self.thresholds, self.keep);
        simd::dispatch(
            #[inline(always)]
            || {
                for (chunk, products) in products.chunks(LANES).enumerate() {
                    let first = chunk * LANES;
                    let limits = &thresholds[first..][..products.len()];
                    let below = |product, limit| norm + product <= limit;
                    if !any(products, limits, below) {
                        continue;
                    }
                    for (query, &product) in (first..).zip(products) {
                        let score = norm + product;
                        if score <= thresholds[query] {
                            best[query].push((score, point as u32));
                            if best[query].len() == 2 * keep + SLACK {
                                thresholds[query] =
                                    truncate_to_best(&mut best[query], keep).unwrap_or(thresholds[query]);
                            }
                        }
                    }
                }
            },
        );
    }
}

/// Whether `test` holds for any of up to `LANES` pairs.
#[inline(always)]
fn any<T: Scalar>(left: &[T], right: &[T], test: impl Fn(T, T) -> bool) -> bool {
    // A whole chunk is compared without branches, in SIMD registers.
    if let (Ok(left), Ok(right)) = (<&[T; LANES]>::try_from(left), <&[T; LANES]>::try_from(right)) {
        return (0..LANES).fold(false, |any, lane| any | test(left[lane], right[lane]));
    }
    left.iter().zip(right).any(|(&left, &right)| test(left, right))
}

/// Keeps the `keep` lowest scores, ties by index; returns the highest of them if any was dropped.
pub(super) fn truncate_to_best<T: Scalar>(best: &mut Vec<(T, u32)>, keep: usize) -> Option<T> {
    if best.len() <= keep {
        return None;
    }
    let order = |a: &(T, u32), b: &(T, u32)| a.0.to_f64().total_cmp(&b.0.to_f64()).then(a.1.cmp(&b.1));
    let (_, last, _) = best.select_nth_unstable_by(keep - 1, order);
    let cut = last.0;
    best.truncate(keep);
    Some(cut)
}
