//! Every setting, written once.
//!
//! A row is a field of [`Settings`], a key of settings files and grids, an option of the program, and a range that is
//! checked. Adding a setting adds a row here, and the line in which its owner reads it; see `from_settings` of any
//! learner. The order is that of files and of help.

use serde::{Deserialize, Serialize};

use super::row::Default::{Is, Words};
use super::row::{Setting, Tune, Value};
use super::views::one_or_several;
use super::{BottomUpName, InitName, KernelName, MethodName, Owner, PostName, Range, TopDownName};
use crate::bottom_up::{Neighborhood, Regularizer, Search, Weights};
use crate::error::Result;
use crate::task::Normalize;
use crate::top_down::Optimizer;
use crate::visual::KernelForm;

/// Learners over a graph of neighbors.
const GRAPH: Owner = Owner::BottomUp(&[BottomUpName::Slpp, BottomUpName::Lpp]);
const SLPP: Owner = Owner::BottomUp(&[BottomUpName::Slpp]);
/// Learners that choose the number of latent dimensions.
const PROJECTING: Owner = Owner::BottomUp(&[
    BottomUpName::Slpp,
    BottomUpName::Lpp,
    BottomUpName::Pca,
    BottomUpName::Lda,
    BottomUpName::Cca,
]);
const RIDGE: Owner = Owner::BottomUp(&[BottomUpName::Lda, BottomUpName::Cca]);
const LSM: Owner = Owner::TopDown(&[TopDownName::Lsm, TopDownName::LsmSvr]);
const SVR: Owner = Owner::TopDown(&[TopDownName::Svr, TopDownName::LsmSvr]);
/// Values of a regularizer that are tried unless others are given.
const DECADES: &[f64] = &[0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0];
const ESZSL: Owner = Owner::Compared(&[MethodName::Eszsl]);
/// Methods that are trained by stochastic gradient descent, two of which are learners of latent spaces too.
const DESCENT: Owner = Owner::Shared(
    &[MethodName::Devise, MethodName::Ale, MethodName::Sje, MethodName::Latem],
    &[BottomUpName::Sje, BottomUpName::Latem],
);
const SELF_TRAINING: Owner = Owner::Refiner(PostName::SelfTraining);

