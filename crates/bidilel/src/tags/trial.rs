//! One division of the labels, and the single-label task that a method learns from.

use std::sync::Arc;

use bidilel_math::Observer;

use super::Tagged;
use crate::dataset::{Dataset, Rows, Split, SplitKind, Visual};
use crate::error::{Error, Result, SplitProblem};
use crate::split::{SplitChoice, Trial, Trials};
use crate::task::{Choice, Task};

/// One division of the labels into known and unseen, with the instances of each side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagTrial {
    /// The split's name, with the trial's number where it is one of a family.
    pub name: String,
    /// Known labels that have instances to learn from, ascending.
    pub known: Vec<usize>,
    /// Unseen labels, ascending.
    pub unseen: Vec<usize>,
    /// Instances to learn from: those with a known label and no unseen one.
    pub train: Vec<usize>,
    /// Instances to tag: those with an unseen label.
    pub test: Vec<usize>,
    /// Known labels that the split names for validation.
    pub validation: Vec<usize>,
}

impl Tagged {
    /// The trials of a split, with the name that results list them under.
    ///
    /// # Errors
    /// Those of [`SplitChoice::trials`]; [`Error::Split`] for a split by instance, which says nothing about the other
    /// labels of an instance, and where nothing is left to learn from or to tag.
    pub fn trials(&self, choice: &SplitChoice) -> Result<(String, Vec<TagTrial>)> {
        let mut flat = self.flat();
        let by_instance = |split: &Split| matches!(split.kind, SplitKind::Instances { .. });
        let named = match choice {
            SplitChoice::First => flat.splits.first(),
            SplitChoice::Named(name) => flat.splits.iter().find(|split| split.name == *name),
            SplitChoice::Random(_) => None,
        };
        if let Some(split) = named.filter(|split| by_instance(split)) {
            let problem = SplitProblem::InstancesWithTags;
            return Err(Error::Split { split: split.name.clone(), problem });
        }
        flat.splits.retain(|split| !by_instance(split));
        let Trials { split, trials, .. } = choice.trials(&flat)?;
        let all: Vec<usize> = (0..self.tags.len()).collect();
        let divide = |trial: &Trial| {
            let validation = trial.validation.clone();
            self.divided(&trial.name, &trial.known, &trial.unseen, &all)
                .map(|divided| TagTrial { validation, ..divided })
        };
        Ok((split, trials.iter().map(divide).collect::<Result<_>>()?))
    }

    /// A division of some instances by their labels.
    pub(super) fn divided(
        &self,
        name: &str,
        known: &[usize],
        unseen: &[usize],
        instances: &[usize],
    ) -> Result<TagTrial> {
        let has_any = |instance: usize, side: &[usize]| {
            self.tags.of(instance).iter().any(|tag| side.binary_search(tag).is_ok())
        };
        let test: Vec<usize> = instances.iter().copied().filter(|&one| has_any(one, unseen)).collect();
        let is_train = |&one: &usize| has_any(one, known) && !has_any(one, unseen);
        let train: Vec<usize> = instances.iter().copied().filter(is_train).collect();
        // A label may stand beside unseen ones only.
        let learned = |&class: &usize| train.iter().any(|&one| self.tags.has(one, class));
        let known: Vec<usize> = known.iter().copied().filter(learned).collect();
        let problem = match (known.is_empty(), test.is_empty()) {
            (true, _) => SplitProblem::NoKnownClass,
            (_, true) => SplitProblem::NoUnseenClass,
            _ => {
                let (name, unseen, validation) = (name.to_owned(), unseen.to_vec(), Vec::new());
                return Ok(TagTrial { name, known, unseen, train, test, validation });
            }
        };
        Err(Error::Split { split: name.to_owned(), problem })
    }

    /// The single-label task of a trial: a training instance stands in it once for each of its known labels, a test
    /// instance once. The labels of its test instances mean nothing.
    ///
    /// # Errors
    /// Those of [`Task::new`].
    pub fn task(&self, trial: &TagTrial, choice: &Choice, watch: &dyn Observer) -> Result<Task> {
        let mut rows = Vec::new();
        let mut labels = Vec::new();
        for &instance in &trial.train {
            let known = self.tags.of(instance).iter().filter(|tag| trial.known.binary_search(tag).is_ok());
            for &tag in known {
                rows.push(instance);
                labels.push(tag);
            }
        }
        let trained = rows.len();
        rows.extend(&trial.test);
        // A task wants some unseen class of every test instance; tags are compared instead.
        labels.resize(rows.len(), trial.unseen[0]);
        let single = Trial {
            name: trial.name.clone(),
            known: trial.known.clone(),
            unseen: trial.unseen.clone(),
            train: (0..trained).collect(),
            test: (trained..rows.len()).collect(),
            test_seen: Vec::new(),
            validation: Vec::new(),
        };
        let flat = repeated(&self.dataset, rows.clone(), labels);
        Task::new(&flat, &single, choice, watch).map_err(|error| located(error, &rows))
    }
}

