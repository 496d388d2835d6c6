//! Landmarks: the known classes' embeddings, to which those of the unseen classes are fitted.
//!
//! `$b^l_i = \frac{1}{n_i} \sum_{z^l_j = i} \hat y^l_j$`, then divided by its own norm (Wang & Chen 2017,
//! eq. 6).

use faer::{Mat, MatRef};
use rayon::prelude::*;

use bidilel_math::{Check, Columns, Observer, Scalar, Silent, distance, vector};

use crate::error::{Error, Result};
use crate::latent_space::{Block, LatentSpace, Map, block_rows};

/// Instances that are projected at a time, so that a large training set is never held in the latent space.
const BLOCK_INSTANCES: usize = 480;

/// Bound on the distance between a landmark and its check, which sums in `f64` in another order.
const TOLERANCE: f64 = 1e-8;
/// Rounding errors per dimension of a projection, in units of the machine epsilon, with some margin.
const ROUNDINGS: f64 = 8.0;
/// Bound on the norm of a kernel map: its support instances are many, and none of them is looked at here.
const KERNEL_MAP_NORM: f64 = 1e3;

/// The landmarks: unit vectors (in every space by itself), one column per known class.
#[derive(Debug, Clone, PartialEq)]
pub struct Landmarks {
    /// $B^l$, latent dimensions x known classes.
    pub points: Mat<f64>,
}

impl Landmarks {
    /// Normalized class means of projected training instances (visual dimensions x instances).
    ///
    /// # Errors
    /// Those of [`LatentSpace::project`].
    pub fn of(
        space: &LatentSpace,
        features: MatRef<'_, f32>,
        labels: &[usize],
        classes: usize,
    ) -> Result<Self> {
        Self::of_columns(space, features, labels, classes, &Silent)
    }

    /// [`Self::of`] for some columns of a matrix of either precision.
    pub(crate) fn of_columns<'a, T: Scalar>(
        space: &LatentSpace,
        features: impl Into<Columns<'a, T>>,
        labels: &[usize],
        classes: usize,
        watch: &dyn Observer,
    ) -> Result<Self> {
        let features = features.into();
        if space.spaces() > 1 {
            let mut points = Mat::zeros(space.dim(), classes);
            for (own, Block { first, count }) in
                space.each().iter().zip(block_rows(space.dim(), space.spaces()))
            {
                let own = Self::of_columns(own, features, labels, classes, watch)?;
                points.as_mut().subrows_mut(first, count).copy_from(&own.points);
            }
            return Ok(Self { points });
        }
        let mut all = Self::of_prefixes(space, features, labels, classes, &[space.dim()], watch)?;
        Ok(all.swap_remove(0))
    }

    /// Compares the landmark of the smallest class with one whose instances are projected coordinate by coordinate.
    ///
    /// # Errors
    /// Where the two are not the same.
    pub(crate) fn verify<T: Scalar>(
        &self,
        space: &LatentSpace,
        features: MatRef<'_, T>,
        labels: &[usize],
        watch: &dyn Observer,
    ) -> Result<()> {
        if space.spaces() > 1 {
            let blocks = block_rows(space.dim(), space.spaces());
            return space.each().iter().zip(blocks).try_for_each(|(own, rows)| {
                let part = Self { points: rows.of(self.points.as_ref()).to_owned() };
                part.verify(own, features, labels, watch)
            });
        }
        let mut sizes = vec![0_usize; self.points.ncols()];
        labels.iter().for_each(|&label| sizes[label] += 1);
        let smallest = (0..sizes.len()).filter(|&class| sizes[class] > 0).min_by_key(|&class| sizes[class]);
        let Some(class) = smallest else { return Ok(()) };
        let members: Vec<usize> = (0..labels.len()).filter(|&i| labels[i] == class).collect();
        let points: Vec<Vec<f64>> = members
            .par_iter()
            .map(|&i| by_coordinate(space, features.subcols(i, 1)))
            .collect::<Result<_>>()?;
        // An instance at the mean of all has no direction but that of its rounding errors.
        let mean = distance::norm(&space.mean);
        let map = match &space.map {
            Map::Linear(map) | Map::Several { map, .. } => map.norm_l2(),
            Map::Identity(_) | Map::Scaled(_) => 1.0,
            Map::Kernel(_) => KERNEL_MAP_NORM,
        };
        let unit = ROUNDINGS * (space.visual_dim() + space.dim()) as f64 * f64::EPSILON;
        let (mut sum, mut bound) = (vec![0.0; space.dim()], 0.0);
        for (point, &i) in points.iter().zip(&members) {
            let norm = point.iter().map(|value| value * value).sum::<f64>().sqrt();
            let size = features.col(i).iter().map(|value| value.to_f64().powi(2)).sum::<f64>().sqrt();
            let rounding = unit * (map * size + mean);
            bound += if rounding < norm { rounding / norm } else { 2.0 };
            if norm > 0.0 {
                sum.iter_mut().zip(point).for_each(|(sum, value)| *sum += value / norm);
            }
        }
        let norm = sum.iter().map(|value| value * value).sum::<f64>().sqrt();
        let direction = |value: f64| if norm > 0.0 { value / norm } else { 0.0 };
        let own = self.points.col_as_slice(class);
        let squares = own.iter().zip(&sum).map(|(own, &sum)| (own - direction(sum)).powi(2));
        // Instances on all sides of the mean have a sum of small norm, of which rounding is a larger share.
        let deviation = squares.sum::<f64>().sqrt() * norm / members.len() as f64;
        let bound = TOLERANCE + bound / members.len() as f64;
        Check { stage: "landmarks", what: "the landmark of a class", deviation, bound }
            .enforce(watch)
            .map_err(Error::in_stage("landmarks"))
    }

    /// The landmarks in the leading dimensions, for each of the numbers of dimensions in `dims` (ascending), from one
    /// projection.
    pub(crate) fn of_prefixes<'a, T: Scalar>(
        space: &LatentSpace,
        features: impl Into<Columns<'a, T>>,
        labels: &[usize],
        classes: usize,
        dims: &[usize],
        watch: &dyn Observer,
    ) -> Result<Vec<Self>> {
        let features = features.into();
        let mut all: Vec<Mat<f64>> = dims.iter().map(|&dim| Mat::zeros(dim, classes)).collect();
        let projector = space.projector();
        for first in (0..features.ncols()).step_by(BLOCK_INSTANCES) {
            Error::unless_cancelled(watch)?;
            let count = BLOCK_INSTANCES.min(features.ncols() - first);
            let projected = projector.project(features.part(first, count))?;
            all.par_iter_mut().for_each(|points| {
                for (column, &label) in (0..count).map(|i| projected.col_as_slice(i)).zip(&labels[first..]) {
                    let column = &column[..points.nrows()];
                    let norm = distance::norm(column);
                    if norm > 0.0 {
                        let sums = points.col_as_slice_mut(label);
                        sums.iter_mut().zip(column).for_each(|(sum, value)| *sum += value / norm);
                    }
                }
            });
        }
        // Dividing by the count first would change nothing: only the direction matters.
        let unit = |mut points: Mat<f64>| {
            distance::normalize_columns(points.as_mut());
            Self { points }
        };
        Ok(all.into_iter().map(unit).collect())
    }
}

