//! Descriptions of a model whose classes change: some leave, some come, some become known.
//!
//! Distances that are there stay as they are, to the last bit; only those of new classes are computed.

use faer::Mat;

use bidilel_math::symmetric::Symmetric;

use super::{ClassSemantics, Representation, SemanticDistances};
use crate::dataset::Metric;

impl ClassSemantics {
    /// The descriptions of some classes in another order: indices into known, then unseen classes, of which the first
    /// `known` are known.
    ///
    /// An unseen class may become known, but a known class never unseen: distances between known classes are not kept.
    pub(crate) fn select(&self, order: &[usize], known: usize) -> Self {
        let representations = self.representations.iter().map(|one| one.select(order)).collect();
        let (before, after) = order.split_at(known);
        let unseen = after.len();
        let mut distances = SemanticDistances {
            known_unseen: Mat::zeros(known, unseen),
            unseen_unseen: Symmetric::zeros(unseen),
        };
        for (j, &class) in after.iter().enumerate() {
            for (i, &other) in before.iter().enumerate() {
                distances.known_unseen[(i, j)] = self.distance(other, class);
            }
            let among = distances.unseen_unseen.above_mut(j);
            among.iter_mut().zip(after).for_each(|(value, &other)| *value = self.distance(other, class));
        }
        Self::with_distances(representations, known, distances)
    }

    /// The descriptions of the known classes and of the unseen ones after the first `before`.
    pub(crate) fn arrived(&self, before: usize) -> Self {
        let classes = self.known + self.distances.unseen_unseen.size();
        let order: Vec<usize> = (0..self.known).chain(self.known + before..classes).collect();
        self.select(&order, self.known)
    }

    /// The distance of two classes, counted over known, then unseen ones, of which the second is unseen.
    fn distance(&self, one: usize, unseen: usize) -> f64 {
        let (distances, unseen) = (&self.distances, unseen - self.known);
        match one.checked_sub(self.known) {
            None => distances.known_unseen[(one, unseen)],
            Some(other) => distances.unseen_unseen.get(other, unseen),
        }
    }

    /// The descriptions with more unseen classes: per representation their columns, as the dataset would have them.
    ///
    /// A column of precomputed distances has those to all classes that come before it.
    pub(crate) fn extended(&self, added: &[Mat<f64>]) -> Self {
        let representations: Vec<Representation> =
            self.representations.iter().zip(added).map(|(one, added)| one.extended(added)).collect();
        let classes = representations.first().map_or(self.known, |one| one.values.ncols());
        let (unseen, before) = (classes - self.known, self.distances.unseen_unseen.size());
        let mut distances = SemanticDistances {
            known_unseen: Mat::zeros(self.known, unseen),
            unseen_unseen: Symmetric::zeros(unseen),
        };
        distances.known_unseen.as_mut().subcols_mut(0, before).copy_from(&self.distances.known_unseen);
        for j in 0..before {
            distances.unseen_unseen.above_mut(j).copy_from_slice(self.distances.unseen_unseen.above(j));
        }
        representations.iter().for_each(|one| distances.add_from(one, self.known, before));
        Self::with_distances(representations, self.known, distances)
    }
}

impl Representation {
    fn select(&self, order: &[usize]) -> Self {
        let columns = |matrix: &Mat<f64>| match self.metric {
            Metric::Precomputed => {
                Mat::from_fn(order.len(), order.len(), |i, j| matrix[(order[i], order[j])])
            }
            Metric::Euclidean | Metric::Cosine => {
                Mat::from_fn(matrix.nrows(), order.len(), |i, j| matrix[(i, order[j])])
            }
        };
        Self { values: columns(&self.values), raw: columns(&self.raw), ..self.without_columns() }
    }

    fn extended(&self, added: &Mat<f64>) -> Self {
        let (before, count) = (self.raw.ncols(), added.ncols());
        if self.metric == Metric::Precomputed {
            let whole = Mat::from_fn(before + count, before + count, |i, j| {
                let (first, last) = (i.min(j), i.max(j));
                match last.checked_sub(before) {
                    None => self.raw[(i, j)],
                    Some(_) if first == last => 0.0,
                    Some(column) => added[(first, column)],
                }
            });
            return Self { values: whole.clone(), raw: whole, ..self.without_columns() };
        }
        let fresh = Self::new(&self.name, self.weight, self.metric, added.clone());
        let joined = |old: &Mat<f64>, new: &Mat<f64>| {
            Mat::from_fn(old.nrows(), before + count, |i, j| {
                if j < before { old[(i, j)] } else { new[(i, j - before)] }
            })
        };
        Self {
            values: joined(&self.values, &fresh.values),
            raw: joined(&self.raw, &fresh.raw),
            ..self.without_columns()
        }
    }

    /// Everything but the columns.
    fn without_columns(&self) -> Self {
        Self {
            name: self.name.clone(),
            weight: self.weight,
            metric: self.metric,
            values: Mat::new(),
            raw: Mat::new(),
            dimension_names: self.dimension_names.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(i: usize, j: usize) -> f64 {
        1.5 + ((i * 31 + j * 17) as f64 * 0.613).sin()
    }

    fn representations(classes: std::ops::Range<usize>) -> Vec<Representation> {
        let one = |name: &str, metric, dim: usize, weight| {
            let raw = Mat::from_fn(dim, classes.len(), |i, j| wave(i + dim, classes.start + j));
            Representation::new(name, weight, metric, raw)
        };
        let distance = |i: usize, j: usize| (wave(3, i) - wave(3, j)).abs();
        let given = Mat::from_fn(classes.end, classes.len(), |i, j| distance(i, classes.start + j));
        let given = Representation::new("given", 0.2, Metric::Precomputed, given);
        vec![one("attributes", Metric::Euclidean, 5, 0.5), one("words", Metric::Cosine, 3, 0.3), given]
    }

    #[test]
    fn classes_that_came_later_are_described_as_if_they_had_always_been_there() {
        let whole = ClassSemantics::from_representations(representations(0..9), 4);
        let part = ClassSemantics::from_representations(
            representations(0..9).iter().map(|one| one.select(&[0, 1, 2, 3, 4, 5, 6])).collect(),
            4,
        );
        let added: Vec<Mat<f64>> =
            representations(0..9).iter().map(|one| one.raw.subcols(7, 2).to_owned()).collect();
        let found = part.extended(&added);
        assert_eq!(found.representations, whole.representations);
        assert!((&found.distances.known_unseen - &whole.distances.known_unseen).norm_max() < 1e-12);
        let among = |semantics: &ClassSemantics| semantics.distances.unseen_unseen.to_matrix();
        assert!((among(&found) - among(&whole)).norm_max() < 1e-12);
        // Back again: not one bit is another.
        assert_eq!(found.select(&[0, 1, 2, 3, 4, 5, 6], 4), part);
    }

    #[test]
    fn a_class_that_becomes_known_keeps_its_distances() {
        let whole = ClassSemantics::from_representations(representations(0..9), 4);
        let order = [0, 1, 2, 3, 6, 4, 5, 7, 8];
        let found = whole.select(&order, 5);
        assert_eq!(found.known, 5);
        for (j, &class) in order[5..].iter().enumerate() {
            let expected = whole.distances.unseen_unseen.get(2, class - 4);
            assert_eq!(found.distances.known_unseen[(4, j)].to_bits(), expected.to_bits());
        }
        let again = ClassSemantics::from_representations(found.representations.clone(), 5);
        assert!((&again.distances.known_unseen - &found.distances.known_unseen).norm_max() < 1e-12);
    }
}
