//! The margin between classes, by coordinate ascent in the dual.
//!
//! Each instance has a distribution `$p_i$` over classes, and
//!
//! `$$ W = \tfrac1\lambda \sum_i x_i (e_{y_i} - p_i)^\top, \qquad
//!    D(p) = \sum_i \Delta_{y_i}^\top p_i - \tfrac{\lambda}{2} \|W\|^2 $$`
//!
//! is at most the primal objective, and equal to it at the optimum. With all others fixed the best `$p_i$` is the projection
//! of `$p_i + \lambda (\Delta_{y_i} + z_i) / \|x_i\|^2$` onto the simplex; with coupled classes, whose weights and scores
//! are projected, this is still an ascent.
//!
//! Instances are visited in a fixed shuffled order, in blocks: the scores of a block are one product with $W$, are kept up to
//! date within the block by its Gram matrix, and the changes of a block reach $W$ in one more product. The iterates are
//! those of one instance at a time.

use faer::{Accum, Mat, MatRef};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::{Classes, Machines, check_lambda};
use crate::parallel::{multiply, product, zeros};
use crate::vector::widen;
use crate::{Error, Observer, Result, vector};

/// Instances of a block.
const BLOCK_INSTANCES: usize = 128;
/// Largest difference between the primal and the dual objective, relative to the primal one of zero weights.
const TOLERANCE: f64 = 1e-3;
const MAX_EPOCHS: usize = 200;

/// Fits all classes to margins $\Delta$ (classes x classes, `$\Delta_{cy}$` for class $c$ and label $y$), up to a duality gap
/// of 0.1 % of the loss of zero weights.
///
/// # Errors
/// [`Error::Parameter`] unless `lambda` is positive; [`Error::Cancelled`].
///
/// # Panics
/// If shapes do not match.
pub fn multiclass(
    features: MatRef<'_, f32>,
    classes: Classes<'_>,
    margins: MatRef<'_, f64>,
    lambda: f64,
    watch: &dyn Observer,
) -> Result<Machines> {
    solve(features, classes, margins, lambda, TOLERANCE, watch).map(|(machines, _)| machines)
}

/// The same up to a tolerance, with the duality gap.
fn solve(
    features: MatRef<'_, f32>,
    classes: Classes<'_>,
    margins: MatRef<'_, f64>,
    lambda: f64,
    tolerance: f64,
    watch: &dyn Observer,
) -> Result<(Machines, f64)> {
    check_lambda(lambda)?;
    let Classes { labels, count, basis } = classes;
    assert_eq!((margins.nrows(), margins.ncols()), (count, count), "shape of the margins");
    assert_eq!(labels.len(), features.ncols(), "labels of the instances");
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(0));
    let projection = basis.map(|basis| product(basis, basis.transpose()));
    let mut ascent = Ascent {
        features,
        labels,
        margins: (0..count).map(|y| margins.col(y).iter().copied().collect()).collect(),
        lambda,
        projection,
        order,
        grams: Vec::new(),
        shares: Mat::from_fn(count, labels.len(), |class, i| if labels[i] == class { 1.0 } else { 0.0 }),
        weights: zeros(features.nrows(), count),
    };
    let at_zero: f64 =
        labels.iter().map(|&label| ascent.margins[label].iter().copied().fold(0.0, f64::max)).sum();
    let goal = tolerance * at_zero;
    for epoch in 0..MAX_EPOCHS {
        let seen = ascent.pass(true, watch)?;
        watch.step(epoch, seen);
        // Gaps that were seen on the way are those of older weights: the last word has a pass without steps.
        if seen <= goal {
            let gap = ascent.pass(false, watch)?;
            if gap <= goal {
                return Ok((Machines { weights: ascent.weights, converged: true }, gap));
            }
        }
    }
    let gap = ascent.pass(false, watch)?;
    Ok((Machines { weights: ascent.weights, converged: gap <= goal }, gap))
}

