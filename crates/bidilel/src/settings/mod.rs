//! Every setting of the method by the name that a person types, flat: `alpha`, `svr_c`, `top_down`.
//!
//! This is what a settings file holds, what the program's options fill in, and what tuning varies. A setting that is
//! not given has its default; [`Settings::pipeline`] turns all of them into the typed [`Pipeline`].

mod names;
mod views;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use views::one_or_several;

use crate::bottom_up::{
    BottomUp, Cca, Lda, Locality, Lpp, Neighborhood, Pca, Regularizer, Search, Slpp, Unchanged, Weights,
};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::pipeline::Pipeline;
use crate::post::{Post, SelfTraining, Structured};
use crate::task::{Choice, Normalize};
use crate::top_down::{Form, Kernel, Lsm, LsmSvr, Optimizer, Start, Svr, TopDown};
use crate::visual::{Fusion, Method};

pub use names::{BottomUpName, InitName, KernelName, MethodName, PostName, TopDownName};

macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident: $type:ty),+ $(,)?) => {
        /// The settings that were given; the others have their defaults.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Settings {
            $($(#[$doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $name: Option<$type>),+
        }
    };
}

settings! {
    /// The visual representations.
    #[serde(deserialize_with = "one_or_several")]
    visual: Vec<String>,
    /// Weights of the visual representations.
    view_weights: Vec<f64>,
    /// Kernels of the visual representations: one for all, one for each, or `name=kernel` for some.
    #[serde(deserialize_with = "one_or_several")]
    kernel: Vec<String>,
    /// How kernels are solved for; by cost if not given.
    kernel_method: Method,
    /// Training instances that the Nyström approximation takes.
    nystrom_rank: usize,
    /// What exact kernel forms may take, in GiB.
    kernel_memory: f64,
    /// The semantic representations.
    semantic: Vec<String>,
    /// Weight of the second of two semantic representations.
    gamma: f64,
    /// Weights of the semantic representations.
    semantic_weights: Vec<f64>,
    /// What is done to every visual row first.
    normalize: Normalize,
    /// The method.
    method: MethodName,
    /// Regularizer of the features in eszsl.
    eszsl_gamma: f64,
    /// Regularizer of the descriptions in eszsl.
    eszsl_lambda: f64,
    /// The bottom-up learner.
    bottom_up: BottomUpName,
    /// Weight of the regulariser of slpp and lpp.
    alpha: f64,
    /// Latent dimensions.
    dim: usize,
    /// Neighbours in the graph of slpp and lpp.
    neighbors: usize,
    /// How slpp and lpp look for neighbours.
    search: Search,
    /// Weights of the graph's edges.
    weights: Weights,
    /// Where slpp looks for neighbours.
    neighborhood: Neighborhood,
    /// Regulariser of slpp and lpp.
    regularizer: Regularizer,
    /// Whether slpp and lpp centre the features.
    center: bool,
    /// Ridge of lda and cca.
    ridge: f64,
    /// The top-down embedder.
    top_down: TopDownName,
    /// Optimiser of lsm.
    optimizer: Optimizer,
    /// Where lsm starts.
    init: InitName,
    /// Whether the embeddings of lsm get unit length.
    normalize_embedding: bool,
    /// Kernel of svr.
    svr_kernel: KernelName,
    /// Gamma of the rbf kernel.
    svr_gamma: f64,
    /// Cost of svr.
    svr_c: f64,
    /// Half the width of the tube of svr.
    svr_epsilon: f64,
    /// The nu form of svr, with this nu.
    svr_nu: f64,
    /// Corrections by the batch, in order.
    post: Vec<PostName>,
    /// Instances that self-training takes for a class.
    self_training_neighbors: usize,
    /// How often self-training is done.
    self_training_rounds: usize,
}

