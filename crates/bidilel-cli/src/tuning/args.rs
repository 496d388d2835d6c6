//! What can be typed after `bidilel tune`, and what it means.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use bidilel::settings::Settings;
use bidilel::tune::{Axis, Holdout, Plan, SHARE, Strategy, TRIALS};
use clap::{Args, ValueEnum, ValueHint};
use serde_json::{Map, Value};

use super::host::Budget;
use crate::method::{InitName, NormalizeName, PostName, read_settings};

#[derive(Debug, Args)]
pub(crate) struct TuneArgs {
    /// A dataset folder, or synthetic:small, synthetic:awa, synthetic:cub
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) dataset: String,
    /// The order in which settings are tried: the paper's two stages, all, some at random, or fewer and fewer
    #[arg(long, value_name = "NAME", default_value = "paper")]
    pub(crate) strategy: StrategyName,
    /// Settings to try from a TOML file: `alpha = [0.1, 1, 10]`, one line a setting
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) grid: Option<PathBuf>,
    /// Choose the pipeline, too: which learner, which embedder, whether to refine
    #[arg(long)]
    pub(crate) auto: bool,
    /// Times that known classes are held out [default: the split's validation classes once, else 5]
    #[arg(long, value_name = "N")]
    pub(crate) trials: Option<usize>,
    /// Share of the known classes that is held out [default: 0.2]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) holdout: Option<f64>,
    /// Settings that the random strategy tries
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub(crate) samples: usize,
    /// Stop after a time (30s, 5m, 2h) or a number of evaluations, each one setting in one trial
    #[arg(long, value_name = "BUDGET", value_parser = Budget::parse)]
    pub(crate) budget: Option<Budget>,
    /// Write every finished evaluation to a file as it happens
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) journal: Option<PathBuf>,
    /// Continue from the journal
    #[arg(long, requires = "journal")]
    pub(crate) resume: bool,
    /// Write the chosen settings to a .toml or .json file, for --settings of evaluate and fit
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    /// Draw accuracy against each setting into an SVG file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) curves: Option<PathBuf>,
    /// Write curves, tables and the chosen settings as one HTML page
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) values: Values,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StrategyName {
    Paper,
    Grid,
    Random,
    Halving,
}

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

impl TuneArgs {
    /// What to try.
    pub(crate) fn plan(&self) -> Result<Plan> {
        let mut base = self.values.base()?;
        let mut axes: Vec<Axis> = Vec::new();
        let from_file = self.grid.as_deref().map(read_grid).transpose()?.unwrap_or_default();
        // What is typed takes the place of what a file says.
        let typed = self.values.lists();
        let from_file =
            from_file.into_iter().filter(|(name, _)| typed.iter().all(|(other, _)| other != name));
        for (name, values) in from_file.chain(typed.iter().cloned()) {
            if let [one] = &values[..] {
                base = base.with(&fixed(&name, one)).map_err(|error| wrong(&name, &error))?;
            } else {
                let axis = Axis { name, values };
                axis.over(&Settings::default())?;
                axes.push(axis);
            }
        }
        let strategy = match self.strategy {
            StrategyName::Paper => Strategy::Paper,
            StrategyName::Grid => Strategy::Grid,
            StrategyName::Random => Strategy::Random { samples: self.samples },
            StrategyName::Halving => Strategy::Halving,
        };
        Ok(Plan { base, axes, strategy, auto: self.auto, seed: self.values.seed })
    }

    /// Which known classes are held out.
    pub(crate) fn held_out(&self) -> Holdout {
        let seed = self.values.seed;
        match (self.holdout, self.trials) {
            (None, None) => Holdout::Split { seed },
            (share, trials) => {
                Holdout::Random { share: share.unwrap_or(SHARE), trials: trials.unwrap_or(TRIALS), seed }
            }
        }
    }
}

impl Values {
    fn base(&self) -> Result<Settings> {
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

    fn lists(&self) -> Vec<(String, Vec<Value>)> {
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

/// Reads `name = [values]` lines; a single value is a list of one.
fn read_grid(path: &Path) -> Result<Vec<(String, Vec<Value>)>> {
    let name = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("`{name}`: cannot be read"))?;
    let table: Map<String, Value> =
        toml::from_str(&text).with_context(|| format!("`{name}`: not a grid of settings"))?;
    if table.is_empty() {
        bail!("`{name}`: the grid is empty: write lines such as alpha = [0.1, 1, 10]");
    }
    let list = |(name, value): (String, Value)| {
        let name = name.replace('-', "_");
        match value {
            // These are lists themselves: a list of lists is several of them.
            Value::Array(values) if !is_list(&name) || values.iter().any(Value::is_array) => (name, values),
            value => (name, vec![value]),
        }
    };
    Ok(table.into_iter().map(list).collect())
}

fn is_list(name: &str) -> bool {
    matches!(name, "semantic" | "semantic_weights")
}

fn fixed(name: &str, value: &Value) -> Map<String, Value> {
    let value = match (name, value) {
        ("post", Value::String(chain)) => chain.split('+').collect::<Vec<_>>().into(),
        _ => value.clone(),
    };
    Map::from_iter([(name.to_owned(), value)])
}

fn wrong(name: &str, error: &bidilel::Error) -> anyhow::Error {
    anyhow::anyhow!("`{name}`: {error}")
}
