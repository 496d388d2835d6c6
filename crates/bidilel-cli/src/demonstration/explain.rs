//! Explains a prediction: the nearest known classes, and the attributes that the predicted class shares with them.
//!
//! What a class shares with others is the library's to say ([`shared`]).

use bidilel::dataset::Semantic;
use bidilel::explain::shared;
use bidilel::landmarks::Landmarks;
use bidilel::split::Trial;
use bidilel_math::distance::pairwise;
use faer::{Mat, MatRef};

/// Known classes and attributes that are named.
const MOST: usize = 3;

/// The reasons for one guess.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Why {
    /// Known classes whose landmarks the picture is nearest to, as indices into the dataset's classes.
    pub(crate) near: Vec<usize>,
    /// Attributes that the guessed class shares with them, as dimensions, strongest first.
    pub(crate) shared: Vec<usize>,
}

/// The data that explanations need.
pub(crate) struct Explainer<'a> {
    attributes: &'a Semantic,
    trial: &'a Trial,
    /// Known classes x instances.
    distances: Mat<f64>,
}

impl<'a> Explainer<'a> {
    pub(crate) fn new(
        attributes: &'a Semantic,
        trial: &'a Trial,
        landmarks: &Landmarks,
        points: MatRef<'_, f64>,
    ) -> Self {
        Self { attributes, trial, distances: pairwise(landmarks.points.as_ref(), points) }
    }

    /// Why `instance` (a test instance) would be of `class` (an index into the dataset's classes).
    pub(crate) fn why(&self, instance: usize, class: usize) -> Why {
        let column = self.distances.col_as_slice(instance);
        let mut order: Vec<usize> = (0..column.len()).collect();
        order.sort_by(|&a, &b| column[a].total_cmp(&column[b]));
        let near: Vec<usize> = order.iter().take(MOST).map(|&known| self.trial.known[known]).collect();
        let mut shared = shared(self.attributes.vectors.as_ref(), class, &near);
        shared.truncate(MOST);
        Why { near, shared: shared.into_iter().map(|(attribute, _)| attribute).collect() }
    }

    /// An attribute's name.
    pub(crate) fn attribute(&self, dimension: usize) -> &str {
        self.attributes.dimension_names.as_ref().map_or("an attribute", |names| &names[dimension])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bidilel::dataset::Metric;

    #[test]
    fn shared_attributes_are_those_that_both_have_and_not_all_have() {
        // Classes: horse, cow, shark (known), zebra (unseen); attributes: hooves, fins, alive.
        let table = [[1.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0]];
        let attributes = Semantic {
            name: "attributes".to_owned(),
            origin: "a test".to_owned(),
            metric: Metric::Euclidean,
            vectors: Mat::from_fn(3, 4, |i, j| table[i][j]),
            dimension_names: Some(["hooves", "fins", "alive"].map(String::from).to_vec()),
        };
        let (known, unseen) = (vec![0, 1, 2], vec![3]);
        let trial = Trial {
            name: "t".to_owned(),
            known,
            unseen,
            train: Vec::new(),
            test: vec![0],
            test_seen: Vec::new(),
            validation: Vec::new(),
        };
        let places = [[1.0, 0.9, -1.0], [0.0, 0.1, 0.0]];
        let landmarks = Landmarks { points: Mat::from_fn(2, 3, |i, j| places[i][j]) };
        let points = Mat::from_fn(2, 1, |i, _| [0.9, 0.2][i]);
        let explainer = Explainer::new(&attributes, &trial, &landmarks, points.as_ref());
        let why = explainer.why(0, 3);
        assert_eq!(why.near, [1, 0, 2], "nearest first");
        // Two of the three nearest have hooves, three of all four: 2/3 - 3/4 is no reason, and being alive never is.
        assert!(why.shared.is_empty());
        let few = Trial { known: vec![0, 1], ..trial.clone() };
        let hoofed = Landmarks { points: landmarks.points.subcols(0, 2).to_owned() };
        let explainer = Explainer::new(&attributes, &few, &hoofed, points.as_ref());
        let why = explainer.why(0, 3);
        assert_eq!(why.shared.iter().map(|&a| explainer.attribute(a)).collect::<Vec<_>>(), ["hooves"]);
    }
}
