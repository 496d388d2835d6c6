//! Why an instance is taken for a class.
//!
//! An [`Explanation`] says which classes came next, which known classes the instance is nearest to, which attributes
//! separate the first guess from the second (with the part of the semantic distance that each makes up), which attributes
//! the first guess shares with the nearest known classes, and which training instances are most similar, where the model
//! [keeps](crate::model::KeptInstances) some.
//!
//! ```
//! use bidilel::explain::{Explainer, Extent};
//! use bidilel::{Candidates, Mat, Model, Settings, Silent, Synthetic};
//!
//! let dataset = Synthetic::preset("small")?.generate(0)?;
//! let model = Model::fit(&dataset, &Settings::default(), None, 0, &Silent)?;
//! let raw = Mat::<f32>::from_fn(model.views.dim(), 1, |i, _| (i % 7) as f32);
//! let recognition = model.recognize(raw.as_ref(), Candidates::All)?;
//! let why = Explainer::new(&model, Candidates::Unseen, Extent::default()).explain(&recognition, 0);
//! println!("{}: nearest to {}", why.label, why.landmarks[0].label);
//! # Ok::<(), bidilel::Error>(())
//! ```

mod attributes;

use std::ops::Range;

use faer::Mat;
use serde::{Deserialize, Serialize};

pub use attributes::{Separating, Separation, Unnamed, separation, shared};

use crate::model::Model;
use crate::recognize::{Candidates, Recognition};

/// How much an explanation has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Candidates, best first.
    pub candidates: usize,
    /// Known and unseen classes, nearest first.
    pub nearest: usize,
    /// Attributes.
    pub attributes: usize,
    /// Training instances.
    pub instances: usize,
}

impl Default for Extent {
    fn default() -> Self {
        Self { candidates: 3, nearest: 3, attributes: 5, instances: 3 }
    }
}

/// Whether a class had labeled instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClassKind {
    /// It had.
    Known,
    /// It has only a description.
    Unseen,
}

/// A class with the distance of the instance to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NearClass {
    /// Its name.
    pub label: String,
    /// The distance; minus the score of methods that measure none. That of a known candidate has the bias of a generalized
    /// model.
    pub distance: f64,
    /// Known or unseen.
    pub kind: ClassKind,
}

/// A training instance that is similar.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SimilarInstance {
    /// Its row in the dataset.
    pub row: usize,
    /// Its path or identifier, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its class.
    pub label: String,
    /// Its distance in the latent space.
    pub distance: f64,
}

/// Why an instance is taken for a class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// The class.
    pub label: String,
    /// The best candidates, the class itself first.
    pub candidates: Vec<NearClass>,
    /// The known classes that the instance is nearest to.
    pub landmarks: Vec<NearClass>,
    /// The unseen classes that it is nearest to.
    pub unseen: Vec<NearClass>,
    /// The attributes that separate the first candidate from the second, most of all first.
    pub attributes: Vec<Separating>,
    /// Representations without names of attributes, and how much they separate the two.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unnamed: Vec<Unnamed>,
    /// The semantic distance between the two, which all these parts add up to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub semantic_distance: Option<f64>,
    /// Attributes that the class shares with the nearest known classes and not with all, strongest first.
    pub shared: Vec<String>,
    /// The most similar training instances, where the model keeps some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instances: Option<Vec<SimilarInstance>>,
}

/// Explains what a model recognizes.
#[derive(Debug)]
pub struct Explainer<'a> {
    model: &'a Model,
    candidates: Candidates,
    extent: Extent,
    names: Vec<&'a str>,
}

impl<'a> Explainer<'a> {
    /// For recognition among these candidates; those of [`Model::candidates`] are the ones of its predictions.
    pub fn new(model: &'a Model, candidates: Candidates, extent: Extent) -> Self {
        Self { model, candidates, extent, names: model.names(Candidates::All) }
    }

