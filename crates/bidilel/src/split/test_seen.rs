//! Test instances of known classes, drawn from those that would be learned from.
//!
//! A split by classes learns from every instance of its known classes. Generalized recognition also tests known classes,
//! on instances that were not learned from: a share of every class, which leaves at least one to learn from and takes at
//! least one where there are two. Classes are drawn in the order of their names, so that the order of classes in files
//! makes no difference.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::Trial;
use crate::dataset::Dataset;
use crate::error::{Error, Result, SplitProblem};

/// Keeps the draw apart from others of the same seed.
const STREAM: u64 = 0x5345_454e;

/// The share of every known class that is tested where nobody says.
pub const TEST_SEEN_SHARE: f64 = 0.2;

impl Trial {
    /// The same trial with a share of every known class's instances tested instead of learned from.
    ///
    /// ```
    /// use bidilel::Synthetic;
    ///
    /// let dataset = Synthetic::preset("small")?.generate(0)?;
    /// let whole = &dataset.trials(None)?[0];
    /// let trial = whole.with_test_seen(&dataset, 0.2, 0)?;
    /// assert_eq!(trial.train.len() + trial.test_seen.len(), whole.train.len());
    /// assert_eq!(trial.known, whole.known);
    /// # Ok::<(), bidilel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Setting`] for a share that is none; [`Error::Split`] where the trial tests known classes already, or
    /// where no known class has two instances.
    pub fn with_test_seen(&self, dataset: &Dataset, share: f64, seed: u64) -> Result<Self> {
        check_share("test-seen-share", share)?;
        let unusable = |problem| Err(Error::Split { split: self.name.clone(), problem });
        if !self.test_seen.is_empty() {
            return unusable(SplitProblem::TestsKnown { count: self.test_seen.len() });
        }
        let mut classes = self.known.clone();
        classes.sort_by(|&a, &b| dataset.classes[a].cmp(&dataset.classes[b]));
        let labels: Vec<usize> = self.train.iter().map(|&instance| dataset.labels[instance]).collect();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(STREAM);
        let tested = draw_instances(&labels, &classes, share, &mut random);
        let side = |side: bool| {
            self.train.iter().zip(&tested).filter(|(_, tested)| **tested == side).map(|(&i, _)| i).collect()
        };
        let drawn = Self { train: side(false), test_seen: side(true), ..self.clone() };
        if drawn.test_seen.is_empty() { unusable(SplitProblem::SingleInstances) } else { Ok(drawn) }
    }
}

/// Fails unless a number is a share that leaves something on both sides.
pub(crate) fn check_share(setting: &'static str, share: f64) -> Result<()> {
    if share > 0.0 && share < 1.0 {
        return Ok(());
    }
    Err(Error::Setting { setting, expected: "a share between 0 and 1".into(), found: share.to_string() })
}

/// Draws a share of every class's instances, by their position in `labels`: rounded, at least one, never all.
pub(crate) fn draw_instances(
    labels: &[usize],
    classes: &[usize],
    share: f64,
    random: &mut ChaCha8Rng,
) -> Vec<bool> {
    let most = classes.iter().copied().max().map_or(0, |class| class + 1);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); most];
    for (position, &label) in labels.iter().enumerate() {
        if let Some(own) = members.get_mut(label) {
            own.push(position);
        }
    }
    let mut drawn = vec![false; labels.len()];
    for &class in classes {
        let own = &mut members[class];
        own.shuffle(random);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
        let count = ((own.len() as f64 * share).round() as usize).max(1).min(own.len().saturating_sub(1));
        own[..count].iter().for_each(|&position| drawn[position] = true);
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::Synthetic;

    #[test]
    fn every_known_class_keeps_some_instances_and_gives_its_share() {
        let dataset = Synthetic::default().generate(1).expect("data");
        for trial in dataset
            .trials(None)
            .expect("a split")
            .into_iter()
            .chain(dataset.random_splits(2, None, 3).expect("random splits"))
        {
            let drawn = trial.with_test_seen(&dataset, 0.2, 7).expect("a draw");
            assert_eq!(drawn, trial.with_test_seen(&dataset, 0.2, 7).expect("a draw"));
            assert_ne!(drawn, trial.with_test_seen(&dataset, 0.2, 8).expect("another draw"));
            let mut all = [drawn.train.clone(), drawn.test_seen.clone()].concat();
            all.sort_unstable();
            assert_eq!(all, trial.train);
            assert_eq!((&drawn.test, &drawn.unseen), (&trial.test, &trial.unseen));
            for &class in &trial.known {
                let count = |among: &[usize]| among.iter().filter(|&&i| dataset.labels[i] == class).count();
                let (all, tested) = (count(&trial.train), count(&drawn.test_seen));
                assert!(tested >= 1 && tested < all);
                assert!((tested as f64 - 0.2 * all as f64).abs() <= 0.5 + 1e-9);
            }
        }
    }

    #[test]
    fn the_order_of_classes_makes_no_difference() {
        let random = || ChaCha8Rng::seed_from_u64(1);
        let labels = [0, 0, 0, 0, 1, 1, 1, 1, 2];
        let drawn = draw_instances(&labels, &[0, 1, 2], 0.5, &mut random());
        assert_eq!(drawn.iter().filter(|&&drawn| drawn).count(), 4, "one instance is learned from");
        assert!(!drawn[8]);
        // The same draw for the class that comes second, whatever its number is.
        let swapped = draw_instances(&[1, 1, 1, 1, 0, 0, 0, 0, 2], &[1, 0, 2], 0.5, &mut random());
        assert_eq!(drawn, swapped);
    }

    #[test]
    fn shares_that_are_none_and_trials_that_test_known_classes_are_errors() {
        let dataset = Synthetic::default().generate(1).expect("data");
        let trial = dataset.trials(None).expect("a split").remove(0);
        for share in [0.0, 1.0, -0.2, f64::NAN] {
            let error = trial.with_test_seen(&dataset, share, 0).expect_err("no share").to_string();
            assert!(error.contains("between 0 and 1"), "{error}");
        }
        let drawn = trial.with_test_seen(&dataset, 0.2, 0).expect("a draw");
        let error = drawn.with_test_seen(&dataset, 0.2, 0).expect_err("it has some").to_string();
        assert!(error.contains("test instances of known classes"), "{error}");
    }
}