/// The projection of one instance, coordinate by coordinate.
fn by_coordinate<T: Scalar>(space: &LatentSpace, instance: MatRef<'_, T>) -> Result<Vec<f64>> {
    let Map::Linear(map) = &space.map else {
        return Ok(space.projector().project(instance)?.col_as_slice(0).to_vec());
    };
    let wide: Vec<f64> = instance.col(0).iter().map(|value| value.to_f64()).collect();
    Ok((0..map.ncols()).map(|t| vector::dot(&wide, map.col_as_slice(t)) - space.mean[t]).collect())
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn a_landmark_that_is_off_does_not_hold() {
        let map = Mat::from_fn(30, 8, |i, j| ((i * 8 + j) as f64).powi(2).sin());
        let features = Mat::<f32>::from_fn(30, 100, |i, j| ((i * 100 + j) as f32).powi(2).cos());
        let space = LatentSpace::centered(Map::Linear(map), features.as_ref());
        let labels: Vec<usize> = (0..100).map(|i| i * i % 7).collect();
        let landmarks =
            Landmarks::of_columns(&space, features.as_ref(), &labels, 7, &Silent).expect("a linear map");
        let verify = |landmarks: &Landmarks| landmarks.verify(&space, features.as_ref(), &labels, &Silent);
        verify(&landmarks).expect("they are right");
        let mut off = landmarks;
        for class in 0..7 {
            off.points[(3, class)] += 1e-4;
        }
        let failure = verify(&off).expect_err("it is off");
        assert!(failure.to_string().contains("landmark"), "{failure}");
    }

    /// The smallest class has one instance, which is at the mean of all.
    #[test]
    fn an_instance_at_the_mean_has_no_direction_to_compare() {
        let direction = |i: usize| 0.1 + (i as f64 * 0.7).sin();
        let features = Mat::<f64>::from_fn(30, 21, |i, j| match j {
            0 => 2.0 * direction(i) / 3.0,
            j if j % 2 == 0 => direction(i) / 3.0,
            _ => direction(i),
        });
        let labels: Vec<usize> = (0..21).map(|j| if j == 0 { 0 } else { 1 + j % 2 }).collect();
        let map = Mat::from_fn(30, 8, |i, j| ((i * 8 + j) as f64).powi(2).sin());
        let space = LatentSpace::centered(Map::Linear(map), features.as_ref());
        let landmarks =
            Landmarks::of_columns(&space, features.as_ref(), &labels, 3, &Silent).expect("a linear map");
        landmarks.verify(&space, features.as_ref(), &labels, &Silent).expect("rounding is no direction");
    }
}