    /// What cannot be explained, and why: the same for all instances.
    pub fn gaps(&self) -> Vec<String> {
        let mut gaps = Vec::new();
        if self.model.latent().is_err() {
            gaps.push(format!(
                "method `{}` has no latent space: known classes are in the order of its scores, and there are no similar \
                 training instances",
                self.model.method.name()
            ));
        } else if self.model.kept.is_none() {
            gaps.push("the model keeps no training instances to show similar ones of".to_owned());
        }
        if self.model.attribute_names().next().is_none() {
            gaps.push("the model has no names of attributes".to_owned());
        }
        if !self.model.method.post().is_empty() {
            gaps.push("refiners look at the whole batch and are not explained: without them".to_owned());
        }
        gaps
    }

    /// Explains one instance of a recognition among all classes ([`Candidates::All`]).
    pub fn explain(&self, recognition: &Recognition, instance: usize) -> Explanation {
        let (known, classes) = (self.model.known.len(), self.names.len());
        // Candidates compete with the bias of known classes; how near a class is does not depend on it.
        let bias = self.model.generalized.as_ref().map_or(0.0, |biases| biases.inductive);
        let score = |class: usize| recognition.scores.values[(class, instance)];
        let competing = |class: usize| if class < known { score(class) - bias } else { score(class) };
        let range = self.candidates.range(known, classes - known);
        // The second is needed even where one candidate is shown.
        let candidates = best(range, competing, self.extent.candidates.max(2));
        let landmarks = best(0..known, score, self.extent.nearest);
        let unseen = best(known..classes, score, self.extent.nearest);
        let near = |class: usize, score: f64| NearClass {
            label: self.names[class].to_owned(),
            distance: -score,
            kind: if class < known { ClassKind::Known } else { ClassKind::Unseen },
        };
        let list = |classes: &[usize]| classes.iter().map(|&class| near(class, score(class))).collect();
        let shown = &candidates[..self.extent.candidates.clamp(1, candidates.len())];
        let others: Vec<usize> = landmarks.iter().copied().filter(|&one| one != candidates[0]).collect();
        let semantics = &self.model.semantics;
        let separation =
            candidates.get(1).map(|&second| separation(semantics, candidates[0], second, &others));
        let mut shared = attributes::shared_names(semantics, candidates[0], &others);
        shared.truncate(self.extent.attributes);
        let (mut attributes, unnamed, semantic_distance) = match separation {
            Some(found) => (found.attributes, found.unnamed, Some(found.distance)),
            None => (Vec::new(), Vec::new(), None),
        };
        attributes.truncate(self.extent.attributes);
        Explanation {
            label: self.names[candidates[0]].to_owned(),
            candidates: shown.iter().map(|&class| near(class, competing(class))).collect(),
            landmarks: list(&landmarks),
            unseen: list(&unseen),
            attributes,
            unnamed,
            semantic_distance,
            shared,
            instances: self.similar(recognition, instance),
        }
    }

    fn similar(&self, recognition: &Recognition, instance: usize) -> Option<Vec<SimilarInstance>> {
        let (kept, latent) = (self.model.kept.as_ref()?, recognition.latent.as_ref()?);
        let point = Mat::from_fn(latent.points.nrows(), 1, |i, _| latent.points[(i, instance)]);
        let found = kept.nearest(point.as_ref(), latent.spaces, self.extent.instances);
        let similar = |(index, distance): (usize, f64)| SimilarInstance {
            row: kept.row(index),
            path: kept.name(index).map(str::to_owned),
            label: self.model.known[kept.label(index)].clone(),
            distance,
        };
        Some(found.into_iter().map(similar).collect())
    }
}

