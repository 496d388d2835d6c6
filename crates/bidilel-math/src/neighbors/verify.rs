//! Spot checks of neighbor lists: a few queries are compared with all points by plain loops in `f64`.

use std::collections::HashSet;

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::Neighbors;
use crate::check::worse;
use crate::vector::column;
use crate::{Check, Observer, Result, Scalar, simd};

/// Queries of the check of an exact search, spread over all points.
const EXACT_QUERIES: usize = 2;
/// Queries of the recall estimate of an approximate search.
const RECALL_QUERIES: usize = 16;
/// Relative difference of distances: both are sums of squares in `f64`, in different orders.
const TOLERANCE: f64 = 1e-9;

/// Checks a few lists of an exact search against brute force.
///
/// # Errors
/// [`crate::Error::Check`] where a list is not that of the nearest points.
pub fn verify<T: Scalar>(points: MatRef<'_, T>, found: &Neighbors, watch: &dyn Observer) -> Result<()> {
    let queries = spread(found.count(), EXACT_QUERIES);
    let all = nearest(points, found, &queries);
    let each = queries.iter().zip(&all).map(|(&query, all)| deviation(points, all, found, query));
    let deviation = each.fold(0.0, worse);
    Check { stage: "neighbors", what: "the distance of a neighbor", deviation, bound: TOLERANCE }
        .enforce(watch)
}

/// The same for neighbors of the same label: the lists of the first point's label and of the last one's.
///
/// # Errors
/// As [`verify`].
pub fn verify_within_labels<T: Scalar>(
    points: MatRef<'_, T>,
    labels: &[usize],
    found: &Neighbors,
    watch: &dyn Observer,
) -> Result<()> {
    let (first, last) = (labels.first(), labels.last());
    for label in first.into_iter().chain(last.filter(|_| first != last)) {
        let members: Vec<usize> = (0..labels.len()).filter(|&i| labels[i] == *label).collect();
        let own = Mat::from_fn(points.nrows(), members.len(), |row, i| points[(row, members[i])]);
        verify(own.as_ref(), &found.renumbered(&members), watch)?;
    }
    Ok(())
}

/// Estimates the recall of an approximate search from a few lists, and reports the fraction missed; never an error.
///
/// # Errors
/// None: the fraction is at most 1.
pub fn recall<T: Scalar>(points: MatRef<'_, T>, found: &Neighbors, watch: &dyn Observer) -> Result<()> {
    let queries = spread(found.count(), RECALL_QUERIES);
    let missed = |(&query, all): (&usize, &Vec<(f64, usize)>)| {
        let list = found.of(query);
        // Points at the distance of the last true neighbor are as good as it.
        let last = all.last().map_or(0.0, |&(distance, _)| distance * (1.0 + TOLERANCE));
        (list.iter().filter(|&(_, distance)| distance > last).count(), list.len())
    };
    let all = nearest(points, found, &queries);
    let counts: Vec<(usize, usize)> = queries.iter().zip(&all).map(missed).collect();
    let (missed, asked) = counts.iter().fold((0, 0), |sum, each| (sum.0 + each.0, sum.1 + each.1));
    let deviation = missed as f64 / asked.max(1) as f64;
    Check { stage: "neighbors", what: "the share of neighbors that were missed", deviation, bound: 1.0 }
        .enforce(watch)
}

fn spread(count: usize, most: usize) -> Vec<usize> {
    // Including the last point, which is in a partial block.
    (0..most.min(count)).map(|i| (count - 1) * (i + 1) / most.min(count)).collect()
}

/// The largest difference between the distances of a list and those of the nearest points, by rank, relative to the farthest.
fn deviation<T: Scalar>(
    points: MatRef<'_, T>,
    nearest: &[(f64, usize)],
    found: &Neighbors,
    query: usize,
) -> f64 {
    let (own, list) = (wide(points, query), found.of(query));
    // A list with the point itself, or with a duplicate, lacks a neighbor.
    let listed: HashSet<usize> = list.iter().map(|(j, _)| j).filter(|&j| j != query).collect();
    let farthest = nearest.last().map_or(0.0, |&(distance, _)| distance);
    let off = |((j, listed), &(nearest, _)): ((usize, f64), &(f64, usize))| {
        let distance = to(points, &own, j);
        worse((distance - nearest).abs(), (distance - listed).abs())
    };
    let most = list.iter().zip(nearest).map(off).fold(0.0, worse);
    match (listed.len() == list.len() && nearest.len() == list.len(), most) {
        (false, _) => f64::INFINITY,
        (true, 0.0) => 0.0,
        (true, most) => most / farthest,
    }
}

