//! The options of a method, and what they mean together.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use bidilel::bottom_up::{Neighborhood, Regularizer, Search, Weights};
use bidilel::post::Post;
use bidilel::settings::{self, Settings};
use bidilel::task::Normalize;
use bidilel::top_down::Optimizer;
use bidilel::visual::Method;
use bidilel_math::Observer;
use clap::{Args, ValueEnum, ValueHint};

use crate::failure::usage;
use crate::{input, ranges};

/// Everything about a method that can be typed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Method")]
pub(crate) struct MethodArgs {
    /// Take the settings that are not typed from a file, as `tune --out` writes it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) settings: Option<PathBuf>,
    /// The split: a name, NAME:TRIAL, or a family's name for all its trials [default: the dataset's first]
    #[arg(long, value_name = "SPLIT", help_heading = "Data")]
    pub(crate) split: Option<String>,
    /// Visual representations, comma-separated, fused by kernels; NAME=WEIGHT weighs them [default: the dataset's first]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Data")]
    pub(crate) visual: Vec<String>,
    /// Weights of the visual representations, comma-separated, summing to 1 [default: all the same]
    #[arg(
        long,
        value_name = "XS",
        value_delimiter = ',',
        allow_negative_numbers = true,
        help_heading = "Data"
    )]
    pub(crate) view_weights: Option<Vec<f64>>,
    /// Semantic representations, comma-separated, fused by distance; NAME=WEIGHT weighs them [default: the dataset's first]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Data")]
    pub(crate) semantic: Vec<String>,
    /// Weight of the second of two semantic representations; the first gets 1 - gamma [default: 0.5]
    #[arg(
        long,
        value_name = "X",
        allow_negative_numbers = true,
        conflicts_with = "semantic_weights",
        help_heading = "Data"
    )]
    pub(crate) gamma: Option<f64>,
    /// Weights of the semantic representations, comma-separated, summing to 1
    #[arg(
        long,
        value_name = "XS",
        value_delimiter = ',',
        allow_negative_numbers = true,
        help_heading = "Data"
    )]
    pub(crate) semantic_weights: Option<Vec<f64>>,
    /// What is done to every visual row first [default: l2]
    #[arg(long, value_name = "HOW", help_heading = "Data")]
    pub(crate) normalize: Option<NormalizeName>,

    /// How the latent space is learned [default: slpp]
    #[arg(long, value_name = "NAME")]
    pub(crate) bottom_up: Option<BottomUpName>,
    /// Weight of the regulariser of slpp and lpp [default: 10]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) alpha: Option<f64>,
    /// Latent dimensions [default: 100 or as many as there are; lda: known classes - 1]
    #[arg(long, value_name = "N")]
    pub(crate) dim: Option<usize>,
    /// Neighbours of an instance in the graph of slpp and lpp [default: 10]
    #[arg(long, value_name = "N")]
    pub(crate) neighbors: Option<usize>,
    /// How these neighbours are looked for: approximate is for more than about 200,000 instances [default: exact]
    #[arg(long, value_name = "NAME")]
    pub(crate) search: Option<SearchName>,
    /// Weights of the graph's edges: the paper's exp(-d/2), heat scaled to the data, or 1 [default: exp]
    #[arg(long, value_name = "NAME")]
    pub(crate) weights: Option<WeightsName>,
    /// Where slpp looks for neighbours: everywhere (the paper) or within the class [default: global]
    #[arg(long, value_name = "NAME")]
    pub(crate) neighborhood: Option<NeighborhoodName>,
    /// Regulariser of slpp and lpp: alpha I, or that of the kernel form [default: identity]
    #[arg(long, value_name = "NAME")]
    pub(crate) regularizer: Option<RegularizerName>,
    /// Centre the features before slpp and lpp
    #[arg(long)]
    pub(crate) center: bool,
    /// Ridge of lda (absolute) and cca (relative to the mean eigenvalue) [default: 1]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) ridge: Option<f64>,

    /// How the unseen classes are placed in the latent space [default: lsm]
    #[arg(long, value_name = "NAME")]
    pub(crate) top_down: Option<TopDownName>,
    /// Optimiser of lsm [default: lbfgs]
    #[arg(long, value_name = "NAME")]
    pub(crate) optimizer: Option<OptimizerName>,
    /// Where lsm starts; random takes --seed [default: weighted-mean]
    #[arg(long, value_name = "NAME")]
    pub(crate) init: Option<InitName>,
    /// Give the embeddings of lsm unit length, as landmarks have
    #[arg(long)]
    pub(crate) normalize_embedding: bool,
    /// Kernel of svr [default: rbf]
    #[arg(long, value_name = "NAME")]
    pub(crate) svr_kernel: Option<KernelName>,
    /// Gamma of the rbf kernel [default: 1 / mean squared distance]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) svr_gamma: Option<f64>,
    /// Cost of svr [default: 10]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) svr_c: Option<f64>,
    /// Half the width of the tube of svr [default: 0.01]
    #[arg(long, value_name = "X", allow_negative_numbers = true, conflicts_with = "svr_nu")]
    pub(crate) svr_epsilon: Option<f64>,
    /// Use the nu form of svr, with this nu
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) svr_nu: Option<f64>,

    /// Corrections by the batch of test instances, comma-separated, in order [default: none]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) post: Option<Vec<PostName>>,
    /// Instances that self-training takes for a class [default: 100]
    #[arg(long, value_name = "N")]
    pub(crate) self_training_neighbors: Option<usize>,
    /// How often self-training is done [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) self_training_rounds: Option<usize>,

    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Run")]
    pub(crate) seed: u64,
    // Last, because its heading is that of everything after it.
    #[command(flatten)]
    pub(crate) kernels: KernelArgs,
}

