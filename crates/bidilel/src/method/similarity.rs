//! Mean similarities of the instances of a class to the references of all classes, and weights of their features.

use faer::{Mat, MatRef};
use rayon::prelude::*;

use bidilel_math::lbfgs::{Stopping, lbfgs};
use bidilel_math::parallel::product;
use bidilel_math::{Observer, vector};

use super::sse::SseVariant;
use crate::error::{Error, Result};

/// Instances whose similarities are summed in single precision before the sum is widened.
const BLOCK_INSTANCES: usize = 32;
/// Largest entry of the gradient at the solution, relative to the objective at zero.
const TOLERANCE: f64 = 1e-6;
const MAX_ITERATIONS: usize = 300;

/// The mean of $\psi(x, v_j)$ over the instances $x$ of class $c$, for all pairs of classes.
pub(super) struct Similarities {
    /// Visual dimensions x (class $c$, reference $j$), the reference running faster.
    means: Mat<f32>,
    classes: usize,
}

impl Similarities {
    /// With the features of every view times the root of its weight.
    pub(super) fn of(
        features: MatRef<'_, f32>,
        labels: &[usize],
        references: MatRef<'_, f64>,
        variant: SseVariant,
        scales: Option<&[f64]>,
        watch: &dyn Observer,
    ) -> Result<Self> {
        let (dim, classes) = (features.nrows(), references.ncols());
        #[expect(clippy::cast_possible_truncation, reason = "references have single precision")]
        let references = Mat::from_fn(dim, classes, |i, j| references[(i, j)] as f32);
        let mut members = vec![Vec::new(); classes];
        labels
            .iter()
            .enumerate()
            .for_each(|(instance, &label)| members[label].push(vector::column(features, instance)));
        let mut means: Mat<f32> = Mat::zeros(dim, classes * classes);
        means.par_col_chunks_mut(classes).zip(&members).for_each(|(means, members)| {
            if watch.poll().is_break() {
                return;
            }
            let (mut sum, mut part) = (vec![0.0_f64; dim], vec![0.0_f32; dim]);
            for (j, mean) in means.col_iter_mut().enumerate() {
                sum.fill(0.0);
                for block in members.chunks(BLOCK_INSTANCES) {
                    part.fill(0.0);
                    block.iter().for_each(|x| variant.add(&mut part, x, references.col_as_slice(j)));
                    vector::add_scaled(&mut sum, 1.0, &part);
                }
                for (i, (mean, sum)) in mean.iter_mut().zip(&sum).enumerate() {
                    #[expect(clippy::cast_possible_truncation, reason = "half the memory")]
                    let value = (sum / members.len() as f64 * scales.map_or(1.0, |scales| scales[i])) as f32;
                    *mean = value;
                }
            }
        });
        Error::unless_cancelled(watch)?;
        Ok(Self { means, classes })
    }

    /// The weights of least regularized loss, for codes of the known classes over themselves.
    pub(super) fn weights(
        &self,
        codes: MatRef<'_, f64>,
        lambda: f64,
        watch: &dyn Observer,
    ) -> Result<Vec<f64>> {
        let objective =
            |weights: &[f64], gradient: &mut [f64]| self.evaluate(codes, lambda, weights, gradient);
        let stopping = Stopping { tolerance: TOLERANCE, max_iterations: MAX_ITERATIONS };
        let found = lbfgs(&objective, vec![0.0; self.means.nrows()], stopping, watch);
        Error::unless_cancelled(watch)?;
        if !found.converged {
            watch.note("the weights of sse were stopped at their iteration limit");
        }
        Ok(found.point)
    }

