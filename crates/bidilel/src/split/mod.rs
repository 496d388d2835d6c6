//! From a split's name to the classes and instances of each of its trials.
//!
//! ```
//! use bidilel::Synthetic;
//!
//! let dataset = Synthetic::preset("small")?.generate(0)?;
//! // The dataset's first split, all trials of a family, one of them.
//! assert_eq!(dataset.trials(None)?[0].name, "standard");
//! assert_eq!(dataset.trials(Some("random"))?.len(), 5);
//! let trial = &dataset.trials(Some("random:2"))?[0];
//! assert_eq!(trial.known.len() + trial.unseen.len(), dataset.classes.len());
//! assert_eq!(trial.train.len() + trial.test.len(), dataset.labels.len());
//! # Ok::<(), bidilel::Error>(())
//! ```

#[cfg(test)]
mod laws;
mod random;
mod test_seen;

pub use random::{DrawnSplits, RandomSplits, UNSEEN_SHARE, UnseenClasses};
pub use test_seen::TEST_SEEN_SHARE;
pub(crate) use test_seen::{check_share, draw_instances};

use crate::dataset::{Dataset, Split, SplitKind};
use crate::error::{Error, Result, SplitProblem};

/// One division of a dataset into known and unseen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// The split's name, with the trial's number where it is one of a family: `random:3`.
    pub name: String,
    /// Known classes, ascending.
    pub known: Vec<usize>,
    /// Unseen classes, ascending.
    pub unseen: Vec<usize>,
    /// Instances to learn from.
    pub train: Vec<usize>,
    /// Instances of unseen classes to recognize.
    pub test: Vec<usize>,
    /// Instances of known classes that are tested too; only splits by instance have some.
    pub test_seen: Vec<usize>,
    /// Known classes that the split names for validation, ascending; may be empty.
    pub validation: Vec<usize>,
}

/// Which trials of a dataset to take.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum SplitChoice {
    /// Those of the dataset's first split.
    #[default]
    First,
    /// By name: a split, one trial of a family (`random:3`), or a whole family.
    Named(String),
    /// Random divisions of the classes, whatever splits the dataset has.
    Random(RandomSplits),
}

/// The trials of a split, with the name that results list them under.
#[derive(Debug, Clone, PartialEq)]
pub struct Trials {
    /// The split as it was asked for; `random` where it was drawn.
    pub split: String,
    /// The trials, at least one.
    pub trials: Vec<Trial>,
    /// How they were drawn; none where the dataset has them.
    pub drawn: Option<DrawnSplits>,
}

impl Trials {
    /// The same with a share of every known class's instances tested instead of learned from; unchanged without one.
    ///
    /// # Errors
    /// Those of [`Trial::with_test_seen`].
    pub fn with_test_seen(mut self, dataset: &Dataset, share: Option<f64>, seed: u64) -> Result<Self> {
        if let Some(share) = share {
            let draw = |trial: &Trial| trial.with_test_seen(dataset, share, seed);
            self.trials = self.trials.iter().map(draw).collect::<Result<_>>()?;
        }
        Ok(self)
    }
}

impl SplitChoice {
    /// The trials of a dataset that this asks for.
    ///
    /// # Errors
    /// Those of [`Dataset::trials`] and [`Dataset::random_splits`].
    pub fn trials(&self, dataset: &Dataset) -> Result<Trials> {
        let (split, trials) = match self {
            Self::First => (dataset.split(None)?.name.clone(), dataset.trials(None)?),
            Self::Named(name) => (name.clone(), dataset.trials(Some(name))?),
            Self::Random(random) => return random.draw(dataset),
        };
        Ok(Trials { split, trials, drawn: None })
    }
}