/// Kernels of visual representations, for `evaluate`, `fit` and `select`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Kernels")]
pub(crate) struct KernelArgs {
    /// Kernel of the views: linear, rbf, chi2 (histograms), with a gamma as rbf:0.5; NAME=KERNEL for one view
    /// [default: linear, gamma from the median distance]
    #[arg(long, value_name = "KERNELS", value_delimiter = ',')]
    pub(crate) kernel: Vec<String>,
    /// How kernels are solved for: over dimensions, training instances, or a sample of these [default: by cost]
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel_method: Option<KernelMethodName>,
    /// Training instances in the sample of the Nyström approximation [default: 2000]
    #[arg(long, value_name = "N")]
    pub(crate) nystrom_rank: Option<usize>,
    /// GiB that kernels between all training instances may take; above it a sample is used [default: 4]
    #[arg(long, value_name = "GIB", allow_negative_numbers = true)]
    pub(crate) kernel_memory: Option<f64>,
}

/// Names as they are typed, each with what it means to the library.
macro_rules! names {
    ($($name:ident for $meaning:ty { $($(#[$value:meta])* $variant:ident),+ $(,)? })+) => {
        $(#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
        pub(crate) enum $name { $($(#[$value])* $variant),+ }

        impl From<$name> for $meaning {
            fn from(name: $name) -> Self {
                match name { $($name::$variant => Self::$variant),+ }
            }
        })+
    };
}

names! {
    NormalizeName for Normalize { L2, None }
    BottomUpName for settings::BottomUpName { Slpp, Lpp, Pca, Lda, Cca, None }
    SearchName for Search { Exact, Approximate }
    WeightsName for Weights { Exp, Heat, Binary }
    NeighborhoodName for Neighborhood { Global, WithinClass }
    RegularizerName for Regularizer { Identity, Kernel }
    TopDownName for settings::TopDownName { Lsm, Svr, #[value(name = "lsm+svr")] LsmSvr }
    OptimizerName for Optimizer { Lbfgs, Descent, Smacof }
    InitName for settings::InitName { WeightedMean, Random }
    KernelName for settings::KernelName { Rbf, Linear }
    KernelMethodName for Method { Primal, NSpace, Nystrom }
    PostName for settings::PostName { None, SelfTraining, Structured }
}

impl MethodArgs {
    /// What was typed, over what the settings file says.
    pub(crate) fn resolve(&self) -> Result<Settings> {
        let typed = self.typed()?;
        ranges::check(&typed)?;
        match &self.settings {
            None => Ok(typed),
            Some(path) => {
                let file = read_settings(path)?;
                Ok(file.with(&typed.entries())?)
            }
        }
    }

    fn typed(&self) -> Result<Settings> {
        let flag = |set: bool| set.then_some(true);
        let (visual, view_weights) = weighed(&self.visual, self.view_weights.as_deref(), "view-weights")?;
        let (semantic, semantic_weights) =
            weighed(&self.semantic, self.semantic_weights.as_deref(), "semantic-weights")?;
        if self.gamma.is_some() && semantic_weights.is_some() {
            return Err(usage(BOTH_WEIGHTS));
        }
        Ok(Settings {
            visual,
            view_weights,
            kernel: (!self.kernels.kernel.is_empty()).then(|| self.kernels.kernel.clone()),
            kernel_method: self.kernels.kernel_method.map(Into::into),
            nystrom_rank: self.kernels.nystrom_rank,
            kernel_memory: self.kernels.kernel_memory,
            semantic,
            gamma: self.gamma,
            semantic_weights,
            normalize: self.normalize.map(Into::into),
            method: None,
            eszsl_gamma: None,
            eszsl_lambda: None,
            bottom_up: self.bottom_up.map(Into::into),
            alpha: self.alpha,
            dim: self.dim,
            neighbors: self.neighbors,
            search: self.search.map(Into::into),
            weights: self.weights.map(Into::into),
            neighborhood: self.neighborhood.map(Into::into),
            regularizer: self.regularizer.map(Into::into),
            center: flag(self.center),
            ridge: self.ridge,
            top_down: self.top_down.map(Into::into),
            optimizer: self.optimizer.map(Into::into),
            init: self.init.map(Into::into),
            normalize_embedding: flag(self.normalize_embedding),
            svr_kernel: self.svr_kernel.map(Into::into),
            svr_gamma: self.svr_gamma,
            svr_c: self.svr_c,
            svr_epsilon: self.svr_epsilon,
            svr_nu: self.svr_nu,
            post: self.post.as_ref().map(|names| names.iter().map(|&name| name.into()).collect()),
            self_training_neighbors: self.self_training_neighbors,
            self_training_rounds: self.self_training_rounds,
        })
    }

    /// Tells of options that were typed but have no say in the method that was chosen.
    pub(crate) fn note_unused(&self, settings: &Settings, watch: &dyn Observer) {
        let used = settings.effective().entries();
        // What cannot be read has failed before.
        let Ok(typed) = self.typed() else { return };
        for name in typed.entries().keys().filter(|name| !used.contains_key(*name)) {
            let option = name.replace('_', "-");
            watch.note(&format!("--{option} has no effect with the method that was chosen"));
        }
    }
}

/// What is wrong where both are given.
pub(crate) const BOTH_WEIGHTS: &str =
    "--gamma and weights of semantic representations exclude each other: give one of them";

/// Names and weights, where they are given.
type Weighed = (Option<Vec<String>>, Option<Vec<f64>>);

/// Names with the weights that stand after `=` in them, or those of the option for weights.
pub(crate) fn weighed(items: &[String], weights: Option<&[f64]>, option: &str) -> Result<Weighed> {
    let split = |item: &String| match item.rsplit_once('=') {
        Some((name, weight)) => match weight.parse::<f64>() {
            Ok(weight) => (name.to_owned(), Some(weight)),
            Err(_) => (item.clone(), None),
        },
        None => (item.clone(), None),
    };
    let (names, inline): (Vec<String>, Vec<Option<f64>>) = items.iter().map(split).unzip();
    let names = (!names.is_empty()).then_some(names);
    match (inline.iter().flatten().count(), weights) {
        (0, weights) => Ok((names, weights.map(<[f64]>::to_vec))),
        (_, Some(_)) => {
            Err(usage(format!("weights stand after the names and in --{option}: give them once")))
        }
        (some, None) if some < inline.len() => Err(usage(format!(
            "of {} representations {some} have a weight: give all of them one, as in a=0.5,b=0.5",
            inline.len()
        ))),
        (_, None) => Ok((names, Some(inline.into_iter().flatten().collect()))),
    }
}

/// Reads settings from a TOML file, or a JSON one by its ending.
pub(crate) fn read_settings(path: &Path) -> Result<Settings> {
    let table = input::table_of_settings(path, "a settings file")?;
    Settings::default().with(&table).with_context(|| format!("`{}`: not a settings file", path.display()))
}

/// The refiners of a list of names.
pub(crate) fn refiners(names: &[PostName], neighbors: Option<usize>, rounds: Option<usize>) -> Vec<Post> {
    let post = Some(names.iter().map(|&name| name.into()).collect());
    let settings = Settings {
        post,
        self_training_neighbors: neighbors,
        self_training_rounds: rounds,
        ..Settings::default()
    };
    settings.post()
}