impl Settings {
    /// The typed pipeline, with `seed` for what is random.
    pub fn pipeline(&self, seed: u64) -> Pipeline {
        let default = Fusion::default();
        let fusion = Fusion {
            method: self.kernel_method,
            nystrom_rank: self.nystrom_rank.unwrap_or(default.nystrom_rank),
            memory: self.kernel_memory.unwrap_or(default.memory),
            seed,
        };
        Pipeline { bottom_up: self.bottom_up(), fusion, top_down: self.top_down(seed), post: self.post() }
    }

    /// The representations to use, by the names that the dataset has.
    ///
    /// # Errors
    /// [`Error::Setting`] for weights that do not fit the number of representations.
    pub fn choice(&self, dataset: &Dataset) -> Result<Choice> {
        let visual = self.views(dataset)?;
        let names = match self.semantic.as_deref() {
            None | Some([]) => vec![dataset.semantic(None)?.name.clone()],
            Some(names) => names.to_vec(),
        };
        let wrong = |setting, expected: &str, found: String| {
            Err(Error::Setting { setting, expected: expected.to_owned(), found })
        };
        let weights = match (&self.semantic_weights, self.gamma, names.len()) {
            (Some(weights), ..) if weights.len() == names.len() => weights.clone(),
            (Some(weights), ..) => {
                return wrong("semantic-weights", "one a semantic representation", weights.len().to_string());
            }
            (None, Some(gamma), 2) if (0.0..=1.0).contains(&gamma) => vec![1.0 - gamma, gamma],
            (None, Some(gamma), 2) => return wrong("gamma", "between 0 and 1", gamma.to_string()),
            (None, Some(_), count) => {
                return wrong("gamma", "used with two semantic representations", format!("{count} of them"));
            }
            // Without a word on it, all count the same.
            (None, None, count) => vec![1.0 / count as f64; count],
        };
        Ok(Choice {
            visual,
            semantic: names.into_iter().zip(weights).collect(),
            normalize: self.normalize.unwrap_or_default(),
            ..Choice::default()
        })
    }

    /// Whether a seed makes a difference.
    ///
    /// The sample of the Nyström approximation is not counted: whether there is one depends on the data.
    pub fn is_random(&self) -> bool {
        self.init == Some(InitName::Random) && self.top_down != Some(TopDownName::Svr)
    }

    /// The same method without the settings that have no say in it.
    #[must_use]
    pub fn effective(&self) -> Self {
        let mut kept = self.clone();
        let bottom_up = self.bottom_up.unwrap_or(BottomUpName::Slpp);
        let top_down = self.top_down.unwrap_or(TopDownName::Lsm);
        if !matches!(bottom_up, BottomUpName::Slpp | BottomUpName::Lpp) {
            (kept.alpha, kept.neighbors, kept.weights) = (None, None, None);
            (kept.search, kept.regularizer, kept.center) = (None, None, None);
        }
        if bottom_up != BottomUpName::Slpp {
            kept.neighborhood = None;
        }
        if kept.neighborhood == Some(Neighborhood::WithinClass) {
            kept.search = None;
        }
        if !matches!(bottom_up, BottomUpName::Lda | BottomUpName::Cca) {
            kept.ridge = None;
        }
        if bottom_up == BottomUpName::None {
            kept.dim = None;
        }
        if top_down == TopDownName::Svr {
            (kept.optimizer, kept.init, kept.normalize_embedding) = (None, None, None);
        }
        if top_down == TopDownName::Lsm {
            (kept.svr_kernel, kept.svr_gamma, kept.svr_c) = (None, None, None);
            (kept.svr_epsilon, kept.svr_nu) = (None, None);
        }
        if self.svr_kernel == Some(KernelName::Linear) {
            kept.svr_gamma = None;
        }
        if matches!(self.kernel_method, Some(Method::Primal | Method::NSpace)) || !self.is_fused() {
            kept.nystrom_rank = None;
        }
        if self.kernel_method == Some(Method::Primal) {
            kept.kernel_memory = None;
        }
        if !self.post.iter().flatten().any(|&post| post == PostName::SelfTraining) {
            (kept.self_training_neighbors, kept.self_training_rounds) = (None, None);
        }
        kept
    }

