//! A task that is safe to learn from: one split, one visual and some semantic representations, checked.
//!
//! Everything that can be wrong with the data is found here, once; the stages after it assume finite
//! numbers, matching shapes and no empty known class. The visual rows are gathered from where they are stored
//! and, by default, l2-normalized: on raw network features the graph weights exp(-d/2) all but vanish.
//!
//! ```
//! use bidilel::{Choice, Silent, Synthetic, Task};
//!
//! let dataset = Synthetic::preset("small")?.generate(0)?;
//! let trial = &dataset.trials(Some("standard"))?[0];
//! let choice = Choice { semantic: vec![("words".to_owned(), 1.0)], ..Choice::default() };
//! let task = Task::new(&dataset, trial, &choice, &Silent)?;
//! // One column per instance, with unit norm.
//! assert_eq!(task.train.features.ncols(), task.train.labels.len());
//! assert!((task.train.features.col(0).norm_l2() - 1.0).abs() < 1e-6);
//! assert_eq!(task.semantics.distances.known_unseen.shape(), (task.known.len(), task.unseen.len()));
//! # Ok::<(), bidilel::Error>(())
//! ```

mod batch;
mod candidates;
mod features;
mod shared;

use faer::{Mat, MatRef};
use xxhash_rust::xxh3::Xxh3;

use bidilel_math::Observer;

pub use candidates::Candidates;
pub use features::{Normalize, Prepared};
pub(crate) use features::{Sources, gather_views, read_views};
pub use shared::Shared;

use crate::dataset::Dataset;
use crate::error::{Error, Result, Role, SplitProblem};
use crate::semantic::ClassSemantics;
use crate::split::Trial;
use crate::visual::{ViewChoice, Views};

/// One of the two sides of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The classes to learn from.
    Known,
    /// The classes to recognize.
    Unseen,
}

/// Which representations of a dataset to use.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Choice {
    /// Visual representations with their weights and kernels; the dataset's first by default.
    pub visual: Vec<ViewChoice>,
    /// Semantic representations with their weights; the dataset's first by default.
    pub semantic: Vec<(String, f64)>,
    /// Normalization of visual rows.
    pub normalize: Normalize,
    /// Which classes compete for a test instance; test instances of known classes are gathered only where known
    /// classes do.
    pub candidates: Candidates,
}

/// Instances with their labels, checked and normalized.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples<T = f32> {
    /// Features, dimensions x instances: $X$.
    pub features: Mat<T>,
    /// The class of every instance, as an index into the known classes (training instances, test instances of known
    /// classes) or into the unseen ones (all other test instances): $z$.
    pub labels: Vec<usize>,
}

impl<T> Samples<T> {
    /// The features, as fitted methods take them.
    pub fn prepared(&self) -> Prepared<'_, T> {
        Prepared { features: self.features.as_ref() }
    }
}

/// Known and unseen classes with their instances and descriptions.
#[derive(Debug, Clone)]
pub struct Task<T = f32> {
    /// The trial's name.
    pub split: String,
    /// The visual representations, whose features are stacked.
    pub views: Views,
    /// Labeled instances of the known classes.
    pub train: Samples<T>,
    /// Instances of the unseen classes; their labels are for scoring only.
    pub test: Samples<T>,
    /// Test instances of known classes, where known classes are candidates and the split has such instances.
    pub test_seen: Option<Samples<T>>,
    /// Names of the known classes: $C^l$.
    pub known: Vec<String>,
    /// Names of the unseen classes: $C^u$.
    pub unseen: Vec<String>,
    /// Descriptions of both: $S^l$, $S^u$.
    pub semantics: ClassSemantics,
    /// What methods have computed of it, for the next one.
    pub shared: Shared,
}

/// The total scatter of training instances, for learners that are fitted to the same ones in turn.
pub type SharedScatter = std::sync::OnceLock<Mat<f64>>;

/// The input of a bottom-up learner: nothing of the unseen classes.
#[derive(Debug, Clone, Copy)]
pub struct Training<'a, T = f32> {
    /// Features, dimensions x instances.
    pub features: MatRef<'a, T>,
    /// Known class of every instance.
    pub labels: &'a [usize],
    /// How many known classes there are.
    pub classes: usize,
    /// Unit-norm semantic vectors of the known classes, where there are vectors: dimensions x classes.
    pub semantics: Option<MatRef<'a, f64>>,
    /// Which features belong to which view.
    pub views: &'a Views,
    /// The total scatter of the features that vary, kept by the first learner that needs it.
    pub total: Option<&'a SharedScatter>,
}

