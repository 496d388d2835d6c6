//! The settings that can be typed after `bidilel tune`.

use std::path::PathBuf;

use anyhow::Result;
use bidilel::settings::Settings;
use clap::{Args, ValueHint};
use serde_json::Value;

use crate::method::{InitName, NormalizeName, PostName, read_settings};

/// Settings: one value is fixed, several (comma-separated) are tried.
#[derive(Debug, Args)]
#[command(next_help_heading = "Settings: one value is fixed, several are tried")]
pub(crate) struct Values {
    /// The split: a name, or NAME:TRIAL [default: the dataset's first]
    #[arg(long, value_name = "SPLIT", help_heading = "Data")]
    pub(crate) split: Option<String>,
    /// The visual representation [default: the dataset's first]
    #[arg(long, value_name = "NAME", help_heading = "Data")]
    visual: Option<String>,
    /// Semantic representations, comma-separated, fused by distance [default: the dataset's first]
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
        let typed = Settings {
            visual: self.visual.clone(),
            semantic: (!self.semantic.is_empty()).then(|| self.semantic.clone()),
            semantic_weights: self.semantic_weights.clone(),
            normalize: self.normalize.map(Into::into),
            center: flag(self.center),
            init: self.init.map(Into::into),
            normalize_embedding: flag(self.normalize_embedding),
            post: self.post.as_ref().map(|names| names.iter().map(|&name| name.into()).collect()),
            ..Settings::default()
        };
        match &self.settings {
            None => Ok(typed),
            Some(path) => Ok(read_settings(path)?.with(&typed.entries())?),
        }
    }

    /// What may have several values.
    pub(crate) fn lists(&self) -> Vec<(String, Vec<Value>)> {
        let lists = [
            ("gamma", &self.gamma),
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
        let value = |text: &String| serde_json::from_str(text).unwrap_or_else(|_| text.as_str().into());
        let typed = lists.into_iter().filter(|(_, values)| !values.is_empty());
        typed.map(|(name, values)| (name.to_owned(), values.iter().map(value).collect())).collect()
    }
}
