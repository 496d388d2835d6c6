//! Agglomerative clustering with average linkage.
//!
//! Clusters are merged pair by pair, those with the smallest mean distance between their members first:
//!
//! `$$ d(A, B) = \frac{1}{|A| |B|} \sum_{a \in A} \sum_{b \in B} d(a, b). $$`
//!
//! Of equal distances, the pair whose clusters have the smallest indices is merged, so that the result does not depend on
//! anything but the distances. The points are clusters $0$ to $n - 1$, and merge $k$ makes cluster $n + k$.
//!
//! ```
//! use bidilel_math::hierarchy::average_linkage;
//!
//! let positions = [0.0_f64, 1.0, 5.0];
//! let distances = faer::Mat::from_fn(3, 3, |i, j| (positions[i] - positions[j]).abs());
//! let merges = average_linkage(distances.as_ref());
//! assert_eq!((merges[0].left, merges[0].right, merges[0].height), (0, 1, 1.0));
//! assert_eq!((merges[1].left, merges[1].right, merges[1].height), (2, 3, 4.5));
//! ```
//!
//! # References
//! R. Sokal and C. Michener, *A statistical method for evaluating systematic relationships*, 1958. G. Lance and
//! W. Williams, *A general theory of classificatory sorting strategies*, 1967 (the update of distances).

use faer::{Mat, MatRef};

/// Two clusters that become one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Merge {
    /// The cluster with the smaller index.
    pub left: usize,
    /// The other one.
    pub right: usize,
    /// Their distance.
    pub height: f64,
    /// Points of both.
    pub size: usize,
}

/// A cluster that is not yet part of another.
struct Cluster {
    index: usize,
    size: usize,
    /// Its nearest cluster among those in later slots, with its distance.
    nearest: Option<(f64, usize)>,
}

/// Merges points into one cluster: as many merges as there are points, less one.
///
/// # Panics
/// If the matrix of distances is not square.
pub fn average_linkage(distances: MatRef<'_, f64>) -> Vec<Merge> {
    let count = distances.nrows();
    assert_eq!(distances.ncols(), count, "distances between all pairs");
    let mut distances = distances.to_owned();
    // A slot holds a cluster; a merged pair goes to the later of its two slots, the other one stays empty.
    let mut slots: Vec<Option<Cluster>> =
        (0..count).map(|index| Some(Cluster { index, size: 1, nearest: None })).collect();
    (0..count).for_each(|slot| refresh(&mut slots, &distances, slot));
    let mut merges = Vec::with_capacity(count.saturating_sub(1));
    for merge in 0..count.saturating_sub(1) {
        let Some((first, second, height)) = closest(&slots) else { break };
        let (Some(a), Some(b)) = (slots[first].take(), slots[second].take()) else { break };
        let size = a.size + b.size;
        for other in 0..count {
            if slots[other].is_some() {
                let sum =
                    a.size as f64 * distances[(first, other)] + b.size as f64 * distances[(second, other)];
                distances[(second, other)] = sum / size as f64;
                distances[(other, second)] = sum / size as f64;
            }
        }
        slots[second] = Some(Cluster { index: count + merge, size, nearest: None });
        merges.push(Merge { left: a.index.min(b.index), right: a.index.max(b.index), height, size });
        for slot in 0..count {
            let stale = slots[slot].as_ref().is_some_and(|cluster| {
                slot == second
                    || cluster.nearest.is_some_and(|(distance, nearest)| {
                        nearest == first
                            || nearest == second
                            || (slot < second && distances[(slot, second)] <= distance)
                    })
                    || (slot < second && cluster.nearest.is_none())
            });
            if stale {
                refresh(&mut slots, &distances, slot);
            }
        }
    }
    merges
}

/// Looks for the nearest later cluster of a slot; of equal ones, that with the smallest index.
fn refresh(slots: &mut [Option<Cluster>], distances: &Mat<f64>, slot: usize) {
    let mut best: Option<(f64, usize, usize)> = None;
    for (other, cluster) in slots.iter().enumerate().skip(slot + 1) {
        if let Some(cluster) = cluster {
            let distance = distances[(slot, other)];
            if best.is_none_or(|(least, index, _)| {
                distance.total_cmp(&least).then(cluster.index.cmp(&index)).is_lt()
            }) {
                best = Some((distance, cluster.index, other));
            }
        }
    }
    if let Some(cluster) = &mut slots[slot] {
        cluster.nearest = best.map(|(distance, _, other)| (distance, other));
    }
}

/// The closest pair of slots, with its distance; of equal ones, that with the smallest indices.
fn closest(slots: &[Option<Cluster>]) -> Option<(usize, usize, f64)> {
    let pairs = slots.iter().enumerate().filter_map(|(slot, cluster)| {
        let cluster = cluster.as_ref()?;
        let (distance, nearest) = cluster.nearest?;
        let other = slots[nearest].as_ref()?.index;
        Some((distance, cluster.index.min(other), cluster.index.max(other), slot, nearest))
    });
    let best = pairs.min_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))))?;
    Some((best.3, best.4, best.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean distances between members, from scratch at every merge.
    fn naive(distances: &Mat<f64>) -> Vec<Merge> {
        let count = distances.nrows();
        let mut clusters: Vec<(usize, Vec<usize>)> = (0..count).map(|i| (i, vec![i])).collect();
        let mut merges = Vec::new();
        for k in 0..count - 1 {
            let mut best: Option<(f64, usize, usize)> = None;
            for i in 0..clusters.len() {
                for j in i + 1..clusters.len() {
                    let (a, b) = (&clusters[i].1, &clusters[j].1);
                    let sum: f64 = a.iter().flat_map(|&a| b.iter().map(move |&b| distances[(a, b)])).sum();
                    let mean = sum / (a.len() * b.len()) as f64;
                    // Clusters are in the order of their indices.
                    if best.is_none_or(|(least, ..)| mean < least) {
                        best = Some((mean, i, j));
                    }
                }
            }
            let (height, i, j) = best.expect("two clusters");
            let (right, members) = clusters.remove(j);
            let (left, mut all) = clusters.remove(i);
            all.extend(members);
            merges.push(Merge { left, right, height, size: all.len() });
            clusters.push((count + k, all));
        }
        merges
    }

    #[test]
    fn merges_are_those_of_mean_distances_from_scratch() {
        for seed in 0..5 {
            let points = Mat::from_fn(3, 25, |i, j| ((i * 25 + j * 7 + seed * 11) as f64).powi(2).sin());
            let distances = crate::distance::pairwise(points.as_ref(), points.as_ref());
            let (found, expected) = (average_linkage(distances.as_ref()), naive(&distances));
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                assert_eq!(
                    (found.left, found.right, found.size),
                    (expected.left, expected.right, expected.size)
                );
                assert!((found.height - expected.height).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn of_equal_distances_the_first_pair_is_merged() {
        let distances = Mat::from_fn(4, 4, |i, j| if i == j { 0.0 } else { 1.0 });
        let pairs: Vec<(usize, usize)> =
            average_linkage(distances.as_ref()).iter().map(|merge| (merge.left, merge.right)).collect();
        assert_eq!(pairs, [(0, 1), (2, 3), (4, 5)]);
    }

    #[test]
    fn one_point_and_none_need_no_merge() {
        assert!(average_linkage(Mat::<f64>::zeros(1, 1).as_ref()).is_empty());
        assert!(average_linkage(Mat::<f64>::zeros(0, 0).as_ref()).is_empty());
    }
}
