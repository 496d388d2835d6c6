//! Multidimensional scaling: points of few dimensions whose distances follow given ones.
//!
//! Classical scaling takes the leading eigenpairs of $B = -\frac12 J \Delta^{(2)} J$, where $J$ subtracts the mean:
//! the best fit of inner products. The Sammon mapping goes on from there and minimizes
//! `$E = \frac{1}{\sum_{i<j} \delta_{ij}} \sum_{i<j} (\delta_{ij} - d_{ij})^2 / \delta_{ij}$`, which weighs near pairs more.
//! More points are placed one at a time among those that are placed already, by majorization of the same cost.
//!
//! # References
//! W. Torgerson, *Multidimensional scaling: I*, 1952. J. Sammon, *A nonlinear mapping for data structure analysis*, 1969.
//! I. Borg and P. Groenen, *Modern Multidimensional Scaling*, 2nd ed., 2005: section 8.6 (majorization).

use faer::{Mat, MatRef};
use rayon::prelude::*;

use crate::lbfgs::{Objective, Stopping, lbfgs};
use crate::{Check, Observer, Result, eigen};

/// Distances below this share of the largest one count as that much, because the cost divides by them.
const FLOOR_SHARE: f64 = 1e-6;
/// A map for the eye needs no more: the cost changes in its fourth digit.
const STOPPING: Stopping = Stopping { tolerance: 1e-5, max_iterations: 300 };
/// Steps of the placement of one point.
const MAX_STEPS: usize = 100;
/// A step that is shorter than this share of the point's mean distance ends its placement.
const STEP_SHARE: f64 = 1e-4;
/// Largest relative difference between two sums over all pairs.
const VALUE_TOLERANCE: f64 = 1e-9;

/// Points with the cost that is left.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaled {
    /// Dimensions x points, their mean at the origin.
    pub points: Mat<f64>,
    /// $E$ at them: 0 for distances of so many dimensions.
    pub stress: f64,
}

/// Classical scaling of a symmetric matrix of distances.
///
/// # Errors
/// Distances that are not finite, [`crate::Error::Cancelled`].
pub fn classical(distances: MatRef<'_, f64>, dim: usize, watch: &dyn Observer) -> Result<Mat<f64>> {
    let count = distances.nrows();
    let squared = Mat::from_fn(count, count, |i, j| -0.5 * distances[(i, j)] * distances[(i, j)]);
    watch.go_on()?;
    let means: Vec<f64> = (0..count).map(|j| squared.col(j).sum() / count.max(1) as f64).collect();
    let all = means.iter().sum::<f64>() / count.max(1) as f64;
    watch.go_on()?;
    let inner = Mat::from_fn(count, count, |i, j| squared[(i, j)] - means[i] - means[j] + all);
    watch.go_on()?;
    let found = eigen::symmetric(inner.as_ref(), dim.min(count), watch)?;
    // Fewer dimensions than were asked for: the others are zero. So are those of distances that are not Euclidean.
    Ok(Mat::from_fn(dim, count, |axis, point| {
        found.values.get(axis).map_or(0.0, |value| value.max(0.0).sqrt() * found.vectors[(point, axis)])
    }))
}

/// The Sammon mapping of a symmetric matrix of distances, from classical scaling.
///
/// The unit of the distances makes no difference: they are mapped with a mean of 1. $E$ has no unit and its gradient that of
/// an inverse distance, so that the stopping criterion, which compares the two, would otherwise depend on it.
///
/// # Errors
/// Distances that are not finite, a cost that fails the comparison with its formula, [`crate::Error::Cancelled`].
pub fn sammon(distances: MatRef<'_, f64>, dim: usize, watch: &dyn Observer) -> Result<Scaled> {
    let unit = mean_distance(distances);
    watch.go_on()?;
    let scaled = faer::Scale(unit.recip()) * distances;
    watch.go_on()?;
    let mut found = unit_sammon(scaled.as_ref(), dim, watch)?;
    found.points *= faer::Scale(unit);
    Ok(found)
}

