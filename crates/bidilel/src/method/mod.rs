//! Zero-shot methods: anything that learns from a [`Task`] and then scores candidate classes.
//!
//! The paper's method, [`Pipeline`], is one of them; a compared method is another, with or without a latent space. A
//! method implements [`ZeroShotMethod`], what it learns implements [`FittedMethod`] (and `Stored`, to be kept in a model
//! file, which `never_stored!` refuses for transductive ones), and a line in the table at the end of this file makes it a variant of [`Method`]: after that it can be
//! evaluated, tuned, saved and used for prediction.
//!
//! ```
//! use bidilel::{Candidates, Choice, Eszsl, FittedMethod, Silent, Synthetic, Task, ZeroShotMethod};
//!
//! let dataset = Synthetic::preset("small").expect("a preset").generate(0)?;
//! let task = Task::new(&dataset, &dataset.trials(None)?[0], &Choice::default(), &Silent)?;
//! let fitted = Eszsl::default().fit(&task, &Silent)?;
//! let scores = fitted.score(task.test.prepared(), Candidates::Unseen)?;
//! assert_eq!(scores.classes(), task.unseen.len());
//! # Ok::<(), bidilel::Error>(())
//! ```

mod ale;
pub(crate) mod compatibility;
mod conse;
mod cosine;
mod dap;
mod devise;
mod eszsl;
mod exem;
mod exem_nearest;
mod exemplars;
mod hat;
mod hyperedges;
mod iap;
mod jlse;
mod joint;
mod kdica;
mod latem;
mod linear;
mod mr;
mod probabilities;
mod refined;
mod report;
mod rr;
mod rr_reverse;
mod sae;
mod semantic_map;
mod similarity;
mod sje;
mod sse;
mod sync;
mod tmv_hlp;
mod transductive;
mod uda;

use std::fmt;

use safetensors::tensor::SafeTensors;
use serde::{Deserialize, Serialize};

use bidilel_math::Observer;

pub use ale::Ale;
pub use compatibility::Rankings;
pub use conse::{Conse, ConvexCombination};
pub use cosine::{Cosine, SharedSpace};
pub use dap::{AttributeClassifiers, Dap};
pub use devise::Devise;
pub use eszsl::{Compatibility, Eszsl};
pub use exem::Exem;
pub use exem_nearest::{ExemNearest, VisualExemplars};
pub use exemplars::ExemplarRegression;
pub use hat::{Hat, HierarchicalAttributes};
pub use iap::{Iap, IndirectAttributes};
pub use jlse::{Jlse, LatentSimilarity};
pub use kdica::Kdica;
pub use latem::Latem;
pub use mr::{ManifoldRegression, Mr};
pub use refined::Refined;
pub use report::MethodReport;
pub use rr::Rr;
pub use rr_reverse::{RrReverse, VisualPrototypes};
pub use sae::Sae;
pub use semantic_map::SemanticMap;
pub use sje::Sje;
pub use sse::{MixturePatterns, Sse, SseVariant};
pub use sync::{SynC, SynthesizedClassifiers};
pub use tmv_hlp::{SemanticViews, TmvHlp};
pub use uda::{KnownDictionary, Uda};

use crate::error::{Error, Result};
use crate::pipeline::{Fitted, Pipeline};
use crate::post::{Batch, Post, refined};
use crate::recognize::{Candidates, Recognition};
use crate::semantic::ClassSemantics;
use crate::settings::{Owner, Setting, Settings, TABLE, named};
use crate::stored::{Change, Recorded, Stored};
use crate::task::{Prepared, Task};
use crate::tensors::Tensor;
pub use crate::zero_shot::{FittedMethod, ZeroShotMethod};

/// Whether a method needs the whole batch of test instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The score of an instance does not depend on the others.
    Inductive,
    /// It does.
    Transductive,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Inductive => "inductive",
            Self::Transductive => "transductive",
        })
    }
}

/// What is known about a method without running it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodInfo {
    /// Its name.
    pub name: MethodName,
    /// The year of its paper.
    pub year: u16,
    /// Inductive or transductive, without refiners.
    pub kind: Kind,
    /// Its paper.
    pub reference: &'static str,
}

impl MethodInfo {
    /// The settings that matter to it, with its learners and refiners as they are by default.
    pub fn settings(&self) -> impl Iterator<Item = &'static Setting> {
        let own = Settings { method: Some(self.name), ..Settings::default() };
        TABLE.iter().filter(move |row| !matches!(row.owner, Owner::Data | Owner::Method) && row.matters(&own))
    }
}

