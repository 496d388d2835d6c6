//! The form of an experiment's file: what may be written, with the places of what is looked up later.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Spanned, Value};

use crate::catalog::DataSource;
use crate::published::PublishedTable;

/// A word with its place in the file.
pub(crate) type Word = Spanned<String>;
/// Settings by name, as they are written.
pub(crate) type Written = BTreeMap<Word, Spanned<Value>>;

/// A whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Form {
    pub(crate) title: String,
    /// The table of `paper.toml` with the published numbers.
    pub(crate) paper: Option<Word>,
    /// Published numbers of the file's own.
    pub(crate) published: Option<PublishedTable>,
    #[serde(default)]
    pub(crate) notes: Vec<String>,
    /// What labels a row, from the left.
    pub(crate) stub: Vec<Word>,
    /// What labels a column, from the top.
    pub(crate) head: Vec<Word>,
    #[serde(default)]
    pub(crate) spread: crate::Spread,
    pub(crate) best: Option<crate::Best>,
    pub(crate) starts: Option<u16>,
    #[serde(default)]
    pub(crate) settings: Written,
    /// The search of cells whose row and column name none.
    pub(crate) search: Option<Word>,
    #[serde(default)]
    pub(crate) searches: BTreeMap<Word, SearchForm>,
    /// Labels of representations, instead of those of the datasets.
    #[serde(default)]
    pub(crate) names: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) datasets: BTreeMap<String, DataSource>,
    pub(crate) select: Option<crate::Select>,
    pub(crate) rows: Vec<Spanned<Block>>,
    pub(crate) columns: Vec<Spanned<Block>>,
    pub(crate) curves: Option<crate::Curves>,
}

/// How settings are chosen.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchForm {
    /// The search whose choice this one starts from.
    pub(crate) after: Option<Word>,
    /// The paper's, or all combinations of `grid`.
    #[serde(default)]
    pub(crate) order: OrderForm,
    #[serde(default)]
    pub(crate) settings: Written,
    #[serde(default)]
    pub(crate) grid: Written,
    /// Further values of settings of `grid` for curves alone: they are scored, and never chosen.
    #[serde(default)]
    pub(crate) drawn: Written,
}

/// The order in which settings are tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OrderForm {
    Paper,
    #[default]
    Grid,
}

/// One row or column, or several: one for every combination of its lists.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Block {
    pub(crate) id: Option<String>,
    pub(crate) label: Option<String>,
    pub(crate) group: Option<String>,
    /// `name`, or `name:split`.
    #[serde(default)]
    pub(crate) dataset: OneOrMany,
    /// `a+b` fuses two.
    #[serde(default)]
    pub(crate) visual: OneOrMany,
    #[serde(default)]
    pub(crate) semantic: OneOrMany,
    #[serde(default)]
    pub(crate) settings: Written,
    pub(crate) search: Option<Word>,
    /// Instead of `search` where several semantic representations are fused.
    pub(crate) search_fused: Option<Word>,
    pub(crate) starts: Option<u16>,
    /// `accuracy`, or a setting that the search chooses.
    pub(crate) show: Option<Word>,
    /// The first so many of the selected representations.
    pub(crate) first: Option<usize>,
    /// Ids of the only columns in which a row has cells.
    pub(crate) only: Option<Vec<Word>>,
    /// No row of the publication: left out where its data are missing.
    #[serde(default)]
    pub(crate) extra: bool,
}

/// One word or a list of them.
#[derive(Debug, Default, Deserialize)]
#[serde(untagged)]
pub(crate) enum OneOrMany {
    #[default]
    None,
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    /// The alternatives; one that says nothing where nothing is written.
    pub(crate) fn alternatives(&self) -> Vec<Option<&str>> {
        match self {
            Self::None => vec![None],
            Self::One(one) => vec![Some(one)],
            Self::Many(many) => many.iter().map(|one| Some(&one[..])).collect(),
        }
    }
}
