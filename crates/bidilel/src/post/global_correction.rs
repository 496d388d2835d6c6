//! GC, the global correction: an instance gets the class in whose list it stands highest.
//!
//! The instances of the batch, sorted by their score for class $c$, are its list, and
//! `$$ s'(x, c) = -\left|\{ i : s(x_i, c) > s(x, c) \}\right| + \frac1K \left|\{ l : s(x, l) < s(x, c) \}\right| $$`
//! for $K$ classes: the rank of the instance in the list of the class, and below one rank the order of the classes for the
//! instance. The paper subtracts the cosine, which is less than one, from the rank; the last term gives the same order
//! for scores of any size. A hub has only one first place to give away.
//!
//! # References
//! G. Dinu, A. Lazaridou and M. Baroni, *Improving zero-shot learning by mitigating the hubness problem*, 2015.

use faer::Mat;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::ScoreRefiner;
use crate::error::Result;
use crate::recognize::Scores;

/// The global correction has no settings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GlobalCorrection {}

impl ScoreRefiner for GlobalCorrection {
    fn refine(&self, scores: &Scores) -> Result<Scores> {
        let (classes, instances) = (scores.classes(), scores.instances());
        let rank_in_class = |class| better(&scores.of_class(class));
        let ranks: Vec<Vec<usize>> = (0..classes).into_par_iter().map(rank_in_class).collect();
        let mut values = Mat::zeros(classes, instances);
        for instance in 0..instances {
            let negated: Vec<f64> = scores.values.col_as_slice(instance).iter().map(|value| -value).collect();
            let worse = better(&negated);
            let own = ranks.iter().map(|ranks| ranks[instance]).zip(worse);
            for (value, (rank, worse)) in values.col_as_slice_mut(instance).iter_mut().zip(own) {
                *value = worse as f64 / classes as f64 - rank as f64;
            }
        }
        Ok(Scores { values })
    }
}

/// For every value, how many are larger.
fn better(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&a, &b| values[b].total_cmp(&values[a]));
    let (mut ranks, mut before) = (vec![0; values.len()], 0);
    for equal in order.chunk_by(|&a, &b| values[a].total_cmp(&values[b]).is_eq()) {
        equal.iter().for_each(|&place| ranks[place] = before);
        before += equal.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::super::score_laws::{degenerate, keeps_order_of_instances, random_scores};
    use super::*;

    #[test]
    fn it_is_the_formula() {
        for (classes, instances) in [(5, 30), (12, 7), (1, 4), (4, 1)] {
            let mut scores = random_scores(classes, instances, 2);
            // Ties on both sides.
            if instances > 2 && classes > 2 {
                scores.values[(0, 1)] = scores.values[(0, 2)];
                scores.values[(2, 1)] = scores.values[(0, 1)];
            }
            let found = GlobalCorrection {}.refine(&scores).expect("scores");
            let s = &scores.values;
            let direct = Mat::from_fn(classes, instances, |c, x| {
                let above = (0..instances).filter(|&i| s[(c, i)] > s[(c, x)]).count() as f64;
                let below = (0..classes).filter(|&l| s[(l, x)] < s[(c, x)]).count() as f64;
                below / classes as f64 - above
            });
            assert!((found.values - direct).norm_max() < 1e-15);
        }
    }

    /// The paper's own form, for cosines: the least of rank minus cosine.
    #[test]
    fn for_cosines_the_answer_is_that_of_the_paper() {
        let cosines = Scores { values: random_scores(6, 50, 9).values * faer::Scale(0.49) };
        let s = Mat::from_fn(6, 50, |c, x| cosines.values[(c, x)] + 0.5);
        let answer = |x: usize| {
            let cost = |c: usize| (0..50).filter(|&i| s[(c, i)] > s[(c, x)]).count() as f64 - s[(c, x)];
            (0..6).min_by(|&a, &b| cost(a).total_cmp(&cost(b))).expect("classes")
        };
        let expected: Vec<usize> = (0..50).map(answer).collect();
        let positive = Scores { values: s.clone() };
        assert_eq!(GlobalCorrection {}.refine(&positive).expect("scores").labels(), expected);
    }

    #[test]
    fn it_keeps_the_laws_of_score_refiners() {
        keeps_order_of_instances(&GlobalCorrection {});
        degenerate(&GlobalCorrection {});
    }
}