/// The mean distance of two points, 1 where all of them coincide.
fn mean_distance(distances: MatRef<'_, f64>) -> f64 {
    let largest = largest(distances);
    let pairs = distances.ncols() * distances.ncols().saturating_sub(1) / 2;
    // Relative to the largest one, so that no sum overflows.
    let sum: f64 =
        (0..distances.ncols()).flat_map(|j| (0..j).map(move |i| distances[(i, j)] / largest)).sum();
    let mean = largest * (sum / pairs as f64);
    if mean.is_normal() && mean.recip().is_normal() { mean } else { 1.0 }
}

/// The mapping of distances whose mean is 1.
fn unit_sammon(distances: MatRef<'_, f64>, dim: usize, watch: &dyn Observer) -> Result<Scaled> {
    let init = classical(distances, dim, watch)?;
    if distances.ncols() < 2 {
        return Ok(Scaled { points: init, stress: 0.0 });
    }
    let cost = Sammon::new(distances, dim);
    watch.go_on()?;
    let init: Vec<f64> =
        init.col_iter().flat_map(|point| point.iter().copied().collect::<Vec<_>>()).collect();
    let found = lbfgs(&cost, init, STOPPING, watch);
    watch.go_on()?;
    let mut points = MatRef::from_column_major_slice(&found.point, dim, distances.ncols()).to_owned();
    let formula = stress(points.as_ref(), distances);
    Check {
        stage: "map",
        what: "the cost of the map",
        deviation: (formula - found.value).abs() / found.value.max(f64::MIN_POSITIVE).max(FLOOR_SHARE),
        bound: VALUE_TOLERANCE,
    }
    .enforce(watch)?;
    for axis in 0..dim {
        let mean = points.row(axis).sum() / points.ncols() as f64;
        points.row_mut(axis).iter_mut().for_each(|value| *value -= mean);
    }
    Ok(Scaled { points, stress: found.value })
}

/// The cost of points, pair by pair.
pub fn stress(points: MatRef<'_, f64>, distances: MatRef<'_, f64>) -> f64 {
    let floor = floor(distances);
    let (mut misfit, mut total) = (0.0, 0.0);
    for j in 0..points.ncols() {
        for i in 0..j {
            let wanted = distances[(i, j)].max(floor);
            misfit +=
                (crate::distance::squared(points.col(i), points.col(j)).sqrt() - wanted).powi(2) / wanted;
            total += wanted;
        }
    }
    if total > 0.0 { misfit / total } else { 0.0 }
}

/// Places points one by one among fixed `anchors` (dimensions x anchors) so that `distances` (anchors x points) are kept.
///
/// Each begins at the mean of the anchors weighted by inverse squared distances. A step replaces the point $y$ by
/// `$\sum_j w_j (a_j + \delta_j (y - a_j) / |y - a_j|) / \sum_j w_j$` with $w_j = 1 / \delta_j$, which cannot raise the cost.
pub fn place(anchors: MatRef<'_, f64>, distances: MatRef<'_, f64>) -> Mat<f64> {
    let dim = anchors.nrows();
    let floor = floor(distances);
    let placed: Vec<Vec<f64>> = (0..distances.ncols())
        .into_par_iter()
        .map(|point| {
            let wanted: Vec<f64> = distances.col(point).iter().map(|distance| distance.max(floor)).collect();
            place_one(anchors, &wanted)
        })
        .collect();
    Mat::from_fn(dim, placed.len(), |axis, point| placed[point][axis])
}

fn place_one(anchors: MatRef<'_, f64>, wanted: &[f64]) -> Vec<f64> {
    let dim = anchors.nrows();
    let mut point = vec![0.0; dim];
    let mut weights = 0.0;
    for (anchor, distance) in anchors.col_iter().zip(wanted) {
        let weight = distance.powi(-2);
        weights += weight;
        point.iter_mut().zip(anchor.iter()).for_each(|(to, from)| *to += weight * from);
    }
    if weights == 0.0 {
        return point;
    }
    point.iter_mut().for_each(|value| *value /= weights);
    let total: f64 = wanted.iter().map(|distance| distance.recip()).sum();
    let scale = wanted.iter().sum::<f64>() / wanted.len() as f64;
    for _ in 0..MAX_STEPS {
        let mut next = vec![0.0; dim];
        for (anchor, distance) in anchors.col_iter().zip(wanted) {
            let apart = point.iter().zip(anchor.iter()).map(|(y, a)| (y - a).powi(2)).sum::<f64>().sqrt();
            // On an anchor there is no direction away from it.
            let pull = if apart > 0.0 { distance / apart } else { 0.0 };
            for ((next, y), a) in next.iter_mut().zip(&point).zip(anchor.iter()) {
                *next += (a + pull * (y - a)) / distance;
            }
        }
        next.iter_mut().for_each(|value| *value /= total);
        let step = point.iter().zip(&next).map(|(old, new)| (old - new).powi(2)).sum::<f64>().sqrt();
        point = next;
        if step <= STEP_SHARE * scale {
            break;
        }
    }
    point
}

