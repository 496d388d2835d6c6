//! Zero-shot visual recognition by bidirectional latent embedding.
//!
//! An image is recognized as one of several classes without labeled examples, by a description of each: attributes, or
//! the word vectors of its name. The modules are the pipeline:
//!
//! 1. [`dataset`] → [`task`]: what was read, then what was chosen and checked.
//! 2. [`visual`], [`bottom_up`]: a latent space learned from the labeled features of the known classes, in one or
//!    several representations.
//! 3. [`landmarks`]: the known classes' embeddings in it.
//! 4. [`semantic`], [`top_down`]: the unseen classes are embedded among the landmarks so that latent
//!    distances follow semantic ones.
//! 5. [`recognize`], [`post`]: nearest class, then refiners over the whole batch of test instances.
//! 6. [`metrics`]: how good the recognition is.
//!
//! Sets of local descriptors become one feature row per instance by [`encode`].
//!
//! [`pipeline`] is these steps in one function, [`method`] any zero-shot method, [`model`] what is stored of a fit;
//! [`settings`] are all settings by name, which [`tune`] chooses on known classes only. This crate reads no foreign format,
//! prints nothing, reads no clock, and takes all randomness from explicit seeds.
//!
//! A module uses only modules before it: [`dataset`], [`split`], [`visual`], [`semantic`], [`task`], [`latent_space`],
//! [`landmarks`], [`bottom_up`], [`top_down`], [`recognize`], [`post`], [`metrics`], [`pipeline`], [`method`], [`calibrate`],
//! [`model`], [`evaluate()`], [`tune`], [`compare`], [`reproduce`]. The exception is [`settings`], whose table has the names and types of all learners, while each
//! learner builds itself from the settings that it owns.
//!
//! ```
//! use bidilel::{Experiment, Model, Settings, Silent, Synthetic, evaluate};
//!
//! let dataset = Synthetic::preset("small").expect("a preset").generate(0)?;
//! let settings = Settings { dim: Some(20), ..Settings::default() };
//! let model = Model::fit(&dataset, &settings, None, 0, &Silent)?;
//! std::fs::write(std::env::temp_dir().join("animals.model"), model.to_bytes()?).expect("a file");
//!
//! let evaluated = evaluate(dataset, &Experiment { settings, ..Experiment::default() }, &Silent)?;
//! let accuracy = evaluated.runs[0].accuracy().per_class;
//! assert!(accuracy > 2.0 / model.unseen.len() as f64, "twice chance at least");
//! # Ok::<(), bidilel::Error>(())
//! ```
//!
//! # References
//! Q. Wang and K. Chen, *Zero-shot visual recognition via bidirectional latent embedding*, 2017.

pub mod bottom_up;
pub mod calibrate;
pub mod compare;
pub mod dataset;
pub mod encode;
pub mod error;
pub mod evaluate;
pub mod explain;
pub mod landmarks;
pub mod latent_space;
pub mod living;
pub mod method;
pub mod metrics;
pub mod model;
pub mod networks;
pub mod pipeline;
pub mod post;
pub mod recognize;
#[doc(hidden)]
pub mod reference;
pub mod reproduce;
pub mod semantic;
pub mod settings;
pub mod split;
mod stored;
pub mod synthetic;
pub mod tags;
pub mod task;
mod tensors;
pub mod top_down;
pub mod tune;
pub mod visual;
mod zero_shot;

pub use bidilel_math::{Observer, Silent};
pub use faer::{Mat, MatRef};

pub use bottom_up::{
    BottomUp, Cca, CcaLda, LandmarkSpace, LatentSpaceLearner, Lda, Locality, Lpp, Pca, Slpp,
};
pub use dataset::{Dataset, DatasetBuilder, Metric, Rows, SplitKind};
pub use encode::Encoder;
pub use error::{Error, Result};
pub use evaluate::{Evaluated, Experiment, evaluate};
pub use landmarks::Landmarks;
pub use latent_space::{LatentSpace, Map};
pub use living::NewClass;
pub use method::{AnyFitted, Eszsl, FittedMethod, Method, ZeroShotMethod};
pub use metrics::Accuracy;
pub use model::{Model, Prediction};
pub use networks::Networks;
pub use pipeline::{Fitted, Pipeline};
pub use post::{
    Balanced, Batch, Csls, GlobalCorrection, MutualProximity, Nrm, Post, Prior, Propagation, Refiner,
    ScoreRefiner, SelfTraining, Structured,
};
pub use recognize::{Recognition, Scores};
pub use semantic::{ClassSemantics, Representation, SemanticDistances};
pub use settings::Settings;
pub use split::{RandomSplits, SplitChoice, Trial};
pub use synthetic::Synthetic;
pub use task::{Candidates, Choice, Normalize, Prepared, Task};
pub use top_down::{ClassEmbedder, Embedding, Krr, Lsm, LsmKrr, LsmSvr, Svr, TopDown};
pub use visual::{Fusion, Kernel, KernelForm, ViewChoice, Views};

/// The Rust examples of documents outside this crate, compiled and run with the others.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/guide.md")]
    struct Guide;
}
