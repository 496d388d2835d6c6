//! Everything that was read, before anything is chosen: classes, labels, representations, splits.
//!
//! A [`Dataset`] is plain data that `bidilel-data` fills from files and [`crate::synthetic`] from a seed.
//! It makes no choice; [`crate::task::Task`] picks a split, a visual and some semantic representations,
//! checks them once, and is then safe to learn from.

mod builder;

use std::fmt;
use std::sync::Arc;

use faer::Mat;
use serde::{Deserialize, Serialize};

pub use builder::DatasetBuilder;

use crate::error::{Error, Part, Result};
use crate::networks::Networks;

/// Feature rows that can be read one at a time: in memory, or mapped from a file.
pub trait Rows: Send + Sync {
    /// How many instances there are.
    fn count(&self) -> usize;
    /// How many features each has.
    fn dim(&self) -> usize;
    /// Copies one instance into `into`, a slice of `dim` numbers, widened or rounded to `f32`.
    fn read(&self, index: usize, into: &mut [f32]);
    /// One instance where it is stored, if it is stored in memory or in a mapped file as [`Self::read`] would copy it.
    fn stored_row(&self, _index: usize) -> Option<&[f32]> {
        None
    }
    /// The type of number that is stored, by NumPy's name.
    fn element(&self) -> &'static str {
        "float32"
    }
    /// One number as it is stored, before it is rounded to `f32`.
    fn stored(&self, index: usize, column: usize) -> f64 {
        let mut row = vec![0.0; self.dim()];
        self.read(index, &mut row);
        row[column].into()
    }
    /// How many numbers of an instance, which was read into `row`, became zero though they are not.
    fn vanished(&self, _index: usize, _row: &[f32]) -> usize {
        0
    }
    /// The names of the features, where they come from a table that has them.
    fn names(&self) -> Option<&[String]> {
        None
    }
}

/// Rows in memory, one column per instance.
impl Rows for Mat<f32> {
    fn count(&self) -> usize {
        self.ncols()
    }
    fn dim(&self) -> usize {
        self.nrows()
    }
    fn read(&self, index: usize, into: &mut [f32]) {
        into.copy_from_slice(self.col_as_slice(index));
    }
    fn stored_row(&self, index: usize) -> Option<&[f32]> {
        Some(self.col_as_slice(index))
    }
}

/// A visual representation: one feature row per instance.
#[derive(Clone)]
pub struct Visual {
    /// The name by which settings ask for it.
    pub name: String,
    /// Where it came from, for messages: a file, or a phrase.
    pub origin: String,
    /// The features.
    pub rows: Arc<dyn Rows>,
}

impl fmt::Debug for Visual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Visual({}: {} x {} from {})", self.name, self.rows.count(), self.rows.dim(), self.origin)
    }
}

/// How far apart two semantic vectors are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Euclidean distance of l2-normalized vectors.
    Euclidean,
    /// One minus the cosine similarity.
    Cosine,
    /// The matrix holds the distances themselves, classes x classes.
    Precomputed,
}

/// A semantic representation: one vector per class.
#[derive(Debug, Clone)]
pub struct Semantic {
    /// The name by which settings ask for it.
    pub name: String,
    /// Where it came from, for messages.
    pub origin: String,
    /// The distance that goes with it.
    pub metric: Metric,
    /// Dimensions x classes; classes x classes for [`Metric::Precomputed`].
    pub vectors: Mat<f64>,
    /// Names of the dimensions, where known.
    pub dimension_names: Option<Vec<String>>,
}

/// A division into known and unseen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SplitKind {
    /// Whole classes are unseen; all others are known.
    Classes {
        /// Indices of the unseen classes, ascending.
        unseen: Vec<usize>,
        /// Known classes that tuning holds out, ascending; may be empty.
        validation: Vec<usize>,
    },
    /// Several class-wise divisions under one name.
    Family {
        /// The unseen classes of every trial, ascending.
        trials: Vec<Vec<usize>>,
    },
    /// Instances are divided one by one, so that known classes are tested too.
    Instances {
        /// Instances to learn from.
        train: Vec<usize>,
        /// Test instances of known classes.
        test_seen: Vec<usize>,
        /// Test instances of unseen classes.
        test_unseen: Vec<usize>,
        /// Known classes that tuning holds out, ascending; may be empty.
        validation: Vec<usize>,
    },
}

/// A named split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// The name by which a split is asked for.
    pub name: String,
    /// Where it came from, for messages.
    pub origin: String,
    /// What it divides.
    pub kind: SplitKind,
}

/// A dataset as it was read: nothing chosen, nothing normalized.
#[derive(Debug, Clone)]
pub struct Dataset {
    /// The dataset's name.
    pub name: String,
    /// Class names; a class's index is its position here.
    pub classes: Vec<String>,
    /// One class index per instance.
    pub labels: Vec<usize>,
    /// Visual representations, in file order; the first is the default.
    pub visual: Vec<Visual>,
    /// Semantic representations, in file order; the first is the default.
    pub semantic: Vec<Semantic>,
    /// Splits, in file order; the first is the default.
    pub splits: Vec<Split>,
    /// What made the representations of pictures and texts, where that is known.
    pub networks: Networks,
}

impl Dataset {
    /// The visual representation of that name, or the first.
    ///
    /// # Errors
    /// [`Error::NotInDataset`].
    pub fn visual(&self, name: Option<&str>) -> Result<&Visual> {
        find(&self.visual, name, Part::Visual, |v| &v.name)
    }

    /// The semantic representation of that name, or the first.
    ///
    /// # Errors
    /// [`Error::NotInDataset`].
    pub fn semantic(&self, name: Option<&str>) -> Result<&Semantic> {
        find(&self.semantic, name, Part::Semantic, |s| &s.name)
    }

    /// The split of that name (without a trial number), or the first.
    ///
    /// # Errors
    /// [`Error::NotInDataset`].
    pub fn split(&self, name: Option<&str>) -> Result<&Split> {
        find(&self.splits, name, Part::Split, |s| &s.name)
    }
}

fn find<'a, T>(
    items: &'a [T],
    name: Option<&str>,
    what: Part,
    name_of: impl Fn(&T) -> &String,
) -> Result<&'a T> {
    let found = match name {
        Some(name) => items.iter().find(|item| name_of(item) == name),
        None => items.first(),
    };
    found.ok_or_else(|| Error::NotInDataset {
        what,
        name: name.map(str::to_owned),
        available: items.iter().map(|item| name_of(item).clone()).collect(),
    })
}
