//! What a synthetic task looks like: sizes, knobs of difficulty, presets.

use std::collections::HashSet;
use std::fmt::Display;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Expected, Result};

/// Names that [`Synthetic::preset`] knows.
pub const PRESETS: [&str; 5] = ["small", "awa", "cub", "ucf101", "hmdb51"];

/// The most known or unseen classes: the distances of more would not fit into memory.
const MAX_CLASSES: usize = 50_000;

/// A generator of zero-shot tasks.
///
/// The default is a task of 25 classes that is drawn in milliseconds. Raising `semantic_gap`,
/// `domain_shift` or `spread` makes a task harder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Synthetic {
    /// The dataset's name.
    pub name: String,
    /// Classes that the `standard` split knows.
    pub known: usize,
    /// Classes that a split leaves unseen.
    pub unseen: usize,
    /// Known classes that the `standard` split names for tuning.
    pub validation: usize,
    /// Trials of the `random` family of splits; 0 leaves the family out.
    pub trials: usize,
    /// Groups of related classes, such as families of birds.
    pub groups: usize,
    /// Share of a class's factors that it has in common with its group, 0 to 1.
    pub kinship: f64,
    /// Latent factors of a class.
    pub factors: usize,
    /// Dimensions of the semantic representation `attributes`.
    pub attributes: usize,
    /// Standard deviation of the error in an attribute; the attribute itself has about 1.
    pub attribute_noise: f64,
    /// Dimensions of the semantic representation `words`.
    pub word_dim: usize,
    /// Share of a word vector that says nothing of the class's factors, 0 to 1.
    pub word_noise: f64,
    /// Mean number of instances of a class.
    pub instances_per_class: f64,
    /// Standard deviation of the logarithm of class sizes; 0 makes all classes equally large.
    pub imbalance: f64,
    /// Share of the instances that is drawn, above 0 and up to 1; a class keeps at least two.
    pub scale: f64,
    /// The visual representations, one after another.
    pub views: Vec<View>,
    /// Share of the factors that every view sees, 0 to 1; the views take turns at the others.
    pub view_overlap: f64,
    /// Share of a class's appearance that its semantics do not explain, 0 to 1.
    pub semantic_gap: f64,
    /// How far the unseen classes of `standard` are displaced; the typical class is 1 from the mean.
    pub domain_shift: f64,
    /// Standard deviation within a class; between classes it is 1.
    pub spread: f64,
    /// Standard deviation of a feature's own noise, before rectification; the signal has 1.
    pub noise: f64,
    /// Mean share of zeros among the features, 0 to below 1.
    pub sparsity: f64,
}

/// One visual representation of a synthetic task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// The representation's name.
    pub name: String,
    /// How many features it has.
    pub dim: usize,
}

impl Default for Synthetic {
    fn default() -> Self {
        Self {
            name: "small".to_owned(),
            known: 20,
            unseen: 5,
            validation: 5,
            trials: 5,
            groups: 5,
            kinship: 0.4,
            factors: 24,
            attributes: 40,
            attribute_noise: 0.3,
            word_dim: 50,
            word_noise: 0.4,
            instances_per_class: 40.0,
            imbalance: 0.3,
            scale: 1.0,
            views: views(128, 64),
            view_overlap: 0.5,
            semantic_gap: 0.2,
            domain_shift: 0.3,
            spread: 0.8,
            noise: 0.5,
            sparsity: 0.6,
        }
    }
}

fn views(cnn: usize, motion: usize) -> Vec<View> {
    vec![View { name: "cnn".to_owned(), dim: cnn }, View { name: "motion".to_owned(), dim: motion }]
}

impl Synthetic {
    /// The settings of that name: `small`, `awa`, `cub`, `ucf101` or `hmdb51` (see [`PRESETS`]).
    ///
    /// `awa` and `cub` have the sizes of Animals with Attributes and of Caltech-UCSD Birds-200-2011, and
    /// are about as hard; `ucf101` and `hmdb51` have the sizes of these two sets of video clips, with one view of a network
    /// and one of motion, and 30 random divisions; `small` is the default.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] lists the names if there is none such.
    pub fn preset(name: &str) -> Result<Self> {
        match name {
            "small" => Ok(Self::default()),
            "awa" => Ok(Self::awa()),
            "cub" => Ok(Self::cub()),
            "ucf101" => Ok(Self::videos("ucf101", (51, 50), 115, 131.88)),
            "hmdb51" => Ok(Self::videos("hmdb51", (26, 25), 115, 132.67)),
            other => Err(setting("preset", format!("one of {}", PRESETS.join(", ")), other)),
        }
    }