/// A dataset whose instances are some of another's, in any order and number.
pub(super) fn repeated(dataset: &Dataset, rows: Vec<usize>, labels: Vec<usize>) -> Dataset {
    let picked = Arc::new(rows);
    let visual = |visual: &Visual| Visual {
        rows: Arc::new(Repeated { of: Arc::clone(&visual.rows), rows: Arc::clone(&picked) }),
        ..visual.clone()
    };
    Dataset { labels, visual: dataset.visual.iter().map(visual).collect(), ..dataset.clone() }
}

/// An error whose row is that of the file.
fn located(mut error: Error, rows: &[usize]) -> Error {
    if let Error::NotFinite { row, .. } | Error::OutOfRange { row, .. } = &mut error {
        *row = rows.get(*row).copied().unwrap_or(*row);
    }
    error
}

/// Some rows of others, in any order and number.
struct Repeated {
    of: Arc<dyn Rows>,
    rows: Arc<Vec<usize>>,
}

impl Rows for Repeated {
    fn count(&self) -> usize {
        self.rows.len()
    }
    fn dim(&self) -> usize {
        self.of.dim()
    }
    fn read(&self, index: usize, into: &mut [f32]) {
        self.of.read(self.rows[index], into);
    }
    fn stored_row(&self, index: usize) -> Option<&[f32]> {
        self.of.stored_row(self.rows[index])
    }
    fn element(&self) -> &'static str {
        self.of.element()
    }
    fn stored(&self, index: usize, column: usize) -> f64 {
        self.of.stored(self.rows[index], column)
    }
    fn vanished(&self, index: usize, row: &[f32]) -> usize {
        self.of.vanished(self.rows[index], row)
    }
    fn names(&self) -> Option<&[String]> {
        self.of.names()
    }
}

#[cfg(test)]
mod tests {
    use bidilel_math::Silent;

    use super::*;
    use crate::synthetic::Synthetic;

    fn tagged() -> Tagged {
        let dataset = Synthetic { scale: 0.3, ..Synthetic::default() }.generate(3).expect("data");
        let unseen = dataset.trials(None).expect("a split")[0].unseen.clone();
        let classes = dataset.classes.len();
        let tags: Vec<Vec<usize>> = dataset
            .labels
            .iter()
            .enumerate()
            .map(|(i, &label)| match i % 4 {
                0 => vec![label],
                1 => vec![label, (label + 1) % classes],
                2 => vec![label, unseen[i % unseen.len()], label],
                _ => vec![(label + 2) % classes, label],
            })
            .collect();
        Tagged::new(dataset, tags).expect("tags")
    }

    #[test]
    fn nothing_that_carries_an_unseen_label_is_learned_from() {
        let tagged = tagged();
        let (name, trials) = tagged.trials(&SplitChoice::First).expect("trials");
        let trial = &trials[0];
        assert_eq!(name, trial.name);
        let carries = |one: usize, side: &[usize]| tagged.tags.of(one).iter().any(|tag| side.contains(tag));
        for one in 0..tagged.tags.len() {
            let (train, test) = (trial.train.contains(&one), trial.test.contains(&one));
            assert_eq!(test, carries(one, &trial.unseen));
            assert_eq!(train, !test && carries(one, &trial.known));
        }
        assert!(!trial.train.is_empty() && !trial.test.is_empty());
    }

    #[test]
    fn a_training_instance_is_learned_from_once_for_each_of_its_labels() {
        let tagged = tagged();
        let trial = &tagged.trials(&SplitChoice::First).expect("trials").1[0];
        let task = tagged.task(trial, &Choice::default(), &Silent).expect("a task");
        let expected: usize = trial.train.iter().map(|&one| tagged.tags.of(one).len()).sum();
        assert_eq!(task.train.labels.len(), expected);
        assert_eq!(task.test.features.ncols(), trial.test.len());
        for (class, name) in task.known.iter().enumerate() {
            let index = tagged.classes().iter().position(|other| other == name).expect("a class");
            let carrying = trial.train.iter().filter(|&&one| tagged.tags.has(one, index)).count();
            assert_eq!(task.train.labels.iter().filter(|&&label| label == class).count(), carrying, "{name}");
        }
        // The test features are those of the instances, in order.
        let visual = tagged.dataset.visual(None).expect("features");
        let mut row = vec![0.0; visual.rows.dim()];
        visual.rows.read(trial.test[1], &mut row);
        let norm = row.iter().map(|value| value * value).sum::<f32>().sqrt();
        assert!((task.test.features[(3, 1)] - row[3] / norm).abs() < 1e-6);
    }

    #[test]
    fn splits_by_instance_and_wrong_sizes_are_refused() {
        let tagged = tagged();
        let mut dataset = tagged.dataset.clone();
        dataset.splits[0].kind = SplitKind::Instances {
            train: vec![0],
            test_seen: Vec::new(),
            test_unseen: vec![1],
            validation: Vec::new(),
        };
        let by_instance = Tagged { dataset, tags: tagged.tags.clone() };
        let error = by_instance.trials(&SplitChoice::First).expect_err("it divides instances").to_string();
        assert!(error.contains("several labels"), "{error}");
        let classes = tagged.classes().len();
        for tags in [vec![vec![0]], vec![vec![classes]; tagged.tags.len()]] {
            assert!(matches!(Tagged::new(tagged.dataset.clone(), tags), Err(Error::Mismatch { .. })));
        }
    }
}
