//! Class-wise validation: known classes that play the unseen ones.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::split::Trial;

/// How known classes are held out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Holdout {
    /// The split's own validation classes; where it names none, a random fifth, five times.
    Split {
        /// Seed of the random choice.
        seed: u64,
    },
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

/// The share that is held out by default: the paper's.
pub const SHARE: f64 = 0.2;
/// How many times, by default.
pub const FOLDS: usize = 5;
/// Fewer classes on either side make every accuracy 1, or leave nothing to learn from.
const MIN_CLASSES: usize = 2;

/// The divisions of `trial`'s known classes; nothing of its unseen classes is in them.
///
/// # Errors
/// [`Error::Setting`] where there are too few known classes.
pub fn folds(dataset: &Dataset, trial: &Trial, holdout: Holdout) -> Result<Vec<Trial>> {
    match holdout {
        Holdout::Split { seed } => {
            let named = trial.validation.clone();
            if named.is_empty() {
                return folds(dataset, trial, Holdout::Random { share: SHARE, folds: FOLDS, seed });
            }
            check(trial.known.len(), named.len(), "validation", &format!("{} classes", named.len()))?;
            Ok(vec![divide(dataset, trial, "validation".to_owned(), named)])
        }
        Holdout::Random { share, folds, seed } => {
            if !(share > 0.0 && share < 1.0) {
                return wrong("holdout", "a share between 0 and 1".to_owned(), share.to_string());
            }
            if folds == 0 {
                return wrong("trials", "at least 1".to_owned(), "0".to_owned());
            }
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
            let count = ((trial.known.len() as f64 * share).round() as usize).max(MIN_CLASSES);
            check(trial.known.len(), count, "holdout", &share.to_string())?;
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let draw = |number: usize| {
                let mut classes = trial.known.clone();
                classes.shuffle(&mut random);
                classes.truncate(count);
                classes.sort_unstable();
                divide(dataset, trial, format!("fold {number}"), classes)
            };
            Ok((0..folds).map(draw).collect())
        }
    }
}

fn check(known: usize, held_out: usize, setting: &'static str, found: &str) -> Result<()> {
    if held_out >= MIN_CLASSES && known >= held_out + MIN_CLASSES {
        return Ok(());
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
        for fold in folds(&dataset, &trial, random).unwrap() {
            assert_eq!((fold.known.len(), fold.unseen.len()), (16, 4));
            assert_eq!(fold.train.len() + fold.test.len(), trial.train.len());
            assert!(fold.train.iter().chain(&fold.test).all(|i| trial.train.contains(i)));
            assert!(fold.test.iter().all(|&i| fold.unseen.contains(&dataset.labels[i])));
            assert!(fold.train.iter().all(|&i| fold.known.contains(&dataset.labels[i])));
        }
        assert_eq!(folds(&dataset, &trial, random).unwrap(), folds(&dataset, &trial, random).unwrap());
        let named = folds(&dataset, &trial, Holdout::Split { seed: 0 }).unwrap();
        assert_eq!((named.len(), named[0].unseen.len()), (1, 5), "the split names five classes");
    }

    #[test]
    fn too_few_known_classes_are_an_error() {
        let (dataset, mut trial) = small();
        trial.known.truncate(3);
        let failure = folds(&dataset, &trial, Holdout::Random { share: 0.2, folds: 5, seed: 0 }).unwrap_err();
        assert!(failure.to_string().contains("3 known classes"), "{failure}");
        for share in [0.0, 1.0, f64::NAN] {
            assert!(folds(&dataset, &trial, Holdout::Random { share, folds: 5, seed: 0 }).is_err());
        }
    }
}
