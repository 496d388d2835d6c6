//! The options of a method, and what they mean together.

use anyhow::Result;
use bidilel::bottom_up::{
    BottomUp, Cca, Lda, Locality, Lpp, Neighborhood, Pca, Regularizer, Slpp, Unchanged, Weights,
};
use bidilel::dataset::Dataset;
use bidilel::pipeline::Pipeline;
use bidilel::post::{Post, SelfTraining, Structured};
use bidilel::task::{Choice, Normalize};
use bidilel::top_down::{Form, Kernel, Lsm, LsmSvr, Optimizer, Start, Svr, TopDown};
use bidilel_math::Observer;
use clap::{Args, ValueEnum};

/// Everything about a method that can be typed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Method")]
pub(crate) struct MethodArgs {
    /// The split: a name, NAME:TRIAL, or a family's name for all its trials [default: the dataset's first]
    #[arg(long, value_name = "SPLIT", help_heading = "Data")]
    pub(crate) split: Option<String>,
    /// The visual representation [default: the dataset's first]
    #[arg(long, value_name = "NAME", help_heading = "Data")]
    pub(crate) visual: Option<String>,
    /// Semantic representations, comma-separated, fused by distance [default: the dataset's first]
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
    /// What is done to every visual row first
    #[arg(long, value_name = "HOW", default_value = "l2", help_heading = "Data")]
    pub(crate) normalize: NormalizeName,

    /// How the latent space is learned
    #[arg(long, value_name = "NAME", default_value = "slpp")]
    pub(crate) bottom_up: BottomUpName,
    /// Weight of the regulariser of slpp and lpp [default: 10]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) alpha: Option<f64>,
    /// Latent dimensions [default: 100 or as many as there are; lda: known classes - 1]
    #[arg(long, value_name = "N")]
    pub(crate) dim: Option<usize>,
    /// Neighbours of an instance in the graph of slpp and lpp [default: 10]
    #[arg(long, value_name = "N")]
    pub(crate) neighbors: Option<usize>,
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

    /// How the unseen classes are placed in the latent space
    #[arg(long, value_name = "NAME", default_value = "lsm")]
    pub(crate) top_down: TopDownName,
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

    /// Corrections by the batch of test instances, comma-separated, in order
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "none")]
    pub(crate) post: Vec<PostName>,
    /// Instances that self-training takes for a class [default: 100]
    #[arg(long, value_name = "N")]
    pub(crate) self_training_neighbors: Option<usize>,
    /// How often self-training is done [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) self_training_rounds: Option<usize>,

    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Run")]
    pub(crate) seed: u64,
}

/// Names that can be typed, each for the variant of the same name.
macro_rules! names {
    ($($name:ident => $target:ident { $($variant:ident),+ })+) => {
        $(#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
        pub(crate) enum $name { $($variant),+ }

        impl From<$name> for $target {
            fn from(name: $name) -> Self {
                match name { $($name::$variant => Self::$variant),+ }
            }
        })+
    };
}

