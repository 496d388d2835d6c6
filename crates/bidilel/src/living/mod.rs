//! Living classes: a model whose classes come, go and become known, without another fit.
//!
//! Nothing that was learned changes. A class that [joins](Model::add_classes) is embedded among all others, which stay
//! where they are: by the mapping it minimizes its part of the cost (`top_down::join`), by a regression it is where it
//! would have been from the start, and a compared method scores it by the map that it has learned. A class that
//! [leaves](Model::remove_classes) takes nothing with it, so that a class that came and went leaves the same file behind.
//! A class whose [labeled instances arrive](Model::promote_class) becomes a landmark in the space as it is.
//!
//! # When to fit again
//! The latent space was learned to separate the classes that were known then. Fit again when classes that became known
//! differ from each other in ways that the old ones did not, when a large part of the unseen classes has changed (each
//! was embedded with the others of its day fixed, and only a fit moves all together), or when features come from another
//! network. A fit learns the space, the landmarks and the embedding anew: distances of all classes change.
//!
//! ```
//! use std::collections::BTreeMap;
//! use bidilel::{Model, NewClass, Settings, Silent, Synthetic};
//!
//! let dataset = Synthetic::preset("small")?.generate(0)?;
//! let mut model = Model::fit(&dataset, &Settings::default(), None, 0, &Silent)?;
//! let before = model.to_bytes()?;
//! // Halfway between two others.
//! let attributes = &model.semantics.representations[0];
//! let (name, raw) = (attributes.name.clone(), &attributes.raw);
//! let vector = (0..raw.nrows()).map(|i| 0.5 * (raw[(i, 0)] + raw[(i, 1)])).collect();
//! let unicorn = NewClass { name: "unicorn".to_owned(), semantics: BTreeMap::from([(name, vector)]) };
//! model.add_classes(&[unicorn], &Silent)?;
//! assert!(model.unseen.contains(&"unicorn".to_owned()));
//! model.remove_classes(&["unicorn"])?;
//! assert_eq!(model.to_bytes()?, before);
//! # Ok::<(), bidilel::Error>(())
//! ```

mod add;
mod attributes;
#[cfg(test)]
mod laws;
mod promote;
mod remove;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use attributes::{Completed, Neighbor};
pub use promote::Others;

use crate::error::{ClassProblem, Result, Role};
use crate::model::Model;

/// A class that is only described.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NewClass {
    /// Its name.
    pub name: String,
    /// For every semantic representation of the model, by name, the vector as the dataset would have it; of precomputed
    /// distances those to all classes before it: known ones, unseen ones, and new ones that are given before it.
    pub semantics: BTreeMap<String, Vec<f64>>,
}

/// Where a class is in a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassIndex {
    /// Among the known classes.
    Known(usize),
    /// Among the unseen classes.
    Unseen(usize),
}

impl Model {
    /// The class of that name.
    ///
    /// # Errors
    /// [`ClassProblem::Unknown`].
    pub fn class(&self, name: &str) -> Result<ClassIndex> {
        let find = |names: &[String]| names.iter().position(|own| own == name);
        let known = || find(&self.known).map(ClassIndex::Known);
        let found = find(&self.unseen).map(ClassIndex::Unseen).or_else(known);
        Ok(found.ok_or_else(|| ClassProblem::Unknown { name: name.to_owned() })?)
    }

    /// The index of a class among all: known ones first.
    pub fn position(&self, class: ClassIndex) -> usize {
        match class {
            ClassIndex::Known(class) => class,
            ClassIndex::Unseen(class) => self.known.len() + class,
        }
    }

    /// Fails where a name cannot be given to a class.
    fn require_free(&self, name: &str) -> Result<()> {
        if name.trim().is_empty() || name.chars().any(char::is_control) {
            return Err(ClassProblem::Name { found: name.to_owned() }.into());
        }
        let role = match self.class(name) {
            Err(_) => return Ok(()),
            Ok(ClassIndex::Known(_)) => Role::Known,
            Ok(ClassIndex::Unseen(_)) => Role::Unseen,
        };
        Err(ClassProblem::Exists { name: name.to_owned(), role }.into())
    }
}
