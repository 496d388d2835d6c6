//! The class nearest to an instance, by the length of its place alone.
//!
//! `$\|y / \|y\| - b_c\|^2 = 1 + \|b_c\|^2 - 2 s\, y^\top b_c$` with `$s = 1 / \|y\|$`, and $y^\top b_c = x^\top P b_c - \bar y^\top b_c$ is
//! a product with a column a class, where there are many dimensions a class. In $s$ every class is a straight line: one that is
//! nearest at both ends of an interval is nearest throughout. Lengths of single precision come with a bound of their error
//! ([`super::lengths`]), which is such an interval. Products with the columns are off too, in double precision, by at most
//! `$\kappa v (\|x\| \|P b_c\| + |\bar y^\top b_c|)$` with $v = 2^{-53}$ and $\kappa$ of the order of the dimensions: a class must be nearer by
//! more than twice that at both ends, and by what is lost in `$\|b_c\|^2$` and in the distances that it stands for, `$\kappa v (1 + \|b_c\|^2)$`.
//! Where it is not, the instance is placed.

use std::ops::Range;

use faer::Mat;
use rayon::prelude::*;

use bidilel_math::parallel::{product, zeros};
use bidilel_math::{Columns, Scalar, distance, vector};

use super::lengths::{Length, Lengths};
use crate::error::Result;
use crate::latent_space::{LatentSpace, Map};
use crate::recognize::Recognition;

/// Instances that are looked at together.
const BLOCK: usize = 960;
/// $\kappa$ over the dimensions: a product of three matrices, with some room.
const ROUNDINGS: f64 = 4.0;
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
    /// `$\|b_c\|^2 / 2$`.
    halves: Vec<f64>,
    /// How far off products with the classes are, for each unit of an instance's norm, and whatever that is.
    error: (f64, f64),
    /// How far off `$\|b_c\|^2$` and distances from placed instances are.
    own_error: f64,
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
            let rounding = ROUNDINGS * (map.nrows() + dim) as f64 * 0.5 * f64::EPSILON;
            // P b is rounded relative to the norms of both, which may be far longer than it is.
            let map_norm =
                (0..dim).map(|t| distance::norm(vector::column(map, t)).powi(2)).sum::<f64>().sqrt();
            let longest = classes().map(distance::norm).fold(0.0, f64::max);
            let error = (rounding * map_norm * longest, rounding * distance::norm(&mean[..dim]) * longest);
            parts.push(Embedding {
                points,
                place: lengths.dims().iter().position(|&own| own == dim)?,
                own,
                halves,
                error,
                own_error: rounding * (1.0 + longest * longest),
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
                    let size = distance::norm(block.slice(i));
                    let class = embedding.between(along, lengths[embedding.place], size);
                    labels.push(class.unwrap_or_else(|| embedding.exactly(self.lengths, block.slice(i))));
                }
            });
        }
        Ok(labels)
    }
}

impl Embedding<'_> {
    /// The class that is nearest for an instance of norm `size`, whatever its length and its products are within their
    /// errors.
    fn between(&self, along: &[f64], length: Length, size: f64) -> Option<usize> {
        let off = self.error.0 * size + self.error.1;
        let nearest = |length: f64| {
            let distance = |class: usize| self.halves[class] - along[class] / length;
            let (mut best, mut next) = ((0, f64::INFINITY), f64::INFINITY);
            for class in 0..along.len() {
                let distance = distance(class);
                if distance < best.1 {
                    (best, next) = ((class, distance), best.1);
                } else {
                    next = next.min(distance);
                }
            }
            (next - best.1 > 2.0 * off / length + self.own_error).then_some(best.0)
        };
        let (least, most) = (length.norm - length.error, length.norm + length.error);
        let shortest = (least > 0.0).then(|| nearest(least)).flatten();
        shortest.filter(|_| nearest(most) == shortest)
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
    fn lengths_and_products_that_may_be_off_decide_nothing() {
        let points = Mat::zeros(1, 2);
        let embedding = |off: f64| Embedding {
            points: &points,
            place: 0,
            own: 0..2,
            halves: vec![0.5, 0.3],
            error: (off, 0.0),
            own_error: 0.0,
        };
        let at = |norm: f64, error: f64| embedding(0.0).between(&[1.0, 0.8], Length { norm, error }, 1.0);
        assert_eq!([at(0.9, 1e-3), at(0.99, 1e-3), at(1.01, 1e-3)], [Some(0), Some(0), Some(1)]);
        assert_eq!([at(0.9995, 1e-3), at(1.0, 1e-3), at(1.0005, 1e-3), at(0.0, 1e-3)], [None; 4]);
        assert_eq!([at(1.01, 0.02), at(0.5, 0.5), at(0.5, f64::NAN), at(f64::NAN, 0.0)], [None; 4]);
        let off = |size: f64| embedding(1e-3).between(&[1.0, 0.8], Length { norm: 0.9, error: 0.0 }, size);
        // At a length of 0.9 the two are 0.2 / 0.9 - 0.2 apart, as far as products that are off by 0.01 may bring them.
        assert_eq!([off(1.0), off(9.0), off(11.0)], [Some(0), Some(0), None]);
    }

    /// A part that all instances have, and that the map takes away, is larger than what is left by some factor.
    #[test]
    fn labels_are_right_beside_a_common_part_of_any_size() {
        for common in [1.0, 1e2, 1e4, 1e6] {
            let direction = |i: usize| (i as f64 * 0.37).sin();
            let length: f64 = (0..90).map(|i| direction(i).powi(2)).sum();
            let mut map = Mat::from_fn(90, 80, |i, j| ((i * 80 + j) as f64).powi(2).sin());
            for j in 0..80 {
                let along = (0..90).map(|i| direction(i) * map[(i, j)]).sum::<f64>() / length;
                (0..90).for_each(|i| map[(i, j)] -= along * direction(i));
            }
            let features = Mat::<f32>::from_fn(90, 1500, |i, j| {
                let own = ((i * 1500 + j) as f64).powi(2).sin();
                f32::from_f64(common * (j as f64 * 1.3).cos() * direction(i) + own)
            });
            let space = LatentSpace::new(Map::Linear(map), features.as_ref());
            let columns = Columns::from(features.as_ref());
            let lengths = Lengths::new(&space, columns, &[40, 80]).expect("many instances");
            let embeddings: Vec<Mat<f64>> = [40, 80]
                .map(|dim| Mat::from_fn(dim, 8, |t, c| 0.1 * ((t * 8 + c) as f64).powi(2).cos()))
                .into();
            let nearest = Nearest::new(&lengths, &[&embeddings[0], &embeddings[1]]).expect("few classes");
            let labels = nearest.labels(columns).expect("as many dimensions");
            for (embedding, labels) in embeddings.iter().zip(labels) {
                let mut places = space.place(columns).expect("a linear map");
                places = places.subrows(0, embedding.nrows()).to_owned();
                distance::normalize_columns(places.as_mut());
                assert_eq!(
                    labels,
                    Recognition::nearest(places.into(), embedding.clone()).labels(),
                    "{common}"
                );
            }
        }
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
