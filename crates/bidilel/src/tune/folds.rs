//! Class-wise validation: known classes that play the unseen ones.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::nearness::Nearness;
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::split::Trial;

/// How known classes are held out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Holdout {
    /// Several times: first the validation classes that the split names, if any, then random ones that are as far from
    /// the rest as the unseen classes are from the known ones.
    Matched {
        /// Share of the known classes that a random choice holds out.
        share: f64,
        /// How many times in all.
        folds: usize,
        /// Seed of the choice.
        seed: u64,
    },
    /// The validation classes that the split names, alone.
    Split,
    /// Some of the known classes at random, several times.
    Random {
        /// Share of the known classes that is held out.
        share: f64,
        /// How many times.
        folds: usize,
        /// Seed of the choice.
        seed: u64,
    },
}

impl Holdout {
    /// The same for a choice among pipelines of so many known classes: where nobody says otherwise, as many random folds
    /// as [`enough_folds`]. Validation classes are often many, and what is left of the others is unlike the whole.
    #[must_use]
    pub fn among_pipelines(self, known: usize) -> Self {
        match self {
            Self::Matched { share, seed, .. } => Self::Random { share, folds: enough_folds(known), seed },
            other => other,
        }
    }
}

/// The share that is held out by default: the paper's.
pub const SHARE: f64 = 0.2;
/// How many times, by default.
pub const FOLDS: usize = 5;
/// Held-out classes, over all folds, that a choice among many pipelines is made by.
const ENOUGH_CLASSES: usize = 100;
/// The most folds that are drawn for it: further ones hold out the same few classes again.
const MOST_FOLDS: usize = 12;
/// Fewer classes on either side make every accuracy 1, or leave nothing to learn from.
const MIN_CLASSES: usize = 2;
/// Random choices that are looked at for each one that is taken.
const DRAWS_PER_FOLD: usize = 10;

/// How many folds a choice among many pipelines takes where nobody says: the accuracy of a fold is a mean over its
/// classes, and folds of few classes are noisy.
pub fn enough_folds(known: usize) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
    let held_out = ((known as f64 * SHARE).round() as usize).max(MIN_CLASSES);
    ENOUGH_CLASSES.div_ceil(held_out).clamp(FOLDS, MOST_FOLDS)
}

/// The divisions of `trial`'s known classes; no instance of its unseen classes is in them.
///
/// # Errors
/// [`Error::Setting`] where there are too few known classes, or no validation classes where these are asked for.
pub fn folds(dataset: &Dataset, trial: &Trial, holdout: Holdout) -> Result<Vec<Trial>> {
    let named = || -> Result<Option<Trial>> {
        let classes = trial.validation.clone();
        if classes.is_empty() {
            return Ok(None);
        }
        check(trial.known.len(), classes.len(), "validation", &format!("{} classes", classes.len()))?;
        Ok(Some(divide(dataset, trial, "validation".to_owned(), classes)))
    };
    match holdout {
        Holdout::Split => named()?.map_or_else(
            || {
                let found = format!("split, although split `{}` names no validation classes", trial.name);
                wrong("holdout", "a share of the known classes, such as 0.2".to_owned(), found)
            },
            |fold| Ok(vec![fold]),
        ),
        Holdout::Random { share, folds, seed } => {
            let draws = draws(trial, share, folds, folds, seed)?;
            Ok(numbered(dataset, trial, 0, draws))
        }
        Holdout::Matched { share, folds, seed } => {
            let mut all: Vec<Trial> = named()?.into_iter().collect();
            let open = folds.saturating_sub(all.len());
            let mut draws = draws(trial, share, folds, open * DRAWS_PER_FOLD, seed)?;
            if let Some(nearness) = Nearness::new(dataset, trial) {
                nearness.keep_nearest(&mut draws, open);
            }
            draws.truncate(open);
            all.extend(numbered(dataset, trial, all.len(), draws));
            Ok(all)
        }
    }
}

