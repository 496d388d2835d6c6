//! The instances of all known classes, held once whatever the number of folds.
//!
//! Where a learner needs the training instances of a fold side by side, they are moved there in place, so that no second
//! copy of the features is ever held; the order within the training and within the held-out instances stays that of the data.

use std::collections::HashMap;

use faer::{Mat, MatRef};

use bidilel_math::graph::Affinity;
use bidilel_math::neighbors::{self, Neighbors};
use bidilel_math::{Observer, Scalar};

use super::common::{GraphKey, lists_of};
use super::spaces::Job;
use crate::bottom_up::Neighborhood;
use crate::error::{Error, Result};
use crate::visual::{View, Views};

/// Bytes of scatter matrices that are no burden, however few instances there are.
const ROOM: usize = 96 << 20;

/// Features of the pool, and the neighbour lists over all of it.
pub(crate) struct Pool<T> {
    /// Columns in the order of `order`.
    features: Mat<T>,
    /// Which instance stands at a place.
    order: Vec<usize>,
    /// The class of every instance, by its own number.
    labels: Vec<usize>,
    /// Which of the features are whose.
    views: Views,
    /// Lists over the whole pool, one a view, with the length for which they were made.
    global: Option<(usize, Vec<Neighbors>)>,
    within_class: Option<(usize, Vec<Neighbors>)>,
}

/// Lists that the filter left too short in one fold, and that were searched for, by view.
pub(crate) type Searched = Vec<HashMap<usize, Vec<(usize, f64)>>>;

impl<T: Scalar> Pool<T> {
    pub(crate) fn new(features: Mat<T>, labels: Vec<usize>, views: Views) -> Self {
        let order = (0..features.ncols()).collect();
        Self { features, order, labels, views, global: None, within_class: None }
    }

    pub(crate) fn views(&self) -> &Views {
        &self.views
    }

    /// How many squares of `f64`, features x features, take no more room than the instances, or than [`ROOM`].
    pub(crate) fn room_for_squares(&self) -> usize {
        let (dim, count) = (self.features.nrows(), self.features.ncols());
        (dim * count * size_of::<T>()).max(ROOM) / (dim * dim * size_of::<f64>()).max(1)
    }

    /// The features of every view, whatever its weight.
    fn parts<'a>(&self, features: MatRef<'a, T>) -> Vec<MatRef<'a, T>> {
        let mut first = 0;
        let mut part = |view: &View| {
            first += view.dim;
            features.subrows(first - view.dim, view.dim)
        };
        self.views.parts.iter().map(&mut part).collect()
    }

    /// The lists over the whole pool, one a view, in the order of the instances.
    pub(crate) fn lists(&self, kind: Neighborhood) -> Option<&[Neighbors]> {
        let held = match kind {
            Neighborhood::Global => &self.global,
            Neighborhood::WithinClass => &self.within_class,
        };
        held.as_ref().map(|(_, lists)| &lists[..])
    }

    /// The class of every instance.
    pub(crate) fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// The first `count` instances in the present order, and the others.
    pub(crate) fn split(&self, count: usize) -> (MatRef<'_, T>, MatRef<'_, T>) {
        self.features.as_ref().split_at_col(count)
    }

    pub(crate) fn features(&self) -> MatRef<'_, T> {
        self.features.as_ref()
    }

    /// Makes the lists long enough for `k` neighbours when a `share` of the pool is left out.
    pub(crate) fn prepare(
        &mut self,
        kind: Neighborhood,
        k: usize,
        share: f64,
        watch: &dyn Observer,
    ) -> Result<()> {
        let held = match kind {
            Neighborhood::Global => &self.global,
            Neighborhood::WithinClass => &self.within_class,
        };
        if held.as_ref().is_some_and(|&(length, _)| length >= k) {
            return Ok(());
        }
        self.arrange_back();
        watch.stage("neighbors");
        let failed = Error::in_stage("neighbors");
        match kind {
            Neighborhood::Global => {
                // A quarter beyond what stays on average: few lists are then too short.
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a small multiple of a count"
                )]
                let length = (1.25 * k as f64 / (1.0 - share)).ceil() as usize + 8;
                let find = |part| {
                    let found = neighbors::exact(part, length, watch);
                    neighbors::verify(part, &found, watch).map_err(&failed)?;
                    Ok(found)
                };
                let parts = self.parts(self.features.as_ref()).into_iter();
                self.global = Some((k, parts.map(find).collect::<Result<_>>()?));
            }
            Neighborhood::WithinClass => {
                // Classes stay whole: nothing is ever left out of these lists.
                let find = |part| {
                    let found = neighbors::within_labels(part, &self.labels, k, watch);
                    neighbors::verify_within_labels(part, &self.labels, &found, watch).map_err(&failed)?;
                    Ok(found)
                };
                let parts = self.parts(self.features.as_ref()).into_iter();
                self.within_class = Some((k, parts.map(find).collect::<Result<_>>()?));
            }
        }
        Ok(())
    }

    /// The neighbours in every view among `members`; instances stand in their own order.
    fn neighbors(
        &self,
        kind: Neighborhood,
        k: usize,
        members: &[usize],
        searched: &mut Searched,
        watch: &dyn Observer,
    ) -> Vec<Neighbors> {
        match (kind, &self.global, &self.within_class) {
            (Neighborhood::Global, Some((_, all)), _) => {
                searched.resize_with(all.len(), HashMap::new);
                let views = all.iter().zip(self.parts(self.features())).zip(searched.iter_mut());
                let restrict = |((all, part), searched): ((&Neighbors, _), &mut HashMap<_, _>)| {
                    let found = all.restricted(members, part, k, std::mem::take(searched), watch);
                    *searched = found.searched;
                    found.neighbors
                };
                views.map(restrict).collect()
            }
            (Neighborhood::WithinClass, _, Some((_, all))) => {
                all.iter().map(|all| all.renumbered(members)).collect()
            }
            _ => unreachable!("lists are prepared before they are used"),
        }
    }

    /// Moves the columns back to where they were at first.
    pub(crate) fn arrange_back(&mut self) {
        if !self.order.is_sorted() {
            self.arrange(&(0..self.order.len()).collect::<Vec<_>>());
        }
    }

    /// Moves the columns into another order, in place.
    pub(crate) fn arrange(&mut self, order: &[usize]) {
        let mut place = vec![0; order.len()];
        self.order.iter().enumerate().for_each(|(at, &instance)| place[instance] = at);
        let mut done = vec![false; order.len()];
        let mut first = vec![T::from_f64(0.0); self.features.nrows()];
        let mut buffer = first.clone();
        for start in 0..order.len() {
            if done[start] {
                continue;
            }
            // Follow the cycle: every column goes where the one before it has just left.
            first.copy_from_slice(self.features.col_as_slice(start));
            let mut at = start;
            loop {
                done[at] = true;
                let from = place[order[at]];
                if from == start {
                    self.features.col_as_slice_mut(at).copy_from_slice(&first);
                    break;
                }
                buffer.copy_from_slice(self.features.col_as_slice(from));
                self.features.col_as_slice_mut(at).copy_from_slice(&buffer);
                at = from;
            }
        }
        self.order = order.to_vec();
    }
}

