//! What each column of a table is taken for.
//!
//! What the user says comes first. Then names decide: a column of numbers that is called like an identifier or a label
//! is no feature, however well it would predict.

use std::path::{Path, PathBuf};

use super::choice::{Choice, is_pattern, matches};
use super::likeness::{self, Likeness};
use super::roles::{ColumnRole, Role};
use crate::container::{Column, EntryKind};
use crate::error::{Error, Result};

pub(crate) const LIKE_ID: &str = "it is named like an identifier";
pub(crate) const LIKE_LABEL: &str = "it is named like a label";
pub(crate) const COUNTS_ROWS: &str = "it counts the rows";
pub(crate) const TELLS_LABEL: &str = "it tells the label of every row";

/// The columns of a table with their roles.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(super) path: PathBuf,
    pub(super) columns: &'a [Column],
    /// Columns of features, in the order in which they are used.
    pub(super) features: Vec<usize>,
    /// Whether the user chose them.
    pub(super) chosen: bool,
    pub(super) name: Option<usize>,
    pub(super) label: Option<usize>,
    pub(super) id: Option<usize>,
    /// Columns of numbers that are no features, each with the reason.
    pub(super) left_out: Vec<(usize, &'static str)>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(
        path: &Path,
        columns: &'a [Column],
        key: Option<&str>,
        choice: &Choice,
    ) -> Result<Self> {
        let path = path.to_owned();
        let mut plan = Self {
            path,
            columns,
            features: Vec::new(),
            chosen: false,
            name: None,
            label: None,
            id: None,
            left_out: Vec::new(),
        };
        plan.name = plan.find_said(choice.name_column.as_ref())?;
        plan.label = plan.find_said(choice.label_column.as_ref())?;
        plan.id = plan.find_said(choice.id_column.as_ref())?;
        match (key, &choice.columns) {
            (Some(_), Some(_)) => {
                let problem = "`key` and `columns` are two ways to say the same: one is enough".to_owned();
                return Err(Error::Malformed { path: plan.path, problem });
            }
            (Some(key), None) => plan.choose(&[key.to_owned()])?,
            (None, Some(columns)) => plan.choose(&columns.0)?,
            (None, None) => plan.take_all()?,
        }
        Ok(plan)
    }

    /// What the name of a column says that it holds.
    pub(super) fn likeness(&self, column: usize) -> Option<Likeness> {
        likeness::of(&self.columns[column].name, self.columns.iter().map(|column| column.name.as_str()))
    }

    fn find_said(&self, name: Option<&String>) -> Result<Option<usize>> {
        name.map(|name| self.find(name)).transpose()
    }

    /// The one column of that name.
    fn find(&self, name: &str) -> Result<usize> {
        let mut places = (0..self.columns.len()).filter(|&column| self.columns[column].name == name);
        let place = |column: usize| format!("column {}", column + 1);
        match (places.next(), places.next()) {
            (Some(first), Some(second)) => Err(Error::Repeated {
                path: self.path.clone(),
                item: name.to_owned(),
                place: place(second),
                first: place(first),
            }),
            (Some(column), None) => Ok(column),
            (None, _) => Err(Error::NoSuchColumn {
                path: self.path.clone(),
                column: name.to_owned(),
                columns: self.columns.iter().map(|column| column.name.clone()).collect(),
            }),
        }
    }

    fn is_said(&self, column: usize) -> bool {
        [self.name, self.label, self.id].contains(&Some(column))
    }

    /// Takes the columns that the user names.
    fn choose(&mut self, wanted: &[String]) -> Result<()> {
        self.chosen = true;
        let numeric = |column: usize| self.columns[column].kind == EntryKind::Numbers;
        let mut features = Vec::new();
        for text in wanted {
            let exact = self.columns.iter().any(|column| column.name == *text);
            if exact || !is_pattern(text) {
                let column = self.find(text)?;
                if !numeric(column) || self.is_said(column) {
                    let found = if numeric(column) {
                        "the column that has another role"
                    } else {
                        self.columns[column].kind.name()
                    };
                    let (path, key) = (self.path.clone(), text.clone());
                    return Err(Error::Entry { path, key, expected: "numbers".to_owned(), found });
                }
                features.push(column);
                continue;
            }
            let before = features.len();
            let fits = |&column: &usize| {
                numeric(column) && !self.is_said(column) && matches(text, &self.columns[column].name)
            };
            features.extend((0..self.columns.len()).filter(fits));
            if features.len() == before {
                let columns = self.columns.iter().filter(|column| column.kind == EntryKind::Numbers);
                let columns = columns.map(|column| column.name.clone()).collect();
                let (path, column) = (self.path.clone(), text.clone());
                return Err(Error::NoSuchColumn { path, column, columns });
            }
        }
        let mut seen = vec![false; self.columns.len()];
        features.retain(|&column| !std::mem::replace(&mut seen[column], true));
        let lists = features.iter().filter(|&&column| self.columns[column].is_list).count();
        if lists > 0 && features.len() > 1 {
            let problem =
                "a column of lists is a whole representation: it cannot stand beside others".to_owned();
            return Err(Error::Malformed { path: self.path.clone(), problem });
        }
        self.features = features;
        Ok(())
    }

    /// Takes the only column of lists, or all columns of numbers that are called like features.
    fn take_all(&mut self) -> Result<()> {
        let numeric = |&column: &usize| self.columns[column].kind == EntryKind::Numbers;
        let lists: Vec<usize> =
            (0..self.columns.len()).filter(numeric).filter(|&column| self.columns[column].is_list).collect();
        if !lists.is_empty() {
            if lists.len() > 1 {
                let keys = lists.iter().map(|&column| self.columns[column].name.clone()).collect();
                let expected = "lists of numbers".to_owned();
                return Err(Error::WhichKey { path: self.path.clone(), expected, keys });
            }
            self.features = lists;
            return Ok(());
        }
        for column in (0..self.columns.len()).filter(numeric) {
            if self.is_said(column) {
                continue;
            }
            match self.likeness(column) {
                Some(Likeness::Id) => self.left_out.push((column, LIKE_ID)),
                Some(Likeness::Label) => self.left_out.push((column, LIKE_LABEL)),
                _ => self.features.push(column),
            }
        }
        Ok(())
    }

    /// Leaves out features, by their places among them.
    pub(super) fn leave_out(&mut self, places: &[usize], reason: &'static str) {
        self.left_out.extend(places.iter().map(|&place| (self.features[place], reason)));
        let mut place = 0;
        self.features.retain(|_| {
            place += 1;
            !places.contains(&(place - 1))
        });
    }

    /// Fails when no feature is left.
    pub(super) fn check(&self) -> Result<()> {
        if !self.features.is_empty() {
            return Ok(());
        }
        let left_out = self.left_out.iter().map(|&(column, _)| self.columns[column].name.clone()).collect();
        Err(Error::NoColumns { path: self.path.clone(), left_out })
    }

    /// What was left out, in words.
    pub(super) fn note(&self) -> Option<String> {
        const MOST: usize = 5;
        let shown = |&(column, reason): &(usize, &str)| match self.columns[column].name.as_str() {
            "" => format!("column {} (it has no name)", column + 1),
            name => format!("`{name}` ({reason})"),
        };
        let mut names: Vec<String> = self.left_out.iter().take(MOST).map(shown).collect();
        match self.left_out.len() {
            0 => return None,
            count if count > MOST => names.push(format!("{} more", count - MOST)),
            _ => {}
        }
        Some(format!("no features are made of {}", names.join(", ")))
    }

    /// The names of the features, where each has one of its own.
    pub(super) fn feature_names(&self) -> Option<Vec<String>> {
        let names: Vec<String> =
            self.features.iter().map(|&column| self.columns[column].name.trim().to_owned()).collect();
        let mut unique: Vec<&String> = names.iter().collect();
        unique.sort_unstable();
        unique.dedup();
        let sound = unique.len() == names.len() && names.iter().all(|name| !name.is_empty());
        let lists = self.features.iter().any(|&column| self.columns[column].is_list);
        (sound && !lists).then_some(names)
    }

    /// The role of every column.
    pub(super) fn roles(&self) -> Vec<ColumnRole> {
        let mut is_feature = vec![false; self.columns.len()];
        self.features.iter().for_each(|&column| is_feature[column] = true);
        let role = |(index, column): (usize, &Column)| {
            let left_out = self.left_out.iter().find(|(own, _)| *own == index).map(|(_, reason)| *reason);
            let role = if is_feature[index] {
                Role::Feature
            } else if self.name == Some(index) {
                Role::Name
            } else if self.label == Some(index) {
                Role::Label
            } else if self.id == Some(index) {
                Role::Id
            } else if left_out.is_some() {
                Role::LeftOut
            } else {
                Role::Unused
            };
            ColumnRole { column: column.name.clone(), role, reason: left_out }
        };
        self.columns.iter().enumerate().map(role).collect()
    }
}