    /// The objective at some weights, and its gradient.
    fn evaluate(&self, codes: MatRef<'_, f64>, lambda: f64, weights: &[f64], gradient: &mut [f64]) -> f64 {
        let classes = self.classes;
        let mut patterns = Mat::<f64>::zeros(classes, classes);
        patterns.par_col_iter_mut().enumerate().for_each(|(class, pattern)| {
            for (j, value) in pattern.iter_mut().enumerate() {
                let column = self.means.col_as_slice(class * classes + j);
                *value = vector::reduce(
                    column,
                    weights,
                    #[inline(always)]
                    |mean, weight| f64::from(mean) * weight,
                );
            }
        });
        // Candidates x classes of the instances.
        let mut slopes = product(codes.transpose(), patterns.as_ref());
        let mut loss = 0.0;
        for class in 0..classes {
            let scores = slopes.col_as_slice_mut(class);
            let own = scores[class];
            let mut pull = 0.0;
            for (candidate, score) in scores.iter_mut().enumerate() {
                let short =
                    if candidate == class { 0.0 } else { (1.0 - own + *score).max(0.0) / classes as f64 };
                loss += 0.5 * short * short * classes as f64;
                pull += short;
                *score = short;
            }
            scores[class] = -pull;
        }
        let slopes = product(codes, slopes.as_ref());
        // One partial gradient per class, added in the order of the classes.
        let parts: Vec<Vec<f64>> = (0..classes)
            .into_par_iter()
            .map(|class| {
                let mut part = vec![0.0; weights.len()];
                for (j, &slope) in slopes.col_as_slice(class).iter().enumerate() {
                    vector::add_scaled(&mut part, slope, self.means.col_as_slice(class * classes + j));
                }
                part
            })
            .collect();
        gradient.iter_mut().zip(weights).for_each(|(gradient, weight)| *gradient = lambda * weight);
        parts.iter().for_each(|part| vector::add_scaled(gradient, 1.0, part));
        loss + 0.5 * lambda * vector::dot(weights, weights)
    }
}

impl SseVariant {
    /// `sum += psi(x, v)`.
    fn add(self, sum: &mut [f32], x: &[f32], v: &[f32]) {
        let all = sum.iter_mut().zip(x).zip(v);
        match self {
            // Not `f32::min`, whose rules for NaN cost several instructions.
            Self::Intersection => all.for_each(|((sum, &x), &v)| *sum += if x < v { x } else { v }),
            Self::Relu => all.for_each(|((sum, &x), &v)| *sum += if x > v { x - v } else { 0.0 }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bidilel_math::{Silent, simplex};

    fn problem(variant: SseVariant) -> (Similarities, Mat<f64>) {
        let features = Mat::<f32>::from_fn(6, 24, |i, j| {
            let class = j % 4;
            0.5 + 0.4 * ((i * 5 + class * 7) as f32).sin() + 0.2 * ((i * 24 + j * 3) as f32).cos()
        });
        let labels: Vec<usize> = (0..24).map(|j| j % 4).collect();
        let references = Mat::<f64>::from_fn(6, 4, |i, class| {
            let members = (0..24).filter(|j| j % 4 == class);
            f64::from(members.map(|j| features[(i, j)]).sum::<f32>() / 6.0)
        });
        let points = Mat::<f64>::from_fn(3, 4, |i, j| ((i * 4 + j) as f64).sin());
        let codes = simplex::codes(points.as_ref(), points.as_ref(), 0.1, &Silent).expect("codes");
        let similarities =
            Similarities::of(features.as_ref(), &labels, references.as_ref(), variant, None, &Silent);
        (similarities.expect("nobody cancels"), codes)
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences_and_vanishes_at_the_solution() {
        for variant in [SseVariant::Intersection, SseVariant::Relu] {
            let (similarities, codes) = problem(variant);
            let at = |weights: &[f64], gradient: &mut [f64]| {
                similarities.evaluate(codes.as_ref(), 0.01, weights, gradient)
            };
            let (point, mut slope) = ([0.3, -1.0, 2.0, 0.7, -0.2, 1.1], [0.0; 6]);
            at(&point, &mut slope);
            for k in 0..6 {
                let moved = |step: f64| {
                    let mut point = point;
                    point[k] += step;
                    at(&point, &mut [0.0; 6])
                };
                let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!((difference - slope[k]).abs() < 1e-6, "{variant:?}: {difference} {}", slope[k]);
            }
            let found = similarities.weights(codes.as_ref(), 0.01, &Silent).expect("weights");
            at(&found, &mut slope);
            assert!(vector::max_abs(&slope) < 1e-5, "{variant:?}: {slope:?}");
        }
    }

    #[test]
    fn the_variants_have_opposite_weights() {
        let weights = |variant| {
            let (similarities, codes) = problem(variant);
            similarities.weights(codes.as_ref(), 0.01, &Silent).expect("weights")
        };
        let (intersection, relu) = (weights(SseVariant::Intersection), weights(SseVariant::Relu));
        let largest = vector::max_abs(&intersection);
        for (one, other) in intersection.iter().zip(&relu) {
            assert!((one + other).abs() < 1e-3 * largest, "{intersection:?} {relu:?}");
        }
    }
}
