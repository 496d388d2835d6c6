//! The text of a `dataset.toml`, before any file that it names is opened.

use std::num::NonZeroUsize;
use std::path::Path;

use bidilel::dataset::Metric;

use crate::error::{Error, Result};
use crate::table::{Choice, Columns};
use crate::text;
use crate::words::Missing;

/// All of it.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    pub(super) name: String,
    pub(super) classes: Place,
    /// One class per instance; none where there are `tags`.
    pub(super) labels: Option<Source>,
    /// Several classes per instance.
    pub(super) tags: Option<Source>,
    #[serde(default)]
    pub(super) one_based: bool,
    #[serde(default)]
    pub(super) visual: InFileOrder<Visual>,
    #[serde(default)]
    pub(super) semantic: InFileOrder<Semantic>,
    #[serde(default)]
    pub(super) split: InFileOrder<Split>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Visual {
    pub(super) file: String,
    pub(super) key: Option<String>,
    #[serde(default)]
    pub(super) transpose: bool,
    pub(super) columns: Option<Columns>,
    /// Instances have names, too, which identify them.
    #[serde(alias = "name_column")]
    pub(super) id_column: Option<String>,
    pub(super) label_column: Option<String>,
}

impl Visual {
    pub(super) fn choice(&self) -> Choice {
        Choice {
            columns: self.columns.clone(),
            name_column: None,
            label_column: self.label_column.clone(),
            id_column: self.id_column.clone(),
        }
    }
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Semantic {
    pub(super) file: Option<String>,
    pub(super) key: Option<String>,
    #[serde(default)]
    pub(super) transpose: bool,
    pub(super) metric: Option<Metric>,
    pub(super) names: Option<Place>,
    /// Rows per class, one after another, whose unit vectors are averaged: the texts of a prompt ensemble.
    pub(super) prompts: Option<NonZeroUsize>,
    /// Instead of `file`: word vectors that make a vector of every class name.
    pub(super) word_vectors: Option<String>,
    /// Instead of `file`: names and descriptions of the classes, of which a text network makes vectors.
    pub(super) text: Option<String>,
    /// The text network, an ONNX file.
    pub(super) network: Option<String>,
    /// Its `tokenizer.json`.
    pub(super) tokenizer: Option<String>,
    /// The tensor to take of it.
    pub(super) layer: Option<String>,
    /// How tokens become one vector.
    pub(super) pooling: Option<String>,
    /// Sentences with a place for the text, whose vectors are averaged.
    pub(super) templates: Option<Vec<String>>,
    /// Tokens after which a text is cut.
    pub(super) max_tokens: Option<NonZeroUsize>,
    /// The column of `text` that describes the classes.
    pub(super) description_column: Option<String>,
    /// What happens to a class of which no word has a vector.
    pub(super) missing: Option<Missing>,
    pub(super) columns: Option<Columns>,
    /// The label of a class is its name.
    #[serde(alias = "label_column")]
    pub(super) name_column: Option<String>,
    pub(super) id_column: Option<String>,
}

impl Semantic {
    /// The first key that only descriptions in words have.
    pub(super) fn text_key(&self) -> Option<&'static str> {
        let keys = [
            ("network", self.network.is_some()),
            ("tokenizer", self.tokenizer.is_some()),
            ("layer", self.layer.is_some()),
            ("pooling", self.pooling.is_some()),
            ("templates", self.templates.is_some()),
            ("max_tokens", self.max_tokens.is_some()),
            ("description_column", self.description_column.is_some()),
        ];
        keys.into_iter().find(|(_, said)| *said).map(|(key, _)| key)
    }

    pub(super) fn choice(&self) -> Choice {
        Choice {
            columns: self.columns.clone(),
            name_column: self.name_column.clone(),
            label_column: None,
            id_column: self.id_column.clone(),
        }
    }
}

/// The keys of all three kinds of split; which kind it is shows in the keys that are there.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Split {
    pub(super) unseen: Option<Names>,
    pub(super) validation: Option<Names>,
    pub(super) file: Option<String>,
    pub(super) key: Option<String>,
    #[serde(default)]
    pub(super) transpose: bool,
    pub(super) train: Option<Source>,
    pub(super) test_seen: Option<Source>,
    pub(super) test_unseen: Option<Source>,
    #[serde(default)]
    pub(super) one_based: bool,
}

/// A file of indices: its path, or a table with more about it.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) file: String,
    pub(super) key: Option<String>,
    pub(super) one_based: bool,
    pub(super) id_column: Option<String>,
}

/// A file of strings: its path, or a table with the key of a list in it.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) file: String,
    pub(super) key: Option<String>,
}

/// Class names: where they are, or the names themselves.
#[derive(Debug)]
pub(super) enum Names {
    At(Place),
    Inline(Vec<String>),
}

/// Tables under one heading, in the order of the file: the first is the default.
#[derive(Debug)]
pub(super) struct InFileOrder<T>(pub(super) Vec<(String, T)>);

impl<T> Default for InFileOrder<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl Manifest {
    pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        let text = text::text_from_bytes(path, bytes)?;
        let manifest: Self = toml::from_str(&text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let line = text.bytes().take(start).filter(|&byte| byte == b'\n').count() + 1;
            // "Field" and "variant" are Rust's words, not those of the person who wrote the file.
            let message = error.message().trim().replace('\n', ", ");
            let problem =
                message.replace(" field `", " key `").replace("unknown variant `", "unknown value `");
            Error::Manifest { path: path.to_owned(), line, problem }
        })?;
        let problem = match (&manifest.labels, &manifest.tags) {
            (None, None) => "missing key `labels`",
            (Some(_), Some(_)) => {
                "`labels` is one class per instance and `tags` are several: give one of them"
            }
            _ => return Ok(manifest),
        };
        Err(Error::Manifest { path: path.to_owned(), line: 1, problem: problem.to_owned() })
    }
}
