//! Names of classes with what is said of them in words: a table of names and descriptions, or a list of names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::container::{Container, EntryKind, Tabular};
use crate::error::{Error, Result};
use crate::file;
use crate::names::{ClassIndex, composed};
use crate::table::{Key, Likeness, likeness, rows_by_name};
use crate::text::list_from_bytes;

/// Headers of columns that describe.
const DESCRIPTIONS: [&str; 9] = [
    "description",
    "descriptions",
    "text",
    "texts",
    "sentence",
    "sentences",
    "caption",
    "captions",
    "definition",
];

/// One class in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassText {
    /// Its name.
    pub name: String,
    /// Its descriptions, as many as rows have its name; none where the file has only the name.
    pub descriptions: Vec<String>,
}

/// The classes of a file, in its order, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassTexts {
    /// The file.
    pub path: PathBuf,
    /// The classes.
    pub classes: Vec<ClassText>,
    /// Things that the user should know.
    pub notes: Vec<String>,
}

/// Which columns of the file are meant; what is not said is found out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextColumns {
    /// The column that names the classes.
    pub name: Option<String>,
    /// The column that describes them.
    pub description: Option<String>,
}

impl ClassTexts {
    /// Reads names and descriptions from a table (CSV, TSV, Parquet), or names from the lines of a `.txt`.
    ///
    /// Rows of the same name are several descriptions of one class. A row without a description leaves the name to
    /// speak for itself.
    pub fn read(path: &Path, columns: &TextColumns) -> Result<Self> {
        let bytes = file::map(path)?;
        let is_list = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("txt"));
        if is_list {
            let names = list_from_bytes(path, &bytes)?.items;
            return Ok(Self::gather(path, names.into_iter().map(|name| (name, String::new()))));
        }
        let container = Container::from_bytes(path, Arc::new(bytes))?;
        let Some(table) = container.table() else {
            let found = container.format_name();
            return Err(Error::Format {
                path: path.to_owned(),
                expected: "a table of names and descriptions",
                found,
            });
        };
        let without_header = if has_header(table, columns) { None } else { table.without_header() };
        let table = without_header.as_deref().unwrap_or(table);
        let (name, description) = choose(path, table, columns)?;
        let names = table.texts(name)?;
        let texts = match description {
            Some(column) => table.texts(column)?,
            None => vec![String::new(); names.len()],
        };
        if let Some(row) = names.iter().position(|name| name.trim().is_empty()) {
            return Err(Error::BlankItem { path: path.to_owned(), place: table.place(row) });
        }
        Ok(Self::gather(path, names.into_iter().zip(texts)))
    }

    fn gather(path: &Path, rows: impl Iterator<Item = (String, String)>) -> Self {
        let mut classes: Vec<ClassText> = Vec::new();
        let mut index = std::collections::HashMap::new();
        for (name, text) in rows {
            let name = composed(&name);
            let place = *index.entry(name.clone()).or_insert_with(|| {
                classes.push(ClassText { name, descriptions: Vec::new() });
                classes.len() - 1
            });
            let text = text.trim();
            if !text.is_empty() {
                classes[place].descriptions.push(text.to_owned());
            }
        }
        let mut notes = Vec::new();
        let described = classes.iter().filter(|class| !class.descriptions.is_empty()).count();
        if described > 0 && described < classes.len() {
            let first = classes.iter().find(|class| class.descriptions.is_empty());
            let (count, first) = (classes.len() - described, first.map_or("", |class| class.name.as_str()));
            notes.push(format!(
                "{count} classes have no description, and their names are used (`{first}` is the first)"
            ));
        }
        let several = classes.iter().filter(|class| class.descriptions.len() > 1).count();
        if several > 0 {
            notes.push(format!(
                "{several} classes have several descriptions, whose unit vectors are averaged"
            ));
        }
        Self { path: path.to_owned(), classes, notes }
    }

    /// The same classes in the order of a dataset.
    ///
    /// # Errors
    /// [`Error::Join`] unless the file has every class of the dataset and no other.
    pub(crate) fn joined(mut self, index: &ClassIndex<'_>) -> Result<Self> {
        let names: Vec<String> = self.classes.iter().map(|class| class.name.clone()).collect();
        let place = |row: usize| format!("class {row} of the file");
        let key = Key { path: &self.path, column: "name", what: "class", ignored: &[], place: &place };
        let rows = rows_by_name(&key, &names, index)?;
        let texts = rows.iter().zip(index.names());
        self.classes = texts
            .map(|(&row, name)| ClassText {
                name: name.clone(),
                descriptions: self.classes[row].descriptions.clone(),
            })
            .collect();
        Ok(self)
    }
}