/// The least distance that the cost is divided by.
fn floor(distances: MatRef<'_, f64>) -> f64 {
    let largest = largest(distances);
    if largest > 0.0 { FLOOR_SHARE * largest } else { 1.0 }
}

fn largest(distances: MatRef<'_, f64>) -> f64 {
    (0..distances.ncols()).map(|j| distances.col(j).norm_max()).fold(0.0, f64::max)
}

/// The cost as a function of all coordinates, point after point.
struct Sammon {
    dim: usize,
    /// One row per point, at least the floor; the diagonal is not used.
    wanted: Vec<Vec<f64>>,
    total: f64,
}

impl Sammon {
    fn new(distances: MatRef<'_, f64>, dim: usize) -> Self {
        let floor = floor(distances);
        let wanted: Vec<Vec<f64>> = (0..distances.ncols())
            .map(|j| distances.col(j).iter().map(|distance| distance.max(floor)).collect())
            .collect();
        let total = wanted.iter().enumerate().map(|(j, row)| row[..j].iter().sum::<f64>()).sum();
        Self { dim, wanted, total }
    }

    /// Half the cost and the gradient of one point, over all others.
    fn point(&self, own: usize, all: &[f64], gradient: &mut [f64]) -> f64 {
        let here = &all[own * self.dim..(own + 1) * self.dim];
        let mut misfit = 0.0;
        gradient.fill(0.0);
        for (other, (there, &wanted)) in all.chunks_exact(self.dim).zip(&self.wanted[own]).enumerate() {
            if other == own {
                continue;
            }
            let apart = here.iter().zip(there).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
            misfit += (apart - wanted) * (apart - wanted) / wanted;
            // Coinciding points have no direction apart.
            if apart > 0.0 {
                let force = 2.0 * (apart - wanted) / (wanted * apart * self.total);
                gradient.iter_mut().zip(here.iter().zip(there)).for_each(|(g, (a, b))| *g += force * (a - b));
            }
        }
        0.5 * misfit
    }
}

impl Objective for Sammon {
    fn evaluate(&self, point: &[f64], gradient: &mut [f64]) -> f64 {
        let each = gradient.par_chunks_mut(self.dim).enumerate();
        // Sums in the order of the points, for any number of threads.
        let misfits: Vec<f64> = each.map(|(own, gradient)| self.point(own, point, gradient)).collect();
        misfits.iter().sum::<f64>() / self.total
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::Silent;
    use crate::distance::pairwise;

    fn cloud(dim: usize, count: usize) -> Mat<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        Mat::from_fn(dim, count, |_, _| random.random::<f64>())
    }

    #[test]
    fn points_of_a_plane_are_found_again_up_to_a_rigid_motion() {
        let distances = {
            let points = cloud(2, 30);
            pairwise(points.as_ref(), points.as_ref())
        };
        let classical = classical(distances.as_ref(), 2, &Silent).unwrap();
        let found = pairwise(classical.as_ref(), classical.as_ref());
        assert!((&found - &distances).norm_max() < 1e-9);
        let scaled = sammon(distances.as_ref(), 2, &Silent).unwrap();
        assert!(scaled.stress < 1e-12);
        assert!((0..2).all(|axis| scaled.points.row(axis).sum().abs() < 1e-9), "the mean is the origin");
    }

