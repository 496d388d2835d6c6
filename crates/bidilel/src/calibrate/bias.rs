//! The bias of known classes, from the curves of held-out known classes.
//!
//! The bias with the largest harmonic mean of the two accuracies, averaged over folds. The mean changes at the breakpoints
//! of the curves only, and is constant between two of them. Near its maximum it hardly changes while it jumps up and down
//! by single instances, so that not the best interval is taken but the middle of the plateau around it: all biases up to
//! the first, on both sides, whose mean is lower than the best by more than [`PLATEAU`] of it.
//!
//! A fold has fewer known classes than the task whose bias it is to find: fewer compete, so that their best score is
//! somewhat lower. Folds in which as large a share of the classes is unseen as in the task (`HoldOut::like`) have both
//! sides reduced alike.

use super::Curve;

/// Biases whose harmonic mean is within this share of the best are as good.
const PLATEAU: f64 = 0.01;

/// The bias that is best on average over some curves; 0 where no bias recognizes both sides.
pub fn best_bias(curves: &[Curve]) -> f64 {
    let mut breakpoints: Vec<f64> = curves.iter().flat_map(Curve::breakpoints).copied().collect();
    breakpoints.sort_by(f64::total_cmp);
    breakpoints.dedup();
    // Means before the first breakpoint, and after each.
    let mean =
        |bias: f64| curves.iter().map(|curve| curve.at(bias).harmonic).sum::<f64>() / curves.len() as f64;
    let means: Vec<f64> = breakpoints.iter().copied().chain([f64::INFINITY]).map(mean).collect();
    let better = |best: usize, i: usize| if means[i] > means[best] { i } else { best };
    let best = (0..means.len()).fold(0, better);
    if curves.is_empty() || means[best] <= 0.0 {
        return 0.0;
    }
    let enough = means[best] * (1.0 - PLATEAU);
    // With the smallest bias nothing is unseen, with the largest nothing is known: both means are zero.
    let first = (0..best).rev().find(|&i| means[i] < enough).map_or(0, |i| i + 1).max(1);
    let last = (best..means.len()).find(|&i| means[i] < enough).unwrap_or(means.len() - 1) - 1;
    f64::midpoint(breakpoints[first - 1], breakpoints[last])
}

#[cfg(test)]
mod tests {
    #![expect(clippy::float_cmp, reason = "the numbers are exact")]

    use faer::Mat;
    use proptest::prelude::*;

    use super::*;
    use crate::recognize::Scores;

    /// One known and one unseen class, with instances of these margins.
    fn curve(known: &[f64], unseen: &[f64]) -> Curve {
        let margins = [known, unseen].concat();
        let values = Mat::from_fn(2, margins.len(), |class, i| if class == 0 { margins[i] } else { 0.0 });
        let truth: Vec<usize> = (0..margins.len()).map(|i| usize::from(i >= known.len())).collect();
        Curve::new(&Scores { values }, 1, &truth)
    }

    #[test]
    fn the_middle_of_the_plateau_between_the_two_sides_is_taken() {
        assert!((best_bias(&[curve(&[2.0, 3.0], &[-1.0, 1.0])]) - 1.5).abs() < 1e-12);
        // Two folds that are separated by (1, 2] and by (1.5, 4].
        let both = [curve(&[2.0], &[1.0]), curve(&[4.0], &[1.5])];
        assert!((best_bias(&both) - 1.75).abs() < 1e-12);
    }

    #[test]
    fn where_no_bias_helps_there_is_none() {
        assert_eq!(best_bias(&[]), 0.0);
        assert_eq!(best_bias(&[curve(&[1.0], &[])]), 0.0);
        assert_eq!(best_bias(&[curve(&[1.0], &[1.0])]), 0.0, "the two cannot be told apart");
    }

    proptest! {
        #[test]
        fn no_bias_is_better_by_more_than_the_plateau(
            folds in prop::collection::vec(
                (prop::collection::vec(-2.0_f64..4.0, 1..12), prop::collection::vec(-4.0_f64..2.0, 1..12)), 1..4,
            ),
        ) {
            let curves: Vec<Curve> = folds.iter().map(|(known, unseen)| curve(known, unseen)).collect();
            let mean = |bias: f64| curves.iter().map(|c| c.at(bias).harmonic).sum::<f64>() / curves.len() as f64;
            let dense = (-500..500).map(|step| mean(f64::from(step) / 100.0)).fold(0.0, f64::max);
            prop_assert!(mean(best_bias(&curves)) >= dense * (1.0 - PLATEAU) - 1e-12);
        }
    }
}