/// Brute force: the nearest points of a few queries, as many as the list of each has, in one pass over all points.
fn nearest<T: Scalar>(points: MatRef<'_, T>, found: &Neighbors, queries: &[usize]) -> Vec<Vec<(f64, usize)>> {
    let own: Vec<Vec<f64>> = queries.iter().map(|&query| wide(points, query)).collect();
    let mut rows = vec![0.0; points.ncols() * queries.len()];
    rows.par_chunks_mut(queries.len().max(1)).enumerate().for_each(|(j, row)| {
        row.iter_mut().zip(&own).for_each(|(distance, own)| *distance = to(points, own, j));
    });
    let list = |(index, &query): (usize, &usize)| {
        let distances = rows.iter().skip(index).step_by(queries.len()).copied().zip(0..);
        let mut list: Vec<(f64, usize)> = distances.filter(|&(_, j)| j != query).collect();
        let order =
            |one: &(f64, usize), other: &(f64, usize)| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1));
        let most = found.of(query).len();
        if most < list.len() {
            list.select_nth_unstable_by(most, order);
            list.truncate(most);
        }
        list.sort_unstable_by(order);
        list
    };
    queries.iter().enumerate().map(list).collect()
}

fn wide<T: Scalar>(points: MatRef<'_, T>, j: usize) -> Vec<f64> {
    points.col(j).iter().map(|value| value.to_f64()).collect()
}

/// The distance of a point to another.
fn to<T: Scalar>(points: MatRef<'_, T>, own: &[f64], j: usize) -> f64 {
    if points.row_stride() == 1 { plain(own, column(points, j)) } else { plain(own, &wide(points, j)) }
}

fn plain<T: Scalar>(own: &[f64], other: &[T]) -> f64 {
    simd::dispatch(
        #[inline(always)]
        || {
            let mut sums = [0.0; 16];
            for (own, other) in own.chunks(16).zip(other.chunks(16)) {
                for ((sum, own), other) in sums.iter_mut().zip(own).zip(other) {
                    let difference = own - other.to_f64();
                    *sum += difference * difference;
                }
            }
            sums.iter().sum::<f64>().sqrt()
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csr::Csr;
    use crate::{Silent, neighbors};

    type List = Vec<(usize, f64)>;

    #[test]
    fn a_list_that_lacks_a_neighbor_fails() {
        let noise = crate::krylov::tests::random(9, 400, 1);
        let points = Mat::<f32>::from_fn(9, 400, |i, j| f32::from_f64(noise[(i, j)]));
        for points in [points.as_ref(), Mat::<f32>::zeros(9, 12).as_ref()] {
            let found = neighbors::exact(points, 6, &Silent);
            assert!(verify(points, &found, &Silent).is_ok());
        }
        let found = neighbors::exact(points.as_ref(), 7, &Silent);
        let lists: Vec<Vec<(usize, f64)>> = (0..400).map(|i| found.of(i).iter().collect()).collect();
        let last = 399;
        let check = |change: &dyn Fn(&mut List)| {
            let mut lists = lists.clone();
            change(&mut lists[last]);
            let found = Neighbors { lists: Csr::from_lists(&lists) };
            assert!(recall(points.as_ref(), &found, &Silent).is_ok());
            verify(points.as_ref(), &found, &Silent)
        };
        assert!(check(&|_| ()).is_ok());
        assert!(check(&|list| list.truncate(6)).is_ok(), "a shorter list");
        assert!(check(&|list| list[2] = list[6]).is_err(), "one is missing");
        assert!(check(&|list| list[3] = list[2]).is_err(), "one is there twice");
        assert!(check(&|list| list[0] = (last, 0.0)).is_err(), "the point itself");
        assert!(check(&|list| list[1].1 *= 1.001).is_err(), "another distance");
        assert!(check(&|list| list[1].1 = f64::NAN).is_err(), "no distance");
    }
}
