//! A class described by some attributes: the others are taken from the classes that are most similar in those.
//!
//! Similarity is by the given attributes alone, each divided by its standard deviation over all classes. Of the nearest
//! classes $N$ every missing attribute gets the mean weighted by inverse squared distances,
//! `$\sum_{c \in N} w_c\, s_{ac} / \sum_{c \in N} w_c$ with $w_c = 1 / (d_c^2 + \epsilon)$`.

use faer::Mat;
use serde::{Deserialize, Serialize};

use crate::error::{ClassProblem, Result};
use crate::model::Model;
use crate::semantic::Representation;

/// Classes that missing attributes are taken from.
const NEIGHBORS: usize = 5;
/// $\epsilon$: classes that agree in all given attributes have a finite weight.
const SOFTENING: f64 = 1e-3;

/// A class that others are completed from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Neighbor {
    /// Its name.
    pub class: String,
    /// Its share, 0 to 1.
    pub weight: f64,
}

/// A vector that was given in part.
#[derive(Debug, Clone, PartialEq)]
pub struct Completed {
    /// The semantic representation.
    pub representation: String,
    /// All of its dimensions.
    pub vector: Vec<f64>,
    /// Attributes that were not given.
    pub filled: Vec<String>,
    /// The classes that these were taken from, the most similar first; empty where all were given.
    pub neighbors: Vec<Neighbor>,
    /// Attributes that are beyond what any class of the model has, each with the least and the largest of these.
    pub beyond: Vec<(String, [f64; 2])>,
}

impl Model {
    /// The names of all attributes, over all semantic representations that have names.
    pub fn attribute_names(&self) -> impl Iterator<Item = &String> {
        self.semantics.representations.iter().filter_map(|one| one.dimension_names.as_ref()).flatten()
    }

    /// Completes the description of `class` by attributes: numbers by name, on the scale of the dataset.
    ///
    /// # Errors
    /// [`ClassProblem::NoAttributeNames`], [`ClassProblem::NoAttribute`] for a name that is not in the representation of
    /// the first, [`ClassProblem::NothingGiven`], [`ClassProblem::Value`] for a number that is not finite.
    pub fn complete_attributes(&self, class: &str, given: &[(String, f64)]) -> Result<Completed> {
        let Some((first, _)) = given.first() else {
            return Err(ClassProblem::NothingGiven { class: class.to_owned() }.into());
        };
        let mut named = self.semantics.representations.iter().filter(|one| one.dimension_names.is_some());
        let representation = match named.clone().find(|one| one.dimension(first).is_some()) {
            Some(one) => one,
            None if named.next().is_none() => return Err(ClassProblem::NoAttributeNames.into()),
            None => return Err(ClassProblem::NoAttribute { name: first.clone() }.into()),
        };
        let mut values: Vec<Option<f64>> = vec![None; representation.raw.nrows()];
        for (name, value) in given {
            let dimension = representation.dimension(name);
            let index = dimension.ok_or_else(|| ClassProblem::NoAttribute { name: name.clone() })?;
            if !value.is_finite() {
                let (class, representation) = (class.to_owned(), representation.name.clone());
                return Err(ClassProblem::Value { class, representation, index, value: *value }.into());
            }
            values[index] = Some(*value);
        }
        Ok(self.completed(representation, &values))
    }

    fn completed(&self, one: &Representation, values: &[Option<f64>]) -> Completed {
        let neighbors = if values.iter().all(Option::is_some) {
            Vec::new()
        } else {
            Self::most_similar(&one.raw, values)
        };
        let vector = mean(&one.raw, &neighbors, values);
        let names = one.dimension_names.as_deref().unwrap_or_default();
        let missing = |index: &usize| values[*index].is_none();
        let range = |index: usize| {
            let row = || one.raw.row(index).iter().copied();
            [row().fold(f64::INFINITY, f64::min), row().fold(f64::NEG_INFINITY, f64::max)]
        };
        let beyond = |(index, value): (usize, &Option<f64>)| {
            let [least, most] = range(index);
            value.filter(|value| !(least..=most).contains(value))?;
            Some((names.get(index)?.clone(), [least, most]))
        };
        Completed {
            representation: one.name.clone(),
            filled: (0..values.len()).filter(missing).filter_map(|index| names.get(index).cloned()).collect(),
            neighbors: neighbors.iter().map(|&(class, weight)| self.neighbor(class, weight)).collect(),
            beyond: values.iter().enumerate().filter_map(beyond).collect(),
            vector,
        }
    }

    fn neighbor(&self, class: usize, weight: f64) -> Neighbor {
        let name = self.known.get(class).unwrap_or_else(|| &self.unseen[class - self.known.len()]);
        Neighbor { class: name.clone(), weight }
    }

    /// The classes that are most similar in what is given, with their shares.
    fn most_similar(raw: &Mat<f64>, values: &[Option<f64>]) -> Vec<(usize, f64)> {
        let classes = raw.ncols() as f64;
        let mut squares = vec![0.0; raw.ncols()];
        for (row, value) in values.iter().enumerate().filter_map(|(row, value)| Some((row, (*value)?))) {
            let mean = raw.row(row).iter().sum::<f64>() / classes;
            let variance = raw.row(row).iter().map(|other| (other - mean).powi(2)).sum::<f64>() / classes;
            // What all classes have alike tells none of them apart.
            if variance > 0.0 {
                let own = squares.iter_mut().zip(raw.row(row).iter());
                own.for_each(|(square, other)| *square += (other - value).powi(2) / variance);
            }
        }
        let mut order: Vec<usize> = (0..squares.len()).collect();
        order.sort_by(|&a, &b| squares[a].total_cmp(&squares[b]).then(a.cmp(&b)));
        order.truncate(NEIGHBORS);
        let weight = |class: usize| 1.0 / (squares[class] + SOFTENING);
        let total: f64 = order.iter().map(|&class| weight(class)).sum();
        order.into_iter().map(|class| (class, weight(class) / total)).collect()
    }
}

/// Given values, and weighted means of columns for the others.
fn mean(raw: &Mat<f64>, neighbors: &[(usize, f64)], values: &[Option<f64>]) -> Vec<f64> {
    let filled = |row: usize| neighbors.iter().map(|&(class, weight)| weight * raw[(row, class)]).sum();
    values.iter().enumerate().map(|(row, value)| value.unwrap_or_else(|| filled(row))).collect()
}

impl Representation {
    /// The dimension of that name; where none has it, the one whose letters and digits are the same.
    pub fn dimension(&self, name: &str) -> Option<usize> {
        let names = self.dimension_names.as_deref()?;
        let plain = |text: &str| -> String {
            text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
        };
        let exact = names.iter().position(|own| own == name);
        exact.or_else(|| {
            let wanted = plain(name);
            let mut alike = (0..names.len()).filter(|&index| plain(&names[index]) == wanted);
            // Two that differ in signs alone are not told apart by letters.
            alike.next().filter(|_| alike.next().is_none() && !wanted.is_empty())
        })
    }
}
