//! A table or figure as data: its rows and columns, what each says of a cell, and how it is laid out.

use std::collections::BTreeMap;

use bidilel::reproduce::Search;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::catalog::Catalog;
use crate::error::{Error, Result};
use crate::form::Form;
use crate::published::{Published, PublishedTable};
use crate::reader::Reader;

/// What stands after the `±` of a mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// The standard error over trials.
    #[default]
    StandardError,
    /// The standard deviation over runs.
    StandardDeviation,
}

/// Among which cells the best is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Best {
    /// Those of a row.
    Row,
    /// Those of a column in the same group of rows.
    Column,
}

/// What a cell shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Show {
    /// Accuracy on unseen classes.
    Accuracy,
    /// A setting that was chosen.
    Setting(String),
}

/// Representations in the order of Algorithm 2.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Select {
    /// Neighbors that make pairs.
    pub neighbors: usize,
    /// How many are selected at most.
    pub most: usize,
    /// From these, as far as they are there.
    pub candidates: Vec<String>,
}

/// What is drawn.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "of", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Curves {
    /// Accuracy on held-out classes against each of some settings.
    Search {
        /// The settings.
        settings: Vec<String>,
    },
    /// Accuracy against the labels of rows, which are numbers; a series per column.
    Rows {
        /// What the rows count.
        x: String,
    },
}

/// What a row or a column says of its cells.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Part {
    pub(crate) dataset: Option<String>,
    pub(crate) split: Option<String>,
    pub(crate) visual: Option<Vec<String>>,
    pub(crate) semantic: Option<Vec<String>>,
    pub(crate) settings: Map<String, Value>,
    pub(crate) search: Option<String>,
    pub(crate) search_fused: Option<String>,
    pub(crate) starts: Option<u16>,
    pub(crate) show: Option<Show>,
    pub(crate) first: Option<usize>,
}

/// One row or column.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its name: that of the published numbers.
    pub id: String,
    /// Its labels, from the left or from the top.
    pub labels: Vec<String>,
    /// Rows of another group are apart.
    pub group: Option<String>,
    /// No row of the publication: left out where its data are missing.
    pub extra: bool,
    pub(crate) only: Option<Vec<String>>,
    pub(crate) part: Part,
}

/// A table or figure: what is measured and how it is laid out.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// What it shows.
    pub title: String,
    /// Labels of the published table and its figures, joined by commas.
    pub paper: Option<String>,
    /// Remarks for readers.
    pub notes: Vec<String>,
    /// What labels rows: headers of the first columns.
    pub stub: Vec<String>,
    /// Rows, from the top.
    pub rows: Vec<Line>,
    /// Columns, from the left.
    pub columns: Vec<Line>,
    /// What stands after `±`.
    pub spread: Spread,
    /// Among which cells the best is marked.
    pub best: Option<Best>,
    /// What is drawn.
    pub curves: Option<Curves>,
    /// Representations in the order of Algorithm 2.
    pub select: Option<Select>,
    /// Where data lie.
    pub datasets: Catalog,
    /// The published numbers.
    pub numbers: Option<PublishedTable>,
    pub(crate) settings: Map<String, Value>,
    pub(crate) starts: u16,
    pub(crate) search: Option<String>,
    pub(crate) searches: BTreeMap<String, Search>,
}

impl Experiment {
    /// One that ships with this crate.
    pub fn named(name: &str) -> Option<Self> {
        crate::source(name).and_then(|text| Self::parse(text).ok())
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`Error`] has the line.
    pub fn parse(text: &str) -> Result<Self> {
        let form: Form = toml::from_str(text).map_err(|error| Error::toml(text, &error))?;
        Reader { text, form: &form }.experiment()
    }

    /// The published number of a cell.
    pub fn published(&self, row: &str, column: &str) -> Option<Published> {
        self.numbers.as_ref()?.get(row, column)
    }
}
