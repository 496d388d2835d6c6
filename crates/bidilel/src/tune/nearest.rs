//! The class nearest to an instance, by the length of its place alone.
//!
//! $\|y / \|y\| - b_c\|^2 = 1 + \|b_c\|^2 - 2 s\, y^\top b_c$ with $s = 1 / \|y\|$, and $y^\top b_c = x^\top P b_c - \bar y^\top b_c$ is
//! a product with a column a class, where there are many dimensions a class. In $s$ every class is a straight line: one that is
//! nearest at both ends of an interval is nearest throughout. Lengths of single precision ([`super::lengths`]) tell such an
//! interval. Where two classes share it, the instance is placed.

use std::ops::Range;

use faer::Mat;
use rayon::prelude::*;

use bidilel_math::parallel::{product, zeros};
use bidilel_math::{Columns, Scalar, distance, vector};

use super::lengths::Lengths;
use crate::error::Result;
use crate::latent_space::{LatentSpace, Map};
use crate::recognize::Recognition;

/// Instances that are looked at together.
const BLOCK: usize = 960;
/// How far off lengths may be: hundreds of times what they were at most on real features.
const OFF: f64 = 1e-3;
/// So many latent dimensions a column pay for it twice over.
const WORTH: usize = 4;

/// Embedded classes, in the leading dimensions of a space each, as what instances are multiplied by.
pub(super) struct Nearest<'a, T> {
    lengths: &'a Lengths<'a, T>,
    embeddings: Vec<Embedding<'a>>,
    /// $P b_c$ and $\bar y^\top b_c$ of all of them.
    along: LatentSpace,
}

struct Embedding<'a> {
    points: &'a Mat<f64>,
    /// Which of the lengths is the one in its dimensions.
    place: usize,
    /// Its classes among those of all embeddings.
    own: Range<usize>,
    /// $\|b_c\|^2 / 2$.
    halves: Vec<f64>,
}

impl<'a, T: Scalar> Nearest<'a, T> {
    /// None where places are found as quickly.
    pub(super) fn new(lengths: &'a Lengths<'a, T>, embeddings: &[&'a Mat<f64>]) -> Option<Self> {
        let columns = embeddings.iter().map(|points| points.ncols()).sum::<usize>();
        let largest = embeddings.iter().map(|points| points.nrows()).max()?;
        if columns * WORTH > largest {
            return None;
        }
        let (map, mean) = (lengths.map(), lengths.mean());
        let mut along = zeros(map.nrows(), columns);
        let mut offsets = Vec::with_capacity(columns);
        let mut parts = Vec::new();
        for &points in embeddings {
            let (dim, first) = (points.nrows(), offsets.len());
            let own = first..first + points.ncols();
            let part = product(map.subcols(0, dim), points.as_ref());
            along.as_mut().subcols_mut(first, own.len()).copy_from(part);
            let classes = || (0..points.ncols()).map(|class| points.col_as_slice(class));
            offsets.extend(classes().map(|point| vector::dot(point, &mean[..dim])));
            let halves = classes().map(|point| 0.5 * vector::dot(point, point)).collect();
            parts.push(Embedding {
                points,
                place: lengths.dims().iter().position(|&own| own == dim)?,
                own,
                halves,
            });
        }
        let along = LatentSpace { map: Map::Linear(along), mean: offsets };
        Some(Self { lengths, embeddings: parts, along })
    }

    /// The nearest class of every instance, by each of the embeddings.
    ///
    /// # Errors
    /// If instances have other dimensions than the space.
    pub(super) fn labels(&self, instances: Columns<'_, T>) -> Result<Vec<Vec<usize>>> {
        let mut labels: Vec<Vec<usize>> = vec![Vec::new(); self.embeddings.len()];
        let placer = self.along.placer();
        for first in (0..instances.ncols()).step_by(BLOCK) {
            let block = instances.part(first, BLOCK.min(instances.ncols() - first));
            let (along, lengths) = (placer.place(block)?, self.lengths.of(block));
            let each = self.embeddings.par_iter().zip(&mut labels);
            each.for_each(|(embedding, labels)| {
                for (i, lengths) in lengths.chunks(self.lengths.dims().len()).enumerate() {
                    let along = &along.col_as_slice(i)[embedding.own.clone()];
                    let class = embedding.between(along, lengths[embedding.place]);
                    labels.push(class.unwrap_or_else(|| embedding.exactly(self.lengths, block.slice(i))));
                }
            });
        }
        Ok(labels)
    }
}

impl Embedding<'_> {
    /// The class that is nearest whatever the length is, within what it may be off.
    fn between(&self, along: &[f64], length: f64) -> Option<usize> {
        let nearest = |length: f64| {
            let distance = |(along, half): (&f64, &f64)| half - along / length;
            let all = along.iter().zip(&self.halves).map(distance).enumerate();
            all.min_by(|one, other| one.1.total_cmp(&other.1)).map(|(class, _)| class)
        };
        let (shortest, longest) = (nearest(length * (1.0 - OFF)), nearest(length * (1.0 + OFF)));
        shortest.filter(|_| length > 0.0 && shortest == longest)
    }

