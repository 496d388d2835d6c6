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

mod calibration;
mod file;
mod fitted;
mod kept;
mod project;

use std::collections::BTreeMap;

use faer::MatRef;

use bidilel_math::Observer;

pub use calibration::CalibrationHeader;
pub use file::{FORMAT_VERSION, Header, SemanticHeader};
pub use kept::KeptInstances;

use crate::calibrate::{Biases, Calibration, HoldOut};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::method::{AnyFitted, Method, ZeroShotMethod};
use crate::networks::Networks;
use crate::pipeline::Fitted;
use crate::post::{Batch, Post, refined};
use crate::recognize::{Candidates, Recognition};
use crate::semantic::ClassSemantics;
use crate::settings::Settings;
use crate::tags::Thresholds;
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
    /// Names of the unseen classes; none where the known ones are told apart by their landmarks alone.
    pub unseen: Vec<String>,
    /// Descriptions of the classes, the known ones first.
    pub semantics: ClassSemantics,
    /// How many instances were learned from.
    pub instances: usize,
    /// Biases of the known classes; none where these are no candidates.
    pub generalized: Option<Biases>,
    /// How sure predictions may be, where it was measured on held-out known classes.
    pub calibration: Option<Calibration>,
    /// Fingerprint of the data that were learned from.
    pub fingerprint: String,
    /// Training instances to show similar ones of, where some are kept.
    pub kept: Option<KeptInstances>,
    /// The least scores of tags; none for a model of single labels.
    pub thresholds: Option<Thresholds>,
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
            generalized: None,
            calibration: None,
            fingerprint: task.fingerprint(),
            kept: None,
            thresholds: None,
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
        let model =
            Self::new(&dataset.name, choice.normalize, &task, &method, fitted).made_by(&dataset.networks);
        if choice.candidates == Candidates::All {
            model.calibrated(&task, &method, &HoldOut::like(&task, Candidates::All, seed), watch)
        } else {
            Ok(model)
        }
    }

    /// The same model for known and unseen classes together, with biases that are chosen on held-out known classes, and how
    /// sure its predictions may be, from the same folds.
    ///
    /// # Errors
    /// Those of the fits.
    pub fn calibrated(
        mut self,
        task: &Task,
        method: &Method,
        hold_out: &HoldOut,
        watch: &dyn Observer,
    ) -> Result<Self> {
        let (biases, calibration) = Calibration::generalized(task, method, hold_out, watch)?;
        self.generalized = Some(biases);
        self.calibration = Some(calibration);
        Ok(self)
    }

    /// The classes that compete for an instance: unseen ones, known ones where there are no others, or all where the model
    /// is generalized.
    pub fn candidates(&self) -> Candidates {
        match (&self.generalized, self.unseen.is_empty()) {
            (Some(_), _) => Candidates::All,
            (None, true) => Candidates::Known,
            (None, false) => Candidates::Unseen,
        }
    }

    /// The latent space with the classes in it.
    ///
    /// # Errors
    /// [`Error::NoLatentSpace`] for a method that has none.
    pub fn latent(&self) -> Result<&Fitted> {
        self.fitted.latent().ok_or_else(|| Error::NoLatentSpace { method: self.method.name() })
    }

    /// Recognizes raw features (stacked features of all views x instances), which are checked and normalized as the
    /// training features were; without refiners, so that an instance's answer does not depend on the others, and without
    /// the bias of a generalized model ([`Self::predict`] has it).
    pub fn recognize(&self, raw: MatRef<'_, f32>, candidates: Candidates) -> Result<Recognition> {
        self.recognize_raw(raw, candidates)
    }

    /// The best class of every instance of raw features: of the unseen ones, or of all where the model is generalized.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for another number of features, [`Error::NotFinite`].
    pub fn predict(&self, raw: MatRef<'_, f32>) -> Result<Vec<Prediction<'_>>> {
        let scores = self.inductive(self.recognize(raw, self.candidates())?).scores;
        let names = self.names(self.candidates());
        let labels = scores.labels().into_iter().enumerate();
        let prediction = |(instance, class): (usize, usize)| Prediction {
            label: names[class],
            distance: scores.distance(class, instance),
        };
        Ok(labels.map(prediction).collect())
    }

    /// A recognition of the model's candidates without refiners, with its bias where it has one.
    pub(crate) fn inductive(&self, found: Recognition) -> Recognition {
        let Some(biases) = &self.generalized else { return found };
        let scores = found.scores.calibrated(self.known.len(), biases.inductive);
        Recognition { scores, latent: found.latent }
    }

    /// Refines a recognition of the model's candidates by these refiners, and applies the bias where there is one. `watch`
    /// gets what speaks against the refinement of this batch.
    ///
    /// # Errors
    /// [`Error::Uncalibrated`] for refiners of a generalized model other than those that it was fitted with; those of the
    /// refiners.
    pub fn refined(&self, found: Recognition, post: &[Post], watch: &dyn Observer) -> Result<Recognition> {
        let first = self.method.kind().to_string();
        let batch = Batch::of(&self.unseen, watch);
        let Some(biases) = &self.generalized else {
            return refined(&first, found, post, &batch, |_, _| ());
        };
        if post.is_empty() {
            return Ok(self.inductive(found));
        }
        if post != self.method.post() {
            return Err(Error::Uncalibrated);
        }
        let known = self.known.len();
        let found = biases.refined(&first, found, known, post, &batch, |_, _, _| ())?;
        Ok(Recognition { scores: found.scores.calibrated(known, biases.last()), latent: found.latent })
    }

    /// Names of candidate classes, in the order of the scores.
    pub fn names(&self, candidates: Candidates) -> Vec<&str> {
        let all: Vec<&str> = self.known.iter().chain(&self.unseen).map(String::as_str).collect();
        all[candidates.range(self.known.len(), self.unseen.len())].to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::living::NewClass;
    use crate::synthetic::Synthetic;
    use crate::task::Choice;
    use bidilel_math::Silent;

    /// Known classes alone, described or not, are told apart by their landmarks; the file says the same.
    #[test]
    fn a_model_without_unseen_classes_recognizes_known_ones() {
        let dataset = Synthetic::preset("small").expect("a preset").generate(0).expect("a dataset");
        let mut task =
            Task::new(&dataset, &dataset.trials(None).expect("a split")[0], &Choice::default(), &Silent)
                .expect("a task");
        let described = task.semantics.among(&(0..task.known.len()).collect::<Vec<_>>(), &[]);
        task.unseen.clear();
        let raw = task.train.features.clone();
        for semantics in [ClassSemantics::from_representations(Vec::new(), task.known.len()), described] {
            task.semantics = semantics;
            let method = Method::from_settings(&Settings::default(), 0);
            let fitted = method.fit(&task, &Silent).expect("a fit");
            let model = Model::new("small", Normalize::L2, &task, &method, fitted);
            let mut again = Model::from_bytes(&model.to_bytes().expect("bytes")).expect("a model");
            assert_eq!(again, model);
            assert_eq!(model.candidates(), Candidates::Known);
            let found = model.predict(raw.as_ref()).expect("labels");
            let right =
                found.iter().zip(&task.train.labels).filter(|(one, label)| one.label == task.known[**label]);
            assert!(right.count() * 2 > found.len(), "most training instances are recognized");
            let unicorn = NewClass { name: "unicorn".to_owned(), semantics: BTreeMap::new() };
            assert!(again.add_classes(&[unicorn], &Silent).is_err(), "nothing describes it");
            again.remove_classes(&[&task.known[0]]).expect("others are left");
            assert_eq!(again.known.len(), task.known.len() - 1);
        }
    }
}
