//! Where data lie, under which names, and what to get where they are missing.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// Datasets by the name that experiments call them by.
pub type Catalog = BTreeMap<String, DataSource>;

/// Folders, names and sizes of one dataset.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSource {
    /// Its label in tables.
    pub title: Option<String>,
    /// Folders that it may lie in, below the folder of all data; its name if there is none.
    #[serde(default)]
    pub folders: Vec<String>,
    /// What to get.
    pub get: Option<String>,
    /// Folds of the known classes by which settings are chosen.
    pub folds: Option<usize>,
    /// Share of the known classes that a fold holds out.
    pub holdout: Option<f64>,
    /// Whether the validation classes that a split names are the only fold.
    #[serde(default)]
    pub validation: bool,
    /// The preset of the generator that can stand in for it.
    pub stand_in: Option<String>,
    /// Divisions of its classes.
    #[serde(default)]
    pub splits: BTreeMap<String, SplitSource>,
    /// Visual representations.
    #[serde(default)]
    pub visual: BTreeMap<String, Representation>,
    /// Semantic representations.
    #[serde(default)]
    pub semantic: BTreeMap<String, Representation>,
}

/// One representation.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Representation {
    /// Its label in tables.
    pub title: Option<String>,
    /// Names that it may have in a dataset; its own if there is none.
    #[serde(default)]
    pub names: Vec<String>,
    /// Others that are taken where there is none of that name: they are marked.
    #[serde(default)]
    pub substitutes: Vec<String>,
    /// Features of the published one: data with another number are marked, and a stand-in has as many.
    pub dim: Option<usize>,
    /// Features of a stand-in where it is not known how many the published one has.
    pub stand_in_dim: Option<usize>,
    /// What to get.
    pub get: Option<String>,
}

/// One division, or a family of them.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SplitSource {
    /// The label of the dataset with this split.
    pub title: Option<String>,
    /// Names that it may have in a dataset; its own if there is none.
    #[serde(default)]
    pub names: Vec<String>,
    /// How it is drawn where the dataset has none.
    pub draw: Option<Draw>,
    /// What to get.
    pub get: Option<String>,
}

/// Random divisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draw {
    /// How many.
    pub trials: usize,
    /// Unseen classes of each.
    pub unseen: usize,
}

/// The datasets of the paper.
pub(crate) static PAPER: LazyLock<Catalog> = LazyLock::new(|| {
    toml::from_str(include_str!("../datasets.toml")).expect("a test reads the file that is compiled in")
});

impl DataSource {
    /// Names that a visual representation may have, first those that it is asked for by.
    pub fn visual(&self, name: &str) -> Representation {
        named(&self.visual, name)
    }

    /// The same of a semantic one.
    pub fn semantic(&self, name: &str) -> Representation {
        named(&self.semantic, name)
    }

    /// The split of a name.
    pub fn split(&self, name: &str) -> SplitSource {
        let mut split = self.splits.get(name).cloned().unwrap_or_default();
        if split.names.is_empty() {
            split.names.push(name.to_owned());
        }
        split
    }

    /// With what another says instead.
    pub(crate) fn overruled_by(mut self, other: &Self) -> Self {
        let Self { title, folders, get, folds, holdout, validation, stand_in, splits, visual, semantic } =
            other.clone();
        self.title = title.or(self.title);
        self.folders = if folders.is_empty() { self.folders } else { folders };
        self.get = get.or(self.get);
        self.folds = folds.or(self.folds);
        self.holdout = holdout.or(self.holdout);
        self.validation |= validation;
        self.stand_in = stand_in.or(self.stand_in);
        self.splits.extend(splits);
        self.visual.extend(visual);
        self.semantic.extend(semantic);
        self
    }
}

fn named(all: &BTreeMap<String, Representation>, name: &str) -> Representation {
    let mut one = all.get(name).cloned().unwrap_or_default();
    if one.names.is_empty() {
        one.names.push(name.to_owned());
    }
    one
}