/// The neighbour lists of one fold.
pub(crate) struct Lists {
    global: Vec<Neighbors>,
    within_class: Vec<Neighbors>,
}

/// The most neighbours that settings ask for, of all instances and of those of the own class.
pub(crate) fn needs(jobs: &[Job]) -> [Option<usize>; 2] {
    [Neighborhood::Global, Neighborhood::WithinClass].map(|kind| {
        let asked = jobs.iter().filter_map(|job| lists_of(&job.pipeline.bottom_up));
        asked.filter(|(other, _)| *other == kind).map(|(_, k)| k).max()
    })
}

impl Lists {
    /// Lists as long as they are needed, from those over the pool, whose instances stand in their own order.
    pub(crate) fn new<T: Scalar>(
        pool: &Pool<T>,
        members: &[usize],
        searched: &mut Searched,
        [global, within_class]: [Option<usize>; 2],
        watch: &dyn Observer,
    ) -> Self {
        let mut made = |kind, k: Option<usize>| {
            k.map(|k| pool.neighbors(kind, k, members, searched, watch)).unwrap_or_default()
        };
        Self {
            global: made(Neighborhood::Global, global),
            within_class: made(Neighborhood::WithinClass, within_class),
        }
    }

    /// The mean graph over these views, as `key` asks for it.
    pub(crate) fn graph(&self, key: &GraphKey, views: &Views, labels: &[usize]) -> Affinity {
        let lists = match key.neighborhood {
            Neighborhood::Global => &self.global,
            Neighborhood::WithinClass => &self.within_class,
        };
        let used = views.parts.iter().zip(lists).filter(|(view, _)| view.weight > 0.0);
        let used: Vec<&Neighbors> = used.map(|(_, list)| list).collect();
        let labels = key.supervised.then_some(labels);
        views.graph(&used, key.locality.neighbors, labels, key.locality.weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_go_where_the_order_says_and_come_back() {
        let original = Mat::<f32>::from_fn(3, 11, |i, j| (10 * j + i) as f32);
        let mut pool = Pool::new(original.clone(), vec![0; 11], Views::single("a", 3));
        for step in [3, 5, 7, 1] {
            let order: Vec<usize> = (0..11).map(|i| (i * step + 2) % 11).collect();
            pool.arrange(&order);
            for (place, &instance) in order.iter().enumerate() {
                assert_eq!(pool.features.col_as_slice(place), original.col_as_slice(instance));
            }
        }
        pool.arrange(&(0..11).collect::<Vec<_>>());
        assert_eq!(pool.features, original);
    }
}
