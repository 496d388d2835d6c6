//! The text of a `dataset.toml`, before any file that it names is opened.

use std::fmt;
use std::marker::PhantomData;
use std::path::Path;

use bidilel::dataset::Metric;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use crate::error::{Error, Result};
use crate::text;

/// All of it.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    pub(super) name: String,
    pub(super) classes: Source,
    pub(super) labels: Source,
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
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Semantic {
    pub(super) file: String,
    pub(super) key: Option<String>,
    #[serde(default)]
    pub(super) transpose: bool,
    pub(super) metric: Metric,
    pub(super) names: Option<String>,
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
}

/// Class names: the path of a text file, or the names themselves.
#[derive(Debug)]
pub(super) enum Names {
    File(String),
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
        toml::from_str(&text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let line = text.bytes().take(start).filter(|&byte| byte == b'\n').count() + 1;
            // "Field" and "variant" are Rust's words, not those of the person who wrote the file.
            let message = error.message().trim().replace('\n', ", ");
            let problem =
                message.replace(" field `", " key `").replace("unknown variant `", "unknown value `");
            Error::Manifest { path: path.to_owned(), line, problem }
        })
    }
}

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            file: String,
            key: Option<String>,
            #[serde(default)]
            one_based: bool,
            /// Accepted as for other arrays; one column and one row of indices read the same.
            #[serde(default, rename = "transpose")]
            _transpose: bool,
        }
        struct PathOrTable;
        impl<'de> Visitor<'de> for PathOrTable {
            type Value = Source;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the path of a file, or a table with `file`")
            }
            fn visit_str<E>(self, path: &str) -> Result<Source, E> {
                Ok(Source { file: path.to_owned(), key: None, one_based: false })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Source, A::Error> {
                let Table { file, key, one_based, .. } = Table::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Source { file, key, one_based })
            }
        }
        deserializer.deserialize_any(PathOrTable)
    }
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PathOrList;
        impl<'de> Visitor<'de> for PathOrList {
            type Value = Names;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of class names, or the path of a text file")
            }
            fn visit_str<E>(self, path: &str) -> Result<Names, E> {
                Ok(Names::File(path.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Names, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = sequence.next_element()? {
                    names.push(name);
                }
                Ok(Names::Inline(names))
            }
        }
        deserializer.deserialize_any(PathOrList)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for InFileOrder<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = InFileOrder<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("named tables")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, T>()? {
                    // Program options separate names by commas and trials by a colon.
                    if name.is_empty() || name.contains([',', ':']) {
                        return Err(A::Error::custom(format!(
                            "name {name:?} is empty or has a comma or colon"
                        )));
                    }
                    entries.push((name, value));
                }
                Ok(InFileOrder(entries))
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}
