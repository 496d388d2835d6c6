//! What a view adds to others, and an order of views by it (Wang & Chen 2017, Appendix C and Algorithm 2).
//!
//! $\mathcal I$ of a view is the set of directed pairs $(i, j)$ where $j$ is among the nearest neighbors of $i$ and has
//! its label. For a view and a view or a union of several,
//! $$ c = \frac{\min(|\mathcal I^{(1)}|, |\mathcal I^{(2)}|) - |\mathcal I^{(1)} \cap \mathcal I^{(2)}|}
//!             {|\mathcal I^{(1)} \cup \mathcal I^{(2)}|} \in [0, \tfrac12]. $$
//!
//! # Differences from the paper
//! Its union over instances, read as a set of indices, would soon contain all of them; pairs have the range that it gives.

use bidilel_math::neighbors::Neighbors;

/// Directed same-class neighbor pairs of one view or of several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pairs {
    /// `(i, j)`, ascending.
    sorted: Vec<(u32, u32)>,
}

impl Pairs {
    /// The pairs among the `k` nearest of a view's lists.
    ///
    /// # Panics
    /// With more than 2^32 instances.
    pub fn of(neighbors: &Neighbors, k: usize, labels: &[usize]) -> Self {
        let number = |i: usize| u32::try_from(i).expect("fewer than 2^32 instances");
        let mut sorted = Vec::new();
        for i in 0..neighbors.count() {
            let own = neighbors.of(i).iter().take(k).filter(|&(j, _)| labels[i] == labels[j]);
            let begin = sorted.len();
            sorted.extend(own.map(|(j, _)| (number(i), number(j))));
            sorted[begin..].sort_unstable();
        }
        Self { sorted }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// The pairs, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize)> {
        self.sorted.iter().map(|&(i, j)| (i as usize, j as usize))
    }

    fn shared(&self, other: &Self) -> usize {
        let (mut a, mut b, mut shared) = (0, 0, 0);
        while let (Some(left), Some(right)) = (self.sorted.get(a), other.sorted.get(b)) {
            let order = left.cmp(right);
            a += usize::from(order.is_le());
            b += usize::from(order.is_ge());
            shared += usize::from(order.is_eq());
        }
        shared
    }

    fn union(&self, other: &Self) -> Self {
        let mut sorted = [&self.sorted[..], &other.sorted[..]].concat();
        sorted.sort_unstable();
        sorted.dedup();
        Self { sorted }
    }
}

/// Eqs. (A.14) and (A.15): 0 where one adds nothing to the other, up to 1/2; 0 where neither has a pair.
pub fn complementarity(one: &Pairs, others: &Pairs) -> f64 {
    let shared = one.shared(others);
    let together = one.len() + others.len() - shared;
    if together == 0 {
        return 0.0;
    }
    (one.len().min(others.len()) - shared) as f64 / together as f64
}

/// When to stop adding views.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Until {
    /// At this many views.
    pub most: Option<usize>,
    /// Where the best view left has less than this complementarity.
    pub threshold: Option<f64>,
}

/// An order of views.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// Views by number, in the order in which they were taken.
    pub order: Vec<usize>,
    /// The complementarity of each to all before it; none for the first.
    pub complementarity: Vec<Option<f64>>,
    /// Complementarity of any two views, by number.
    pub matrix: Vec<Vec<f64>>,
}

/// Algorithm 2: after view `first`, always the view that is most complementary to those that are taken.
///
/// # Panics
/// If there is no view `first`.
pub fn select(views: &[Pairs], first: usize, until: Until) -> Selection {
    let matrix =
        views.iter().map(|one| views.iter().map(|other| complementarity(one, other)).collect()).collect();
    let mut taken = views[first].clone();
    let mut found = Selection { order: vec![first], complementarity: vec![None], matrix };
    while found.order.len() < until.most.unwrap_or(usize::MAX) {
        let left = (0..views.len()).filter(|view| !found.order.contains(view));
        let scored = left.map(|view| (view, complementarity(&views[view], &taken)));
        // Of equally good views the first.
        let best = scored.reduce(|best, next| if next.1 > best.1 { next } else { best });
        match best {
            Some((view, value)) if until.threshold.is_none_or(|least| value >= least) => {
                taken = taken.union(&views[view]);
                found.order.push(view);
                found.complementarity.push(Some(value));
            }
            _ => break,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pairs(list: &[(u32, u32)]) -> Pairs {
        let mut sorted = list.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        Pairs { sorted }
    }

    proptest! {
        #[test]
        fn it_is_symmetric_between_nothing_and_a_half_and_nothing_for_the_same(
            one in prop::collection::vec((0..6_u32, 0..6_u32), 0..30),
            other in prop::collection::vec((0..6_u32, 0..6_u32), 0..30)
        ) {
            let (one, other) = (pairs(&one), pairs(&other));
            let value = complementarity(&one, &other);
            prop_assert!((0.0..=0.5).contains(&value));
            prop_assert!(value.to_bits() == complementarity(&other, &one).to_bits());
            prop_assert!(complementarity(&one, &one) <= 0.0);
        }
    }

    #[test]
    fn the_most_complementary_comes_next_and_the_end_comes_when_asked_for() {
        let start = pairs(&[(0, 1), (1, 2), (2, 3)]);
        let twin = pairs(&[(0, 1), (1, 2), (2, 4)]);
        let other = pairs(&[(0, 5), (1, 5), (2, 5)]);
        let views = [twin, start, other];
        let all = select(&views, 1, Until::default());
        assert_eq!((all.order.as_slice(), all.complementarity[1]), (&[1, 2, 0][..], Some(0.5)));
        assert_eq!(select(&views, 1, Until { most: Some(1), threshold: None }).order, [1]);
        let until = Until { most: None, threshold: Some(0.4) };
        assert_eq!(select(&views, 1, until).order, [1, 2]);
    }
}
