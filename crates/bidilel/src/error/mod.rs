//! What can go wrong between a dataset and a recognition.

mod classes;
mod expected;
mod files;
mod problems;

use bidilel_math::Observer;

pub use classes::ClassProblem;
pub use expected::Expected;
pub use files::{EncoderProblem, FileProblem, ModelProblem};
pub use problems::{Part, Role, SemanticProblem, SplitProblem};

use crate::settings::{MethodName, Range, setting};

/// A task that cannot be learned from, a setting that makes no sense, or a failed computation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name that the dataset does not have.
    #[error("the dataset has no {what}{}{}", quoted(.name.as_deref()), available_list(.available))]
    NotInDataset {
        /// Kind of thing.
        what: Part,
        /// The name that was asked for; none where any would have done.
        name: Option<String>,
        /// The names that exist.
        available: Vec<String>,
    },
    /// A method that does not exist.
    #[error("there is no method `{name}`{}", available_list(.available))]
    NoSuchMethod {
        /// The name that was asked for.
        name: String,
        /// The names that exist.
        available: Vec<String>,
    },
    /// A name that is given twice.
    #[error("{what} `{name}` is given twice")]
    Duplicate {
        /// Kind of thing.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A trial that a family of splits does not have.
    #[error("split `{split}` has no trial {found}: it has {count}, numbered from 0")]
    NoSuchTrial {
        /// The family.
        split: String,
        /// The number that was asked for.
        found: String,
        /// How many there are.
        count: usize,
    },
    /// A feature that is NaN or infinite.
    #[error("{origin}: row {row}, column {column} is {value}")]
    NotFinite {
        /// File or array.
        origin: String,
        /// Row (instance or class), from 0.
        row: usize,
        /// Column (dimension), from 0.
        column: usize,
        /// `NaN`, `inf` or `-inf`.
        value: f64,
    },
    /// A feature that is finite, but overflows `f32`.
    #[error("{origin}: row {row}, column {column} is {value:e}, beyond the range of float32 (3.4e38)")]
    OutOfRange {
        /// File or array.
        origin: String,
        /// Row (instance), from 0.
        row: usize,
        /// Column (dimension), from 0.
        column: usize,
        /// The number as it is stored.
        value: f64,
    },
    /// A histogram, as the chi-squared kernel takes them, with a negative entry.
    #[error(
        "view `{view}`: feature {column} of instance {instance} is {value}, but chi2 compares histograms, which are never negative"
    )]
    Negative {
        /// The view.
        view: String,
        /// Instance, from 0, among those that were compared.
        instance: usize,
        /// Feature, from 0.
        column: usize,
        /// The value.
        value: f64,
    },
    /// Two things that must have the same size do not.
    #[error("{origin}: expected {expected} {what}, found {found}")]
    Mismatch {
        /// File or array.
        origin: String,
        /// What is counted.
        what: &'static str,
        /// The count that fits the rest.
        expected: usize,
        /// The count that is there.
        found: usize,
    },
    /// A label that names no class.
    #[error(
        "label {label} of instance {instance} is not a class: there are {classes} classes, numbered from 0"
    )]
    LabelOutOfRange {
        /// The label.
        label: usize,
        /// Its instance, from 0.
        instance: usize,
        /// How many classes there are.
        classes: usize,
    },
    /// An instance whose class is none of those that it is divided among.
    #[error("instance {instance} is of class `{class}`, which is not on its side of the split")]
    ForeignInstance {
        /// The instance, from 0.
        instance: usize,
        /// Its class.
        class: String,
    },
    /// A class that has no instance to learn from or to test on.
    #[error("{role} class `{class}` has no instances in split `{split}`")]
    EmptyClass {
        /// Its role in the split.
        role: Role,
        /// Its name.
        class: String,
        /// The split.
        split: String,
    },
    /// A split that cannot be used.
    #[error("split `{split}`: {problem}")]
    Split {
        /// The split.
        split: String,
        /// What is wrong with it.
        problem: SplitProblem,
    },
    /// A setting outside its range.
    #[error("{} must be {expected}, found {found}", dashed(.setting))]
    Setting {
        /// The setting, by its name in [`crate::settings::TABLE`] where it is one of these.
        setting: &'static str,
        /// What it must be.
        expected: Expected,
        /// The value.
        found: String,
    },
    /// Weights of representations that are not shares of one.
    #[error("{} must be {}, found {}", .setting.replace('_', " "), Range::Weights, weighed(.names, .weights))]
    Weights {
        /// The setting: `view_weights` or `semantic_weights`.
        setting: &'static str,
        /// The representations, where they are known.
        names: Vec<String>,
        /// Their weights.
        weights: Vec<f64>,
    },
    /// Settings that do not exist, or values that they cannot have.
    #[error("the settings: {cause}")]
    Unreadable {
        /// What was found and what was expected. It is part of the message, and so no source.
        cause: serde_json::Error,
    },
    /// A setting that is to be varied over no values.
    #[error("the settings: `{setting}` has no value to try")]
    NothingToTry {
        /// The setting.
        setting: String,
    },
    /// A value that a setting that is to be varied cannot have.
    #[error("the settings: `{setting}`: {cause}")]
    Axis {
        /// The setting.
        setting: String,
        /// Why not.
        cause: Box<Error>,
    },
    /// Kernels between all training instances that take more memory than they may.
    #[error(
        "kernel-memory must be at least {needed:.1} GiB for n-space with {instances} training instances, found {memory:.1} GiB"
    )]
    KernelMemory {
        /// What they take, in GiB.
        needed: f64,
        /// What they may take, in GiB.
        memory: f64,
        /// Training instances.
        instances: usize,
    },
    /// Approximate neighbors while settings are chosen.
    #[error(
        "search must be exact while settings are chosen, whose folds share exact neighbors, found approximate"
    )]
    ApproximateFolds,
    /// The failure of another setting, which this one shares.
    #[error("{text}")]
    Shared {
        /// What the other failed with.
        text: String,
    },
    /// A record of finished evaluations that cannot be kept.
    #[error("the journal cannot be written")]
    Journal {
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// A semantic representation that is no set of distances or vectors.
    #[error("{origin}: {problem}")]
    Semantic {
        /// File or array.
        origin: String,
        /// What is wrong with it.
        problem: SemanticProblem,
    },
    /// A model file that cannot be used.
    #[error("not a usable model: {problem}")]
    Model {
        /// What is wrong with it.
        problem: ModelProblem,
    },
    /// Classes of a model that cannot be changed.
    #[error("{problem}")]
    Classes {
        /// Why not.
        problem: ClassProblem,
    },
    /// An encoder file that cannot be used.
    #[error("not a usable encoder: {problem}")]
    Encoder {
        /// What is wrong with it.
        problem: EncoderProblem,
    },
    /// Local descriptors that cannot be read.
    #[error("the descriptors cannot be read")]
    Descriptors {
        /// Why not.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Temporary feature rows that cannot be read back.
    #[error("the feature rows cannot be read back")]
    FeatureRows {
        /// Why not.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A picture or video without local descriptors.
    #[error("{origin} has no descriptors")]
    NoDescriptors {
        /// Its file, or its position in an array.
        origin: String,
    },
    /// A codebook that cannot be learned from the descriptors.
    #[error("codebook failed")]
    Codebook {
        /// Why not.
        #[source]
        source: bidilel_math::Error,
    },
    /// A neighborhood graph without edges.
    #[error("no two neighbors share a class, so the neighborhood graph has no edge")]
    NoEdges,
    /// A refiner that moves embeddings, after a method that has none.
    #[error("{refiner} moves the embeddings of classes in a latent space, and this method has none")]
    NoLatentPoints {
        /// The refiner.
        refiner: &'static str,
    },
    /// A latent space of a method that has none.
    #[error("method `{method}` has no latent space")]
    NoLatentSpace {
        /// The method.
        method: MethodName,
    },
    /// A method that needs its test instances, where they are not there yet.
    #[error("method `{method}` is transductive: it learns from the test instances, and a model has none")]
    Transductive {
        /// The method.
        method: MethodName,
    },
    /// Refiners for which a generalized model has no bias.
    #[error("the bias of known classes was chosen for other refiners, or for other settings of them")]
    Uncalibrated,
    /// Views that a search has not loaded.
    #[error("`visual` is {asked}, but {loaded} is what was loaded: views are not varied")]
    OtherViews {
        /// The views of a setting.
        asked: String,
        /// The views that the search has.
        loaded: String,
    },
    /// The observer cancelled.
    #[error("cancelled")]
    Cancelled,
    /// A failed computation.
    #[error("{stage} failed")]
    Math {
        /// The stage.
        stage: &'static str,
        /// What failed in it.
        #[source]
        source: bidilel_math::Error,
    },
}

impl Error {
    /// What can be done about the data, where there is something to say. What settings can do about a failure is for
    /// the program to say, which knows what they are called there.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotFinite { .. } => {
                Some("remove the instance, or repair the file that it came from".to_owned())
            }
            Self::NotInDataset { what: Part::Split, available, .. } if available.is_empty() => Some(
                "name the unseen classes: in a `[split.NAME]` table of dataset.toml, or in `unseen.txt` beside folders of \
                 classes, where classes that are only described are unseen by themselves"
                    .to_owned(),
            ),
            Self::NotInDataset { what: Part::Split, name: Some(name), available }
                if name == "standard" && available.iter().any(|other| other == "proposed-classes") =>
            {
                Some(
                    "the literature's standard split of this benchmark is not known here; `proposed-classes` \
                     is class-wise, too, but divides the classes otherwise"
                        .to_owned(),
                )
            }
            Self::LabelOutOfRange { label, classes, .. } if label == classes => {
                Some("labels count from 0; if the file counts from 1, write `one_based = true`".to_owned())
            }
            Self::OutOfRange { .. } => Some(
                "features are read as float32: divide all of them by a constant, or remove the instance".to_owned(),
            ),
            Self::EmptyClass { role: Role::Known, .. } => Some(
                "list it under `unseen` if it is to be recognized without examples; otherwise give it instances, or \
                 remove it from the class list"
                    .to_owned(),
            ),
            Self::EmptyClass { .. } => Some(
                "without instances there is nothing to score: it can be learned and predicted all the same".to_owned(),
            ),
            _ => None,
        }
    }

    /// Fails where the observer has cancelled.
    pub(crate) fn unless_cancelled(watch: &dyn Observer) -> Result<()> {
        if watch.poll().is_break() { Err(Self::Cancelled) } else { Ok(()) }
    }

    /// Wraps a failed computation with the stage that it failed in; one that was canceled has not failed.
    pub(crate) fn in_stage(stage: &'static str) -> impl Fn(bidilel_math::Error) -> Self {
        move |source| match source {
            bidilel_math::Error::Cancelled => Self::Cancelled,
            source => Self::Math { stage, source },
        }
    }
}

/// A setting of the table as it is typed; other names as they are.
fn dashed(name: &str) -> String {
    if setting(name).is_some() { name.replace('_', "-") } else { name.to_owned() }
}

/// `cnn=0.5, motion=0.6`
fn weighed(names: &[String], weights: &[f64]) -> String {
    let one = |(index, weight): (usize, &f64)| match names.get(index) {
        Some(name) => format!("{name}={weight}"),
        None => weight.to_string(),
    };
    weights.iter().enumerate().map(one).collect::<Vec<_>>().join(", ")
}

fn quoted(name: Option<&str>) -> String {
    name.map_or(String::new(), |name| format!(" `{name}`"))
}

fn available_list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => {
            format!(": it has {}", names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Result of the domain crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
