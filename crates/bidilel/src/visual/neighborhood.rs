//! Where neighbors are searched for, and how.

use serde::{Deserialize, Serialize};

/// Among which instances neighbors are searched for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Neighborhood {
    /// All training instances; edges between classes are then dropped. The paper's way.
    #[default]
    Global,
    /// The instance's own class.
    WithinClass,
}

/// How neighbors among all training instances are searched for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Search {
    /// All pairs are compared ([`bidilel_math::neighbors::exact`]).
    #[default]
    Exact,
    /// Nearly all neighbors, for very many instances ([`bidilel_math::neighbors::approximate`]).
    Approximate,
}

impl Search {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(crate) fn is_exact(&self) -> bool {
        *self == Self::Exact
    }
}