impl Task {
    /// Gathers and checks one trial of a dataset.
    ///
    /// # Errors
    /// Representations that do not exist, weights that are not shares, numbers that are not finite, sizes that do not
    /// match, a known class without instances.
    pub fn new(dataset: &Dataset, trial: &Trial, choice: &Choice, watch: &dyn Observer) -> Result<Self> {
        watch.stage("load");
        let sources = Sources::new(dataset, choice)?;
        let semantics = ClassSemantics::new(dataset, &choice.semantic, &trial.known, &trial.unseen)?;
        let side = |instances: &[usize], classes: &[usize]| -> Result<Samples> {
            let labels = labels_among(dataset, instances, classes)?;
            Ok(Samples { features: sources.features(instances, choice.normalize, watch)?, labels })
        };
        let train = side(&trial.train, &trial.known)?;
        let test = side(&trial.test, &trial.unseen)?;
        let test_seen = match choice.candidates {
            Candidates::Known | Candidates::All if !trial.test_seen.is_empty() => {
                Some(side(&trial.test_seen, &trial.known)?)
            }
            _ => None,
        };
        let names = |classes: &[usize]| classes.iter().map(|&class| dataset.classes[class].clone()).collect();
        let task = Self {
            split: trial.name.clone(),
            views: sources.views,
            train,
            test,
            test_seen,
            known: names(&trial.known),
            unseen: names(&trial.unseen),
            semantics,
            shared: Shared::default(),
        };
        task.require_instances(Side::Known)?;
        Ok(task)
    }

    /// A 128-bit fingerprint of what is learned from: training features, labels and descriptions.
    pub fn fingerprint(&self) -> String {
        let mut hash = Xxh3::new();
        for column in 0..self.train.features.ncols() {
            for value in self.train.features.col_as_slice(column) {
                hash.update(&value.to_le_bytes());
            }
        }
        for name in self.known.iter().chain(&self.unseen) {
            hash.update(name.as_bytes());
            hash.update(b"\n");
        }
        for &label in &self.train.labels {
            hash.update(&(label as u64).to_le_bytes());
        }
        for representation in &self.semantics.representations {
            representation.hash(&mut hash);
        }
        format!("{:032x}", hash.digest128())
    }
}

impl<T> Task<T> {
    /// The side that may be learned from.
    pub fn training(&self) -> Training<'_, T> {
        Training {
            features: self.train.features.as_ref(),
            labels: &self.train.labels,
            classes: self.known.len(),
            semantics: self.semantics.known_vectors(),
            views: &self.views,
            total: None,
        }
    }

    /// Fails where known classes are candidates and none of their instances is tested.
    ///
    /// # Errors
    /// [`Error::Split`].
    pub fn require_test_of(&self, candidates: Candidates) -> Result<()> {
        if candidates == Candidates::Unseen || self.test_seen.is_some() {
            return Ok(());
        }
        Err(Error::Split { split: self.split.clone(), problem: SplitProblem::NoSeenTest })
    }

    /// Fails when a class of that side has no instance.
    ///
    /// # Errors
    /// [`Error::EmptyClass`].
    pub fn require_instances(&self, side: Side) -> Result<()> {
        let (role, names, labels) = match side {
            Side::Known => (Role::Known, &self.known, &self.train.labels),
            Side::Unseen => (Role::Unseen, &self.unseen, &self.test.labels),
        };
        let mut counts = vec![0_usize; names.len()];
        labels.iter().for_each(|&label| counts[label] += 1);
        match counts.iter().position(|&count| count == 0) {
            Some(empty) => {
                Err(Error::EmptyClass { role, class: names[empty].clone(), split: self.split.clone() })
            }
            None => Ok(()),
        }
    }
}

/// The labels of some instances as indices into `classes`.
///
/// # Errors
/// [`Error::ForeignInstance`] for an instance of another class.
pub(crate) fn labels_among(dataset: &Dataset, instances: &[usize], classes: &[usize]) -> Result<Vec<usize>> {
    let mut index_of: Vec<Option<usize>> = vec![None; dataset.classes.len()];
    classes.iter().enumerate().for_each(|(index, &class)| index_of[class] = Some(index));
    let label = |&instance: &usize| {
        let class = dataset.labels[instance];
        index_of[class]
            .ok_or_else(|| Error::ForeignInstance { instance, class: dataset.classes[class].clone() })
    };
    instances.iter().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::Synthetic;

    #[test]
    fn an_instance_of_a_foreign_class_is_an_error_and_never_another_class() {
        let dataset = Synthetic::preset("small").expect("a preset").generate(0).expect("a dataset");
        let mut trial = dataset.trials(None).expect("a split")[0].clone();
        assert_eq!(labels_among(&dataset, &trial.train[..1], &trial.known).expect("known"), [0]);
        trial.test.push(trial.train[0]);
        let error =
            Task::new(&dataset, &trial, &Choice::default(), &bidilel_math::Silent).expect_err("it is known");
        assert!(
            matches!(error, Error::ForeignInstance { instance, .. } if instance == trial.train[0]),
            "{error}"
        );
    }
}
