//! The settings that can be typed after `bidilel tune`.

use std::path::PathBuf;

use anyhow::Result;
use bidilel::settings::Settings;
use clap::{Args, ValueHint};
use serde_json::Value;

use crate::failure::usage;
use crate::method::{BOTH_WEIGHTS, InitName, NormalizeName, PostName, SearchName, read_settings, weighed};
use crate::ranges;

/// Settings: one value is fixed, several (comma-separated) are tried.
#[derive(Debug, Args)]
#[command(next_help_heading = "Settings: one value is fixed, several are tried")]
pub(crate) struct Values {
    /// The split: a name, or NAME:TRIAL [default: the dataset's first]
    #[arg(long, value_name = "SPLIT", help_heading = "Data")]
    pub(crate) split: Option<String>,
    /// Visual representations, comma-separated, fused by kernels; NAME=WEIGHT weighs them [default: the dataset's first]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Data")]
    visual: Vec<String>,
    /// Weights of the visual representations, as in 0.5:0.5,0.3:0.7
    #[arg(
        long,
        value_name = "XS",
        value_delimiter = ',',
        allow_negative_numbers = true,
        help_heading = "Data"
    )]
    view_weights: Vec<String>,
    /// Kernel of the views: linear, rbf, chi2, with a gamma as rbf:0.5; NAME=KERNEL for one view [default: linear]
    #[arg(long, value_name = "KERNELS", value_delimiter = ',', help_heading = "Data")]
    kernel: Vec<String>,
    /// How kernels are solved for: primal, n-space, nystrom [default: by cost]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    kernel_method: Vec<String>,
    /// Training instances in the sample of the Nyström approximation
    #[arg(long, value_name = "NS", value_delimiter = ',', allow_negative_numbers = true)]
    nystrom_rank: Vec<String>,
    /// GiB that kernels between all training instances may take [default: 4]
    #[arg(long, value_name = "GIB", allow_negative_numbers = true)]
    kernel_memory: Option<f64>,
    /// Semantic representations, comma-separated, fused by distance; NAME=WEIGHT weighs them [default: the dataset's first]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Data")]
    semantic: Vec<String>,
    /// Weights of the semantic representations, comma-separated, summing to 1
    #[arg(long, value_name = "XS", value_delimiter = ',', conflicts_with = "gamma", help_heading = "Data")]
    semantic_weights: Option<Vec<f64>>,
    /// What is done to every visual row first [default: l2]
    #[arg(long, value_name = "HOW", help_heading = "Data")]
    normalize: Option<NormalizeName>,
    /// Fix the settings of a file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    settings: Option<PathBuf>,
    /// Weights of the second of two semantic representations
    #[arg(
        long,
        value_name = "XS",
        value_delimiter = ',',
        allow_negative_numbers = true,
        help_heading = "Data"
    )]
    gamma: Vec<String>,
    /// Learners of the latent space: slpp, lpp, pca, lda, cca, none
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    bottom_up: Vec<String>,
    /// Weights of the regulariser of slpp and lpp
    #[arg(long, value_name = "XS", value_delimiter = ',', allow_negative_numbers = true)]
    alpha: Vec<String>,
    /// Latent dimensions
    #[arg(long, value_name = "NS", value_delimiter = ',', allow_negative_numbers = true)]
    dim: Vec<String>,
    /// Neighbours in the graph of slpp and lpp
    #[arg(long, value_name = "NS", value_delimiter = ',', allow_negative_numbers = true)]
    neighbors: Vec<String>,
    /// How these neighbours are looked for: tuning shares exact ones [default: exact]
    #[arg(long, value_name = "NAME")]
    search: Option<SearchName>,
    /// Weights of the graph's edges: exp, heat, binary
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    weights: Vec<String>,
    /// Where slpp looks for neighbours: global, within-class
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    neighborhood: Vec<String>,
    /// Regularisers of slpp and lpp: identity, kernel
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    regularizer: Vec<String>,
    /// Ridges of lda and cca
    #[arg(long, value_name = "XS", value_delimiter = ',', allow_negative_numbers = true)]
    ridge: Vec<String>,
    /// Embedders of the unseen classes: lsm, svr, lsm+svr
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    top_down: Vec<String>,
    /// Optimisers of lsm: lbfgs, descent, smacof
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    optimizer: Vec<String>,
    /// Kernels of svr: rbf, linear
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    svr_kernel: Vec<String>,
    /// Gammas of the rbf kernel
    #[arg(long, value_name = "XS", value_delimiter = ',', allow_negative_numbers = true)]
    svr_gamma: Vec<String>,
    /// Costs of svr
    #[arg(long, value_name = "XS", value_delimiter = ',', allow_negative_numbers = true)]
    svr_c: Vec<String>,
    /// Half the width of the tube of svr
    #[arg(long, value_name = "XS", value_delimiter = ',', allow_negative_numbers = true)]
    svr_epsilon: Vec<String>,
    /// The nu form of svr, with these nus
    #[arg(long, value_name = "XS", value_delimiter = ',', allow_negative_numbers = true)]
    svr_nu: Vec<String>,
    /// Instances that self-training takes for a class
    #[arg(long, value_name = "NS", value_delimiter = ',', allow_negative_numbers = true)]
    self_training_neighbors: Vec<String>,
    /// How often self-training is done
    #[arg(long, value_name = "NS", value_delimiter = ',', allow_negative_numbers = true)]
    self_training_rounds: Vec<String>,
    /// Centre the features before slpp and lpp
    #[arg(long)]
    center: bool,
    /// Where lsm starts [default: weighted-mean]
    #[arg(long, value_name = "NAME")]
    init: Option<InitName>,
    /// Give the embeddings of lsm unit length, as landmarks have
    #[arg(long)]
    normalize_embedding: bool,
    /// Corrections by the batch of test instances, comma-separated, in order
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    post: Option<Vec<PostName>>,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Options")]
    pub(crate) seed: u64,
}

