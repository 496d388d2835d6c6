//! The three kinds of split.

use bidilel::dataset::{Split, SplitKind};

use super::manifest::{self, Names, Source};
use super::{Folder, family};
use crate::array::{self, Base};
use crate::container::Container;
use crate::error::{Error, Result};
use crate::indices;
use crate::names::ClassIndex;
use crate::text::List;

pub(super) fn read(
    folder: &Folder<'_>,
    name: &str,
    table: &manifest::Split,
    classes: &ClassIndex<'_>,
    instances: usize,
) -> Result<Split> {
    let problem = |problem: &str| Error::Split {
        path: folder.manifest_path.clone(),
        split: name.to_owned(),
        problem: problem.to_owned(),
    };
    let family = table.file.is_some() || table.key.is_some() || table.transpose;
    let by_class = table.unseen.is_some();
    let by_instance = table.train.is_some() || table.test_seen.is_some() || table.test_unseen.is_some();
    let reader = Reader { folder, name, table, classes };
    let (kind, file) = match (by_class, family, by_instance) {
        (false, false, false) if table.validation.is_some() => return Err(problem("`unseen` is missing")),
        (_, true, _) if table.validation.is_some() => {
            return Err(problem("`validation` belongs to one split and not to a family of them"));
        }
        (true, false, false) => {
            let unseen = table.unseen.as_ref().ok_or_else(|| problem("`unseen` is missing"))?;
            (reader.by_class(unseen)?, None)
        }
        (false, true, false) => {
            let file = table.file.as_ref().ok_or_else(|| problem("`file` is missing"))?;
            (reader.family(file)?, Some(file))
        }
        (false, false, true) => {
            let source = |source: &Option<Source>, key: &str| {
                let source = source.as_ref().ok_or_else(|| problem(&format!("`{key}` is missing")))?;
                reader.instances(source, instances)
            };
            let train = source(&table.train, "train")?;
            let test_seen = source(&table.test_seen, "test_seen")?;
            let test_unseen = source(&table.test_unseen, "test_unseen")?;
            let validation = reader.validation()?;
            (SplitKind::Instances { train, test_seen, test_unseen, validation }, None)
        }
        _ => {
            return Err(problem(
                "expected `unseen`, or `file`, or `train`, `test_seen` and `test_unseen` (and `validation`, unless `file`)",
            ));
        }
    };
    let path = file.map_or_else(|| folder.manifest_path.clone(), |file| folder.join(file));
    Ok(Split { name: name.to_owned(), origin: format!("`{}`", path.display()), kind })
}

struct Reader<'a> {
    folder: &'a Folder<'a>,
    name: &'a str,
    table: &'a manifest::Split,
    classes: &'a ClassIndex<'a>,
}

impl Reader<'_> {
    fn by_class(&self, unseen: &Names) -> Result<SplitKind> {
        let unseen = self.class_list(unseen, "unseen")?;
        let validation = self.validation()?;
        match validation.iter().find(|class| unseen.binary_search(class).is_ok()) {
            None => Ok(SplitKind::Classes { unseen, validation }),
            Some(&both) => Err(Error::Split {
                path: self.folder.manifest_path.clone(),
                split: self.name.to_owned(),
                problem: format!("class `{}` is both unseen and for validation", self.classes.name(both)),
            }),
        }
    }

    fn validation(&self) -> Result<Vec<usize>> {
        match &self.table.validation {
            Some(names) => self.class_list(names, "validation"),
            None => Ok(Vec::new()),
        }
    }

    /// The classes of a list, ascending.
    fn class_list(&self, names: &Names, key: &str) -> Result<Vec<usize>> {
        let list = match names {
            Names::At(place) => self.folder.list(place)?,
            Names::Inline(items) => List {
                path: self.folder.manifest_path.clone(),
                items: items.clone(),
                key: Some(format!("split.{}.{key}", self.name)),
            },
        };
        let mut indices = self.classes.indices(&list.composed().unique()?)?;
        indices.sort_unstable();
        Ok(indices)
    }

    fn family(&self, file: &str) -> Result<SplitKind> {
        let path = self.folder.join(file);
        let base = if self.table.one_based { Base::One } else { Base::Zero };
        let (key, transpose) = (self.table.key.as_deref(), self.table.transpose);
        family::read(&Container::open(&path)?, key, transpose, base, self.classes)
    }

    /// Instance indices, in the order of the file.
    fn instances(&self, source: &Source, count: usize) -> Result<Vec<usize>> {
        let base = if self.table.one_based || source.one_based { Base::One } else { Base::Zero };
        indices::unique(&array::open(&self.folder.join(&source.file), source.key.as_deref())?, base, count)
    }
}