impl Dataset {
    /// The trials that `name` asks for: one split, one trial of a family (`random:3`), or a whole family.
    ///
    /// # Errors
    /// [`Error::NotInDataset`], [`Error::NoSuchTrial`]; [`Error::Split`] for a split that cannot be used.
    pub fn trials(&self, name: Option<&str>) -> Result<Vec<Trial>> {
        let (split, number) = match name.and_then(|name| name.split_once(':')) {
            // A split may have a colon in its own name; that name wins.
            Some((family, number)) if !self.splits.iter().any(|split| Some(split.name.as_str()) == name) => {
                (self.split(Some(family))?, Some(number))
            }
            _ => (self.split(name)?, None),
        };
        match (&split.kind, number) {
            (SplitKind::Family { trials }, None) => trials
                .iter()
                .enumerate()
                .map(|(i, unseen)| self.by_class(split, Some(i), unseen, &[]))
                .collect(),
            (SplitKind::Family { trials }, Some(number)) => {
                let chosen = number.parse::<usize>().ok().and_then(|i| Some((i, trials.get(i)?)));
                let (i, unseen) = chosen.ok_or_else(|| no_such_trial(split, number, trials.len()))?;
                Ok(vec![self.by_class(split, Some(i), unseen, &[])?])
            }
            (_, Some(number)) if number != "0" => Err(no_such_trial(split, number, 1)),
            (SplitKind::Classes { unseen, validation }, _) => {
                Ok(vec![self.by_class(split, None, unseen, validation)?])
            }
            (SplitKind::Instances { train, test_seen, test_unseen, validation }, _) => {
                let trial = self.by_instance(split, train, test_seen, test_unseen)?;
                Ok(vec![trial.validated_on(validation)])
            }
        }
    }

    fn by_class(
        &self,
        split: &Split,
        number: Option<usize>,
        unseen: &[usize],
        validation: &[usize],
    ) -> Result<Trial> {
        let name = number.map_or_else(|| split.name.clone(), |i| format!("{}:{i}", split.name));
        let is_unseen = mask(unseen, self.classes.len());
        let of_side =
            |side: bool| (0..self.labels.len()).filter(|&i| is_unseen[self.labels[i]] == side).collect();
        let trial = checked(Trial {
            name,
            known: (0..self.classes.len()).filter(|&c| !is_unseen[c]).collect(),
            unseen: unseen.to_vec(),
            train: of_side(false),
            test: of_side(true),
            test_seen: Vec::new(),
            validation: Vec::new(),
        })?;
        Ok(trial.validated_on(validation))
    }

    fn by_instance(
        &self,
        split: &Split,
        train: &[usize],
        test_seen: &[usize],
        test: &[usize],
    ) -> Result<Trial> {
        let classes_of = |instances: &[usize]| {
            let mut classes: Vec<usize> = instances.iter().map(|&i| self.labels[i]).collect();
            classes.sort_unstable();
            classes.dedup();
            classes
        };
        let (known, unseen) = (classes_of(train), classes_of(test));
        let count =
            |class: usize, among: &[usize]| among.iter().filter(|&&i| self.labels[i] == class).count();
        let is_known = |class: &usize| known.binary_search(class).is_ok();
        let unusable = |problem| Err(Error::Split { split: split.name.clone(), problem });
        if let Some(&both) = unseen.iter().find(|&class| is_known(class)) {
            let (class, count) = (self.classes[both].clone(), count(both, train));
            return unusable(SplitProblem::UnseenInTraining { class, count });
        }
        if let Some(&untrained) = classes_of(test_seen).iter().find(|&class| !is_known(class)) {
            let (class, count) = (self.classes[untrained].clone(), count(untrained, test_seen));
            return unusable(SplitProblem::SeenWithoutTraining { class, count });
        }
        checked(Trial {
            name: split.name.clone(),
            known,
            unseen,
            train: train.to_vec(),
            test: test.to_vec(),
            test_seen: test_seen.to_vec(),
            validation: Vec::new(),
        })
    }
}

impl Trial {
    /// With those of some classes for validation that are known.
    fn validated_on(mut self, classes: &[usize]) -> Self {
        self.validation =
            classes.iter().copied().filter(|class| self.known.binary_search(class).is_ok()).collect();
        self
    }
}

fn checked(trial: Trial) -> Result<Trial> {
    let problem = match &trial {
        Trial { unseen, .. } if unseen.is_empty() => SplitProblem::NoUnseenClass,
        Trial { known, .. } if known.is_empty() => SplitProblem::NoKnownClass,
        _ => return Ok(trial),
    };
    Err(Error::Split { split: trial.name, problem })
}

fn no_such_trial(split: &Split, found: &str, count: usize) -> Error {
    Error::NoSuchTrial { split: split.name.clone(), found: found.to_owned(), count }
}

fn mask(indices: &[usize], count: usize) -> Vec<bool> {
    let mut mask = vec![false; count];
    indices.iter().for_each(|&i| mask[i] = true);
    mask
}
