//! Names of the implementations of every role, as they are typed.

use serde::{Deserialize, Serialize};

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident { $($(#[$inner:meta])* $variant:ident),+ $(,)? })+) => {
        $($(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        #[expect(missing_docs, reason = "each variant is the name of what it stands for")]
        pub enum $name { $($(#[$inner])* $variant),+ })+
    };
}

names! {
    /// Names of the bottom-up learners.
    BottomUpName { Slpp, Lpp, Pca, Lda, Cca, None }
    /// Names of the top-down embedders.
    TopDownName { Lsm, Svr, #[serde(rename = "lsm+svr")] LsmSvr }
    /// Names of the refiners.
    PostName { None, SelfTraining, Structured }
    /// Names of the places where the mapping starts.
    InitName { WeightedMean, Random }
    /// Names of the kernels of support vector regression.
    KernelName { Rbf, Linear }
}

/// Names of the methods.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MethodName {
    /// The paper's.
    #[default]
    Bidilel,
    /// Embarrassingly simple zero-shot learning.
    Eszsl,
}

impl std::fmt::Display for MethodName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Bidilel => "bidilel",
            Self::Eszsl => "eszsl",
        })
    }
}