/// Classes of a range by their scores, best first.
fn best(range: Range<usize>, score: impl Fn(usize) -> f64, most: usize) -> Vec<usize> {
    let mut order: Vec<usize> = range.collect();
    order.sort_by(|&a, &b| score(b).total_cmp(&score(a)).then(a.cmp(&b)));
    order.truncate(most);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{MethodName, Settings};
    use crate::synthetic::Synthetic;
    use bidilel_math::Silent;

    fn model(method: MethodName) -> (Model, Mat<f32>) {
        let dataset = Synthetic { scale: 0.3, ..Synthetic::default() }.generate(2).expect("a dataset");
        let settings = Settings { method: Some(method), ..Settings::default() };
        let mut model = Model::fit(&dataset, &settings, None, 0, &Silent).expect("a fit");
        let one = &mut model.semantics.representations[0];
        one.dimension_names = Some((0..one.raw.nrows()).map(|i| format!("a{i}")).collect());
        let rows = &dataset.visual(None).expect("features").rows;
        let mut raw = Mat::zeros(rows.dim(), 6);
        (0..6).for_each(|i| rows.read(i * 9, raw.col_as_slice_mut(i)));
        (model, raw)
    }

    #[test]
    fn an_explanation_names_what_prediction_names() {
        for method in [MethodName::Bidilel, MethodName::Eszsl, MethodName::Rr] {
            let (model, raw) = model(method);
            let recognition = model.recognize(raw.as_ref(), Candidates::All).expect("scores");
            let extent = Extent { candidates: 4, nearest: 2, attributes: 3, instances: 1 };
            let explainer = Explainer::new(&model, Candidates::Unseen, extent);
            for (instance, predicted) in model.predict(raw.as_ref()).expect("labels").iter().enumerate() {
                let why = explainer.explain(&recognition, instance);
                assert_eq!(why.label, predicted.label);
                assert!((why.candidates[0].distance - predicted.distance).abs() < 1e-9);
                assert!(why.candidates.iter().all(|one| one.kind == ClassKind::Unseen));
                assert!(why.landmarks.iter().all(|one| one.kind == ClassKind::Known));
                assert_eq!((why.candidates.len(), why.landmarks.len(), why.attributes.len()), (4, 2, 3));
                assert!(why.candidates.windows(2).all(|pair| pair[0].distance <= pair[1].distance));
                assert!(why.instances.is_none());
            }
            assert_eq!(
                explainer.gaps().iter().any(|gap| gap.contains("latent space")),
                method != MethodName::Bidilel
            );
        }
    }

    #[test]
    fn a_generalized_model_is_explained_among_all_classes() {
        let dataset = Synthetic { scale: 0.3, ..Synthetic::default() }.generate(2).expect("a dataset");
        let settings = Settings { generalized: Some(true), ..Settings::default() };
        let model = Model::fit(&dataset, &settings, None, 0, &Silent).expect("a fit");
        let rows = &dataset.visual(None).expect("features").rows;
        let mut raw = Mat::zeros(rows.dim(), 40);
        (0..40).for_each(|i| rows.read(i * rows.count() / 40, raw.col_as_slice_mut(i)));
        let recognition = model.recognize(raw.as_ref(), Candidates::All).expect("scores");
        let explainer = Explainer::new(&model, model.candidates(), Extent::default());
        let mut kinds = Vec::new();
        for (instance, predicted) in model.predict(raw.as_ref()).expect("labels").iter().enumerate() {
            let why = explainer.explain(&recognition, instance);
            assert_eq!(why.label, predicted.label);
            assert!((why.candidates[0].distance - predicted.distance).abs() < 1e-9);
            kinds.push(why.candidates[0].kind);
        }
        assert!(kinds.contains(&ClassKind::Known) && kinds.contains(&ClassKind::Unseen), "{kinds:?}");
    }

    #[test]
    fn one_candidate_is_still_compared_with_the_next() {
        let (model, raw) = model(MethodName::Bidilel);
        let recognition = model.recognize(raw.as_ref(), Candidates::All).expect("scores");
        let extent = Extent { candidates: 1, ..Extent::default() };
        let why = Explainer::new(&model, Candidates::All, extent).explain(&recognition, 0);
        assert_eq!(why.candidates.len(), 1);
        assert!(why.semantic_distance.is_some_and(|distance| distance > 0.0));
    }
}