macro_rules! table {
    ($($(#[$attribute:meta])* $name:ident: $type:ty, $help:literal { $($rest:tt)* })+) => {
        /// The settings that were given; the others have their defaults.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Settings {
            $(#[doc = $help]
            $(#[$attribute])*
            #[serde(skip_serializing_if = "Option::is_none")]
            pub $name: Option<$type>),+
        }

        /// The rows, in the order of the fields of [`Settings`].
        pub static TABLE: &[Setting] = &[$(Setting {
            name: stringify!($name),
            kind: <$type as Value>::KIND,
            help: $help,
            $($rest)*
            ..Setting::BASE
        }),+];

        impl Settings {
            /// The same method without the settings that make no difference to it.
            #[must_use]
            pub fn effective(&self) -> Self {
                let mut rows = TABLE.iter();
                let mut matters = || rows.next().is_some_and(|row| row.matters(self));
                Self { $($name: if matters() { self.$name.clone() } else { None }),+ }
            }

            /// Gives a setting the value that was typed; whether there is such a value.
            pub fn assign(&mut self, name: &str, texts: &[String]) -> bool {
                match name {
                    $(stringify!($name) => {
                        self.$name = Value::from_texts(texts);
                        self.$name.is_some()
                    })+
                    _ => false,
                }
            }

            /// Fails at the first number that is out of its range.
            pub(super) fn check_numbers(&self) -> Result<()> {
                let numbers = [$(self.$name.as_ref().and_then(Value::number)),+];
                TABLE.iter().zip(numbers).try_for_each(|(row, number)| number.map_or(Ok(()), |n| row.check(n)))
            }
        }
    };
}

table! {
    #[serde(deserialize_with = "one_or_several")]
    visual: Vec<String>,
    "Visual representations, comma-separated, fused by kernels; NAME=WEIGHT weighs them" {
        value_name: "NAMES",
        default: Words("the dataset's first"),
    }
    view_weights: Vec<f64>, "Weights of the visual representations, comma-separated, summing to 1" {
        value_name: "XS",
        default: Words("all the same"),
        range: Range::Weights,
        tune: Tune::Varied("Weights of the visual representations, as in 0.5:0.5,0.3:0.7"),
    }
    #[serde(deserialize_with = "one_or_several")]
    kernel: Vec<String>,
    "Kernel of the views: linear, rbf, chi2 (histograms), with a gamma as rbf:0.5; NAME=KERNEL for one view" {
        owner: Owner::Fusion,
        value_name: "KERNELS",
        default: Words("linear, gamma from the median distance"),
        range: Range::Kernels,
        tune: Tune::FixedAs(
            "Kernel of the views: linear, rbf, chi2, with a gamma as rbf:0.5; NAME=KERNEL for one view [default: linear]"
        ),
    }
    kernel_method: KernelForm,
    "How kernels are solved for: over dimensions, training instances, or a sample of these" {
        owner: Owner::Fusion,
        value_name: "NAME",
        default: Words("by cost"),
        tune: Tune::Varied("How kernels are solved for: {names} [default: by cost]"),
    }
    nystrom_rank: usize, "Training instances in the sample of the Nyström approximation" {
        owner: Owner::Fusion,
        when: |settings| settings.is_fused()
            && !matches!(settings.kernel_method, Some(KernelForm::Primal | KernelForm::NSpace)),
        value_name: "N",
        default: Is("2000"),
        range: Range::AtLeast(1),
        tune: Tune::Varied("Training instances in the sample of the Nyström approximation"),
    }
    kernel_memory: f64, "GiB that kernels between all training instances may take; above it a sample is used" {
        owner: Owner::Fusion,
        when: |settings| settings.kernel_method != Some(KernelForm::Primal),
        value_name: "GIB",
        default: Is("4"),
        range: Range::Positive,
        tune: Tune::FixedAs("GiB that kernels between all training instances may take [default: 4]"),
    }
    semantic: Vec<String>,
    "Semantic representations, comma-separated, fused by distance; NAME=WEIGHT weighs them" {
        value_name: "NAMES",
        default: Words("the dataset's first"),
    }
    gamma: f64, "Weight of the second of two semantic representations; the first gets 1 - gamma" {
        value_name: "X",
        default: Is("0.5"),
        range: Range::Share,
        excludes: Some("semantic_weights"),
        tune: Tune::Varied("Weights of the second of two semantic representations"),
        late: true,
    }
    semantic_weights: Vec<f64>, "Weights of the semantic representations, comma-separated, summing to 1" {
        value_name: "XS",
        range: Range::Weights,
    }
    normalize: Normalize, "What is done to every visual row first" {
        value_name: "HOW",
        default: Is("l2"),
    }
    method: MethodName, "The zero-shot method" {
        owner: Owner::Method,
        value_name: "NAME",
        default: Is("bidilel"),
    }
    logistic_ridge: f64, "Ridge of the logistic regression of dap, iap and conse" {
        owner: Owner::Compared(&[MethodName::Dap, MethodName::Iap, MethodName::Conse]),
        value_name: "X",
        default: Is("1"),
        range: Range::Positive,
        tune: Tune::Varied("Ridges of the logistic regression of dap, iap and conse"),
        grid: DECADES,
    }
    conse_classes: usize, "Known classes that describe an instance in conse" {
        owner: Owner::Compared(&[MethodName::Conse]),
        value_name: "N",
        default: Is("10"),
        range: Range::AtLeast(1),
        tune: Tune::Varied("Known classes that describe an instance in conse"),
    }
    eszsl_gamma: f64, "Regularizer of the features in eszsl" {
        owner: ESZSL,
        value_name: "X",
        default: Is("1"),
        range: Range::Positive,
        tune: Tune::Varied("Regularizers of the features in eszsl"),
        grid: DECADES,
    }
    eszsl_lambda: f64, "Regularizer of the descriptions in eszsl" {
        owner: ESZSL,
        value_name: "X",
        default: Is("1"),
        range: Range::Positive,
        tune: Tune::Varied("Regularizers of the descriptions in eszsl"),
        grid: DECADES,
    }
    sae_lambda: f64, "Weight of the encoder in sae" {
        owner: Owner::Compared(&[MethodName::Sae]),
        value_name: "X",
        default: Is("1"),
        range: Range::Positive,
        tune: Tune::Varied("Weights of the encoder in sae"),
        grid: DECADES,
    }
    rr_ridge: f64, "Ridge of rr and rr-reverse" {
        owner: Owner::Compared(&[MethodName::Rr, MethodName::RrReverse]),
        value_name: "X",
        default: Is("1"),
        range: Range::Positive,
        tune: Tune::Varied("Ridges of rr and rr-reverse"),
        grid: DECADES,
    }
    sgd_rate: f64, "First step of an instance in devise, ale, sje and latem, which falls to zero" {
        owner: DESCENT,
        value_name: "X",
        default: Is("0.1"),
        range: Range::Positive,
        tune: Tune::Varied("First steps of an instance in devise, ale, sje and latem"),
        grid: &[0.01, 0.1, 1.0],
    }
    sgd_epochs: usize, "Passes of devise, ale, sje and latem over the training instances" {
        owner: DESCENT,
        value_name: "N",
        default: Is("10"),
        range: Range::AtLeast(1),
        tune: Tune::Varied("Passes of devise, ale, sje and latem over the training instances"),
        grid: &[3.0, 10.0, 30.0],
    }
    latem_maps: usize, "Maps of latem, of which the best scores a class" {
        owner: Owner::Shared(&[MethodName::Latem], &[BottomUpName::Latem]),
        value_name: "N",
        default: Is("4"),
        range: Range::AtLeast(1),
        tune: Tune::Varied("Maps of latem"),
    }
    bottom_up: BottomUpName, "How the latent space is learned" {
        owner: Owner::Pipeline,
        value_name: "NAME",
        default: Is("slpp"),
        tune: Tune::Varied("Learners of the latent space: {names}"),
    }
    alpha: f64, "Weight of the regularizer of slpp and lpp" {
        owner: GRAPH,
        value_name: "X",
        default: Is("10"),
        range: Range::Positive,
        tune: Tune::Varied("Weights of the regularizer of slpp and lpp"),
    }
    dim: usize, "Latent dimensions" {
        owner: PROJECTING,
        value_name: "N",
        default: Words("100 or as many as there are; lda: known classes - 1"),
        range: Range::AtLeast(1),
        tune: Tune::Varied("Latent dimensions"),
    }
    neighbors: usize, "Neighbors of an instance in the graph of slpp and lpp" {
        owner: GRAPH,
        value_name: "N",
        default: Is("10"),
        range: Range::AtLeast(1),
        tune: Tune::Varied("Neighbors in the graph of slpp and lpp"),
    }
    search: Search,
    "How these neighbors are looked for: approximate is for more than about 200,000 instances" {
        owner: GRAPH,
        // Within classes they are always exact.
        when: |settings| settings.bottom_up.unwrap_or_default() != BottomUpName::Slpp
            || settings.neighborhood != Some(Neighborhood::WithinClass),
        value_name: "NAME",
        default: Is("exact"),
        tune: Tune::FixedAs("How these neighbors are looked for: tuning shares exact ones [default: exact]"),
    }
    weights: Weights, "Weights of the graph's edges: the paper's exp(-d/2), heat scaled to the data, or 1" {
        owner: GRAPH,
        value_name: "NAME",
        default: Is("exp"),
        tune: Tune::Varied("Weights of the graph's edges: {names}"),
    }
    neighborhood: Neighborhood, "Where slpp looks for neighbors: everywhere (the paper) or within the class" {
        owner: SLPP,
        value_name: "NAME",
        default: Is("global"),
        tune: Tune::Varied("Where slpp looks for neighbors: {names}"),
    }
    regularizer: Regularizer, "Regularizer of slpp and lpp: alpha I, or that of the kernel form" {
        owner: GRAPH,
        value_name: "NAME",
        default: Is("identity"),
        tune: Tune::Varied("Regularizers of slpp and lpp: {names}"),
    }
    center: bool, "Center the features before slpp and lpp" {
        owner: GRAPH,
        late: true,
    }
    ridge: f64, "Ridge of lda (absolute) and cca (relative to the mean eigenvalue)" {
        owner: RIDGE,
        value_name: "X",
        default: Is("1"),
        range: Range::NotNegative,
        tune: Tune::Varied("Ridges of lda and cca"),
    }
    top_down: TopDownName, "How the unseen classes are placed in the latent space" {
        owner: Owner::Pipeline,
        value_name: "NAME",
        default: Is("lsm"),
        tune: Tune::Varied("Embedders of the unseen classes: {names}"),
    }
    optimizer: Optimizer, "Optimizer of lsm" {
        owner: LSM,
        value_name: "NAME",
        default: Is("lbfgs"),
        tune: Tune::Varied("Optimizers of lsm: {names}"),
    }
    init: InitName, "Where lsm starts; random takes {seed}" {
        owner: LSM,
        value_name: "NAME",
        default: Is("weighted-mean"),
        tune: Tune::FixedAs("Where lsm starts [default: weighted-mean]"),
        late: true,
    }
    normalize_embedding: bool, "Give the embeddings of lsm unit length, as landmarks have" {
        owner: LSM,
        late: true,
    }
    svr_kernel: KernelName, "Kernel of svr" {
        owner: SVR,
        value_name: "NAME",
        default: Is("rbf"),
        tune: Tune::Varied("Kernels of svr: {names}"),
    }
    svr_gamma: f64, "Gamma of the rbf kernel" {
        owner: SVR,
        when: |settings| settings.svr_kernel != Some(KernelName::Linear),
        value_name: "X",
        default: Words("1 / mean squared distance"),
        range: Range::Positive,
        tune: Tune::Varied("Gammas of the rbf kernel"),
    }
    svr_c: f64, "Cost of svr" {
        owner: SVR,
        value_name: "X",
        default: Is("10"),
        range: Range::Positive,
        tune: Tune::Varied("Costs of svr"),
    }
    svr_epsilon: f64, "Half the width of the tube of svr" {
        owner: SVR,
        when: |settings| settings.svr_nu.is_none(),
        value_name: "X",
        default: Is("0.01"),
        range: Range::NotNegative,
        excludes: Some("svr_nu"),
        tune: Tune::Varied("Half the width of the tube of svr"),
    }
    svr_nu: f64, "Use the nu form of svr, with this nu" {
        owner: SVR,
        value_name: "X",
        range: Range::PositiveShare,
        tune: Tune::Varied("The nu form of svr, with these nus"),
    }
    post: Vec<PostName>, "Corrections by the batch of test instances, comma-separated, in order" {
        owner: Owner::Pipeline,
        value_name: "NAMES",
        default: Is("none"),
        tune: Tune::FixedAs("Corrections by the batch of test instances, comma-separated, in order"),
        late: true,
    }
    self_training_neighbors: usize, "Instances that self-training takes for a class" {
        owner: SELF_TRAINING,
        value_name: "N",
        default: Is("100"),
        range: Range::AtLeast(1),
        tune: Tune::Varied("Instances that self-training takes for a class"),
    }
    self_training_rounds: usize, "How often self-training is done" {
        owner: SELF_TRAINING,
        value_name: "N",
        default: Is("1"),
        tune: Tune::Varied("How often self-training is done"),
    }
}