/// Declares the methods by name, each with its year, kind and reference, with its settings, with what
/// holds them and its refiners, and with what it learns.
macro_rules! methods {
    ($($(#[$doc:meta])* $variant:ident = $name:literal ($year:literal, $kind:ident, $reference:literal), $settings:ty as $held:ty => $fitted:ty;)+) => {
        /// Names of the methods, as they are typed and written.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub enum MethodName {
            #[default]
            $($(#[$doc])* #[serde(rename = $name)] $variant),+
        }

        named! { MethodName: $($name)|+; }

        /// All methods, in the order in which they are listed.
        pub static METHODS: &[MethodInfo] = &[$(MethodInfo {
            name: MethodName::$variant,
            year: $year,
            kind: Kind::$kind,
            reference: $reference,
        }),+];

        impl fmt::Display for MethodName {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$variant => $name),+ })
            }
        }

        /// Any of the methods, with its settings.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "name")]
        pub enum Method { $($(#[$doc])* #[serde(rename = $name)] $variant($held),)+ }

        /// What any of the methods learns.
        #[derive(Debug, Clone, PartialEq)]
        pub enum AnyFitted { $($(#[$doc])* $variant($fitted),)+ }

        impl Method {
            /// The method that settings ask for, with `seed` for what is random.
            pub fn from_settings(settings: &Settings, seed: u64) -> Self {
                let mut method: Self = match settings.method.unwrap_or_default() {
                    $(MethodName::$variant => <$settings>::from_settings(settings, seed).into(),)+
                };
                match &mut method {
                    $(Self::$variant(held) => held.post = settings.effective().post(),)+
                }
                method
            }

            /// Its refiners, in order.
            pub fn post(&self) -> &[Post] {
                match self { $(Self::$variant(held) => &held.post,)+ }
            }

            /// Its name, as it is typed.
            pub fn name(&self) -> MethodName {
                match self { $(Self::$variant(_) => MethodName::$variant,)+ }
            }
        }

        $(impl From<$settings> for Method {
            fn from(settings: $settings) -> Self {
                Self::$variant(settings.into())
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

            /// What it is for other classes, everything that was learned being fixed; `None` where only another fit can tell.
            pub(crate) fn changed(&self, change: &Change<'_>) -> Result<Option<Self>> {
                Ok(match self { $(Self::$variant(fitted) => fitted.changed(change)?.map(Self::$variant),)+ })
            }

            /// Reads what a method has learned.
            pub(crate) fn read(
                method: &Method,
                file: &SafeTensors<'_>,
                recorded: &Recorded<'_>,
                semantics: &ClassSemantics,
            ) -> Result<Self> {
                Ok(match method {
                    $(Method::$variant(_) => Self::$variant(Stored::read(file, recorded, semantics)?),)+
                })
            }
        }
    };
}

methods! {
    /// The paper's: bidirectional latent embedding.
    Bidilel = "bidilel" (2017, Inductive, "Q. Wang and K. Chen, Zero-shot visual recognition via bidirectional latent embedding"),
        Pipeline as Pipeline => Fitted;
    /// Direct attribute prediction.
    Dap = "dap" (2009, Inductive, "C. Lampert, H. Nickisch and S. Harmeling, Learning to detect unseen object classes by between-class attribute transfer"),
        Dap as Refined<Dap> => AttributeClassifiers;
    /// Indirect attribute prediction.
    Iap = "iap" (2009, Inductive, "C. Lampert, H. Nickisch and S. Harmeling, Learning to detect unseen object classes by between-class attribute transfer"),
        Iap as Refined<Iap> => IndirectAttributes;
    /// Attribute label embedding.
    Ale = "ale" (2013, Inductive, "Z. Akata, F. Perronnin, Z. Harchaoui and C. Schmid, Label-embedding for attribute-based classification"),
        Ale as Refined<Ale> => Rankings;
    /// Convex combination of semantic embeddings.
    Conse = "conse" (2013, Inductive, "M. Norouzi et al., Zero-shot learning by convex combination of semantic embeddings"),
        Conse as Refined<Conse> => ConvexCombination;
    /// Deep visual-semantic embedding.
    Devise = "devise" (2013, Inductive, "A. Frome et al., DeViSE: a deep visual-semantic embedding model"),
        Devise as Refined<Devise> => Rankings;
    /// Embarrassingly simple zero-shot learning.
    Eszsl = "eszsl" (2015, Inductive, "B. Romera-Paredes and P. Torr, An embarrassingly simple approach to zero-shot learning"),
        Eszsl as Refined<Eszsl> => Compatibility;
    /// Hierarchical attribute transfer.
    Hat = "hat" (2015, Inductive, "Z. Al-Halah and R. Stiefelhagen, How to transfer? Zero-shot object recognition via hierarchical transfer of semantic attributes"),
        Hat as Refined<Hat> => HierarchicalAttributes;
    /// Ridge regression to descriptions.
    Rr = "rr" (2015, Inductive, "X. Xu, T. Hospedales and S. Gong, Semantic embedding space for zero-shot action recognition"),
        Rr as Refined<Rr> => SemanticMap;
    /// Ridge regression to features.
    RrReverse = "rr-reverse" (2015, Inductive, "Y. Shigeto et al., Ridge regression, hubness, and zero-shot learning"),
        RrReverse as Refined<RrReverse> => VisualPrototypes;
    /// Structured joint embedding.
    Sje = "sje" (2015, Inductive, "Z. Akata, S. Reed, D. Walter, H. Lee and B. Schiele, Evaluation of output embeddings for fine-grained image classification"),
        Sje as Refined<Sje> => Rankings;
    /// Semantic similarity embedding.
    Sse = "sse" (2015, Inductive, "Z. Zhang and V. Saligrama, Zero-shot learning via semantic similarity embedding"),
        Sse as Refined<Sse> => MixturePatterns;
    /// Joint latent similarity embedding.
    Jlse = "jlse" (2016, Inductive, "Z. Zhang and V. Saligrama, Zero-shot learning via joint latent similarity embedding"),
        Jlse as Refined<Jlse> => LatentSimilarity;
    /// Domain-invariant components, then direct attribute prediction.
    Kdica = "kdica" (2016, Inductive, "C. Gan, T. Yang and B. Gong, Learning attributes equals multi-source domain generalization"),
        Kdica as Refined<Kdica> => AttributeClassifiers;
    /// Latent embeddings.
    Latem = "latem" (2016, Inductive, "Y. Xian et al., Latent embeddings for zero-shot classification"),
        Latem as Refined<Latem> => Rankings;
    /// Synthesized classifiers.
    Sync = "sync" (2016, Inductive, "S. Changpinyo et al., Synthesized classifiers for zero-shot learning"),
        SynC as Refined<SynC> => SynthesizedClassifiers;
    /// Predicted exemplars with synthesized classifiers.
    Exem = "exem" (2017, Inductive, "S. Changpinyo, W.-L. Chao and F. Sha, Predicting visual exemplars of unseen classes for zero-shot learning"),
        Exem as Refined<Exem> => SynthesizedClassifiers;
    /// The nearest predicted exemplar.
    ExemNearest = "exem-1nn" (2017, Inductive, "S. Changpinyo, W.-L. Chao and F. Sha, Predicting visual exemplars of unseen classes for zero-shot learning"),
        ExemNearest as Refined<ExemNearest> => VisualExemplars;
    /// Semantic autoencoder.
    Sae = "sae" (2017, Inductive, "E. Kodirov, T. Xiang and S. Gong, Semantic autoencoder for zero-shot learning"),
        Sae as Refined<Sae> => SemanticMap;
    /// Cosine similarity, where pictures and descriptions share a space.
    Cosine = "cosine" (2021, Inductive, "A. Radford et al., Learning transferable visual models from natural language supervision"),
        Cosine as Refined<Cosine> => SharedSpace;
    /// Manifold regression, self-training and normalized similarities.
    Mr = "mr" (2015, Transductive, "X. Xu, T. Hospedales and S. Gong, Semantic embedding space for zero-shot action recognition"),
        Mr as Refined<Mr> => ManifoldRegression;
    /// Transductive multi-view hypergraph label propagation.
    TmvHlp = "tmv-hlp" (2015, Transductive, "Y. Fu, T. Hospedales, T. Xiang and S. Gong, Transductive multi-view zero-shot learning"),
        TmvHlp as Refined<TmvHlp> => SemanticViews;
    /// Unsupervised domain adaptation of a dictionary.
    Uda = "uda" (2015, Transductive, "E. Kodirov, T. Xiang, Z. Fu and S. Gong, Unsupervised domain adaptation for zero-shot learning"),
        Uda as Refined<Uda> => KnownDictionary;
}

impl Method {
    /// Whether it needs the whole batch of test instances, without its refiners.
    pub fn kind(&self) -> Kind {
        if let Self::Jlse(jlse) = self
            && jlse.method.jlse_structured
        {
            return Kind::Transductive;
        }
        let name = self.name();
        METHODS.iter().find(|info| info.name == name).map_or(Kind::Inductive, |info| info.kind)
    }

    /// Fails where what it learns is of no use for other instances than those of its task.
    ///
    /// # Errors
    /// [`Error::Transductive`].
    pub fn require_inductive(&self) -> Result<()> {
        match self.kind() {
            Kind::Inductive => Ok(()),
            Kind::Transductive => Err(Error::Transductive { method: self.name() }),
        }
    }

    /// Recognizes a batch of instances, refiners included; `step` gets the recognition after each step, by name:
    /// the kind of the method, then each refiner.
    pub fn recognize(
        &self,
        fitted: &AnyFitted,
        instances: Prepared<'_>,
        candidates: Candidates,
        batch: &Batch<'_>,
        step: impl FnMut(&str, &Recognition),
    ) -> Result<Recognition> {
        refined(&self.kind().to_string(), fitted.recognize(instances, candidates)?, self.post(), batch, step)
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
