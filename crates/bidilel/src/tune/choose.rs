//! Whether a setting is better than the defaults, or only luckier.
//!
//! The setting with the highest mean on few held-out classes is the best one plus luck, and the more settings are
//! tried the more luck. Under [`Rule::Sure`] the defaults therefore stay unless another setting beats them by more than
//! [`STANDARD_ERRORS`] standard errors of the difference. Differences are paired over folds; a single fold has held-out
//! classes, and they are paired over these.
//!
//! Folds learn from many of the same classes, and agree more than as many independent experiments would. With $n$ folds,
//! standard deviation $s$ of the differences and $r$ classes held out per class that is left, the standard error is
//! therefore $s \sqrt{1/n + r}$ instead of $s / \sqrt n$.
//!
//! # References
//! L. Breiman, J. Friedman, C. Stone and R. Olshen, *Classification and regression trees*, 1984, section 3.4.3 (the rule
//! with one standard error). C. Nadeau and Y. Bengio, *Inference for the generalization error*, 2003 (overlapping folds).

use bidilel_math::statistics::Summary;

use super::Scored;
use super::grid::key;
use super::search::TIE;

/// By how many standard errors of the paired difference a setting must beat the defaults.
///
/// Of $m$ settings that are as good as the defaults the luckiest is about $\sqrt{2 \ln m}$ standard errors above them if
/// they are independent: 2.7 for the 37 of the paper's order. They are much alike, so that 2 is enough; one is not.
pub const STANDARD_ERRORS: f64 = 2.0;

/// Which setting is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The defaults, with what was fixed, unless another setting is better by more than noise.
    Sure {
        /// Whether the refiner that the paper's order tries at its end may be chosen.
        refined: bool,
    },
    /// The highest mean.
    Highest,
}

/// What a difference is paired over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Unit {
    Folds,
    Classes,
}

/// Paired differences of two settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Paired {
    /// What is paired.
    pub unit: Unit,
    /// One difference per fold or class.
    pub differences: Vec<f64>,
    /// Their mean.
    pub mean: f64,
    /// The standard error of the mean.
    pub standard_error: f64,
}

impl Paired {
    /// The differences of the first from the second, fold by fold or class by class; `overlap` is the number of classes
    /// that a fold holds out per class that it learns from, and 0 for pairs of classes.
    pub fn of(unit: Unit, first: &[f64], second: &[f64], overlap: f64) -> Self {
        let differences: Vec<f64> = first.iter().zip(second).map(|(first, second)| first - second).collect();
        let Summary { mean, standard_deviation, .. } = Summary::of(&differences);
        let standard_error = standard_deviation * (1.0 / differences.len().max(1) as f64 + overlap).sqrt();
        Self { unit, differences, mean, standard_error }
    }

    /// Whether the first is better by more than noise. One pair shows nothing.
    pub fn convinces(&self) -> bool {
        self.differences.len() > 1 && self.mean > (STANDARD_ERRORS * self.standard_error).max(TIE)
    }

    /// Whether the first is better by one standard error at most: the second may be as good.
    pub fn is_within_one_error(&self) -> bool {
        self.mean <= self.standard_error
    }

    /// On how many folds or classes the first is better.
    pub fn won(&self) -> usize {
        self.differences.iter().filter(|&&difference| difference > TIE).count()
    }

    /// On how many it is worse.
    pub fn lost(&self) -> usize {
        self.differences.iter().filter(|&&difference| difference < -TIE).count()
    }
}

/// The defaults, what was better, and how sure that is.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The defaults, with what was fixed.
    pub default: Scored,
    /// The chosen setting, or if the defaults were kept the best of the others; none where no other was scored on as
    /// many folds.
    pub challenger: Option<Scored>,
    /// Its differences from the defaults; none where these cannot be fitted.
    pub paired: Option<Paired>,
    /// Whether the defaults were kept.
    pub kept: bool,
}