impl Values {
    /// What is fixed, whatever else is tried.
    pub(crate) fn base(&self) -> Result<Settings> {
        let flag = |set: bool| set.then_some(true);
        let (visual, view_weights) = weighed(&self.visual, None, "view-weights")?;
        if view_weights.is_some() && !self.view_weights.is_empty() {
            return Err(usage("weights stand after the names and in --view-weights: give them once"));
        }
        let (semantic, semantic_weights) =
            weighed(&self.semantic, self.semantic_weights.as_deref(), "semantic-weights")?;
        if semantic_weights.is_some() && !self.gamma.is_empty() {
            return Err(usage(BOTH_WEIGHTS));
        }
        let typed = Settings {
            visual,
            view_weights,
            kernel: (!self.kernel.is_empty()).then(|| self.kernel.clone()),
            kernel_memory: self.kernel_memory,
            semantic,
            semantic_weights,
            normalize: self.normalize.map(Into::into),
            search: self.search.map(Into::into),
            center: flag(self.center),
            init: self.init.map(Into::into),
            normalize_embedding: flag(self.normalize_embedding),
            post: self.post.as_ref().map(|names| names.iter().map(|&name| name.into()).collect()),
            ..Settings::default()
        };
        ranges::check(&typed)?;
        match &self.settings {
            None => Ok(typed),
            Some(path) => Ok(read_settings(path)?.with(&typed.entries())?),
        }
    }

    /// What may have several values.
    pub(crate) fn lists(&self) -> Vec<(String, Vec<Value>)> {
        let lists = [
            ("gamma", &self.gamma),
            ("view_weights", &self.view_weights),
            ("kernel_method", &self.kernel_method),
            ("nystrom_rank", &self.nystrom_rank),
            ("bottom_up", &self.bottom_up),
            ("alpha", &self.alpha),
            ("dim", &self.dim),
            ("neighbors", &self.neighbors),
            ("weights", &self.weights),
            ("neighborhood", &self.neighborhood),
            ("regularizer", &self.regularizer),
            ("ridge", &self.ridge),
            ("top_down", &self.top_down),
            ("optimizer", &self.optimizer),
            ("svr_kernel", &self.svr_kernel),
            ("svr_gamma", &self.svr_gamma),
            ("svr_c", &self.svr_c),
            ("svr_epsilon", &self.svr_epsilon),
            ("svr_nu", &self.svr_nu),
            ("self_training_neighbors", &self.self_training_neighbors),
            ("self_training_rounds", &self.self_training_rounds),
        ];
        let number = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| text.into());
        // Several weights make one value.
        let value = |name: &str, text: &String| match name {
            "view_weights" => Value::Array(text.split(':').map(number).collect()),
            _ => number(text),
        };
        let typed = lists.into_iter().filter(|(_, values)| !values.is_empty());
        typed
            .map(|(name, values)| (name.to_owned(), values.iter().map(|text| value(name, text)).collect()))
            .collect()
    }
}