/// As many random choices of classes as are asked for, for this many folds.
fn draws(trial: &Trial, share: f64, folds: usize, count: usize, seed: u64) -> Result<Vec<Vec<usize>>> {
    if !(share > 0.0 && share < 1.0) {
        return wrong("holdout", "a share between 0 and 1".to_owned(), share.to_string());
    }
    if folds == 0 {
        return wrong("trials", "at least 1".to_owned(), "0".to_owned());
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
    let held_out = ((trial.known.len() as f64 * share).round() as usize).max(MIN_CLASSES);
    check(trial.known.len(), held_out, "holdout", &share.to_string())?;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let draw = |_| {
        let mut classes = trial.known.clone();
        classes.shuffle(&mut random);
        classes.truncate(held_out);
        classes.sort_unstable();
        classes
    };
    Ok((0..count).map(draw).collect())
}

fn numbered(dataset: &Dataset, trial: &Trial, first: usize, draws: Vec<Vec<usize>>) -> Vec<Trial> {
    let fold = |(number, classes)| divide(dataset, trial, format!("fold {number}"), classes);
    (first..).zip(draws).map(fold).collect()
}

fn check(known: usize, held_out: usize, setting: &'static str, found: &str) -> Result<()> {
    if held_out >= MIN_CLASSES && known >= held_out + MIN_CLASSES {
        return Ok(());
    }
    // No share would do.
    if known < 2 * MIN_CLASSES {
        let expected = format!("at least {}, so that {MIN_CLASSES} can be held out", 2 * MIN_CLASSES);
        return wrong("the number of known classes", expected, known.to_string());
    }
    let expected = format!(
        "such that at least {MIN_CLASSES} of the {known} known classes are held out and {MIN_CLASSES} are left to learn from"
    );
    wrong(setting, expected, found.to_owned())
}

fn wrong<R>(setting: &'static str, expected: String, found: String) -> Result<R> {
    Err(Error::Setting { setting, expected: expected.into(), found })
}

fn divide(dataset: &Dataset, trial: &Trial, name: String, held_out: Vec<usize>) -> Trial {
    let out = |class: &usize| held_out.binary_search(class).is_ok();
    let side =
        |side: bool| trial.train.iter().copied().filter(|&i| out(&dataset.labels[i]) == side).collect();
    Trial {
        name,
        known: trial.known.iter().copied().filter(|class| !out(class)).collect(),
        train: side(false),
        test: side(true),
        unseen: held_out,
        test_seen: Vec::new(),
        validation: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::Synthetic;

    fn small() -> (Dataset, Trial) {
        let dataset = Synthetic::default().generate(1).unwrap();
        let trial = dataset.trials(None).unwrap().remove(0);
        (dataset, trial)
    }

    #[test]
    fn nothing_of_the_unseen_classes_is_in_a_fold() {
        let (dataset, trial) = small();
        let random = Holdout::Random { share: 0.2, folds: 7, seed: 3 };
        let matched = Holdout::Matched { share: 0.2, folds: 7, seed: 3 };
        for (holdout, first) in [(random, 0), (matched, 1)] {
            let found = folds(&dataset, &trial, holdout).unwrap();
            assert_eq!(found.len(), 7);
            for fold in &found[first..] {
                assert_eq!((fold.known.len(), fold.unseen.len()), (16, 4));
                assert_eq!(fold.train.len() + fold.test.len(), trial.train.len());
                assert!(fold.train.iter().chain(&fold.test).all(|i| trial.train.contains(i)));
                assert!(fold.test.iter().all(|&i| fold.unseen.contains(&dataset.labels[i])));
                assert!(fold.train.iter().all(|&i| fold.known.contains(&dataset.labels[i])));
            }
            assert_eq!(found, folds(&dataset, &trial, holdout).unwrap());
        }
        let named = folds(&dataset, &trial, Holdout::Split).unwrap();
        assert_eq!((named.len(), named[0].unseen.len()), (1, 5), "the split names five classes");
        assert_eq!(folds(&dataset, &trial, matched).unwrap()[0], named[0], "one fold among the others");
    }

    #[test]
    fn a_split_without_validation_classes_has_random_folds_only() {
        let dataset = Synthetic { validation: 0, ..Synthetic::default() }.generate(1).unwrap();
        let trial = dataset.trials(None).unwrap().remove(0);
        let failure = folds(&dataset, &trial, Holdout::Split).unwrap_err().to_string();
        assert!(failure.contains("names no validation classes"), "{failure}");
        let found = folds(&dataset, &trial, Holdout::Matched { share: 0.2, folds: 5, seed: 0 }).unwrap();
        assert!(found.len() == 5 && found.iter().all(|fold| fold.name.starts_with("fold")));
    }

    #[test]
    fn random_folds_are_as_far_from_the_rest_as_unseen_classes_are() {
        let dataset = Synthetic { validation: 0, ..Synthetic::default() }.generate(2).unwrap();
        let trial = dataset.trials(None).unwrap().remove(0);
        let nearness = Nearness::new(&dataset, &trial).expect("descriptions");
        let mean_gap = |holdout| {
            let found = folds(&dataset, &trial, holdout).unwrap();
            let gap = |fold: &Trial| (nearness.of(&fold.unseen) - nearness.unseen).abs();
            found.iter().map(gap).sum::<f64>() / found.len() as f64
        };
        let matched = mean_gap(Holdout::Matched { share: 0.2, folds: 5, seed: 0 });
        let random = mean_gap(Holdout::Random { share: 0.2, folds: 50, seed: 0 });
        assert!(matched < 0.5 * random, "{matched} {random}");
    }

    #[test]
    fn too_few_known_classes_are_an_error() {
        let (dataset, mut trial) = small();
        trial.known.truncate(3);
        let failure = folds(&dataset, &trial, Holdout::Random { share: 0.2, folds: 5, seed: 0 }).unwrap_err();
        let expected = "the number of known classes must be at least 4, so that 2 can be held out, found 3";
        assert_eq!(failure.to_string(), expected);
        for share in [0.0, 1.0, f64::NAN] {
            assert!(folds(&dataset, &trial, Holdout::Random { share, folds: 5, seed: 0 }).is_err());
        }
    }
}
