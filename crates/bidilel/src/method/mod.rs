//! Zero-shot methods: anything that learns from a [`Task`] and then scores candidate classes.
//!
//! The paper's method, [`Pipeline`], is one of them; a compared method is another, with or without a latent space. A
//! method implements [`ZeroShotMethod`], what it learns implements [`FittedMethod`] (and `Stored`, to live in a model
//! file), and a line in the table at the end of this file makes it a variant of [`Method`]: after that it can be
//! evaluated, tuned, saved and used for prediction.
//!
//! ```
//! use bidilel::{Candidates, Choice, FittedMethod, Silent, Synthetic, Task, ZeroShotMethod, method::Eszsl};
//!
//! let dataset = Synthetic::preset("small").expect("a preset").generate(0)?;
//! let task = Task::new(&dataset, &dataset.trials(None)?[0], &Choice::default(), &Silent)?;
//! let fitted = Eszsl::default().fit(&task, &Silent)?;
//! let scores = fitted.score(task.test.prepared(), Candidates::Unseen)?;
//! assert_eq!(scores.classes(), task.unseen.len());
//! # Ok::<(), bidilel::Error>(())
//! ```

mod conse;
mod dap;
mod eszsl;
mod iap;
mod linear;
mod probabilities;
mod report;
mod rr;
mod rr_reverse;
mod sae;
mod semantic_map;

use std::fmt;

use safetensors::tensor::SafeTensors;
use serde::{Deserialize, Serialize};

use bidilel_math::Observer;

pub use conse::{Conse, ConvexCombination};
pub use dap::{AttributeClassifiers, Dap};
pub use eszsl::{Compatibility, Eszsl};
pub use iap::{Iap, IndirectAttributes};
pub use report::MethodReport;
pub use rr::Rr;
pub use rr_reverse::{RrReverse, VisualPrototypes};
pub use sae::Sae;
pub use semantic_map::SemanticMap;

use crate::error::{Error, Result};
use crate::model::Header;
use crate::pipeline::{Fitted, Pipeline};
use crate::post::{Post, refined};
use crate::recognize::{Candidates, Recognition, Scores};
use crate::semantic::ClassSemantics;
use crate::settings::{Settings, named};
use crate::task::{Prepared, Task};
use crate::tensors::Tensor;

/// Learns to score classes, some of which have no labeled instance.
///
/// Features are `f32`; the type parameter exists so that tests can follow a reference in `f64`.
pub trait ZeroShotMethod<T = f32> {
    /// What is learned.
    type Fitted: FittedMethod<T>;

    /// Learns from the labeled instances of the known classes and the descriptions of all classes.
    fn fit(&self, task: &Task<T>, watch: &dyn Observer) -> Result<Self::Fitted>;

    /// The same settings, with everything that was left open as it turned out in a fit.
    #[must_use]
    fn resolved(&self, _task: &Task<T>, _fitted: &Self::Fitted) -> Self
    where
        Self: Clone,
    {
        self.clone()
    }
}

/// Scores candidate classes for instances.
pub trait FittedMethod<T = f32> {
    /// Scores of all candidates, with the points behind them where the method has a latent space.
    fn recognize(&self, instances: Prepared<'_, T>, candidates: Candidates) -> Result<Recognition>;

    /// Scores of all candidates.
    fn score(&self, instances: Prepared<'_, T>, candidates: Candidates) -> Result<Scores> {
        Ok(self.recognize(instances, candidates)?.scores)
    }
}

/// Arrays of a fitted method in a model file.
pub(crate) trait Stored: Sized {
    /// The arrays to write.
    fn tensors(&self) -> Vec<Tensor<'_>>;