    fn awa() -> Self {
        Self {
            name: "awa".to_owned(),
            known: 40,
            unseen: 10,
            validation: 10,
            groups: 10,
            factors: 40,
            attributes: 85,
            word_dim: 1_000,
            instances_per_class: 609.5,
            imbalance: 0.45,
            views: views(1_024, 512),
            ..Self::default()
        }
    }

    fn cub() -> Self {
        Self {
            name: "cub".to_owned(),
            known: 150,
            unseen: 50,
            validation: 50,
            groups: 30,
            factors: 48,
            attributes: 312,
            word_dim: 400,
            instances_per_class: 58.94,
            imbalance: 0.05,
            views: views(1_024, 512),
            semantic_gap: 0.3,
            spread: 0.9,
            ..Self::default()
        }
    }

    fn videos(
        name: &str,
        (known, unseen): (usize, usize),
        attributes: usize,
        instances_per_class: f64,
    ) -> Self {
        Self {
            name: name.to_owned(),
            known,
            unseen,
            validation: 0,
            trials: 30,
            groups: known / 4,
            factors: 40,
            attributes,
            word_dim: 300,
            instances_per_class,
            imbalance: 0.15,
            views: vec![
                View { name: "c3d".to_owned(), dim: 1_024 },
                View { name: "mbh".to_owned(), dim: 512 },
            ],
            // One division is like another: no class looks displaced.
            domain_shift: 0.0,
            semantic_gap: 0.4,
            spread: 1.2,
            ..Self::default()
        }
    }

    /// Says which setting is out of its range, if one is.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] for the first such setting.
    pub fn validate(&self) -> Result<()> {
        at_least("known", self.known, 2)?;
        at_least("unseen", self.unseen, 1)?;
        at_least("groups", self.groups, 1)?;
        at_most("known", self.known, MAX_CLASSES)?;
        at_most("unseen", self.unseen, MAX_CLASSES)?;
        at_least("factors", self.factors, self.views.len().max(2))?;
        at_least("attributes", self.attributes, 1)?;
        at_least("word_dim", self.word_dim, 1)?;
        at_least("views", self.views.len(), 1)?;
        if self.validation >= self.known {
            return Err(setting("validation", format!("below known ({})", self.known), self.validation));
        }
        let mut names = HashSet::new();
        for view in &self.views {
            at_least("a view's dim", view.dim, 1)?;
            if view.name.is_empty() || !names.insert(&view.name) {
                return Err(setting("a view's name", "not empty and unique", format!("`{}`", view.name)));
            }
        }
        within("kinship", self.kinship, 0.0, 1.0)?;
        within("attribute_noise", self.attribute_noise, 0.0, 100.0)?;
        within("word_noise", self.word_noise, 0.0, 1.0)?;
        within("instances_per_class", self.instances_per_class, 2.0, 1e6)?;
        within("imbalance", self.imbalance, 0.0, 3.0)?;
        within("scale", self.scale, f64::MIN_POSITIVE, 1.0)?;
        within("view_overlap", self.view_overlap, 0.0, 1.0)?;
        within("semantic_gap", self.semantic_gap, 0.0, 1.0)?;
        within("domain_shift", self.domain_shift, 0.0, 100.0)?;
        within("spread", self.spread, 0.0, 100.0)?;
        within("noise", self.noise, 0.0, 100.0)?;
        within("sparsity", self.sparsity, 0.0, 0.99)
    }
}

fn setting(setting: &'static str, expected: impl Into<Expected>, found: impl Display) -> Error {
    Error::Setting { setting, expected: expected.into(), found: found.to_string() }
}

fn at_most(name: &'static str, found: usize, most: usize) -> Result<()> {
    if found > most { Err(setting(name, format!("at most {most}"), found)) } else { Ok(()) }
}

fn at_least(name: &'static str, found: usize, least: usize) -> Result<()> {
    if found < least { Err(setting(name, format!("at least {least}"), found)) } else { Ok(()) }
}

/// NaN is in no range.
fn within(name: &'static str, found: f64, low: f64, high: f64) -> Result<()> {
    if (low..=high).contains(&found) {
        return Ok(());
    }
    let low = if low.is_normal() && low < 1e-300 { "above 0".to_owned() } else { format!("at least {low}") };
    Err(setting(name, format!("{low} and at most {high}"), found))
}
