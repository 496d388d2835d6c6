//! Every setting, written once.
//!
//! A row is a field of [`Settings`], a key of settings files and grids, an option of the program, and a range that is
//! checked. Adding a setting adds a row here, and the line in which its owner reads it; see `from_settings` of any
//! learner. The order is that of files and of help.

use serde::{Deserialize, Serialize};

use super::row::Default::{Is, Words};
use super::row::{Setting, Tune, Value};
use super::views::one_or_several;
use super::{
    BalancedShares, BottomUpName, ExemDistance, InitName, KernelName, MethodName, Owner, PostName, Proximity,
    Range, SyncLoss, TopDownName,
};
use crate::bottom_up::{Neighborhood, Regularizer, Search, Weights};
use crate::error::Result;
use crate::method::SseVariant;
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
    BottomUpName::CcaLda,
]);
const RIDGE: Owner = Owner::BottomUp(&[BottomUpName::Lda, BottomUpName::Cca, BottomUpName::CcaLda]);
const LSM: Owner = Owner::TopDown(&[TopDownName::Lsm, TopDownName::LsmSvr, TopDownName::LsmKrr]);
const KRR: Owner = Owner::TopDown(&[TopDownName::Krr, TopDownName::LsmKrr]);
const PROPAGATION: Owner = Owner::Refiner(PostName::Propagation);
const BALANCED: Owner = Owner::Refiner(PostName::Balanced);
const EMBEDDERS: Owner = Owner::TopDown(&[
    TopDownName::Lsm,
    TopDownName::Svr,
    TopDownName::LsmSvr,
    TopDownName::Krr,
    TopDownName::LsmKrr,
]);
const SVR: Owner = Owner::TopDown(&[TopDownName::Svr, TopDownName::LsmSvr]);
/// Values of a regularizer that are tried unless others are given.
const DECADES: &[f64] = &[0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0];
const ESZSL: Owner = Owner::Compared(&[MethodName::Eszsl]);
const MR: Owner = Owner::Compared(&[MethodName::Mr]);
const UDA: Owner = Owner::Compared(&[MethodName::Uda]);
const TMV_HLP: Owner = Owner::Compared(&[MethodName::TmvHlp]);
/// Ridges of simplex codes that are tried unless others are given.
const CODE_RIDGES: &[f64] = &[0.001, 0.01, 0.1];
const SSE: Owner = Owner::Compared(&[MethodName::Sse]);
const JLSE: Owner = Owner::Compared(&[MethodName::Jlse]);
const KDICA: Owner = Owner::Compared(&[MethodName::Kdica]);
const SYNC: Owner = Owner::Compared(&[MethodName::Sync, MethodName::Exem]);
const EXEM: Owner = Owner::Compared(&[MethodName::Exem, MethodName::ExemNearest]);
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
    generalized: bool,
    "Known and unseen classes compete, calibrated on held-out known classes (generalized zero-shot recognition)" {}
    method: MethodName, "The zero-shot method; best is bidilel with settings that did well on several datasets" {
        owner: Owner::Method,
        value_name: "NAME",
        default: Is("bidilel"),
    }
    logistic_ridge: f64, "Ridge of the logistic regression of dap, iap, conse, kdica and hat" {
        owner: Owner::Compared(&[MethodName::Dap, MethodName::Iap, MethodName::Conse, MethodName::Kdica, MethodName::Hat]),
        value_name: "X",
        default: Is("1"),
        range: Range::Positive,
        tune: Tune::Varied("Ridges of the logistic regression of dap, iap, conse, kdica and hat"),
        grid: &[0.1, 1.0, 10.0],
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
    eszsl_center: bool, "Center the descriptions in eszsl by the mean over the known classes" {
        owner: ESZSL,
        late: true,
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
    mr_ridge: f64, "Ridge of mr" {
        owner: MR,
        value_name: "X",
        default: Is("1"),
        range: Range::Positive,
        tune: Tune::Varied("Ridges of mr"),
        grid: &[0.1, 1.0, 10.0],
    }
    mr_manifold: f64, "Weight of the smoothness over neighbors in mr" {
        owner: MR,
        value_name: "X",
        default: Is("0.1"),
        range: Range::NotNegative,
        tune: Tune::Varied("Weights of the smoothness over neighbors in mr"),
        grid: &[0.01, 0.1, 1.0],
    }
    mr_neighbors: usize, "Neighbors of an instance in the graph of mr" {
        owner: MR,
        when: |settings| settings.mr_manifold != Some(0.0),
        value_name: "N",
        default: Is("10"),
        range: Range::AtLeast(1),
        tune: Tune::Varied("Neighbors of an instance in the graph of mr"),
    }
    mr_self_training: usize, "Test instances that a prototype of mr is trained with; 0 for none" {
        owner: MR,
        value_name: "N",
        default: Is("20"),
        tune: Tune::Varied("Test instances that a prototype of mr is trained with"),
    }
    uda_ridge: f64, "Ridge of the known dictionary of uda" {
        owner: UDA,
        value_name: "X",
        default: Is("10"),
        range: Range::Positive,
        tune: Tune::Varied("Ridges of the known dictionary of uda"),
    }
    uda_sparsity: f64, "Weight of the sparsity of codes in uda" {
        owner: UDA,
        value_name: "X",
        default: Is("0.001"),
        range: Range::NotNegative,
        tune: Tune::Varied("Weights of the sparsity of codes in uda"),
    }
    uda_dictionary: f64, "Weight of the known dictionary in uda" {
        owner: UDA,
        value_name: "X",
        default: Is("10"),
        range: Range::Positive,
        tune: Tune::Varied("Weights of the known dictionary in uda"),
        grid: &[1.0, 10.0, 100.0],
    }
    uda_prototypes: f64, "Weight of the prototypes in uda" {
        owner: UDA,
        value_name: "X",
        default: Is("0.1"),
        range: Range::Positive,
        tune: Tune::Varied("Weights of the prototypes in uda"),
        grid: &[0.01, 0.1, 1.0],
    }
    uda_rounds: usize, "How often codes and dictionary alternate in uda" {
        owner: UDA,
        value_name: "N",
        default: Is("5"),
        range: Range::AtLeast(1),
        tune: Tune::Varied("How often codes and dictionary alternate in uda"),
    }
    tmv_ridge: f64, "Ridge of the correlation analysis of tmv-hlp, relative to the mean eigenvalue" {
        owner: TMV_HLP,
        value_name: "X",
        default: Is("0.1"),
        range: Range::Positive,
        tune: Tune::Varied("Ridges of the correlation analysis of tmv-hlp"),
        grid: &[0.03, 0.1, 0.3],
    }
    tmv_power: f64, "Power of the correlations as weights of dimensions in tmv-hlp" {
        owner: TMV_HLP,
        value_name: "X",
        default: Is("4"),
        range: Range::NotNegative,
        tune: Tune::Varied("Powers of the correlations in tmv-hlp"),
        grid: &[1.0, 4.0],
    }
    tmv_neighbors: usize, "Neighbors in a hyperedge of tmv-hlp" {
        owner: TMV_HLP,
        value_name: "N",
        default: Is("20"),
        range: Range::AtLeast(1),
        tune: Tune::Varied("Neighbors in a hyperedge of tmv-hlp"),
    }
    tmv_spread: f64, "Share of a label that spreads over the hypergraph of tmv-hlp" {
        owner: TMV_HLP,
        value_name: "X",
        default: Is("0.9"),
        range: Range::OpenShare,
        tune: Tune::Varied("Shares of a label that spread in tmv-hlp"),
    }
    tmv_self_training: usize, "Test instances that a prototype of tmv-hlp moves to; 0 for none" {
        owner: TMV_HLP,
        value_name: "N",
        default: Is("20"),
        tune: Tune::Varied("Test instances that a prototype of tmv-hlp moves to"),
    }
    sse_variant: SseVariant, "How sse compares an instance with the mean of a class; both rank classes alike" {
        owner: SSE,
        value_name: "NAME",
        default: Is("intersection"),
        tune: Tune::FixedAs("How sse compares an instance with the mean of a class [default: intersection]"),
    }
    sse_gamma: f64, "Ridge of the codes of classes in sse" {
        owner: SSE,
        value_name: "X",
        default: Is("0.01"),
        range: Range::Positive,
        tune: Tune::Varied("Ridges of the codes of classes in sse"),
        grid: CODE_RIDGES,
    }
    sse_lambda: f64, "Regularizer of the weights of features in sse" {
        owner: SSE,
        value_name: "X",
        default: Is("0.003"),
        range: Range::Positive,
        tune: Tune::Varied("Regularizers of the weights of features in sse"),
        grid: &[0.0003, 0.003, 0.03],
    }
    jlse_gamma: f64, "Ridge of the codes of classes in jlse" {
        owner: JLSE,
        value_name: "X",
        default: Is("0.01"),
        range: Range::Positive,
        tune: Tune::Varied("Ridges of the codes of classes in jlse"),
        grid: CODE_RIDGES,
    }
    jlse_atoms: usize, "Atoms of the dictionary of jlse, at most" {
        owner: JLSE,
        value_name: "N",
        default: Is("200"),
        range: Range::AtLeast(1),
        tune: Tune::Varied("Atoms of the dictionary of jlse"),
    }
    jlse_code_ridge: f64, "Ridge of the codes of instances in jlse" {
        owner: JLSE,
        value_name: "X",
        default: Is("0.1"),
        range: Range::Positive,
        tune: Tune::Varied("Ridges of the codes of instances in jlse"),
    }
    jlse_pairs: f64, "Weight of matched and unmatched pairs in jlse against the reconstruction of features" {
        owner: JLSE,
        value_name: "X",
        default: Is("0.1"),
        range: Range::Positive,
        tune: Tune::Varied("Weights of pairs in jlse against the reconstruction of features"),
    }
    jlse_lambda: f64, "Regularizer of the similarity of codes in jlse" {
        owner: JLSE,
        value_name: "X",
        default: Is("1"),
        range: Range::Positive,
        tune: Tune::Varied("Regularizers of the similarity of codes in jlse"),
        grid: &[0.1, 1.0, 10.0],
    }
    jlse_rounds: usize, "Rounds of codes, similarity and dictionary in jlse" {
        owner: JLSE,
        value_name: "N",
        default: Is("5"),
        tune: Tune::Varied("Rounds of codes, similarity and dictionary in jlse"),
    }
    jlse_structured: bool, "Match the batch of test instances with the classes as a whole in jlse (transductive)" {
        owner: JLSE,
    }
    kdica_dim: usize, "Transformed features of kdica, at most" {
        owner: KDICA,
        value_name: "N",
        default: Is("300"),
        range: Range::AtLeast(1),
        tune: Tune::Varied("Transformed features of kdica, at most"),
    }
    kdica_balance: f64, "Weight of the alignment with attributes in kdica; the variance of the features gets the rest" {
        owner: KDICA,
        value_name: "X",
        default: Is("0.5"),
        range: Range::Share,
        tune: Tune::Varied("Weights of the alignment with attributes in kdica"),
    }
    kdica_ridge: f64, "Weight of the norm of the transform in kdica against the variance between classes" {
        owner: KDICA,
        value_name: "X",
        default: Is("0.01"),
        range: Range::Positive,
        tune: Tune::Varied("Weights of the norm of the transform in kdica"),
    }
    hat_discount: f64, "Weight of the attributes of an ancestor in hat, per step" {
        owner: Owner::Compared(&[MethodName::Hat]),
        value_name: "X",
        default: Is("0.1"),
        range: Range::Share,
        tune: Tune::Varied("Weights of the attributes of an ancestor in hat, per step"),
    }
    sync_loss: SyncLoss, "Loss of sync and exem" {
        owner: SYNC,
        value_name: "NAME",
        default: Is("one-vs-other"),
        tune: Tune::Varied("Losses of sync and exem: {names}"),
    }
    sync_lambda: f64, "Regularizer of the classifiers of sync and exem" {
        owner: SYNC,
        value_name: "X",
        default: Is("10"),
        range: Range::Positive,
        tune: Tune::Varied("Regularizers of the classifiers of sync and exem"),
        grid: &[1.0, 10.0],
    }
    sync_width: f64, "Squared width of the kernel of sync and exem, relative to the mean squared distance of classes" {
        owner: SYNC,
        value_name: "X",
        default: Is("1"),
        range: Range::Positive,
        tune: Tune::Varied("Squared widths of the kernel of sync and exem, relative to the mean squared distance of classes"),
        grid: &[0.5, 2.0],
    }
    exem_dim: usize, "Principal directions of exem and exem-1nn, at most" {
        owner: EXEM,
        value_name: "N",
        default: Is("500"),
        range: Range::AtLeast(1),
        tune: Tune::Varied("Principal directions of exem and exem-1nn, at most"),
    }
    exem_gamma: f64, "Gamma of the regression of exem and exem-1nn, times the mean squared distance of classes" {
        owner: EXEM,
        value_name: "X",
        default: Is("0.3"),
        range: Range::Positive,
        tune: Tune::Varied("Gammas of the regression of exem and exem-1nn, times the mean squared distance of classes"),
        grid: &[0.1, 0.3],
    }
    exem_c: f64, "Cost of the regression of exem and exem-1nn" {
        owner: EXEM,
        value_name: "X",
        default: Is("1"),
        range: Range::Positive,
        tune: Tune::Varied("Costs of the regression of exem and exem-1nn"),
    }
    exem_nu: f64, "Nu of the regression of exem and exem-1nn" {
        owner: EXEM,
        value_name: "X",
        default: Is("0.5"),
        range: Range::PositiveShare,
        tune: Tune::Varied("Nus of the regression of exem and exem-1nn"),
    }
    exem_distance: ExemDistance, "Distance of exem-1nn" {
        owner: Owner::Compared(&[MethodName::ExemNearest]),
        value_name: "NAME",
        default: Is("standardized"),
        tune: Tune::Varied("Distances of exem-1nn: {names}"),
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
    ridge: f64, "Ridge of lda (absolute), cca and cca+lda (relative to the mean eigenvalue)" {
        owner: RIDGE,
        value_name: "X",
        default: Is("1"),
        range: Range::NotNegative,
        tune: Tune::Varied("Ridges of lda, cca and cca+lda"),
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
    starts: usize, "Times that lsm starts, first from {init}, then at random by {seed}; the least stress is kept" {
        owner: LSM,
        value_name: "N",
        default: Is("1"),
        range: Range::AtLeast(1),
        tune: Tune::Varied("Times that lsm starts; the least stress is kept"),
        late: true,
    }
    #[serde(alias = "normalize_embedding")]
    unit_embedding: bool, "Give the embeddings unit norm, as the points have" {
        owner: EMBEDDERS,
        late: true,
    }
    krr_ridge: f64, "Ridge of krr" {
        owner: KRR,
        value_name: "X",
        default: Words("of least leave-one-class-out error"),
        range: Range::Positive,
        tune: Tune::Varied("Ridges of krr"),
    }
    krr_width: f64, "Width of the kernels of krr, relative to the mean squared distance" {
        owner: KRR,
        value_name: "X",
        default: Words("of least leave-one-class-out error"),
        range: Range::Positive,
        tune: Tune::Varied("Widths of the kernels of krr"),
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
        owner: Owner::Refiners,
        value_name: "NAMES",
        default: Is("none"),
        tune: Tune::FixedAs("Corrections by the batch of test instances, comma-separated, in order"),
        late: true,
    }
    balanced_temperature: f64, "Temperature of balanced" {
        owner: BALANCED,
        value_name: "X",
        default: Is("0.05"),
        range: Range::Positive,
        tune: Tune::Varied("Temperatures of balanced"),
    }
    balanced_pull: f64, "Pull of balanced towards the embeddings" {
        owner: BALANCED,
        value_name: "X",
        default: Is("0.3"),
        range: Range::NotNegative,
        tune: Tune::Varied("Pulls of balanced towards the embeddings"),
    }
    balanced_shares: BalancedShares, "The shares of the classes that balanced aims at: equal, or as the batch shows" {
        owner: BALANCED,
        value_name: "NAME",
        when: |settings| settings.balanced_prior.is_none() && settings.holds_shares(),
        default: Is("equal"),
        excludes: Some("balanced_prior"),
        tune: Tune::Varied("The shares of the classes that balanced aims at: {names}"),
    }
    balanced_prior: Vec<String>,
    "The shares of the classes, where they are known: CLASS=SHARE, comma-separated, or a .csv or .json file of them" {
        owner: BALANCED,
        when: Settings::holds_shares,
        value_name: "SHARES",
        range: Range::Shares,
    }
    balanced_strength: f64, "How near balanced holds the shares of the classes to those: 0 free, 1 held" {
        owner: BALANCED,
        value_name: "X",
        default: Is("0.5"),
        range: Range::Share,
        tune: Tune::Varied("How near balanced holds the shares of the classes"),
    }
    balanced_rounds: usize, "The most rounds of balanced" {
        owner: BALANCED,
        value_name: "N",
        default: Is("500"),
        range: Range::AtLeast(1),
        tune: Tune::Varied("The most rounds of balanced"),
    }
    propagation_neighbors: usize, "Nearest test instances that propagation joins an instance with" {
        owner: PROPAGATION,
        value_name: "N",
        default: Is("10"),
        range: Range::AtLeast(1),
        tune: Tune::Varied("Nearest test instances that propagation joins an instance with"),
    }
    propagation_weight: f64, "Weight of these instances against the recognition before propagation" {
        owner: PROPAGATION,
        value_name: "X",
        default: Is("0.5"),
        range: Range::OpenShare,
        tune: Tune::Varied("Weights of these instances against the recognition before propagation"),
    }
    propagation_temperature: f64, "Temperature of the class shares before propagation" {
        owner: PROPAGATION,
        value_name: "X",
        default: Words("that of balanced right before it, otherwise 0.05"),
        range: Range::Positive,
        tune: Tune::Varied(
            "Temperatures of the class shares before propagation [default: that of balanced right before it, otherwise 0.05]"
        ),
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
    csls_neighbors: usize, "Neighbors on either side in csls" {
        owner: Owner::Refiner(PostName::Csls),
        value_name: "N",
        default: Is("10"),
        range: Range::AtLeast(1),
        tune: Tune::Varied("Neighbors on either side in csls"),
    }
    proximity: Proximity, "Distribution of scores in mutual-proximity" {
        owner: Owner::Refiner(PostName::MutualProximity),
        value_name: "NAME",
        default: Is("gaussian"),
        tune: Tune::Varied("Distributions of scores in mutual-proximity: {names}"),
    }
}