/// Whether the first line is a header: it says so, or a column is asked for by name.
fn has_header(table: &dyn Tabular, columns: &TextColumns) -> bool {
    let names = || table.columns().iter().map(|column| column.name.as_str());
    let said =
        |wanted: &Option<String>| wanted.as_deref().is_some_and(|wanted| names().any(|name| name == wanted));
    let like = names().any(|name| is_description(name) || is_name(name, names()));
    table.has_header() && (like || said(&columns.name) || said(&columns.description))
}

fn is_description(header: &str) -> bool {
    DESCRIPTIONS.contains(&header.trim().to_lowercase().as_str())
}

fn is_name<'a>(header: &str, all: impl Iterator<Item = &'a str>) -> bool {
    matches!(likeness(header, all), Some(Likeness::Name | Likeness::Label))
}

/// The columns of names and of descriptions.
fn choose(path: &Path, table: &dyn Tabular, said: &TextColumns) -> Result<(usize, Option<usize>)> {
    let columns = table.columns();
    let all = || columns.iter().map(|column| column.name.as_str());
    let find = |wanted: &String| {
        all().position(|name| name == wanted).ok_or_else(|| Error::NoSuchColumn {
            path: path.to_owned(),
            column: wanted.clone(),
            columns: all().map(str::to_owned).collect(),
        })
    };
    let description = match &said.description {
        Some(wanted) => Some(find(wanted)?),
        None => all().position(is_description),
    };
    let free = |column: &usize| Some(*column) != description;
    let name = if let Some(wanted) = &said.name {
        find(wanted)?
    } else {
        let like = (0..columns.len()).filter(free).find(|&column| is_name(&columns[column].name, all()));
        let text =
            || (0..columns.len()).filter(free).find(|&column| columns[column].kind == EntryKind::Strings);
        like.or_else(text).ok_or_else(|| Error::Malformed {
            path: path.to_owned(),
            problem: "no column names the classes".to_owned(),
        })?
    };
    if description.is_some() {
        return Ok((name, description));
    }
    let others: Vec<usize> = (0..columns.len())
        .filter(|&column| column != name && columns[column].kind == EntryKind::Strings)
        .collect();
    match others[..] {
        [] => Ok((name, None)),
        [one] => Ok((name, Some(one))),
        _ => Err(Error::WhichColumn {
            path: path.to_owned(),
            option: "description_column",
            columns: others.iter().map(|&column| columns[column].name.clone()).collect(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn read(name: &str, text: &str) -> Result<ClassTexts> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        ClassTexts::read(&path, &TextColumns::default())
    }

    fn pairs(texts: &ClassTexts) -> Vec<(&str, Vec<&str>)> {
        let texts = texts.classes.iter();
        texts
            .map(|class| (class.name.as_str(), class.descriptions.iter().map(String::as_str).collect()))
            .collect()
    }

    #[test]
    fn names_and_descriptions_are_found_by_header_or_by_place() {
        let expected = [("lynx", vec!["a cat, with tufts"]), ("elk", vec!["large deer"])];
        for text in [
            "name,description\nlynx,\"a cat, with tufts\"\nelk,large deer\n",
            "id,description,species\n1,\"a cat, with tufts\",lynx\n2,large deer,elk\n",
            "lynx,\"a cat, with tufts\"\nelk,large deer\n",
        ] {
            let read = read("classes.csv", text).unwrap();
            assert_eq!(pairs(&read), expected, "{text}");
            assert_eq!(read.notes, Vec::<String>::new());
        }
        assert_eq!(
            pairs(&read("names.txt", "lynx\nelk, or moose\n").unwrap()),
            [("lynx", vec![]), ("elk, or moose", vec![])]
        );
    }

    #[test]
    fn rows_of_one_name_are_one_class_and_gaps_are_said() {
        let read_all = read("c.csv", "name,text\nlynx,one\nelk,\nlynx,two\n").unwrap();
        assert_eq!(pairs(&read_all), [("lynx", vec!["one", "two"]), ("elk", vec![])]);
        assert_eq!(read_all.notes.len(), 2, "{:?}", read_all.notes);
        let wrong = read("c.csv", "name,habits,looks\nlynx,a,b\n").unwrap_err();
        assert!(wrong.to_string().contains("`habits`, `looks`"), "{wrong}");
        assert!(read("c.csv", "name,text\n ,one\n").is_err());
    }

    #[test]
    fn classes_of_a_dataset_are_joined_by_name() {
        let texts = read("c.csv", "name,text\nlynx,one\nelk,two\n").unwrap();
        let names = ["elk".to_owned(), "lynx".to_owned()];
        let joined = texts.clone().joined(&ClassIndex::new(&names)).unwrap();
        assert_eq!(pairs(&joined), [("elk", vec!["two"]), ("lynx", vec!["one"])]);
        let more = ["elk".to_owned(), "lynx".to_owned(), "wolf".to_owned()];
        let error = texts.joined(&ClassIndex::new(&more)).unwrap_err().to_string();
        assert!(error.contains("missing `wolf`"), "{error}");
    }
}