    /// These settings with others laid over them.
    ///
    /// # Errors
    /// [`Error::Grid`] names a setting that does not exist, or a value that it cannot have.
    pub fn with(&self, over: &Map<String, Value>) -> Result<Self> {
        let mut all = self.entries();
        all.extend(over.iter().map(|(name, value)| (name.replace('-', "_"), value.clone())));
        serde_json::from_value(Value::Object(all)).map_err(|cause| Error::Grid { problem: cause.to_string() })
    }

    /// The settings that are given, by name.
    pub fn entries(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(entries)) => entries,
            _ => unreachable!("a struct of plain options is a JSON object"),
        }
    }

    fn bottom_up(&self) -> BottomUp {
        let dim = self.dim;
        match self.bottom_up.unwrap_or(BottomUpName::Slpp) {
            BottomUpName::Slpp => BottomUp::Slpp(Slpp {
                locality: self.locality(),
                neighborhood: self.neighborhood.unwrap_or_default(),
            }),
            BottomUpName::Lpp => BottomUp::Lpp(Lpp { locality: self.locality() }),
            BottomUpName::Pca => BottomUp::Pca(Pca { dim }),
            BottomUpName::Lda => {
                BottomUp::Lda(Lda { dim, ridge: self.ridge.unwrap_or(Lda::default().ridge) })
            }
            BottomUpName::Cca => {
                BottomUp::Cca(Cca { dim, ridge: self.ridge.unwrap_or(Cca::default().ridge) })
            }
            BottomUpName::None => BottomUp::None(Unchanged {}),
        }
    }

    fn locality(&self) -> Locality {
        let default = Locality::default();
        Locality {
            alpha: self.alpha.unwrap_or(default.alpha),
            dim: self.dim,
            neighbors: self.neighbors.unwrap_or(default.neighbors),
            search: self.search.unwrap_or_default(),
            weights: self.weights.unwrap_or_default(),
            regularizer: self.regularizer.unwrap_or(if self.is_fused() {
                Regularizer::Kernel
            } else {
                Regularizer::Identity
            }),
            center: self.center.unwrap_or(default.center),
        }
    }

    fn top_down(&self, seed: u64) -> TopDown {
        let lsm = Lsm {
            optimizer: self.optimizer.unwrap_or_default(),
            start: match self.init {
                Some(InitName::Random) => Start::Random { seed },
                _ => Start::WeightedMean,
            },
            normalize_embedding: self.normalize_embedding.unwrap_or_default(),
            ..Lsm::default()
        };
        let default = Svr::default();
        let svr = Svr {
            kernel: match self.svr_kernel {
                Some(KernelName::Linear) => Kernel::Linear,
                _ => Kernel::Rbf { gamma: self.svr_gamma },
            },
            form: match (self.svr_nu, self.svr_epsilon) {
                (Some(nu), _) => Form::Nu { nu },
                (None, Some(epsilon)) => Form::Epsilon { epsilon },
                (None, None) => default.form,
            },
            c: self.svr_c.unwrap_or(default.c),
            ..default
        };
        match self.top_down.unwrap_or(TopDownName::Lsm) {
            TopDownName::Lsm => TopDown::Lsm(lsm),
            TopDownName::Svr => TopDown::Svr(svr),
            TopDownName::LsmSvr => TopDown::LsmSvr(LsmSvr { lsm, svr }),
        }
    }

    /// The refiners, in order.
    pub fn post(&self) -> Vec<Post> {
        let default = SelfTraining::default();
        let self_training = SelfTraining {
            self_training_neighbors: self.self_training_neighbors.unwrap_or(default.self_training_neighbors),
            self_training_rounds: self.self_training_rounds.unwrap_or(default.self_training_rounds),
        };
        let refiner = |name: &PostName| match name {
            PostName::None => None,
            PostName::SelfTraining => Some(Post::SelfTraining(self_training.clone())),
            PostName::Structured => Some(Post::Structured(Structured::default())),
        };
        self.post.iter().flatten().filter_map(refiner).collect()
    }
}
