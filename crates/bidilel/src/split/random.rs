//! Random divisions of a dataset's classes into known and unseen.
//!
//! Names are sorted before the draw, so that the order of classes in files makes no difference. Divisions are drawn one
//! after another, so that the first three of ten are those of three.

use std::collections::HashSet;
use std::fmt;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::{Trial, Trials};
use crate::dataset::{Dataset, SplitKind};
use crate::error::{Error, Result};

/// The name of the family that is drawn.
const NAME: &str = "random";
/// Keeps the draw apart from others of the same seed, such as that of folds.
const STREAM: u64 = 0x5350_4c49_5453;

/// Share of unseen classes where neither the user nor a split of the dataset says how many.
pub const UNSEEN_SHARE: f64 = 0.2;

/// How many classes are unseen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum UnseenClasses {
    /// This many.
    Count(usize),
    /// This share of the classes that have instances, rounded, at least one.
    Share(f64),
}

/// Which random divisions to draw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomSplits {
    /// How many.
    pub count: usize,
    /// Unseen classes of each. If not given, as many as the dataset's first split has with instances; where there is no
    /// split, [`UNSEEN_SHARE`].
    pub unseen: Option<UnseenClasses>,
    /// Seed of the draw.
    pub seed: u64,
}

/// How trials were drawn, for results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrawnSplits {
    /// How many.
    pub count: usize,
    /// Unseen classes of each.
    pub unseen: usize,
    /// Classes that were divided: those with instances.
    pub classes: usize,
    /// Seed of the draw.
    pub seed: u64,
}

impl fmt::Display for DrawnSplits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, unseen, classes, seed } = self;
        write!(f, "{count} drawn with seed {seed}, {unseen} of {classes} classes unseen")
    }
}

impl Dataset {
    /// `count` different random divisions of the classes that have instances, named `random:0`, `random:1`, ...: all
    /// instances of known classes are learned from, all of unseen ones are tested. The sets of names depend on nothing
    /// but the names, `unseen` and `seed`.
    ///
    /// ```
    /// use bidilel::Synthetic;
    ///
    /// let dataset = Synthetic::preset("small")?.generate(0)?;
    /// let trials = dataset.random_splits(10, None, 0)?;
    /// assert_eq!(trials[3].name, "random:3");
    /// assert_eq!(trials[3].unseen.len(), dataset.trials(None)?[0].unseen.len());
    /// assert_eq!(trials[..3], dataset.random_splits(3, None, 0)?);
    /// # Ok::<(), bidilel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Setting`] where no class would be known or unseen, or where there are fewer divisions than `count`.
    pub fn random_splits(
        &self,
        count: usize,
        unseen: Option<UnseenClasses>,
        seed: u64,
    ) -> Result<Vec<Trial>> {
        Ok(RandomSplits { count, unseen, seed }.draw(self)?.trials)
    }

    /// Whether each class has instances.
    fn populated(&self) -> Vec<bool> {
        let mut populated = vec![false; self.classes.len()];
        self.labels.iter().for_each(|&label| populated[label] = true);
        populated
    }

    /// Unseen classes of the first split that have instances; none where there is no split, or no such class.
    fn usual_unseen(&self, populated: &[bool]) -> Option<usize> {
        let unseen = match &self.splits.first()?.kind {
            SplitKind::Classes { unseen, .. } => unseen.clone(),
            SplitKind::Family { trials } => trials.first()?.clone(),
            SplitKind::Instances { test_unseen, .. } => test_unseen.iter().map(|&i| self.labels[i]).collect(),
        };
        let unseen: HashSet<usize> = unseen.into_iter().filter(|&class| populated[class]).collect();
        (!unseen.is_empty()).then_some(unseen.len())
    }
}

impl RandomSplits {
    /// Draws from a dataset.
    pub(super) fn draw(&self, dataset: &Dataset) -> Result<Trials> {
        let populated = dataset.populated();
        let mut classes: Vec<usize> = (0..dataset.classes.len()).filter(|&class| populated[class]).collect();
        classes.sort_by(|&a, &b| dataset.classes[a].cmp(&dataset.classes[b]));
        let unseen = self.unseen_of(dataset, &populated, classes.len())?;
        let possible = divisions(classes.len(), unseen);
        if self.count == 0 || self.count as u128 > possible {
            let divisions = format!("{unseen} of {} classes can be unseen in {possible} ways", classes.len());
            let expected = format!("between 1 and {possible}, because {divisions}");
            return wrong("random-splits", expected, self.count.to_string());
        }
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(STREAM);
        let (mut drawn, mut trials) = (HashSet::new(), Vec::with_capacity(self.count));
        while trials.len() < self.count {
            let mut order = classes.clone();
            order.shuffle(&mut rng);
            order.truncate(unseen);
            order.sort_unstable();
            // The same division twice would count one trial as two.
            if drawn.insert(order.clone()) {
                trials.push(divide(dataset, &classes, order, trials.len()));
            }
        }
        let how = DrawnSplits { count: self.count, unseen, classes: classes.len(), seed: self.seed };
        Ok(Trials { split: NAME.to_owned(), trials, drawn: Some(how) })
    }

    fn unseen_of(&self, dataset: &Dataset, populated: &[bool], classes: usize) -> Result<usize> {
        let usual = || dataset.usual_unseen(populated).map(UnseenClasses::Count);
        let asked = self.unseen.or_else(usual).unwrap_or(UnseenClasses::Share(UNSEEN_SHARE));
        let (unseen, found) = match asked {
            UnseenClasses::Count(count) => (count, count.to_string()),
            UnseenClasses::Share(share) if share > 0.0 && share < 1.0 => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a share of a count"
                )]
                let count = (classes as f64 * share).round() as usize;
                (count.max(1), format!("{share} of {classes}"))
            }
            UnseenClasses::Share(share) => {
                return wrong("random-unseen", "a share between 0 and 1".to_owned(), share.to_string());
            }
        };
        if unseen == 0 || unseen >= classes {
            let most = classes.saturating_sub(1);
            let expected = format!("between 1 and {most}, because {classes} classes have instances");
            return wrong("random-unseen", expected, found);
        }
        Ok(unseen)
    }
}

/// The trial of a draw; classes without instances have no part in it.
fn divide(dataset: &Dataset, classes: &[usize], unseen: Vec<usize>, number: usize) -> Trial {
    let is_unseen = |class: usize| unseen.binary_search(&class).is_ok();
    let side = |side: bool| {
        let instances = 0..dataset.labels.len();
        instances.filter(|&i| is_unseen(dataset.labels[i]) == side).collect()
    };
    let mut known: Vec<usize> = classes.iter().copied().filter(|&class| !is_unseen(class)).collect();
    known.sort_unstable();
    Trial {
        name: format!("{NAME}:{number}"),
        known,
        train: side(false),
        test: side(true),
        test_seen: Vec::new(),
        validation: Vec::new(),
        unseen,
    }
}

/// The number of ways to choose `chosen` of `classes`, or the largest number where that is larger.
pub(super) fn divisions(classes: usize, chosen: usize) -> u128 {
    let mut ways = 1_u128;
    for step in 1..=chosen.min(classes - chosen) as u128 {
        // Each product of `step` consecutive numbers is divisible by `step` factorial.
        match ways.checked_mul(classes as u128 - step + 1) {
            Some(product) => ways = product / step,
            None => return u128::MAX,
        }
    }
    ways
}

fn wrong<R>(setting: &'static str, expected: String, found: String) -> Result<R> {
    Err(Error::Setting { setting, expected: expected.into(), found })
}