struct Ascent<'a> {
    features: MatRef<'a, f32>,
    labels: &'a [usize],
    /// Per label, the margin of every class.
    margins: Vec<Vec<f64>>,
    lambda: f64,
    /// $U U^\top$, where classes are coupled.
    projection: Option<Mat<f64>>,
    order: Vec<usize>,
    /// Per block, the inner products of its instances: filled by the first pass.
    grams: Vec<Mat<f64>>,
    /// $p$, classes x instances.
    shares: Mat<f64>,
    /// $W$.
    weights: Mat<f64>,
}

impl Ascent<'_> {
    /// Visits every instance, with or without a step, and returns the sum of the duality gaps as it found them.
    fn pass(&mut self, step: bool, watch: &dyn Observer) -> Result<f64> {
        let (dim, count) = (self.features.nrows(), self.weights.ncols());
        let mut wide: Mat<f64> = zeros(dim, BLOCK_INSTANCES.min(self.order.len()));
        let mut total = 0.0;
        for (block, first) in (0..self.order.len()).step_by(BLOCK_INSTANCES).enumerate() {
            if watch.poll().is_break() {
                return Err(Error::Cancelled);
            }
            let size = BLOCK_INSTANCES.min(self.order.len() - first);
            let members: Vec<usize> = self.order[first..first + size].to_vec();
            for (i, &member) in members.iter().enumerate() {
                widen(vector::column(self.features, member), wide.col_as_slice_mut(i));
            }
            let instances = wide.subcols(0, size);
            if self.grams.len() == block {
                self.grams.push(product(instances.transpose(), instances));
            }
            let mut scores = product(self.weights.transpose(), instances);
            let mut changes: Mat<f64> = zeros(count, size);
            for (i, &member) in members.iter().enumerate() {
                let margins = &self.margins[self.labels[member]];
                let wanted: Vec<f64> =
                    margins.iter().zip(scores.col_as_slice(i)).map(|(m, z)| m + z).collect();
                let shares = self.shares.col_as_slice_mut(member);
                let most = wanted.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                total += wanted
                    .iter()
                    .zip(shares.iter())
                    .map(|(value, share)| share * (most - value))
                    .sum::<f64>();
                let square = self.grams[block][(i, i)];
                // An instance without features has no part in the weights.
                if !step || square <= 0.0 {
                    continue;
                }
                let rate = self.lambda / square;
                let mut target: Vec<f64> =
                    shares.iter().zip(&wanted).map(|(p, value)| p + rate * value).collect();
                project_to_simplex(&mut target);
                let change: Vec<f64> =
                    target.iter().zip(shares.iter()).map(|(to, from)| (from - to) / self.lambda).collect();
                shares.copy_from_slice(&target);
                let change = self.projected(change);
                for (j, product) in self.grams[block].col_as_slice(i).iter().enumerate().skip(i + 1) {
                    vector::add_scaled(scores.col_as_slice_mut(j), *product, &change);
                }
                changes.col_as_slice_mut(i).copy_from_slice(&change);
            }
            if step {
                multiply(self.weights.as_mut(), Accum::Add, instances, changes.transpose());
            }
        }
        Ok(total)
    }

    /// $U U^\top$ of a change.
    fn projected(&self, change: Vec<f64>) -> Vec<f64> {
        match &self.projection {
            Some(projection) => {
                (0..change.len()).map(|c| vector::dot(projection.col_as_slice(c), &change)).collect()
            }
            None => change,
        }
    }
}

