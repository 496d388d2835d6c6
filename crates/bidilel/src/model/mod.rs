//! A fitted model: what is left of any method when the data are dropped, and how it recognizes new instances.
//!
//! ```
//! use bidilel::{Mat, Model, Settings, Silent, Synthetic};
//!
//! let dataset = Synthetic::preset("small").expect("a preset").generate(0)?;
//! let model = Model::fit(&dataset, &Settings::default(), None, 0, &Silent)?;
//! let raw = Mat::<f32>::from_fn(model.views.dim(), 2, |i, j| (i + j) as f32);
//! for prediction in model.predict(raw.as_ref())? {
//!     println!("{} at {:.2}", prediction.label, prediction.distance);
//! }
//! # Ok::<(), bidilel::Error>(())
//! ```

mod file;
mod fitted;
mod project;

use std::collections::BTreeMap;

use faer::MatRef;

use bidilel_math::Observer;

pub use file::{FORMAT_VERSION, Header, SemanticHeader};

use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::method::{AnyFitted, Method, ZeroShotMethod};
use crate::networks::Networks;
use crate::pipeline::Fitted;
use crate::recognize::{Candidates, Recognition};
use crate::semantic::ClassSemantics;
use crate::settings::Settings;
use crate::task::{Normalize, Task};
use crate::visual::Views;

/// A fitted model: all that prediction needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Name of the dataset that was learned from.
    pub dataset: String,
    /// Its split.
    pub split: String,
    /// Its visual representations, with the kernels as they turned out.
    pub views: Views,
    /// Normalization of visual rows.
    pub normalize: Normalize,
    /// The method with every setting in force.
    pub method: Method,
    /// What it has learned.
    pub fitted: AnyFitted,
    /// Names of the known classes.
    pub known: Vec<String>,
    /// Names of the unseen classes.
    pub unseen: Vec<String>,
    /// Descriptions of the classes, the known ones first.
    pub semantics: ClassSemantics,
    /// How many instances were learned from.
    pub instances: usize,
    /// Fingerprint of the data that were learned from.
    pub fingerprint: String,
    /// What made the representations of pictures and texts, where that is known.
    pub networks: Networks,
    /// Files of these networks that are part of the model, by their SHA-256.
    pub embedded: BTreeMap<String, Vec<u8>>,
}

/// The best class of an instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction<'a> {
    /// Name of the class.
    pub label: &'a str,
    /// Distance to it; minus the score for methods that measure no distance.
    pub distance: f64,
}

impl Model {
    /// Joins a fit with what it was fitted to.
    pub fn new(dataset: &str, normalize: Normalize, task: &Task, method: &Method, fitted: AnyFitted) -> Self {
        let mut views = task.views.clone();
        if let AnyFitted::Bidilel(fitted) = &fitted {
            for (view, found) in views.parts.iter_mut().zip(&fitted.fusion.views) {
                view.kernel = found.kernel;
            }
        }
        Self {
            dataset: dataset.to_owned(),
            split: task.split.clone(),
            views,
            normalize,
            method: method.resolved(task, &fitted),
            fitted,
            known: task.known.clone(),
            unseen: task.unseen.clone(),
            semantics: task.semantics.clone(),
            instances: task.train.labels.len(),
            fingerprint: task.fingerprint(),
            networks: Networks::default(),
            embedded: BTreeMap::new(),
        }
    }

    /// Records what made the inputs: those of `networks` that made a representation of this model.
    #[must_use]
    pub fn made_by(mut self, networks: &Networks) -> Self {
        let views = self.views.parts.iter().map(|view| view.name.as_str());
        let semantics = self.semantics.representations.iter().map(|one| one.name.as_str());
        self.networks = networks.of(views, semantics);
        self
    }

    /// Fits one trial of a dataset: the split of that name, or the first trial of the dataset's first split.
    pub fn fit(
        dataset: &Dataset,
        settings: &Settings,
        split: Option<&str>,
        seed: u64,
        watch: &dyn Observer,
    ) -> Result<Self> {
        let choice = settings.choice(dataset)?;
        let trials = dataset.trials(split)?;
        let task = Task::new(dataset, &trials[0], &choice, watch)?;
        let method = Method::from_settings(settings, seed);
        method.require_inductive()?;
        let fitted = method.fit(&task, watch)?;
        Ok(Self::new(&dataset.name, choice.normalize, &task, &method, fitted).made_by(&dataset.networks))
    }

    /// The latent space with the classes in it.
    ///
    /// # Errors
    /// [`Error::NoLatentSpace`] for a method that has none.
    pub fn latent(&self) -> Result<&Fitted> {
        self.fitted.latent().ok_or_else(|| Error::NoLatentSpace { method: self.method.name() })
    }

    /// Recognizes raw features (stacked features of all views x instances), which are checked and normalized as the
    /// training features were; without refiners, so that an instance's answer does not depend on the others.
    pub fn recognize(&self, raw: MatRef<'_, f32>, candidates: Candidates) -> Result<Recognition> {
        self.recognize_raw(raw, candidates)
    }

    /// The best unseen class of every instance of raw features.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for another number of features, [`Error::NotFinite`].
    pub fn predict(&self, raw: MatRef<'_, f32>) -> Result<Vec<Prediction<'_>>> {
        let scores = self.recognize(raw, Candidates::Unseen)?.scores;
        let labels = scores.labels().into_iter().enumerate();
        let prediction = |(instance, class): (usize, usize)| Prediction {
            label: &self.unseen[class],
            distance: scores.distance(class, instance),
        };
        Ok(labels.map(prediction).collect())
    }

    /// Names of candidate classes, in the order of the scores.
    pub fn names(&self, candidates: Candidates) -> Vec<&str> {
        let all: Vec<&str> = self.known.iter().chain(&self.unseen).map(String::as_str).collect();
        all[candidates.range(self.known.len(), self.unseen.len())].to_vec()
    }
}
