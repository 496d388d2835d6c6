//! Which classes an instance may be recognized as.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// The classes that compete for an instance.
///
/// All classes of a task have one order: the known ones, then the unseen ones. Labels and rows of
/// [`Scores`](crate::Scores) count within the candidates; [`Self::range`] says where they are among all classes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Candidates {
    /// The classes that have labeled instances.
    Known,
    /// The classes that have only a description: conventional zero-shot recognition.
    #[default]
    Unseen,
    /// Both: generalized zero-shot recognition.
    All,
}

impl Candidates {
    /// The candidates among all classes, of which the first `known` are known.
    pub fn range(self, known: usize, unseen: usize) -> Range<usize> {
        match self {
            Self::Known => 0..known,
            Self::Unseen => known..known + unseen,
            Self::All => 0..known + unseen,
        }
    }
}