/// The nearest point whose entries are non-negative and sum to one.
fn project_to_simplex(point: &mut [f64]) {
    let mut sorted = point.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let (mut sum, mut shift) = (0.0, 0.0);
    for (i, value) in sorted.iter().enumerate() {
        sum += value;
        let candidate = (sum - 1.0) / (i + 1) as f64;
        if *value <= candidate {
            break;
        }
        shift = candidate;
    }
    point.iter_mut().for_each(|value| *value = (*value - shift).max(0.0));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;
    use crate::krylov::gram_schmidt;

    fn data() -> (Mat<f32>, Vec<usize>) {
        // Three blocks.
        let features =
            Mat::from_fn(6, 300, |i, j| ((i * 300 + j * 7) as f32 * 0.37).sin() + (j % 4 * i) as f32 * 0.1);
        (features, (0..300).map(|j| j % 4).collect())
    }

    /// The primal objective by plain loops.
    fn primal(
        weights: &Mat<f64>,
        features: &Mat<f32>,
        labels: &[usize],
        margins: &Mat<f64>,
        lambda: f64,
    ) -> f64 {
        let mut value = 0.5 * lambda * weights.squared_norm_l2();
        for (j, &label) in labels.iter().enumerate() {
            let score =
                |c: usize| -> f64 { (0..6).map(|i| weights[(i, c)] * f64::from(features[(i, j)])).sum() };
            value += (0..4).map(|c| margins[(c, label)] + score(c)).fold(f64::MIN, f64::max) - score(label);
        }
        value
    }

    #[test]
    fn no_other_weights_are_better_than_the_duality_gap_allows() {
        let (features, labels) = data();
        let ones = Mat::from_fn(4, 4, |i, j| if i == j { 0.0 } else { 1.0 });
        let varied = Mat::from_fn(4, 4, |i, j| i.abs_diff(j) as f64 * 0.4);
        let mut basis = Mat::from_fn(4, 2, |i, j| ((i + 3 * j) as f64).cos());
        gram_schmidt(&mut basis);
        for margins in [&ones, &varied] {
            for coupled in [None, Some(basis.as_ref())] {
                let classes = Classes { labels: &labels, count: 4, basis: coupled };
                let (found, gap) =
                    solve(features.as_ref(), classes, margins.as_ref(), 2.0, 1e-4, &Silent).expect("a fit");
                assert!(found.converged && gap >= 0.0, "{gap}");
                let best = primal(&found.weights, &features, &labels, margins, 2.0);
                for seed in 0..40 {
                    let step = Mat::from_fn(6, 4, |i, j| ((seed * 31 + i * 7 + j * 3) as f64).sin());
                    let step = coupled.map_or(step.clone(), |basis| &step * basis * basis.transpose());
                    for size in [1e-1, 1e-2, 1e-3] {
                        let other = &found.weights + &step * faer::Scale(size);
                        let value = primal(&other, &features, &labels, margins, 2.0);
                        assert!(value >= best - gap - 1e-9, "{value} {best} {gap}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_gap_is_the_primal_objective_less_the_dual_one() {
        let (features, labels) = data();
        let margins = Mat::from_fn(4, 4, |i, j| if i == j { 0.0 } else { 1.0 });
        let classes = Classes { labels: &labels, count: 4, basis: None };
        // So loose that one pass is enough: the gap is far from zero.
        let (found, gap) =
            solve(features.as_ref(), classes, margins.as_ref(), 2.0, 10.0, &Silent).expect("a fit");
        let value = primal(&found.weights, &features, &labels, &margins, 2.0);
        let (tight, small) =
            solve(features.as_ref(), classes, margins.as_ref(), 2.0, 1e-6, &Silent).expect("a fit");
        let best = primal(&tight.weights, &features, &labels, &margins, 2.0);
        assert!(value - best <= gap + 1e-9 && best <= value, "{value} {best} {gap}");
        assert!(small < 1e-3 * gap, "{small} {gap}");
    }

    #[test]
    fn projections_onto_the_simplex_are_nearest_points() {
        let mut point = [0.5, 2.0, -1.0, 1.8];
        project_to_simplex(&mut point);
        for (found, expected) in point.iter().zip([0.0, 0.6, 0.0, 0.4]) {
            assert!((found - expected).abs() < 1e-12, "{point:?}");
        }
        let mut inside = [0.2, 0.3, 0.5];
        project_to_simplex(&mut inside);
        assert!((inside[0] - 0.2).abs() < 1e-12);
    }
}