/// The candidate with the highest mean, if that is above the mean of what is kept otherwise.
///
/// Only candidates that can be fitted, and that have seen all folds that `kept` has, are looked at. Of equals the first
/// by name is taken, in whatever order they come.
pub fn challenger<'a>(kept: &Scored, candidates: &'a [Scored]) -> Option<&'a Scored> {
    let able = kept.problem.is_none();
    let comparable = |one: &&Scored| one.problem.is_none() && one.scores.len() >= kept.scores.len().max(1);
    let better: Vec<&Scored> =
        candidates.iter().filter(comparable).filter(|one| !able || one.mean > kept.mean + TIE).collect();
    let highest = better.iter().map(|one| one.mean).fold(f64::NEG_INFINITY, f64::max);
    let tied = better.into_iter().filter(|one| one.mean >= highest - TIE);
    tied.min_by_key(|one| key(&one.settings))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::settings::Settings;
    use crate::tune::Stage;

    fn scored(dim: usize, scores: Vec<f64>) -> Scored {
        Scored::new(Stage::Grid, Settings { dim: Some(dim), ..Settings::default() }, scores, None)
    }

    /// What the rule takes of some candidates, by their dim.
    fn chosen(kept: &Scored, candidates: &[Scored]) -> Option<usize> {
        let best = challenger(kept, candidates)?;
        Paired::of(Unit::Folds, &best.scores, &kept.scores, 0.25).convinces().then_some(best.settings.dim?)
    }

    proptest! {
        #[test]
        fn what_is_chosen_is_above_the_defaults_whatever_the_order(
            table in prop::collection::vec(prop::collection::vec(0_u8..8, 4), 1..9),
            turn in 0_usize..9,
        ) {
            let row = |(dim, scores): (usize, &Vec<u8>)| {
                scored(dim, scores.iter().map(|&score| f64::from(score) / 8.0).collect())
            };
            let mut all: Vec<Scored> = table.iter().enumerate().map(row).collect();
            let kept = all.remove(0);
            let found = chosen(&kept, &all);
            for one in all.iter().filter(|one| found.is_some() && one.settings.dim == found) {
                prop_assert!(one.mean > kept.mean);
                prop_assert!(all.iter().all(|other| other.mean <= one.mean + TIE));
            }
            let places = all.len().max(1);
            all.rotate_left(turn % places);
            prop_assert_eq!(chosen(&kept, &all), found);
            all.reverse();
            prop_assert_eq!(chosen(&kept, &all), found);
        }

        #[test]
        fn better_by_a_constant_on_every_fold_is_chosen_and_a_tie_is_not(
            scores in prop::collection::vec(0.0..0.9, 2..7),
            gain in 0.001..0.1,
        ) {
            let kept = scored(0, scores.clone());
            let better = scored(1, scores.iter().map(|score| score + gain).collect());
            let equal = scored(2, scores);
            prop_assert_eq!(chosen(&kept, &[equal.clone(), better]), Some(1));
            prop_assert_eq!(chosen(&kept, &[equal]), None);
        }
    }

    #[test]
    fn overlapping_folds_have_a_larger_standard_error() {
        let paired = |unit, overlap| Paired::of(unit, &[0.01, 0.03, 0.02, 0.04, 0.05], &[0.0; 5], overlap);
        let [alone, folds] = [paired(Unit::Classes, 0.0), paired(Unit::Folds, 0.25)];
        assert!((alone.standard_error - Summary::of(&alone.differences).standard_error).abs() < 1e-15);
        assert!(
            (folds.standard_error / alone.standard_error - 1.5).abs() < 1e-12,
            "sqrt((0.2 + 0.25) / 0.2)"
        );
        assert_eq!((folds.won(), folds.lost()), (5, 0));
    }

    #[test]
    fn noise_one_pair_and_fewer_folds_do_not_convince() {
        let kept = scored(0, vec![0.5, 0.5, 0.5]);
        assert_eq!(chosen(&kept, &[scored(1, vec![0.9, 0.45, 0.45])]), None, "one lucky fold");
        assert_eq!(chosen(&kept, &[scored(1, vec![0.9, 0.9])]), None, "it was not tried on all folds");
        assert_eq!(chosen(&scored(0, vec![0.5]), &[scored(1, vec![0.9])]), None, "nothing to compare by");
        let mut impossible = kept.clone();
        impossible.problem = Some("no".to_owned());
        assert!(challenger(&impossible, &[scored(1, vec![0.1, 0.1, 0.1])]).is_some(), "anything is better");
    }
}
