//! NRM, normalization of the scores of every class over the batch.
//!
//! `$$ s'(x, c) = s(x, c) \Big/ \sqrt{\textstyle\sum_i s(x_i, c)^2} $$`
//! over all instances `$x_i$` of the batch. The list of a hub has a large norm where scores are similarities, and a small one
//! where they are minus distances; either way it loses its advantage. A class whose scores are all zero keeps them, and so does a batch of one instance,
//! whose norms are its own scores and would make all classes equal.
//!
//! Scores should have a meaningful zero, as cosines and distances do: a constant that is added to all of them changes the
//! result.
//!
//! # References
//! G. Dinu, A. Lazaridou and M. Baroni, *Improving zero-shot learning by mitigating the hubness problem*, 2015.

use faer::Mat;
use serde::{Deserialize, Serialize};

use super::ScoreRefiner;
use crate::bottom_up::scale_rows;
use crate::error::Result;
use crate::recognize::Scores;

/// NRM has no settings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Nrm {}

impl ScoreRefiner for Nrm {
    fn refine(&self, scores: &Scores) -> Result<Scores> {
        let mut refined = scores.clone();
        if scores.instances() > 1 {
            normalize_classes(&mut refined.values);
        }
        Ok(refined)
    }
}

/// Divides the scores of every class by their norm, where it is not zero.
pub(crate) fn normalize_classes(values: &mut Mat<f64>) {
    let mut squares = vec![0.0; values.nrows()];
    for i in 0..values.ncols() {
        squares.iter_mut().zip(values.col_as_slice(i)).for_each(|(sum, value)| *sum += value * value);
    }
    let factors: Vec<f64> =
        squares.iter().map(|&square| if square > 0.0 { square.sqrt().recip() } else { 1.0 }).collect();
    scale_rows(values, Some(&factors));
}

#[cfg(test)]
mod tests {
    use super::super::score_laws::{degenerate, keeps_order_of_instances, random_scores};
    use super::*;

    #[test]
    fn it_is_the_formula() {
        let scores = random_scores(5, 30, 1);
        let direct = Mat::from_fn(5, 30, |c, x| {
            let norm = (0..30).map(|i| scores.values[(c, i)].powi(2)).sum::<f64>().sqrt();
            scores.values[(c, x)] / norm
        });
        assert!((Nrm {}.refine(&scores).expect("scores").values - direct).norm_max() < 1e-15);
    }

    #[test]
    fn it_keeps_the_laws_of_score_refiners() {
        keeps_order_of_instances(&Nrm {});
        degenerate(&Nrm {});
    }

    #[test]
    fn a_hub_loses_its_advantage_as_similarity_and_as_distance() {
        // The first class is nearest to both instances, and more so to the first.
        let similarities = Scores { values: faer::mat![[0.9, 0.8], [0.1, 0.7]] };
        assert_eq!(similarities.labels(), [0, 0]);
        assert_eq!(Nrm {}.refine(&similarities).expect("scores").labels(), [0, 1]);
        let distances = Scores::from_distances(faer::mat![[0.1, 0.2], [0.9, 0.3]]);
        assert_eq!(distances.labels(), [0, 0]);
        assert_eq!(Nrm {}.refine(&distances).expect("scores").labels(), [0, 1]);
    }

    #[test]
    fn a_class_without_scores_keeps_them() {
        let scores = Scores { values: faer::mat![[0.0, 0.0], [0.3, 0.4]] };
        let expected = faer::mat![[0.0, 0.0], [0.6, 0.8]];
        assert!((Nrm {}.refine(&scores).expect("scores").values - expected).norm_max() < 1e-15);
    }
}