    /// The fitted method of a file, whose header and class descriptions have been read.
    fn read(file: &SafeTensors<'_>, header: &Header, semantics: &ClassSemantics) -> Result<Self>;
}

/// Declares the methods by name, each with its settings and with what it learns.
macro_rules! methods {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $settings:ty => $fitted:ty;)+) => {
        /// Names of the methods, as they are typed and written.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub enum MethodName {
            #[default]
            $($(#[$doc])* #[serde(rename = $name)] $variant),+
        }

        named! { MethodName: $($name)|+; }

        impl fmt::Display for MethodName {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$variant => $name),+ })
            }
        }

        /// Any of the methods, with its settings.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "name")]
        pub enum Method { $($(#[$doc])* #[serde(rename = $name)] $variant($settings),)+ }

        /// What any of the methods learns.
        #[derive(Debug, Clone, PartialEq)]
        pub enum AnyFitted { $($(#[$doc])* $variant($fitted),)+ }

        impl Method {
            /// The method that settings ask for, with `seed` for what is random.
            pub fn from_settings(settings: &Settings, seed: u64) -> Self {
                match settings.method.unwrap_or_default() {
                    $(MethodName::$variant => Self::$variant(<$settings>::from_settings(settings, seed)),)+
                }
            }

            /// Its name, as it is typed.
            pub fn name(&self) -> MethodName {
                match self { $(Self::$variant(_) => MethodName::$variant,)+ }
            }
        }

        $(impl From<$settings> for Method {
            fn from(settings: $settings) -> Self {
                Self::$variant(settings)
            }
        })+

        impl ZeroShotMethod for Method {
            type Fitted = AnyFitted;

            fn fit(&self, task: &Task, watch: &dyn Observer) -> Result<AnyFitted> {
                let fitted = match self {
                    $(Self::$variant(method) => ZeroShotMethod::fit(method, task, watch).map(AnyFitted::$variant),)+
                };
                // A stage that was cut short may have failed, or returned what it had.
                Error::unless_cancelled(watch)?;
                fitted
            }

            fn resolved(&self, task: &Task, fitted: &AnyFitted) -> Self {
                match (self, fitted) {
                    $((Self::$variant(method), AnyFitted::$variant(fitted)) => {
                        Self::$variant(method.resolved(task, fitted))
                    })+
                    _ => self.clone(),
                }
            }
        }

        impl FittedMethod for AnyFitted {
            fn recognize(&self, instances: Prepared<'_>, candidates: Candidates) -> Result<Recognition> {
                match self { $(Self::$variant(fitted) => fitted.recognize(instances, candidates),)+ }
            }
        }

        impl AnyFitted {
            pub(crate) fn tensors(&self) -> Vec<Tensor<'_>> {
                match self { $(Self::$variant(fitted) => fitted.tensors(),)+ }
            }

            /// Reads what the method of the header has learned.
            pub(crate) fn read(
                file: &SafeTensors<'_>,
                header: &Header,
                semantics: &ClassSemantics,
            ) -> Result<Self> {
                Ok(match &header.method {
                    $(Method::$variant(_) => Self::$variant(Stored::read(file, header, semantics)?),)+
                })
            }
        }
    };
}

methods! {
    /// The paper's: bidirectional latent embedding.
    Bidilel = "bidilel", Pipeline => Fitted;
    /// Direct attribute prediction (2009).
    Dap = "dap", Dap => AttributeClassifiers;
    /// Indirect attribute prediction (2009).
    Iap = "iap", Iap => IndirectAttributes;
    /// Convex combination of semantic embeddings (2013).
    Conse = "conse", Conse => ConvexCombination;
    /// Embarrassingly simple zero-shot learning (2015).
    Eszsl = "eszsl", Eszsl => Compatibility;
    /// Semantic autoencoder (2017).
    Sae = "sae", Sae => SemanticMap;
    /// Ridge regression to descriptions (2015).
    Rr = "rr", Rr => SemanticMap;
    /// Ridge regression to features (2015).
    RrReverse = "rr-reverse", RrReverse => VisualPrototypes;
}

impl Method {
    /// Its refiners, in order.
    pub fn post(&self) -> &[Post] {
        if let Self::Bidilel(pipeline) = self { &pipeline.post } else { &[] }
    }

    /// Recognizes a batch of instances, refiners included; `step` sees the recognition after every step, by name:
    /// `inductive`, then each refiner.
    pub fn recognize(
        &self,
        fitted: &AnyFitted,
        instances: Prepared<'_>,
        candidates: Candidates,
        step: impl FnMut(&str, &Recognition),
    ) -> Result<Recognition> {
        refined(fitted.recognize(instances, candidates)?, self.post(), step)
    }
}

impl From<Fitted> for AnyFitted {
    fn from(fitted: Fitted) -> Self {
        Self::Bidilel(fitted)
    }
}

impl AnyFitted {
    /// The latent space with the classes in it, for methods that have one.
    pub fn latent(&self) -> Option<&Fitted> {
        if let Self::Bidilel(fitted) = self { Some(fitted) } else { None }
    }
}