    #[test]
    fn the_mapping_fits_better_than_classical_scaling_and_says_how_well() {
        let points = cloud(10, 60);
        let distances = pairwise(points.as_ref(), points.as_ref());
        let first = classical(distances.as_ref(), 2, &Silent).unwrap();
        let scaled = sammon(distances.as_ref(), 2, &Silent).unwrap();
        assert!(scaled.stress < 0.8 * stress(first.as_ref(), distances.as_ref()));
        let exact = stress(scaled.points.as_ref(), distances.as_ref());
        assert!((scaled.stress - exact).abs() < 1e-9 * exact);
    }

    #[test]
    fn the_unit_of_the_distances_makes_no_difference() {
        let points = cloud(10, 60);
        let distances = pairwise(points.as_ref(), points.as_ref());
        let expected = sammon(distances.as_ref(), 2, &Silent).unwrap();
        for unit in [1e-6, 1e-3, 1e4, 1e6] {
            let found = sammon((faer::Scale(unit) * &distances).as_ref(), 2, &Silent).unwrap();
            assert!(
                (found.stress - expected.stress).abs() < 1e-6 * expected.stress,
                "{unit}: {}",
                found.stress
            );
            // Rounding differs, and with it the last steps: the map is the same to the eye.
            let (found, expected) = (&found.points, faer::Scale(unit) * &expected.points);
            assert!((found - &expected).norm_max() < 1e-3 * expected.norm_max(), "{unit}");
        }
    }

    #[test]
    fn the_gradient_is_that_of_the_cost() {
        let points = cloud(5, 12);
        let cost = Sammon::new(pairwise(points.as_ref(), points.as_ref()).as_ref(), 2);
        let at: Vec<f64> =
            cloud(2, 12).col_iter().flat_map(|p| p.iter().copied().collect::<Vec<_>>()).collect();
        let mut gradient = vec![0.0; at.len()];
        cost.evaluate(&at, &mut gradient);
        for axis in 0..at.len() {
            let moved = |step: f64| {
                let mut moved = at.clone();
                moved[axis] += step;
                cost.evaluate(&moved, &mut vec![0.0; at.len()])
            };
            let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            assert!((slope - gradient[axis]).abs() < 1e-7, "{axis}: {slope} {}", gradient[axis]);
        }
    }

    #[test]
    fn a_point_is_placed_where_its_distances_say() {
        let anchors = cloud(2, 15);
        let wanted = Mat::from_fn(2, 4, |i, j| 0.2 + 0.1 * i as f64 + 0.15 * j as f64);
        let placed = place(anchors.as_ref(), pairwise(anchors.as_ref(), wanted.as_ref()).as_ref());
        assert!((&placed - &wanted).norm_max() < 1e-2);
    }

    #[test]
    fn a_mapping_that_is_canceled_fails_and_gives_no_half_settled_points() {
        /// Cancels after so many questions.
        struct Patient(AtomicUsize);
        impl Observer for Patient {
            fn poll(&self) -> ControlFlow<()> {
                let left = self.0.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1));
                if left.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            }
        }
        let points = cloud(10, 60);
        let distances = pairwise(points.as_ref(), points.as_ref());
        let expected = sammon(distances.as_ref(), 2, &Silent).unwrap();
        let after = |questions| sammon(distances.as_ref(), 2, &Patient(AtomicUsize::new(questions)));
        for questions in 0..12 {
            assert_eq!(after(questions), Err(crate::Error::Cancelled), "{questions}");
        }
        assert_eq!(after(usize::MAX), Ok(expected));
    }

    #[test]
    fn threads_make_no_difference() {
        let points = cloud(6, 80);
        let distances = pairwise(points.as_ref(), points.as_ref());
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| sammon(distances.as_ref(), 2, &Silent).unwrap())
        };
        assert_eq!(with(1), with(4));
    }

    #[test]
    fn nothing_a_single_point_and_coinciding_points_are_placed() {
        for count in [0, 1, 2, 5] {
            let scaled = sammon(Mat::zeros(count, count).as_ref(), 2, &Silent).unwrap();
            assert_eq!(scaled.points.shape(), (2, count));
            assert!(scaled.points.col_iter().all(|point| point.iter().all(|value| value.is_finite())));
        }
        let placed = place(Mat::zeros(2, 3).as_ref(), Mat::zeros(3, 2).as_ref());
        assert!(placed.col_iter().all(|point| point.iter().all(|value| value.is_finite())));
    }
}
