//! The descriptions of the known classes, as correlation analysis weighs them.

use faer::{Mat, MatRef};

use crate::error::{Error, Result, SemanticProblem};
use crate::task::Training;

/// Unit vectors that agree to rounding are the same.
const ALIKE: f64 = 1e-9;

/// Columns $\sqrt{n_c} (s_c - \bar s)$ with the mean over instances: semantic dimensions x classes.
///
/// # Errors
/// For descriptions without vectors, and for those that are all alike.
pub(super) fn semantic_factor<T>(training: &Training<'_, T>, needed_by: &'static str) -> Result<Mat<f64>> {
    let unusable = |problem| Error::Semantic { origin: "the semantic representation".to_owned(), problem };
    let semantics = training.semantics.ok_or(unusable(SemanticProblem::NoVectors { needed_by }))?;
    let factor = weighted(training, semantics);
    if factor.norm_max() < ALIKE { Err(unusable(SemanticProblem::AllAlike)) } else { Ok(factor) }
}

fn weighted<T>(training: &Training<'_, T>, semantics: MatRef<'_, f64>) -> Mat<f64> {
    let mut counts = vec![0.0; training.classes];
    training.labels.iter().for_each(|&label| counts[label] += 1.0);
    let total: f64 = counts.iter().sum();
    let mean: Vec<f64> = (0..semantics.nrows())
        .map(|row| (0..training.classes).map(|c| counts[c] * semantics[(row, c)]).sum::<f64>() / total)
        .collect();
    Mat::from_fn(semantics.nrows(), training.classes, |row, c| {
        counts[c].sqrt() * (semantics[(row, c)] - mean[row])
    })
}
