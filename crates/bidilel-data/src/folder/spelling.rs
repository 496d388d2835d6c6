//! Values of a `dataset.toml` that can be spelled in several ways, and tables that keep their order.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::manifest::{InFileOrder, Names, Place, Source};

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            file: String,
            #[serde(alias = "label_column")]
            key: Option<String>,
            id_column: Option<String>,
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
                Ok(Source { file: path.to_owned(), key: None, one_based: false, id_column: None })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Source, A::Error> {
                let Table { file, key, one_based, id_column, .. } =
                    Table::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Source { file, key, one_based, id_column })
            }
        }
        deserializer.deserialize_any(PathOrTable)
    }
}

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PathOrTable;
        impl<'de> Visitor<'de> for PathOrTable {
            type Value = Place;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the path of a file, or a table with `file`")
            }
            fn visit_str<E>(self, path: &str) -> Result<Place, E> {
                Ok(Place { file: path.to_owned(), key: None })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Place, A::Error> {
                place_from_table(map)
            }
        }
        deserializer.deserialize_any(PathOrTable)
    }
}

fn place_from_table<'de, A: MapAccess<'de>>(map: A) -> Result<Place, A::Error> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Table {
        file: String,
        key: Option<String>,
    }
    let Table { file, key } = Table::deserialize(MapAccessDeserializer::new(map))?;
    Ok(Place { file, key })
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
                Ok(Names::At(Place { file: path.to_owned(), key: None }))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Names, A::Error> {
                place_from_table(map).map(Names::At)
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
