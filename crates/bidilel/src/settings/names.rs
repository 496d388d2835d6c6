//! Names of the implementations of every role, as they are typed and written.
//!
//! [`Named`] is how the rest of the workspace learns which names there are: programs list and complete them,
//! messages quote them.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A value that is one of a few names.
pub trait Named: Copy + Serialize + DeserializeOwned + 'static {
    /// All names, in the order in which they are listed.
    const NAMES: &'static [&'static str];

    /// The value of a name.
    fn parse(name: &str) -> Option<Self> {
        serde_json::from_value(Value::from(name)).ok()
    }
}

/// The names of an enum whose serde form is written elsewhere; a test compares the two.
macro_rules! named {
    ($($type:ty: $($name:literal)|+;)+) => {
        $(impl $crate::settings::Named for $type {
            const NAMES: &'static [&'static str] = &[$($name),+];
        })+
    };
}
pub(crate) use named;

macro_rules! names {
    ($($(#[$doc:meta])* $type:ident { $first:ident = $first_name:literal $(, $variant:ident = $name:literal)* $(,)? })+) => {
        $($(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[expect(missing_docs, reason = "each variant is the name of what it stands for")]
        pub enum $type {
            #[default]
            #[serde(rename = $first_name)]
            $first,
            $(#[serde(rename = $name)] $variant),*
        }

        named! { $type: $first_name $(| $name)*; })+
    };
}

// The first of each is the default.
names! {
    /// Names of the bottom-up learners.
    BottomUpName {
        Slpp = "slpp", Lpp = "lpp", Pca = "pca", Lda = "lda", Cca = "cca", CcaLda = "cca+lda",
        Sje = "sje", Latem = "latem", None = "none",
    }
    /// Names of the top-down embedders.
    TopDownName { Lsm = "lsm", Svr = "svr", LsmSvr = "lsm+svr", Krr = "krr", LsmKrr = "lsm+krr" }
    /// Names of the refiners.
    PostName {
        None = "none", SelfTraining = "self-training", Structured = "structured", Balanced = "balanced",
        Propagation = "propagation",
        Nrm = "nrm", GlobalCorrection = "global-correction", Csls = "csls", MutualProximity = "mutual-proximity",
    }
    /// Names of the distributions of mutual proximity.
    Proximity { Gaussian = "gaussian", Empirical = "empirical" }
    /// Names of the proportions that balanced refinement aims at.
    BalancedShares { Equal = "equal", Estimated = "estimated" }
    /// Names of the initial embeddings of the landmark-based Sammon mapping.
    InitName { WeightedMean = "weighted-mean", Random = "random", Krr = "krr" }
    /// Names of the kernels of support vector regression.
    KernelName { Rbf = "rbf", Linear = "linear" }
    /// Names of the losses of synthesized classifiers.
    SyncLoss { OneVersusOther = "one-vs-other", CrammerSinger = "crammer-singer", Structured = "structured" }
    /// Names of the distances to predicted exemplars.
    ExemDistance { Standardized = "standardized", Euclidean = "euclidean" }
}

impl PostName {
    /// Whether the refiner works on scores alone, so that it can follow any method.
    pub fn needs_scores_only(self) -> bool {
        matches!(self, Self::Nrm | Self::GlobalCorrection | Self::Csls | Self::MutualProximity)
    }
}

// Declared in another crate.
named! { bidilel_math::graph::Weights: "exp" | "heat" | "binary"; }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bottom_up::{Neighborhood, Regularizer, Search, Weights};
    use crate::method::{MethodName, SseVariant};
    use crate::task::Normalize;
    use crate::top_down::Optimizer;
    use crate::visual::KernelForm;

    /// Every name reads and writes as itself, and no name is left out: serde lists those that it knows.
    fn are_those_of_serde<T: Named>() {
        for &name in T::NAMES {
            let value = T::parse(name).unwrap_or_else(|| panic!("{name} is read"));
            assert_eq!(serde_json::to_value(value).unwrap(), Value::from(name));
        }
        let unknown = serde_json::from_value::<T>(Value::from("?")).map(|_| ()).unwrap_err().to_string();
        let listed: Vec<&str> = unknown.split('`').skip(3).step_by(2).collect();
        assert_eq!(listed, T::NAMES, "{unknown}");
    }

    #[test]
    fn names_are_those_that_files_hold() {
        are_those_of_serde::<MethodName>();
        are_those_of_serde::<SseVariant>();
        are_those_of_serde::<BottomUpName>();
        are_those_of_serde::<TopDownName>();
        are_those_of_serde::<PostName>();
        are_those_of_serde::<Proximity>();
        are_those_of_serde::<InitName>();
        are_those_of_serde::<KernelName>();
        are_those_of_serde::<SyncLoss>();
        are_those_of_serde::<ExemDistance>();
        are_those_of_serde::<Normalize>();
        are_those_of_serde::<Neighborhood>();
        are_those_of_serde::<Regularizer>();
        are_those_of_serde::<Search>();
        are_those_of_serde::<Weights>();
        are_those_of_serde::<Optimizer>();
        are_those_of_serde::<KernelForm>();
    }
}