    /// The nearest class of one instance, from where it is placed.
    fn exactly<T: Scalar>(&self, lengths: &Lengths<'_, T>, instance: &[T]) -> usize {
        let places = lengths.place(instance, self.points.nrows());
        let mut place = Mat::from_fn(places.len(), 1, |t, _| places[t]);
        distance::normalize_columns(place.as_mut());
        Recognition::nearest(place.into(), self.points.clone()).labels().swap_remove(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Classes of which some lie close together and some at the same place, in either of two numbers of dimensions.
    #[test]
    fn labels_are_those_of_placed_instances() {
        let map = Mat::from_fn(90, 80, |i, j| ((i * 80 + j) as f64).powi(2).sin());
        let space = LatentSpace::around(Map::Linear(map), vec![5.0; 90]);
        let features = Mat::<f32>::from_fn(90, 2000, |i, j| 5.0 + ((i * 2000 + j) as f32).powi(2).sin());
        let features = Columns::from(features.as_ref());
        let lengths = Lengths::new(&space, features, &[40, 80]).expect("many instances");
        // An instance is nearer to the longer of two classes in one direction where its cosine with them exceeds their length.
        let embedding = |dim: usize| {
            let wave = |t: usize, class: usize| (t as f64 * (0.7 + class as f64 / 9.0)).cos();
            let mut points = Mat::from_fn(dim, 6, |t, class| match class {
                1 | 3 => wave(t, class - 1),
                class => wave(t, class),
            });
            distance::normalize_columns(points.as_mut());
            points *= faer::Scale(0.15);
            points.col_as_slice_mut(1).iter_mut().for_each(|value| *value *= 1.0 - 1e-4);
            points
        };
        let embeddings = [embedding(40), embedding(80)];
        let nearest = Nearest::new(&lengths, &[&embeddings[0], &embeddings[1]]).expect("few classes");
        let labels = nearest.labels(features).expect("as many dimensions");
        for (embedding, labels) in nearest.embeddings.iter().zip(labels) {
            let mut places = space.place(features).expect("a linear map");
            places = places.subrows(0, embedding.points.nrows()).to_owned();
            distance::normalize_columns(places.as_mut());
            let expected = Recognition::nearest(places.into(), embedding.points.clone()).labels();
            assert_eq!(labels, expected);
            assert!(labels.contains(&0) && labels.contains(&1) && !labels.contains(&3));
            assert!((0..2000).all(|i| embedding.exactly(&lengths, features.slice(i)) == expected[i]));
        }
    }

    /// Of two classes the first is nearer below a length of 1, and the other above it.
    #[test]
    fn lengths_that_may_be_off_decide_nothing() {
        let points = Mat::zeros(1, 2);
        let embedding = Embedding { points: &points, place: 0, own: 0..2, halves: vec![0.5, 0.3] };
        let at = |length: f64| embedding.between(&[1.0, 0.8], length);
        assert_eq!([at(0.9), at(0.99), at(1.01), at(2.0)], [Some(0), Some(0), Some(1), Some(1)]);
        assert_eq!([at(1.0 - OFF / 2.0), at(1.0), at(1.0 + OFF / 2.0), at(0.0)], [None; 4]);
    }

    #[test]
    fn many_classes_are_not_worth_it() {
        let space = LatentSpace::around(Map::Linear(Mat::identity(20, 20)), vec![0.0; 20]);
        let features = Mat::<f32>::from_fn(20, 100, |i, j| ((i * 13 + j * 29) % 37) as f32);
        let lengths = Lengths::new(&space, Columns::from(features.as_ref()), &[20]).expect("many instances");
        let points = |classes: usize| Mat::from_fn(20, classes, |t, class| (t * class) as f64);
        assert!(Nearest::new(&lengths, &[&points(5)]).is_some());
        assert!(Nearest::new(&lengths, &[&points(3), &points(3)]).is_none());
    }
}