names! {
    NormalizeName => Normalize { L2, None }
    WeightsName => Weights { Exp, Heat, Binary }
    NeighborhoodName => Neighborhood { Global, WithinClass }
    RegularizerName => Regularizer { Identity, Kernel }
    OptimizerName => Optimizer { Lbfgs, Descent, Smacof }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BottomUpName {
    Slpp,
    Lpp,
    Pca,
    Lda,
    Cca,
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InitName {
    WeightedMean,
    Random,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KernelName {
    Rbf,
    Linear,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PostName {
    None,
    SelfTraining,
    Structured,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TopDownName {
    Lsm,
    Svr,
    #[value(name = "lsm+svr")]
    LsmSvr,
}

impl MethodArgs {
    /// The pipeline that the options describe, with `seed` for what is random.
    pub(crate) fn pipeline(&self, seed: u64) -> Pipeline {
        Pipeline {
            bottom_up: self.bottom_up(),
            top_down: self.top_down(seed),
            post: refiners(&self.post, self.self_training_neighbors, self.self_training_rounds),
        }
    }

    fn bottom_up(&self) -> BottomUp {
        let ridge = |default: f64| self.ridge.unwrap_or(default);
        match self.bottom_up {
            BottomUpName::Slpp => BottomUp::Slpp(Slpp {
                locality: self.locality(),
                neighborhood: self.neighborhood.map(Into::into).unwrap_or_default(),
            }),
            BottomUpName::Lpp => BottomUp::Lpp(Lpp { locality: self.locality() }),
            BottomUpName::Pca => BottomUp::Pca(Pca { dim: self.dim }),
            BottomUpName::Lda => BottomUp::Lda(Lda { dim: self.dim, ridge: ridge(Lda::default().ridge) }),
            BottomUpName::Cca => BottomUp::Cca(Cca { dim: self.dim, ridge: ridge(Cca::default().ridge) }),
            BottomUpName::None => BottomUp::None(Unchanged {}),
        }
    }

    fn locality(&self) -> Locality {
        let default = Locality::default();
        Locality {
            alpha: self.alpha.unwrap_or(default.alpha),
            dim: self.dim,
            neighbors: self.neighbors.unwrap_or(default.neighbors),
            weights: self.weights.map(Into::into).unwrap_or_default(),
            regularizer: self.regularizer.map(Into::into).unwrap_or_default(),
            center: self.center,
        }
    }

    fn top_down(&self, seed: u64) -> TopDown {
        let lsm = Lsm {
            optimizer: self.optimizer.map(Into::into).unwrap_or_default(),
            start: match self.init {
                Some(InitName::Random) => Start::Random { seed },
                Some(InitName::WeightedMean) | None => Start::WeightedMean,
            },
            normalize_embedding: self.normalize_embedding,
            ..Lsm::default()
        };
        let default = Svr::default();
        let svr = Svr {
            kernel: match self.svr_kernel {
                Some(KernelName::Linear) => Kernel::Linear,
                Some(KernelName::Rbf) | None => Kernel::Rbf { gamma: self.svr_gamma },
            },
            form: match (self.svr_nu, self.svr_epsilon) {
                (Some(nu), _) => Form::Nu { nu },
                (None, Some(epsilon)) => Form::Epsilon { epsilon },
                (None, None) => default.form,
            },
            c: self.svr_c.unwrap_or(default.c),
            ..default
        };
        match self.top_down {
            TopDownName::Lsm => TopDown::Lsm(lsm),
            TopDownName::Svr => TopDown::Svr(svr),
            TopDownName::LsmSvr => TopDown::LsmSvr(LsmSvr { lsm, svr }),
        }
    }

    /// The representations to use, by the names that the dataset has.
    pub(crate) fn choice(&self, dataset: &Dataset) -> Result<Choice> {
        let names = match &self.semantic[..] {
            [] => vec![dataset.semantic(None)?.name.clone()],
            names => names.to_vec(),
        };
        let setting = |setting, expected: &str, found: String| {
            Err(bidilel::Error::Setting { setting, expected: expected.to_owned(), found }.into())
        };
        let weights = match (&self.semantic_weights, self.gamma, names.len()) {
            (Some(weights), ..) if weights.len() == names.len() => weights.clone(),
            (Some(weights), ..) => {
                return setting(
                    "semantic-weights",
                    "one a semantic representation",
                    weights.len().to_string(),
                );
            }
            (None, Some(gamma), 2) if (0.0..=1.0).contains(&gamma) => vec![1.0 - gamma, gamma],
            (None, Some(gamma), 2) => return setting("gamma", "between 0 and 1", gamma.to_string()),
            (None, Some(_), count) => {
                return setting(
                    "gamma",
                    "used with two semantic representations",
                    format!("{count} of them"),
                );
            }
            // Without a word on it, all count the same.
            (None, None, count) => vec![1.0 / count as f64; count],
        };
        Ok(Choice {
            visual: self.visual.clone(),
            semantic: names.into_iter().zip(weights).collect(),
            normalize: self.normalize.into(),
        })
    }

    /// Whether a seed makes a difference.
    pub(crate) fn is_random(&self) -> bool {
        self.init == Some(InitName::Random) && self.top_down != TopDownName::Svr
    }

    /// Tells of options that were typed but have no say in the method that was chosen.
    pub(crate) fn note_unused(&self, watch: &dyn Observer) {
        use BottomUpName as B;
        let locality = matches!(self.bottom_up, B::Slpp | B::Lpp);
        let svr = self.top_down != TopDownName::Lsm;
        let lsm = self.top_down != TopDownName::Svr;
        let self_training = self.post.contains(&PostName::SelfTraining);
        let bottom_up = [
            ("alpha", self.alpha.is_some(), locality),
            ("neighbors", self.neighbors.is_some(), locality),
            ("weights", self.weights.is_some(), locality),
            ("regularizer", self.regularizer.is_some(), locality),
            ("center", self.center, locality),
            ("neighborhood", self.neighborhood.is_some(), self.bottom_up == B::Slpp),
            ("dim", self.dim.is_some(), self.bottom_up != B::None),
            ("ridge", self.ridge.is_some(), matches!(self.bottom_up, B::Lda | B::Cca)),
        ];
        let top_down = [
            ("optimizer", self.optimizer.is_some(), lsm),
            ("init", self.init.is_some(), lsm),
            ("normalize-embedding", self.normalize_embedding, lsm),
            ("svr-kernel", self.svr_kernel.is_some(), svr),
            ("svr-gamma", self.svr_gamma.is_some(), svr && self.svr_kernel != Some(KernelName::Linear)),
            ("svr-c", self.svr_c.is_some(), svr),
            ("svr-epsilon", self.svr_epsilon.is_some(), svr),
            ("svr-nu", self.svr_nu.is_some(), svr),
        ];
        let post = [
            ("self-training-neighbors", self.self_training_neighbors.is_some(), self_training),
            ("self-training-rounds", self.self_training_rounds.is_some(), self_training),
        ];
        for (option, typed, used) in bottom_up.into_iter().chain(top_down).chain(post) {
            if typed && !used {
                watch.note(&format!("--{option} has no effect with the method that was chosen"));
            }
        }
    }
}

/// The refiners of a list of names.
pub(crate) fn refiners(names: &[PostName], neighbors: Option<usize>, rounds: Option<usize>) -> Vec<Post> {
    let default = SelfTraining::default();
    let self_training = SelfTraining {
        self_training_neighbors: neighbors.unwrap_or(default.self_training_neighbors),
        self_training_rounds: rounds.unwrap_or(default.self_training_rounds),
    };
    names
        .iter()
        .filter_map(|name| match name {
            PostName::None => None,
            PostName::SelfTraining => Some(Post::SelfTraining(self_training.clone())),
            PostName::Structured => Some(Post::Structured(Structured::default())),
        })
        .collect()
}
